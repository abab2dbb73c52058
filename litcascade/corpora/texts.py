"""Full texts from a folder: each file is read into a `Document` with a state, and matched to a record."""

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from litcascade.corpora.build import read_doi
from litcascade.corpora.encoding import decode
from litcascade.errors import InputError
from litcascade.registry import Registry
from litcascade.schemas import Document, DocumentState, Section

SIZE_LIMIT = 200 * 2**20
ENDINGS = (".xml", ".nxml", ".txt", ".md", ".pdf")


@dataclass(frozen=True)
class Body:
    """What a reader of full texts found in the bytes."""

    state: DocumentState = DocumentState.PARSED
    note: str | None = None
    title: str | None = None
    doi: str | None = None
    abstract: str | None = None
    sections: tuple[Section, ...] = ()
    references: int = 0


TextReader = Callable[[bytes], Body]
TEXT_READERS: Registry[TextReader] = Registry("reader of full texts")


def find_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """(Full-text files, files of other kinds) below a folder, in order of name, hidden ones apart; none is an `InputError`."""
    if not folder.exists():
        raise InputError(f"{folder}: there is no such file or folder")
    if folder.is_file():
        return [folder], []
    every = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    files = [path for path in every if _plain_name(path).suffix.lower() in ENDINGS]
    if not files:
        raise InputError(f"{folder}: holds no full texts; put files ending in {', '.join(ENDINGS)} (or .gz of them) there")
    return files, sorted(set(every).difference(files))


def read_document(path: Path) -> Document:
    """Read one file; whatever is wrong with it becomes its state, never an exception."""
    raw, fault = _bytes(path)
    body = Body(DocumentState.BROKEN, fault) if fault else _body(raw, path)
    if body.state is DocumentState.PARSED and not any(s.text.strip() for s in body.sections):
        body = Body(DocumentState.EMPTY, "no text in the body", body.title, body.doi, body.abstract)
    return Document(
        document_id=hashlib.sha256(raw).hexdigest()[:32],
        record_id="",
        path=path.name,
        format=tell_format(raw, path),
        state=body.state,
        note=body.note,
        title=body.title,
        doi=body.doi,
        abstract=body.abstract,
        sections=body.sections,
        references=body.references,
    )


def tell_format(raw: bytes, path: Path) -> str:
    """`pdf`, `tei`, `jats` or `text`, told from content first."""
    head = raw[:4000]
    if head.lstrip().startswith(b"%PDF") or _plain_name(path).suffix.lower() == ".pdf":
        return "pdf"
    if b"<TEI" in head or b"tei-c.org" in head:
        return "tei"
    if re.search(rb"<article[\s>]", raw[:20000]):
        return "jats"
    return "text"


def _body(raw: bytes, path: Path) -> Body:
    if not raw.strip():
        return Body(DocumentState.EMPTY, "the file has no bytes")
    name = tell_format(raw, path)
    if name == "text" and _plain_name(path).suffix.lower() in (".xml", ".nxml"):
        return Body(DocumentState.BROKEN, "neither TEI nor JATS")
    return TEXT_READERS.get(name)(raw)


def _bytes(path: Path) -> tuple[bytes, str | None]:
    try:
        if path.stat().st_size > SIZE_LIMIT:
            return b"", f"larger than {SIZE_LIMIT // 2**20} MiB"
        if path.suffix.lower() != ".gz":
            return path.read_bytes(), None
        with gzip.open(path) as handle:
            raw = handle.read(SIZE_LIMIT + 1)
        return (raw, None) if len(raw) <= SIZE_LIMIT else (b"", f"larger than {SIZE_LIMIT // 2**20} MiB unpacked")
    except (OSError, EOFError, zlib.error) as error:
        return b"", f"cannot be read: {error}"


def _plain_name(path: Path) -> Path:
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path


@TEXT_READERS.register("text")
def read_plain(raw: bytes) -> Body:
    """Plain text: a line of few words without a full stop, between blank lines, is taken for a heading."""
    text = decode(raw).text
    if "\0" in text:
        return Body(DocumentState.BROKEN, "a binary file")
    sections: list[Section] = []
    heading: str | None = None
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n")):
        line = block.strip().lstrip("# ")
        if line and "\n" not in line and len(line.split()) <= 8 and not line.endswith((".", ":", ";", ",")):
            if heading:  # the line before headed nothing, so it is text
                sections.append(Section(heading=None, text=heading))
            heading = line
        elif line:
            sections.append(Section(heading=heading, text=line))
            heading = None
    if heading:
        sections.append(Section(heading=None, text=heading))
    return Body(sections=tuple(sections))


@dataclass(frozen=True)
class Known:
    """What is needed of a record to match a file to it."""

    record_id: str
    doi: str | None


class Matcher:
    """Matches documents to records: by file name = record id, by DOI in the header, by DOI as file name."""

    def __init__(self, records: Iterable[Known]) -> None:
        records = list(records)
        self._exact = {known.record_id for known in records}
        self._ids = _alone((file_form(known.record_id), known.record_id) for known in records)
        self._dois = _alone((known.doi, known.record_id) for known in records if known.doi)
        self._doi_names = _alone((file_form(doi), record_id) for doi, record_id in self._dois.items())

    def match(self, document: Document, path: Path) -> tuple[str | None, str]:
        """Return (record id or None, how it was matched, or why it was not).

        A name that fits two records, or none once it is folded, matches nothing: a text on the wrong record is worse.
        """
        stem = _plain_name(path).name
        stem = re.sub(r"(\.tei|\.jats)?\.(xml|nxml|txt|md|pdf)$", "", stem, flags=re.IGNORECASE)
        if stem in self._exact:
            return stem, "file name = record id"
        form = file_form(stem)
        if form in self._ids:
            return self._ids[form], "file name = record id"
        doi = read_doi(document.doi)
        if doi and doi in self._dois:
            return self._dois[doi], "DOI in the document"
        if form in self._doi_names:
            return self._doi_names[form], "DOI as file name"
        return None, f"no record (or more than one) with id '{stem}'" + (f" or DOI {doi}" if doi else "")


def _alone(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Only the keys that are not blank and belong to one record."""
    found: dict[str, list[str]] = {}
    for key, record_id in pairs:
        found.setdefault(key, []).append(record_id)
    return {key: ids[0] for key, ids in found.items() if key and len(ids) == 1}


def file_form(name: str) -> str:
    """An id or DOI as it may stand in a file name: case folded, runs of signs one underscore, letters of all scripts kept."""
    return re.sub(r"[^\w.]+", "_", name.casefold()).strip("_.")
