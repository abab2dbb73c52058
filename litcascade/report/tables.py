"""Tables for people: plain data in, text out. Text from papers is made inert: no control signs, no markup."""

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """A titled table; numbers are right-aligned, None is shown as a dash, notes stand below."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    notes: Sequence[str] = field(default_factory=tuple)


def inert(text: str, most: int = 0) -> str:
    """Text that a terminal only shows: control signs and bidirectional overrides out, cut at `most` characters."""
    kept = "".join(" " if char in "\t\n\r" else char for char in text if _shown(char))
    return kept if not most or len(kept) <= most else kept[: most - 1] + "…"


def _shown(char: str) -> bool:
    code = ord(char)
    control = code < 32 or 127 <= code < 160
    override = 0x202A <= code <= 0x202E or 0x2066 <= code <= 0x2069
    return char in "\t\n\r" or not (control or override or 0xD800 <= code <= 0xDFFF)


def cell(value: Any) -> str:
    """A value as a table shows it: counts whole, other numbers to three places."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value.is_integer() and abs(value) >= 2 else f"{value:.3f}"
    return inert(str(value))


def render(tables: Sequence[Table], width: int = 110) -> str:
    """All tables as plain text, widths fitted; the last column is wrapped where a row would be too long."""
    return "\n\n".join(_render(table, width) for table in tables) + "\n"


def _render(table: Table, width: int) -> str:
    rows = [[cell(value) for value in row] for row in table.rows]
    right = [all(isinstance(row[i], int | float | None) for row in table.rows) for i in range(len(table.header))]
    widths = [
        max(len(table.header[i]), *(len(row[i]) for row in rows)) if rows else len(table.header[i])
        for i in range(len(table.header))
    ]
    over = sum(widths) + 2 * (len(widths) - 1) - width
    if over > 0:
        widths[-1] = max(20, widths[-1] - over)
    lines = [table.title, _line(list(table.header), widths, right), "  ".join("-" * w for w in widths)]
    for row in rows:
        lines += _wrapped(row, widths, right)
    lines += [f"  {note}" for note in table.notes]
    return "\n".join(lines)


def _wrapped(row: list[str], widths: list[int], right: list[bool]) -> list[str]:
    pieces = textwrap.wrap(row[-1], widths[-1]) or [""]
    first = _line([*row[:-1], pieces[0]], widths, right)
    indent = " " * (sum(widths[:-1]) + 2 * (len(widths) - 1))
    return [first, *(indent + piece for piece in pieces[1:])]


def _line(row: Sequence[str], widths: Sequence[int], right: Sequence[bool]) -> str:
    cells = [text.rjust(w) if r else text.ljust(w) for text, w, r in zip(row, widths, right, strict=True)]
    return "  ".join(cells).rstrip()
