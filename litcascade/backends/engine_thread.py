"""One thread that drives an offline vLLM: it adds what is asked, steps the engine, and hands out what is finished."""

import contextlib
import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from litcascade.errors import BackendError
from litcascade.schemas import Reply, Request
from litcascade.schemas.keys import scrubbed

ADDED_AT_ONCE = 64


@dataclass
class Job:
    """One request on its way. When it is told, it has an `output`, an `error`, a `refused` reply, or was `dropped`."""

    request: Request
    messages: list[dict[str, str]]
    sampling: Callable[[], Any]
    tell: Callable[["Job"], Any]
    output: Any = None
    error: BackendError | None = None
    refused: Reply | None = None
    dropped: bool = False
    seconds: float = 0.0
    began: float = field(default=0.0)


class EngineThread:
    """Feeds one engine from any number of rounds; the engine is touched by this thread alone.

    A request that the engine will not take (too long) is told as refused and harms no other; an engine that dies is told to
    every request on its way and after it.
    """

    def __init__(self, llm: Any) -> None:
        self._llm = llm
        self._new: queue.SimpleQueue[list[Job] | None] = queue.SimpleQueue()
        self._waiting: deque[Job] = deque()
        self._running: dict[str, Job] = {}
        self._held = threading.Event()
        self._dead: BackendError | None = None
        self._thread = threading.Thread(target=self._run, name="vllm", daemon=True)
        self._thread.start()

    def put(self, jobs: Sequence[Job]) -> None:
        """Ask for these, in this order."""
        self._new.put(list(jobs))

    def drop(self, jobs: Sequence[Job]) -> None:
        """Nobody waits for these any more."""
        for job in jobs:
            job.dropped = True

    def hold(self) -> None:
        """Add nothing more to the engine; what it has goes on."""
        self._held.set()
        self._new.put([])

    def close(self) -> None:
        """End the thread and shut the engine down."""
        self._new.put(None)
        self._thread.join(60)

    def _run(self) -> None:
        open_ = True
        while open_:
            open_ = self._take()
            if not open_:
                break
            try:
                self._add()
                if self._running:
                    self._step()
            except Exception as error:  # noqa: BLE001  (whatever kills the engine, its requests must be told)
                self._die(error)
        self._shut_down()

    def _take(self) -> bool:
        """Take what is asked for; waits where the engine has nothing to do. False at the end."""
        while True:
            idle = not self._running and not self._waiting
            try:
                batch = self._new.get(block=idle)
            except queue.Empty:
                return True
            if batch is None:
                return False
            self._waiting.extend(batch)

    def _add(self) -> None:
        if self._held.is_set() or self._dead:
            self._let_go()
            return
        for _ in range(min(ADDED_AT_ONCE, len(self._waiting))):
            job = self._waiting.popleft()
            if job.dropped:
                self._tell(job)
                continue
            job.began = time.monotonic()
            try:
                number = self._llm.enqueue_chat([job.messages], [job.sampling()], use_tqdm=False)[0]
            except Exception as error:
                self._turned_away(job, error)
                self._tell(job)
                if not _is_refusal(error):
                    raise
            else:
                self._running[_outer(number)] = job

    def _turned_away(self, job: Job, error: Exception) -> None:
        words = scrubbed(" ".join(str(error).split()))
        if _is_refusal(error):
            job.refused = Reply(key=job.request.key, text=None, refused=words[:600], raw=words)
        else:
            job.error = BackendError(f"the engine did not take it: {type(error).__name__} {words[:200]}")

    def _step(self) -> None:
        for output in self._llm.llm_engine.step():
            job = self._running.pop(output.request_id, None) if output.finished else None
            if job is not None:
                job.output = output
                job.seconds = time.monotonic() - job.began
                self._tell(job)

    def _let_go(self) -> None:
        while self._waiting:
            job = self._waiting.popleft()
            job.error = self._dead
            job.dropped = job.dropped or self._dead is None
            self._tell(job)

    def _die(self, error: Exception) -> None:
        words = f"the engine died: {type(error).__name__} {' '.join(str(error).split())[:200]}".strip()
        self._dead = BackendError(words, fatal=True)
        running, self._running = self._running, {}
        for job in running.values():
            job.error = self._dead
            self._tell(job)
        self._let_go()

    def _tell(self, job: Job) -> None:
        with contextlib.suppress(RuntimeError):  # the loop that asked is closed
            job.tell(job)

    def _shut_down(self) -> None:
        for job in [*self._running.values(), *self._waiting]:
            job.dropped = True
            self._tell(job)
        core = getattr(getattr(self._llm, "llm_engine", None), "engine_core", None)
        shutdown = getattr(core, "shutdown", None)
        if shutdown:
            shutdown()
        self._llm = None


def _is_refusal(error: Exception) -> bool:
    """Whether the request is at fault, as where a server answers HTTP 400."""
    return isinstance(error, ValueError | TypeError) or any(kind.__name__ == "VLLMClientError" for kind in type(error).__mro__)


def _outer(number: str) -> str:
    """The id under which outputs come: vLLM adds a mark to the one it was given, and takes it off again."""
    return number.partition("-")[0]
