"""Shares judged correct by a model, corrected for the judge's own errors by a person's labels.

Source, where no other is named: Lee et al. (arXiv 2511.21140). p is the share of n items that the judge accepted; q0
(specificity) and q1 (sensitivity) are its rates on m0 truly incorrect and m1 truly correct items with a person's label.
"""

from math import sqrt
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from pydantic import model_validator
from scipy.special import ndtri

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate
from litcascade.schemas import Frozen

Support = Literal["supported", "unstable", "unsupported"]
WEAK_SIGNAL = 0.10
WIDE = 0.50
SLACK = 1e-12  # 0.6 + 0.5 - 1 is a little above 0.1 in floating point
FEW_PAPERS = 20
CELLS = 5_000_000  # numbers held at once while papers are resampled
COUNTS = ("accepted", "n", "right0", "m0", "right1", "m1")


class JudgeRates(Frozen):
    """How the judge did on labelled items: `right0` of `m0` truly incorrect rejected, `right1` of `m1` truly correct accepted."""

    right0: int
    m0: int
    right1: int
    m1: int

    @model_validator(mode="after")
    def _whole(self) -> "JudgeRates":
        _part("rejected", self.right0, self.m0)
        _part("accepted", self.right1, self.m1)
        return self

    @property
    def q0(self) -> float | None:
        """Specificity, or None without a truly incorrect item."""
        return self.right0 / self.m0 if self.m0 else None

    @property
    def q1(self) -> float | None:
        """Sensitivity, or None without a truly correct item."""
        return self.right1 / self.m1 if self.m1 else None


class JudgeCounts(Frozen):
    """The judge accepted `accepted` of `n` items as correct; `rates` is how far it can be trusted."""

    accepted: int
    n: int
    rates: JudgeRates

    @model_validator(mode="after")
    def _whole(self) -> "JudgeCounts":
        _part("accepted", self.accepted, self.n)
        return self


class ExtractionCounts(Frozen):
    """What the judge matched between gold and machine items, and which unmatched machine items it found correct."""

    matched_gold: int
    gold_items: int
    matched_machine: int
    correct_unmatched: int
    machine_items: int


class CalibratedShare(Frozen):
    """The corrected share with its interval, the share as the judge gave it, and how far the correction is borne out.

    `signal` is q0 + q1 - 1 (PPV + NPV - 1 where items were drawn by verdict). An unsupported share has no number.
    """

    estimate: Estimate
    support: Support
    judged: float | None
    signal: float | None


class Allocation(Frozen):
    """How many truly incorrect (`m0`) and truly correct (`m1`) items a person should label."""

    m0: int
    m1: int


def calibrate_share(
    p: float | None,
    n: int,
    q0: float | None,
    q1: float | None,
    m0: int,
    m1: int,
    alpha: float = 0.05,
    metric: str = "calibrated_share",
) -> CalibratedShare:
    """(p + q0 - 1) / (q0 + q1 - 1) from the unadjusted rates, clipped to [0, 1], with the interval of the source.

    q0 and q1 are by **true** label. Unsupported, with no number: nothing judged, a class without a label, q0 + q1 <= 1, or
    an interval that does not exist because the adjusted rates are no better than chance. Unstable: q0 + q1 - 1 <= .10, or
    an interval of .50 or wider. A note says where the rates contradict p, so that the interval shrinks to 0 or 1.
    """
    z = z_of(alpha)
    p, q0, q1 = _rate("p", p, n), _rate("q0", q0, m0), _rate("q1", q1, m1)
    if p is None or q0 is None or q1 is None:
        empty = "no item was judged" if p is None else f"no truly {'incorrect' if q0 is None else 'correct'} item was labelled"
        return _unsupported(metric, p, n, None, empty)
    signal = q0 + q1 - 1
    if signal <= SLACK:
        return _unsupported(metric, p, n, signal, "the judge is no better than chance: q0 + q1 is not above 1")
    ends = _ends(p, n, q0, q1, m0, m1, z)
    if ends is None:
        return _unsupported(metric, p, n, signal, "too few labels: with adjusted rates the judge is no better than chance")
    return _told(metric, (p + q0 - 1) / signal, p, n, signal, ends)


