"""Resampling analysis: do panels and routing beat the best single reader on records that they were not chosen on?

Random pools of readers and random train and validation parts, many times; each method is chosen on train and scored on
validation. The repeats share the same records, so they are not independent: intervals and tests use the corrected
resampled t-test (Nadeau, Bengio 2003), whose variance is s^2 (1 / repeats + validation / train).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate
from litcascade.eval.paired import holm, mcnemar
from litcascade.eval.panels.candidates import by_threshold
from litcascade.eval.panels.counts import Bools, Floats, Ints, OfCounts, measure_of
from litcascade.eval.panels.pools import require_positives
from litcascade.eval.panels.routing import RIDGE, learn, quantile_edges, thresholds
from litcascade.eval.panels.summaries import bounds_of
from litcascade.eval.panels.votes import Labelled
from litcascade.schemas import Frozen

FOLDS = 5


class Contrast(Frozen):
    """Mean of the first method minus the second over repeats in which both are defined.

    `p` is of the corrected t-test, `p_holm` the same corrected for all contrasts of the analysis; `won` and `lost` count
    repeats, and `p_sign` is the exact sign test, which takes the repeats as independent and so is too sure of itself.
    """

    first: str
    second: str
    difference: Estimate
    p: float | None
    p_holm: float | None
    won: int
    lost: int
    p_sign: float | None


class Analysis(Frozen):
    """Means of all methods with intervals, and their contrasts."""

    measure: str
    repeats: int
    means: dict[str, Estimate]
    contrasts: tuple[Contrast, ...]


@dataclass(frozen=True, eq=False)
class Resampled:
    """One row a repeat: `repeat`, `pool` (size), then each method's score on validation, null where undefined."""

    frame: pl.DataFrame
    measure: str
    methods: tuple[str, ...]
    ratio: float

    def analyse(self, alpha: float = 0.05) -> Analysis:
        """Means with intervals, and all contrasts of two methods: later named minus earlier named."""
        means = {name: _within(self._mean(self.frame[name], name, alpha), self.measure) for name in self.methods}
        pairs = [(b, a) for i, a in enumerate(self.methods) for b in self.methods[i + 1 :]]
        found = [self._contrast(first, second, alpha) for first, second in pairs]
        adjusted = holm({f"{c.first}|{c.second}": c.p for c in found if c.p is not None})
        made = tuple(c.model_copy(update={"p_holm": adjusted.get(f"{c.first}|{c.second}")}) for c in found)
        return Analysis(measure=self.measure, repeats=self.frame.height, means=means, contrasts=made)

    def _mean(self, values: pl.Series, name: str, alpha: float) -> Estimate:
        known = values.drop_nulls().to_numpy()
        lacking = len(values) - len(known)
        note = f"undefined in {lacking} of {len(values)} repeats, left out" if lacking else None
        if len(known) < 2:
            return Estimate(metric=name, value=float(known[0]) if len(known) else None, n=len(known), note=note or "one repeat")
        reach = float(stats.t.ppf(1 - alpha / 2, len(known) - 1)) * self._error(known)
        mean = float(known.mean())
        return Estimate(metric=name, value=mean, n=len(known), low=mean - reach, high=mean + reach, note=note)

    def _error(self, values: Floats) -> float:
        return float(values.std(ddof=1) * np.sqrt(1 / len(values) + self.ratio))

    def _contrast(self, first: str, second: str, alpha: float) -> Contrast:
        change = self.frame[first] - self.frame[second]
        difference = self._mean(change, f"{first} - {second}", alpha)
        known = change.drop_nulls().to_numpy()
        won, lost = int((known > 0).sum()), int((known < 0).sum())
        p = None
        if len(known) > 1 and known.std() > 0:
            p = float(2 * stats.t.sf(abs(known.mean()) / self._error(known), len(known) - 1))
        return Contrast(
            first=first, second=second, difference=difference, p=p, p_holm=None, won=won, lost=lost, p_sign=mcnemar(won, lost)
        )


def _within(found: Estimate, measure: str) -> Estimate:
    """The interval cut to the range of the measure."""
    least, most = bounds_of(measure)
    if found.low is None or found.high is None:
        return found
    return found.model_copy(update={"low": max(least, found.low), "high": min(most, found.high)})


