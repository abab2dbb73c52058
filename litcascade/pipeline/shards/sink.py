"""A worker's sink: rows gather in memory and go to the disk as parts, at least every few seconds while a run lasts."""

import contextlib
import json
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from litcascade.pipeline.shards.files import drop_torn
from litcascade.pipeline.shards.parts import SCHEMA, Held, PartRow, call_rows, join_parts, part_row, read_back, write_part
from litcascade.pipeline.sinks import REPLY_COLUMNS, reply_from
from litcascade.schemas import Reply

ROWS = 4096
SECONDS = 3.0


class ShardSink:
    """Takes a recorder's rows for one shard and keeps them as parts in a folder; knows the replies that stand there.

    `known` is the shard's file of replies that the store held already, `about` goes into every part. Several workers may write
    into the same folder: their parts have names of their own.
    """

    def __init__(self, folder: Path, about: Mapping[str, str], known: Path | None = None) -> None:
        self.folder = folder
        self._about = dict(about)
        self._token = uuid.uuid4().hex[:8]
        self._number = 0
        self._lock = threading.RLock()
        self._writing = threading.Lock()
        self._rows: list[PartRow] = []
        self._open: list[PartRow] | None = None
        self._batch = ""
        self._unwritten: dict[str, PartRow] = {}
        self._last = time.monotonic()
        self._known = dict.fromkeys(pl.read_parquet(known, columns=["key"])["key"], known) if known else {}
        folder.mkdir(parents=True, exist_ok=True)
        drop_torn(folder)
        self.held = self.look()

    def look(self) -> Held:
        """Read back what is on the disk."""
        held = read_back(self.folder, self._known)
        self._tokens = {(row["model"], row["revision"], row["text_key"]): row["tokens"] for row in held.token_rows}
        return held

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """What is appended inside is kept together, in one part; before it a part is written where enough has gathered.

        A disk that refuses that part is told before anything of this transaction is taken: the caller still holds it all.
        """
        self.write_if_due()
        with self._lock:
            self._open, self._batch = [], f"{self._token}-{uuid.uuid4().hex[:12]}"
            try:
                yield
                self._take(self._open)
            finally:
                self._open, self._batch = None, ""

    def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Take rows; raises UnicodeError where a text cannot be written as UTF-8."""
        with self._lock:
            made = [part_row(self._batch or self._token, table, row) for row in rows]
            if self._open is None:
                self._take(made)
            else:
                self._open += made
            if table == "token_counts":
                self._tokens |= {(row["model"], row["revision"], row["text_key"]): row["tokens"] for row in rows}
        return len(rows)

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Replies that wait to be written, stand in a part, or were known when the job was cut."""
        with self._lock:
            found = [json.loads(self._unwritten[key][-1]) for key in keys if key in self._unwritten]
            places = {key: self.held.calls.get(key) or self._known.get(key) for key in keys if key not in self._unwritten}
        by_path: dict[Path, list[str]] = {}
        for key, path in places.items():
            if path is not None:
                by_path.setdefault(path, []).append(key)
        for path, wanted in by_path.items():
            found += call_rows(path, wanted)
        return {row["key"]: reply_from([row[name] for name in REPLY_COLUMNS]) for row in found}

    def token_counts(self, model: str, revision: str, keys: Sequence[str]) -> dict[str, int]:
        """Tokens counted by this shard's workers."""
        with self._lock:
            return {key: self._tokens[model, revision, key] for key in keys if (model, revision, key) in self._tokens}

    def write_if_due(self) -> bool:
        """Write a part where enough rows wait, or some have waited long enough; whether one was written."""
        if not self._rows or (len(self._rows) < ROWS and time.monotonic() - self._last < SECONDS):
            return False
        return self.write()

    def write(self) -> bool:
        """Write all that waits as one part; whether there was any."""
        with self._writing:
            with self._lock:
                rows, self._rows = self._rows, []
                self._last = time.monotonic()
            if not rows:
                return False
            self._number += 1
            stem = f"part-{self._token}-{self._number:05d}"
            try:
                path = write_part(self.folder, stem, pl.DataFrame(rows, schema=SCHEMA, orient="row"), self._about)
            except BaseException:
                with self._lock:
                    self._rows = rows + self._rows
                raise
            with self._lock:
                for row in rows:
                    if row[1] == "calls" and row[3] is not None:
                        self.held.calls[row[3]] = path
                        self.held.prompt_tokens += row[4] or 0
                        self.held.completion_tokens += row[5] or 0
                        self._unwritten.pop(row[3], None)
            return True

    def finish(self) -> Held:
        """Write what waits, join the parts into one, and read back what the disk now holds."""
        self.write()
        join_parts(self.folder, f"part-{self._token}-joined", self._about)
        self.held = self.look()
        return self.held

    def _take(self, rows: list[PartRow]) -> None:
        self._rows += rows
        self._unwritten |= {row[3]: row for row in rows if row[1] == "calls" and row[3] is not None}
