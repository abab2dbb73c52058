"""The table of readers of export files, and how a format is told from content."""

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from litcascade.corpora.encoding import read_text
from litcascade.corpora.receipt import Parsed, Receipt, make_receipt
from litcascade.errors import InputError
from litcascade.registry import Registry

RecordReader = Callable[[str, str], Parsed]
READERS: Registry[RecordReader] = Registry("reader of records")


def detect(text: str) -> str | None:
    """The format of an export, told from its content: `ris`, `csv`, or None."""
    if re.search(r"^\s{0,3}TY\s{1,2}-", text, re.MULTILINE):
        return "ris"
    head = text.lstrip().split("\n", 1)[0]
    if not head.startswith(("<", "@", "{", "[")) and len(re.split(r"[,;\t|]", head)) > 1:
        return "csv"
    return None


def read_records(path: Path) -> tuple[Parsed, Receipt]:
    """Read an export whole, or not at all; repeated ids are an `InputError` that names them."""
    decoded = read_text(path)
    name = detect(decoded.text)
    if name is None:
        raise InputError(f"{path}: the format was not recognised; RIS and CSV (or TSV) are read")
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
    return parsed, replace(make_receipt(str(path), name, decoded.encoding, parsed))
