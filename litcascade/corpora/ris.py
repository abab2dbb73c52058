"""RIS, every dialect that keeps `TY  - … ER  -`: a record opens at each start tag, closed or not."""

import re
from collections.abc import Iterator

from litcascade.corpora.build import build, join_pages, read_doi, read_year
from litcascade.corpora.found_labels import labels_in_notes
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Item, Repair, SetAside
from litcascade.corpora.source import Source
from litcascade.schemas import Record

_TAG = re.compile(r"^\s{0,3}([A-Z][A-Z0-9])\s{2}-(?:\s(.*))?$")
_LOOSE_TAG = re.compile(r"^\s{0,3}([A-Z][A-Z0-9])\s{1,2}-(?:\s(.*))?$")
_TITLE, _ABSTRACT = ("TI", "T1", "CT", "BT"), ("AB", "N2")
_JOURNAL, _YEAR = ("JO", "JF", "T2", "JA", "J2"), ("PY", "Y1", "DA")
_COMMON = frozenset(
    ("TI", "T1", "T2", "T3", "AU", "A1", "A2", "AB", "N1", "N2", "PY", "Y1", "Y2", "DA", "JO", "JF", "JA", "J2", "VL", "IS", "SP",
     "EP", "DO", "UR", "KW", "SN", "ID", "AN", "DB", "DP", "LA", "PB", "CY")
)  # fmt: skip
_ENDS = frozenset(("ER  - ", "ER  -"))
_MEDLINE = re.compile(r"PMID- ?\d")
_TYPE = re.compile(r"[A-Z]{3,8}")
_DOI = ("DO", "DI", "M3", "L3", "UR")
_PUBMED = ("pubmed", "medline", "nlm")
KIND_NOTE = "litcascade kind: "


class _Entry:
    def __init__(self, line: int, kind: str) -> None:
        self.line = line
        self.tags: dict[str, list[str]] = {"TY": [kind]}
        self.open = self.tags["TY"]

    def holds_anything(self) -> bool:
        """Whether it has any tag but its start."""
        return len(self.tags) > 1

    def take(self, tag: str | None, value: str) -> None:
        """A tagged line, or one that goes on with the tag before it."""
        if tag:
            self.add(tag, value)
        elif value:
            self.open[-1] = f"{self.open[-1]} {value}".strip()

    def add(self, tag: str, value: str) -> None:
        """A tagged line."""
        values = self.tags.get(tag)
        if values is None:
            self.tags[tag] = self.open = [value]
        else:
            values.append(value)
            self.open = values


@READERS.register("ris")
def read_ris(source: Source) -> Iterator[Item]:
    """Read RIS text; what stands between records is set aside with its line, never put into a record."""
    position = 0
    for item in _entries(source.lines()):
        if isinstance(item, _Entry) and not item.holds_anything():
            yield SetAside(item.line, "holds no field", f"TY  - {item.tags['TY'][0]}", is_record=True)
        elif isinstance(item, _Entry):
            position += 1
            yield _record(item, position)
        else:
            yield item


def _record(entry: _Entry, position: int) -> Record:
    tags = entry.tags
    pages = _first(entry, ("SP",))
    fields = {
        "title": _first(entry, _TITLE),
        "abstract": _joined(entry, _ABSTRACT),
        "year": _date(entry),
        "journal": _first(entry, _JOURNAL),
        "volume": _first(entry, ("VL",)),
        "issue": _first(entry, ("IS", "CP")),
        "pages": pages if pages and "-" in pages else join_pages(pages, _first(entry, ("EP",))),
        "doi": _doi(entry),
        "pmid": _pmid(entry),
        "pmcid": _first(entry, ("C2", "PMC")),
        "url": _first(entry, ("UR", "L2")),
        "kind": _kind(entry),
    }
    authors = tags.get("AU") or tags.get("A1") or []
    labels = labels_in_notes(tags["N1"]) if "N1" in tags else None
    return build(_first(entry, ("ID",)) or "", fields, authors, position, dict(tags), labels)


def _kind(entry: _Entry) -> str | None:
    """The type as our own exports note it where RIS has no such type, else that of the start tag."""
    own = (note.removeprefix(KIND_NOTE) for note in entry.tags.get("N1", ()) if note.startswith(KIND_NOTE))
    return next(own, None) or _first(entry, ("TY",))


