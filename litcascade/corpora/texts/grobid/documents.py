"""Documents of PDF files, read by GROBID, or by words alone where GROBID finally cannot."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path

from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.corpora.texts.files import document_of
from litcascade.corpora.texts.grobid.asking import Outcome
from litcascade.corpora.texts.grobid.pdfs import pdf_bytes
from litcascade.corpora.texts.grobid.replies import Fault, FaultKind
from litcascade.corpora.texts.grobid.server import GrobidServer, Progress
from litcascade.corpora.texts.grobid.tei_files import Keep, TeiFolder
from litcascade.errors import MissingExtraError
from litcascade.schemas import READABLE, Document, DocumentState, Flag, FlagKind

_OTHER_PARSER = (FaultKind.BROKEN, FaultKind.TIMEOUT, FaultKind.FAILED)


async def read_with_grobid(
    paths: Iterable[Path],
    server: GrobidServer,
    cache: Path | Keep,
    on_progress: Callable[[Progress], None] | None = None,
) -> AsyncGenerator[tuple[Path, Document | Fault], None]:
    """Every PDF once, as it is done: its document, or a `Fault` that is not final and must not be stored.

    A document's parser is `GROBID` with the version that parsed it, its id the digest of the PDF's bytes. Where GROBID
    finally cannot (broken, timed out, failed) the words are read by `pypdfium2`, if that is installed, and the document
    is flagged `sections guessed`; else the fault is its state. Raises as `GrobidServer.parse` does.
    """
    keep = TeiFolder(cache) if isinstance(cache, Path) else cache
    async with aclosing(server.parse(paths, keep, on_progress)) as results:
        async for path, outcome in results:
            yield path, await asyncio.to_thread(_document, path, outcome)


def _document(path: Path, outcome: Outcome) -> Document | Fault:
    if isinstance(outcome, Fault) and outcome.state is None:
        return outcome
    pdf = pdf_bytes(path)
    raw = b"" if isinstance(pdf, Fault) else pdf
    if isinstance(outcome, Fault):
        return document_of(raw, path, _without_grobid(raw, outcome, outcome.state or DocumentState.BROKEN))
    if hashlib.sha256(raw).hexdigest() != outcome.pdf:
        return Fault(FaultKind.WAITING, "the file changed while it was parsed")
    body = TEXT_READERS.get("tei")(outcome.raw)
    return document_of(raw, path, replace(body, parser=f"GROBID {outcome.version}"))


def _without_grobid(raw: bytes, fault: Fault, state: DocumentState) -> Body:
    """What the other parser makes of a PDF that GROBID could not read; the fault itself where there is no other parser."""
    asked = f"GROBID {fault.version}" if fault.version else ""
    if not raw or fault.kind not in _OTHER_PARSER:
        return Body(state, fault.why, parser=asked)
    try:
        body = TEXT_READERS.get("pdf")(raw)
    except MissingExtraError as error:
        return Body(state, f"{fault.why}; {error}", parser=asked)
    parser = body.parser or "pypdfium2"
    if body.state not in READABLE:
        return replace(body, note=f"{fault.why}; {parser}: {body.note}", parser=parser)
    flag = Flag(kind=FlagKind.GUESSED, detail=f"words by page from {parser}, because GROBID could not read it: {fault.why}")
    return replace(body, state=DocumentState.WARNED, flags=(*body.flags, flag), parser=parser)
