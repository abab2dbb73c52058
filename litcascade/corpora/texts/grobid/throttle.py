"""How a busy server is treated: longer pauses, and fewer requests at once."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True)
class Patience:
    """How long one PDF is asked for.

    `tries`: requests that a busy or dying server is given; `pause`: seconds before the second, doubled each time, at most
    `longest`, with jitter. A server that asks for a wait longer than `longest` (Retry-After) ends the asking for now.
    """

    tries: int = 8
    pause: float = 1.0
    longest: float = 60.0
    rng: random.Random = field(default_factory=random.Random)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def seconds(self, attempt: int, asked: float | None) -> float | None:
        """Seconds to wait after failure number `attempt` (from 0), at least what was asked; None: longer than `longest`."""
        if asked is not None and asked > self.longest:
            return None
        usual = min(self.longest, self.pause * 2.0**attempt)
        return max(usual * (0.5 + 0.5 * self.rng.random()), (asked or 0.0) + 0.1 * usual * self.rng.random())


class Throttle:
    """Lets at most `limit` through at once: halved whenever the server is busy, raised slowly while all goes well."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._limit = float(most)
        self._now = 0
        self._free = asyncio.Condition()

    @property
    def limit(self) -> int:
        """Requests that may be under way at once, from 1 to `most`."""
        return max(1, int(self._limit))

    def busy(self) -> None:
        """The server had no engine free."""
        self._limit = max(1.0, self._limit / 2)

    def went_well(self) -> None:
        """The server answered: after about as many answers as may be under way, one more is let through."""
        self._limit = min(float(self.most), self._limit + 1 / self._limit)

    async def __aenter__(self) -> Self:
        async with self._free:
            await self._free.wait_for(lambda: self._now < self.limit)
            self._now += 1
        return self

    async def __aexit__(self, *_: object) -> None:
        self._now -= 1
        async with self._free:
            self._free.notify_all()
