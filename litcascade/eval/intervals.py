"""Intervals: exact ones where they exist, half-samples for MCC and WMCC, resampling where whole units vary.

A validation sample of n records is drawn from the N of a review without replacement. Bootstrap and binomial intervals
treat the review as endless and are criticised for it (arXiv 2511.12635); the forms here are not.
"""

import numpy as np
import numpy.typing as npt
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.recall import recall
from litcascade.eval.metrics.wmcc import wmcc, wmcc_array

Floats = npt.NDArray[np.float64]
REPEATS = 2000


def clopper_pearson(found: int, total: int, alpha: float = 0.05, *, one_sided: bool = False) -> tuple[float, float]:
    """Exact binomial bounds of a share, in [0, 1]; covers at least 1 - alpha whatever the share (Clopper, Pearson 1934).

    One-sided: the lower bound holds at 1 - alpha and the upper is 1. No trials: (0, 1).
    """
    if not 0 <= found <= total:
        raise InputError(f"{found} of {total} is no share")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1 (got {alpha:g})")
    tail = alpha if one_sided else alpha / 2
    low = float(stats.beta.ppf(tail, found, total - found + 1)) if found else 0.0
    high = 1.0 if one_sided or found == total else float(stats.beta.ppf(1 - tail, found + 1, total - found))
    return low, high


def wilson(found: int, total: int, alpha: float = 0.05) -> tuple[float, float]:
    """Wilson's score interval of a share: near 1 - alpha on average, where exact bounds would be too wide. (0, 1) for none."""
    if not total:
        return 0.0, 1.0
    z = float(stats.norm.ppf(1 - alpha / 2))
    share, z2 = found / total, z * z
    middle = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = z / (1 + z2 / total) * np.sqrt(share * (1 - share) / total + z2 / (4 * total * total))
    return max(0.0, float(middle - half)), min(1.0, float(middle + half))


def recall_interval(c: Confusion, population: int | None = None, alpha: float = 0.05, *, one_sided: bool = False) -> Estimate:
    """Recall with its exact bounds: hypergeometric for a sample from `population` records, else Clopper-Pearson.

    The m includes of the sample are a draw from the M includes of the review. M is not known: the bounds are the widest
    over the M that the sample allows at 1 - alpha. Enumerated coverage was at least 1 - alpha in all settings tried,
    samples of more than half of the review included (docs/evaluation.md).
    """
    found = recall(c)
    if found.value is None:
        return found
    x, m = round(c.tp), round(c.positives)
    if population is None:
        low, high = clopper_pearson(x, m, alpha, one_sided=one_sided)
        return found.model_copy(update={"low": low, "high": high, "note": "exact (Clopper-Pearson)"})
    if population < c.n:
        raise InputError(f"a sample of {c.n} cannot come from {population} records")
    largest = most_in_population(m, c.n, population, alpha)
    low, high = _widest(x, m, largest, alpha, one_sided)
    note = f"exact (hypergeometric), at most {largest} includes among {population}"
    return found.model_copy(update={"low": low, "high": high, "note": note})


def most_in_population(seen: int, sample: int, population: int, alpha: float = 0.05) -> int:
    """The largest K with P(X <= seen) > alpha for X hypergeometric(population, K, sample): exact, one-sided."""
    if not 0 <= seen <= sample <= population:
        raise InputError(f"{seen} in a sample of {sample} from {population} is not possible")
    return int(_most(seen, sample, np.array([population]), alpha)[0])


def _most(seen: int, sample: int, populations: npt.NDArray[np.int64], alpha: float) -> npt.NDArray[np.int64]:
    """`most_in_population` for many populations at once, by one bisection over all of them."""
    low = np.full(len(populations), seen, dtype=np.int64)
    high = populations - (sample - seen)
    while (open_ := low < high).any():
        middle = (low + high + 1) // 2
        fits = stats.hypergeom.cdf(seen, populations, middle, sample) > alpha
        low = np.where(open_ & fits, middle, low)
        high = np.where(open_ & ~fits, middle - 1, high)
    return low


def _widest(x: int, m: int, largest: int, alpha: float, one_sided: bool) -> tuple[float, float]:
    """The widest exact bounds of K / M where x of m drawn without replacement from M were of the K, for M from m to `largest`."""
    sizes = np.unique([*range(m, min(m + 40, largest) + 1), *np.linspace(m, largest, 40).astype(int)]).astype(np.int64)
    tail = alpha if one_sided else alpha / 2
    lows = (sizes - _most(m - x, m, sizes, tail)) / sizes
    highs = np.ones(len(sizes)) if one_sided else _most(x, m, sizes, tail) / sizes
    return float(lows.min()), float(highs.max())


