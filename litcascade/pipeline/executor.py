"""Asynchronous rounds: chunks of records, their requests put together, replies fed back as they come.

Chunks overlap, so that a straggler of one does not idle the engine. The same loop serves a server, an offline engine and
recorded replies.
"""

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from litcascade.backends import Backend
from litcascade.errors import BackendError
from litcascade.pipeline.lengths import Lengths
from litcascade.pipeline.lives import Life
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.subjects import OVERLAP
from litcascade.schemas import Reply, Request
from litcascade.schemas.protocol import Budget
from litcascade.stages import Stage, Subject

GRACE = 3.0


@dataclass
class Spent:
    """What a run has used so far; replies from the store cost nothing and are counted apart."""

    calls: int = 0
    from_store: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    failures: int = 0
    on_their_way: int = 0
    started: float = field(default_factory=time.monotonic)

    @property
    def tokens(self) -> int:
        """Prompt plus completion tokens."""
        return self.prompt_tokens + self.completion_tokens

    def over(self, budget: Budget) -> str | None:
        """Which limit of the budget is reached, if any."""
        minutes = (time.monotonic() - self.started) / 60
        for name, used, limit in (
            ("calls", self.calls, budget.calls), ("tokens", self.tokens, budget.tokens), ("minutes", minutes, budget.minutes),
        ):  # fmt: skip
            if limit is not None and used >= limit:
                return f"the budget of {limit:g} {name} is spent"
        return None

    def room(self, budget: Budget) -> int | None:
        """How many more calls may be put beside those on their way; None: as many as there are."""
        return None if budget.calls is None else max(0, budget.calls - self.calls - self.on_their_way)


@dataclass
class Stop:
    """Why a run must end early: a person, the budget, or an engine that is gone."""

    status: str | None = None
    words: str = ""
    asked: asyncio.Event = field(default_factory=asyncio.Event)

    def set(self, status: str, words: str) -> None:
        """Ask for the end; the first reason stays."""
        if self.status is None:
            self.status, self.words = status, words
            self.asked.set()


@dataclass
class _Round:
    requests: dict[str, Request] = field(default_factory=dict)
    waiting: dict[str, list[tuple[Life, str]]] = field(default_factory=dict)

    def add(self, life: Life, reader: str, request: Request) -> None:
        self.requests.setdefault(request.key, request)
        self.waiting.setdefault(request.key, []).append((life, reader))


