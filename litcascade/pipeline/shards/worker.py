"""A worker: one shard to its verdicts, without the store; what it did stands in parts and a receipt."""

import asyncio
import contextlib
import fcntl
import io
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from pydantic import ValidationError

from litcascade import __version__
from litcascade.backends.probe import probe
from litcascade.errors import BackendError, InputError
from litcascade.pipeline.binding import at_once
from litcascade.pipeline.calm import calm_collector
from litcascade.pipeline.executor import Executor, Spent, Stop
from litcascade.pipeline.observing import Observer, Silent
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.shards.binding import Workplace, set_up
from litcascade.pipeline.shards.files import drop_torn, sha256, write_json
from litcascade.pipeline.shards.job import Job, JobFolder, Receipt
from litcascade.pipeline.shards.parts import Held
from litcascade.pipeline.shards.sink import SECONDS, ShardSink
from litcascade.pipeline.subjects import chunk_size, overlap
from litcascade.schemas.protocol import Budget
from litcascade.stages import Subject
from litcascade.store import now
from litcascade.store.views import NEEDS_TEXT

Opener = Callable[[JobFolder, Job, Mapping[str, tuple[str, ...]]], AbstractAsyncContextManager[Workplace]]


@dataclass(frozen=True)
class Worked:
    """How a shard stands after a worker: `complete`, or `incomplete` with the reason; `receipt` is None where it never began.

    `exit_code` is 0 for a complete shard, 3 for one to be worked again, 5 where its share of the budget is spent.
    """

    status: str
    words: str
    exit_code: int
    receipt: Receipt | None = None


async def work_shard(
    folder: JobFolder,
    number: int,
    *,
    endpoints: Mapping[str, tuple[str, ...]] | None = None,
    probed: bool = True,
    any_version: bool = False,
    observer: Observer | None = None,
    stop: Stop | None = None,
    budget: Budget | None = None,
    opened: Opener | None = None,
) -> Worked:
    """Work one shard of a job until every record has a verdict, it is told to stop, or its share of the budget is spent.

    What earlier workers of the shard did is taken up. Without `stop`, signals stop it; `budget` replaces the protocol's (both are
    shared out by records), and `opened` says where the bound stage and its backends come from. Raises `InputError` for a damaged
    or foreign job and `BackendError` where a model cannot be reached or fails its check; the receipt then says so.
    """
    job = folder.read()
    _require(job, number, any_version)
    with _alone(folder.out(number)) as alone:
        if not alone:
            return Worked("incomplete", f"another worker holds shard {number} of '{job.name}'; it is left to that one", 3)
        drop_torn(folder.receipt(number).parent, folder.receipt(number).name)
        subjects = read_shard(folder, job, number)
        worker = _Worker(folder, job, number, subjects, observer or Silent(), stop, budget, opened or _opened)
        return await worker.go(endpoints or {}, probed)


@contextlib.asynccontextmanager
async def _opened(folder: JobFolder, job: Job, endpoints: Mapping[str, tuple[str, ...]]) -> AsyncIterator[Workplace]:
    place = await set_up(folder, job, endpoints)
    try:
        yield place
    finally:
        for backend in place.backends.values():
            await backend.close()


def _require(job: Job, number: int, any_version: bool) -> None:
    if not 0 <= number < len(job.shards):
        raise InputError(f"the job '{job.name}' has shards 0 to {len(job.shards) - 1}, not {number}")
    if job.litcascade != __version__ and not any_version:
        raise InputError(
            f"the job '{job.name}' was cut by litcascade {job.litcascade}, this is {__version__}; use the same version on the "
            "nodes, or give --any-version"
        )


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether no other worker holds the folder; without locks in the file system, each still writes parts of its own."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        except OSError:
            pass
        yield True


