"""A run played through on replicas that are not here, from the durations of real requests.

A replica is as many slots as requests were in flight on it when the durations were measured, so nothing is assumed of how an
engine slows down with more. Every request draws one of the measured durations. What is played is the executor of
`litcascade run`: chunks of records, so many at once, repairs after their question, failed requests asked again, replicas that
die with all they had in flight and come back, and one driver that can hand out only so many requests a second. Nothing here
reads a clock: a seed gives one result.
"""

import heapq
import math
import random
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from litcascade.errors import InputError

BACKOFF = 1.0
ENOUGH = 100  # times that all questions together may be asked again before a play is given up


@dataclass(frozen=True)
class Measured:
    """Durations of requests in seconds, all above 0, and how many were in flight on one replica meanwhile (above 0).

    `repairs` is how many further questions (repairs, refinements) a first one brings on average, 0 or more.
    """

    durations: tuple[float, ...]
    in_flight: float
    repairs: float = 0.0

    @property
    def rate(self) -> float:
        """Requests a second that one replica answered (Little's law)."""
        return self.in_flight * len(self.durations) / math.fsum(self.durations)


@dataclass(frozen=True)
class Plan:
    """What is to be played.

    `requests` is how many questions a record brings in its first round. `fail` is the probability (0 to below 1) that a request
    fails and is asked again; `between_deaths` the mean seconds between two deaths of one replica (None: never), `restart` the
    seconds until it is back. `driver` is how many requests a second one driver hands out. `sharded` gives every replica its own
    driver and its own share of the records, as `litcascade submit` does.
    """

    records: int
    replicas: int = 1
    requests: float = 1.0
    fail: float = 0.0
    between_deaths: float | None = None
    restart: float = 300.0
    driver: float = math.inf
    chunk: int = 512
    chunks_at_once: int = 2
    sharded: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be played."""
        for what, wrong in (
            (f"records must be 0 or more, not {self.records}", self.records < 0),
            (f"replicas must be 1 or more, not {self.replicas}", self.replicas < 1),
            (f"questions a record must be 0 or more, not {self.requests}", not 0 <= self.requests < math.inf),
            (f"the share of failures must be 0 to below 1, not {self.fail}", not 0 <= self.fail < 1),
            (f"time between deaths must be above 0, not {self.between_deaths}", (self.between_deaths or 1.0) <= 0),
            (f"time to restart must be 0 or more, not {self.restart}", not 0 <= self.restart < math.inf),
        ):
            if wrong:
                raise InputError(what)


@dataclass(frozen=True)
class Played:
    """How one play went: seconds to the last answer, requests answered, those lost and asked again, seconds slots were busy."""

    seconds: float
    answered: int
    again: int
    busy: float
    slots: int

    @property
    def used(self) -> float | None:
        """The share of all slots' time in which they worked; None where nothing was asked."""
        return self.busy / (self.slots * self.seconds) if self.seconds else None


@dataclass(frozen=True)
class Foretold:
    """Several plays: seconds as median, 2.5th and 97.5th percentile (of all plays), share of use, requests asked again (mean)."""

    seconds: float
    low: float
    high: float
    used: float | None
    again: float


def foretell(measured: Measured, plan: Plan, *, plays: int = 20, seed: int = 0) -> Foretold:
    """Play a plan several times, each on durations drawn anew from those measured: a small sample shows as a wide range.

    Raises `InputError` where nothing was measured, or where failures would keep a run from ending.
    """
    if not measured.durations or measured.in_flight <= 0 or min(measured.durations) <= 0:
        raise InputError("no request with a duration was measured; run a few first (`litcascade run --estimate --sample 32`)")
    played = []
    for number in range(plays):
        draw = random.Random(f"{seed} {number}")
        sample = draw.choices(measured.durations, k=len(measured.durations))
        played.append(play(Measured(tuple(sample), measured.in_flight, measured.repairs), plan, draw))
    seconds = sorted(one.seconds for one in played)
    used = [one.used for one in played if one.used is not None]
    return Foretold(
        _quantile(seconds, 0.5), _quantile(seconds, 0.025), _quantile(seconds, 0.975),
        math.fsum(used) / len(used) if used else None, math.fsum(one.again for one in played) / plays,
    )  # fmt: skip


def play(measured: Measured, plan: Plan, draw: random.Random) -> Played:
    """One play; where it is sharded, every replica works its share alone and the slowest one ends it."""
    if not plan.sharded:
        return _Play(measured, plan, plan.records, plan.replicas, draw).go()
    least, more = divmod(plan.records, plan.replicas)
    parts = [
        _Play(measured, plan, least + (number < more), 1, random.Random(draw.random())).go() for number in range(plan.replicas)
    ]
    return Played(
        max(part.seconds for part in parts), sum(part.answered for part in parts), sum(part.again for part in parts),
        math.fsum(part.busy for part in parts), sum(part.slots for part in parts),
    )  # fmt: skip


