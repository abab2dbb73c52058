"""Routing by length: which readers are asked, and how their votes weigh, depends on the record's length in tokens."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.f import f_array, f_beta
from litcascade.eval.metrics.precision import precision
from litcascade.eval.metrics.recall import recall
from litcascade.eval.panels.candidates import by_threshold
from litcascade.eval.panels.counts import Bools, Floats, Ints, needed, share
from litcascade.eval.panels.logistic import Problem, ridge_logistic
from litcascade.eval.panels.pools import require_positives
from litcascade.eval.panels.rules import LengthBin, LengthRouted
from litcascade.eval.panels.splits import rank_by_hash
from litcascade.eval.panels.votes import Labelled
from litcascade.schemas import Frozen

RIDGE = 1.0
LEAST_WEIGHT = 0.25
Pick = Callable[[Floats, Floats], int | None]


class LengthFit(Frozen):
    """The frozen rule, and how it did out of fold on the training split (no record is scored by a fit that saw it)."""

    rule: LengthRouted
    confusion: Confusion
    recall: Estimate
    precision: Estimate
    f2: Estimate
    reached: bool
    note: str


@dataclass(frozen=True, eq=False)
class Learned:
    """Weights of B bins: intercepts B, weights B x M, and log-odds of all N records out of fold."""

    intercepts: Floats
    weights: Floats
    out_of_fold: Floats
    converged: bool


def quantile_edges(tokens: Floats, bins: int) -> tuple[float, ...]:
    """Edges between `bins` bins of as equal counts as ties allow; fewer where quantiles fall together."""
    if bins < 1:
        raise InputError(f"routing by length needs at least 1 bin (got {bins})")
    cuts = np.unique(np.quantile(tokens, np.arange(1, bins) / bins)) if bins > 1 else np.array([])
    return tuple(float(cut) for cut in cuts if tokens.min() < cut <= tokens.max())


def learn(votes: Bools, place: Ints, gold: Bools, folds: Ints, bins: int, ridge: float = RIDGE) -> Learned:
    """One ridge logistic regression over bins x votes, and one more for each fold without that fold's records.

    Everything but the common intercept is penalised, the bins' own parts too: a bin with few records stays close to what
    all lengths share. Records with the same bin and votes are one row with counts. Weights nearer to 0 than
    `LEAST_WEIGHT` are set to 0 (the reader is not asked), their mean effect going to the intercept; a bin keeps at least
    one reader.
    """
    table, row = _distinct(votes, place)
    count = int(folds.max()) + 1
    kept = np.vstack([np.ones(len(gold), dtype=bool), folds != np.arange(count)[:, None]])
    fits = ridge_logistic(_problem(table, row, gold, kept, bins, ridge))
    coefficients = fits.by_group
    intercepts, weights = _pruned(coefficients[:, :, 0], coefficients[:, :, 1:], _means(votes, place, bins))
    mine = folds + 1
    scores = intercepts[mine, place] + (weights[mine, place] * votes).sum(axis=1)
    return Learned(intercepts[0], weights[0], scores, bool(fits.converged.all()))


def _distinct(votes: Bools, place: Ints) -> tuple[Ints, Ints]:
    """The distinct rows (bin, votes), sorted by bin, and which of them each record has; 20 readers' votes at a time."""
    code = place
    for start in range(0, votes.shape[1], 20):
        part = votes[:, start : start + 20]
        code = np.unique((code << 20) + part @ (1 << np.arange(part.shape[1])), return_inverse=True)[1]
    _, first, row = np.unique(code, return_index=True, return_inverse=True)
    return np.column_stack([place[first], votes[first]]).astype(np.int64), row


