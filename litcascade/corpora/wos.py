"""Web of Science's tagged text: `PT` opens a record, `ER` ends it, three blanks go on with the field above."""

import re
from collections.abc import Iterator

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.build import build, read_year
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Parsed, SetAside
from litcascade.corpora.tagged import Entry, made_ids, numbered_lines

_TAG = re.compile(r"([A-Z][A-Z0-9])(?: (.*))?\s*$")
_FRAME = ("FN", "VR", "EF")


@READERS.register("wos")
def read_wos(text: str, stem: str) -> Parsed:
    """Read Web of Science (ISI) text; what stands between records is set aside with its line."""
    parsed = Parsed()
    entries = list(_entries(text, parsed))
    ids = made_ids(len(entries), stem, parsed)
    for position, (entry, record_id) in enumerate(zip(entries, ids, strict=True), start=1):
        kinds = [kind for kind in (entry.first("DT"), entry.first("PT")) if not nothing(kind)]
        dates = [entry.first(tag) for tag in ("PY", "EA", "EY", "PD")]
        number = entry.first("UT") or ""
        fields = {
            "title": entry.first("TI"),
            "abstract": " ".join(entry.values("AB")),
            "year": next((date for date in dates if read_year(date)), None),
            "journal": entry.first("SO", "JI"),
            "doi": entry.first("DI"),
            "pmid": entry.first("PM") or (number if number.startswith("MEDLINE:") else None),
            "kind": next(iter(kinds), None),
        }
        parsed.records.append(build(record_id, fields, _authors(entry), position, dict(entry.tags)))
    return parsed


def _authors(entry: Entry) -> list[str]:
    """Full names where given, one a line; older exports write them in one line with semicolons."""
    for tag in ("AF", "AU", "BA", "CA"):
        names = [name for value in entry.tags.get(tag, []) for name in re.split(r"[\n;]", value) if name.strip()]
        if names:
            return names
    return []


def _entries(text: str, parsed: Parsed) -> Iterator[Entry]:
    entry: Entry | None = None
    for number, line in numbered_lines(text):
        match = _TAG.match(line)
        tag = match.group(1) if match else None
        if tag == "PT" or (entry and _ends(line)):
            if entry:
                if tag == "PT":
                    parsed.repairs.append(f"line {entry.line}: the record has no ER; closed where the next one opens")
                yield entry
            entry = Entry(number) if tag == "PT" else None
        if entry and match and tag:
            entry.add(tag, match.group(2) or "")
        elif line.strip() and not _ends(line) and not (tag in _FRAME and not entry):
            _go_on(number, line, entry, parsed)
    if entry:
        parsed.repairs.append(f"line {entry.line}: the last record has no ER")
        yield entry


def _ends(line: str) -> bool:
    return line.rstrip() in ("ER", "EF")


def _go_on(number: int, line: str, entry: Entry | None, parsed: Parsed) -> None:
    """A line without a tag: more of the field above if indented, else set aside with what goes on from it."""
    if entry and line.startswith("   ") and entry.go_on(line):
        return
    reason = "is neither a tagged line nor a continued one" if entry else "stands outside any record"
    parsed.set_aside.append(SetAside(number, reason, line))
    if entry:
        entry.open = None
