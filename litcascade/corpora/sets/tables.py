"""Tables of benchmark sets, every cell text: CSV, TSV, JSON lines, JSON lists and Excel, packed with gzip or not."""

import csv
import gzip
import hashlib
import io
import json
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.encoding import decode
from litcascade.corpora.sheets import cell_text
from litcascade.errors import InputError

ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".xlsx")
SIZE_LIMIT = 2 * 2**30
_HEAD = 1 << 16
Row = dict[str, str]


@dataclass(frozen=True)
class Sheet:
    """A table as read: rows with their numbers (the header is row 1), and rows whose cells cannot be trusted."""

    name: str
    header: tuple[str, ...]
    rows: tuple[tuple[int, Row], ...]
    torn: tuple[tuple[int, str], ...] = ()
    sha256: str = ""
    columns: frozenset[str] = field(default=frozenset())

    def only(self, column: str, names: Collection[str]) -> "Sheet":
        """The table with only those rows whose cell (without outer blanks) is one of `names`."""
        return replace(self, rows=tuple(item for item in self.rows if item[1][column].strip() in names))

    def need(self, *names: str) -> None:
        """Refuse a table that lacks a column, with the columns it has."""
        missing = [name for name in names if name not in self.columns]
        if missing:
            raise InputError(f"{self.name}: has no column '{missing[0]}'; its columns are: {', '.join(self.header)}")


def plain_name(path: Path) -> str:
    """The file's name without `.gz`."""
    return path.name[:-3] if path.name.lower().endswith(".gz") else path.name


def stem(path: Path) -> str:
    """The file's name without `.gz` and its ending."""
    return Path(plain_name(path)).stem


def tables_in(folder: Path, pattern: str = "*") -> list[Path]:
    """The tables directly in a folder whose plain name fits the pattern, in order of name."""
    return sorted(p for p in folder.glob(pattern) if p.is_file() and Path(plain_name(p)).suffix.lower() in ENDINGS)


def the_file(folder: Path, *names: str) -> Path:
    """The first of these files that is in the folder, packed or not; none is an `InputError`."""
    found = a_file(folder, *names)
    if found is None:
        raise InputError(f"{folder}: holds no file '{names[0]}'; see the set's card for the files it needs")
    return found


def a_file(folder: Path, *names: str) -> Path | None:
    """The first of these files that is in the folder, packed or not; None where none is."""
    every = [folder / (name + ending) for name in names for ending in ("", ".gz")]
    return next((path for path in every if path.is_file()), None)


def read_bytes(path: Path) -> bytes:
    """The unpacked content; what is not there, too large or a damaged archive is an `InputError`."""
    try:
        if not path.name.lower().endswith(".gz"):
            raw = path.read_bytes()
        else:
            with gzip.open(path) as handle:
                raw = handle.read(SIZE_LIMIT + 1)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file") from None
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({error}); bring the file again") from None
    if len(raw) > SIZE_LIMIT:
        raise InputError(f"{path}: is larger than {SIZE_LIMIT // 2**30} GiB; split it")
    return raw


def read_sheet(path: Path, header: Sequence[str] | None = None) -> Sheet:
    """Read a table; `header` names the columns of a file that has none."""
    return parse_sheet(read_bytes(path), plain_name(path), str(path), header)


def parse_sheet(raw: bytes, file_name: str, name: str, header: Sequence[str] | None = None) -> Sheet:
    """A table from bytes, by the ending of its file name."""
    ending = Path(file_name).suffix.lower()
    sha256 = hashlib.sha256(raw).hexdigest()
    if ending == ".xlsx":
        return _sheet(name, _excel_rows(raw, name), sha256, header)
    text = decode(raw).text
    if text.lstrip()[:200].lower().startswith(("<!doctype html", "<html")):
        raise InputError(f"{name}: is a web page (perhaps an error page), not a table; download it again")
    if ending in (".json", ".jsonl"):
        return _from_objects(name, _objects(text, name, ending), sha256)
    return _sheet(name, _split(text, "\t" if ending == ".tsv" else None, name), sha256, header)


def _split(text: str, delimiter: str | None, name: str) -> list[tuple[int, list[str]]]:
    head = next((line for line in text.splitlines() if line.strip()), "")
    sign = delimiter or max(",;\t", key=head.count)
    try:
        return _rows(text, sign, csv.QUOTE_MINIMAL)
    except _Torn as torn:
        if sign == "\t":  # tab-separated files are often written without any quoting
            return _rows(text, sign, csv.QUOTE_NONE)
        raise InputError(
            f"{name}: line {torn.line} holds a quotation mark that is never closed or stands inside a cell ({torn}); "
            "bring the file again"
        ) from None


class _Torn(Exception):
    def __init__(self, line: int, words: str) -> None:
        super().__init__(words)
        self.line = line


