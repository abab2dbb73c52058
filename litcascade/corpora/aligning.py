"""Rows with a cell or two more than the header: where the surplus stands is told from what other rows hold in each column."""

import re
from collections.abc import Sequence

from litcascade.corpora.columns import Layout

_MOST = 2  # surplus cells that are still placed
_MARGIN = 1.5
_SHAPES = (
    ("number", re.compile(r"-?\d+(?:[.,]\d+)?$")),
    ("doi", re.compile(r"(?:https?://(?:dx\.)?doi\.org/)?10\.\d{4,9}/\S+$")),
    ("link", re.compile(r"https?://\S+$")),
    ("code", re.compile(r"[\w.-]*\d[\w.-]*$")),
)


class Aligner:
    """Knows the shapes of the cells in each column, from rows that are as wide as the header."""

    def __init__(self, layout: Layout, rows: Sequence[Sequence[str]]) -> None:
        width = len(layout.header)
        fitting = [row for row in rows if len(row) == width]
        self._layout = layout
        self._seen = [{_shape(row[column]) for row in fitting} for column in range(width)]
        self._same = [_only({row[column] for row in fitting}) if len(fitting) > 1 else None for column in range(width)]
        self._told = len(fitting) > 1

    def place(self, row: Sequence[str]) -> tuple[list[str], list[str]] | None:
        """(Cells under the header, surplus cells); None where rows as wide as the header are too few, or places are too alike."""
        surplus = len(row) - len(self._seen)
        if not self._told or not 0 < surplus <= _MOST:
            return None
        placed = [(self._fit(cells), cells, cut) for cut in range(len(self._seen) + 1) for cells in [_without(row, cut, surplus)]]
        best, cells, cut = max(placed, key=lambda found: found[0])
        plain = self._plain(cells)
        if any(row[cut : cut + surplus]) and self._beside_text(cut):
            return None  # it may be the rest of a text that a comma cut
        rivals = [fit for fit, other, _ in placed if self._plain(other) != plain]
        if max(rivals, default=-1e9) > best - _MARGIN:
            return None
        return cells, list(row[cut : cut + surplus])

    def _beside_text(self, cut: int) -> bool:
        texts = {self._layout.columns.get(name) for name in ("title", "abstract", "authors", "journal")}
        return cut in texts or cut - 1 in texts

    def _plain(self, cells: Sequence[str]) -> tuple[str, ...]:
        """What would be read into the fields of the record."""
        return tuple(cells[column] for column in self._layout.columns.values())

    def _fit(self, cells: Sequence[str]) -> float:
        return sum(self._fits(cell, column) for column, cell in enumerate(cells))

    def _fits(self, cell: str, column: int) -> float:
        shape, same = _shape(cell), self._same[column]
        if not shape:
            return 0.2 if "" in self._seen[column] else -0.5
        if same:
            return 2.0 if cell == same else -1.0
        return 1.0 if shape in self._seen[column] else -1.0


def _without(row: Sequence[str], cut: int, surplus: int) -> list[str]:
    return [*row[:cut], *row[cut + surplus :]]


def _only(values: set[str]) -> str | None:
    return next(iter(values)) if len(values) == 1 and values != {""} else None


def _shape(cell: str) -> str:
    text = cell.strip()
    if not text:
        return ""
    for name, pattern in _SHAPES:
        if pattern.match(text):
            return name
    if len(text) > 250:
        return "prose"
    return "list" if ";" in text else "words"
