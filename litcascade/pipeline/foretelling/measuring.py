"""What stored calls tell of an engine's pace: durations of requests while it was busy, and how many were in flight."""

import contextlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from litcascade.errors import InputError
from litcascade.pipeline.binding import Bound
from litcascade.pipeline.foretelling.simulating import Measured
from litcascade.pipeline.review import Review
from litcascade.pipeline.shards.job import Job, jobs_of
from litcascade.schemas import Protocol
from litcascade.store import Store

LEAST = 20
EDGE = 0.1  # of a run's time at either end, while requests are still being put or the last ones come in


@dataclass(frozen=True)
class Pace:
    """The pace of one run at one stage: what to play with, by how many calls of which run, on how many replicas.

    `each` is how many questions a record brought in its first round, over all its calls that are stored.
    """

    measured: Measured
    calls: int
    run_id: str
    replicas: int
    each: float


def measured_pace(store: Store, review: Review, item: Bound, repairs: float) -> Pace | None:
    """The pace of the run that answered fastest at a stage, of those with at least `LEAST` calls by its present models.

    None where there is none. `in_flight` is for one replica: the calls in flight shared out among the endpoints that the protocol
    names now. Runs that were worked in shards are left out: their workers' engines cannot be told apart.
    """
    sharded = {job.run_id for job in _jobs(review)}
    models = sorted({reader.model.name for reader in item.stage.readers.values() if reader.model})
    rows = store.rows(
        "select run_id, epoch(at_time), seconds from calls where stage = ? and model in (select unnest(?::text[])) "
        "and seconds > 0 and run_id is not null order by run_id",
        [item.stage.name, models],
    )
    runs: dict[str, list[tuple[float, float]]] = {}
    for run_id, ended, seconds in rows:
        if run_id in sharded:
            continue
        runs.setdefault(str(run_id), []).append((float(ended) - float(seconds), float(ended)))
    count, each = replicas(review.protocol, item), _each(store, item, models)
    paces = []
    for run_id, spans in runs.items():
        busy = busy_middle(spans)
        if busy:
            durations, in_flight = busy
            paces.append(Pace(Measured(durations, in_flight / count, repairs), len(durations), run_id, count, each))
    return max(paces, key=lambda pace: pace.measured.rate, default=None)


def _jobs(review: Review) -> list[Job]:
    found = []
    for folder in jobs_of(review.folder):
        with contextlib.suppress(InputError):  # a job that cannot be read is told by `status`
            found.append(folder.read())
    return found


def _each(store: Store, item: Bound, models: Sequence[str]) -> float:
    return float(
        store.value(
            "select count(*) filter (purpose in ('ask', 'part', 'recover')) / count(distinct record_id) from calls "
            "where stage = ? and model in (select unnest(?::text[]))",
            [item.stage.name, list(models)],
        )
        or 0.0
    )


def busy_middle(spans: Sequence[tuple[float, float]]) -> tuple[tuple[float, ...], float] | None:
    """Durations of the calls that ended in the middle of a run, and how many were in flight there on average.

    `spans` are beginnings and ends in seconds. The first and last tenth of the time are left out. None where fewer than `LEAST`
    calls are left, or no time passed.
    """
    if len(spans) < LEAST:
        return None
    first, last = min(span[0] for span in spans), max(span[1] for span in spans)
    begin, end = first + EDGE * (last - first), last - EDGE * (last - first)
    within = tuple(ended - began for began, ended in spans if begin <= ended <= end)
    if len(within) < LEAST or end <= begin:
        return None
    worked = math.fsum(max(0.0, min(ended, end) - max(began, begin)) for began, ended in spans)
    return within, worked / (end - begin)


def replicas(protocol: Protocol, item: Bound) -> int:
    """Engines that work at a stage as the protocol has it: the most endpoints that one of its models has, at least 1."""
    names = {reader.via for reader in item.stage.readers.values() if reader.via}
    return max((len(protocol.models[name].endpoints) for name in names), default=1) or 1
