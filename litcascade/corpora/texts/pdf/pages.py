"""One page of a PDF as read: its text, what on it a reader cannot see, and what went wrong."""

import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from litcascade.corpora.texts.pdf import objects as pdf_objects
from litcascade.corpora.texts.pdf import raw as pdf_raw
from litcascade.corpora.texts.pdf.hidden import VEILED, Scan
from litcascade.corpora.texts.pdf.objects import IMAGE, PATH, Thing
from litcascade.corpora.texts.pdf.raw import Box
from litcascade.corpora.texts.pdf.spans import Runs, Span, zero_width

SCAN_SHARE = 0.7
_STRUCTURE_LIMIT = 2**26
_OBJECT_STREAM = re.compile(rb"/Type\s*/ObjStm.{0,400}?stream\r?\n", re.DOTALL)
_LAYER_OFF = re.compile(rb"/OFF(?!\s*\[\s*\])|/AS\s*\[|/OCMD\b")


@dataclass(frozen=True, slots=True)
class PageText:
    """A page as read; `number` counts from 1, `pictures` is the share of the page that images cover (0 to 1).

    `paths` are lines and areas drawn on it; `nameless` and `doubtful` characters have no meaning in the file, or a guessed one,
    `zero_width` ones take no place; `notes` are texts laid over the page; `unscanned` says that hidden text could not be looked
    for.
    """

    number: int
    box: Box
    spans: tuple[Span, ...] = ()
    pictures: float = 0.0
    paths: int = 0
    nameless: int = 0
    doubtful: int = 0
    zero_width: int = 0
    notes: tuple[str, ...] = ()
    unscanned: bool = False

    @property
    def seen(self) -> list[Span]:
        """The runs that a reader of the page sees."""
        return [span for span in self.spans if not span.why]

    @property
    def hidden(self) -> list[Span]:
        """The others."""
        return [span for span in self.spans if span.why]

    @property
    def veiled(self) -> bool:
        """Whether this may be a scanned page under text that a program read from it: an image, and next to no visible text."""
        under = sum(len(span.text) for span in self.spans if span.why in VEILED)
        return self.pictures >= SCAN_SHARE and under > 4 * sum(len(span.text) for span in self.seen)

    def unveiled(self) -> "PageText":
        """The page with the text of its scan taken for visible."""
        return replace(self, spans=tuple(replace(span, why="") if span.why in VEILED else span for span in self.spans))


def read_page(pdf: Any, index: int, layers: bool) -> PageText:
    """Read one page; `layers` says whether the file may hold layers that are switched off."""
    page = pdf[index]
    try:
        text_page = page.get_textpage()
        try:
            return _read(page, pdf_raw.handle(text_page), index + 1, layers)
        finally:
            text_page.close()
    finally:
        page.close()


def _read(page: Any, text_page: int, number: int, layers: bool) -> PageText:
    runs = Runs.of(text_page)
    box: Box = tuple(page.get_cropbox())
    spans, pictures, paths, unscanned = runs.spans(), 0.0, 0, False
    notes: list[str] = []
    try:
        things = _things(pdf_raw.handle(page))
        pictures = _pictures(things, box)
        paths = sum(thing.kind == PATH for thing in things) if things is not None else pdf_objects.OBJECTS_LIMIT
        spans = Scan(page, runs, things, box, layers).sorted_out(spans)
        notes = pdf_objects.annotation_texts(page)
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  (whatever goes wrong here, the text waits for a person)
        unscanned = True
    return PageText(
        number=number,
        box=box,
        spans=tuple(spans),
        pictures=pictures,
        paths=paths,
        nameless=runs.nameless,
        doubtful=runs.doubtful,
        zero_width=zero_width(runs.signs),
        notes=tuple(notes),
        unscanned=unscanned,
    )


def _things(page: int) -> list[Thing] | None:
    try:
        return list(pdf_objects.things(page))
    except pdf_objects.TooManyObjectsError:
        return None


def _pictures(things: list[Thing] | None, page: Box) -> float:
    whole = (page[2] - page[0]) * (page[3] - page[1])
    covered = sum(_overlap(thing.box, page) for thing in things or () if thing.kind == IMAGE)
    return min(covered / whole, 1.0) if whole > 0 else 0.0


def _overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width * height if width > 0 and height > 0 else 0.0


def may_hide_layers(raw: bytes) -> bool:
    """Whether the file may have optional content that is switched off; what cannot be told counts as yes."""
    parts = [raw, *_packed(raw)]
    known = [part for part in parts if part is not None]
    if b"/Encrypt" in raw or len(known) < len(parts):
        return True
    return any(b"/OCProperties" in part for part in known) and any(_LAYER_OFF.search(part) for part in known)


def _packed(raw: bytes) -> Iterator[bytes | None]:
    """The inside of every packed stream of objects; None for one that cannot be opened, or is larger than the limit."""
    view = memoryview(raw)
    for hit in _OBJECT_STREAM.finditer(raw):
        unpack, out, at = zlib.decompressobj(), b"", hit.end()
        try:
            while not unpack.eof and at < len(raw) and len(out) < _STRUCTURE_LIMIT:
                out += unpack.decompress(view[at : at + 2**16], _STRUCTURE_LIMIT)
                at += 2**16
        except zlib.error:
            yield None
        else:
            yield out if unpack.eof else None