class Executor:
    """Takes the subjects of one stage to their verdicts."""

    def __init__(
        self,
        stage: Stage,
        fingerprint: str,
        backends: Mapping[str, Backend],
        recorder: Recorder,
        *,
        spent: Spent,
        stop: Stop,
        budget: Budget,
        overlap: int = OVERLAP,
        on_tick: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.stage = stage
        self.fingerprint = fingerprint
        self.backends = backends
        self.recorder = recorder
        self.spent = spent
        self.stop = stop
        self.budget = budget
        self.overlap = overlap
        self.on_tick = on_tick
        self._lengths = Lengths(stage, recorder.store, backends)
        self._in_flight: dict[str, asyncio.Future[Reply | BackendError]] = {}

    async def run(self, chunks: Iterable[Sequence[Subject]]) -> None:
        """Work through all chunks; returns early where `stop` is set, with all finished work stored.

        Once stopped nothing new is started; what is on its way is stored if it comes within `GRACE` seconds.
        """
        running: set[asyncio.Task[None]] = set()
        try:
            for chunk in chunks:
                if self.stop.status:
                    break
                running.add(asyncio.create_task(self._chunk(chunk)))
                await asyncio.sleep(0)  # its questions are under way while the next chunk is read
                if len(running) >= self.overlap:
                    running = await self._some(running)
            while running and not self.stop.status:
                running = await self._some(running)
            if self.stop.status:
                for backend in self.backends.values():
                    backend.hold()
            if running and self.stop.status != "backend":
                _, running = await asyncio.wait(running, timeout=GRACE)
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
            await self.recorder.flush()

    async def _some(self, running: set[asyncio.Task[None]]) -> set[asyncio.Task[None]]:
        """Wait for a chunk to end, or for the word to stop; returns the chunks still running."""
        word = asyncio.create_task(self.stop.asked.wait())
        try:
            done, _ = await asyncio.wait({*running, word}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            word.cancel()
        ended = [task for task in running if task in done]
        _raise_first(ended)
        return running.difference(ended)

    async def _chunk(self, subjects: Sequence[Subject]) -> None:
        turn = _Round()
        try:
            known = await self._lengths.add(subjects)
        except BackendError as error:
            self.stop.set("backend", str(error))
            return
        for number, subject in enumerate(known, start=1):
            self._advance(Life(self.stage, subject), turn)
            if number % 8 == 0:
                await asyncio.sleep(0)  # replies to the other chunk are not kept waiting
        await self.recorder.flush_if_due()
        while turn.requests and not self.stop.status:
            turn = await self._round(turn)

    def _advance(self, life: Life, turn: _Round) -> None:
        if life.verdict:
            return
        for reader, request in life.advance():
            turn.add(life, reader, request)
        if life.verdict:
            self.recorder.verdict(life.verdict, self.fingerprint)
            self.on_tick(1)

    async def _round(self, turn: _Round) -> _Round:
        """Put one round: what is stored is taken, what another chunk is asking is shared, the rest is asked.

        Keys are claimed before the first await, so that no question is put twice whatever the chunks' timing.
        """
        following = _Round()
        shared = {key: self._in_flight[key] for key in turn.requests if key in self._in_flight}
        mine = {key: request for key, request in turn.requests.items() if key not in shared}
        loop = asyncio.get_running_loop()
        self._in_flight.update({key: loop.create_future() for key in mine})
        try:
            known = await self.recorder.known(list(mine))
        except BaseException:
            self._let_go(mine)
            raise
        for key, reply in known.items():
            self.spent.from_store += 1
            self._in_flight.pop(key).set_result(reply)
            self._feed(turn, following, key, reply)
        groups: dict[str, list[Request]] = {}
        for request in self._affordable([request for key, request in mine.items() if key not in known]):
            groups.setdefault(request.via, []).append(request)
        asking = [self._ask(via, requests, turn, following) for via, requests in groups.items()]
        await asyncio.gather(*asking, *(self._share(turn, following, key, asked) for key, asked in shared.items()))
        await self.recorder.flush_if_due()
        return following

    def _affordable(self, requests: list[Request]) -> list[Request]:
        """Those that the budget of calls leaves room for; the others are not put, and their records stay pending."""
        room = self.spent.room(self.budget)
        put = requests if room is None else requests[:room]
        self._let_go(request.key for request in requests[len(put) :])
        self.spent.on_their_way += len(put)
        return put

    def _let_go(self, keys: Iterable[str]) -> None:
        """Cancel what others wait for; they leave their records pending."""
        for key in keys:
            self._in_flight.pop(key).cancel()

    async def _ask(self, via: str, requests: Sequence[Request], turn: _Round, following: _Round) -> None:
        left = {request.key for request in requests}
        try:
            async with aclosing(self.backends[via].ask(requests)) as came_in:
                async for key, came in came_in:
                    if key not in left:
                        continue
                    left.discard(key)
                    self._settle(turn, following, key, came)
                    await self.recorder.flush_if_due()
            for key in [] if self.stop.status else list(left):
                left.discard(key)
                self._settle(turn, following, key, BackendError("the engine skipped this request"))
        finally:
            self.spent.on_their_way -= len(left)
            self._let_go(left)

    def _settle(self, turn: _Round, following: _Round, key: str, came: Reply | BackendError) -> None:
        self._in_flight.pop(key).set_result(came)
        self.spent.on_their_way -= 1
        if isinstance(came, BackendError):
            self._fail(turn, key, came)
            return
        life, reader = turn.waiting[key][0]
        request = turn.requests[key]
        asked = self.stage.readers[reader]
        self.recorder.call(self.stage.name, life.subject.record.record_id, asked, request, came)
        self.spent.calls += 1
        self.spent.prompt_tokens += came.prompt_tokens or 0
        self.spent.cached_tokens += came.cached_tokens or 0
        self.spent.completion_tokens += came.completion_tokens or 0
        self._feed(turn, following, key, came)
        over = self.spent.over(self.budget)
        if over:
            self.stop.set("budget", over)

    async def _share(self, turn: _Round, following: _Round, key: str, asked: "asyncio.Future[Reply | BackendError]") -> None:
        """Wait for the same question that another chunk has put already; if that chunk stopped, so does this one.

        The future is taken before the first await of the round: by now the other chunk may have settled it and let go of it.
        """
        await asyncio.wait([asked])
        if asked.cancelled():
            return
        came = asked.result()
        if isinstance(came, BackendError):
            self._fail(turn, key, came)
        else:
            self._feed(turn, following, key, came)

    def _feed(self, turn: _Round, following: _Round, key: str, reply: Reply) -> None:
        for life, reader in turn.waiting[key]:
            life.take(reader, turn.requests[key], reply)
            self._advance(life, following)

    def _fail(self, turn: _Round, key: str, error: BackendError) -> None:
        for life, _ in turn.waiting[key]:
            self.spent.failures += 1
            self.recorder.failure(self.stage.name, life.subject.record.record_id, key, error.attempts, str(error))
        if error.fatal:
            self.stop.set("backend", str(error))


def _raise_first(done: Iterable["asyncio.Task[None]"]) -> None:
    for task in done:
        task.result()
