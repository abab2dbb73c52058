"""CSV and TSV: every cell quoted as needed, none that a spreadsheet would run."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO

from litcascade.corpora.table import like_a_formula
from litcascade.corpora.writers.base import WRITERS, About, Cleaner, Row, Written
from litcascade.corpora.writers.cells import cells, columns
from litcascade.schemas import Record


def write_delimited(path: Path, rows: Iterable[Row], about: About, *, mark: str) -> Written:
    """All columns of `cells`, one record after the other, in UTF-8."""
    clean = Cleaner()
    with path.open("w", encoding="utf-8", newline="") as out:
        count = write_rows(out, columns(about), (cells(row, about) for row in clean.rows(rows)), mark)
    return Written(count, clean.notes())


WRITERS.register("csv")(partial(write_delimited, mark=","))
WRITERS.register("tsv")(partial(write_delimited, mark="\t"))


def write_rows(out: TextIO, header: Sequence[str], rows: Iterable[Mapping[str, object]], mark: str = ",") -> int:
    """A header and rows by column; returns how many. None is blank; a formula is given a leading apostrophe."""
    writer = csv.writer(out, delimiter=mark, lineterminator="\n")
    writer.writerow(header)
    count = 0
    for row in rows:
        writer.writerow([_cell(row.get(name)) for name in header])
        count += 1
    return count


def write_table(header: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A CSV table; None is blank; a cell that a spreadsheet would run as a formula is given a leading apostrophe."""
    out = io.StringIO(newline="")
    write_rows(out, header, rows)
    return out.getvalue()


def write_csv(rows: Iterable[tuple[Record, Mapping[str, str]]], stages: Sequence[str]) -> str:
    """CSV text of records with their states, for small sets."""
    about = About(stages=tuple(stages))
    pairs = Cleaner().rows(Row(record, states) for record, states in rows)
    return write_table(columns(about), (cells(row, about) for row in pairs))


def _cell(value: object) -> object:
    if isinstance(value, str) and like_a_formula(value) and not value.lstrip("+-").replace(".", "", 1).isdigit():
        return f"'{value}"
    return "" if value is None else value
