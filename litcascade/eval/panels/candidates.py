"""Families of rules with their counts on a labelled split: votes give steps, scores give thresholds, a band two of them.

A family is counted all at once from histograms or sorted scores; only the rules that are wanted become objects.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from litcascade.errors import InputError
from litcascade.eval.panels.applying import apply, cheap_scores, mean_scores
from litcascade.eval.panels.counts import Bools, Counts, Floats
from litcascade.eval.panels.pools import Pools, require_positives
from litcascade.eval.panels.rules import AtLeast, By, Escalation, MeanScore, Rule, Union
from litcascade.eval.panels.votes import Labelled

LEVELS = 200


@dataclass(frozen=True, eq=False)
class Candidates:
    """C rules of one family on one split: their counts, calls per reader (C x readers), and the rule at an index."""

    family: str
    labelled: Labelled
    counts: Counts
    calls: Floats
    rule: Callable[[int], Rule]

    @property
    def readers(self) -> tuple[str, ...]:
        """The readers of the columns of `calls`."""
        return self.labelled.votes.readers

    def __len__(self) -> int:
        return len(self.counts)


def _parallel(labelled: Labelled, readers: Sequence[str], count: int) -> Floats:
    """Calls where all readers of the rule answer every record."""
    calls = np.zeros((count, len(labelled.votes.readers)))
    calls[:, labelled.votes.columns(readers)] = len(labelled.gold)
    return calls


def singles(labelled: Labelled) -> Candidates:
    """Every reader by itself."""
    require_positives(labelled, "choose a rule")
    names = labelled.votes.readers
    calls = np.eye(len(names)) * len(labelled.gold)
    counts = labelled.count(labelled.votes.could.T)
    return Candidates("single reader", labelled, counts, calls, lambda i: AtLeast(readers=(names[i],), votes=1))


def vote_steps(labelled: Labelled, readers: Sequence[str] | None = None) -> Candidates:
    """At least 1, 2, … n votes of these readers (default: all)."""
    require_positives(labelled, "choose a rule")
    names = tuple(readers or labelled.votes.readers)
    votes = labelled.votes.could[:, labelled.votes.columns(names)].sum(axis=1)
    hist = np.stack([np.bincount(votes[labelled.gold == side], minlength=len(names) + 1) for side in (True, False)])
    from_top = hist[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:].astype(float)
    counts = Counts(from_top[0], from_top[1], labelled.positives, labelled.negatives)
    calls = _parallel(labelled, names, len(names))
    return Candidates("votes", labelled, counts, calls, lambda i: AtLeast(readers=names, votes=i + 1))


def union_steps(labelled: Labelled, pools: Pools) -> Candidates:
    """All (t_s, t_l) of the combined rule, exhaustively, from one joint histogram of strong and lenient votes.

    t runs from 1 to one above the pool's size, where the pool never includes by itself; the pair in which neither pool
    can include is left out. (S + 1)(L + 1) - 1 rules in time O(records + S L).
    """
    require_positives(labelled, "choose a rule")
    found = [labelled.votes.could[:, labelled.votes.columns(pool)].sum(axis=1) for pool in (pools.strong, pools.lenient)]
    s, k = len(pools.strong), len(pools.lenient)
    place = found[0] * (k + 1) + found[1]
    excluded = [
        np.bincount(place[labelled.gold == side], minlength=(s + 1) * (k + 1)).reshape(s + 1, k + 1).cumsum(0).cumsum(1)
        for side in (True, False)
    ]
    tp = (labelled.positives - excluded[0]).ravel()[:-1].astype(float)
    fp = (labelled.negatives - excluded[1]).ravel()[:-1].astype(float)

    def rule(index: int) -> Rule:
        strong, lenient = divmod(index, k + 1)
        return Union(strong=pools.strong, lenient=pools.lenient, strong_votes=strong + 1, lenient_votes=lenient + 1)

    counts = Counts(tp, fp, labelled.positives, labelled.negatives)
    calls = _parallel(labelled, (*pools.strong, *pools.lenient), len(tp))
    used = np.arange(len(tp))
    calls[np.ix_(used % (k + 1) == k, labelled.votes.columns(pools.lenient))] = 0
    calls[np.ix_(used // (k + 1) == s, labelled.votes.columns(pools.strong))] = 0
    return Candidates("strong or lenient", labelled, counts, calls, rule)


def score_steps(labelled: Labelled, readers: Sequence[str] | None = None) -> Candidates:
    """A threshold between each two distinct mean scores of these readers; a record without a score counts as included.

    Thresholds stand halfway to the next lower score, so that rounding cannot turn a record that was counted as found.
    """
    require_positives(labelled, "choose a rule")
    names = tuple(readers or labelled.votes.readers)
    mean = mean_scores(labelled.votes, names)
    if np.isnan(mean).all():
        raise InputError(f"no record has a score from all of: {', '.join(names)}")
    tp, fp, cuts = by_threshold(np.where(np.isnan(mean), np.inf, mean), labelled.gold)
    cuts = np.clip(cuts, 0.0, 1.0)
    counts = Counts(tp, fp, labelled.positives, labelled.negatives)
    calls = _parallel(labelled, names, len(tp))
    family = "mean score" if len(names) > 1 else "score"
    return Candidates(family, labelled, counts, calls, lambda i: MeanScore(readers=names, threshold=float(cuts[i])))


def by_threshold(scores: Floats, gold: Bools) -> tuple[Floats, Floats, Floats]:
    """Counts tp, fp and the threshold for each distinct finite score, highest first.

    A threshold stands halfway to the next lower score; the lowest one, half a unit below the lowest score.
    """
    order = np.argsort(-scores, kind="stable")
    ranked, truth = scores[order], gold[order]
    last = np.append(ranked[1:] != ranked[:-1], True) & np.isfinite(ranked)
    ends = np.flatnonzero(last)
    tp = np.cumsum(truth)[ends].astype(float)
    values = ranked[ends]
    below = np.append(values[1:], values[-1] - 1.0) if len(values) else values
    return tp, ends + 1.0 - tp, (values + below) / 2


def escalation_bands(
    labelled: Labelled, cheap: str, strong: str, by: By = "score", strong_threshold: float | None = None
) -> Candidates:
    """All bands [low, high] between the cheap reader's distinct scores, empty ones included, from cumulative counts.

    Of more than 200 distinct scores 200 quantiles are tried, half of them of the includes. With a vote in place of a
    score the bands are: nobody, exclusions re-read, inclusions re-read, both. Where the cheap reader failed the strong
    one is asked in every band.
    """
    require_positives(labelled, "choose a band")
    first = cheap_scores(labelled.votes, cheap, by)
    levels = _levels(first, labelled.gold)
    if not len(levels):
        raise InputError(f"reader '{cheap}' gave no {by} on any record of the split")
    low, high = (part.ravel() for part in np.meshgrid(*[np.arange(len(levels) + 1)] * 2, indexing="ij"))
    low, high = low[low <= high], high[low <= high]
    wide = np.concatenate([[levels[0] - 1], levels, [levels[-1] + 1]])
    lows, highs = wide[low + 1], wide[high]
    always = Escalation(cheap=cheap, strong=strong, low=wide[0], high=wide[-1], by=by, strong_threshold=strong_threshold)
    yes = apply(always, labelled.votes).positive
    gold, open_ = labelled.gold, low < high
    tp, fp = (
        _above(first[side], highs)
        + np.where(open_, _within(first[side & yes], lows, highs), 0)
        + (np.isnan(first) & side & yes).sum()
        for side in (gold, ~gold)
    )
    calls = np.zeros((len(lows), len(labelled.votes.readers)))
    calls[:, labelled.votes.columns([cheap])[0]] = len(gold)
    calls[:, labelled.votes.columns([strong])[0]] = np.where(open_, _within(first, lows, highs), 0) + np.isnan(first).sum()
    make = partial(Escalation, cheap=cheap, strong=strong, by=by, strong_threshold=strong_threshold)
    counts = Counts(tp.astype(float), fp.astype(float), labelled.positives, labelled.negatives)
    return Candidates("escalation", labelled, counts, calls, lambda i: make(low=float(lows[i]), high=float(highs[i])))


def _levels(scores: Floats, gold: Bools) -> Floats:
    known = ~np.isnan(scores)
    levels = np.unique(scores[known])
    if len(levels) <= LEVELS:
        return levels
    steps = np.linspace(0, 1, LEVELS // 2)
    return np.unique([np.quantile(part, steps, method="nearest") for part in (levels, scores[known & gold])])


def _above(scores: Floats, highs: Floats) -> Floats:
    ranked = np.sort(scores[~np.isnan(scores)])
    return len(ranked) - np.searchsorted(ranked, highs, side="right").astype(float)


def _within(scores: Floats, lows: Floats, highs: Floats) -> Floats:
    ranked = np.sort(scores[~np.isnan(scores)])
    return (np.searchsorted(ranked, highs, side="right") - np.searchsorted(ranked, lows, side="left")).astype(float)


def fixed(labelled: Labelled, rules: Sequence[Rule], family: str = "given") -> Candidates:
    """Rules that are already there (weighted, routed, …), applied to this split."""
    require_positives(labelled, "compare rules")
    applied = [apply(rule, labelled.votes) for rule in rules]
    counts = labelled.count(np.array([one.positive for one in applied]).reshape(len(rules), len(labelled.gold)))
    calls = np.array([one.asked.sum(axis=0) for one in applied], dtype=float).reshape(len(rules), len(labelled.votes.readers))
    return Candidates(family, labelled, counts, calls, lambda i: rules[i])