def _quantile(ordered: Sequence[float], share: float) -> float:
    """By linear interpolation between the ordered values."""
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


@dataclass
class _Replica:
    free: int
    up: bool = True
    holds: dict[int, float] = field(default_factory=dict)  # request: when it was begun


class _Play:
    """The events of one driver: requests end, replicas die and come back, chunks begin."""

    def __init__(self, measured: Measured, plan: Plan, records: int, replicas: int, draw: random.Random) -> None:
        self.plan, self.draw = plan, draw
        self.slots = max(1, round(measured.in_flight))
        stretch = self.slots / measured.in_flight  # whole slots that answer as many requests a second as were measured
        self.durations = [seconds * stretch for seconds in measured.durations]
        self.repairs = measured.repairs / (1 + measured.repairs)  # of a chain of questions that goes on with this probability
        self.replicas = [_Replica(self.slots) for _ in range(replicas)]
        self.open = deque(number for _ in range(self.slots) for number in range(replicas))
        self.records, self.begun = records, 0
        self.left: dict[int, int] = {}  # questions of a chunk that wait for an answer
        self.ready: deque[int] = deque()  # chunks, once for every question of theirs that is to be put
        self.asked: dict[int, int] = {}
        self.events: list[tuple[float, int, str, int, int]] = []
        self.number = 0
        self.now, self.ended, self.handed = 0.0, 0.0, 0.0
        self.answered, self.again, self.busy = 0, 0, 0.0

    def go(self) -> Played:
        for number in range(len(self.replicas)):
            self._mortal(number)
        self._begin()
        self._hand_out()
        while self.left:
            self.now, _, what, replica, about = heapq.heappop(self.events)
            getattr(self, f"_{what}")(replica, about)
            self._hand_out()
        return Played(self.ended, self.answered, self.again, self.busy, self.slots * len(self.replicas))

    def _event(self, after: float, what: str, replica: int = 0, about: int = 0) -> None:
        self.number += 1
        heapq.heappush(self.events, (self.now + after, self.number, what, replica, about))

    def _mortal(self, replica: int) -> None:
        if self.plan.between_deaths is not None:
            self._event(self.draw.expovariate(1 / self.plan.between_deaths), "dies", replica)

    def _begin(self) -> None:
        """Begin chunks until so many are under way; one without a question is passed over."""
        while len(self.left) < self.plan.chunks_at_once and self.begun < self.records:
            chunk = self.begun
            size = min(self.plan.chunk, self.records - self.begun)
            self.begun += size
            upto = math.floor(self.begun * self.plan.requests + 1e-9) - math.floor(chunk * self.plan.requests + 1e-9)
            if upto:
                self.left[chunk] = upto
                self.ready.extend([chunk] * upto)

    def _hand_out(self) -> None:
        while self.ready and self.open:
            number = self.open.popleft()
            replica = self.replicas[number]
            if not replica.up or not replica.free:
                continue
            replica.free -= 1
            self.handed = max(self.handed, self.now) + 1 / self.plan.driver
            lasts = self.draw.choice(self.durations)
            self.number += 1
            request = self.number
            self.asked[request] = self.ready.popleft()
            replica.holds[request] = self.handed
            heapq.heappush(self.events, (self.handed + lasts, request, "ends", number, request))

    def _ends(self, number: int, request: int) -> None:
        replica = self.replicas[number]
        begun = replica.holds.pop(request, None)
        if begun is None:
            return  # it was in flight on a replica that died
        self.busy += self.now - begun
        replica.free += 1
        self.open.append(number)
        asked = self.asked.pop(request)
        if self.plan.fail and self.draw.random() < self.plan.fail:
            self._lost(asked)
            return
        self.answered += 1
        self.ended = self.now
        chunk = asked
        if self.repairs and self.draw.random() < self.repairs:
            self.ready.append(chunk)
            return
        self.left[chunk] -= 1
        if not self.left[chunk]:
            del self.left[chunk]
            self._begin()

    def _lost(self, asked: int) -> None:
        self.again += 1
        if self.again > ENOUGH * max(1.0, self.records * self.plan.requests):
            raise InputError("with so many failures a run would hardly end: replicas die before they answer")
        self.number += 1
        self.asked[self.number] = asked
        self._event(BACKOFF, "comes_again", about=self.number)

    def _comes_again(self, _: int, request: int) -> None:
        self.ready.appendleft(self.asked.pop(request))

    def _dies(self, number: int, _: int) -> None:
        replica = self.replicas[number]
        replica.up = False
        for request, begun in replica.holds.items():
            self.busy += max(0.0, self.now - begun)
            self._lost(self.asked.pop(request))
        replica.holds.clear()
        self._event(self.plan.restart, "comes_back", number)

    def _comes_back(self, number: int, _: int) -> None:
        replica = self.replicas[number]
        replica.up, replica.free = True, self.slots
        self.open.extend([number] * self.slots)
        self._mortal(number)
