"""An export file as readers see it: named for what it is, decoded, in pieces or lines, never whole unless asked."""

import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from litcascade.corpora.encoding import Encoding, Opener, decoded_pieces, find_encoding
from litcascade.errors import InputError

LINE_LIMIT = 64 * 2**20
HEAD = 1 << 20
_ZIP, _GZIP, _OLE = b"PK\x03\x04", b"\x1f\x8b", b"\xd0\xcf\x11\xe0"
_TEXTLESS = [
    (b"%PDF", "a PDF"),
    (b"SQLite format 3", "an SQLite database"),
    (b"Rar!", "a RAR archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
    (b"{\\rtf", "an RTF document"),
]


@dataclass
class Source:
    """The text of one export; `stem` is what made ids begin with, `columns` a declared mapping of a table's columns."""

    name: str
    stem: str
    opener: Opener
    encoding: Encoding
    path: Path | None = None
    columns: Mapping[str, str] = field(default_factory=dict)

    def pieces(self) -> Iterator[str]:
        """The text in pieces of about a megabyte, byte-order marks removed, every line end a line feed."""
        held = ""
        with self.opener() as handle:
            for piece in decoded_pieces(handle, self.encoding):
                text = held + piece.replace("\ufeff", "")
                held = "\r" if text.endswith("\r") else ""
                yield (text[:-1] if held else text).replace("\r\n", "\n").replace("\r", "\n")
        if held:
            yield "\n"

    def lines(self) -> Iterator[str]:
        """The lines without their ends; one that is longer than any export has is an `InputError`."""
        parts: list[str] = []
        length = number = 0
        for piece in self.pieces():
            first, *rest = piece.split("\n")
            parts.append(first)
            length += len(first)
            if length > LINE_LIMIT:
                raise InputError(
                    f"{self.name}: line {number + 1} is longer than 64 MB: this is no export; export the records again"
                )
            if rest:
                yield "".join(parts)
                yield from rest[:-1]
                number += len(rest)
                parts, length = [rest[-1]], len(rest[-1])
        if last := "".join(parts):
            yield last

    def head(self) -> str:
        """The first megabyte or so of the text."""
        return next(iter(self.pieces()), "")

    def text(self) -> str:
        """The whole text: for tables of labels and other small files."""
        return "".join(self.pieces())


def text_source(text: str, stem: str = "text") -> Source:
    """A source of a text at hand."""
    raw = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").encode()
    return Source(stem, stem, lambda: io.BytesIO(raw), Encoding("utf-8", "strict", "utf-8"))


def open_text(path: Path, columns: Mapping[str, str] | None = None) -> Source:
    """A text file, packed with gzip or not; what is no text, empty, or not there is an `InputError` that names it."""
    opener = checked_opener(path)
    try:
        with opener() as handle:
            _require_text(path, handle.read(4000))
        source = Source(str(path), plain_stem(path), opener, find_encoding(opener), path, columns or {})
        head = source.head()
        blank = not head.strip() and not any(piece.strip() for piece in source.pieces())
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: the archive cannot be unpacked ({error}); bring the file again") from None
    if blank:
        raise InputError(f"{path}: the file is empty; export it again")
    if "\0" in head:
        raise InputError(f"{path}: is a binary file, not a text export; export the records as RIS or CSV")
    if head.lstrip()[:200].lower().startswith(("<!doctype html", "<html")):
        raise InputError(f"{path}: is a web page (perhaps an error page of the database), not an export; export again")
    return source


def checked_opener(path: Path) -> Opener:
    """How to open a file for its bytes, unpacked where it is packed with gzip."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file in it")
    if not path.is_file():
        raise InputError(f"{path}: is no plain file (a pipe or a device); save it as a file first")
    with path.open("rb") as handle:
        packed = handle.read(2) == _GZIP
    return (lambda: _unpacked(path)) if packed else (lambda: path.open("rb"))


def _unpacked(path: Path) -> IO[bytes]:
    return io.BufferedReader(gzip.open(path))


def plain_stem(path: Path) -> str:
    """The file's name without its ending, `.gz` apart."""
    return Path(path.stem).stem if path.suffix.lower() == ".gz" else path.stem


def binary_kind(path: Path) -> str | None:
    """`xlsx`, `xls`, `parquet` or `asreview` where the file is one, else None."""
    opener = checked_opener(path)
    try:
        with path.open("rb") as packed, opener() as handle:
            own, start = packed.read(8), handle.read(8)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(f"{path}: the archive cannot be unpacked ({error}); bring the file again") from None
    kind = "parquet" if start.startswith(b"PAR1") else "xls" if start.startswith(_OLE) else None
    if own != start and (kind or start.startswith(_ZIP)):
        raise InputError(f"{path}: is packed with gzip; unpack it, then import what is in it")
    if kind or not start.startswith(_ZIP):
        return kind
    try:
        names = set(zipfile.ZipFile(path).namelist())
    except (zipfile.BadZipFile, OSError):
        raise InputError(f"{path}: is a damaged zip archive or Office document; save or export it again") from None
    if "xl/workbook.xml" in names or any(re.match(r"(?i)xl/workbook\.", name) for name in names):
        return "xlsx"
    if "project.json" in names:
        return "asreview"
    what = "a Word document" if "word/document.xml" in names else "a zip archive"
    raise InputError(f"{path}: is {what}, not an export; unpack it, or export the records as RIS or CSV")


def _require_text(path: Path, start: bytes) -> None:
    for magic, kind in _TEXTLESS:
        if start.startswith(magic):
            raise InputError(f"{path}: is {kind}, not a text export; export the records as RIS or CSV")
