"""Active learning as a screening tool does it, replayed on known labels: the workload that reports compare with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl

from litcascade.corpora.baselines.base import Bools, Floats, Ints, LabelledSet
from litcascade.corpora.baselines.linear_svm import fit_svm
from litcascade.corpora.baselines.results import over_repeats
from litcascade.corpora.baselines.terms import class_weights, count_terms, tfidf
from litcascade.errors import InputError
from litcascade.eval import Estimate, Ranking, parse_measure, ranking_of

Start = Literal["prior", "random", "given"]
COST, RATIO, AT_MOST = 0.11, 9.8, 0.95
ORDER_MEASURES = ("wss@0.95", "tnr@0.95", "last_relevant")


@dataclass(frozen=True, eq=False)
class Simulation:
    """The order in which records were read, all of them, and how it went.

    `relevant` holds the gold labels in that order. The first `prior` records were known beforehand. `trained` counts
    the trainings; `note` says where nothing could be learnt.
    """

    order: tuple[str, ...]
    relevant: Bools
    prior: int
    trained: int
    seed: int
    note: str | None = None

    @property
    def found(self) -> Ints:
        """How many includes were found after each record read."""
        return np.cumsum(self.relevant)

    def ranking(self) -> Ranking:
        """The order as a ranking of the whole set, so that it compares with other rankings of it.

        The score falls from 1 with the place; records known beforehand stand first and count as read.
        """
        gold = ["include" if one else "exclude" for one in self.relevant]
        scores = 1 - np.arange(len(gold)) / max(1, len(gold))
        columns = [pl.Series("record_id", self.order, dtype=pl.String), pl.Series("gold", gold, dtype=pl.String)]
        return ranking_of(pl.DataFrame([*columns, pl.Series("score", scores, dtype=pl.Float64)]))


def simulate(
    data: LabelledSet, *, seed: int = 0, start: Start = "prior", prior: Sequence[str] = (), batch: float = 0.02
) -> Simulation:
    """Read, learn, read the records that look most relevant, and so on until every include is found.

    TF-IDF of words and pairs of words and a linear SVM with weighted classes, always the highest margin next. The first
    records are the ids in `prior`, or by `start`: `prior` draws one include and one exclude, `random` reads in random
    order and `given` in the set's own order until both classes were seen. The next training comes after max(1,
    `batch` x records read) more: 0 trains after every single record. Once all includes are found the rest follows in
    the last ranking. Equal arguments give an equal order. Records without text stay in the pool and rank by the
    intercept alone. Where nothing can be learnt or ranked the order is that of the start, with a note.
    """
    if not 0 <= batch < 1:
        raise InputError(f"the batch is a share of the records read, from 0 to below 1 (got {batch:g})")
    rng = np.random.default_rng(seed)
    first, known = _first(data, start, prior, rng)
    features = tfidf(count_terms(data.texts), at_most=AT_MOST)
    read = np.array(first, dtype=np.int64)
    pool = np.setdiff1d(np.arange(len(data.ids)), read)
    note = _why_not(data.labels, read, features)
    trained, total = 0, int(data.labels.sum())
    while len(pool) and note is None and (not trained or data.labels[read].sum() < total):
        margins = _margins(features, read, data.labels[read], pool, int(rng.integers(2**31)))
        ranked = pool[np.argsort(-margins, kind="stable")]
        trained += 1
        step = max(1, int(batch * len(read)))
        read, pool = np.concatenate([read, ranked[:step]]), ranked[step:]
        if data.labels[read].sum() < total:
            pool = np.sort(pool)
    order = np.concatenate([read, pool])
    return Simulation(tuple(data.ids[place] for place in order), data.labels[order], known, trained, seed, note)


def order_figures(simulations: Sequence[Simulation], measures: Sequence[str] = ORDER_MEASURES) -> list[Estimate]:
    """Measures of the reading order, each as its mean over the simulations with the lowest and the highest."""
    rankings = [simulation.ranking() for simulation in simulations]
    return [over_repeats([parse_measure(name)(ranking) for ranking in rankings]) for name in measures]


def _first(data: LabelledSet, start: Start, prior: Sequence[str], rng: np.random.Generator) -> tuple[list[int], int]:
    """Places of the records read before the first training, and how many of them were known beforehand."""
    if prior:
        place_of = {one: place for place, one in enumerate(data.ids)}
        unknown = next((one for one in prior if one not in place_of), None)
        if unknown is not None or len(set(prior)) != len(prior):
            raise InputError(f"prior knowledge names {f'an unknown record {unknown!r}' if unknown else 'a record twice'}")
        first = [place_of[one] for one in prior]
        known = len(first)
        rest = [place for place in range(len(data.ids)) if place not in set(first)]
        return _until_both(data.labels, first, rest), known
    if start == "prior" and data.labels.any() and not data.labels.all():
        drawn = [int(rng.choice(np.flatnonzero(data.labels == label))) for label in (True, False)]
        return drawn, len(drawn)
    places = list(range(len(data.ids))) if start == "given" else [int(place) for place in rng.permutation(len(data.ids))]
    return _until_both(data.labels, [], places), 0


def _until_both(labels: Bools, first: list[int], rest: list[int]) -> list[int]:
    """`first`, and of `rest` as many as it takes to see both classes."""
    read = list(first)
    seen = {bool(labels[place]) for place in read}
    for place in rest:
        if len(seen) == 2:
            break
        read.append(place)
        seen.add(bool(labels[place]))
    return read


def _why_not(labels: Bools, read: Ints, features: Any) -> str | None:
    if len(np.unique(labels[read])) < 2:
        return "nothing to learn: all records have the same label" if len(read) else "there are no records"
    if len(read) == len(labels):
        return "nothing to rank: every record was read before both classes were seen, or is prior knowledge"
    return None if features.shape[1] else "nothing to learn from: no usable word in the texts"


def _margins(features: Any, read: Ints, labels: Bools, pool: Ints, seed: int) -> Floats:
    model = fit_svm(features[read], labels, seed, COST, class_weights(labels, RATIO))
    return np.asarray(model.decision_function(features[pool]), dtype=np.float64)
