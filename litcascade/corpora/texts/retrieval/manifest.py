"""What was asked and what came of it, one JSON line each, so that no later run asks again in vain."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from litcascade.corpora.texts.retrieval.wanted import OutcomeState, Wanted
from litcascade.errors import InputError

MANIFEST = "retrieval.jsonl"


@dataclass(frozen=True)
class Line:
    """One source asked for one record. `asked` is the time in UTC; `for_good` says that asking again is of no use."""

    asked: str
    record_id: str
    ids: str
    source: str
    state: OutcomeState
    for_good: bool
    why: str = ""
    url: str | None = None
    file: str | None = None
    sha256: str | None = None
    size: int | None = None
    licence: str | None = None


class Manifest:
    """The lines of a folder's `retrieval.jsonl`; each is written as soon as it is known."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / MANIFEST
        self._last: dict[tuple[str, str], Line] = {}
        self._files: dict[str, Line] = {}
        self._owners: dict[str, str] = {}
        raw = self._read()
        self._torn = bool(raw) and not raw.endswith("\n")
        for text in raw.splitlines():
            line = _line(text)
            if line:
                self._take(line)

    def _read(self) -> str:
        try:
            return self.path.read_text(encoding="utf-8", errors="replace") if self.path.exists() else ""
        except OSError as error:
            raise InputError(f"{self.path}: cannot be read ({error.strerror}); choose another folder") from None

    def _take(self, line: Line) -> None:
        self._last[line.record_id, line.source] = line
        if line.state == "retrieved" and line.file:
            self._files[line.record_id] = line
            self._owners[line.file.casefold()] = line.record_id

    def retrieved(self, record_id: str) -> Line | None:
        """The last file that was brought for a record."""
        return self._files.get(record_id)

    def settled(self, wanted: Wanted, source: str) -> Line | None:
        """What a source said for good of these identifiers; None where it is to be asked."""
        line = self._last.get((wanted.record_id, source))
        return line if line and line.for_good and line.ids == wanted.ids() and line.state != "retrieved" else None

    def owner(self, file: str) -> str | None:
        """The record that a file of the folder was brought for, case aside as on some disks."""
        return self._owners.get(file.casefold())

    def add(self, line: Line) -> None:
        """Write a line and remember it."""
        try:
            with self.path.open("a", encoding="utf-8") as out:
                out.write(("\n" if self._torn else "") + json.dumps(asdict(line), ensure_ascii=False) + "\n")
        except OSError as error:
            raise InputError(f"{self.path}: cannot be written ({error.strerror}); free space or choose another folder") from None
        self._torn = False
        self._take(line)


def _line(text: str) -> Line | None:
    """A line of the file; None for one that a crash cut off, which only means that its question is asked again."""
    try:
        found: Any = json.loads(text)
        return Line(**found) if isinstance(found, dict) else None
    except (ValueError, TypeError):
        return None
