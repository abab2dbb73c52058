"""The frontier: what recall costs which work, votes and score thresholds side by side, each point with its rule."""

from collections.abc import Sequence

import numpy as np

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.precision import precision
from litcascade.eval.metrics.recall import recall
from litcascade.eval.metrics.workload_reduction import workload_reduction
from litcascade.eval.panels.applying import apply
from litcascade.eval.panels.candidates import Candidates
from litcascade.eval.panels.counts import Bools, Floats
from litcascade.eval.panels.prices import Costs, Prices, Unit, costs_at, priced, wanted
from litcascade.eval.panels.rules import Rule
from litcascade.schemas import Frozen

STEPS_ABOVE = 50
Rung = tuple[Candidates, int]  # a family, and the index of a rule in it


class Point(Frozen):
    """One rule with its counts on the split it was counted on, and what it costs."""

    family: str
    rule: Rule
    confusion: Confusion
    recall: Estimate
    precision: Estimate
    workload_reduction: Estimate
    costs: Costs


def point_at(candidates: Candidates, index: int, prices: Prices | None = None, records: int | None = None) -> Point:
    """The rule at an index as a point; its costs are for `records` records (default: those it was counted on)."""
    c = candidates.counts
    read = c.tp[[index]] + c.fp[[index]]
    figures = priced(read, candidates.calls[[index]], candidates.readers, prices or Prices())
    matrix = c.confusion(index)
    return Point(
        family=candidates.family,
        rule=candidates.rule(index),
        confusion=matrix,
        recall=recall(matrix),
        precision=precision(matrix),
        workload_reduction=workload_reduction(matrix),
        costs=costs_at(figures, 0, records or matrix.n, (records or matrix.n) / matrix.n),
    )


def pareto(gain: Floats, losses: Floats) -> Bools:
    """Which of C points no other beats: none has at least the gain and at most all losses (C x d), one of them strictly.

    Of equal points the first is kept. Time O(C log C) for one loss, O(C x kept) for more.
    """
    order = np.lexsort((np.arange(len(gain)), *losses.T[::-1], -gain))
    kept = np.zeros(len(gain), dtype=bool)
    if losses.shape[1] == 1:
        ranked = losses[order, 0]
        best = np.minimum.accumulate(ranked)
        kept[order] = np.append(True, ranked[1:] < best[:-1])[: len(order)]
        return kept
    front: list[Floats] = []
    for index in order:
        here = losses[index]
        if not front or not (np.array(front) <= here).all(axis=1).any():
            front.append(here)
            kept[index] = True
    return kept


def frontier(
    families: Sequence[Candidates], prices: Prices | None = None, by: Sequence[Unit] = ("read",), records: int | None = None
) -> tuple[Point, ...]:
    """All rules of all families that no other beats in recall and in the costs named in `by`; highest recall first.

    Rules that find no include are left out; of equal ones the one with the fewest readings is kept. All families must
    stand on the same split. A cost without its price is an `InputError` where it stands in `by`; in the points it is
    undefined, with the reason. `records`: how many records the costs are for.
    """
    declared = prices or Prices()
    return tuple(point_at(one, index, declared, records) for one, index in _front(families, declared, by))


def _front(families: Sequence[Candidates], prices: Prices, by: Sequence[Unit]) -> list[Rung]:
    _same_split(families)
    tables = [priced(one.counts.tp + one.counts.fp, one.calls, one.readers, prices) for one in families]
    losses = np.concatenate([np.column_stack([wanted(table, unit) for unit in by]) for table in tables])
    gain = np.concatenate([one.counts.tp for one in families])
    owner = np.repeat(np.arange(len(families)), [len(one) for one in families])
    within = np.concatenate([np.arange(len(one)) for one in families])
    first = np.argsort(np.concatenate([one.calls.sum(axis=1) for one in families]), kind="stable")
    gain, losses, owner, within = gain[first], losses[first], owner[first], within[first]
    best = np.flatnonzero(pareto(gain, losses) & (gain > 0))
    if not len(best):
        raise InputError("none of the rules finds an include on this split; there is nothing to choose from")
    best = best[np.lexsort((losses[best, 0], -gain[best]))]
    return [(families[owner[i]], int(within[i])) for i in best]


def ladder(families: Sequence[Candidates], prices: Prices | None = None, by: Unit = "read") -> list[Rung]:
    """Rules from the most inclusive down, to be tested in this order: the frontier, and above it what includes still more.

    On a small split many rules find every include; the frontier keeps only the one of least work, which another split may
    refute. Above it stand up to 50 rules that find as many includes and whose positives contain one another's.
    """
    front = _front(families, prices or Prices(), (by,))
    first, top = front[0]
    read, votes = first.counts.tp[top] + first.counts.fp[top], first.labelled.votes
    wider = [
        (float(one.counts.fp[i]), number, int(i))
        for number, one in enumerate(families)
        for i in np.flatnonzero((one.counts.tp == first.counts.tp[top]) & (one.counts.tp + one.counts.fp > read))
    ]
    wider.sort()
    if len(wider) > STEPS_ABOVE:
        wider = [wider[round(i)] for i in np.linspace(0, len(wider) - 1, STEPS_ABOVE)]
    held = apply(first.rule(top), votes).positive
    above: list[Rung] = []
    for _, number, index in wider:
        positive = apply(families[number].rule(index), votes).positive
        if not (held & ~positive).any():
            above.append((families[number], index))
            held = positive
    return [*reversed(above), *front]


def _same_split(families: Sequence[Candidates]) -> None:
    if not families:
        raise InputError("there is no rule to compare; name at least one family of rules")
    if len({(one.labelled.votes.record_ids, one.labelled.gold.tobytes()) for one in families}) > 1:
        raise InputError("the rules were counted on different splits; count all of them on the same one")