def resample(
    labelled: Labelled, *, repeats: int = 300, pool: tuple[int, int] = (2, 10), train: float = 0.7, bins: Sequence[int] = (4,),
    measure: str = "f@2", ridge: float = RIDGE, seed: int = 0,
) -> Resampled:  # fmt: skip
    """Score the best single reader, the best vote threshold and length routing (for each number of bins) many times.

    In each repeat a pool of `pool[0]` to `pool[1]` readers is drawn and the records are split, stratified by gold; every
    method is chosen by `measure` on train (routing: its threshold out of fold) and scored on validation. Deterministic by
    seed, each repeat by itself. More than one number of bins is the ablation over bins; 1 bin is a length-blind weighted vote.
    """
    require_positives(labelled, "resample")
    _check(labelled, repeats, pool, train)
    if np.isnan(labelled.votes.tokens).any():
        raise InputError(f"{int(np.isnan(labelled.votes.tokens).sum())} record(s) have no length in tokens")
    score = measure_of(measure)
    methods = ("single", "votes", *(f"routing@{count}" for count in bins))
    rows = []
    for number in range(repeats):
        rng = np.random.default_rng([seed, number])
        size = int(rng.integers(pool[0], pool[1] + 1))
        members = np.sort(rng.choice(len(labelled.votes.readers), size, replace=False))
        votes = labelled.votes.could[:, members]
        fit, rest, folds = _parts(labelled.gold, train, rng)
        figures = [
            _best_single(votes, labelled.gold, fit, rest, score),
            _best_votes(votes, labelled.gold, fit, rest, score),
            *(_best_routing(votes, labelled, fit, rest, folds, count, ridge, score) for count in bins),
        ]
        rows.append((number, size, *(None if np.isnan(x) else float(x) for x in figures)))
    schema = {"repeat": pl.Int64, "pool": pl.Int64, **dict.fromkeys(methods, pl.Float64)}
    return Resampled(pl.DataFrame(rows, schema=schema, orient="row"), measure, methods, (1 - train) / train)


def _check(labelled: Labelled, repeats: int, pool: tuple[int, int], train: float) -> None:
    readers = len(labelled.votes.readers)
    if not 1 <= pool[0] <= pool[1]:
        raise InputError(f"pools of {pool[0]} to {pool[1]} readers are not possible")
    if pool[1] > readers:
        raise InputError(f"a pool of {pool[1]} needs {pool[1]} readers; there are {readers}")
    if repeats < 1 or not 0 < train < 1:
        raise InputError(f"resampling needs a repeat and a train share between 0 and 1 (got {repeats} and {train:g})")
    if round(train * min(labelled.positives, labelled.negatives)) < 2 or labelled.positives < 3 or labelled.negatives < 3:
        raise InputError(
            f"each part needs includes and excludes: there are {labelled.positives} and {labelled.negatives}; label more"
        )


def _parts(gold: Bools, train: float, rng: np.random.Generator) -> tuple[Ints, Ints, Ints]:
    """Rows of train and validation, and the fold of each train row; all balanced within includes and excludes."""
    fit, rest, folds = [], [], []
    for side in (gold, ~gold):
        rows = rng.permutation(np.flatnonzero(side))
        cut = min(max(2, round(train * len(rows))), len(rows) - 1)
        fit.append(rows[:cut])
        rest.append(rows[cut:])
    folds = [np.arange(len(rows)) % min(FOLDS, len(fit[0]), len(fit[1])) for rows in fit]
    return np.concatenate(fit), np.concatenate(rest), np.concatenate(folds)


def _score(positive: Bools, gold: Bools, score: OfCounts) -> Floats:
    """The measure of C rules from positive, N x C."""
    tp = (positive & gold[:, None]).sum(axis=0).astype(float)
    return score(tp, positive.sum(axis=0) - tp, float(gold.sum()), float((~gold).sum()))


def _argbest(values: Floats) -> int:
    return int(np.argmax(np.where(np.isnan(values), -np.inf, values)))


def _best_single(votes: Bools, gold: Bools, fit: Ints, rest: Ints, score: OfCounts) -> float:
    best = _argbest(_score(votes[fit], gold[fit], score))
    return float(_score(votes[rest][:, [best]], gold[rest], score)[0])


def _best_votes(votes: Bools, gold: Bools, fit: Ints, rest: Ints, score: OfCounts) -> float:
    steps = np.arange(1, votes.shape[1] + 1)
    reached = votes.sum(axis=1)[:, None] >= steps
    best = _argbest(_score(reached[fit], gold[fit], score))
    return float(_score(reached[rest][:, [best]], gold[rest], score)[0])


def _best_routing(
    votes: Bools, labelled: Labelled, fit: Ints, rest: Ints, folds: Ints, bins: int, ridge: float, score: OfCounts
) -> float:
    tokens, gold = labelled.votes.tokens, labelled.gold
    edges = np.array(quantile_edges(tokens[fit], bins))
    place = np.searchsorted(edges, tokens, side="right").astype(np.int64)
    learned = learn(votes[fit], place[fit], gold[fit], folds, len(edges) + 1, ridge)
    tp, fp, cuts = by_threshold(learned.out_of_fold, gold[fit])
    cut = float(cuts[_argbest(score(tp, fp, float(gold[fit].sum()), float((~gold[fit]).sum())))])
    at = place[rest]
    sums = learned.intercepts[at] + (learned.weights[at] * votes[rest]).sum(axis=1)
    return float(_score((sums >= thresholds(learned, cut)[at])[:, None], gold[rest], score)[0])
