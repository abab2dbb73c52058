"""The event log beside the store: what `status` reads while a run holds the DuckDB file."""

import json
import time
from pathlib import Path
from typing import Any

from litcascade.errors import StoreError
from litcascade.store import now


class EventLog:
    """Appends one JSON line an event; progress at most once a second."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last_progress = 0.0
        self._whole = _ends_whole(path)

    def write(self, event: str, **details: Any) -> None:
        """Append an event."""
        line = json.dumps({"at": now(), "event": event, **details}, ensure_ascii=False) + "\n"
        try:
            with self.path.open("ab") as out:
                out.write((("" if self._whole else "\n") + line).encode("utf-8", "backslashreplace"))
            self._whole = True
        except OSError as error:
            self._whole = False
            raise StoreError(
                f"{self.path}: cannot be written ({error.strerror or error}); what was stored before is safe: see to the disk "
                "and run the command again"
            ) from error

    def progress(self, *, last: bool = False, **details: Any) -> None:
        """Append progress, unless the last was less than a second ago and this is not the `last` of a stage."""
        if last or time.monotonic() - self._last_progress >= 1.0:
            self._last_progress = time.monotonic()
            self.write("progress", **details)


def _ends_whole(path: Path) -> bool:
    """Whether the last line is whole; a crash in mid-write may have torn it, and the next event must not be glued to it."""
    try:
        with path.open("rb") as handle:
            handle.seek(0, 2)
            if handle.tell() == 0:
                return True
            handle.seek(-1, 2)
            return handle.read(1) == b"\n"
    except OSError:
        return True


def read_events(path: Path, last: int = 200) -> list[dict[str, Any]]:
    """The last events; a torn last line (a crash in mid-write) is left out."""
    if not path.exists():
        return []
    with path.open("rb") as handle:
        handle.seek(0, 2)
        handle.seek(max(0, handle.tell() - 400 * last))
        lines = handle.read().decode("utf-8", "replace").splitlines()
    events = []
    for line in lines[-last:]:
        try:
            event = json.loads(line)
        except ValueError:
            continue
        if isinstance(event, dict):
            events.append(event)
    return events
