"""Full texts in the store: imported from files, matched to records, and read back."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.corpora.texts import ENDINGS, Known, Matcher, find_files, read_document
from litcascade.errors import InputError
from litcascade.schemas import Document
from litcascade.store import Store, now

_PLAIN = ("document_id", "record_id", "path", "format", "parser", "note", "title", "doi", "abstract")
_CONTENT = ("tables", "figures", "footnotes", "references", "flags")


@dataclass
class TextsReceipt:
    """What an import of full texts came to; every file is in exactly one of the counts."""

    files: int = 0
    matched: int = 0
    already_here: int = 0
    states: dict[str, int] = field(default_factory=dict)
    unmatched: list[tuple[str, str]] = field(default_factory=list)
    clashes: list[tuple[str, str]] = field(default_factory=list)
    other_kinds: list[tuple[str, str]] = field(default_factory=list)


def import_texts(store: Store, folder: Path) -> TextsReceipt:
    """Import full texts from a folder; two files for one record are a clash that a person resolves."""
    if not store.value("select count(*) from records"):
        raise InputError("import the records first, so that full texts can be matched to them")
    matcher = Matcher(Known(record_id, doi) for record_id, doi in store.rows("select record_id, doi from records"))
    files, others = find_files(folder)
    why = f"no kind that is read ({', '.join(ENDINGS)})"
    receipt = TextsReceipt(files=len(files) + len(others), other_kinds=[(path.name, why) for path in others])
    here = dict(store.rows("select record_id, document_id from current_documents"))
    found: dict[str, tuple[Document, str]] = {}
    seen: dict[str, str] = {}
    for path in files:
        document = read_document(path)
        record_id, how = matcher.match(document, path)
        if record_id is None:
            receipt.unmatched.append((path.name, how))
        elif record_id in seen:
            receipt.clashes.append((path.name, f"record {record_id} has {seen[record_id]} already"))
        elif here.get(record_id) == document.document_id:
            seen[record_id] = path.name
            receipt.already_here += 1
        else:
            seen[record_id] = path.name
            found[record_id] = (document.model_copy(update={"record_id": record_id}), how)
    receipt.matched = len(found)
    receipt.states = dict(Counter(document.state.value for document, _ in found.values()))
    insert_documents(store, list(found.values()))
    return receipt


def insert_documents(store: Store, found: list[tuple[Document, str]]) -> None:
    """Append full texts, each with how it was matched to its record."""
    rows = [
        {
            **{name: getattr(document, name) for name in _PLAIN},
            "references": len(document.references),
            "at_time": now(),
            "state": document.state.value,
            "sections": json.dumps([section.model_dump() for section in document.sections], ensure_ascii=False),
            "content": json.dumps({name: document.model_dump(mode="json")[name] for name in _CONTENT}, ensure_ascii=False),
            "matched_by": how,
        }
        for document, how in found
    ]
    store.append("documents", rows)


def load_documents(store: Store, ids: Sequence[str]) -> dict[str, Document]:
    """The current full text of each of these records that has one; of texts stored by older programs, what they held."""
    rows = store.rows(
        f"select state, sections, content, {', '.join(_PLAIN)} "
        "from current_documents where record_id in (select unnest(?::text[]))",
        [list(ids)],
    )
    found = {}
    for state, sections, content, *plain in rows:
        named = {name: value for name, value in zip(_PLAIN, plain, strict=True) if value is not None}
        document = Document.model_validate(
            {**named, "state": state, "sections": json.loads(sections or "[]"), **json.loads(content or "{}")}
        )
        found[document.record_id] = document
    return found
