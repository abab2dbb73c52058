"""Web of Science's tagged text: `PT` opens a record, `ER` ends it, three blanks go on with the field above."""

import re
from collections.abc import Iterator

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.build import build, join_pages, read_year
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Item, Repair, SetAside
from litcascade.corpora.source import Source
from litcascade.corpora.tagged import Entry, as_records
from litcascade.schemas import Record

_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?\s*$")
_FRAME = ("FN", "VR", "EF")


@READERS.register("wos")
def read_wos(source: Source) -> Iterator[Item]:
    """Read Web of Science (ISI) text; what stands between records is set aside with its line."""
    yield from as_records(_entries(source), _record)


def _record(entry: Entry, position: int) -> Record:
    kinds = [kind for kind in (entry.first("DT"), entry.first("PT")) if not nothing(kind)]
    dates = [entry.first(tag) for tag in ("PY", "EA", "EY", "PD")]
    number = entry.first("UT") or ""
    fields = {
        "title": entry.first("TI"),
        "abstract": " ".join(entry.values("AB")),
        "year": next((date for date in dates if read_year(date)), None) or next((date for date in dates if date), None),
        "journal": entry.first("SO", "JI"),
        "volume": entry.first("VL"),
        "issue": entry.first("IS"),
        "pages": join_pages(entry.first("BP"), entry.first("EP")) or entry.first("AR"),
        "doi": entry.first("DI"),
        "pmid": entry.first("PM") or (number if number.startswith("MEDLINE:") else None),
        "kind": next(iter(kinds), None),
    }
    return build("", fields, _authors(entry), position, dict(entry.tags))


def _authors(entry: Entry) -> list[str]:
    """Full names where given, one a line; older exports write them in one line with semicolons."""
    for tag in ("AF", "AU", "BA", "CA"):
        names = [name for value in entry.tags.get(tag, []) for name in re.split(r"[\n;]", value) if name.strip()]
        if names:
            return names
    return []


def _entries(source: Source) -> Iterator[Entry | Item]:
    entry: Entry | None = None
    for number, line in enumerate(source.lines(), start=1):
        match = _TAG.match(line)
        tag = match.group(1) if match else None
        if tag == "PT" or (entry and _ends(line)):
            if entry:
                if tag == "PT":
                    yield Repair(f"line {entry.line}: the record has no ER; closed where the next one opens")
                yield entry
            entry = Entry(number) if tag == "PT" else None
        if entry and match and tag:
            entry.add(tag, match.group(2) or "")
        elif line.strip() and not _ends(line) and not (tag in _FRAME and not entry):
            yield from _go_on(number, line, entry)
    if entry:
        yield Repair(f"line {entry.line}: the last record has no ER")
        yield entry


def _ends(line: str) -> bool:
    return line.rstrip() in ("ER", "EF")


def _go_on(number: int, line: str, entry: Entry | None) -> Iterator[SetAside]:
    """A line without a tag: more of the field above if indented, else set aside with what goes on from it."""
    if entry and line.startswith("   ") and entry.go_on(line):
        return
    yield SetAside(number, "is neither a tagged line nor a continued one" if entry else "stands outside any record", line)
    if entry:
        entry.open = None
