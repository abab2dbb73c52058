"""PDF by `pypdfium2` (extra [pdf]): clean words by page, no headings."""

import re

from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.errors import MissingExtraError
from litcascade.schemas import DocumentState, Section

PAGES_LIMIT = 2000
CHARACTERS_A_PAGE = 40


@TEXT_READERS.register("pdf")
def read_pdf(raw: bytes) -> Body:
    """One section a page; encrypted, broken and scanned files end in their state."""
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtraError("reading PDF", "pdf") from None
    try:
        pdf = pypdfium2.PdfDocument(raw)
    except pypdfium2.PdfiumError as error:
        encrypted = "password" in str(error).lower()
        state = DocumentState.ENCRYPTED if encrypted else DocumentState.BROKEN
        return Body(state, "needs a password" if encrypted else f"not a readable PDF: {error}")
    try:
        pages = [_page_text(pdf, number) for number in range(min(len(pdf), PAGES_LIMIT))]
    except pypdfium2.PdfiumError as error:
        return Body(DocumentState.BROKEN, f"a page cannot be read: {error}")
    finally:
        pdf.close()
    if not pages:
        return Body(DocumentState.EMPTY, "the PDF has no pages")
    if sum(len(page) for page in pages) < CHARACTERS_A_PAGE * len(pages):
        return Body(DocumentState.SCANNED, f"{len(pages)} page(s) with almost no text: probably a scan")
    sections = tuple(Section(heading=None, text=text, page=number) for number, text in enumerate(pages, start=1) if text)
    return Body(sections=sections)


def _page_text(pdf: object, number: int) -> str:
    page = pdf[number]  # type: ignore[index]  # pypdfium2 ships no types
    try:
        text_page = page.get_textpage()
        try:
            text = str(text_page.get_text_range())
        finally:
            text_page.close()
    finally:
        page.close()
    text = text.replace("\r\n", "\n").replace("\ufffe", "-")
    return re.sub(r"[ \t]+", " ", text).strip()
