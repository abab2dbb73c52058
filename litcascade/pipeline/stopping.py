"""Ctrl-C and SIGTERM: the first one ends a run cleanly, a second one at once."""

import asyncio
import contextlib
import signal
from collections.abc import AsyncIterator

from litcascade.pipeline.executor import Stop
from litcascade.pipeline.observing import Observer


@contextlib.asynccontextmanager
async def interruptible(stop: Stop, observer: Observer) -> AsyncIterator[None]:
    """While this is open, a signal asks `stop` for the end; what is on its way is stored for a few seconds."""
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()

    def on_signal() -> None:
        if stop.status == "interrupted" and task:
            task.cancel()
        observer.say("stopping: what is on its way is stored for a few seconds (press Ctrl-C again to end at once)")
        stop.set("interrupted", "stopped by a person; run again to go on")

    added = []
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, on_signal)
            added.append(number)
    try:
        yield
    finally:
        for number in added:
            loop.remove_signal_handler(number)
