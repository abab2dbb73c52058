"""Where parsed texts are kept, so that a later run asks only for what is missing."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from litcascade.corpora.texts.grobid.replies import tei_fault
from litcascade.corpora.texts.keeping import write_whole
from litcascade.errors import InputError


@dataclass(frozen=True)
class Tei:
    """The TEI of one PDF: its bytes, the SHA-256 of the PDF, and the GROBID version that made it.

    `options` is the digest of what was asked; `kept` says that it came from the cache.
    """

    raw: bytes
    pdf: str
    version: str
    options: str
    kept: bool = False


class Keep(Protocol):
    """A place that holds texts by key."""

    def get(self, key: str) -> Tei | None:
        """The text under a key, None where there is none that is whole."""

    def put(self, key: str, tei: Tei) -> None:
        """Keep a text; it is there whole or not at all."""


class TeiFolder:
    """Texts as files `KEY.tei.xml`, each beside a `KEY.json` that says what it was made of, by what, and its SHA-256.

    A file without its note, or another than the note tells of (a page of a busy server, an empty or cut file, a file of
    another tool), counts as missing and is written over. What cannot be written is an `InputError`.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, key: str) -> Path:
        """Where the text of a key is kept."""
        return self.folder / f"{key}.tei.xml"

    def get(self, key: str) -> Tei | None:
        """The text under a key, if file and note agree and it is whole TEI."""
        path = self.path(key)
        try:
            raw = path.read_bytes()
            note = json.loads((self.folder / f"{key}.json").read_bytes())
        except (OSError, ValueError):
            return None
        if not isinstance(note, dict) or note.get("sha256") != hashlib.sha256(raw).hexdigest() or tei_fault(raw):
            return None
        pdf, version, options = (str(note.get(name, "")) for name in ("pdf", "version", "options"))
        return Tei(raw, pdf, version, options, kept=True)

    def put(self, key: str, tei: Tei) -> None:
        """Write the text, then its note."""
        note: dict[str, Any] = {
            "pdf": tei.pdf,
            "parser": "GROBID",
            "version": tei.version,
            "options": tei.options,
            "sha256": hashlib.sha256(tei.raw).hexdigest(),
        }
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            write_whole(self.path(key), tei.raw)
            write_whole(self.folder / f"{key}.json", json.dumps(note, indent=1).encode())
        except OSError as error:
            raise InputError(
                f"{self.folder}: a text cannot be kept there ({error.strerror}); free space or choose a folder"
            ) from None
