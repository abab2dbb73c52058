"""Ovid's citation export: `<n>` opens a record, headings stand at the head of a line, their values are indented."""

import re
from collections.abc import Iterator

from litcascade.corpora.build import build, read_doi, read_year
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Item, SetAside
from litcascade.corpora.source import Source
from litcascade.corpora.tagged import Entry, as_records
from litcascade.schemas import Record

_OPENS = re.compile(r"<\d+>\s*$")
_NUMBER = re.compile(r"\s+\d+(?:\s*,\s*\d+)*$")
_KIND_IN_TITLE = re.compile(r"\.?\s*\[[^\[\]]*\]\.?$")
_PLACE = re.compile(r"(?P<journal>.*?)\.\s+(?P<volume>\d+)\s*(?:\((?P<issue>[^()]*)\))?\s*:\s*(?P<pages>[\w-]+)")
_BASES = ("medline", "pubmed")


@READERS.register("ovid")
def read_ovid(source: Source) -> Iterator[Item]:
    """Read Ovid text; lines that belong to no heading are set aside."""
    yield from as_records(_entries(source), _record)


def _entries(source: Source) -> Iterator[Entry | Item]:
    entry: Entry | None = None
    for number, line in enumerate(source.lines(), start=1):
        if _OPENS.match(line):
            if entry:
                yield entry
            entry = Entry(number)
        elif not line.strip() or (entry and line[:1] in " \t" and entry.go_on(line)):
            continue
        elif entry and line[:1] not in " \t" and len(line) < 80:
            entry.add(line.strip(), "")
        else:
            yield SetAside(number, "belongs to no heading of a record" if entry else "stands outside any record", line)
    if entry:
        yield entry


def _record(entry: Entry, position: int) -> Record:
    place = _PLACE.match(entry.first("Source") or "")
    parts = place.groupdict() if place else {}
    title = entry.first("Title", "Chapter Title", "Original Title", "Book Title")
    dates = [entry.first(name) for name in ("Year of Publication", "Publication Year", "Date of Publication", "Source")]
    number = entry.first("Unique Identifier", "PMID", "Accession Number") or ""
    bases = (entry.first("Database", "Status") or "").casefold()
    fields = {
        "title": _KIND_IN_TITLE.sub("", title) if title else None,
        "abstract": " ".join(entry.values("Abstract", "Abstract/Notes")),
        "year": _year(dates),
        "journal": parts.get("journal") or entry.first("Journal Name", "Source"),
        "volume": parts.get("volume"),
        "issue": parts.get("issue"),
        "pages": parts.get("pages"),
        "doi": next(
            (doi for name in ("DOI Number", "Digital Object Identifier", "DOI") if (doi := read_doi(entry.first(name)))), None
        ),
        "pmid": entry.first("PMID") or (number if number.isdecimal() and any(base in bases for base in _BASES) else None),
        "url": entry.first("Link to the Ovid Full Text or citation"),
        "kind": entry.first("Publication Type", "Document Type"),
    }
    return build("", fields, _authors(entry), position, dict(entry.tags))


def _year(dates: list[str | None]) -> str | None:
    """The year of a date, of the last one in a source line: volume and pages stand before it."""
    found = next((date for date in dates if read_year(date)), None)
    years = re.findall(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)", found or "")
    return years[-1] if years else next((date for date in dates if date), None)


def _authors(entry: Entry) -> list[str]:
    """Names parted by semicolons or lines, without the numbers of their institutions."""
    lines = [line for value in entry.tags.get("Author", entry.tags.get("Authors", [])) for line in value.split("\n")]
    names = [_NUMBER.sub("", name.strip().rstrip(".")) for line in lines for name in line.split(";")]
    return [name for name in names if name]