def calibrate(counts: JudgeCounts, alpha: float = 0.05, metric: str = "calibrated_share") -> CalibratedShare:
    """`calibrate_share` from counts."""
    rates = counts.rates
    p = counts.accepted / counts.n if counts.n else None
    return calibrate_share(p, counts.n, rates.q0, rates.q1, rates.m0, rates.m1, alpha, metric)


def calibrate_by_verdict(
    p: float | None,
    n: int,
    ppv: float | None,
    npv: float | None,
    m_plus: int,
    m_minus: int,
    alpha: float = 0.05,
) -> CalibratedShare:
    """p PPV + (1 - p)(1 - NPV), in [0, 1]: for labelled items that were drawn by the judge's verdict, not by truth.

    The interval is normal, with variance p^2 PPV(1-PPV)/m+ + (1-p)^2 NPV(1-NPV)/m- + (PPV+NPV-1)^2 p(1-p)/n. A PPV or NPV
    of 0 or 1 would add no variance: one success and one failure are then added to it, for the variance only, and the note
    says so. Unsupported, with no number, without labels of either verdict; unstable where the interval is .50 or wider.
    Nothing is divided by PPV + NPV - 1, so it may be small.
    """
    z = z_of(alpha)
    metric = "calibrated_share"
    p, ppv, npv = _rate("p", p, n), _rate("PPV", ppv, m_plus), _rate("NPV", npv, m_minus)
    if p is None or ppv is None or npv is None:
        empty = "no item was judged" if p is None else f"no {'accepted' if ppv is None else 'rejected'} item was labelled"
        return _unsupported(metric, p, n, None, empty)
    value = p * ppv + (1 - p) * (1 - npv)
    (a, m_a), (b, m_b) = _inner(ppv, m_plus), _inner(npv, m_minus)
    spread = p**2 * a * (1 - a) / m_a + (1 - p) ** 2 * b * (1 - b) / m_b + (ppv + npv - 1) ** 2 * p * (1 - p) / n
    half = z * sqrt(spread)
    found = _told(metric, value, p, n, ppv + npv - 1, (_unit(value - half), _unit(value + half)), weak=-2)
    if a == ppv and b == npv:
        return found
    note = "a rate of 0 or 1 was moved inwards for the interval" + (f"; {found.estimate.note}" if found.estimate.note else "")
    return found.model_copy(update={"estimate": found.estimate.model_copy(update={"note": note})})


def calibrated_recall(counts: ExtractionCounts, rates: JudgeRates, alpha: float = 0.05) -> CalibratedShare:
    """Matched gold items / gold items, calibrated with the rates of the judge that matches gold; see `calibrate_share`."""
    share = JudgeCounts(accepted=counts.matched_gold, n=counts.gold_items, rates=rates)
    return calibrate(share, alpha, "calibrated_recall")


def calibrated_precision(counts: ExtractionCounts, rates: JudgeRates, alpha: float = 0.05) -> CalibratedShare:
    """(Matched machine items + correct unmatched ones) / machine items, calibrated with the rates of that judgement.

    The rates are those of "matched, or found correct" against a person's "correct", over machine items of both kinds.
    """
    accepted = counts.matched_machine + counts.correct_unmatched
    return calibrate(JudgeCounts(accepted=accepted, n=counts.machine_items, rates=rates), alpha, "calibrated_precision")


def allocate(p: float, q0: float, q1: float, budget: int, pilot: int) -> Allocation:
    """Share a budget of labels between the classes, each at least `pilot`, so that the interval is shortest.

    k = [pilot(1-q0) + 1] / [pilot(1-q1) + 1], m1 = budget / (1 + (1/p - 1) sqrt(k)), rounded and kept within the pilot and
    the rest. At p = 0 the limit is m1 = pilot (the authors' code gives budget - pilot). A budget under two pilots is an
    `InputError`.
    """
    for name, rate in (("p", p), ("q0", q0), ("q1", q1)):
        _rate(name, rate, 1)
    if pilot < 1 or budget < 2 * pilot:
        raise InputError(f"a budget of {budget} labels cannot hold two pilots of {pilot} (at least 1 each)")
    ratio = (pilot * (1 - q0) + 1) / (pilot * (1 - q1) + 1)
    wanted = budget / (1 + (1 / p - 1) * sqrt(ratio)) if p > 0 else 0.0
    m1 = min(max(round(wanted), pilot), budget - pilot)
    return Allocation(m0=budget - m1, m1=m1)


