"""What the engines tell of themselves while a run asks them: queue and cache, into the event log, and at the end in words."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field

from litcascade.backends import Backend
from litcascade.backends.load import Load, hit_rate
from litcascade.pipeline.events import EventLog

EVERY = 10.0


@dataclass
class Watch:
    """The engines at the beginning, at the last look, and the longest queue seen; empty where none tells."""

    first: list[Load] = field(default_factory=list)
    last: list[Load] = field(default_factory=list)
    longest: int = 0

    def words(self) -> str:
        """One line for the end of a run; an empty text where no engine told anything."""
        if not self.last:
            return ""
        rate = hit_rate(self.first, self.last)
        parts = [f"{rate:.0%} of the prompt tokens were cached" if rate is not None else "", f"queue up to {self.longest}"]
        return f"engine: {', '.join(part for part in parts if part)}"


async def look(backends: Mapping[str, Backend]) -> list[Load]:
    """What every engine that can be asked tells now."""
    offered = [backend.load for backend in backends.values() if hasattr(backend, "load")]
    found: Sequence[list[Load]] = await asyncio.gather(*(load() for load in offered))
    return [load for loads in found for load in loads]


@contextlib.asynccontextmanager
async def watched(backends: Mapping[str, Backend], events: EventLog, every: float = EVERY) -> AsyncIterator[Watch]:
    """While this is open, the engines' queue and cache are written to the event log every so many seconds."""
    watch = Watch()
    watch.first = watch.last = await look(backends)
    task = asyncio.create_task(_go_on(watch, backends, events, every)) if watch.first else None
    try:
        yield watch
    finally:
        if task:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
            watch.last = await look(backends) or watch.last


async def _go_on(watch: Watch, backends: Mapping[str, Backend], events: EventLog, every: float) -> None:
    while True:
        await asyncio.sleep(every)
        loads = await look(backends)
        watch.last = loads or watch.last
        watch.longest = max([watch.longest, *(load.waiting or 0 for load in loads)])
        for load in loads:
            events.write("engine", **{name: value for name, value in asdict(load).items() if value is not None})
