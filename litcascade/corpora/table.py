"""CSV and TSV: dialect and header row found, every cell text; a broken row costs no other."""

import csv
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.aligning import Aligner
from litcascade.corpora.build import build, join_pages
from litcascade.corpora.columns import DATABASES, Layout, cells_by_name, find_layout, header_again, map_columns
from litcascade.corpora.found_labels import ASREVIEW_COLUMN, COLUMNS, label_in_columns, read_label, unknown_label
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Item, Repair, SetAside
from litcascade.corpora.source import Source
from litcascade.errors import InputError
from litcascade.schemas import Record

_ROW_LINES, _ROW_LENGTH = 20_000, 2 * 2**20  # a cell that goes on for longer was never closed
_AUTHOR_NUMBER = re.compile(r"\s*\(\d+\)$")
_OWN_NUMBER = re.compile(r"(\(\d+\\*)\\\)$")
_AUTHOR_MARK = re.compile(r"(\\*)(;|\Z)")
_FORMULA = re.compile(r"'*[=+\-@\t\r]")
CUT = "…"  # stands at both sides of a cut
_CONTINUED = re.compile(r"(.+) \(continued \d+\)")
csv.field_size_limit(2**31 - 1)


@dataclass(frozen=True)
class Dialect:
    """How a text table parts its cells."""

    delimiter: str
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL


@dataclass(frozen=True)
class Row:
    """The cells of a row with the line it begins on; `fault` where its quotation marks are broken."""

    line: int
    cells: list[str]
    fault: str | None = None
    raw: str = ""
    lines: tuple[str, ...] = ()
    delimiter: str = ","


@READERS.register("csv")
def read_csv(source: Source) -> Iterator[Item]:
    """Read a table of records; one with neither title nor abstract is an `InputError` that lists its columns."""
    dialect, layout, head = _tell(source)
    aligner = Aligner(layout, head[layout.above + 1 :])
    yield from table_items(rows_of(source.lines(), dialect), layout, dialect.delimiter, aligner=aligner)


def titled_columns(source: Source) -> set[str] | None:
    """The column names (lower case, with underscores) of a table that names titles or abstracts; None for any other table."""
    try:
        _, layout, _ = _tell(source)
    except InputError:
        return None
    return set(cells_by_name(layout.header, layout.header))


def read_rows(source: Source) -> tuple[list[str], list[tuple[int, list[str]]], list[SetAside]]:
    """A small table whole: (header, rows with their line numbers, rows set aside); the header is its first row."""
    head = source.head().split("\n", 200)
    first = next((line for line in head if line.strip()), "")
    dialect = Dialect(max(",;\t|", key=first.count))
    header: list[str] = []
    rows: list[tuple[int, list[str]]] = []
    aside: list[SetAside] = []
    for row in rows_of(source.lines(), dialect):
        if not header:
            header = [cell.strip() for cell in row.cells]
        elif fault := _fault(row, len(header)):
            aside.append(SetAside(row.line, fault, row.raw or dialect.delimiter.join(row.cells), is_record=True))
        else:
            rows.append((row.line, _fitted(row.cells, len(header))))
    return header, rows, aside


def rows_of(lines: Iterable[str], dialect: Dialect) -> Iterator[Row]:
    """Rows that are not blank; one whose quotation marks are broken is read for itself, and the next line opens a row."""
    waiting: deque[str] = deque()
    source = iter(lines)
    line = 0
    while True:
        taken = _Lines(waiting, source)
        try:
            cells = next(csv.reader(taken, delimiter=dialect.delimiter, quoting=dialect.quoting, strict=True), None)
            fault = None
        except csv.Error as error:
            cells, fault = None, str(error)
        if not taken.used:
            return
        if fault is not None or cells is None:
            first, *rest = taken.used
            waiting.extendleft(reversed(rest))
            loose = next(csv.reader([first], delimiter=dialect.delimiter, quoting=dialect.quoting), [])
            yield Row(line + 1, loose, fault or "is never closed", first.rstrip("\n"))
            line += 1
            continue
        if any(cell.strip() for cell in cells):
            several = tuple(taken.used) if len(taken.used) > 1 else ()
            yield Row(line + 1, cells, lines=several, delimiter=dialect.delimiter)
        line += len(taken.used)


class _Lines:
    """Physical lines for one row, kept so that they can be given back; stops where no row is that long."""

    def __init__(self, waiting: deque[str], source: Iterator[str]) -> None:
        self.waiting, self.source = waiting, source
        self.used: list[str] = []
        self.length = 0

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if len(self.used) >= _ROW_LINES or self.length > _ROW_LENGTH:
            raise csv.Error("a quotation mark is never closed")
        line = self.waiting.popleft() if self.waiting else next(self.source) + "\n"
        self.used.append(line)
        self.length += len(line)
        return line


