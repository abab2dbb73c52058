"""A person's labels with and without a judge beside them: prediction-powered inference, and labels alone."""

from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate
from litcascade.eval.intervals import wilson
from litcascade.eval.judge_calibration import z_of
from litcascade.schemas import Frozen


class PowerTuned(Frozen):
    """A PPI++ mean, and the weight `power` in [0, 1] that it gives to the judge; None where it is undefined."""

    estimate: Estimate
    power: float | None


class Tightness(Frozen):
    """Whether a person's labels alone give the narrower interval; None where neither has one."""

    labels_tighter: bool | None
    text: str


def ppi_mean(labels: ArrayLike, judged: ArrayLike, unlabelled: ArrayLike, alpha: float = 0.05) -> PowerTuned:
    """mean(Y) - w (mean(f) - mean(F)), clipped to [0, 1]: prediction-powered inference with the best weight (PPI++).

    Y are a person's labels and f the judge's verdicts (or probabilities) on the same items, a **random** draw; F the judge's
    on all other items; n and N their numbers. w = Cov(Y, f) / [(1 + n/N) Var(f, F)], clipped to [0, 1]; the interval is normal
    with variance Var(Y - w f)/n + w^2 Var(F)/N (Angelopoulos, Duchi, Zrnic, arXiv 2311.01453). Undefined for fewer than
    two items on either side; no interval where nothing varies.
    """
    z = z_of(alpha)
    y, f, rest = _values(labels), _values(judged), _values(unlabelled)
    if len(y) != len(f):
        raise InputError(f"there are {len(y)} labels and {len(f)} verdicts on the labelled items")
    n, total = len(y), len(rest)
    if n < 2 or total < 2:
        reason = f"fewer than two {'labelled' if n < 2 else 'unlabelled'} items"
        return PowerTuned(estimate=Estimate(metric="ppi_mean", value=None, n=n, note=reason), power=None)
    spread = float(np.var(np.concatenate([f, rest]), ddof=1))
    weight = _unit(float(np.cov(y, f)[0, 1]) / ((1 + n / total) * spread)) if spread > 0 else 0.0
    value = float(y.mean() - weight * (f.mean() - rest.mean()))
    half = z * sqrt(float(np.var(y - weight * f, ddof=1)) / n + weight**2 * float(np.var(rest, ddof=1)) / total)
    if half == 0:
        flat = "no interval: neither the labels nor the verdicts vary"
        return PowerTuned(estimate=Estimate(metric="ppi_mean", value=_unit(value), n=n, note=flat), power=weight)
    low, high = _unit(value - half), _unit(value + half)
    return PowerTuned(estimate=Estimate(metric="ppi_mean", value=_unit(value), n=n, low=low, high=high), power=weight)


def labels_only(labels: ArrayLike, alpha: float = 0.05) -> Estimate:
    """The mean of a person's labels of a **random** draw of items, in [0, 1], with Wilson's interval; undefined without labels.

    A label is true (1) or false (0).
    """
    z_of(alpha)
    y = _values(labels)
    if not np.isin(y, (0, 1)).all():
        raise InputError("a label is neither true (1) nor false (0)")
    if not len(y):
        return Estimate(metric="labels_only", value=None, n=0, note="no item was labelled")
    low, high = wilson(int(y.sum()), len(y), alpha)
    return Estimate(metric="labels_only", value=float(y.mean()), n=len(y), low=low, high=high)


def compare_with_labels(judge: Estimate, labels: Estimate) -> Tightness:
    """Say whether a person's labels alone (`labels_only`) give a narrower interval than an estimate that uses the judge."""
    with_judge, alone = _width(judge), _width(labels)
    if alone is None:
        text = "the labels alone give no interval" + (", the judge's estimate does" if with_judge is not None else "")
        return Tightness(labels_tighter=None if with_judge is None else False, text=text)
    if with_judge is None:
        return Tightness(labels_tighter=True, text=f"only the labels give an interval (width {alone:.3f})")
    tighter = alone < with_judge
    verdict = "the labels alone are tighter" if tighter else "the judge adds precision, or takes none away"
    return Tightness(labels_tighter=tighter, text=f"{verdict} (width {alone:.3f} alone, {with_judge:.3f} with the judge)")


def _values(values: ArrayLike) -> NDArray[np.float64]:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("a label or verdict is not a number") from None
    if found.ndim != 1 or not ((found >= 0) & (found <= 1)).all():
        raise InputError("labels and verdicts must be one list of numbers within [0, 1]")
    return found


def _width(estimate: Estimate) -> float | None:
    return None if estimate.low is None or estimate.high is None else estimate.high - estimate.low


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
