"""Running a grid: every cell over the development and evaluation records, everything stored, stoppable anywhere."""

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from litcascade.backends import Backend
from litcascade.backends.probe import probe
from litcascade.errors import BackendError, InputError
from litcascade.pipeline.bench.cells import BoundCell, bind_cells, reader_specs, store_cells
from litcascade.pipeline.bench.splitting import frozen_splits
from litcascade.pipeline.binding import identify, make_backend
from litcascade.pipeline.calm import calm_collector
from litcascade.pipeline.events import EventLog
from litcascade.pipeline.executor import Executor, Spent, Stop
from litcascade.pipeline.observing import Observer, Silent
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.review import Review
from litcascade.pipeline.stopping import interruptible
from litcascade.pipeline.subjects import chunks
from litcascade.schemas import ModelRef, Protocol
from litcascade.schemas.bench import BenchSpec
from litcascade.store import Store, now

READ = ("development", "evaluation")


@dataclass(frozen=True)
class BenchOutcome:
    """How a benchmark run ended: `complete`, `incomplete`, `budget`, `backend` or `interrupted`, and what was spent."""

    run_id: str
    status: str
    words: str
    cells: int
    records: int
    spent: Spent


def bench_of(review: Review) -> BenchSpec:
    """The grid that the protocol declares."""
    if review.protocol.bench is None:
        raise InputError(
            f"{review.folder / 'review.toml'}: declares no grid; add a table [bench] with models, prompts and shots "
            "(docs/panels.md)"
        )
    return review.protocol.bench


async def run_bench(
    review: Review, store: Store, *, observer: Observer | None = None, backends: Mapping[str, Backend] | None = None,
    probed: bool = True, redraw: bool = False,
) -> BenchOutcome:  # fmt: skip
    """Ask every cell about every development and evaluation record it has not read yet; nothing is asked twice.

    `backends` replaces the protocol's (tests). Raises `BackendError` where a model cannot be reached or fails its check.
    """
    bench = bench_of(review)
    version, splits = frozen_splits(store, bench, redraw=redraw)
    specs = reader_specs(bench, store, splits)
    names = list(dict.fromkeys(cell.model for cell, _ in specs.values()))
    if bench.refiner:
        names = list(dict.fromkeys([*names, str(review.protocol.readers[bench.refiner].model)]))
    made = dict(backends) if backends is not None else {name: make_backend(review, name) for name in names}
    try:
        models = await identify(review.protocol, made)
        cells = bind_cells(review, bench, store, specs, models)
        store_cells(store, review, bench, version, cells)
        run = _BenchRun(review.protocol, bench, store, made, observer or Silent(), EventLog(review.events_path))
        if probed:
            await run.check(models, cells, splits)
        with calm_collector():
            async with interruptible(run.stop, run.observer):
                await run.go(cells, splits)
        return run.outcome(cells, splits)
    finally:
        for backend in made.values():
            await backend.close()


class _BenchRun:
    def __init__(
        self, protocol: Protocol, bench: BenchSpec, store: Store, backends: Mapping[str, Backend], observer: Observer,
        events: EventLog,
    ) -> None:  # fmt: skip
        self.protocol = protocol
        self.bench = bench
        self.store = store
        self.backends = backends
        self.observer = observer
        self.events = events
        self.run_id = f"bench-{uuid.uuid4().hex[:12]}"
        self.spent = Spent()
        self.stop = Stop()

    async def check(self, models: Mapping[str, ModelRef], cells: list[BoundCell], splits: pl.DataFrame) -> None:
        """Ask the canaries of every model that still has something to read."""
        busy = {cell.cell.model for cell in cells if self._pending(cell, splits)}
        for name in sorted(busy):
            if self.protocol.models[name].backend == "recorded":
                continue
            for finding in await probe(self.backends[name], models[name], wants_json=False):
                if not finding.ok and finding.fatal:
                    raise BackendError(f"model '{name}' failed its check: {finding.words}", fatal=True)
                if not finding.ok:
                    self.observer.say(f"model '{name}': {finding.words}")

    def _pending(self, cell: BoundCell, splits: pl.DataFrame) -> list[str]:
        ids = splits.filter(pl.col("split").is_in(READ))["record_id"].to_list()
        rows = self.store.rows(
            "select id from (select unnest(?::text[]) as id) join records on record_id = id "
            "where id not in (select record_id from readings where fingerprint = ?) order by records.seq",
            [ids, cell.fingerprint],
        )
        return [row[0] for row in rows]

    async def go(self, cells: list[BoundCell], splits: pl.DataFrame) -> None:
        """Cell after cell, so that the prompts of one cell share their prefix."""
        left = {cell.fingerprint: self._pending(cell, splits) for cell in cells}
        self.observer.stage("bench", sum(len(ids) for ids in left.values()))
        self.events.write("bench started", run=self.run_id, cells=len(cells), pending=sum(map(len, left.values())))
        for cell in cells:
            if self.stop.status:
                break
            if left[cell.fingerprint]:
                await self._cell(cell, left[cell.fingerprint])
        self.events.write("bench ended", run=self.run_id, calls=self.spent.calls, stopped=self.stop.status)

    async def _cell(self, cell: BoundCell, ids: list[str]) -> None:
        started, calls = time.monotonic(), self.spent.calls
        read = 0

        def tick(count: int) -> None:
            nonlocal read
            read += count
            self.observer.tick(count, self.spent)

        executor = Executor(
            cell.stage, cell.fingerprint, self.backends, Recorder(self.store, self.run_id), spent=self.spent, stop=self.stop,
            budget=self.protocol.budget, on_tick=tick,
        )  # fmt: skip
        await executor.run(chunks(self.store, self.bench.stage, ids))
        row = {"at_time": now(), "run_id": self.run_id, "fingerprint": cell.fingerprint, "records": read}
        asked = {"calls": self.spent.calls - calls, "seconds": time.monotonic() - started}
        self.store.append("bench_runs", [{**row, **asked}])

    def outcome(self, cells: list[BoundCell], splits: pl.DataFrame) -> BenchOutcome:
        """How it ended, counted from the store."""
        left = sum(len(self._pending(cell, splits)) for cell in cells)
        if self.stop.status and left:
            status, words = self.stop.status, self.stop.words
        elif left:
            status, words = "incomplete", f"{left} reading(s) got no reply; run again to ask only for them"
        else:
            status, words = "complete", "every cell has read every record of its splits"
        records = splits.filter(pl.col("split").is_in(READ)).height
        return BenchOutcome(self.run_id, status, words, len(cells), records, self.spent)