def judge_counts(items: pl.DataFrame, labelled: pl.DataFrame) -> JudgeCounts:
    """Count `items` (item_id, paper_id, judged) and `labelled` items (the same, and `correct` by a person), drawn by truth.

    `judged` and `correct` are true or false. Other types, empty cells, repeated ids, and an item that both tables have
    with different papers or verdicts are an `InputError`.
    """
    totals = _by_paper(items, labelled).select(COUNTS).sum().row(0, named=True)
    rates = JudgeRates(**{name: totals[name] for name in COUNTS[2:]})
    return JudgeCounts(accepted=totals["accepted"], n=totals["n"], rates=rates)


def calibrate_by_papers(
    items: pl.DataFrame, labelled: pl.DataFrame, rng: np.random.Generator, repeats: int = 2000, alpha: float = 0.05
) -> CalibratedShare:
    """`calibrate_share` with an interval that resamples papers, because items of one paper are not independent.

    Tables as in `judge_counts`. Papers are drawn with replacement, those with items, labels or both each among themselves;
    a paper's items and labels move together. The interval holds the middle 1 - alpha of the repeats. A repeat in which the
    share is undefined counts as below and as above all others, so it widens the interval. Undefined and unsupported as
    `calibrate_share`; without two papers on each side there is no interval (unstable).
    """
    z_of(alpha)
    if repeats < 1:
        raise InputError(f"at least one repeat is needed (got {repeats})")
    table = _by_paper(items, labelled)
    plain = calibrate(judge_counts(items, labelled), alpha)
    if plain.support == "unsupported" or plain.signal is None or plain.judged is None:
        return plain
    counts = table.select(COUNTS).to_numpy().astype(np.float64)
    papers = min(int((counts[:, 1] > 0).sum()), int((counts[:, 3] + counts[:, 5] > 0).sum()))
    if papers < 2:
        bare = {"low": None, "high": None, "note": "no interval: fewer than two papers with items or with labels"}
        return plain.model_copy(update={"support": "unstable", "estimate": plain.estimate.model_copy(update=bare)})
    theta = _resampled(counts, rng, repeats)
    lost = np.isnan(theta)
    low = np.quantile(np.where(lost, -np.inf, theta), alpha / 2, method="lower")
    high = np.quantile(np.where(lost, np.inf, theta), 1 - alpha / 2, method="higher")
    ends = _unit(float(low)), _unit(float(high))
    found = _told("calibrated_share", plain.estimate.value or 0.0, plain.judged, plain.estimate.n, plain.signal, ends)
    notes = [found.estimate.note] if found.estimate.note else []
    notes += [f"{int(lost.sum())} of {repeats} repeats had no value"] if lost.any() else []
    notes += [f"only {papers} papers: the interval may be too short"] if papers < FEW_PAPERS else []
    return found.model_copy(update={"estimate": found.estimate.model_copy(update={"note": "; ".join(notes) or None})})


def _ends(p: float, n: int, q0: float, q1: float, m0: int, m1: int, z: float) -> tuple[float, float] | None:
    size, size0, size1 = n + z * z, m0 + 2, m1 + 2
    p, q0, q1 = (n * p + z * z / 2) / size, (m0 * q0 + 1) / size0, (m1 * q1 + 1) / size1
    signal = q0 + q1 - 1
    if signal <= SLACK:
        return None
    theta = (p + q0 - 1) / signal
    spread0, spread1 = q0 * (1 - q0) / size0, q1 * (1 - q1) / size1
    shift = 2 * z * z * (theta * spread1 - (1 - theta) * spread0)
    half = z * sqrt(p * (1 - p) / size + (1 - theta) ** 2 * spread0 + theta**2 * spread1) / signal
    return _unit(theta + shift - half), _unit(theta + shift + half)


def _told(
    metric: str, raw: float, p: float, n: int, signal: float, ends: tuple[float, float], weak: float = WEAK_SIGNAL
) -> CalibratedShare:
    low, high = ends
    support: Support = "supported"
    note = None
    if signal <= weak + SLACK:
        support, note = "unstable", f"the judge tells little: its rates are {signal:.3f} above chance"
    elif high - low >= WIDE - SLACK:
        support, note = "unstable", f"the interval is {high - low:.2f} wide"
    elif low == high:
        note = f"the interval shrank to {low:g}: the judged share does not fit the judge's rates"
    estimate = Estimate(metric=metric, value=_unit(raw), n=n, low=low, high=high, note=note)
    return CalibratedShare(estimate=estimate, support=support, judged=p, signal=signal)


