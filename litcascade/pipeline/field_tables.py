"""Tables of extracted values as CSV, TSV, Excel, Parquet or JSON Lines, by the file's ending; numbers stay numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litcascade.corpora.writers import Written
from litcascade.corpora.writers.base import Cleaner
from litcascade.corpora.writers.delimited import write_rows
from litcascade.corpora.writers.jsonl import write_objects
from litcascade.corpora.writers.workbook import split_text
from litcascade.errors import InputError

Row = Mapping[str, Any]
ENDINGS = (".csv", ".tsv", ".xlsx", ".parquet", ".jsonl")


@dataclass(frozen=True)
class FieldTable:
    """A table by name: its columns, its rows by column, and which columns hold numbers alone."""

    name: str
    header: Sequence[str]
    rows: Sequence[Row]
    numbers: frozenset[str] = frozenset()


def write_tables(path: Path, tables: Sequence[FieldTable]) -> Written:
    """Write the tables in the format of the ending (`.part` apart); only a workbook holds more than the first.

    Any other ending is an `InputError`. Control characters that no file holds are left out and counted in the notes.
    """
    name = path.name.removesuffix(".part").lower()
    ending = next((ending for ending in ENDINGS if name.endswith(ending)), None)
    if ending is None:
        raise InputError(f"{name}: the ending says the format; use {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    clean = Cleaner()
    kept = [FieldTable(table.name, table.header, [_plain(row, clean) for row in table.rows], table.numbers) for table in tables]
    first = kept[0]
    notes: tuple[str, ...] = ()
    if ending in (".csv", ".tsv"):
        with path.open("w", encoding="utf-8", newline="") as out:
            write_rows(out, first.header, first.rows, "," if ending == ".csv" else "\t")
    elif ending == ".jsonl":
        write_objects(path, first.header, first.rows)
    elif ending == ".parquet":
        _write_parquet(path, first)
    else:
        notes = _write_workbook(path, kept)
    return Written(sum(len(table.rows) for table in kept), (*clean.notes(), *notes))


def _plain(row: Row, clean: Cleaner) -> dict[str, Any]:
    return {name: clean.text(value) if isinstance(value, str) else value for name, value in row.items()}


def _write_parquet(path: Path, table: FieldTable) -> None:
    import polars as pl

    columns = [_series(name, [row.get(name) for row in table.rows], name in table.numbers) for name in table.header]
    pl.DataFrame(columns).write_parquet(path)


def _series(name: str, values: Sequence[Any], number: bool) -> Any:
    """A column of one type: numbers, truth values or whole numbers where all are, else texts."""
    import polars as pl

    told = [value for value in values if value is not None]
    if number:
        return pl.Series(name, [None if value is None else float(value) for value in values], dtype=pl.Float64)
    if told and all(isinstance(value, bool) for value in told):
        return pl.Series(name, values, dtype=pl.Boolean)
    if told and all(isinstance(value, int) and not isinstance(value, bool) for value in told):
        return pl.Series(name, values, dtype=pl.Int64)
    return pl.Series(name, [None if value is None else str(value) for value in values], dtype=pl.String)


def _write_workbook(path: Path, tables: Sequence[FieldTable]) -> tuple[str, ...]:
    """A sheet a table, every text a string cell; what a cell cannot hold goes on in columns to the right of all others."""
    import xlsxwriter

    with xlsxwriter.Workbook(path, {"strings_to_formulas": False, "strings_to_urls": False}) as book:
        taken: list[str] = []
        long: list[str] = []
        for table in tables:
            title = _sheet_name(table.name, taken)
            taken.append(title)
            sheet = book.add_worksheet(title)
            sheet.freeze_panes(1, 0)
            header = list(table.header)
            for number, row in enumerate(table.rows, start=1):
                for place, name in enumerate(table.header):
                    for piece, cell in enumerate(_pieces(row.get(name)), start=1):
                        column = place if piece == 1 else _further(header, f"{name} (continued {piece})")
                        _write_cell(sheet, number, column, cell)
            for column, name in enumerate(header):
                sheet.write_string(0, column, name)
            long += header[len(table.header) :]
    return (f"long texts go on in {', '.join(long)}",) if long else ()


def _pieces(value: Any) -> Sequence[Any]:
    return split_text(value) if isinstance(value, str) else [value]


def _further(header: list[str], name: str) -> int:
    if name not in header:
        header.append(name)
    return header.index(name)


def _write_cell(sheet: Any, row: int, column: int, value: Any) -> None:
    if isinstance(value, bool):
        sheet.write_boolean(row, column, value)
    elif isinstance(value, int | float):
        sheet.write_number(row, column, value)
    elif value:
        sheet.write_string(row, column, value)


def _sheet_name(name: str, taken: Sequence[str]) -> str:
    """At most 31 characters, as Excel wants, and not one that is taken."""
    short = name[:31]
    number = 2
    while short in taken:
        short = f"{name[:27]} {number}"
        number += 1
    return short
