"""A backend that answers by a function: for tests and benchmarks of what lies around the model."""

from collections.abc import AsyncGenerator, Callable, Sequence

from litcascade.backends.base import Came
from litcascade.errors import BackendError
from litcascade.schemas import Reply, Request


class ScriptedBackend:
    """Answers every request by `answer(request)`: a `Reply`, a `BackendError`, or None for a request it skips."""

    def __init__(
        self,
        answer: Callable[[Request], Reply | BackendError | None],
        engine: str = "scripted 1",
        count: Callable[[str], int] | None = None,
    ) -> None:
        self._answer = answer
        self._engine = engine
        self._count = count
        self.asked: list[str] = []

    async def engine(self) -> str:
        """The name given."""
        return self._engine

    async def revision(self) -> str:
        """None known."""
        return ""

    async def ask(self, requests: Sequence[Request]) -> AsyncGenerator[Came, None]:
        """Answer in order, at once."""
        for request in requests:
            self.asked.append(request.key)
            came = self._answer(request)
            if came is not None:
                yield request.key, came

    async def count(self, texts: Sequence[str]) -> list[int] | None:
        """By the function given, if one was."""
        return [self._count(text) for text in texts] if self._count else None

    def hold(self) -> None:
        """Nothing is on its way."""

    async def close(self) -> None:
        """Nothing to close."""
