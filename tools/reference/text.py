"""Small pieces of Markdown that several pages share."""

from collections.abc import Iterable, Sequence


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; bars inside cells are escaped, and line breaks become blanks."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(cell(text) for text in row)} |" for row in rows]
    return "\n".join(lines) + "\n"


def cell(text: str) -> str:
    """Text that can stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|") or "–"


def code(text: str) -> str:
    """Text set as code."""
    return f"`{text}`"