def _tell(source: Source) -> tuple[Dialect, Layout, list[list[str]]]:
    """The dialect under which the head of the file names most fields and has most rows of one width, with its rows."""
    head = source.head()
    lines = head.split("\n")[: 400 if len(head) > 1000 else None]
    best: tuple[tuple[int, int], Dialect] | None = None
    for dialect in (Dialect(","), Dialect(";"), Dialect("\t"), Dialect("\t", csv.QUOTE_NONE), Dialect("|")):
        rows = list(rows_of(lines, dialect))
        named = max((len(map_columns(row.cells, source.columns)) for row in rows[:50]), default=0)
        width = Counter(len(row.cells) for row in rows if row.fault is None and len(row.cells) > 1)
        rank = (named, max(width.values(), default=0))
        if best is None or rank > best[0]:
            best = rank, dialect
    dialect = best[1] if best else Dialect(",")
    cells = [row.cells for row in rows_of(lines, dialect)]
    return dialect, find_layout(cells, source.name, source.columns), cells


def table_items(
    rows: Iterable[Row], layout: Layout, delimiter: str, position: int = 0, aligner: Aligner | None = None
) -> Iterator[Item]:
    """Records from rows, numbered on from `position`: what stands above the header, and rows of another width, are set aside.

    A row with a cell too many is read where the `aligner` can tell which cell is the surplus one, and said to be so. A
    second header in the file holds for the rows below it.
    """
    doubts: Counter[str] = Counter()
    for number, row in enumerate(rows):
        raw = row.raw or delimiter.join(row.cells)
        if number <= layout.above and layout.above >= 0:
            yield from [SetAside(row.line, "stands above the header", raw)] if number < layout.above else []
            continue
        if again := header_again(row.cells, layout):
            layout, aligner = replace(again, above=-1), None
            yield SetAside(row.line, "is a header again", raw)
            continue
        cells, surplus, fault = _read(row, layout, aligner)
        if fault:
            yield SetAside(row.line, fault, raw, is_record=True)
            continue
        position += 1
        record = _record(layout, cells, position, surplus)
        yield from _repairs(row, record, cells[layout.columns.get("title", 0)], surplus)
        doubts.update(_doubtful_labels(layout, cells))
        yield record
    yield from _notes(layout, doubts)


def _read(row: Row, layout: Layout, aligner: Aligner | None) -> tuple[list[str], list[str], str | None]:
    """(Cells under the header, surplus cells, why the row cannot be trusted)."""
    fault = _fault(row, len(layout.header))
    placed = aligner.place(row.cells) if fault and aligner and not row.fault else None
    if placed:
        return (*placed, None)
    own = "record_id" in map(str.casefold, layout.header)
    return _fitted(row.cells, len(layout.header), ours=own), [], fault or _swallowed(row, layout)


def _swallowed(row: Row, layout: Layout) -> str | None:
    """Why a row of several lines seems to hold other rows: a line in it has as many cells, and ids or years of the same form."""
    if len(row.lines) < 2:
        return None
    places = [layout.columns[name] for name in ("record_id", "doi", "pmid", "year") if name in layout.columns]
    own = [_form(row.cells[place]) for place in places if place < len(row.cells)]
    for number, line in enumerate(row.lines[1:], start=row.line + 1):
        cells = next(csv.reader([line], delimiter=row.delimiter), [])
        if any(own) and len(cells) == len(layout.header) and [_form(cells[place]) for place in places] == own:
            return f"a quotation mark seems to join line {number} to it; mend the mark, then import the rows"
    return None


def _form(cell: str) -> str:
    """The form of an id: digits and letters told apart, runs as one."""
    return re.sub(r"[A-Za-z]+", "a", re.sub(r"\d+", "9", cell.strip()))


def _repairs(row: Row, record: Record, title: str, surplus: Sequence[str]) -> Iterator[Repair]:
    if row.fault:
        yield Repair(f"line {row.line}: a quotation mark inside a cell is not doubled; the line was read as one row")
    if surplus:
        yield Repair(f"line {row.line}: has {len(surplus)} cell(s) too many; '{'; '.join(surplus)[:60]}' was left out")
    if record.title and "\n" in title.strip():
        yield Repair(f"line {row.line}: the title holds a line break; did a stray quotation mark join two rows?")


def _notes(layout: Layout, doubts: Counter[str]) -> Iterator[Repair]:
    for missing in ("title", "abstract"):
        if missing not in layout.columns:
            yield Repair(f"no column holds {missing}s; columns not read: {', '.join(layout.unmapped)[:200] or 'none'}")
    for words, count in doubts.items():
        yield Repair(f"{words} in {count} row(s): none was taken")


