"""PDF by `pypdfium2` (extra [pdf]), the reader for files that no other parser has read: headings and order are guessed."""

import threading
from dataclasses import replace

from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.errors import MissingExtraError
from litcascade.schemas import DocumentState

_ONE_AT_A_TIME = threading.Lock()


@TEXT_READERS.register("pdf")
def read_pdf(raw: bytes) -> Body:
    """Read a PDF; what keeps it from being read becomes the state, what is amiss a flag, never an exception.

    Encrypted, broken, empty, scanned (no text layer) and too long (above 2,000 pages) files end in those states; every other is
    flagged `sections guessed`, and is read with warnings where there is any other flag. What a reader of the pages cannot see is
    left out and flagged. pdfium is for one thread at a time: others wait. Raises `MissingExtraError` where it is not installed.
    """
    try:
        import pypdfium2
    except ImportError:
        raise MissingExtraError("reading PDF", "pdf") from None
    from litcascade.corpora.texts.pdf.reading import read_open

    parser = f"pypdfium2 {pypdfium2.PYPDFIUM_INFO.version}"
    with _ONE_AT_A_TIME:
        try:
            pdf = pypdfium2.PdfDocument(raw)
        except pypdfium2.PdfiumError as error:
            return replace(_unopened(str(error)), parser=parser)
        try:
            return replace(read_open(pdf, raw), parser=parser)
        finally:
            pdf.close()


def _unopened(error: str) -> Body:
    if "password" in error.lower() or "security" in error.lower():
        return Body(DocumentState.ENCRYPTED, "needs a password")
    return Body(DocumentState.BROKEN, f"not a readable PDF: {error}")
