"""Weighted Matthews correlation, the project's main metric, and its form over whole arrays."""

import numpy as np
import numpy.typing as npt

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric

Floats = npt.NDArray[np.float64]


def wmcc_array(tp: npt.ArrayLike, fp: npt.ArrayLike, fn: npt.ArrayLike, tn: npt.ArrayLike, weight: npt.ArrayLike) -> Floats:
    """WMCC over arrays that broadcast together; NaN where a row or column of the matrix is empty.

    With P = TP + FN, N = FP + TN, t = TP / P and f = FP / N:
    WMCC(w) = (t - f) sqrt(wP) sqrt(N) / (sqrt(wTP + FP) sqrt(wFN + TN)),
    which is the usual quotient after TP and FN are multiplied by w. Nothing larger than w times a count is formed.
    """
    tp, fp, fn, tn, w = (np.asarray(part, dtype=float) for part in (tp, fp, fn, tn, weight))
    positives, negatives = tp + fn, fp + tn
    with np.errstate(divide="ignore", invalid="ignore"):
        margin = (tp / positives - fp / negatives) * np.sqrt(positives) * np.sqrt(negatives)
        value = margin * np.sqrt(w)
        value = value / np.sqrt(w * tp + fp)
        value /= np.sqrt(w * fn + tn)
    empty = (positives == 0) | (negatives == 0) | (tp + fp == 0) | (fn + tn == 0)
    value = np.clip(value, -1.0, 1.0)  # a perfect matrix may come out a rounding above 1
    return np.where(empty, np.nan, value) if empty.any() else value


def why_undefined(c: Confusion) -> str | None:
    """Which row or column of the matrix is empty, if one is."""
    for total, reason in (
        (c.positives, "no record is an include by gold"),
        (c.negatives, "no record is an exclude by gold"),
        (c.tp + c.fp, "nothing was included or referred"),
        (c.tn + c.fn, "nothing was excluded"),
    ):
        if total == 0:
            return reason
    return None


@metric(
    "wmcc",
    "confusion",
    formula="MCC after TP <- w TP and FN <- w FN",
    source="Madeyski, Kitchenham, Shepperd, arXiv 2511.12635",
    low=-1,
    high=1,
    undefined="where a row or column of the matrix is empty",
    parameter=("w", 10.0),
    caution="not monotone in w; give w with its justification, or the whole sweep",
)
def wmcc(c: Confusion, weight: float = 10.0) -> Estimate:
    """MCC with the positive row weighted: TP and FN both times w (w > 0), in [-1, 1]; w = 1 is MCC, chance is 0.

    Equal to scikit-learn's `matthews_corrcoef` with sample weight w on the gold includes. Undefined where a row or
    column of the matrix is empty, with the reason, never 0.
    """
    if not 0 < weight < float("inf"):
        raise InputError(f"the weight w must be a number above 0 (got {weight:g})")
    reason = why_undefined(c)
    value = None if reason else float(wmcc_array(c.tp, c.fp, c.fn, c.tn, weight))
    return Estimate(metric=f"wmcc@{weight:g}", value=value, n=c.n, note=reason)
