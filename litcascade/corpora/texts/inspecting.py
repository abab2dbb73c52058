"""A full text as it goes into a review: read, and looked through for damage and for text that steers its reader."""

from pathlib import Path

from litcascade.corpora.texts.files import read_document
from litcascade.corpora.texts.fullness import too_short
from litcascade.corpora.texts.quality import quality_flags
from litcascade.schemas import READABLE, Document, DocumentState, FlagKind
from litcascade.schemas.steering import document_steering

PAGED = ("pdf", "tei")  # where a cover, slides or a notice may be all there is
MILD = frozenset({FlagKind.GUESSED, FlagKind.LANGUAGE, FlagKind.MENTION})


def inspected(document: Document) -> Document:
    """The document with all its flags; readable but flagged for more than guessed sections or its language: with warnings.

    Text that was made out of pages and is too short to be a report is none. Text that is hidden, or like an instruction, keeps
    models from deciding alone; should the look itself fail, so does that.
    """
    if document.state not in READABLE:
        return document
    if document.format in PAGED and (why := too_short(document)):
        return document.model_copy(update={"state": DocumentState.EMPTY, "note": why})
    flags = (*document.flags, *quality_flags(document), *document_steering(document))
    kinds = {flag.kind for flag in flags}
    state = DocumentState.WARNED if kinds - MILD else DocumentState.PARSED
    return document.model_copy(update={"flags": flags, "state": state})


def read_inspected(path: Path) -> Document:
    """Read and look through one file; a function of a module, so that other processes can call it."""
    return inspected(read_document(path))
