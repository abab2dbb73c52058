"""Operating points: a rule chosen on one split for a recall target, and what another split shows of it."""

from collections.abc import Mapping, Sequence

import numpy as np

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.f import f_beta
from litcascade.eval.metrics.precision import precision
from litcascade.eval.metrics.workload_reduction import workload_reduction
from litcascade.eval.panels.applying import apply
from litcascade.eval.panels.candidates import Candidates
from litcascade.eval.panels.counts import Floats, needed
from litcascade.eval.panels.frontier import Point, Rung, ladder, point_at
from litcascade.eval.panels.prices import Prices, Unit, priced, wanted
from litcascade.eval.panels.promise import Allowed, allowed_misses, shown
from litcascade.eval.panels.rules import Rule
from litcascade.eval.panels.votes import Labelled
from litcascade.schemas import Frozen

TARGETS = (1.0, 0.98, 0.95)


class Report(Frozen):
    """A rule on a split it was not chosen on. `recall` carries the exact one-sided lower bound; `kept`: the target is shown."""

    recall: Estimate
    precision: Estimate
    f2: Estimate
    workload_reduction: Estimate
    referred: int
    kept: bool
    note: str


class OperatingPoint(Frozen):
    """The chosen rule on the split it was chosen on, and its report on another; `chosen` None: no rule reaches the target.

    `best` is then the rule with the highest recall there is.
    """

    target: float
    chosen: Point | None
    best: Point | None
    report: Report | None
    note: str


class Choice(Frozen):
    """What was chosen on one split, before anything is reported."""

    target: float
    chosen: Point | None
    best: Point | None
    note: str


def choose(
    families: Sequence[Candidates], target: float, prices: Prices | None = None, minimise: Unit | None = None,
    records: int | None = None,
) -> Choice:  # fmt: skip
    """Of all rules with recall >= target on their split: the highest precision, or the lowest cost in `minimise`.

    Ties go to the higher recall, then to fewer readings of models, then to the family and rule named first. `best` is
    what has the highest recall where none reaches the target.
    """
    if not families or not any(len(one) for one in families):
        raise InputError("there is no rule to choose from; name at least one family of rules")
    declared = prices or Prices()
    rows = []
    for number, one in enumerate(families):
        read = one.counts.tp + one.counts.fp
        first = one.counts.precision if minimise is None else -wanted(priced(read, one.calls, one.readers, declared), minimise)
        rows.append(np.column_stack([_filled(first), one.counts.recall, -one.calls.sum(axis=1), np.full(len(one), -number)]))
    table = np.concatenate(rows)
    enough = np.concatenate([one.counts.tp >= needed(target, one.counts.positives) for one in families])
    within = np.concatenate([np.arange(len(one)) for one in families])

    def pick(mask: np.ndarray[tuple[int], np.dtype[np.bool_]], keys: Sequence[int]) -> Point:
        at = np.flatnonzero(mask)
        order = np.lexsort((within[at], *(-table[at, key] for key in (3, *reversed(keys)))))
        chosen = at[order[0]]
        return point_at(families[int(-table[chosen, 3])], int(within[chosen]), declared, records)

    if enough.any():
        point = pick(enough, (0, 1, 2))
        saves = point.confusion.tn + point.confusion.fn > 0
        note = f"recall of at least {target:g} on the split it was chosen on" if saves else _only_reading_all(target)
        return Choice(target=target, chosen=point, best=None, note=note)
    best = pick(np.ones(len(table), dtype=bool), (1, 0, 2))
    return Choice(target=target, chosen=None, best=best, note=_unreached(target, best))


def _filled(values: Floats) -> Floats:
    return np.where(np.isnan(values), -1.0, values)


def _only_reading_all(target: float) -> str:
    return f"only reading every record reaches a recall of {target:g}: no rule excludes anything there"


def _unreached(target: float, best: Point) -> str:
    at = f"recall {best.recall.value or 0:.3f}, precision {best.precision.value or 0:.3f}"
    return f"no rule reaches a recall of {target:g}; the best there is has {at} ({best.family})"


def report(rule: Rule, labelled: Labelled, allowed: Allowed, alpha: float = 0.05) -> Report:
    """A frozen rule on another split. Without an include there, recall is undefined with its reason and nothing is kept."""
    applied = apply(rule, labelled.votes)
    c = labelled.confusion(applied.positive)
    kept, recall = shown(round(c.tp), labelled.positives, allowed, alpha)
    note = f"recall of at least {allowed.target:g} is shown" if kept else _not_kept(recall, allowed)
    return Report(
        recall=recall, precision=precision(c), f2=f_beta(c, 2.0), workload_reduction=workload_reduction(c),
        referred=int(applied.referred.sum()), kept=kept, note=note,
    )  # fmt: skip


