"""Excel workbooks: every text a string cell (never a formula, a link or a number), the header frozen.

A cell of Excel holds 32,767 characters. A longer text goes on in a further column `NAME (continued 2)`, which our reader
joins again; nothing is cut.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from litcascade.corpora.table import CUT, like_a_formula
from litcascade.corpora.writers.base import WRITERS, About, Cleaner, Row, Written
from litcascade.corpora.writers.cells import Cell, cells, columns

CELL_LIMIT = 32_767  # UTF-16 units
SHEET_ROWS = 1_048_576
_PIECE = CELL_LIMIT // 2 - 2  # code points: each has two units at most, and two are marks


@WRITERS.register("xlsx")
def write_workbook(path: Path, rows: Iterable[Row], about: About) -> Written:
    """Write a workbook; a sheet that is full is followed by a further one. Rows pass through a temporary file."""
    clean = Cleaner()
    with TemporaryFile("w+", encoding="utf-8") as held:
        header = _hold(held, columns(about), (cells(row, about) for row in clean.rows(rows)))
        held.seek(0)
        count = _fill(path, header, (json.loads(line) for line in held))
    further = [name for name in header if "(continued " in name]
    long = (f"texts over {CELL_LIMIT} characters go on in {', '.join(further)}",) if further else ()
    return Written(count, (*clean.notes(), *long))


def _hold(held: IO[str], names: list[str], rows: Iterable[Mapping[str, Cell]]) -> list[str]:
    """Put rows by and return the header they need: only then is it known how many columns a long text takes."""
    most: dict[str, int] = {}
    for row in rows:
        pieces = {name: split_text(value) if isinstance(value, str) else [value] for name, value in row.items()}
        most.update({name: len(found) for name, found in pieces.items() if len(found) > most.get(name, 1)})
        held.write(json.dumps({_column(name, n): value for name in names for n, value in enumerate(pieces[name], 1)}) + "\n")
    return [*names, *(_column(name, n) for name in names for n in range(2, most.get(name, 1) + 1))]


def _column(name: str, piece: int) -> str:
    return name if piece == 1 else f"{name} (continued {piece})"


def split_text(text: str) -> list[str]:
    """The text in pieces that a cell can hold; an ellipsis at both sides of each cut keeps blanks there from being stripped."""
    text = f"'{text}" if text.startswith("'") and like_a_formula(text) else text
    if len(text.encode("utf-16-le")) <= 2 * CELL_LIMIT:
        return [text]
    pieces = [text[begin : begin + _PIECE] for begin in range(0, len(text), _PIECE)]
    last = len(pieces) - 1
    return [f"{CUT if n else ''}{piece}{CUT if n < last else ''}" for n, piece in enumerate(pieces)]


def _fill(path: Path, header: list[str], rows: Iterator[dict[str, Cell]]) -> int:
    import xlsxwriter

    count = 0
    with xlsxwriter.Workbook(path, {"constant_memory": True}) as book:
        sheet = _sheet(book, "records", header)
        for row in rows:
            place = count % (SHEET_ROWS - 1) + 1
            if count and place == 1:
                sheet = _sheet(book, f"records {count // (SHEET_ROWS - 1) + 1}", header)
            for column, name in enumerate(header):
                value = row.get(name)
                if isinstance(value, int):
                    sheet.write_number(place, column, value)
                elif value:
                    sheet.write_string(place, column, value)
            count += 1
    return count


def _sheet(book: Any, name: str, header: list[str]) -> Any:
    sheet = book.add_worksheet(name)
    sheet.freeze_panes(1, 0)
    for column, title in enumerate(header):
        sheet.write_string(0, column, title)
    return sheet
