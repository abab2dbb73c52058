"""Write the pages that are made from code: docs/metrics.md. A test checks that they are fresh.

usage: make_docs.py            writes
       make_docs.py --check    exits 1 where a page is stale
"""

import sys
from pathlib import Path

from litcascade.eval import METRICS

ROOT = Path(__file__).resolve().parents[1]
HEAD = """# Metrics

Made from the code by `python tools/make_docs.py`; `litcascade metrics --list` prints the same. A metric with a parameter is
named `name@parameter` (`wmcc@10`, `tnr@0.95`, `f@2`) and such names parse back. An undefined value carries its reason and is
never 0.
"""


def metrics_page() -> str:
    """The page of metrics."""
    parts = [HEAD]
    for title, kind in (("Of a confusion matrix", "confusion"), ("Of a ranking by score (ties broken against us)", "ranking")):
        parts.append(f"\n## {title}\n\n| name | formula | range | source | undefined | caution |\n|---|---|---|---|---|---|\n")
        for _, spec in METRICS:
            if spec.kind != kind:
                continue
            name = f"`{spec.name}`" + (f" (@{spec.parameter[0]}, default {spec.parameter[1]:g})" if spec.parameter else "")
            low, high = ("no limit" if end is None else f"{end:g}" for end in (spec.low, spec.high))
            span = f"{low} to {high}"
            parts.append(f"| {name} | {spec.formula} | {span} | {spec.source} | {spec.undefined} | {spec.caution or '–'} |\n")
    return "".join(parts)


def main() -> None:
    """Write or check."""
    path = ROOT / "docs" / "metrics.md"
    page = metrics_page()
    if "--check" in sys.argv:
        if not path.exists() or path.read_text(encoding="utf-8") != page:
            sys.exit("docs/metrics.md is stale: run python tools/make_docs.py")
        return
    path.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
