"""PubMed's tagged text (MEDLINE, .nbib): `PMID- ` opens a record, six blank columns go on with the field above."""

import re
from collections.abc import Iterator
from itertools import pairwise

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.build import build, read_year
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Parsed, SetAside
from litcascade.corpora.tagged import Entry, made_ids, numbered_lines

_TAG = re.compile(r"(?=.{4}-)([A-Z][A-Z0-9]{1,3}) *- ?(.*)")
_BLANKS = " " * 6


@READERS.register("nbib")
def read_nbib(text: str, stem: str) -> Parsed:
    """Read MEDLINE text; lines that are neither tagged nor indented belong to no field and are set aside."""
    parsed = Parsed()
    entries = list(_entries(numbered_lines(text), parsed))
    ids = made_ids(len(entries), stem, parsed)
    for position, (entry, record_id) in enumerate(zip(entries, ids, strict=True), start=1):
        fields = {
            "title": plain_title(entry.first("TI"), entry.first("TT")) or entry.first("BTI", "CTI"),
            "abstract": " ".join(entry.values("AB", "OAB")),
            "year": _year(entry),
            "journal": entry.first("JT", "TA"),
            "doi": _doi(entry),
            "pmid": entry.first("PMID"),
            "kind": "; ".join(entry.values("PT")),
        }
        parsed.records.append(build(record_id, fields, entry.values("FAU", "AU"), position, dict(entry.tags)))
    return parsed


def plain_title(title: str | None, vernacular: str | None = None) -> str | None:
    """The title without the brackets that mark a translation; the original one where none was translated."""
    match = re.fullmatch(r"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\.?", (title or "").strip())
    plain = match.group(1).strip().removesuffix(".") if match else title
    return vernacular if nothing(plain) else plain


def _entries(lines: list[tuple[int, str]], parsed: Parsed) -> Iterator[Entry]:
    entry: Entry | None = None
    closed, spaced = True, _spaced(lines)
    for number, line in lines:
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
            _put_aside(number, line, match is not None and closed, parsed)
            if entry:
                entry.open = None
    if entry:
        yield entry


def _put_aside(number: int, line: str, outside: bool, parsed: Parsed) -> None:
    reason = "stands outside any record (no PMID opens one)" if outside else "is neither a tagged line nor a continued one"
    parsed.set_aside.append(SetAside(number, reason, line))


def _spaced(lines: list[tuple[int, str]]) -> bool:
    """Whether blank lines stand between fields as a habit of the file, so that they cannot end a record."""
    tagged = behind_blank = 0
    for (_, above), (_, line) in pairwise(lines):
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
