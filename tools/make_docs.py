"""Write the pages that are made from code. A test checks that they are fresh.

usage: make_docs.py            writes
       make_docs.py --check    exits 1 where a page is stale
"""

import sys
from collections.abc import Callable
from pathlib import Path

from reference import cli, metrics, protocol, store

DOCS = Path(__file__).resolve().parents[1] / "docs"
PAGES: dict[str, Callable[[], str]] = {
    "metrics.md": metrics.page,
    "reference/cli.md": cli.page,
    "reference/protocol.md": protocol.page,
    "reference/store.md": store.page,
}


def stale() -> list[str]:
    """Names of the pages that are not what the code says."""
    return [name for name, made in PAGES.items() if not (DOCS / name).exists() or (DOCS / name).read_text("utf-8") != made()]


def write() -> None:
    """Write every page."""
    for name, made in PAGES.items():
        path = DOCS / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(made(), encoding="utf-8")


def main() -> None:
    """Write or check."""
    if "--check" not in sys.argv:
        write()
    elif found := stale():
        sys.exit(f"{', '.join(f'docs/{name}' for name in found)}: stale; run python tools/make_docs.py")


if __name__ == "__main__":
    main()
