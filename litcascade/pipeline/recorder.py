"""Between executor and store: calls, readings and verdicts in column batches, off the hot path."""

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from litcascade.errors import StoreError
from litcascade.pipeline.sinks import Sink, as_sink
from litcascade.schemas import Answer, Reader, Refer, Reply, Request, Verdict
from litcascade.schemas.keys import scrubbed
from litcascade.store import Store, now

BATCH = 512
SECONDS = 0.1
TABLES = ("calls", "failures", "readings", "criterion_answers", "extractions", "verdicts")  # a verdict after what it rests on
Row = dict[str, Any]


class Recorder:
    """Buffers rows and appends them together: a verdict is never in the store without the calls it rests on."""

    def __init__(self, store: Store | Sink, run_id: str) -> None:
        self.store = as_sink(store)
        self.run_id = run_id
        self._rows: dict[str, list[Row]] = {}
        self._replies: dict[str, Reply] = {}
        self._flushing: dict[str, Reply] = {}
        self._count = 0
        self._writing: asyncio.Task[None] | None = None
        self._later: asyncio.Task[None] | None = None
        self._last = time.monotonic()
        self._gate = asyncio.Lock()

    async def known(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Replies that are stored already, or wait in the buffer."""
        found = {key: self._replies.get(key) or self._flushing.get(key) for key in keys}
        here = {key: reply for key, reply in found.items() if reply}
        missing = [key for key in keys if key not in here]
        if missing:
            here |= await asyncio.to_thread(self.store.replies, missing)
        return here

    def holds(self, key: str) -> bool:
        """Whether a reply to this request waits in the buffer."""
        return key in self._replies or key in self._flushing

    def call(self, stage: str, record_id: str, reader: Reader, request: Request, reply: Reply) -> None:
        """Record a reply that came from an engine."""
        self._replies[request.key] = reply
        self._add(
            "calls",
            {
                "key": request.key, "at_time": now(), "run_id": self.run_id, "stage": stage, "record_id": record_id,
                "reader": reader.name, "purpose": request.purpose, "model": request.model.name,
                "revision": request.model.revision, "engine": request.model.engine,
                "request": request.model_dump_json(include={"messages", "shape", "sampling"}),
                "text": reply.text, "reasoning": reply.reasoning, "finish_reason": reply.finish_reason,
                "refused": reply.refused, "prompt_tokens": reply.prompt_tokens, "cached_tokens": reply.cached_tokens,
                "completion_tokens": reply.completion_tokens, "seconds": reply.seconds,
                "logprobs": json.dumps([position.model_dump() for position in reply.logprobs]) if reply.logprobs else None,
                "raw": reply.raw,
            },
        )  # fmt: skip

    def failure(self, stage: str, record_id: str, key: str, attempts: int, error: str) -> None:
        """Record that a request got no reply."""
        row = {"at_time": now(), "run_id": self.run_id, "stage": stage, "record_id": record_id, "key": key}
        self._add("failures", {**row, "attempts": attempts, "error": error})

    def verdict(self, verdict: Verdict, fingerprint: str) -> None:
        """Record a verdict with its readings and extracted values."""
        common = {"run_id": self.run_id, "fingerprint": fingerprint, "record_id": verdict.record_id}
        for reading in verdict.readings:
            row = {**common, "stage": verdict.stage, "reader": reading.reader, "orderly": reading.orderly}
            told = {"calls": list(reading.calls), "seen": reading.seen, **_outcome_columns(reading.outcome)}
            self._add("readings", {**row, **told})
            for answer in reading.outcome.criteria:
                where = {**common, "stage": verdict.stage, "reader": reading.reader, "document_id": verdict.document_id}
                self._add("criterion_answers", {**where, **answer.model_dump()})
            for value in reading.outcome.values if isinstance(reading.outcome, Answer) else ():
                kept = None if value.error else json.dumps(value.value, ensure_ascii=False)
                where = {**common, "document_id": verdict.document_id, "reader": reading.reader}
                self._add("extractions", {**where, **value.model_dump(exclude={"value"}), "value": kept})
        decided = {"state": verdict.state.value, "score": verdict.score, "code": verdict.code and verdict.code.value}
        where = {**common, "at_time": now(), "stage": verdict.stage, "document_id": verdict.document_id}
        more = {"reason": verdict.reason, "policy": verdict.policy, "criterion": verdict.criterion, "seen": verdict.seen}
        self._add("verdicts", {**where, **decided, **more})

    async def flush_if_due(self) -> None:
        """Write in the background where enough has gathered, or a tenth of a second has passed; what came too soon is not left
        to wait for the next reply, which may be long in coming.

        While a write is under way more gathers; only where far too much waits does the caller wait too.
        """
        self._raise_failed()
        if self._count < BATCH and time.monotonic() - self._last < SECONDS:
            if self._count and self._later is None:
                self._later = asyncio.create_task(self._write_later())
            return
        if self._writing is None:
            self._writing = asyncio.create_task(self._write_all())
        elif self._count >= 4 * BATCH:
            await asyncio.shield(self._writing)  # who is cancelled here must not cut the write

    async def flush(self) -> None:
        """Write all that has gathered, in one transaction; raises what a write in the background raised."""
        under_way = [task for task in (self._writing, self._later) if task]
        if under_way:
            await asyncio.wait(under_way)  # never cancelled: rows that were taken must be written, or the fault told
        try:
            await self._write_all()
        finally:
            self._raise_failed()

    def _raise_failed(self) -> None:
        """Let go of background writes that ended; the first that failed is raised."""
        ended = [task for task in (self._writing, self._later) if task and task.done()]
        self._writing = None if self._writing in ended else self._writing
        self._later = None if self._later in ended else self._later
        faults = [task.exception() for task in ended if not task.cancelled()]  # each is looked at, else it is told on stderr
        for fault in faults:
            if fault is not None:
                raise fault

    async def _write_later(self) -> None:
        await asyncio.sleep(SECONDS)
        await self._write_all()

    async def _write_all(self) -> None:
        async with self._gate:
            rows, self._rows, self._count = self._rows, {}, 0
            self._flushing, self._replies = self._replies, {}
            self._last = time.monotonic()
            try:
                if rows:
                    await asyncio.to_thread(self._write, rows)
            except Exception:  # what follows rests on these rows: they are written first, or nothing is
                self._rows = {table: rows.get(table, []) + self._rows.get(table, []) for table in {**rows, **self._rows}}
                self._count = sum(map(len, self._rows.values()))
                self._replies = self._flushing | self._replies
                raise
            finally:
                self._flushing = {}

    def _add(self, table: str, row: Row) -> None:
        self._rows.setdefault(table, []).append(row)
        self._count += 1

    def _write(self, rows: Mapping[str, list[Row]]) -> None:
        try:
            self._append(rows)
        except (StoreError, UnicodeError):
            # one odd value must not take its neighbours along: texts are scrubbed and it is tried once more
            self._append({table: [scrubbed(row) for row in batch] for table, batch in rows.items()})

    def _append(self, rows: Mapping[str, list[Row]]) -> None:
        with self.store.transaction():
            for table in TABLES:
                self.store.append(table, rows.get(table, []))


def _outcome_columns(outcome: Answer | Refer) -> Row:
    if isinstance(outcome, Answer):
        found = {"decision": outcome.decision, "score": outcome.score, "reason": outcome.reason}
        return {**found, "code": None, "detail": None}
    return {"decision": None, "score": None, "reason": None, "code": outcome.code.value, "detail": outcome.detail}