def _doi(entry: _Entry) -> str | None:
    """The first DOI there is, in the tag for it or in the places where platforms put it."""
    return next((doi for tag in _DOI for value in entry.tags.get(tag, ()) if (doi := read_doi(value))), None)


def _pmid(entry: _Entry) -> str | None:
    """The accession number, where PubMed or MEDLINE is named as its base."""
    if "AN" not in entry.tags:
        return None
    bases = " ".join(value for tag in ("DB", "DP") for value in entry.tags.get(tag, [])).casefold()
    number = _first(entry, ("AN",)) or ""
    return number if number.isdecimal() and any(base in bases for base in _PUBMED) else None


def _date(entry: _Entry) -> str | None:
    """The first date with a year in it, else the first of any form."""
    printed = entry.tags.get("PY")
    if printed and len(printed[0]) == 4 and read_year(printed[0]):
        return printed[0]
    dates = [value for tag in _YEAR for value in entry.tags.get(tag, []) if value]
    return next((date for date in dates if read_year(date)), None) or next(iter(dates), None)


def _entries(lines: Iterator[str]) -> Iterator[_Entry | Item]:
    """Entries, what stands outside them, and notes.

    Two blanks stand before the dash of a tag; a record whose start tag has one is read by its own habit. With one blank,
    text behind an end tag is a wrapped line, not the end of a record.
    """
    entry: _Entry | None = None
    pattern = _TAG
    for number, line in enumerate(lines, start=1):
        if entry and line[2:6] == "  - " and line[:2] in _COMMON:
            entry.add(line[:2], line[6:].strip())
            continue
        if not line:
            continue
        if "TY" in line[:6]:
            pattern = _habit(line, pattern, entry is not None) or pattern
        tag, value = ("ER", "") if line in _ENDS else _split(line, pattern)
        foreign = entry is not None and tag is None and _MEDLINE.match(line) is not None
        if tag in ("TY", "ER") or foreign:
            if entry:
                yield from (
                    [] if tag == "ER" else [Repair(f"line {entry.line}: the record has no end tag; closed where another begins")]
                )
                yield entry
            entry = _Entry(number, value) if tag == "TY" else None
            yield from _behind(number, line, tag, value)
        elif entry:
            entry.take(tag, value)
        elif value or tag:
            yield SetAside(number, "stands outside any record", line)
    if entry:
        yield Repair(f"line {entry.line}: the last record has no end tag")
        yield entry


def _behind(number: int, line: str, tag: str | None, value: str) -> Iterator[SetAside]:
    """What stands on the line that ends a record and is no part of one."""
    if tag is None:
        yield SetAside(number, "stands outside any record", line)
    elif tag == "ER" and value:
        yield SetAside(number, "stands behind an end tag", line)


def _split(line: str, pattern: re.Pattern[str]) -> tuple[str | None, str]:
    """(Tag or None, value) of a line."""
    match = pattern.match(line)
    if not match or (match.group(1) == "ER" and match.group(2) and match.group(2).strip() and pattern is _LOOSE_TAG):
        return None, line.strip()
    return match.group(1), (match.group(2) or "").strip()


def _habit(line: str, habit: re.Pattern[str], inside: bool) -> re.Pattern[str] | None:
    """How a record whose start tag this is writes its tags; None where the line is no start tag.

    Inside a record of two blanks, one blank makes a start tag only before a type (`JOUR`): else it is a wrapped line.
    """
    start = _LOOSE_TAG.match(line)
    if not start or start.group(1) != "TY":
        return None
    if _TAG.match(line):
        return _TAG
    wrapped = inside and habit is _TAG and not _TYPE.fullmatch((start.group(2) or "").strip())
    return None if wrapped else _LOOSE_TAG


def _first(entry: _Entry, tags: tuple[str, ...]) -> str | None:
    """The first value that is not blank, in the order of the tags."""
    for tag in tags:
        if tag in entry.tags:
            for value in entry.tags[tag]:
                if value:
                    return value
    return None


def _joined(entry: _Entry, tags: tuple[str, ...]) -> str | None:
    """All values of the first tag that has any: databases repeat AB for the parts of one abstract."""
    for tag in tags:
        values = [value for value in entry.tags.get(tag, []) if value]
        if values:
            return " ".join(values)
    return None
