"""docs/metrics.md: every metric with formula, range and source."""

from litcascade.eval import METRICS

HEAD = """# Metrics

Made from the code by `python tools/make_docs.py`; `litcascade metrics --list` prints the same. A metric with a parameter is
named `name@parameter` (`wmcc@10`, `tnr@0.95`, `f@2`) and such names parse back. An undefined value carries its reason and is
never 0.
"""


def page() -> str:
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