def _rows(text: str, delimiter: str, quoting: Literal[0, 3]) -> list[tuple[int, list[str]]]:
    """Rows with their numbers, blank ones apart; strict, so that a stray quotation mark swallows no rows."""
    csv.field_size_limit(2**31 - 1)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, quoting=quoting, strict=True)
    try:
        return [(number, row) for number, row in enumerate(reader, start=1) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise _Torn(reader.line_num, str(error)) from None


def header_of(path: Path) -> tuple[str, ...]:
    """The column names of a table, without reading all of it where it is CSV or TSV."""
    ending = Path(plain_name(path)).suffix.lower()
    if ending not in (".csv", ".tsv"):
        return read_sheet(path).header
    try:
        with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as handle:
            head = decode(handle.read(_HEAD)).text.lstrip("\ufeff\r\n").split("\n", 1)[0]
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(f"{path}: cannot be read ({error}); bring the file again") from None
    return _sheet(str(path), _split(head, "\t" if ending == ".tsv" else None, str(path)), "", None).header


def _sheet(name: str, lines: list[tuple[int, list[str]]], sha256: str, header: Sequence[str] | None) -> Sheet:
    if not lines:
        raise InputError(f"{name}: the table is empty; bring the file again")
    names = [cell.strip().lstrip("\ufeff") for cell in (header or lines[0][1])]
    rows, torn = [], []
    for number, cells in lines if header else lines[1:]:
        extra = any(cell.strip() for cell in cells[len(names) :])
        if len(cells) < len(names) or extra:
            torn.append((number, f"has {len(cells)} cells where the header has {len(names)}"))
        else:
            rows.append((number, dict(zip(names, cells, strict=False))))
    return Sheet(name, tuple(names), tuple(rows), tuple(torn), sha256, frozenset(names))


def _excel_rows(raw: bytes, name: str) -> list[tuple[int, list[str]]]:
    """The rows of the first sheet, every cell text, a whole number without a point."""
    import python_calamine as calamine

    try:
        sheet = calamine.CalamineWorkbook.from_filelike(io.BytesIO(raw)).get_sheet_by_index(0)
        rows = [[cell_text(value) for value in row] for row in sheet.iter_rows()]
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise InputError(f"{name}: is not a readable Excel workbook ({str(error)[:120]}); export it as CSV") from None
    first = (sheet.start or (0, 0))[0] + 1
    return [(number, row) for number, row in enumerate(rows, start=first) if any(row)]


def _objects(text: str, name: str, ending: str) -> list[tuple[int, Any]]:
    try:
        if ending == ".jsonl":
            lines = enumerate(text.split("\n"), start=1)
            return [(number, json.loads(line)) for number, line in lines if line.strip()]
        parsed = json.loads(text)
    except ValueError as error:
        raise InputError(f"{name}: is not readable JSON ({error}); bring the file again") from None
    if not isinstance(parsed, list):
        raise InputError(f"{name}: holds no list of objects; name a table with one object a record")
    return list(enumerate(parsed, start=1))


def _from_objects(name: str, objects: list[tuple[int, Any]], sha256: str) -> Sheet:
    if not objects:
        raise InputError(f"{name}: the table is empty; bring the file again")
    rows = [
        (number, {str(key): _cell(value) for key, value in item.items()}) for number, item in objects if isinstance(item, dict)
    ]
    torn = [(number, "is no object") for number, item in objects if not isinstance(item, dict)]
    names = tuple(dict.fromkeys(key for _, row in rows for key in row))
    full = tuple((number, {key: row.get(key, "") for key in names}) for number, row in rows)
    return Sheet(name, names, full, tuple(torn), sha256, frozenset(names))


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def read_object(path: Path) -> tuple[dict[str, Any], str]:
    """(A JSON object, the SHA-256 of the file); anything else is an `InputError`."""
    return parse_object(read_bytes(path), str(path))


def parse_object(raw: bytes, name: str) -> tuple[dict[str, Any], str]:
    """(A JSON object from bytes, their SHA-256)."""
    try:
        parsed = json.loads(decode(raw).text)
    except ValueError as error:
        raise InputError(f"{name}: is not readable JSON ({error}); bring the file again") from None
    if not isinstance(parsed, dict):
        raise InputError(f"{name}: holds no JSON object; bring the file again")
    return parsed, hashlib.sha256(raw).hexdigest()


def zip_members(path: Path) -> dict[str, bytes]:
    """The files of a zip archive by name, folders apart; a damaged or outsized archive is an `InputError`."""
    try:
        with zipfile.ZipFile(path) as archive:
            items = [item for item in archive.infolist() if not item.is_dir()]
            if sum(item.file_size for item in items) > SIZE_LIMIT:
                raise InputError(f"{path}: is larger than {SIZE_LIMIT // 2**30} GiB unpacked; unpack it and name the folder")
            return {item.filename: archive.read(item) for item in items}
    except (zipfile.BadZipFile, OSError, zlib.error) as error:
        raise InputError(f"{path}: is no readable zip archive ({error}); download it again") from None


def filled(value: str | None) -> str | None:
    """A cell's text without outer blanks, or None where it holds nothing (blank, nan, NA, …)."""
    return None if value is None or nothing(value) else value.strip()


def identifier(value: str | None) -> str | None:
    """An id from a cell, blanks folded as in a record's id, or None where the cell holds nothing."""
    text = filled(value)
    return " ".join(text.split()) if text else None


def natural(names: Iterable[str]) -> list[str]:
    """Names in order, numbers in them by their size."""
    return sorted(names, key=lambda name: [(int(part), "") if part.isdigit() else (0, part) for part in re.split(r"(\d+)", name)])
