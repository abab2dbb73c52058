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
from litcascade.errors import LitcascadeError
from litcascade.pipeline.executor import Spent, Stop
from litcascade.pipeline.shards.binding import Workplace, endpoints_given, set_up
from litcascade.pipeline.shards.files import write_whole
from litcascade.pipeline.shards.job import Job, JobFolder
from litcascade.pipeline.shards.parts import part_files
from litcascade.pipeline.shards.worker import Worked, work_shard
from litcascade.schemas import ModelSpec
from litcascade.schemas.protocol import Budget

SECONDS = 1.0


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
            told = str(error) if isinstance(error, LitcascadeError) else f"{type(error).__name__}: {str(error)[:300]}"
            status, words = "failed", told
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
        try:
            for name, content in files.items():
                path = folder.path / name
                path.parent.mkdir(parents=True, exist_ok=True)
                write_whole(path, content)
            folder.receipt(number).parent.mkdir(exist_ok=True)
            return await self._posting(folder, number, said)
        finally:
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
            await mirror.post()
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
    """Posts what is new in a shard's folder of parts, and what is there no more."""

    def __init__(self, box: Any, folder: JobFolder, number: int) -> None:
        self.box = box
        self.folder = folder
        self.number = number
        self._posted = {path.name for path in part_files(folder.out(number))}
        self._receipt: bytes | None = None

    async def now_and_then(self, stop: Stop) -> None:
        """Post every second; where the box says so, ask for the end."""
        while True:
            await asyncio.sleep(SECONDS)
            words = await self.post()
            if words:
                stop.set("interrupted", words)

    async def post(self) -> str:
        """Post what changed; returns the word to stop, if any."""
        path = self.folder.receipt(self.number)
        receipt = path.read_bytes() if path.is_file() else None
        here = {path.name: path for path in part_files(self.folder.out(self.number))}
        new = {name: _bytes(path) for name, path in here.items() if name not in self._posted}
        parts = {name: content for name, content in new.items() if content is not None}
        gone = sorted(self._posted - here.keys())
        changed = receipt if receipt != self._receipt else None
        answer = self.box.put.remote(self.number, parts, changed, gone)
        self._posted = (self._posted | parts.keys()) - set(gone)
        self._receipt = receipt
        words: str = await answer
        return words


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


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None  # joined into another meanwhile


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
