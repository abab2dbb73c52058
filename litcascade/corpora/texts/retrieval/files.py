"""Names of the files of a folder, and files that are there already."""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from litcascade.corpora.texts.matching import file_form
from litcascade.corpora.texts.retrieval.manifest import Manifest
from litcascade.corpora.texts.retrieval.wanted import Place, Wanted

ENDINGS = {"pdf": ".pdf", "jats": ".nxml"}
_SAFE = re.compile(r"\w[\w.+-]{0,119}")
_READ_AWAY = (".tei", ".jats", ".gz")  # what a matcher takes for a part of the ending


def file_stems(wanted: Sequence[Wanted], manifest: Manifest) -> dict[str, str]:
    """A file name without ending for each record: its id, folded where it cannot stand in a file name.

    Where two records would share a name, in this call or with an earlier one, each carries a digest of its id behind it.
    """
    plain = {item.record_id: _stem(item.record_id) for item in wanted}
    times = Counter(stem.casefold() for stem in plain.values())
    stems = {}
    for record_id, stem in plain.items():
        owners = {manifest.owner(stem + ending) for ending in ENDINGS.values()} - {None, record_id}
        shared = times[stem.casefold()] > 1 or owners
        stems[record_id] = f"{stem}-{_digest(record_id)}" if shared else stem
    return stems


def _stem(record_id: str) -> str:
    stem = record_id if _SAFE.fullmatch(record_id) else file_form(record_id)[:100]
    return stem if stem and not stem.lower().endswith(_READ_AWAY) else f"{stem or 'record'}-{_digest(record_id)}"


def _digest(record_id: str) -> str:
    return hashlib.sha256(record_id.encode()).hexdigest()[:8]


def file_there(folder: Path, stem: str) -> Path | None:
    """A file for a record that lies in the folder, whoever put it there."""
    return next((path for ending in ENDINGS.values() if (path := folder / f"{stem}{ending}").exists()), None)


def begins_well(path: Path) -> bool:
    """Whether a file begins as its ending says: a PDF with %PDF, XML with a tag."""
    try:
        with path.open("rb") as handle:
            head = handle.read(1024).lstrip(b"\xef\xbb\xbf \t\r\n")
    except OSError:
        return False
    return head.startswith(b"%PDF" if path.suffix == ".pdf" else b"<")


def file_for(folder: Path, stem: str, place: Place) -> Path:
    """Where the file of a place is to lie."""
    return folder / f"{stem}{ENDINGS[place.kind]}"
