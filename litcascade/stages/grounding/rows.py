"""Rows of a table (cells parted by ` | `): what stands above and beside a cell."""

import re
from typing import NamedTuple

CELL = " | "
_NUMERIC = re.compile(r"\s*[<>≤≥~(]?\s*[-+−–]?\s*\d")


class Cell(NamedTuple):
    """A cell from `start` to `end` of the original text, and the words that say what it is about."""

    start: int
    end: int
    about: str


class Row(NamedTuple):
    """A row with its cells, and the caption or other line that stands above the table."""

    cells: tuple[Cell, ...]
    caption: str


def row_at(text: str, offset: int) -> Row | None:
    """The row that an offset lies in; None where the line is no row.

    A cell is about its own words, the heads of its column, the first cell of its row, and the last line above that fills its
    first cell alone. Rows of another number of cells are no heads: their columns are not those of this row.
    """
    begin, end = _line(text, offset)
    if CELL not in text[begin:end]:
        return None
    above: list[list[str]] = []
    top = begin
    caption = ""
    while top > 0:
        first, last = _line(text, top - 1)
        line = text[first:last]
        if CELL not in line:
            caption = line
            break
        above.append(line.split(CELL))
        top = first
    above.reverse()
    cells = text[begin:end].split(CELL)
    heads = _heads([line for line in above if len(line) == len(cells)])
    section = next((line[0] for line in reversed(above) if line not in heads and _section(line)), "")
    return Row(tuple(_cells(begin, cells, heads, section)), caption)


def _line(text: str, offset: int) -> tuple[int, int]:
    begin = text.rfind("\n", 0, offset) + 1
    end = text.find("\n", offset)
    return begin, len(text) if end == -1 else end


def _heads(above: list[list[str]]) -> list[list[str]]:
    """The rows at the top that hold words; a row of numbers ends them."""
    heads: list[list[str]] = []
    for cells in above:
        filled = [cell for cell in cells[1:] if cell.strip()]
        if heads and (_section(cells) or 2 * sum(bool(_NUMERIC.match(cell)) for cell in filled) >= max(1, len(filled))):
            break
        heads.append(cells)
    return heads


def _section(cells: list[str]) -> bool:
    rest = {cell.strip() for cell in cells[1:]}
    return bool(cells[0].strip()) and (rest == {""} or rest == {cells[0].strip()})


def _cells(start: int, parts: list[str], heads: list[list[str]], section: str) -> list[Cell]:
    found = []
    for column, part in enumerate(parts):
        above = [cells[column] for cells in heads]
        about = "" if column == 0 else " ; ".join(dict.fromkeys([part, *above, parts[0], section]))
        found.append(Cell(start, start + len(part), about))
        start += len(part) + len(CELL)
    return found
