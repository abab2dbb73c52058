"""Full texts in the store: imported from files, matched to records, and read back."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from litcascade.corpora.texts import ENDINGS, Known, Matcher, find_files, tell_format
from litcascade.corpora.texts.files import content_id, plain_name
from litcascade.corpora.texts.grobid import GrobidServer, read_with_grobid
from litcascade.corpora.texts.guarded import read_guarded
from litcascade.corpora.texts.identity import checked
from litcascade.corpora.texts.inspecting import inspected, read_inspected
from litcascade.corpora.texts.listed import read_list
from litcascade.errors import InputError
from litcascade.schemas import Document
from litcascade.store import Store, now

_PLAIN = ("document_id", "record_id", "path", "format", "parser", "note", "title", "doi", "abstract")
BATCH = 50
FEW, LIGHT = 40, 2 * 2**20  # files, and bytes of one, that are read in this process
_CONTENT = ("tables", "figures", "footnotes", "references", "flags")


@dataclass
class TextsReceipt:
    """What an import of full texts came to; every file is in exactly one of the counts.

    `flags` counts documents by what a person should know of them; `waiting` are files that GROBID could not give a final
    answer for: import the same folder again to ask for these only.
    """

    files: int = 0
    matched: int = 0
    already_here: int = 0
    states: dict[str, int] = field(default_factory=dict)
    flags: dict[str, int] = field(default_factory=dict)
    unmatched: list[tuple[str, str]] = field(default_factory=list)
    clashes: list[tuple[str, str]] = field(default_factory=list)
    waiting: list[tuple[str, str]] = field(default_factory=list)
    other_kinds: list[tuple[str, str]] = field(default_factory=list)
    missing: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True)
class Intake:
    """How full texts are read: a GROBID server for the PDFs and the folder of its texts, or the readers of this program."""

    grobid: GrobidServer | None = None
    cache: Path | None = None
    workers: int | None = None
    on_tick: Callable[[int, int], None] = lambda _, __: None


def import_texts(store: Store, source: Path | Mapping[Path, str], intake: Intake | None = None) -> TextsReceipt:
    """Import full texts from a folder, a file, a list (.csv with record_id and path), or files by record.

    They are stored as they are read; a file whose bytes are the record's text already is passed over, so that an import cut short
    goes on where it stopped.
    Two files for one record are a clash that a person resolves; text with markup goes before PDF, then the order of names.
    """
    if not store.value("select count(*) from records"):
        raise InputError("import the records first, so that full texts can be matched to them")
    how = intake or Intake()
    known = store.rows("select record_id, doi, title from records order by seq")
    taking = _Taking(store, Matcher(Known(record_id, doi, title) for record_id, doi, title in known), known)
    files, given = _sources(source, taking.receipt, {row[0] for row in known})
    fresh = [path for path in files if not taking.here_already(path, given.get(path), how.grobid is not None)]
    done = len(files) - len(fresh)
    unread = dict.fromkeys(fresh)
    for path, document in _read(fresh, how, taking.receipt):
        taking.take(path, document, given.get(path))
        unread.pop(path, None)
        done += 1
        how.on_tick(done, len(files))
    taking.flush()
    told = {name for name, _ in taking.receipt.waiting}
    taking.receipt.waiting += [(path.name, "it was not read; import it again") for path in unread if path.name not in told]
    return taking.receipt


def _sources(source: Path | Mapping[Path, str], receipt: TextsReceipt, known: set[str]) -> tuple[list[Path], dict[Path, str]]:
    """Files in the order they are taken, and the record that a list names for each."""
    given: dict[Path, str] = {}
    if not isinstance(source, Path):
        given, files, others = dict(source), list(source), list[Path]()
    elif source.suffix.lower() in (".csv", ".tsv"):
        given, receipt.missing = read_list(source, known)
        files, others = list(given), list[Path]()
    else:
        files, others = find_files(source)
    why = f"no kind that is read ({', '.join(ENDINGS)})"
    receipt.other_kinds = [(path.name, why) for path in others]
    receipt.files = len(files) + len(others) + len(receipt.missing)
    return sorted(files, key=lambda path: (plain_name(path).suffix.lower() == ".pdf", str(path))), given


def _read(files: Sequence[Path], how: Intake, receipt: TextsReceipt) -> Iterator[tuple[Path, Document]]:
    """Every file read and looked through, in the order given; what GROBID has no final answer for goes to the receipt."""
    pdfs = [path for path in files if how.grobid is not None and tell_format(_head(path), path) == "pdf"]
    others = [path for path in files if path not in set(pdfs)]
    if len(others) <= FEW and not any(_heavy(path) for path in others):
        yield from ((path, read_inspected(path)) for path in others)
    else:
        yield from in_order(others, read_guarded(others, workers=how.workers, read=read_inspected))
    if how.grobid is not None and pdfs:
        assert how.cache is not None
        for path, found in in_order(pdfs, _drained(read_with_grobid(pdfs, how.grobid, how.cache))):
            if isinstance(found, Document):
                yield path, inspected(found)
            else:
                receipt.waiting.append((path.name, found.why))


def _heavy(path: Path) -> bool:
    """Whether reading a file needs the guard of a process of its own: PDF, packed, or large."""
    head = _head(path)
    large = bool(head) and path.stat().st_size > LIGHT
    return large or path.suffix.lower() in (".pdf", ".gz") or tell_format(head, path) == "pdf"


def _head(path: Path) -> bytes:
    """The first bytes of a file; none of one that cannot be opened, for its reader tells why."""
    try:
        with path.open("rb") as handle:
            return handle.read(4096)
    except OSError:
        return b""


T = TypeVar("T")


def in_order(paths: Sequence[Path], results: Iterable[tuple[Path, T]]) -> Iterator[tuple[Path, T]]:
    """Results that come in any order, in that of the paths; what comes early waits, and a path without result holds up none."""
    early: dict[Path, T] = {}
    wanted = iter(paths)
    following = next(wanted, None)
    for path, result in results:
        early[path] = result
        while following in early:
            assert following is not None
            yield following, early.pop(following)
            following = next(wanted, None)
    yield from sorted(early.items())


def _drained(results: AsyncGenerator[tuple[Path, T], None]) -> Iterator[tuple[Path, T]]:
    """An asynchronous series, one after the other, on a loop of its own; ended early it is closed."""
    with asyncio.Runner() as runner:
        try:
            while True:
                try:
                    yield runner.run(anext(results))
                except StopAsyncIteration:
                    return
        finally:
            runner.run(results.aclose())


class _Taking:
    """Documents matched to records one by one, and stored in batches."""

    def __init__(self, store: Store, matcher: Matcher, known: Sequence[tuple[str, str | None, str | None]]) -> None:
        self.receipt = TextsReceipt()
        self._store = store
        self._matcher = matcher
        self._known = {record_id: (title, doi) for record_id, doi, title in known}
        rows = store.rows("select record_id, document_id, parser, path, state from current_documents")
        self._here = {row[0]: row[1:] for row in rows}
        self._by_id = {row[1]: row[0] for row in rows}
        self._seen: dict[str, str] = {}
        self._batch: list[tuple[Document, str]] = []

    def here_already(self, path: Path, given: str | None, by_grobid: bool) -> bool:
        """Whether the file's bytes are the current text of a record (read by GROBID, where that is asked for now)."""
        record_id = self._by_id.get(content_id(path))
        if record_id is None or given not in (None, record_id):
            return False
        _, parser, name, state = self._here[record_id]
        better = by_grobid and path.suffix.lower() == ".pdf" and not (parser or "").startswith("GROBID")
        if better or name != path.name or not parser or state == "broken":
            return False
        self._seen[record_id] = path.name
        self.receipt.already_here += 1
        return True

    def take(self, path: Path, document: Document, given: str | None) -> None:
        """Match a document, check that it is the record's paper, and keep it."""
        record_id, how = (given, "named in the list") if given else self._matcher.match(document, path)
        if record_id is None:
            self.receipt.unmatched.append((path.name, how))
            return
        if record_id in self._seen:
            self.receipt.clashes.append((path.name, f"record {record_id} has {self._seen[record_id]} already"))
            return
        self._seen[record_id] = path.name
        here = self._here.get(record_id)
        title, doi = self._known[record_id]
        kept = checked(document.model_copy(update={"record_id": record_id}), title, doi)
        if here and here[:2] == (kept.document_id, kept.parser or None) and here[3] == kept.state.value:
            self.receipt.already_here += 1
            return
        self.receipt.matched += 1
        self.receipt.states[kept.state.value] = self.receipt.states.get(kept.state.value, 0) + 1
        for kind in dict.fromkeys(flag.kind.value for flag in kept.flags):
            self.receipt.flags[kind] = self.receipt.flags.get(kind, 0) + 1
        self._batch.append((kept, how))
        if len(self._batch) >= BATCH:
            self.flush()

    def flush(self) -> None:
        """Store what has gathered."""
        insert_documents(self._store, self._batch)
        self._batch = []


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
