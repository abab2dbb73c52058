"""A run: from what is pending to verdicts, stage by stage, stoppable anywhere and resumable."""

import contextlib
import json
import platform
import sqlite3
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from litcascade import __version__
from litcascade.backends import Backend
from litcascade.backends.probe import Finding, probe
from litcascade.errors import BackendError, InputError, StoreError
from litcascade.pipeline.binding import Bound, at_once, bind, identify, make_backends
from litcascade.pipeline.calm import calm_collector
from litcascade.pipeline.events import EventLog
from litcascade.pipeline.executor import Executor, Spent, Stop
from litcascade.pipeline.ledger import StageLedger, read_ledger
from litcascade.pipeline.observing import Observer, Silent
from litcascade.pipeline.on_ray.leftover import take_up
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.review import Review
from litcascade.pipeline.shards.job import unmerged
from litcascade.pipeline.spreading import Spread, StageTask
from litcascade.pipeline.stopping import interruptible
from litcascade.pipeline.subjects import chunks, overlap, pending
from litcascade.pipeline.watching import Watch, watched
from litcascade.schemas import STAGES, ModelRef
from litcascade.store import Store, now

StageWorker = Callable[[str, Sequence[str], Callable[[int], None]], Awaitable[None]]
EXIT = {"complete": 0, "incomplete": 3, "backend": 3, "waiting for people": 4, "budget": 5, "interrupted": 130}


@dataclass(frozen=True)
class Outcome:
    """How a run ended: a status of `EXIT`, its words, the ledger, what was spent, and what the engines told of themselves."""

    run_id: str
    status: str
    words: str
    ledger: list[StageLedger]
    spent: Spent
    engine: str = ""

    @property
    def exit_code(self) -> int:
        """What the command exits with."""
        return EXIT[self.status]


async def run_review(
    review: Review,
    store: Store,
    *,
    observer: Observer | None = None,
    backends: Mapping[str, Backend] | None = None,
    probed: bool = True,
    spread: Spread | None = None,
) -> Outcome:
    """Run every stage for what is pending.

    With `spread` other machines work the stages, and probe their own models. `backends` replaces the protocol's (tests,
    benchmarks). `probed` asks the canaries first and refuses to run on a model that fails them. Raises `BackendError` where a
    model cannot be reached before anything was asked.
    """
    if not store.value("select count(*) from records"):
        raise InputError("the review holds no records yet; import some with `litcascade import FILE`")
    require_amendment(review, store)
    made = dict(backends) if backends is not None else make_backends(review)
    try:
        models = await (spread.identify(review, made) if spread else identify(review.protocol, made))
        bound = bind(review, models, store)
        run = _Run(review, store, made, bound, observer or Silent())
        run.begin(models)
        take_up(review, store, run.observer)
        if spread:
            run.hand_over(spread, models, probed)
        elif probed:
            await run.check(models)
        with calm_collector():
            return await run.go()
    finally:
        for backend in made.values():
            await backend.close()


def require_amendment(review: Review, store: Store) -> None:
    """Refuse criteria that differ from those of the last run without an amendment that says who, when and why."""
    last = store.rows("select hash, criteria from protocols order by seq desc limit 1")
    if not last or last[0][0] == review.protocol.hash():
        return
    before = json.loads(last[0][1])
    changed = [name for name, version in criteria_versions(review).items() if before.get(name, version) != version]
    if changed:
        raise InputError(
            f"the criteria of {', '.join(changed)} changed since the last run; record it with "
            "`litcascade amend --author NAME --reason WHY`"
        )


def criteria_versions(review: Review) -> dict[str, str]:
    """The version of the criteria at every stage, done here or not: a stage may be left out and come back."""
    return {name: review.protocol.criteria_hash(name) for name in STAGES}


def store_protocol(review: Review, store: Store) -> None:
    """Keep the protocol's text, once for each version."""
    key = review.protocol.hash()
    last = store.value("select hash from protocols order by seq desc limit 1")
    if last is not None and last.partition("-")[0] == key:
        return
    if store.value("select count(*) from protocols where hash = ?", [key]):
        key = f"{key}-{uuid.uuid4().hex[:8]}"  # an earlier version again: a row of its own keeps the order
    versions = json.dumps(criteria_versions(review))
    store.append("protocols", [{"hash": key, "at_time": now(), "text": review.text, "criteria": versions}])


