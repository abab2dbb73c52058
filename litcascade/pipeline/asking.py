"""Asking one model beside the stages of the protocol (judges, schema development): checked, stored, stoppable anywhere."""

import contextlib
import uuid
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

from litcascade.backends import Backend
from litcascade.backends.probe import probe
from litcascade.errors import BackendError
from litcascade.pipeline.binding import identify, make_backend
from litcascade.pipeline.calm import calm_collector
from litcascade.pipeline.events import EventLog
from litcascade.pipeline.executor import Executor, Spent, Stop
from litcascade.pipeline.observing import Observer, Silent
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.review import Review
from litcascade.pipeline.stopping import interruptible
from litcascade.schemas import ModelRef
from litcascade.stages import Stage, Subject
from litcascade.store import Store


class Asking:
    """One run of questions outside the cascade: what it spent, why it must stop, and who watches."""

    def __init__(
        self, review: Review, store: Store, backends: Mapping[str, Backend], observer: Observer | None, prefix: str
    ) -> None:
        self.review = review
        self.store = store
        self.backends = backends
        self.observer = observer or Silent()
        self.run_id = f"{prefix}-{uuid.uuid4().hex[:12]}"
        self.spent = Spent()
        self.stop = Stop()
        self.events = EventLog(review.events_path)

    async def check(self, name: str, model: ModelRef, *, wants_json: bool) -> None:
        """Ask the canaries of the model; one that fails a fatal one is a `BackendError`."""
        for finding in await probe(self.backends[name], model, wants_json=wants_json):
            if not finding.ok and finding.fatal:
                raise BackendError(f"model '{name}' failed its check: {finding.words}", fatal=True)
            if not finding.ok:
                self.observer.say(f"model '{name}': {finding.words}")

    @contextlib.asynccontextmanager
    async def stoppable(self) -> AsyncIterator[None]:
        """While this is open, a signal ends the run cleanly."""
        with calm_collector():
            async with interruptible(self.stop, self.observer):
                yield

    async def put(
        self, title: str, total: int, stage: Stage, fingerprint: str, recorder: Recorder, chunks: Iterable[Sequence[Subject]]
    ) -> None:
        """Take all subjects to their outcome, within the budget of the protocol."""
        self.observer.stage(title, total)

        def tick(count: int) -> None:
            self.observer.tick(count, self.spent)
            self.events.progress(stage=title, total=total, calls=self.spent.calls, tokens=self.spent.tokens)

        executor = Executor(
            stage, fingerprint, self.backends, recorder, spent=self.spent, stop=self.stop,
            budget=self.review.protocol.budget, on_tick=tick,
        )  # fmt: skip
        await executor.run(chunks)

    def ending(self, left: int, unfinished: bool, complete: str) -> tuple[str, str]:
        """A status of `pipeline.run.EXIT` and its words, with so many questions that got no reply."""
        if self.stop.status and unfinished:
            return self.stop.status, self.stop.words
        if left:
            return "incomplete", f"{left} question(s) got no reply; run again to ask only for them"
        return "complete", complete


@contextlib.asynccontextmanager
async def asking(
    review: Review, store: Store, model: str, prefix: str, observer: Observer | None, backends: Mapping[str, Backend] | None,
    *, probed: bool, wants_json: bool,
) -> AsyncIterator[tuple[Asking, ModelRef]]:  # fmt: skip
    """A run that asks one declared model, and the model as its engine tells of it; closed at the end.

    `backends` replaces the protocol's (tests). `probed` checks the model first, but for recorded replies. Raises `BackendError`
    where it cannot be reached or fails.
    """
    made = dict(backends) if backends is not None else {model: make_backend(review, model)}
    try:
        ref = (await identify(review.protocol, {model: made[model]}))[model]
        run = Asking(review, store, made, observer, prefix)
        if probed and review.protocol.models[model].backend != "recorded":
            await run.check(model, ref, wants_json=wants_json)
        yield run, ref
    finally:
        for backend in made.values():
            await backend.close()
