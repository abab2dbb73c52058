"""Screening stages: the confusion matrix as a value, and the metrics that rest on it."""

import math
from typing import Protocol

import polars as pl
from pydantic import Field

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate, ratio
from litcascade.registry import Registry
from litcascade.schemas import Frozen

POSITIVE_STATES = ("included", "referred")


class Confusion(Frozen):
    """Counts of a binary classifier; `positive` is include. Referred records count as positive."""

    tp: float = Field(ge=0)
    fp: float = Field(ge=0)
    fn: float = Field(ge=0)
    tn: float = Field(ge=0)

    @property
    def n(self) -> int:
        """How many records were counted."""
        return round(self.tp + self.fp + self.fn + self.tn)


class Metric(Protocol):
    """A metric of a confusion matrix; `weight` is w, the cost of a missed include, where the metric has one."""

    def __call__(self, c: Confusion, weight: float = 10.0) -> Estimate:
        """The estimate."""
        ...


METRICS: Registry[Metric] = Registry("metric")


def confusion_of(frame: pl.DataFrame) -> Confusion:
    """Count a frame with columns `gold` (include, exclude) and `state` (included, referred, excluded), one row a record.

    Other gold labels or states, and repeated ids, are an `InputError`: nothing is dropped in silence.
    """
    odd = frame.filter(~pl.col("gold").is_in(["include", "exclude"]) | ~pl.col("state").is_in([*POSITIVE_STATES, "excluded"]))
    if odd.height:
        row = odd.row(0, named=True)
        raise InputError(
            f"record '{row['record_id']}' has gold '{row['gold']}' and state '{row['state']}', which cannot be scored"
        )
    if frame["record_id"].n_unique() != frame.height:
        raise InputError("an id stands twice in the table to score")
    gold = pl.col("gold") == "include"
    found = pl.col("state").is_in(POSITIVE_STATES)
    counts = frame.select(
        tp=(gold & found).sum(), fp=(~gold & found).sum(), fn=(gold & ~found).sum(), tn=(~gold & ~found).sum()
    ).row(0, named=True)
    return Confusion(**{name: float(count) for name, count in counts.items()})


@METRICS.register("recall")
def recall(c: Confusion, weight: float = 10.0) -> Estimate:  # noqa: ARG001  (all metrics are called alike)
    """TP / (TP + FN), in [0, 1]; undefined without gold includes."""
    return ratio("recall", c.tp, c.tp + c.fn, "no record is an include by gold", c.n)


@METRICS.register("lost_evidence")
def lost_evidence(c: Confusion, weight: float = 10.0) -> Estimate:  # noqa: ARG001  (the same)
    """FN / (TP + FN) = 1 - recall, in [0, 1]; undefined without gold includes."""
    return ratio("lost_evidence", c.fn, c.tp + c.fn, "no record is an include by gold", c.n)


@METRICS.register("precision")
def precision(c: Confusion, weight: float = 10.0) -> Estimate:  # noqa: ARG001  (the same)
    """TP / (TP + FP), in [0, 1]; undefined where nothing was included or referred."""
    return ratio("precision", c.tp, c.tp + c.fp, "nothing was included or referred", c.n)


@METRICS.register("mcc")
def mcc(c: Confusion, weight: float = 10.0) -> Estimate:  # noqa: ARG001  (the same)
    """Matthews' correlation, in [-1, 1]: WMCC at w = 1; undefined where a row or column of the matrix is empty."""
    return wmcc(c, 1.0).model_copy(update={"metric": "mcc"})


@METRICS.register("wmcc")
def wmcc(c: Confusion, weight: float = 10.0) -> Estimate:
    """Matthews' correlation with the positive row weighted: TP and FN both times w (w > 0), in [-1, 1].

    Source: Madeyski, Kitchenham, Shepperd (arXiv 2511.12635). Undefined where a row or column is empty, with the
    reason. Computed from the four shares PPV, TPR, TNR, NPV as sqrt(their product) - sqrt(product of one minus each),
    which equals the usual form and neither overflows nor underflows at any count.
    """
    if weight <= 0:
        raise InputError(f"the weight w must be above 0 (got {weight:g})")
    name = f"wmcc@{weight:g}"
    tp, fn = weight * c.tp, weight * c.fn
    for total, reason in (
        (tp + fn, "no record is an include by gold"),
        (c.fp + c.tn, "no record is an exclude by gold"),
        (tp + c.fp, "nothing was included or referred"),
        (c.tn + fn, "nothing was excluded"),
    ):
        if total == 0:
            return Estimate(metric=name, value=None, n=c.n, note=reason)
    right = (tp / (tp + c.fp), tp / (tp + fn), c.tn / (c.tn + c.fp), c.tn / (c.tn + fn))
    wrong = (c.fp / (tp + c.fp), fn / (tp + fn), c.fp / (c.tn + c.fp), fn / (c.tn + fn))
    value = math.prod(map(math.sqrt, right)) - math.prod(map(math.sqrt, wrong))
    return Estimate(metric=name, value=value, n=c.n)


def metrics_of(c: Confusion, weight: float) -> list[Estimate]:
    """All registered metrics of a matrix, in the order of their names."""
    return [metric(c, weight) for _, metric in METRICS]