def store_versions(store: Store, run_id: str, bound: Sequence[Bound]) -> None:
    """Put the stages' fingerprints in force, where they are not already."""
    now_in_force = dict(store.rows("select stage, [fingerprint, criteria_hash, referred] from current_stages"))
    rows = [
        {
            "run_id": run_id,
            "at_time": now(),
            "stage": item.stage.name,
            "position": item.position,
            "fingerprint": item.fingerprint,
            "criteria_hash": item.criteria_hash,
            "referred": item.spec.referred,
        }
        for item in bound
        if now_in_force.get(item.stage.name) != [item.fingerprint, item.criteria_hash, item.spec.referred]
    ]
    store.append("stage_versions", rows)


@contextlib.asynccontextmanager
async def _told(path: Path) -> AsyncIterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise StoreError(
            f"{path}: the run's cursor could not be kept ({error}); all verdicts are safe: see to the disk and run again"
        ) from error


def drop_broken_checkpoints(path: Path) -> None:
    """Delete a checkpoint file that SQLite cannot read: it holds the run's cursor alone, and a new pass finds it again."""
    if not path.exists():
        return
    try:
        with contextlib.closing(sqlite3.connect(path)) as file:
            file.execute("select count(*) from sqlite_master").fetchone()
    except sqlite3.DatabaseError:
        path.unlink()


