"""How many requests are in flight, and when to try again."""

import asyncio
import random
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class Limiter:
    """A bound on requests in flight that adapts: one more for every round that went well, half on overload."""

    def __init__(self, most: int, start: int = 16) -> None:
        self.most = most
        self.limit = float(min(most, start))
        self.in_flight = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._since_cut = 0

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a place; it is given back whatever happens."""
        while self.in_flight >= int(self.limit):
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if not place.cancelled():
                    self._wake()
                raise
        self.in_flight += 1
        try:
            yield
        finally:
            self.in_flight -= 1
            self._wake()

    def went_well(self) -> None:
        """Tell that a request was answered."""
        self._since_cut += 1
        self.limit = min(float(self.most), self.limit + 1.0 / self.limit)
        self._wake()

    def overloaded(self) -> None:
        """Tell that the server was busy or timed out; counted once a round, not once a request of it."""
        if self._since_cut >= self.limit or self._since_cut == 0:
            self.limit = max(1.0, self.limit / 2)
            self._since_cut = 1

    def _wake(self) -> None:
        free = int(self.limit) - self.in_flight
        while free > 0 and self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)
                free -= 1


def backoff(attempt: int, base: float, retry_after: float | None, cap: float = 30.0) -> float:
    """Seconds to wait before the next try: the server's own wish, else doubling with jitter; `cap` at the most."""
    if retry_after is not None:
        return min(retry_after, cap)
    return min(cap, base * 2.0**attempt) * random.uniform(0.5, 1.0)
