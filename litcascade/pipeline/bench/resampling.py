"""Resampling over what a grid's cells said: random pools and splits, many times."""

from dataclasses import dataclass

import numpy as np

from litcascade.eval.panels import Analysis, Resampled, resample
from litcascade.eval.panels.votes import Gaps, Labelled
from litcascade.pipeline.bench.readings import current_cells, labelled_of
from litcascade.pipeline.review import Review
from litcascade.schemas.bench import BenchSpec
from litcascade.store import Store, now


@dataclass(frozen=True)
class Plan:
    """How often, with how many readers a pool, what share to choose on, which numbers of length bins, by which measure."""

    repeats: int = 300
    pool: tuple[int, int] = (2, 10)
    train: float = 0.7
    bins: tuple[int, ...] = (4,)
    measure: str = "f@2"
    seed: int = 0
    gaps: Gaps = "refuse"


def resample_bench(review: Review, store: Store, bench: BenchSpec, plan: Plan) -> tuple[Resampled, Analysis]:
    """Repeat choice and validation over random pools; the means are kept as estimates."""
    cells = current_cells(store, bench)
    parts = labelled_of(store, review, bench, cells, plan.gaps)
    together = _joined(parts["development"], parts["evaluation"])
    found = resample(
        together, repeats=plan.repeats, pool=plan.pool, train=plan.train, bins=plan.bins, measure=plan.measure, seed=plan.seed
    )
    analysis = found.analyse()
    scope = f"bench resampling {plan.measure} x {plan.repeats}"
    rows = [
        {"at_time": now(), "run_id": None, "scope": scope, **{**e.model_dump(), "metric": name}}
        for name, e in analysis.means.items()
    ]
    store.append("estimates", rows)
    return found, analysis


def _joined(one: Labelled, other: Labelled) -> Labelled:
    """Both splits as one set of records, in the order of their ids."""
    a, b = one.votes, other.votes
    ids = [*a.record_ids, *b.record_ids]
    order = np.array(sorted(range(len(ids)), key=ids.__getitem__), dtype=np.int64)
    arrays = {
        name: np.concatenate([getattr(a, name), getattr(b, name)])[order] for name in ("include", "heard", "scores", "tokens")
    }
    votes = type(a)(tuple(ids[i] for i in order), a.readers, gaps=a.gaps, **arrays)
    return Labelled(votes, np.concatenate([one.gold, other.gold])[order])
