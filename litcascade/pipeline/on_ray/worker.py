"""A worker on a node: it keeps its engine from shard to shard, and gives one row a shard, whatever happens to it."""

import asyncio
import contextlib
import shutil
import socket
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

from litcascade.backends import BACKENDS
from litcascade.errors import InputError, LitcascadeError
from litcascade.pipeline.executor import Spent, Stop
from litcascade.pipeline.on_ray.leftover import ASIDE
from litcascade.pipeline.shards.binding import Workplace, endpoints_given, set_up
from litcascade.pipeline.shards.files import write_whole
from litcascade.pipeline.shards.job import Job, JobFolder
from litcascade.pipeline.shards.parts import part_files, verified
from litcascade.pipeline.shards.worker import Worked, work_shard
from litcascade.schemas import ModelSpec
from litcascade.schemas.protocol import Budget

SECONDS = 1.0
TRIES = 3  # of the last post, and of asking a box that is gone


class UnpostedError(InputError):
    """What a worker did could not be posted: it stays on the worker's disk."""


class ShardWorker:
    """Called by Ray Data with a batch of one shard's number; `budget` is what the run may still use, shared out by records."""

    def __init__(self, box: Any, budget: Mapping[str, Any], probed: bool) -> None:
        self.box = box
        self.budget = Budget.model_construct(**budget)
        self.probed = probed
        self.runner = asyncio.Runner()
        self.place: Workplace | None = None

    def __call__(self, batch: Mapping[str, Any]) -> dict[str, list[Any]]:
        """One row: shard, how it stands (complete, incomplete, budget, failed, stopped), why, host, and what was said."""
        number = int(batch["shard"][0])
        said = _Said()
        try:
            status, words = self.runner.run(self._shard(number, said))
        except Exception as error:  # noqa: BLE001  (a shard that fails is a row with its reason, never the run)
            status, words = "failed", str(error) if isinstance(error, LitcascadeError) else plainly(error)
        row = {"shard": number, "status": status, "words": words, "host": socket.gethostname(), "said": "\n".join(said.words)}
        return {name: [value] for name, value in row.items()}

    def close(self) -> None:
        """Let go of the engine; a worker that Ray ends does it too."""
        with contextlib.suppress(Exception):  # whatever an engine thinks of its end, this is it
            if self.place is not None:
                self.runner.run(self._leave())
            self.runner.close()

    __del__ = close

    async def _shard(self, number: int, said: "_Said") -> tuple[str, str]:
        status, words, files = await self.box.take.remote(number)
        if status:
            return status, words
        folder = JobFolder(Path(tempfile.mkdtemp(prefix="litcascade-")))
        kept = False
        try:
            for name, content in files.items():
                path = folder.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, content)
            folder.receipt(number).parent.mkdir(exist_ok=True)
            return await self._posting(folder, number, said)
        except UnpostedError:
            kept = True
            raise
        finally:
            if not kept:
                shutil.rmtree(folder.path, ignore_errors=True)

    async def _posting(self, folder: JobFolder, number: int, said: "_Said") -> tuple[str, str]:
        """Work the shard, and post what it has every second and at the end."""
        stop = Stop()
        mirror = Mirror(self.box, folder, number)
        task = asyncio.create_task(mirror.now_and_then(stop))
        try:
            probed = self.probed and self.place is None
            worked = await work_shard(
                folder, number, endpoints=endpoints_given(()), probed=probed, observer=said, stop=stop, budget=self.budget,
                opened=self._open,
            )  # fmt: skip
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            try:
                await mirror.last_post()
            finally:
                if stop.status:
                    await self._leave()  # backends that were told to hold ask nothing more
        return _status(worked), worked.words

    @contextlib.asynccontextmanager
    async def _open(self, folder: JobFolder, job: Job, endpoints: Mapping[str, tuple[str, ...]]) -> AsyncIterator[Workplace]:
        """The place of the shard before, so that an engine is loaded once."""
        if self.place is None:
            self.place = await set_up(folder, job, endpoints)
        try:
            yield self.place
        except BaseException:
            await self._leave()
            raise

    async def _leave(self) -> None:
        place, self.place = self.place, None
        for backend in place.backends.values() if place else ():
            await backend.close()


