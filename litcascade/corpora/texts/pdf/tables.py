"""Rows of a table in a PDF put into columns, where that is sure."""

from collections.abc import Sequence
from itertools import pairwise

from litcascade.corpora.texts.pdf.lines import Line

Column = tuple[float, float]


def notes_apart(lines: Sequence[Line]) -> tuple[list[Line], list[Line]]:
    """(Rows, notes) of the lines of a table: notes begin behind the last row of more than one cell, a wrapped label apart."""
    last = max((at for at, line in enumerate(lines) if len(line.cells) > 1), default=-1) + 1
    first = [line.cells[0][2] for line in lines[:last] if len(line.cells) > 1]
    while last < len(lines) and first and lines[last].x1 <= max(first) + 2 and lines[last].text[:1].islower():
        last += 1
    return list(lines[:last]), list(lines[last:])


def columns_of(rows: Sequence[Line]) -> tuple[tuple[str, ...], ...]:
    """The rows with every cell in its column, blank cells empty; nothing where any cell could stand in two.

    Columns are told by the rows that fill them all: these must be at least three and most of the rows that have more than one
    cell, and no two columns may overlap. A row of one cell (a wrapped label, a heading between) stands in the first column.
    """
    most = max((len(row.cells) for row in rows), default=0)
    full = [row for row in rows if len(row.cells) == most]
    if most < 2 or len(full) < 3 or 2 * len(full) < sum(len(row.cells) > 1 for row in rows):
        return ()
    columns = [(min(row.cells[at][1] for row in full), max(row.cells[at][2] for row in full)) for at in range(most)]
    if any(left[1] >= right[0] for left, right in pairwise(columns)):
        return ()
    placed = [_placed(row, columns) for row in rows]
    return tuple(row for row in placed if row) if all(placed) else ()


def _placed(row: Line, columns: Sequence[Column]) -> tuple[str, ...]:
    cells = [""] * len(columns)
    for text, x0, x1 in row.cells:
        over = [at for at, column in enumerate(columns) if x0 < column[1] and column[0] < x1]
        if len(row.cells) == 1 and (not over or over[0] == 0):
            over = [0]
        if len(over) != 1 or cells[over[0]]:
            return ()
        cells[over[0]] = text
    return tuple(cells)
