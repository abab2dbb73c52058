"""Full texts from files: each is read into a `Document` with a state, whatever is wrong with it."""

import gzip
import hashlib
import re
import zlib
from dataclasses import fields
from pathlib import Path

from litcascade import __version__
from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.corpora.texts.xml import root_name
from litcascade.errors import InputError
from litcascade.schemas import READABLE, Document, DocumentState

SIZE_LIMIT = 200 * 2**20
ENDINGS = (".xml", ".nxml", ".html", ".htm", ".txt", ".md", ".pdf")


def find_files(folder: Path) -> tuple[list[Path], list[Path]]:
    """(Full-text files, files of other kinds) below a folder, in order of name, hidden ones apart; none is an `InputError`."""
    if not folder.exists():
        raise InputError(f"{folder}: there is no such file or folder")
    if folder.is_file():
        return [folder], []
    found = (path for path in folder.rglob("*") if not path.name.startswith("."))
    every = sorted(path for path in found if path.is_file() or (path.is_symlink() and not path.is_dir()))
    files = [path for path in every if plain_name(path).suffix.lower() in ENDINGS]
    if not files:
        raise InputError(f"{folder}: holds no full texts; put files ending in {', '.join(ENDINGS)} (or .gz of them) there")
    return files, sorted(set(every).difference(files))


def read_document(path: Path) -> Document:
    """Read one file; whatever is wrong with it becomes its state, never an exception."""
    raw, fault = _bytes(path)
    return document_of(raw, path, Body(DocumentState.BROKEN, fault) if fault else read_body(raw, path))


def content_id(path: Path) -> str:
    """The `document_id` that a file's document would have: the digest of its bytes, unpacked."""
    return _digest(_bytes(path)[0])


def _digest(raw: bytes) -> str:
    return hashlib.sha256(raw).hexdigest()[:32]


def document_of(raw: bytes, path: Path, body: Body) -> Document:
    """The document of a body; one that was read but holds no text is empty."""
    document = Document(
        document_id=_digest(raw),
        record_id="",
        path=path.name,
        format=tell_format(raw, path),
        **{item.name: getattr(body, item.name) for item in fields(body) if item.name != "parser"},
        parser=body.parser or f"litcascade {__version__}",
    )
    if document.state in READABLE and not any(piece.text.strip() for piece in document.pieces() if piece.kind != "abstract"):
        return document.model_copy(update={"state": DocumentState.EMPTY, "note": "no text in the body", "sections": ()})
    return document


def tell_format(raw: bytes, path: Path) -> str:
    """`pdf`, `tei`, `jats`, `html` or `text`, told from content first; a web page saved as XML is none of them."""
    if raw[:4000].lstrip().startswith(b"%PDF") or plain_name(path).suffix.lower() == ".pdf":
        return "pdf"
    head = raw[:20000].decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "latin-1", "ignore").removeprefix("ï»¿")
    ending, root = plain_name(path).suffix.lower(), (root_name(head) or "")
    if root.lower() in ("html", "body", "head") or re.match(r"\s*<!doctype\s+html", head, re.IGNORECASE):
        return "text" if ending in (".xml", ".nxml") else "html"
    if root in ("TEI", "teiCorpus") or "<TEI" in head[:4000] or "tei-c.org" in head[:4000]:
        return "tei"
    is_page = ending in (".html", ".htm")
    if re.search(r"<(?:[\w.-]+:)?article[\s>]", head) and (not is_page or "<article-meta" in head):
        return "jats"
    return "html" if is_page else "text"


def read_body(raw: bytes, path: Path) -> Body:
    """What the reader of the file's format makes of its bytes."""
    if not raw.strip():
        return Body(DocumentState.EMPTY, "the file has no bytes")
    name = tell_format(raw, path)
    if name == "text" and plain_name(path).suffix.lower() in (".xml", ".nxml"):
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


def plain_name(path: Path) -> Path:
    """The path without the ending of a packed file."""
    return path.with_suffix("") if path.suffix.lower() == ".gz" else path
