"""Tables as rows of cells, a spanning cell repeated in every place it spans."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from lxml import etree

COLUMNS_LIMIT = 1000
CELLS_LIMIT = 200_000
PADDED_LIMIT = 1_000_000
_ROW = frozenset({"tr", "row"})
_CELL = frozenset({"td", "th", "cell", "entry"})
_PART = frozenset({"thead", "tbody", "tfoot", "tgroup", "table", "entrytbl"})
_NO_CELL = frozenset({"caption", "head", "col", "colgroup", "colspec", "spanspec"})
Words = Callable[[etree._Element], str]
_Row = tuple[list[etree._Element | str], Mapping[str, int]]


@dataclass(frozen=True)
class _Cell:
    words: str
    across: int
    down: int


def rows_of(table: etree._Element, words: Words) -> tuple[tuple[str, ...], ...]:
    """The rows of a table of HTML, JATS, CALS or TEI; `words` gives the text of a cell.

    Words outside any cell are a row, or in a row a cell, of their own; the caption is left out. Rows without words are left
    out; all rows are as long as the longest. A cell reaches down to the end of its part of the
    table at most. Where a part of a table comes to more than 200,000 cells, spanning cells are no longer repeated.
    """
    rows: list[list[str]] = []
    for part in _parts(table):
        rows += _filled([[_cell(cell, words, columns) for cell in cells] for cells, columns in part])
    rows = [row for row in rows if any(row)]
    width = max(map(len, rows), default=0)
    if width * len(rows) > PADDED_LIMIT:
        return tuple(map(tuple, rows))
    return tuple(tuple(row + [""] * (width - len(row))) for row in rows)


def _parts(table: etree._Element) -> Iterator[list[_Row]]:
    """Head, body and foot, each as rows of (cells, columns by name); a loose row belongs to the part before it."""
    columns = _named_columns(table)
    part: list[_Row] = [([str(table.text)], columns)] if _said(table.text) else []
    for child in table:
        if child.tag in _PART or (child.tag not in (*_ROW, *_CELL) and _holds_rows(child)):
            if part:
                yield part
            part = []
            yield from _parts(child)
        elif child.tag in _ROW:
            part.append((list(_cells(child)), columns))
        elif isinstance(child.tag, str) and child.tag not in _NO_CELL:
            part.append(([child], columns))
        if _said(child.tail):
            part.append(([str(child.tail)], columns))
    if part:
        yield part


def _cells(row: etree._Element) -> Iterator[etree._Element | str]:
    if _said(row.text):
        yield str(row.text)
    for cell in row:
        if isinstance(cell.tag, str):
            yield cell
        if _said(cell.tail):
            yield str(cell.tail)


def _said(words: str | None) -> bool:
    return bool(words and words.strip())


def _holds_rows(node: etree._Element) -> bool:
    return isinstance(node.tag, str) and next(node.iter(*_ROW), None) is not None


def _named_columns(group: etree._Element) -> Mapping[str, int]:
    """CALS names its columns at the group; rows stand one level deeper."""
    for holder in (group, group.getparent()):
        specs = [] if holder is None else [node for node in holder if node.tag == "colspec"]
        if specs:
            return {str(node.get("colname")): place for place, node in enumerate(specs)}
    return {}


def _cell(cell: etree._Element | str, words: Words, columns: Mapping[str, int]) -> _Cell:
    if isinstance(cell, str):
        return _Cell(" ".join(cell.split()), 1, 1)
    across = _number(cell.get("colspan") or cell.get("cols"), 1)
    down = _number(cell.get("rowspan") or cell.get("rows"), 1)
    first, last = columns.get(str(cell.get("namest"))), columns.get(str(cell.get("nameend")))
    if first is not None and last is not None:
        across = abs(last - first) + 1
    if cell.get("morerows"):
        down = _number(cell.get("morerows"), 0) + 1
    return _Cell(" ".join(words(cell).split()), max(1, min(across, COLUMNS_LIMIT)), max(1, down))


def _number(value: str | None, otherwise: int) -> int:
    text = (value or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else otherwise


def _filled(part: list[list[_Cell]]) -> list[list[str]]:
    """Rows of words; a cell that reaches down leaves its words in the rows below."""
    rows: list[list[str]] = []
    hanging: dict[int, tuple[str, int]] = {}
    total = 0
    for cells in part:
        row: list[str] = []
        coming: dict[int, tuple[str, int]] = {}
        for cell in cells:
            _take(row, hanging, coming)
            spread = total < CELLS_LIMIT
            for _ in range(cell.across if spread else 1):
                if spread and cell.down > 1:
                    coming[len(row)] = (cell.words, cell.down - 1)
                row.append(cell.words)
                hanging.pop(len(row) - 1, None)
        _take(row, hanging, coming)
        while hanging and len(row) < COLUMNS_LIMIT:
            row.append("")
            _take(row, hanging, coming)
        rows.append(row)
        total += len(row)
        hanging = coming if total < CELLS_LIMIT else {}
    return rows


def _take(row: list[str], hanging: dict[int, tuple[str, int]], coming: dict[int, tuple[str, int]]) -> None:
    """Put what hangs down from above into the next free places of a row."""
    while len(row) in hanging:
        words, left = hanging.pop(len(row))
        if left > 1:
            coming[len(row)] = (words, left - 1)
        row.append(words)
