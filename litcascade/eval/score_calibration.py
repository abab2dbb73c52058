"""Whether a score means what it says: reliability, Brier score, and a calibration fitted on its own split."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from litcascade.errors import InputError, MissingExtraError
from litcascade.eval.estimate import Estimate
from litcascade.eval.intervals import wilson
from litcascade.schemas import Frozen

Binning = Literal["width", "count"]
Kind = Literal["isotonic", "platt"]
NO_RECORD = "no record has a score and a label"
EDGE = 1e-6  # log-odds are taken of scores within [EDGE, 1 - EDGE]


class Bin(Frozen):
    """Records whose scores lie between `low` and `high`: their mean score, and the share that is positive by gold.

    Both are undefined for a bin without records; the share carries Wilson's interval.
    """

    low: float
    high: float
    n: int
    score: Estimate
    share: Estimate


class Reliability(Frozen):
    """A reliability curve: the bins in the order of their scores."""

    binning: Binning
    n: int
    bins: tuple[Bin, ...]


class Calibrator(Frozen):
    """A fitted calibration; it applies with numpy only and can be stored as JSON.

    `parameters` are for isotonic the corners (score, calibrated score) of the curve, joined by straight lines and flat
    beyond its ends; for Platt the one pair (slope, intercept) on the log-odds of the score. `n` is the size of the
    split it was fitted on; `note` says where the fit is odd.
    """

    kind: Kind
    parameters: tuple[tuple[float, float], ...]
    n: int
    note: str | None = None

    def apply(self, scores: ArrayLike) -> NDArray[np.float64]:
        """Calibrated scores in [0, 1]; a score outside [0, 1] or NaN is an `InputError`."""
        found = _scores(scores)
        if self.kind == "isotonic":
            x, y = np.array(self.parameters).T
            return np.asarray(np.interp(found, x, y), dtype=np.float64)
        slope, intercept = self.parameters[0]
        return np.asarray(1 / (1 + np.exp(-(slope * _log_odds(found) + intercept))), dtype=np.float64)


def reliability(scores: ArrayLike, labels: ArrayLike, bins: int = 10, binning: Binning = "width") -> Reliability:
    """The reliability curve of scores in [0, 1] and labels (true or 1 is positive).

    `width`: `bins` bins of equal width, empty ones kept as undefined; a score on an edge belongs to the bin above it, 1 to
    the last. `count`: bins of as equal counts as ties allow, from the lowest to the highest score in each; tied scores
    stay together, so there may be fewer bins. Without records the curve by width is all undefined, that by count empty.
    """
    s, y = _both(scores, labels)
    place, edges = _places(s, bins, binning)
    rows = []
    for number in range(bins):
        inside = place == number
        n = int(inside.sum())
        if binning == "width":
            low, high = float(edges[number]), float(edges[number + 1])
        elif n:
            low, high = float(s[inside].min()), float(s[inside].max())
        else:
            continue
        rows.append(_bin(low, high, s[inside], y[inside]))
    return Reliability(binning=binning, n=len(s), bins=tuple(rows))


def expected_calibration_error(scores: ArrayLike, labels: ArrayLike, bins: int = 10, binning: Binning = "width") -> Estimate:
    """Sum over bins of n_b / n * |positive share - mean score|, in [0, 1] (Naeini et al. 2015); undefined without records.

    It depends on the binning and is biased upwards in small samples: report it with the number of bins.
    """
    s, y = _both(scores, labels)
    place, _ = _places(s, bins, binning)
    name = f"ece@{bins}{binning}"
    if not len(s):
        return Estimate(metric=name, value=None, n=0, note=NO_RECORD)
    gaps = np.bincount(place, weights=y - s, minlength=bins)
    return Estimate(metric=name, value=float(np.abs(gaps).sum() / len(s)), n=len(s))


def brier(scores: ArrayLike, labels: ArrayLike) -> Estimate:
    """Mean squared difference of score and label, in [0, 1], lower is better (Brier 1950); undefined without records."""
    s, y = _both(scores, labels)
    if not len(s):
        return Estimate(metric="brier", value=None, n=0, note=NO_RECORD)
    return Estimate(metric="brier", value=float(np.mean((s - y) ** 2)), n=len(s))


def fit_calibrator(scores: ArrayLike, labels: ArrayLike, kind: Kind = "isotonic") -> Calibrator:
    """Fit a calibration on a split that is used for nothing else; needs the extra [learn] (scikit-learn).

    Isotonic: the non-decreasing step fit (Zadrozny, Elkan 2002). Platt: a logistic curve on the log-odds of the score, with
    Platt's smoothed targets (N+ + 1)/(N+ + 2) and 1/(N- + 2), so a perfect split stays finite. Both need positives and
    negatives: a split with one class is an `InputError`.
    """
    s, y = _both(scores, labels)
    if kind not in ("isotonic", "platt"):
        raise InputError(f"there is no calibration '{kind}'; there are: isotonic, platt")
    if not 0 < y.sum() < len(y):
        raise InputError(f"a calibration needs positives and negatives (the split has {int(y.sum())} positives of {len(y)})")
    if kind == "isotonic":
        return _isotonic(s, y)
    return _platt(s, y)


def _isotonic(s: NDArray[np.float64], y: NDArray[np.float64]) -> Calibrator:
    try:
        from sklearn.isotonic import IsotonicRegression
    except ImportError:
        raise MissingExtraError("fitting a calibration", "learn") from None
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(s, y)
    corners = tuple((float(a), float(b)) for a, b in zip(model.X_thresholds_, model.y_thresholds_, strict=True))
    flat = corners[0][1] == corners[-1][1]
    note = "the curve is flat: on this split a higher score does not go with more positives" if flat else None
    return Calibrator(kind="isotonic", parameters=corners, n=len(s), note=note)


def _platt(s: NDArray[np.float64], y: NDArray[np.float64]) -> Calibrator:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingExtraError("fitting a calibration", "learn") from None
    yes = y.sum()
    no = len(y) - yes
    target = np.where(y == 1, (yes + 1) / (yes + 2), 1 / (no + 2))
    x = np.tile(_log_odds(s), 2).reshape(-1, 1)
    truth = np.repeat([1, 0], len(s))
    model = LogisticRegression(C=np.inf, tol=1e-8, max_iter=1000)
    model.fit(x, truth, sample_weight=np.concatenate([target, 1 - target]))
    slope, intercept = float(model.coef_[0, 0]), float(model.intercept_[0])
    note = "the slope is not above 0: on this split a higher score does not go with more positives" if slope <= 0 else None
    return Calibrator(kind="platt", parameters=((slope, intercept),), n=len(s), note=note)


def _bin(low: float, high: float, s: NDArray[np.float64], y: NDArray[np.float64]) -> Bin:
    n = len(s)
    if not n:
        score, share = (Estimate(metric=name, value=None, n=0, note="no score in this bin") for name in ("score", "share"))
        return Bin(low=low, high=high, n=0, score=score, share=share)
    positive = float(y.mean())
    under, over = wilson(int(y.sum()), n)
    return Bin(
        low=low,
        high=high,
        n=n,
        score=Estimate(metric="score", value=float(s.mean()), n=n),
        share=Estimate(metric="share", value=positive, n=n, low=under, high=over),
    )


def _places(s: NDArray[np.float64], bins: int, binning: Binning) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    if bins < 1:
        raise InputError(f"at least one bin is needed (got {bins})")
    edges = np.arange(bins + 1) / bins
    if binning == "width":
        return np.minimum(np.searchsorted(edges, s, side="right") - 1, bins - 1), edges
    if binning == "count":
        before = np.searchsorted(np.sort(s), s, side="left")  # how many scores are lower: the same for ties
        return before * bins // max(len(s), 1), edges
    raise InputError(f"there is no binning '{binning}'; there are: width, count")


def _log_odds(s: NDArray[np.float64]) -> NDArray[np.float64]:
    safe = np.clip(s, EDGE, 1 - EDGE)
    return np.asarray(np.log(safe) - np.log1p(-safe), dtype=np.float64)


def _scores(scores: ArrayLike) -> NDArray[np.float64]:
    found = _flat(scores, "score")
    if not ((found >= 0) & (found <= 1)).all():
        raise InputError("a score is not a number within [0, 1]")
    return found


def _both(scores: ArrayLike, labels: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    s, y = _scores(scores), _flat(labels, "label")
    if not np.isin(y, (0, 1)).all():
        raise InputError("a label is neither true (1) nor false (0)")
    if len(s) != len(y):
        raise InputError(f"there are {len(s)} scores and {len(y)} labels")
    return s, y


def _flat(values: ArrayLike | Sequence[float], what: str) -> NDArray[np.float64]:
    try:
        found = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"a {what} is not a number") from None
    if found.ndim != 1:
        raise InputError(f"the {what}s must be one list (got {found.ndim} dimensions)")
    return found
