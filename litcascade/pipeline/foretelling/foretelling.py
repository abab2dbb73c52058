"""What `run --estimate` tells of machines that are not here: every stage played through on so many replicas."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from litcascade.pipeline.binding import bind, identify, make_backends
from litcascade.pipeline.estimating import Estimated, Prices
from litcascade.pipeline.foretelling.measuring import Pace, measured_pace
from litcascade.pipeline.foretelling.simulating import Foretold, Plan, foretell
from litcascade.pipeline.review import Review
from litcascade.pipeline.subjects import CHUNK, chunk_size, overlap
from litcascade.store import Store

DRIVER = 800.0  # requests a second that one driver hands out and stores; `benchmarks/throughput.py delay 50` measures it
PLAYED = 2_000_000  # requests played for one row; more requests, fewer plays
PLAYS = (3, 20)


@dataclass(frozen=True)
class Elsewhere:
    """Machines and a review that are asked about; None: as the protocol and the store have it.

    `replicas` engines each; `records` and `readers` at every stage; `fail` the share of requests that fail; `deaths` hours
    between two deaths of a replica, `restart` minutes until it is back.
    """

    replicas: tuple[int, ...]
    records: int | None = None
    readers: int | None = None
    fail: float = 0.0
    deaths: float | None = None
    restart: float = 5.0


@dataclass(frozen=True)
class Row:
    """One stage on so many replicas, by one driver or by shards."""

    stage: str
    plan: Plan
    pace: Pace
    gpus: int
    foretold: Foretold

    def gpu_hours(self) -> float:
        """Hours of all its GPUs while it lasts."""
        return self.foretold.seconds * self.plan.replicas * self.gpus / 3600

    def cost(self, prices: Prices) -> float | None:
        """By the price of a GPU hour; None where it is not known."""
        return None if prices.per_hour is None else self.gpu_hours() * prices.per_hour


@dataclass(frozen=True)
class Told:
    """All rows, and what could not be played with the reason."""

    rows: tuple[Row, ...]
    notes: tuple[str, ...]


async def foretell_review(review: Review, store: Store, done: Estimated, elsewhere: Elsewhere, seed: int = 0) -> Told:
    """Play every stage of an estimate; a stage without measured calls or without records is left out, and a note says so."""
    backends = make_backends(review)
    try:
        models = await identify(review.protocol, backends)
    finally:
        for backend in backends.values():
            await backend.close()
    bound = {item.stage.name: item for item in bind(review, models, store)}
    rows: list[Row] = []
    notes: list[str] = []
    for stage in done.stages:
        name = f"{stage.stage}, at most" if stage.at_most else stage.stage
        records = elsewhere.records if elsewhere.records is not None and not stage.at_most else stage.waiting
        if not records or (elsewhere.records is not None and stage.at_most):
            continue
        item = bound[stage.stage]
        pace = measured_pace(store, review, item, stage.repairs or 0.0)
        if pace is None:
            notes.append(f"{name}: too few calls are stored to play it; measure with `--sample 64` or a short run")
            continue
        readers = max(1, len([reader for reader in item.spec.readers if review.protocol.readers[reader].model]))
        each = pace.each if elsewhere.records else stage.requests.value / (1 + (stage.repairs or 0.0)) / stage.waiting
        if elsewhere.readers is not None:
            each *= elsewhere.readers / readers
        plan = Plan(
            records, requests=each, fail=elsewhere.fail, driver=DRIVER, restart=elsewhere.restart * 60,
            between_deaths=None if elsewhere.deaths is None else elsewhere.deaths * 3600,
            chunk=chunk_size(item.stage.needs_text),
        )  # fmt: skip
        rows += _play(name, plan, pace, max(1, stage.gpus // pace.replicas), elsewhere.replicas, seed)
        most = max(elsewhere.replicas)
        notes.append(
            f"{name}: played from {pace.calls} calls of {pace.run_id} with {pace.measured.in_flight:.1f} in flight on each, "
            f"{pace.measured.rate:.2f} requests/s; {each:.2f} questions a record; one run keeps as many on each of {most} "
            f"with `concurrency = {math.ceil(pace.measured.in_flight * most)}`"
        )
    return Told(tuple(rows), tuple(notes))


def _play(name: str, plan: Plan, pace: Pace, gpus: int, replicas: Sequence[int], seed: int) -> list[Row]:
    least, most = PLAYS
    plays = int(min(most, max(least, PLAYED / max(1.0, plan.records * plan.requests))))
    rows = []
    for count in replicas:
        for sharded in (False, True) if count > 1 else (False,):
            slots = pace.measured.in_flight * (1 if sharded else count)
            deep = overlap(math.ceil(slots), plan.chunk < CHUNK)
            here = replace(plan, replicas=count, sharded=sharded, chunks_at_once=deep)
            rows.append(Row(name, here, pace, gpus, foretell(pace.measured, here, plays=plays, seed=seed)))
    return rows
