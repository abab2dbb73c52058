"""Bytes to text: byte-order mark first, then strict UTF-8, then the code pages exports are really written in."""

import codecs
import io
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO

PIECE = 1 << 20
_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
Opener = Callable[[], IO[bytes]]


@dataclass(frozen=True)
class Encoding:
    """How a file is read: the codec with its error handler, the name told to people, and how many bytes were odd."""

    codec: str
    errors: str
    name: str
    repaired: int = 0


@dataclass(frozen=True)
class Decoded:
    """The text with the encoding it was read in, and how many bytes had to be read by another code page."""

    text: str
    encoding: str
    repaired: int = 0


def decode(raw: bytes) -> Decoded:
    """Decode without ever writing a replacement character or a lone surrogate."""
    encoding = find_encoding(lambda: io.BytesIO(raw))
    return Decoded("".join(decoded_pieces(io.BytesIO(raw), encoding)), encoding.name, encoding.repaired)


def find_encoding(opener: Opener) -> Encoding:
    """The encoding under which the whole file can be read; memory does not grow with the file."""
    with opener() as handle:
        sample = handle.read(4000)
    marked = next((name for mark, name in _MARKS if sample.startswith(mark)), None)
    for name in (marked, "utf-8", _bare_utf16(sample), _declared(sample)):
        if name and _reads(opener, Encoding(name, "strict", name)):
            return Encoding(name, "strict", name)
    return _count_odd_bytes(opener)


def decoded_pieces(handle: IO[bytes], encoding: Encoding) -> Iterator[str]:
    """The text in pieces of about a megabyte; a byte that is no UTF-8 is read as Windows-1252 where `errors` lets it pass."""
    for piece in _pieces(handle, encoding.codec, encoding.errors):
        yield piece.translate(_WINDOWS) if encoding.errors == _MIXED and not piece.isascii() else piece


def _pieces(handle: IO[bytes], codec: str, errors: str) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder(codec)(errors)
    while raw := handle.read(PIECE):
        yield decoder.decode(raw)
    if rest := decoder.decode(b"", final=True):
        yield rest


def _reads(opener: Opener, encoding: Encoding) -> bool:
    with opener() as handle:
        try:
            return all(True for _ in decoded_pieces(handle, encoding))
        except UnicodeDecodeError:
            return False


def _declared(sample: bytes) -> str | None:
    """The encoding that the prologue of an XML file names, where Python knows it."""
    match = _PROLOGUE.match(sample)
    try:
        return codecs.lookup(match.group(1).decode("ascii")).name if match else None
    except LookupError:
        return None


def _bare_utf16(sample: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of Latin text is zero."""
    if len(sample) < 8:
        return None
    for name, zeros in (("utf-16-le", sample[1::2]), ("utf-16-be", sample[0::2])):
        if zeros.count(0) > 0.6 * len(zeros):
            return name
    return None


def _count_odd_bytes(opener: Opener) -> Encoding:
    """UTF-8 with single bytes of Windows-1252 in it, or Windows-1252 throughout; in the first case each is counted."""
    odd = sound = 0
    with opener() as handle:
        for piece in _pieces(handle, "utf-8", "surrogateescape"):
            if not piece.isascii():
                escaped = len(_ESCAPED.findall(piece))
                odd += escaped
                sound += sum(character > "\x7f" for character in piece) - escaped
    return Encoding("utf-8", _MIXED, "utf-8 with windows-1252 bytes", odd) if sound else Encoding("utf-8", _MIXED, "windows-1252")


_MIXED = "surrogateescape"
_PROLOGUE = re.compile(rb"\s*<\?xml[^>]*?encoding\s*=\s*[\"']([A-Za-z0-9._-]+)[\"']")
_ESCAPED = re.compile("[\udc80-\udcff]")
_WINDOWS = {0xDC00 + byte: bytes([byte]).decode("cp1252", errors="ignore") or chr(byte) for byte in range(0x80, 0x100)}
