"""PubMed's tagged text (MEDLINE, .nbib): `PMID- ` opens a record, six blank columns go on with the field above."""

import re
from collections.abc import Iterator
from itertools import pairwise

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.build import build, read_year
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Item, SetAside
from litcascade.corpora.source import Source
from litcascade.corpora.tagged import Entry, as_records
from litcascade.schemas import Record

_TAG = re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) *- ?(.*)")
_BLANKS = " " * 6


@READERS.register("nbib")
def read_nbib(source: Source) -> Iterator[Item]:
    """Read MEDLINE text; lines that are neither tagged nor indented belong to no field and are set aside."""
    yield from as_records(_entries(source), _record)


def _record(entry: Entry, position: int) -> Record:
    fields = {
        "title": plain_title(entry.first("TI"), entry.first("TT")) or entry.first("BTI", "CTI"),
        "abstract": " ".join(entry.values("AB", "OAB")),
        "year": _year(entry),
        "journal": entry.first("JT", "TA"),
        "volume": entry.first("VI"),
        "issue": entry.first("IP"),
        "pages": entry.first("PG"),
        "doi": _doi(entry),
        "pmid": entry.first("PMID"),
        "pmcid": entry.first("PMC"),
        "kind": "; ".join(entry.values("PT")),
    }
    return build("", fields, entry.values("FAU", "AU"), position, dict(entry.tags))


def plain_title(title: str | None, vernacular: str | None = None) -> str | None:
    """The title without the brackets that mark a translation; the original one where none was translated."""
    match = re.fullmatch(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\.?", (title or "").strip())
    plain = match.group(1).strip().removesuffix(".") if match else title
    return vernacular if nothing(plain) else plain


def _entries(source: Source) -> Iterator[Entry | Item]:
    entry: Entry | None = None
    closed, spaced = True, _spaced(source.head().split("\n"))
    for number, line in enumerate(source.lines(), start=1):
        match = _TAG.match(line)
        if match and match.group(1) == "PMID":
            if entry:
                yield entry
            entry, closed = Entry(number), False
            entry.add("PMID", match.group(2))
        elif not line.strip():
            closed = closed or not spaced
        elif line.startswith(_BLANKS) and entry and entry.go_on(line):
            continue
        elif match and entry and not closed:
            entry.add(match.group(1), match.group(2))
        else:
            yield _aside(number, line, match is not None and closed)
            if entry:
                entry.open = None
    if entry:
        yield entry


def _aside(number: int, line: str, outside: bool) -> SetAside:
    reason = "stands outside any record (no PMID opens one)" if outside else "is neither a tagged line nor a continued one"
    return SetAside(number, reason, line)


def _spaced(lines: list[str]) -> bool:
    """Whether blank lines stand between fields as a habit of the file, so that they cannot end a record."""
    tagged = behind_blank = 0
    for above, line in pairwise(lines):
        match = _TAG.match(line)
        if match and match.group(1) != "PMID":
            tagged += 1
            behind_blank += not above.strip()
    return behind_blank * 2 > tagged


def _year(entry: Entry) -> str | None:
    """The date of publication; the electronic one (20160419) where that has no year."""
    date = entry.first("DP")
    return date if read_year(date) else (entry.first("DEP") or "")[:4]


def _doi(entry: Entry) -> str | None:
    places = entry.values("LID") + entry.values("AID")
    marked = [value for value in places if value.casefold().endswith("[doi]")]
    return next(iter(marked + [value for value in places if value.casefold().startswith("doi:")]), None)