def _doubtful_labels(layout: Layout, cells: Sequence[str]) -> list[str]:
    named = cells_by_name(layout.header, cells)
    known = [name for names in COLUMNS.values() for name in names if name in named]
    doubts = [f"column '{name}' holds '{named[name].strip()[:40]}'" for name in known if unknown_label(named[name])]
    if ASREVIEW_COLUMN in named and not named[ASREVIEW_COLUMN].strip():
        earlier = [name for name in COLUMNS["screening"] if name in named and read_label(named[name])]
        doubts += [f"column '{name}' has a label where '{ASREVIEW_COLUMN}' is blank" for name in earlier]
    return doubts


def _fault(row: Row, width: int) -> str | None:
    """Why a row's cells cannot be trusted, or None."""
    cells = len(row.cells)
    if cells < width or any(cell.strip() for cell in row.cells[width:]):
        broken = f" and a quotation mark that {row.fault}" if row.fault == "is never closed" else ""
        broken = broken or (f" ({row.fault})" if row.fault else "")
        return f"has {cells} cells where the header has {width}{broken}"
    return None


def _fitted(cells: Sequence[str], width: int, *, ours: bool = True) -> list[str]:
    """The cells under the header; in a file of ours without the apostrophe that keeps a spreadsheet from running them."""
    if not ours:
        return list(cells[:width])
    return [cell[1:] if cell[:1] == "'" and like_a_formula(cell[1:]) else cell for cell in cells[:width]]


def like_a_formula(cell: str) -> bool:
    """Whether a spreadsheet might run this text as a formula; one behind apostrophes counts, so that each is taken off once."""
    return _FORMULA.match(cell) is not None


def _record(layout: Layout, row: Sequence[str], position: int, surplus: Sequence[str]) -> Record:
    source: dict[str, Any] = {name: cell for name, cell in zip(layout.header, row, strict=True) if cell != ""}
    if surplus:
        source["surplus cells"] = list(surplus)
    return record_of_cells(layout, row, position, source)


def record_of_cells(layout: Layout, row: Sequence[str], position: int, source: dict[str, Any]) -> Record:
    """A record from cells in the order of the layout's header; `source` holds the raw fields."""
    fields: dict[str, str | None] = {field: row[index] for field, index in layout.columns.items()}
    for column, further in _continued(layout.header):
        if rest := row[further].removeprefix(CUT):
            cut = [field for field, at in layout.columns.items() if at == column]
            fields.update({field: (fields[field] or "").removesuffix(CUT) + rest for field in cut})
    own = fields.pop("record_id", None)
    if (fields.get("journal") or "").strip().casefold() in DATABASES:
        fields["journal"] = None  # a column "source" may name the database
    authors = split_authors(fields.pop("authors", None) or "")
    pages = join_pages(fields.pop("first_page", None), fields.pop("last_page", None))
    if pages and nothing(fields.get("pages")):
        fields["pages"] = pages
    labels = label_in_columns(cells_by_name(layout.header, row))
    return build("" if nothing(own) else str(own).strip(), fields, authors, position, source, labels)


@lru_cache(maxsize=256)
def _continued(header: tuple[str, ...]) -> tuple[tuple[int, int], ...]:
    """(Column, column that goes on with its text) where a text was too long for one cell of a workbook."""
    places = {name: index for index, name in enumerate(header)}
    matches = ((_CONTINUED.fullmatch(name), index) for index, name in enumerate(header))
    return tuple((places[match.group(1)], index) for match, index in matches if match and match.group(1) in places)


def split_authors(cell: str) -> list[str]:
    """Names parted by semicolons or line feeds, else by ` and `; a platform's number behind a name is left out.

    What is part of a name has a backslash before it (`\\;`, `(12\\)`), and backslashes before a semicolon are doubled.
    """
    if escaped := "\\" in cell:
        cell = _AUTHOR_MARK.sub(_plain_mark, cell)
    names = re.split(r"\s*;\s*|\n", cell)
    if len(names) == 1:
        names = re.split(r"\s+and\s+", cell)
    names = [_AUTHOR_NUMBER.sub("", name) for name in names]
    return [_OWN_NUMBER.sub(r"\1)", name).replace("\0", ";") for name in names] if escaped else names


def join_authors(authors: Sequence[str]) -> str:
    """The names in one cell, parted by `; `, so that `split_authors` gives them back."""
    numbered = [re.sub(r"(\(\d+\\*)\)$", r"\1\\)", name) for name in authors]
    names = [_AUTHOR_MARK.sub(lambda match: 2 * match.group(1) + (match.group(2) and "\\;"), name) for name in numbered]
    return f"{names[0]};" if len(names) == 1 and re.search(r"\sand\s", names[0]) else "; ".join(names)


def _plain_mark(match: re.Match[str]) -> str:
    count, mark = len(match.group(1)), match.group(2)
    if mark:
        return "\\" * (count // 2) + ("\0" if count % 2 else mark)
    return "\\" * (count // 2 + count % 2)