class Mirror:
    """Posts what is new in a shard's folder of parts, and what is there no more.

    Only what the box has answered for counts as posted; what it did not take is posted again.
    """

    def __init__(self, box: Any, folder: JobFolder, number: int) -> None:
        self.box = box
        self.folder = folder
        self.number = number
        self._posted = {path.name for path in part_files(folder.out(number))}
        self._before = self._aside().keys()
        self._told: set[str] = set()
        self._receipt: bytes | None = None

    async def now_and_then(self, stop: Stop) -> None:
        """Post every second, whatever became of the post before; where the box says so, or is gone, ask for the end."""
        silent = 0
        while True:
            await asyncio.sleep(SECONDS)
            try:
                words = await self._word()
                silent = 0
            except Exception as error:  # noqa: BLE001  (whatever Ray makes of a box that is gone)
                silent += 1
                words = f"stopped: the run cannot be reached ({plainly(error)})" if silent >= TRIES else ""
            if words:
                stop.set("interrupted", words)

    async def _word(self) -> str:
        try:
            return await self.post()
        except Exception:  # noqa: BLE001  (posted again in a second, and the last post tells)
            words: str = await self.box.word.remote()
            return words

    async def last_post(self) -> None:
        """Post what is left; where that fails several times it is an `UnpostedError`, and the folder must be kept."""
        for left in reversed(range(TRIES)):
            try:
                await self.post()
                return
            except Exception as error:  # noqa: BLE001  (told as the reason)
                if not left:
                    raise UnpostedError(
                        f"what was done for shard {self.number} could not be posted ({plainly(error)}); it is kept in "
                        f"{self.folder.path} on {socket.gethostname()}: copy its folders `out` and `receipts` into the job's "
                        "folder in the review, and merge the job by its name with `litcascade merge`"
                    ) from None
            await asyncio.sleep(SECONDS)

    async def post(self) -> str:
        """Post what changed; returns the word to stop, if any."""
        path = self.folder.receipt(self.number)
        receipt = path.read_bytes() if path.is_file() else None
        here = {path.name: path for path in part_files(self.folder.out(self.number))}
        new = {name: verified(path) for name, path in here.items() if name not in self._posted}  # None: joined, or damaged
        parts = {name: content for name, content in new.items() if content is not None}
        found = self._aside()
        aside = {name: found[name].read_bytes() for name in sorted(found.keys() - self._before - self._told)}
        gone = sorted(self._posted - here.keys() - found.keys())
        changed = receipt if receipt != self._receipt else None
        words: str = await self.box.put.remote(self.number, parts, changed, gone, aside)
        self._posted = (self._posted | parts.keys()) - set(gone) - aside.keys()
        self._told |= aside.keys()
        self._receipt = receipt
        return words

    def _aside(self) -> dict[str, Path]:
        """Parts that were set aside as damaged, by their names when they were whole."""
        return {path.name.removesuffix(ASIDE): path for path in self.folder.out(self.number).glob(f"part-*{ASIDE}")}


def plainly(error: Exception) -> str:
    """An error in one line, and where Ray wraps one that came from elsewhere, that one."""
    cause = getattr(error, "cause", None)
    inner = cause if isinstance(cause, Exception) else error
    words = " ".join(str(inner).split())[:300]
    return words if isinstance(inner, LitcascadeError) else f"{type(inner).__name__}: {words}"


class _Said:
    """An observer that keeps what a person should know for the row."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def stage(self, name: str, total: int) -> None:
        """Nothing: progress goes by receipts."""

    def tick(self, done: int, spent: Spent) -> None:
        """Nothing: progress goes by receipts."""

    def say(self, words: str) -> None:
        """Keep it."""
        self.words.append(words)


def _status(worked: Worked) -> str:
    return "budget" if worked.exit_code == 5 else worked.status


def tell(name: str, spec: str, folder: str) -> tuple[bool, str, str]:
    """On a node: a model's engine and revision after True, or after False why it cannot be told."""

    async def ask() -> tuple[str, str]:
        declared = ModelSpec.model_validate_json(spec)
        backend = BACKENDS.get(declared.backend)(name, declared, Path(folder))
        try:
            return await backend.engine(), await backend.revision()
        finally:
            await backend.close()

    try:
        return (True, *asyncio.run(ask()))
    except LitcascadeError as error:
        return False, str(error), ""
