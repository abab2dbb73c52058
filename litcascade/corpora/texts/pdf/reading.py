"""From an open PDF to the text of a report, or to why there is none."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from litcascade.corpora.texts.base import Body
from litcascade.corpora.texts.pdf.body import body_of, by_page
from litcascade.corpora.texts.pdf.checks import flags_of, refusal, with_scans
from litcascade.corpora.texts.pdf.pages import PageText, may_hide_layers, read_page
from litcascade.schemas import DocumentState, Flag, FlagKind

PAGES_LIMIT = 2000
_DESCRIPTION = (b"<x:xmpmeta", b"</x:xmpmeta>")
_OWN_DOI = re.compile(rb"(?:prism|crossmark|pdfx):doi\W{1,3}\s*(?:doi:\s*)?(10\.\d{4,9}/[^\s<>\"'()]+)", re.IGNORECASE)


def read_open(pdf: Any, raw: bytes) -> Body:
    """Read a PDF that is open in pypdfium2; `raw` are its bytes."""
    count = len(pdf)
    if count == 0:
        return Body(DocumentState.EMPTY, "the PDF has no pages")
    if count > PAGES_LIMIT:
        return Body(DocumentState.TOO_LONG, f"{count:,} pages; the limit is {PAGES_LIMIT:,}")
    layers = may_hide_layers(raw)
    read = [_page(pdf, index, layers) for index in range(count)]
    unread = [index + 1 for index, page in enumerate(read) if page is None]
    pages, scans = with_scans([page for page in read if page is not None])
    flags = [*scans, *flags_of(pages, unread)]
    stop = refusal(pages, count)
    if stop:
        return Body(*stop, flags=tuple(flag for flag in flags if flag.kind is FlagKind.HIDDEN))
    body, how = _laid_out(pages, _title(pdf), _dois(raw))
    warned = any(flag.kind is not FlagKind.GUESSED for flag in flags)
    flags.insert(0, Flag(kind=FlagKind.GUESSED, detail=how))
    return replace(body, state=DocumentState.WARNED if warned else DocumentState.PARSED, flags=tuple(flags))


def _page(pdf: Any, index: int, layers: bool) -> PageText | None:
    from pypdfium2 import PdfiumError

    try:
        return read_page(pdf, index, layers)
    except PdfiumError:
        return None


def _laid_out(pages: Sequence[PageText], title: str | None, dois: list[str]) -> tuple[Body, str]:
    """The body, and how it was made: by its layout, or page by page where a layout is beyond what is understood."""
    try:
        return body_of(pages, title, dois), "headings, paragraphs and their order told from the layout of a PDF"
    except (ArithmeticError, LookupError, ValueError, TypeError, RecursionError) as error:
        return by_page(pages), f"words by page: the layout could not be understood ({type(error).__name__})"


def _title(pdf: Any) -> str | None:
    named = pdf.get_metadata_value("Title")
    return str(named).replace("\0", "").strip() or None


def _dois(raw: bytes) -> list[str]:
    """DOIs in the file's description of itself."""
    begin = raw.find(_DESCRIPTION[0])
    end = raw.find(_DESCRIPTION[1], begin)
    return [hit.decode("latin-1") for hit in _OWN_DOI.findall(raw[begin:end])] if 0 <= begin < end else []
