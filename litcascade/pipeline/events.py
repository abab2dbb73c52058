"""The event log beside the store: what `status` reads while a run holds the DuckDB file."""

import json
import time
from pathlib import Path
from typing import Any

from litcascade.store import now


class EventLog:
    """Appends one JSON line an event; progress at most once a second."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._last_progress = 0.0

    def write(self, event: str, **details: Any) -> None:
        """Append an event."""
        with self.path.open("a", encoding="utf-8") as out:
            out.write(json.dumps({"at": now(), "event": event, **details}, ensure_ascii=False) + "\n")

    def progress(self, **details: Any) -> None:
        """Append progress, unless the last was less than a second ago."""
        if time.monotonic() - self._last_progress >= 1.0:
            self._last_progress = time.monotonic()
            self.write("progress", **details)


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