def _unsupported(metric: str, p: float | None, n: int, signal: float | None, reason: str) -> CalibratedShare:
    estimate = Estimate(metric=metric, value=None, n=n, note=reason)
    return CalibratedShare(estimate=estimate, support="unsupported", judged=p, signal=signal)


def _resampled(counts: NDArray[np.float64], rng: np.random.Generator, repeats: int) -> NDArray[np.float64]:
    role = (counts[:, 1] > 0) + 2 * (counts[:, 3] + counts[:, 5] > 0)
    parts = [counts[role == kind] for kind in np.unique(role)]
    if min(len(part) for part in parts) < 2:
        parts = [counts]  # a paper alone of its kind would be drawn every time
    totals = np.zeros((repeats, counts.shape[1]))
    step = max(1, CELLS // len(counts))
    for start in range(0, repeats, step):
        stop = min(start + step, repeats)
        for part in parts:
            totals[start:stop] += rng.multinomial(len(part), np.full(len(part), 1 / len(part)), stop - start) @ part
    with np.errstate(divide="ignore", invalid="ignore"):
        p, q0, q1 = (totals[:, column] / totals[:, column + 1] for column in (0, 2, 4))
        signal = q0 + q1 - 1
        return np.where(signal > SLACK, (p + q0 - 1) / signal, np.nan)


def _by_paper(items: pl.DataFrame, labelled: pl.DataFrame) -> pl.DataFrame:
    _table(items, ["judged"])
    _table(labelled, ["judged", "correct"])
    if items.height and labelled.height:
        if any(items[name].dtype != labelled[name].dtype for name in ("item_id", "paper_id")):
            raise InputError("the ids of the judged and of the labelled items have different types")
        both = items.join(labelled, on="item_id", suffix="_2")
        odd = both.filter((pl.col("paper_id") != pl.col("paper_id_2")) | (pl.col("judged") != pl.col("judged_2")))
        if odd.height:
            raise InputError(f"item '{odd['item_id'][0]}' has another paper or verdict among the labelled items")
    judged, correct = pl.col("judged").cast(pl.Boolean), pl.col("correct").cast(pl.Boolean)
    shares = items.group_by(pl.col("paper_id").cast(pl.String)).agg(accepted=judged.sum(), n=pl.len())
    rates = labelled.group_by(pl.col("paper_id").cast(pl.String)).agg(
        right0=(~judged & ~correct).sum(), m0=(~correct).sum(), right1=(judged & correct).sum(), m1=correct.sum()
    )
    joined = shares.join(rates, on="paper_id", how="full", coalesce=True)
    return joined.with_columns(pl.col(COUNTS).fill_null(0).cast(pl.Int64)).sort("paper_id")


def _table(frame: pl.DataFrame, verdicts: list[str]) -> None:
    for name in ("item_id", "paper_id", *verdicts):
        if name not in frame.columns:
            raise InputError(f"the table has no column '{name}'")
        if frame[name].null_count():
            raise InputError(f"column '{name}' has an empty cell")
        if name in verdicts and frame.height and frame[name].dtype != pl.Boolean:
            raise InputError(f"column '{name}' must hold true or false")
    if frame["item_id"].is_duplicated().any():
        raise InputError(f"item '{frame.filter(pl.col('item_id').is_duplicated())['item_id'][0]}' stands twice in a table")


def _inner(rate: float, m: int) -> tuple[float, float]:
    return ((m * rate + 1) / (m + 2), m + 2) if rate in (0, 1) else (rate, m)


def z_of(alpha: float) -> float:
    """Normal quantile of a two-sided interval; alpha outside (0, 1) is refused."""
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1 (got {alpha:g})")
    return float(ndtri(1 - alpha / 2))


def _rate(name: str, rate: float | None, n: int) -> float | None:
    if n < 0:
        raise InputError(f"the number of items behind {name} is below 0")
    if n == 0:
        return None
    if rate is None or not 0 <= rate <= 1:
        raise InputError(f"{name} must lie in [0, 1] (got {rate})")
    return rate


def _part(what: str, part: int, whole: int) -> None:
    if not 0 <= part <= whole:
        raise InputError(f"{part} of {whole} items cannot have been {what}")


def _unit(value: float) -> float:
    return min(1.0, max(0.0, value))
