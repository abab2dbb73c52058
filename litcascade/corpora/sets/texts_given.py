"""Full texts that a set carries itself: in a cell of a table, or as files beside it."""

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path

from litcascade.corpora.sets.draft import Draft, examples
from litcascade.corpora.texts import read_document, read_plain
from litcascade.schemas import Document, DocumentState, Record


def document_of(record: Record, text: str, path: str) -> Document:
    """The document of a text in a cell; one without any text has the state `empty`."""
    raw = text.encode("utf-8", "replace")
    body = read_plain(raw)
    readable = body.state is DocumentState.PARSED and any(section.text.strip() for section in body.sections)
    state = body.state if readable or body.state is not DocumentState.PARSED else DocumentState.EMPTY
    return Document(
        document_id=hashlib.sha256(f"{record.record_id}\0".encode() + raw).hexdigest()[:32],
        record_id=record.record_id,
        path=path,
        format="text",
        state=state,
        note=body.note or (None if readable else "the set has no text for it"),
        sections=body.sections if readable else (),
    )


def documents_in(files: Mapping[str, Path]) -> dict[str, Document]:
    """Record id to the document that its file holds, whatever its state."""
    return {record_id: read_document(path).model_copy(update={"record_id": record_id}) for record_id, path in files.items()}


def note_unread(draft: Draft, documents: Iterable[Document], without: Iterable[str]) -> None:
    """Say which documents cannot be read, and which records have none."""
    for state in DocumentState:
        found = [document.record_id for document in documents if document.state is state]
        if found and state is not DocumentState.PARSED:
            draft.notes.append(f"{len(found)} full text(s) are {state.value}: {examples(found)}")
    missing = list(without)
    if missing:
        draft.notes.append(f"{len(missing)} record(s) have no full text: {examples(missing)}")
