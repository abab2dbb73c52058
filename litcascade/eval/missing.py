"""Scores where something is missing: a prediction that never came, or a metric without a value. Both are counted."""

import math
from collections import Counter
from collections.abc import Callable, Sequence

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.binary import Confusion, confusion_of
from litcascade.eval.estimate import Estimate
from litcascade.schemas import Frozen


class WithMissing(Frozen):
    """A binary metric where some predictions are missing.

    `given` rests on the records that have a prediction. `worst` rests on all: each missing one is counted as an error.
    """

    given: Estimate
    worst: Estimate
    n_used: int
    n_missing: int


class MeanOf(Frozen):
    """The mean of the defined estimates, with how many went in and how many had no value."""

    mean: Estimate
    n_used: int
    n_undefined: int


def score_with_missing(frame: pl.DataFrame, metric: Callable[[Confusion], Estimate]) -> WithMissing:
    """Score columns `record_id`, `gold` (include, exclude) and `state` (included, referred, excluded, or null: missing).

    In the worst case a missing prediction is a missed include, or an exclude taken in. Range and undefined cases are
    those of `metric`; `given` is also undefined where every prediction is missing. A missing gold label, an odd label
    and a repeated or missing id are an `InputError`.
    """
    table = _checked(frame)
    missing = pl.col("state").is_null()
    error = pl.when(pl.col("gold") == "include").then(pl.lit("excluded")).otherwise(pl.lit("included"))
    worst = metric(confusion_of(table.with_columns(state=pl.when(missing).then(error).otherwise(pl.col("state")))))
    there = table.filter(~missing)
    given = metric(confusion_of(there))
    absent = table.height - there.height
    if absent and not there.height:
        given = Estimate(metric=given.metric, value=None, n=0, note="every prediction is missing")
    elif absent:
        given = _noted(given, f"{absent} of {table.height} without a prediction, left out")
    if absent:
        worst = _noted(worst, f"{absent} of {table.height} without a prediction, counted as errors")
    return WithMissing(given=given, worst=worst, n_used=there.height, n_missing=absent)


def mean_defined(estimates: Sequence[Estimate]) -> MeanOf:
    """The plain mean of the estimates that have a value; those without one are left out and counted, never entered as 0.

    `n` is the number of records behind the values used. Undefined where none has a value. Estimates of different
    metrics, or a value that is not a finite number, are an `InputError`.
    """
    names = list(dict.fromkeys(estimate.metric for estimate in estimates))
    if len(names) > 1:
        raise InputError(f"'{names[0]}' and '{names[1]}' are different metrics and have no mean")
    used = [(estimate.value, estimate.n) for estimate in estimates if estimate.value is not None]
    if not all(math.isfinite(value) for value, _ in used):
        raise InputError(f"a value of '{names[0]}' is not a finite number")
    reasons = Counter(estimate.note or "no reason given" for estimate in estimates if estimate.value is None)
    parts = [f"{reason} ({count})" for reason, count in reasons.items()]
    note = f"{reasons.total()} of {len(estimates)} undefined, left out: {'; '.join(parts)}" if reasons else None
    mean = Estimate(
        metric=f"mean {names[0]}" if names else "mean",
        value=math.fsum(value for value, _ in used) / len(used) if used else None,
        n=sum(n for _, n in used),
        note=note if estimates else "no estimate to average",
    )
    return MeanOf(mean=mean, n_used=len(used), n_undefined=reasons.total())


def _checked(frame: pl.DataFrame) -> pl.DataFrame:
    absent = [name for name in ("record_id", "gold", "state") if name not in frame.columns]
    if absent:
        raise InputError(f"the table has no column '{absent[0]}'")
    table = frame.select(pl.col("record_id", "gold", "state").cast(pl.String))
    if table["record_id"].has_nulls():
        raise InputError("a row of the table to score has no record_id")
    bare = table.filter(pl.col("gold").is_null())
    if bare.height:
        raise InputError(f"record '{bare['record_id'][0]}' has no gold label")
    return table


def _noted(estimate: Estimate, remark: str) -> Estimate:
    return estimate.model_copy(update={"note": f"{estimate.note}; {remark}" if estimate.note else remark})