def _problem(table: Ints, row: Ints, gold: Bools, kept: Bools, bins: int, ridge: float) -> Problem:
    """Distinct rows (bin, votes), sorted by bin, as a padded block a bin, with the counts of each fit's records."""
    sizes = np.bincount(table[:, 0], minlength=bins)
    inside = np.arange(len(table)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    shape = (bins, int(sizes.max()))
    rows = np.zeros((*shape, table.shape[1]))
    rows[table[:, 0], inside] = np.column_stack([np.ones(len(table)), table[:, 1:]])
    counts = np.zeros((2, len(kept), *shape))
    for side, mask in enumerate((kept & gold, kept)):
        counts[side][:, table[:, 0], inside] = [np.bincount(row, weights=one, minlength=len(table)) for one in mask]
    return Problem(rows, counts[0], counts[1], ridge)


def _means(votes: Bools, place: Ints, bins: int) -> Floats:
    sums = np.zeros((bins, votes.shape[1]))
    np.add.at(sums, place, votes.astype(float))
    held = np.maximum(np.bincount(place, minlength=bins), 1).astype(float)
    means: Floats = np.divide(sums, held[:, None])
    return means


def _pruned(intercepts: Floats, weights: Floats, means: Floats) -> tuple[Floats, Floats]:
    size = np.abs(weights)
    drop = (size < LEAST_WEIGHT) & (size < size.max(axis=2, keepdims=True))
    return intercepts + (weights * means * drop).sum(axis=2), np.where(drop, 0.0, weights)


def thresholds(learned: Learned, cut: float) -> Floats:
    """The bins' thresholds: the common cut, lowered where no votes could reach it, so that no bin excludes unheard."""
    reach = learned.intercepts + np.maximum(learned.weights, 0).sum(axis=1)
    lowered: Floats = np.minimum(cut, reach - 1e-9 * (1 + np.abs(reach)))
    return lowered


def pick_for_recall(target: float, positives: int) -> Pick:
    """Pick the threshold of the highest precision among those with recall >= target."""
    least = needed(target, positives)

    def pick(tp: Floats, fp: Floats) -> int | None:
        able = np.flatnonzero(tp >= least)
        return int(able[np.argmax(share(tp[able], tp[able] + fp[able]))]) if len(able) else None

    return pick


def pick_for_f2(positives: int) -> Pick:
    """Pick the threshold of the highest F2; None where none finds an include."""

    def pick(tp: Floats, fp: Floats) -> int | None:
        values = f_array(tp, fp, positives)
        return None if np.isnan(values).all() else int(np.nanargmax(values))

    return pick


def folds_of(labelled: Labelled, folds: int, seed: int) -> Ints:
    """A fold for every record, balanced within includes and excludes, by the hash of seed and id."""
    fewest = min(labelled.positives, labelled.negatives)
    if fewest < 2 or folds < 2:
        raise InputError(
            f"fitting out of fold needs 2 folds and 2 records of each class (got {folds} folds, {labelled.positives} "
            f"includes, {labelled.negatives} excludes)"
        )
    place = np.zeros(len(labelled.gold), dtype=np.int64)
    for side in (labelled.gold, ~labelled.gold):
        at = np.flatnonzero(side)
        order = rank_by_hash([labelled.votes.record_ids[row] for row in at], seed)
        place[at[order]] = np.arange(len(at)) % min(folds, fewest)
    return place


def fit_length_routing(
    train: Labelled, readers: Sequence[str] | None = None, *, bins: int = 4, edges: Sequence[float] | None = None,
    target: float | None = None, ridge: float = RIDGE, folds: int = 5, seed: int = 0, tokens_of: str = "",
) -> LengthFit:  # fmt: skip
    """Fit routing by length on a training split: weights by bin, the threshold chosen out of fold.

    Bins by quantiles of the training lengths, or the declared `edges`. The threshold has the highest precision with
    recall >= `target`, or the highest F2 without a target. A missing vote counts as include here, and when the rule is
    applied it refers the record where it could turn the outcome. `reached` False: no threshold met the target out of
    fold, and the rule includes all it can. Report the rule on another split (`report`, `operating_points`).
    """
    require_positives(train, "fit routing")
    names = tuple(readers or train.votes.readers)
    tokens = train.votes.tokens
    if np.isnan(tokens).any():
        raise InputError(f"{int(np.isnan(tokens).sum())} record(s) of the training split have no length in tokens")
    if ridge <= 0:
        raise InputError(f"the ridge penalty must be above 0 (got {ridge:g})")
    cuts = tuple(edges) if edges is not None else quantile_edges(tokens, bins)
    if list(cuts) != sorted(set(cuts)):
        raise InputError("the edges of the length bins must rise")
    place = np.searchsorted(np.array(cuts), tokens, side="right").astype(np.int64)
    votes = train.votes.could[:, train.votes.columns(names)]
    learned = learn(votes, place, train.gold, folds_of(train, folds, seed), len(cuts) + 1, ridge)
    tp, fp, levels = by_threshold(learned.out_of_fold, train.gold)
    pick = pick_for_f2(train.positives) if target is None else pick_for_recall(target, train.positives)
    at = pick(tp, fp)
    cut = float(levels[-1 if at is None else at])
    positive = learned.out_of_fold >= cut
    c = train.confusion(positive)
    made = _bins(names, learned, thresholds(learned, cut), place, train.gold)
    rule = LengthRouted(edges=cuts, bins=made, tokens_of=tokens_of)
    note = f"{len(made)} bin(s); threshold chosen out of fold" + ("" if learned.converged else "; the fit did not converge")
    return LengthFit(
        rule=rule, confusion=c, recall=recall(c), precision=precision(c), f2=f_beta(c), reached=at is not None, note=note
    )


def _bins(names: tuple[str, ...], learned: Learned, cuts: Floats, place: Ints, gold: Bools) -> tuple[LengthBin, ...]:
    made = []
    for number in range(len(cuts)):
        asked = np.flatnonzero(learned.weights[number] != 0)
        asked = asked if len(asked) else np.array([0])
        made.append(
            LengthBin(
                readers=tuple(names[i] for i in asked),
                weights=tuple(float(learned.weights[number, i]) for i in asked),
                intercept=float(learned.intercepts[number]),
                threshold=float(cuts[number]),
                n=int((place == number).sum()),
                includes=int((gold & (place == number)).sum()),
            )
        )
    return tuple(made)
