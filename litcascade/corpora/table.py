"""CSV and TSV: delimiter sniffed, headers mapped by alias, every cell text."""

import csv
import io
import re
from collections.abc import Sequence
from typing import Literal

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.build import build, unique_ids
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Parsed, SetAside
from litcascade.errors import InputError

ALIASES: dict[str, tuple[str, ...]] = {
    "record_id": (
        "record_id",
        "id",
        "record id",
        "covidence #",
        "covidence number",
        "ref id",
        "key",
        "unique id",
        "eid",
        "ut",
    ),
    "title": (
        "title",
        "titles",
        "title primary",
        "article title",
        "document title",
        "primary_title",
        "primary title",
        "ti",
        "item title",
        "titre",
        "titel",
    ),
    "abstract": (
        "abstract",
        "abstract note",
        "abstract_note",
        "ab",
        "notes_abstract",
        "summary",
        "description",
        "abstract text",
    ),
    "authors": (
        "authors",
        "author/s",
        "authors, primary",
        "author",
        "author(s)",
        "author names",
        "author full names",
        "au",
        "first_authors",
    ),
    "year": ("year", "publication year", "publication_year", "published year", "py", "date", "pub year"),
    "journal": (
        "journal",
        "periodical full",
        "source title",
        "publication title",
        "journal/book",
        "source",
        "secondary_title",
        "jo",
        "so",
        "journal title",
    ),
    "doi": ("doi", "do", "di", "digital object identifier"),
    "pmid": ("pmid", "pubmed id", "pubmed_id", "accession number (pubmed)"),
    "url": ("url", "link", "urls", "ur"),
    "kind": ("kind", "type", "document type", "item type", "publication type", "ty"),
}


def read_rows(text: str, name: str) -> tuple[list[str], list[tuple[int, list[str]]], list[SetAside]]:
    """Return (header, rows with their line numbers, rows set aside). Delimiter: the one that splits the header most.

    A row with another number of cells than the header is set aside whole, with its line: its cells cannot be trusted.
    """
    csv.field_size_limit(2**31 - 1)
    head = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = max(",;\t|", key=head.count)
    try:
        return _split_rows(text, delimiter, csv.QUOTE_MINIMAL)
    except _BadQuotes as bad:
        if delimiter == "\t":  # tab-separated files are often written without any quoting
            return _split_rows(text, delimiter, csv.QUOTE_NONE)
        raise InputError(
            f"{name}: line {bad.line} holds a quotation mark that is never closed or stands inside a cell ({bad}); "
            "double the marks inside cells, or export again"
        ) from None


class _BadQuotes(Exception):
    def __init__(self, line: int, words: str) -> None:
        super().__init__(words)
        self.line = line


def _split_rows(
    text: str, delimiter: str, quoting: Literal[0, 3]
) -> tuple[list[str], list[tuple[int, list[str]]], list[SetAside]]:
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    header: list[str] = []
    rows: list[tuple[int, list[str]]] = []
    aside: list[SetAside] = []
    try:
        for row in reader:
            if not any(cell.strip() for cell in row):
                continue
            if not header:
                header = [cell.strip() for cell in row]
            elif len(row) < len(header) or any(cell.strip() for cell in row[len(header) :]):
                reason = f"has {len(row)} cells where the header has {len(header)}"
                aside.append(SetAside(reader.line_num, reason, delimiter.join(row), is_record=True))
            else:
                rows.append((reader.line_num, [_plain_cell(cell) for cell in row[: len(header)]]))
    except csv.Error as error:
        raise _BadQuotes(reader.line_num, str(error)) from None
    return header, rows, aside


def _plain_cell(cell: str) -> str:
    """A cell without the apostrophe that keeps a spreadsheet from running it (our own writer adds it)."""
    return cell[1:] if cell[:1] == "'" and cell[1:2] in ("=", "+", "-", "@") else cell


def map_columns(header: Sequence[str]) -> dict[str, int]:
    """Plain field name to column, by alias, case and dress aside; the first alias in the list wins."""
    places = {re.sub(r"\s+", " ", name.strip().casefold()): index for index, name in reversed(list(enumerate(header)))}
    found: dict[str, int] = {}
    for field, aliases in ALIASES.items():
        for alias in aliases:
            if alias in places:
                found[field] = places[alias]
                break
    return found


@READERS.register("csv")
def read_csv(text: str, stem: str) -> Parsed:
    """Read a table of records; a table with neither title nor abstract is an `InputError` that lists its columns."""
    header, rows, aside = read_rows(text, stem)
    columns = map_columns(header)
    if "title" not in columns and "abstract" not in columns:
        raise InputError(
            f"{stem}: no column holds titles or abstracts; the columns are: {', '.join(header)}. Rename one of them to 'title'"
        )
    parsed = Parsed(set_aside=aside)
    column = columns.get("record_id")
    given = [row[column].strip() if column is not None and not nothing(row[column]) else None for _, row in rows]
    ids, own = unique_ids(given, stem)
    if not own:
        parsed.repairs.append("ids were made from file name and position (not every row has an id of its own)")
    for position, ((_, row), record_id) in enumerate(zip(rows, ids, strict=True), start=1):
        fields = {field: row[index] for field, index in columns.items()}
        authors = re.split(r"\s*;\s*|\n", fields.pop("authors", "") or "")
        if "\n" in (fields.get("title") or "").strip():
            words = "the title holds a line break; look for a stray quotation mark that joined two rows"
            parsed.repairs.append(f"record {record_id}: {words}")
        source = {name: cell for name, cell in zip(header, row, strict=True) if cell != ""}
        parsed.records.append(build(record_id, fields, authors, position, source))
    return parsed