class _Run:
    def __init__(
        self, review: Review, store: Store, backends: Mapping[str, Backend], bound: list[Bound], observer: Observer
    ) -> None:
        self.review = review
        self.store = store
        self.backends = backends
        self.bound = {item.stage.name: item for item in bound}
        self.observer = observer
        self.run_id = f"run-{uuid.uuid4().hex[:12]}"
        self.spent = Spent()
        self.stop = Stop()
        self.events = EventLog(review.events_path)
        self.watch = Watch()
        self._work: StageWorker = self._here

    def hand_over(self, spread: Spread, models: Mapping[str, ModelRef], probed: bool) -> None:
        """Have the stages worked by others."""

        async def work(name: str, ids: Sequence[str], tick: Callable[[int], None]) -> None:
            if ids:
                await spread.work(
                    StageTask(
                        self.review, self.store, models, name, self.run_id, len(ids), probed, self.spent, self.stop, tick,
                        self.observer,
                    )
                )  # fmt: skip

        self._work = work

    def begin(self, models: Mapping[str, ModelRef]) -> None:
        """Write down what this run is, before anything is asked."""
        store_protocol(self.review, self.store)
        described = {name: model.model_dump() for name, model in models.items()}
        code = f"litcascade {__version__}, Python {platform.python_version()}"
        run = {"run_id": self.run_id, "at_time": now()}
        kept = {"protocol_hash": self.review.protocol.hash(), "code_version": code, "models": json.dumps(described)}
        self.store.append("runs", [{**run, **kept}])
        store_versions(self.store, self.run_id, list(self.bound.values()))
        self.events.write("run started", run=self.run_id, models=described)

    async def check(self, models: Mapping[str, ModelRef]) -> None:
        """Ask the canaries of every model that has something to do."""
        if not any(pending(self.store, name) for name in self.bound):
            return
        for name, backend in self.backends.items():
            if self.review.protocol.models[name].backend == "recorded":
                continue
            findings = await probe(backend, models[name], wants_json="extraction" in self.bound)
            self._report(name, findings)

    def _report(self, name: str, findings: list[Finding]) -> None:
        for finding in findings:
            if finding.ok:
                continue
            if finding.fatal:
                self._end("backend", f"{finding.what}: {finding.words}")
                raise BackendError(f"model '{name}' failed its check: {finding.words}", fatal=True)
            self.observer.say(f"model '{name}': {finding.words}")

    async def go(self) -> Outcome:
        """Drive the run graph to its end, its gate, or where it was stopped."""
        from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
        from langgraph.types import Command

        from litcascade.pipeline.graph import build_run_graph

        path = self.review.checkpoints_path
        drop_broken_checkpoints(path)
        async with (
            _told(path), AsyncSqliteSaver.from_conn_string(str(path)) as saver, interruptible(self.stop, self.observer),
            watched(self.backends, self.events) as self.watch,
        ):  # fmt: skip
            gates = [name for name, item in self.bound.items() if item.spec.gate == "people"]
            graph = build_run_graph(list(self.bound), gates, self._run_stage, self._waiting, lambda: self.stop.status, saver)
            config, begun = await self._thread(graph, saver)
            given: Any = Command(resume=True) if begun == "gate" else None if begun == "cut" else {"counts": {}, "stopped": None}
            result = await graph.ainvoke(given, config, durability="sync")
            waits = result.get("__interrupt__")
        return self._finish(waits[0].value if waits else None)

    async def _thread(self, graph: Any, saver: Any) -> tuple[dict[str, Any], str]:
        """The thread to go on with: the last one where it is unfinished and nothing before its cursor is pending."""
        last = self.store.meta("thread")
        if last:
            config = {"configurable": {"thread_id": last}}
            state = await graph.aget_state(config)
            cursor = state.next[0] if state.next else ""
            before = list(self.bound)[: list(self.bound).index(cursor.removesuffix(" gate"))] if cursor else []
            done = [*before, cursor.removesuffix(" gate")] if cursor.endswith(" gate") else before
            if cursor and not any(pending(self.store, name) for name in done):
                return config, "gate" if cursor.endswith(" gate") else "cut"
            await saver.adelete_thread(last)
        self.store.set_meta("thread", self.run_id)
        return {"configurable": {"thread_id": self.run_id}}, "new"

    async def _here(self, name: str, ids: Sequence[str], tick: Callable[[int], None]) -> None:
        """Work a stage in this process."""
        item = self.bound[name]
        executor = Executor(
            item.stage, item.fingerprint, self.backends, Recorder(self.store, self.run_id),
            spent=self.spent, stop=self.stop, budget=self.review.protocol.budget, on_tick=tick,
            overlap=overlap(at_once(self.review.protocol, item.spec), item.stage.needs_text),
        )  # fmt: skip
        await executor.run(chunks(self.store, name, ids))

    async def _run_stage(self, name: str) -> dict[str, int]:
        ids = pending(self.store, name)
        self.observer.stage(name, len(ids))
        self.events.write("stage started", run=self.run_id, stage=name, pending=len(ids))
        for job in unmerged(self.review.folder, name) if ids else []:
            if not job.by:
                self.observer.say(
                    f"job '{job.name}' of {name} is not merged: what its workers answered is asked again here; "
                    f"stop, and `litcascade merge {job.name}` first"
                )
        done = 0

        def progress(*, last: bool = False) -> None:
            told = {"done": done, "total": len(ids), "calls": self.spent.calls, "tokens": self.spent.tokens}
            self.events.progress(last=last, stage=name, **told)

        def tick(count: int) -> None:
            nonlocal done
            done += count
            self.observer.tick(count, self.spent)
            progress()

        await self._work(name, ids, tick)
        progress(last=True)
        counts = dict(self.store.rows(f"select state, count(*) from {name} group by state"))
        self.events.write("stage ended", run=self.run_id, stage=name, counts=counts)
        return counts

    def _waiting(self, name: str) -> int:
        return int(self.store.value(f"select count(*) from {name} where state in ('referred', 'not retrieved', 'pending')"))

    def _finish(self, gate: dict[str, Any] | None) -> Outcome:
        ledger = read_ledger(self.store, self.review.protocol)
        reached = list(self.bound)[: list(self.bound).index(gate["stage"]) + 1] if gate else list(self.bound)
        left = sum(stage.states.get("pending", 0) for stage in ledger if stage.stage in reached)
        if self.stop.status and not (self.stop.status == "budget" and not left):
            status, words = self.stop.status, self.stop.words
        elif left:
            status = "incomplete"
            words = f"{left} record(s) got no reply and stay pending; run again to ask only for them"
        elif gate:
            status = "waiting for people"
            words = f"{gate['waiting']} record(s) of {gate['stage']} wait for a person's decision before the run goes on"
        else:
            status, words = "complete", "every record has a verdict or waits for a person"
        self._end(status, words)
        return Outcome(self.run_id, status, words, ledger, self.spent, self.watch.words())

    def _end(self, status: str, words: str) -> None:
        spent = {name: value for name, value in asdict(self.spent).items() if name != "started"}
        row = {"run_id": self.run_id, "at_time": now(), "status": status, "detail": words, "spent": json.dumps(spent)}
        self.store.append("run_ends", [row])
        engine = {"engine": self.watch.words()} if self.watch.last else {}
        self.events.write("run ended", run=self.run_id, status=status, detail=words, spent=spent, **engine)