def read_shard(folder: JobFolder, job: Job, number: int) -> pl.DataFrame:
    """`record_id` and `subject` (JSON) of a shard's records; a file cut short or changed is an `InputError`."""
    declared = job.shards[number]
    for path, digest in ((folder.shard(number), declared.sha256), (folder.replies(number), declared.replies)):
        if digest is not None and (not path.is_file() or sha256(path.read_bytes()) != digest):
            raise InputError(
                f"{path}: is missing, cut short or changed (its checksum is not the one in job.json); copy it again, or cut the "
                "rest anew with `litcascade submit --again`"
            )
    return pl.read_parquet(io.BytesIO(folder.shard(number).read_bytes()))


def share_of(budget: Budget, job: Job, number: int, held: Held) -> Budget:
    """A shard's share of the protocol's calls and tokens, by its records, less what it spent; minutes are each worker's own."""
    before = sum(shard.records for shard in job.shards[:number])
    after = before + job.shards[number].records

    def left(limit: int | None, spent: int) -> int | None:
        return None if limit is None else max(0, limit * after // job.records - limit * before // job.records - spent)

    calls = left(budget.calls, len(held.calls))
    tokens = left(budget.tokens, held.prompt_tokens + held.completion_tokens)
    return Budget.model_construct(calls=calls, tokens=tokens, minutes=budget.minutes)


class _Worker:
    def __init__(
        self,
        folder: JobFolder,
        job: Job,
        number: int,
        subjects: pl.DataFrame,
        observer: Observer,
        stop: Stop | None,
        budget: Budget | None,
        opened: Opener,
    ) -> None:
        self.folder = folder
        self.job = job
        self.number = number
        self.subjects = subjects
        self.observer = observer
        self.spent = Spent()
        self.by_signals = stop is None
        self.stop = stop or Stop()
        self.budget = budget
        self.opened = opened
        self.started = now()
        self.decided = 0
        self.unread = ""
        about = {"run_id": job.run_id, "shard": str(number), "fingerprint": job.fingerprint, "litcascade": __version__}
        known = folder.replies(number) if job.shards[number].replies else None
        self.sink = ShardSink(folder.out(number), about, known)

    async def go(self, endpoints: Mapping[str, tuple[str, ...]], probed: bool) -> Worked:
        """Set up, work, and say what came of it; whatever happens the receipt is written."""
        self.decided = len(self.sink.held.decided)
        self._receipt("working", "")
        status, words = "incomplete", "it was cut off"
        try:
            if self.decided < self.subjects.height:
                await self._work(endpoints, probed)
            status, words = "", self.stop.words or self.unread
        except (InputError, BackendError) as error:
            words = str(error)
            raise
        finally:
            held = self.sink.finish()
            self.decided = len(held.decided)
            left = self.subjects.height - self.decided
            if not status:
                status = "incomplete" if left else "complete"
                words = f"{left} record(s) stay pending: {words or 'they got no reply'}" if left else ""
            receipt = self._receipt(status, words)
        code = 0 if status == "complete" else 5 if self.stop.status == "budget" else 3
        return Worked(status, words or f"all {receipt.records} record(s) have a verdict", code, receipt)

    async def _work(self, endpoints: Mapping[str, tuple[str, ...]], probed: bool) -> None:
        signals = _told_to_stop(self.stop, self.observer) if self.by_signals else contextlib.nullcontext()
        async with signals, self.opened(self.folder, self.job, endpoints) as place:
            if probed:
                await self._check(place)
            if not self.stop.status:
                await self._execute(place)

    async def _check(self, place: Workplace) -> None:
        """Ask the canaries: each node may have started an engine of its own."""
        for name, backend in place.backends.items():
            if place.review.protocol.models[name].backend == "recorded":
                continue
            for finding in await probe(backend, place.models[name], wants_json=self.job.stage == "extraction"):
                if finding.ok:
                    continue
                if finding.fatal:
                    raise BackendError(f"model '{name}' failed its check: {finding.words}", fatal=True)
                self.observer.say(f"model '{name}': {finding.words}")

    async def _execute(self, place: Workplace) -> None:
        self.observer.stage(self.job.stage, self.subjects.height - self.decided)
        budget = share_of(self.budget or place.review.protocol.budget, self.job, self.number, self.sink.held)
        nothing_left = self.spent.over(budget)
        if nothing_left:
            self.stop.set("budget", f"{nothing_left} (this shard's share)")
            return

        def tick(count: int) -> None:
            self.decided += count
            self.observer.tick(count, self.spent)

        recorder = Recorder(self.sink, self.job.run_id)
        executor = Executor(
            place.bound.stage, place.bound.fingerprint, place.backends, recorder,
            spent=self.spent, stop=self.stop, budget=budget, on_tick=tick,
            overlap=overlap(at_once(place.review.protocol, place.bound.spec), place.bound.stage.needs_text),
        )  # fmt: skip
        ticking = asyncio.create_task(self._now_and_then())
        try:
            with calm_collector():
                await executor.run(self._chunks(recorder))
        finally:
            ticking.cancel()
            await asyncio.gather(ticking, return_exceptions=True)

    def _chunks(self, recorder: Recorder) -> Iterator[Sequence[Subject]]:
        """Subjects without a verdict, loaded as they are needed; one that cannot be read is a failure, and stays pending."""
        todo = self.subjects.filter(~pl.col("record_id").is_in(list(self.sink.held.decided)))
        for piece in todo.iter_slices(chunk_size(self.job.stage in NEEDS_TEXT)):
            subjects = [self._subject(record_id, text, recorder) for record_id, text in piece.iter_rows()]
            yield [subject for subject in subjects if subject is not None]

    def _subject(self, record_id: str, text: str, recorder: Recorder) -> Subject | None:
        try:
            return Subject.model_validate_json(text)
        except ValidationError as error:
            self.unread = f"record {record_id} cannot be read: {error.errors()[0]['msg']}"
            recorder.failure(self.job.stage, record_id, "", 0, self.unread)
            return None

    async def _now_and_then(self) -> None:
        """Put what waits on the disk, and tell where the shard stands."""
        while True:
            await asyncio.sleep(SECONDS)
            if await asyncio.to_thread(self.sink.write_if_due):
                await asyncio.to_thread(self._receipt, "working", "")

    def _receipt(self, status: str, detail: str) -> Receipt:
        held, job = self.sink.held, self.job
        receipt = Receipt.model_validate(
            {
                "litcascade": __version__, "run_id": job.run_id, "fingerprint": job.fingerprint,
                "protocol_hash": job.protocol_hash, "shard": self.number, "status": status, "detail": detail,
                "host": socket.gethostname(), "slurm": slurm_task(), "models": job.models, "started": self.started, "at": now(),
                "records": self.subjects.height, "decided": self.decided, "failures": held.failures, "calls": len(held.calls),
                "from_store": self.spent.from_store, "prompt_tokens": held.prompt_tokens,
                "completion_tokens": held.completion_tokens, "parts": held.sums, "set_aside": tuple(held.set_aside),
            }
        )  # fmt: skip
        write_json(self.folder.receipt(self.number), receipt.model_dump(mode="json"))
        return receipt


def slurm_task() -> str | None:
    """Which Slurm task this is, and its restarts, such as `12_3 (restarted 1 times)`; None outside Slurm."""
    job, task = os.environ.get("SLURM_ARRAY_JOB_ID"), os.environ.get("SLURM_ARRAY_TASK_ID")
    if not job or not task:
        return os.environ.get("SLURM_JOB_ID")
    restarts = os.environ.get("SLURM_RESTART_COUNT", "0")
    return f"{job}_{task}" + (f" (restarted {restarts} times)" if restarts != "0" else "")


@contextlib.asynccontextmanager
async def _told_to_stop(stop: Stop, observer: Observer) -> AsyncIterator[None]:
    """While this is open, SIGTERM or Ctrl-C ends the work cleanly, however often it comes: Slurm and its script both send it."""
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.status is None:
            observer.say("stopping: what is on its way is kept for a few seconds")
        stop.set("interrupted", "stopped by a signal; work the shard again to go on")

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
