"""RIS, every dialect that keeps `TY  - … ER  -`: a record opens at each start tag, closed or not."""

import re
from collections import defaultdict
from collections.abc import Iterator

from litcascade.corpora.build import build, unique_ids
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Parsed, SetAside

_TAG = re.compile(r"^\s{0,3}([A-Z][A-Z0-9])\s{2}-(?:\s(.*))?$")
_LOOSE_TAG = re.compile(r"^\s{0,3}([A-Z][A-Z0-9])\s{1,2}-(?:\s(.*))?$")
_TITLE, _ABSTRACT = ("TI", "T1", "CT", "BT"), ("AB", "N2")
_JOURNAL, _YEAR = ("JO", "JF", "T2", "JA", "J2"), ("PY", "Y1", "DA")
_PUBMED = {"PubMed", "MEDLINE", "Medline", "NLM"}


class _Entry:
    def __init__(self, line: int, kind: str) -> None:
        self.line = line
        self.closed = False
        self.tags: dict[str, list[str]] = defaultdict(list)
        self.tags["TY"].append(kind)
        self.last = "TY"

    def take(self, tag: str | None, value: str) -> None:
        """A tagged line, or one that goes on with the tag before it."""
        if tag:
            self.add(tag, value)
        elif value:
            self.continue_line(value)

    def add(self, tag: str, value: str) -> None:
        self.tags[tag].append(value)
        self.last = tag

    def continue_line(self, text: str) -> None:
        values = self.tags[self.last]
        values[-1] = f"{values[-1]} {text}".strip() if values else text


@READERS.register("ris")
def read_ris(text: str, stem: str) -> Parsed:
    """Read RIS text; what stands between records is set aside with its line, never put into a record."""
    parsed = Parsed()
    entries = list(_entries(text, parsed))
    ids, own = unique_ids([_first(entry, ("ID",)) for entry in entries], stem)
    if not own:
        parsed.repairs.append("ids were made from file name and position (not every record has an ID of its own)")
    for position, (entry, record_id) in enumerate(zip(entries, ids, strict=True), start=1):
        tags = entry.tags
        fields = {
            "title": _first(entry, _TITLE),
            "abstract": _joined(entry, _ABSTRACT),
            "year": _first(entry, _YEAR),
            "journal": _first(entry, _JOURNAL),
            "doi": _first(entry, ("DO", "M3", "UR")) if not tags.get("DO") else tags["DO"][0],
            "pmid": _first(entry, ("AN",)) if {*tags.get("DB", []), *tags.get("DP", [])} & _PUBMED else None,
            "url": _first(entry, ("UR", "L2")),
            "kind": _first(entry, ("TY",)),
        }
        authors = tags.get("AU") or tags.get("A1") or []
        parsed.records.append(build(record_id, fields, authors, position, {tag: list(v) for tag, v in tags.items()}))
    return parsed


def _lines(text: str) -> Iterator[tuple[int, str, str | None, str]]:
    """Every line as (number, line, tag or None, value).

    Two blanks stand before the dash of a tag; a record whose start tag has one is read by its own habit. With one blank,
    text behind an end tag is a wrapped line, not the end of a record.
    """
    pattern = _TAG
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text.replace("\ufeff", "")), start=1):
        start = _LOOSE_TAG.match(line)
        if start and start.group(1) == "TY":
            pattern = _TAG if _TAG.match(line) else _LOOSE_TAG
        match = pattern.match(line)
        tag, value = (match.group(1), (match.group(2) or "").strip()) if match else (None, line.strip())
        if tag == "ER" and value and pattern is _LOOSE_TAG:
            tag, value = None, line.strip()
        yield number, line, tag, value


def _entries(text: str, parsed: Parsed) -> Iterator[_Entry]:
    entry: _Entry | None = None
    for number, line, tag, value in _lines(text):
        if tag == "TY":
            if entry:
                parsed.repairs.append(f"line {entry.line}: the record has no end tag; closed where the next one opens")
                yield entry
            entry = _Entry(number, value)
        elif tag == "ER":
            if value:
                parsed.set_aside.append(SetAside(number, "stands behind an end tag", line))
            if entry:
                yield entry
            entry = None
        elif entry:
            entry.take(tag, value)
        elif value or tag:
            parsed.set_aside.append(SetAside(number, "stands outside any record", line))
    if entry:
        parsed.repairs.append(f"line {entry.line}: the last record has no end tag")
        yield entry


def _first(entry: _Entry, tags: tuple[str, ...]) -> str | None:
    for tag in tags:
        for value in entry.tags.get(tag, []):
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
