"""How many requests are in flight, and when to try again."""

import asyncio
import random
import re
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from email.utils import parsedate_to_datetime

LOOKED_BACK, TOO_MANY = 64, 16  # so many faults among the last outcomes are taken for overload
GAIN = 1.05  # a wider bound is kept where it answers at least this many times as much


class Limiter:
    """A bound on requests in flight that adapts.

    It begins at `start` and doubles with every round of answers as long as more in flight brings more answers a second; from
    the knee on it goes one back and grows by one a round. Overload halves it, at most once a round. A fault now and then is no
    overload, else a server that loses one request in twenty would be asked one at a time; many of them are.
    """

    def __init__(self, most: int, start: int = 64, clock: Callable[[], float] = time.monotonic) -> None:
        self.most = most
        self.limit = float(min(most, start))
        self.in_flight = 0
        self._clock = clock
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._since_cut = 0
        self._lately: deque[bool] = deque(maxlen=LOOKED_BACK)
        self._doubling = True
        self._round = 0
        self._full = True
        self._began = clock()
        self._before: tuple[float, float] | None = None

    @asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a place, first come first served; it is given back whatever happens."""
        while self._waiting and self._waiting[0].done():  # who was cancelled waits no more
            self._waiting.popleft()
        if self._waiting or self.in_flight >= int(self.limit):
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():  # it was handed over already
                    self._leave()
                raise
        else:
            self.in_flight += 1
        try:
            yield
        finally:
            self._leave()

    def went_well(self) -> None:
        """Tell that a request was answered."""
        self._since_cut += 1
        self._lately.append(True)
        if self._doubling:
            self._measure()
        else:
            self.limit = min(float(self.most), self.limit + 1.0 / self.limit)
        self._wake()

    def overloaded(self) -> None:
        """Tell that the server was busy or timed out; counted once a round, not once a request of it."""
        if self._since_cut >= self.limit or self._since_cut == 0:
            self.limit = max(1.0, self.limit / 2)
            self._since_cut = 1
        self._doubling = False

    def faulted(self) -> None:
        """Tell that a request was lost, without a sign that the server was busy."""
        self._lately.append(False)
        if self._lately.count(False) >= TOO_MANY:
            self.overloaded()

    def _measure(self) -> None:
        """At the end of a round: double while that brings more, else go back to where it brought as much."""
        self._round += 1
        self._full = self._full and bool(self._waiting)
        if self._round < self.limit:
            return
        rate = self._round / max(1e-9, self._clock() - self._began)
        full, self._full = self._full, True
        self._round, self._began = 0, self._clock()
        if not full:  # nothing waited: the round says nothing about a wider bound
            return
        if self._before is not None and rate < GAIN * self._before[1]:
            self.limit, self._doubling = self._before[0], False
        elif self.limit < self.most:
            self._before = (self.limit, rate)
            self.limit = min(float(self.most), 2 * self.limit)
        else:
            self._doubling = False

    def _leave(self) -> None:
        self.in_flight -= 1
        self._wake()

    def _wake(self) -> None:
        """Hand free places over to those who wait longest."""
        while self._waiting and self.in_flight < int(self.limit):
            place = self._waiting.popleft()
            if not place.done():
                self.in_flight += 1
                place.set_result(None)


def backoff(attempt: int, base: float, retry_after: float | None, cap: float = 30.0) -> float:
    """Seconds to wait before the next try: doubling with jitter, or the server's own wish where that is longer; at most `cap`."""
    ours = min(cap, base * 2.0**attempt) * random.uniform(0.5, 1.0)
    return max(ours, min(retry_after, cap)) if retry_after is not None else ours


def wished(headers: Mapping[str, str]) -> float | None:
    """Seconds that a `Retry-After` asks for, as a number or a date; None where it says neither.

    A date is held against the response's own `Date`, for the server's clock need not be ours.
    """
    text = headers.get("Retry-After", "")
    if re.fullmatch(r"\s*\d{1,12}(\.\d*)?\s*", text):
        return float(text)
    try:
        return max(0.0, (parsedate_to_datetime(text) - parsedate_to_datetime(headers.get("Date", ""))).total_seconds())
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