def wmcc_interval(
    c: Confusion, rng: np.random.Generator, *, weight: float = 10.0, population: int | None = None,
    alpha: float = 0.05, repeats: int = REPEATS,
) -> Estimate:  # fmt: skip
    """WMCC with a half-sample interval, its width scaled by sqrt(1 - n/N) for a sample of n from N = `population`.

    Half-samples (m = n/2, without replacement) spread around the estimate as the estimate does around the truth. They
    are drawn from the counts with one added to each cell, so that a sample without a miss does not claim there are none
    (as Agresti and Coull do for a share); the upper bound is never below that of the counts as they are. The bounds are
    set on Fisher's z, so that they stay in [-1, 1]. Simulated coverage at 95 % was at least 94 % from 20 includes and 20
    excludes in a sample of at most half the review (docs/evaluation.md); elsewhere the note says that it may be less.
    Undefined where WMCC is.
    """
    estimate = wmcc(c, weight)
    if estimate.value is None:
        return estimate
    check_settings(c.n, population, alpha, repeats)
    counts = np.array([round(c.tp), round(c.fp), round(c.fn), round(c.tn)])
    values = _of_counts(half_samples(counts + 1, rng, repeats), weight)
    values = values[~np.isnan(values)]
    if len(values) < repeats * 0.9:
        note = "no interval: most half-samples have an empty row or column; the sample is too small"
        return estimate.model_copy(update={"note": note})
    scale = float(np.sqrt(1 - c.n / population)) if population else 1.0
    low, high = _around(float(_of_counts((counts + 1)[None, :], weight)[0]), values, scale, alpha)
    plain = _of_counts(half_samples(counts, rng, repeats), weight)
    _, plain_high = _around(estimate.value, plain[~np.isnan(plain)], scale, alpha)
    thin = min(c.positives, c.negatives) < 20 or (population is not None and c.n > population / 2)
    note = "half-samples; few of one class, or more than half of the review: it may be too short" if thin else "half-samples"
    bounds = {"low": min(low, estimate.value), "high": max(high, plain_high, estimate.value)}
    return estimate.model_copy(update={**bounds, "note": note})


def check_settings(n: int, population: int | None, alpha: float, repeats: int) -> None:
    """Refuse a sample larger than its population, and settings that give no interval."""
    if population is not None and population < n:
        raise InputError(f"a sample of {n} cannot come from {population} records")
    if not 0 < alpha < 1 or repeats < 20:
        raise InputError(f"an interval needs alpha between 0 and 1 and at least 20 repeats (got {alpha:g} and {repeats})")


def half_samples(counts: npt.NDArray[np.int64], rng: np.random.Generator, repeats: int) -> Floats:
    """Half-samples without replacement of a table of counts; from 10^9 records on by their normal limit."""
    total = int(counts.sum())
    if total < 1_000_000_000:
        return rng.multivariate_hypergeometric(counts, total // 2, size=repeats).astype(float)
    share = counts / total
    noise = rng.standard_normal((repeats, len(counts))) * np.sqrt(share)
    noise -= share * noise.sum(axis=1, keepdims=True)
    drawn: Floats = np.clip(counts / 2 + np.sqrt(total) / 2 * noise, 0, None)
    return drawn


def _of_counts(table: npt.NDArray[np.generic], weight: float) -> Floats:
    t = table.astype(float)
    found: Floats = wmcc_array(t[:, 0], t[:, 1], t[:, 2], t[:, 3], weight)
    return found


def _around(value: float, values: Floats, scale: float, alpha: float) -> tuple[float, float]:
    """Normal bounds on Fisher's z from the spread of half-samples around the value."""
    edge = 1 - 1e-9
    z = np.arctanh(np.clip(value, -edge, edge))
    if not len(values):
        return value, value
    spread = float(np.sqrt(np.mean((np.arctanh(np.clip(values, -edge, edge)) - z) ** 2))) * scale
    reach = float(stats.norm.ppf(1 - alpha / 2)) * spread
    return float(np.tanh(z - reach)), float(np.tanh(z + reach))


def subsampling_picture(
    c: Confusion, rng: np.random.Generator, *, weight: float = 10.0, share: float = 0.9, repeats: int = REPEATS
) -> Floats:
    """WMCC of subsamples without replacement, sorted: the picture that the source paper draws. Not an interval.

    Its percentiles are far too narrow to be read as one (for recall 48 % at 90 %-samples): it shows stability only.
    """
    counts = np.array([round(c.tp), round(c.fp), round(c.fn), round(c.tn)])
    check_settings(c.n, None, 0.05, repeats)
    drawn = rng.multivariate_hypergeometric(counts, max(1, round(share * c.n)), size=repeats).astype(float)
    return np.sort(wmcc_array(drawn[:, 0], drawn[:, 1], drawn[:, 2], drawn[:, 3], weight))


def resample_mean(
    values: npt.ArrayLike, rng: np.random.Generator, alpha: float = 0.05, repeats: int = REPEATS,
    span: tuple[float, float] = (-1.0, 1.0),
) -> Estimate:  # fmt: skip
    """Mean over whole reviews (or papers) with a bootstrap-t interval that resamples them, kept inside `span`.

    Reviews are the units: a few large ones do not count as many small ones. Undefined for no unit. No interval, with the
    reason, for fewer than 10 units, or where most are equal: resampling then says nothing of the others.
    """
    data = np.asarray(values, dtype=float)
    if np.isnan(data).any():
        raise InputError("a value to average is not a number; leave undefined ones out and count them")
    check_settings(len(data), None, alpha, repeats)
    if not len(data):
        return Estimate(metric="mean", value=None, n=0, note="there are no units")
    mean = float(data.mean())
    if len(data) < 10:
        return Estimate(metric="mean", value=mean, n=len(data), note="no interval: fewer than 10 units to resample")
    error = float(data.std(ddof=1) / np.sqrt(len(data)))
    drawn = data[rng.integers(0, len(data), size=(repeats, len(data)))]
    errors = drawn.std(axis=1, ddof=1) / np.sqrt(len(data))
    kept = errors > 1e-12 * (1 + abs(mean))
    if kept.mean() < 0.99 or np.unique(data).size < len(data) / 2:
        return Estimate(metric="mean", value=mean, n=len(data), note="no interval: most units are equal")
    t = (drawn.mean(axis=1)[kept] - mean) / errors[kept]
    upper, lower = np.quantile(t, [alpha / 2, 1 - alpha / 2])
    low, high = max(span[0], mean - lower * error), min(span[1], mean - upper * error)
    return Estimate(metric="mean", value=mean, n=len(data), low=low, high=high, note="bootstrap-t over units")
