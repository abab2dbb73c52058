"""The run that the desk serves: it goes on inside this process, through the one open store, while people decide."""

import asyncio
import threading
from collections.abc import Callable

from litcascade.errors import LitcascadeError
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import run_review
from litcascade.store import Store


class RunBeside:
    """One run at a time in a thread of its own; `words` always says how it stands."""

    def __init__(self, review: Review, store: Store, on_end: Callable[[], None]) -> None:
        self.words = "no run was started from the desk"
        self._review = review
        self._store = store
        self._on_end = on_end
        self._thread: threading.Thread | None = None
        self._cancel: Callable[[], object] | None = None

    @property
    def going(self) -> bool:
        """Whether a run is on its way."""
        return self._thread is not None and self._thread.is_alive()

    def start(self) -> bool:
        """Begin a run, unless one is on its way."""
        if self.going:
            return False
        self.words = "the run begins"
        self._thread = threading.Thread(target=self._run, name="run beside the desk", daemon=True)
        self._thread.start()
        return True

    def stop(self, seconds: float = 20.0) -> None:
        """Cut the run off; what it stored stays, and the next run goes on from there."""
        if self.going and self._cancel and self._thread:
            self._cancel()
            self._thread.join(seconds)

    def stage(self, name: str, total: int) -> None:
        """A stage starts."""
        self.words = f"{name}: 0 of {total}"
        self._stage, self._total, self._done = name, total, 0

    def tick(self, done: int, spent: Spent) -> None:
        """More records have a verdict."""
        self._done += done
        self.words = f"{self._stage}: {self._done} of {self._total}"

    def say(self, words: str) -> None:
        """Something to know."""
        self.words = words

    def _run(self) -> None:
        try:
            asyncio.run(self._go())
        except LitcascadeError as error:
            self.words = f"the run stopped: {error}"
        except asyncio.CancelledError:
            self.words = "the run was stopped with the desk"
        except Exception as error:  # noqa: BLE001  (a fault of the run must not take the desk along; it is shown)
            self.words = f"the run failed: {type(error).__name__}: {error}"
        finally:
            self._on_end()

    async def _go(self) -> None:
        task = asyncio.current_task()
        loop = asyncio.get_running_loop()
        if task:
            self._cancel = lambda: loop.call_soon_threadsafe(task.cancel)
        outcome = await run_review(self._review, self._store, observer=self)
        self.words = f"{outcome.status}: {outcome.words}"
