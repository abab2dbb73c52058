"""The table of readers of export files, and how a format is told from content."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from litcascade.corpora.columns import map_columns
from litcascade.corpora.ids import number
from litcascade.corpora.receipt import Item, Parsed, Receipt, Repair, SetAside, Tally
from litcascade.corpora.source import Source, binary_kind, open_text, plain_stem, text_source
from litcascade.errors import InputError
from litcascade.registry import Registry
from litcascade.schemas import Record

RecordReader = Callable[[Source], Iterator[Item]]
READERS: Registry[RecordReader] = Registry("reader of records")
FileReader = Callable[[Path, Mapping[str, str]], Iterator[Item]]
FILE_READERS: Registry[FileReader] = Registry("reader of record files")

_KINDS_READ = (
    "RIS, PubMed (nbib or XML), EndNote XML, BibTeX, Web of Science (tagged or table), Ovid, CSV, TSV, Excel, Parquet, "
    "JSON (lines) and ASReview projects are read"
)
_XML_MARKS = {
    "pubmed_xml": re.compile(r"<Pubmed(?:Book)?Article(?:Set)?[\s>/]"),
    "endnote_xml": re.compile(r"<xml>\s*<records>|<record>\s*<(?:database|source-app|rec-number|foreign-keys|ref-type)[\s>]"),
}
_LINE_MARKS = {
    "ris": re.compile(r"^\s{0,3}TY\s{1,2}-", re.MULTILINE),
    "nbib": re.compile(r"^PMID-", re.MULTILINE),
    "bibtex": re.compile(r"^[ \t]*@[ \t]*[A-Za-z]+[ \t]*(?:\{|\(\s*[^\s,()]+\s*,)", re.MULTILINE),
    "wos": re.compile(r"^PT [A-Z]", re.MULTILINE),
    "ovid": re.compile(r"^<\d+>[ \t]*\n(?:Score|VN|[A-Z][\w /]{1,50})[ \t]*\n[ \t]+\S", re.MULTILINE),
}
_WOS_FRAME = re.compile(r"^(?:FN |ER[ \t]*$)", re.MULTILINE)
_JSON = re.compile(r"\s*(?:\[\s*)?\{\s*(?:\"|\})")
_WITH_COLUMNS = ("csv", "xlsx", "xls", "json", "parquet")
_CELL = re.compile(r"[,;\t|]")


def detect(text: str) -> str | None:
    """The format of an export, told from its (first megabyte of) content; None where it is none that is read.

    Of the tagged formats it is the one whose mark comes first; a table's header in the first line goes before all of them.
    """
    text = re.sub(r"\r\n?", "\n", text).lstrip("\ufeff \t\n")
    if text.startswith("<"):
        found = next((name for name, mark in _XML_MARKS.items() if mark.search(text)), None)
        if found:
            return found
    if _JSON.match(text):
        return "json"
    head = text.split("\n", 1)[0]
    cells = [] if head.startswith(("<", "@", "{", "[")) else _CELL.split(head)
    marks = {name: match.start() for name, mark in _LINE_MARKS.items() if (match := mark.search(text))}
    if "wos" in marks and not _WOS_FRAME.search(text):
        del marks["wos"]
    named = map_columns([cell.strip(" \"'") for cell in cells])
    if len(named) > (2 if "ris" in marks else 1) and {"title", "abstract"} & set(named):
        return "csv"  # three names of columns in the first line are no accident, whatever a cell below looks like
    if marks:
        return min(marks, key=lambda name: marks[name])
    return "csv" if _like_a_table(text) else None


def _like_a_table(text: str) -> bool:
    """Whether one of the first lines names a title or abstract among cells, or the first lines have as many cells each."""
    lines = [line for line in text.split("\n", 60)[:60] if line.strip()]
    rows = [[cell.strip(" \"'") for cell in _CELL.split(line)] for line in lines]
    if any(len(cells) > 1 and {"title", "abstract"} & set(map_columns(cells)) for cells in rows):
        return True
    return any(
        lines[:1] and lines[0].count(mark) > 0 and all(line.count(mark) >= lines[0].count(mark) for line in lines[:3])
        for mark in ",;\t|"
    )


class Export:
    """An export file, its format told; `items()` reads it anew each time, record by record."""

    def __init__(self, path: Path, columns: Mapping[str, str] | None = None) -> None:
        self.path = path
        self.stem = plain_stem(path)
        self.columns = columns or {}
        self.encoding = "binary"
        self._source: Source | None = None
        kind = binary_kind(path)
        if kind is None:
            self._source = open_text(path, self.columns)
            self.encoding = self._source.encoding.name
            kind = detect(self._source.head())
        if kind is None:
            raise InputError(f"{path}: the format was not recognised; {_KINDS_READ}")
        self.format = kind
        if self.columns and kind not in _WITH_COLUMNS:
            raise InputError(f"{path}: is {kind}, which has no columns to name; leave out --columns")

    def items(self) -> Iterator[Item]:
        """Records, what was set aside, and repairs, in the order of the file; ids are the file's own or blank."""
        if self._source is None:
            yield from FILE_READERS.get(self.format)(self.path, self.columns)
            return
        foreign: Counter[str] = Counter()
        for item in READERS.get(self.format)(self._source):
            if isinstance(item, SetAside) and not item.is_record and (name := self._other_format(item)):
                foreign[name] += 1
                yield replace(item, reason=f"begins a record of another format ({name})", is_record=True)
            else:
                yield item
        for name, count in foreign.items():
            yield Repair(f"{count} record(s) of another format ({name}) stand in the file and were not read: part it in two")
        if odd := self._source.encoding.repaired:
            yield Repair(f"{odd} byte(s) were not UTF-8 and were read as Windows-1252")

    def _other_format(self, item: SetAside) -> str | None:
        """The format whose record begins in what was set aside."""
        head = item.raw[:200]
        return next((name for name, mark in _LINE_MARKS.items() if name != self.format and mark.match(head)), None)


def read_records(path: Path, columns: Mapping[str, str] | None = None) -> tuple[Parsed, Receipt]:
    """Read an export whole into memory; a file without any record is an `InputError`."""
    export = Export(path, columns)
    parsed, tally = collect(export.items(), export.stem)
    require_records(path, tally)
    return parsed, tally.receipt(str(path), export.format, export.encoding)


def require_records(path: Path, tally: Tally) -> None:
    """Refuse a file in which no record was found."""
    if not tally.read:
        why = f" ({tally.refused} entries in it could not be read)" if tally.refused else ""
        raise InputError(f"{path}: no record was found in it{why}; check the export")


def read_text_as(name: str, text: str, stem: str = "text") -> Parsed:
    """Read a text at hand with the reader of that name."""
    return collect(READERS.get(name)(text_source(text, stem)), stem)[0]


def collect(items: Iterator[Item], stem: str) -> tuple[Parsed, Tally]:
    """All items of a file in memory, ids made where the file gives none."""
    parsed, tally = Parsed(), Tally()
    for item in items:
        tally.add(item)
        if isinstance(item, Record):
            parsed.records.append(item)
        elif isinstance(item, SetAside):
            parsed.set_aside.append(item)
    ids, notes = number([record.record_id for record in parsed.records], stem)
    parsed.records = [
        record if record.record_id == own else record.model_copy(update={"record_id": own})
        for record, own in zip(parsed.records, ids, strict=True)
    ]
    tally.repairs += notes
    parsed.repairs = tally.repairs
    return parsed, tally
