"""Bytes to text: byte-order mark first, then strict UTF-8, then the code pages exports are really written in."""

import codecs
import contextlib
from dataclasses import dataclass
from pathlib import Path

from litcascade.errors import InputError

_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
_KINDS = [
    (b"%PDF", "a PDF"),
    (b"PK\x03\x04", "a zip archive (or an Office document)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"SQLite format 3", "an SQLite database"),
]


@dataclass(frozen=True)
class Decoded:
    """The text with the encoding it was read in, and how many bytes had to be read by another code page."""

    text: str
    encoding: str
    repaired: int = 0


def read_text(path: Path) -> Decoded:
    """Read a text file whole; what is no text, empty, or not there is an `InputError` that names it for what it is."""
    if not path.exists():
        raise InputError(f"{path}: there is no such file")
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file in it")
    raw = path.read_bytes()
    if not raw.strip():
        raise InputError(f"{path}: the file is empty; export it again")
    for magic, kind in _KINDS:
        if raw.startswith(magic):
            raise InputError(f"{path}: is {kind}, not a text export; export the records as RIS or CSV")
    decoded = decode(raw)
    if "\0" in decoded.text:
        raise InputError(f"{path}: is a binary file, not a text export; export the records as RIS or CSV")
    head = decoded.text.lstrip()[:200].lower()
    if head.startswith(("<!doctype html", "<html")):
        raise InputError(f"{path}: is a web page (perhaps an error page of the database), not an export; export again")
    return decoded


def decode(raw: bytes) -> Decoded:
    """Decode without ever writing a replacement character or a lone surrogate."""
    for mark, name in _MARKS:
        if raw.startswith(mark):
            try:
                return Decoded(raw.decode(name), name)
            except UnicodeDecodeError:
                break
    try:
        return Decoded(raw.decode("utf-8"), "utf-8")
    except UnicodeDecodeError:
        pass
    bare = _bare_utf16(raw)
    if bare:
        with contextlib.suppress(UnicodeDecodeError):  # what only looks like UTF-16 is read as bytes
            return Decoded(raw.decode(bare), bare)
    return _mixed(raw)


def _bare_utf16(raw: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of Latin text is zero."""
    sample = raw[:4000]
    if len(raw) % 2 or len(sample) < 8:
        return None
    for name, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if zeros.count(0) > 0.6 * len(zeros):
            return name
    return None


def _mixed(raw: bytes) -> Decoded:
    """UTF-8 with single bytes of Windows-1252 in it, or Windows-1252 throughout; each such byte is counted."""
    parts: list[str] = []
    repaired = multibyte = 0
    position = 0
    while position < len(raw):
        try:
            parts.append(raw[position:].decode("utf-8"))
            multibyte += any(char > "\x7f" for char in parts[-1])
            break
        except UnicodeDecodeError as error:
            good = raw[position : position + error.start].decode("utf-8")
            multibyte += any(char > "\x7f" for char in good)
            parts.append(good)
            bad = raw[position + error.start : position + error.start + 1]
            parts.append(bad.decode("cp1252", errors="ignore") or bad.decode("latin-1"))
            repaired += 1
            position += error.start + 1
    encoding = "utf-8 with windows-1252 bytes" if multibyte else "windows-1252"
    return Decoded("".join(parts), encoding, repaired if multibyte else 0)
