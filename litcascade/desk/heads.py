"""The heads of the queues in memory, so that the next item costs no query, and who has which item open."""

import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from litcascade.desk.queues import Queues, Waiting
from litcascade.desk.users import User

HEAD = 150
FRESH = 30.0  # seconds that a head is trusted
EMPTY = 2.0  # seconds that an empty one is
LEASE = 300.0  # seconds that an open item is kept from others


@dataclass
class _Head:
    items: deque[Waiting]
    left: int
    read_at: float


class Heads:
    """For one thread: the first items of each queue for each person, read by SQL with a limit, and leases on open ones."""

    def __init__(self, queues: Queues, clock: Callable[[], float] = time.monotonic) -> None:
        self.queues = queues
        self._clock = clock
        self._heads: dict[tuple[str, str], _Head] = {}
        self._leases: dict[str, tuple[str, float]] = {}

    def left(self, queue: str, user: User) -> int:
        """How many items wait in a queue for this person (at most `FRESH` seconds old)."""
        return self._head(queue, user).left

    def next(self, queue: str, user: User, skipped: dict[str, None]) -> Waiting | None:
        """The worst item that nobody else has open, leased to who decides; what they skipped comes last, oldest first."""
        for again in (False, True):
            head = self._head(queue, user, anew=again)
            free = [item for item in head.items if not self._held(item.key, user)]
            for item in free:
                if item.key not in skipped:
                    return self._lease(item, user)
            if len(head.items) >= head.left:
                break
        for key in list(skipped):
            for item in free:
                if item.key == key:
                    del skipped[key]
                    return self._lease(item, user)
        return None

    def why(self, queue: str, user: User, key: str) -> str | None:
        """Why an item waits, where it stands in the head of this person's queue; None where it does not."""
        head = self._heads.get(self._place(queue, user))
        return next((item.why for item in head.items if item.key == key), None) if head else None

    def open(self, key: str, user: User) -> None:
        """Lease an item that a person who decides opened by its address."""
        if user.decides and not self._held(key, user):
            self._leases[key] = (user.name, self._clock() + LEASE)

    def drop(self, key: str, user: User | None = None) -> None:
        """Take a decided item out of the heads of one person, or of all."""
        self._leases.pop(key, None)
        for (_, name), head in self._heads.items():
            if user is not None and name != user.name:
                continue
            kept = deque(item for item in head.items if item.key != key)
            if len(kept) < len(head.items):
                head.left = max(0, head.left - 1)
            head.items = kept

    def forget(self, queue: str | None = None) -> None:
        """Read every head (of a queue) anew at the next look."""
        self._heads = {key: head for key, head in self._heads.items() if queue is not None and key[0] != queue}

    def _head(self, queue: str, user: User, *, anew: bool = False) -> _Head:
        key = self._place(queue, user)
        head = self._heads.get(key)
        if head is None or anew or self._clock() - head.read_at >= (FRESH if head.items else EMPTY if not head.left else 0.0):
            items, left = self.queues.head(queue, user, HEAD)
            self._heads[key] = head = _Head(deque(items), left, self._clock())
        return head

    def _place(self, queue: str, user: User) -> tuple[str, str]:
        """One head for all where a queue is the same for all: what one person has done with is in their skipped items."""
        return queue, user.name if self.queues.personal(queue) else ""

    def _held(self, key: str, user: User) -> bool:
        name, ends = self._leases.get(key, (user.name, 0.0))
        return name != user.name and self._clock() < ends

    def _lease(self, item: Waiting, user: User) -> Waiting:
        if user.decides:
            self._leases[item.key] = (user.name, self._clock() + LEASE)
        return item
