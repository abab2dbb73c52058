"""What the columns of a table hold: headers are told by alias or by a declared mapping, the header row is found."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from litcascade.errors import InputError
from litcascade.registry import nearest

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
        "article_title",
        "document_title",
        "name",
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
        "abstracts",
    ),
    "authors": (
        "authors",
        "author/s",
        "authors, primary",
        "author",
        "author(s)",
        "author names",
        "author full names",
        "af",
        "au",
        "first_authors",
    ),
    "year": (
        "year",
        "publication year",
        "publication_year",
        "published year",
        "py",
        "date",
        "pub year",
        "publication date",
        "published",
        "year published",
        "issued",
    ),
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
        "journal name",
        "venue",
        "container title",
        "container_title",
        "publication",
        "secondary title",
        "publicationname",
        "t2",
    ),
    "doi": ("doi", "do", "di", "digital object identifier", "doi link", "article doi"),
    "pmid": ("pmid", "pubmed id", "pubmed_id", "accession number (pubmed)", "pubmedid", "pm", "pubmed"),
    "pmcid": ("pmcid", "pmc", "pmc id", "pmc_id"),
    "volume": ("volume", "vl", "vol", "volume number"),
    "issue": ("issue", "number", "issue number", "is", "ip"),
    "pages": ("pages", "page", "pagination", "page numbers", "pg"),
    "first_page": ("page start", "start page", "page_start", "first page", "start_page", "sp", "bp"),
    "last_page": ("page end", "end page", "page_end", "last page", "end_page", "ep"),
    "url": ("url", "link", "urls", "ur"),
    "kind": (
        "kind",
        "type",
        "document type",
        "item type",
        "publication type",
        "publication types",
        "pub_types",
        "pubtype",
        "reference type",
        "ty",
        "dt",
    ),
}
DATABASES = frozenset(
    ("wos", "web of science", "scopus", "embase", "pubmed", "medline", "cinahl", "psycinfo", "cochrane", "central", "ieee",
     "ieee xplore", "google scholar", "proquest", "eric", "lens", "openalex", "ris", "bibtex")
)  # fmt: skip
_TITLES = frozenset(ALIASES["title"])
_NAME_LENGTH = 40
_SEEN = 50  # rows in which the header may stand


@dataclass(frozen=True)
class Layout:
    """The header row and, for each plain field, the column that holds it."""

    header: tuple[str, ...]
    columns: Mapping[str, int]
    above: int = 0  # rows that stand above the header

    @property
    def unmapped(self) -> list[str]:
        """Headers that no plain field was read from."""
        used = set(self.columns.values())
        return [name for index, name in enumerate(self.header) if index not in used and name]


def plain_header(name: str) -> str:
    """A header as it is compared: case folded, blanks single."""
    return " ".join(name.casefold().split())


def map_columns(header: Sequence[str], declared: Mapping[str, str] | None = None) -> dict[str, int]:
    """Plain field name to column: as declared, else by alias, the first alias in the list; case and blanks aside."""
    places = {plain_header(name): index for index, name in reversed(list(enumerate(header)))}
    found: dict[str, int] = {}
    for field, aliases in ALIASES.items():
        told = (declared or {}).get(field)
        place = next((places[name] for name in ([plain_header(told)] if told else aliases) if name in places), None)
        if place is not None:
            found[field] = place
    return found


def find_layout(rows: Sequence[Sequence[str]], name: str, declared: Mapping[str, str] | None = None) -> Layout:
    """The first row that names a title or an abstract and another field, else the one that names most of them.

    A table with neither title nor abstract is an `InputError`.

    What stands above (a title, a search line) belongs to no record.
    """
    best, found = 0, dict[str, int]()
    for number, row in enumerate(rows[:_SEEN]):
        columns = map_columns(row, declared)
        if ({"title", "abstract"} & set(columns)) and len(columns) > len(found):
            best, found = number, columns
            if len(found) > 1:
                break
    header = tuple(cell.strip() for cell in rows[best]) if rows else ()
    _refuse_missing(name, header, declared or {}, found)
    return Layout(header, found, best)


def _refuse_missing(name: str, header: Sequence[str], declared: Mapping[str, str], found: Mapping[str, int]) -> None:
    for field, column in declared.items():
        if field not in ALIASES:
            raise InputError(f"{name}: there is no field '{field}' to read a column into{nearest(field, ALIASES)}")
        if field not in found:
            raise InputError(f"{name}: there is no column '{column}' for {field}{nearest(column, header)}")
    if found:
        return
    shown = ", ".join(cell for cell in header if cell)[:300]
    near = next(
        (
            (cell, word)
            for word in ("title", "abstract")
            for cell in header
            if get_close_matches(plain_header(cell), [word], 1, 0.75)
        ),
        None,
    )
    hint = f"; '{near[0]}' looks like '{near[1]}'" if near else ""
    raise InputError(
        f"{name}: no column holds titles or abstracts; the columns are: {shown}{hint}. "
        "Rename one of them to 'title', or say which it is (--columns title=NAME)"
    )


def header_again(row: Sequence[str], layout: Layout, declared: Mapping[str, str] | None = None) -> Layout | None:
    """The layout of a row that is itself a header (files put one behind the other), None where it is a record."""
    if not any(len(cell) < _NAME_LENGTH and plain_header(cell) in _TITLES for cell in row):
        return None
    columns = map_columns(row, declared)
    named = {plain_header(row[place]) for place in columns.values()}
    own = {plain_header(layout.header[place]) for place in layout.columns.values()}
    if len(columns) < 2 or "title" not in columns or (len(columns) < 4 and named != own):
        return None
    return Layout(tuple(cell.strip() for cell in row), columns)


@lru_cache(maxsize=4096)
def _labelled(name: str) -> str:
    return re.sub(r"\s+", "_", plain_header(name))


def cells_by_name(header: Sequence[str], row: Sequence[str]) -> dict[str, str]:
    """Cells by header, lower case with underscores, as labels are looked up."""
    return {_labelled(name): cell for name, cell in zip(header, row, strict=False)}