def _not_kept(recall: Estimate, allowed: Allowed) -> str:
    if recall.low is None:
        return recall.note or "nothing can be shown"
    return f"recall of at least {recall.low:.3f} is shown, not {allowed.target:g} ({allowed.note})"


def operating_points(
    families: Sequence[Candidates], on: Labelled, targets: Sequence[float] = TARGETS, *, alpha: float = 0.05,
    population: int | None = None, prices: Prices | None = None, minimise: Unit | None = None, records: int | None = None,
) -> tuple[OperatingPoint, ...]:  # fmt: skip
    """For every target the rule chosen on the families' split, reported on the split `on`, with what is shown there.

    Each report stands for itself at 1 - alpha: one test of a rule that was fixed beforehand. A rule whose report is not
    `kept` must not be promised; use `certified_point` to have the choice itself respect the promise. `population`: the
    records of `on` and those still unread that it was drawn with.
    """
    found = []
    for target in targets:
        choice = choose(families, target, prices, minimise, records)
        allowed = allowed_misses(on.positives, target, alpha, sample=len(on.gold), population=population)
        made = report(choice.chosen.rule, on, allowed, alpha) if choice.chosen else None
        saves = choice.chosen is None or choice.chosen.workload_reduction.value
        note = made.note if made and saves else choice.note
        found.append(OperatingPoint(target=target, chosen=choice.chosen, best=choice.best, report=made, note=note))
    return tuple(found)


class Certified(Frozen):
    """The rule that may be promised: the last of a fixed ladder whose test passed; None where not even the first did."""

    target: float
    rule: Rule | None
    chosen: Point | None
    report: Report | None
    tested: int
    allowed: Allowed
    note: str


def certified_point(
    families: Sequence[Candidates], certify: Labelled, target: float, *, alpha: float = 0.05, population: int | None = None,
    prices: Prices | None = None, by: Unit = "read",
) -> Certified:  # fmt: skip
    """The least work whose recall may be promised: the frontier of one split, tested down on another until one fails.

    The families' split fixes the order: its `ladder`, from the most inclusive rule down. On `certify`, an independent random
    sample, each rule is tested at alpha, and the first that fails ends the search (fixed-sequence testing). So the chance
    of promising a rule that breaks the target is at most alpha, however many rules were tried: of its long-run recall, or
    with `population` (the records of `certify` and those still unread) of its recall on those still unread.
    """
    allowed = allowed_misses(certify.positives, target, alpha, sample=len(certify.gold), population=population)
    rungs = ladder(families, prices, by)
    passed = tested = 0
    for one, index in rungs if allowed.misses is not None else ():
        tested += 1
        missed = int((certify.gold & ~apply(one.rule(index), certify.votes).positive).sum())
        if missed > (allowed.misses or 0):
            break
        passed = tested
    if not passed:
        note = _nothing(rungs, allowed, tested)
        return Certified(target=target, chosen=None, rule=None, report=None, tested=tested, allowed=allowed, note=note)
    last = point_at(*rungs[passed - 1], prices)
    made = report(last.rule, certify, allowed, alpha)
    return Certified(target=target, rule=last.rule, chosen=last, report=made, tested=tested, allowed=allowed, note=made.note)


def _nothing(rungs: Sequence[Rung], allowed: Allowed, tested: int) -> str:
    if not tested:
        return allowed.note
    top = rungs[0][0].family
    return f"no rule can be promised: the most inclusive one ({top}) missed more than {allowed.misses} labelled includes"


def table(points: Sequence[OperatingPoint]) -> list[Mapping[str, object]]:
    """Operating points as rows for a table or a frame: flat, undefined figures None."""
    rows: list[Mapping[str, object]] = []
    for point in points:
        at, made = point.chosen or point.best, point.report
        rows.append(
            {
                "target": point.target,
                "reached": point.chosen is not None,
                "family": at.family if at else None,
                "rule": at.rule.model_dump() if at else None,
                "chosen_recall": at.recall.value if at else None,
                "chosen_precision": at.precision.value if at else None,
                "recall": made.recall.value if made else None,
                "recall_low": made.recall.low if made else None,
                "precision": made.precision.value if made else None,
                "workload_reduction": made.workload_reduction.value if made else None,
                "kept": made.kept if made else False,
                "note": point.note,
            }
        )
    return rows
