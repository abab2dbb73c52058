"""The table of readers of export files, and how a format is told from content."""

import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from litcascade.corpora.encoding import read_text
from litcascade.corpora.receipt import Parsed, Receipt, make_receipt
from litcascade.errors import InputError
from litcascade.registry import Registry

RecordReader = Callable[[str, str], Parsed]
READERS: Registry[RecordReader] = Registry("reader of records")


_XML_MARKS = {
    "pubmed_xml": re.compile(r"<Pubmed(?:Book)?Article(?:Set)?[\s>/]"),
    "endnote_xml": re.compile(r"<xml>\s*<records>|<record>\s*<(?:database|source-app|rec-number|foreign-keys|ref-type)[\s>]"),
}
_LINE_MARKS = {
    "ris": re.compile(r"^\s{0,3}TY\s{1,2}-", re.MULTILINE),
    "nbib": re.compile(r"^PMID-", re.MULTILINE),
    "bibtex": re.compile(r"^[ \t]*@[ \t]*[A-Za-z]+[ \t]*(?:\{|\(\s*[^\s,()]+\s*,)", re.MULTILINE),
    "wos": re.compile(r"^PT [A-Z]", re.MULTILINE),
}
_WOS_FRAME = re.compile(r"^(?:FN |ER[ \t]*$)", re.MULTILINE)
_COLUMNS = {"title", "abstract", "authors", "author", "year", "doi", "pmid"}


def detect(text: str) -> str | None:
    """The format of an export, told from its content; None where it is none that is read.

    Of the tagged formats it is the one whose mark comes first; a table's header goes before all but RIS.
    """
    text = re.sub(r"\r\n?", "\n", text).lstrip("\ufeff \t\n")
    if text.startswith("<"):
        found = next((name for name, mark in _XML_MARKS.items() if mark.search(text)), None)
        if found:
            return found
    head = text.split("\n", 1)[0]
    cells = [] if head.startswith(("<", "@", "{", "[")) else re.split(r"[,;\t|]", head)
    marks = {name: match.start() for name, mark in _LINE_MARKS.items() if (match := mark.search(text))}
    if "wos" in marks and not _WOS_FRAME.search(text):
        del marks["wos"]
    if "ris" not in marks and len(_COLUMNS & {cell.strip(" \"'").casefold() for cell in cells}) > 1:
        return "csv"
    if marks:
        return min(marks, key=lambda name: marks[name])
    return "csv" if len(cells) > 1 else None


def read_records(path: Path) -> tuple[Parsed, Receipt]:
    """Read an export whole, or not at all; repeated ids are an `InputError` that names them."""
    decoded = read_text(path)
    name = detect(decoded.text)
    if name is None:
        raise InputError(
            f"{path}: the format was not recognised; RIS, PubMed (nbib or XML), EndNote XML, BibTeX, "
            "Web of Science (tagged) and CSV (or TSV) are read"
        )
    parsed = READERS.get(name)(decoded.text, path.stem)
    if not parsed.records:
        raise InputError(f"{path}: no record was found in it; check the export")
    repeated = [record_id for record_id, n in Counter(record.record_id for record in parsed.records).items() if n > 1]
    if repeated:
        first = repeated[0]
        where = [str(record.position) for record in parsed.records if record.record_id == first]
        raise InputError(
            f"{path}: {len(repeated)} id(s) are used twice, such as '{first}' in records {' and '.join(where)}; "
            "make the ids unique, or remove them to have them made"
        )
    if decoded.repaired:
        parsed.repairs.append(f"{decoded.repaired} byte(s) were not UTF-8 and were read as Windows-1252")
    return parsed, make_receipt(str(path), name, decoded.encoding, parsed)
