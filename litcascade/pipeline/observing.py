"""Whoever shows the progress of something long."""

from typing import Protocol

from litcascade.pipeline.executor import Spent


class Observer(Protocol):
    """Whoever shows progress."""

    def stage(self, name: str, total: int) -> None:
        """A stage starts with so many records pending."""
        ...

    def tick(self, done: int, spent: Spent) -> None:
        """So many more records have a verdict."""
        ...

    def say(self, words: str) -> None:
        """Something a person should know."""
        ...


class Silent:
    """Shows nothing."""

    def stage(self, name: str, total: int) -> None:
        """Nothing."""

    def tick(self, done: int, spent: Spent) -> None:
        """Nothing."""

    def say(self, words: str) -> None:
        """Nothing."""
