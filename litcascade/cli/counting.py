"""How far the reading of a file is."""

import time
from types import TracebackType

from rich.console import Console

EVERY = 15.0


class CountLine:
    """Shows on stderr how many records (or files) were read, where that takes more than a moment."""

    def __init__(self, name: str, what: str = "records") -> None:
        self.name = name
        self.what = what
        self.console = Console(stderr=True, markup=False, highlight=False)
        self._started = self._said = time.monotonic()

    def __enter__(self) -> "CountLine":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._said > self._started and self.console.is_terminal:
            self.console.print()

    def tick(self, count: int) -> None:
        """So many records were read."""
        every = 1.0 if self.console.is_terminal else EVERY
        if time.monotonic() - self._said >= every:
            self._said = time.monotonic()
            rate = count / (self._said - self._started)
            end = "\r" if self.console.is_terminal else "\n"
            self.console.print(f"{self.name}: {count:,} {self.what} read, {rate:,.{0 if rate >= 10 else 1}f}/s", end=end)
