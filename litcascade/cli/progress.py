"""Progress with rate, tokens and time left: on a terminal a bar, elsewhere a line now and then."""

import sys
import time
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from litcascade.pipeline.executor import Spent

EVERY = 15.0


class ProgressLine:
    """Shows a run on stderr, so that `--json` on stdout stays clean."""

    def __init__(self) -> None:
        self.console = Console(stderr=True, markup=False, highlight=False)
        self.bar = Progress(
            TextColumn("{task.description:<15}"), BarColumn(bar_width=28), MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"), TextColumn("{task.fields[tokens]}"),
            TimeElapsedColumn(), TextColumn("left"), TimeRemainingColumn(), console=self.console,
            disable=not self.console.is_terminal,
        )  # fmt: skip
        self._task: TaskID | None = None
        self._stage, self._done, self._total = "", 0, 0
        self._started = self._said = time.monotonic()

    def __enter__(self) -> "ProgressLine":
        self.bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.bar.stop()

    def stage(self, name: str, total: int) -> None:
        """A stage starts."""
        self._stage, self._done, self._total = name, 0, total
        self._started = self._said = time.monotonic()
        self._task = self.bar.add_task(name, total=total, rate="", tokens="")
        if not self.console.is_terminal:
            self.console.print(f"{name}: {total} record(s) pending")

    def tick(self, done: int, spent: Spent) -> None:
        """Some records are done."""
        self._done += done
        rate = self._done / max(1e-9, time.monotonic() - self._started)
        shown = f"{rate:,.1f}/s" if rate >= 1 else f"{60 * rate:,.1f}/min"
        tokens = f"{spent.tokens:,} tokens"
        if self._task is not None:
            self.bar.update(self._task, completed=self._done, rate=shown, tokens=tokens)
        if not self.console.is_terminal and time.monotonic() - self._said >= EVERY:
            self._said = time.monotonic()
            left = (self._total - self._done) / rate
            self.console.print(f"{self._stage}: {self._done}/{self._total}, {shown}, {tokens}, about {left:.0f} s left")

    def say(self, words: str) -> None:
        """Something a person should know."""
        self.console.print(words)


def pull_with_progress(name: str) -> Path:
    """Pull weights with a bar of bytes."""
    from rich.progress import DownloadColumn, TransferSpeedColumn

    from litcascade.backends.models import pull

    console = Console(stderr=True, markup=False, highlight=False)
    columns = (TextColumn(name), BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(name)
        return pull(name, say=console.print, progress=lambda done, total: bar.update(task, completed=done, total=total))
