"""Two systems on the same records: difference with interval, McNemar's exact test, Holm's correction."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.confusion import POSITIVE_STATES, Confusion, as_text, require_ids
from litcascade.eval.estimate import Estimate
from litcascade.eval.intervals import REPEATS, check_settings, half_samples
from litcascade.eval.metrics.wmcc import wmcc, wmcc_array
from litcascade.schemas import Frozen


class Pairs(Frozen):
    """Counts of the eight cells gold x system a x system b; `yes[i][j]`, `no[i][j]`: a and b positive where 1."""

    yes: tuple[tuple[int, int], tuple[int, int]]
    no: tuple[tuple[int, int], tuple[int, int]]

    def a(self) -> Confusion:
        """The matrix of system a."""
        return Confusion(tp=sum(self.yes[1]), fn=sum(self.yes[0]), fp=sum(self.no[1]), tn=sum(self.no[0]))

    def b(self) -> Confusion:
        """The matrix of system b."""
        yes, no = self.yes, self.no
        return Confusion(tp=yes[0][1] + yes[1][1], fn=yes[0][0] + yes[1][0], fp=no[0][1] + no[1][1], tn=no[0][0] + no[1][0])


class Comparison(Frozen):
    """a minus b, and the p-values of McNemar's exact test among includes (recall) and among all (accuracy)."""

    difference: Estimate
    p_recall: float | None
    p_accuracy: float | None
    note: str | None = None


def pairs_of(frame: pl.DataFrame) -> Pairs:
    """Count a frame with `record_id`, `gold`, `state_a`, `state_b`; anything odd is an `InputError`."""
    frame = as_text(frame, ("record_id", "gold", "state_a", "state_b"))
    known = pl.col("gold").is_in(["include", "exclude"])
    for side in ("state_a", "state_b"):
        known = known & pl.col(side).is_in([*POSITIVE_STATES, "excluded"])
    odd = frame.filter(~known.fill_null(False))
    if odd.height:
        raise InputError(f"record '{odd['record_id'][0]}' was not judged by both systems, or has no gold ({odd.height} such)")
    require_ids(frame)
    a, b = (frame[side].is_in(POSITIVE_STATES).to_numpy().astype(int) for side in ("state_a", "state_b"))
    gold = (frame["gold"] == "include").to_numpy()
    table = np.zeros((2, 2, 2), dtype=int)
    np.add.at(table, (gold.astype(int), a, b), 1)
    cells = [tuple(tuple(int(x) for x in row) for row in side) for side in table]
    return Pairs(no=cells[0], yes=cells[1])


def compare(pairs: Pairs, rng: np.random.Generator, *, weight: float = 10.0, population: int | None = None,
            alpha: float = 0.05, repeats: int = REPEATS) -> Comparison:  # fmt: skip
    """WMCC of a minus WMCC of b with a half-sample interval on the joint table, and McNemar's exact tests.

    One is added to each of the eight cells before half-samples are drawn, as in `wmcc_interval`; simulated coverage at
    95 % was .95 or more in all settings tried (docs/evaluation.md), without it .93 to .94.
    """
    a, b = wmcc(pairs.a(), weight), wmcc(pairs.b(), weight)
    name = f"difference of wmcc@{weight:g}"
    p_recall = mcnemar(pairs.yes[1][0], pairs.yes[0][1])
    p_all = mcnemar(pairs.yes[1][0] + pairs.no[0][1], pairs.yes[0][1] + pairs.no[1][0])
    if a.value is None or b.value is None:
        difference = Estimate(metric=name, value=None, n=a.n, note=a.note or b.note)
        return Comparison(difference=difference, p_recall=p_recall, p_accuracy=p_all)
    cells = np.array([*pairs.yes[0], *pairs.yes[1], *pairs.no[0], *pairs.no[1]]) + 1
    check_settings(a.n, population, alpha, repeats)
    values = _of_halves(half_samples(cells, rng, repeats), weight)
    values = values[~np.isnan(values)]
    found = a.value - b.value
    if len(values) < 0.9 * repeats:
        difference = Estimate(metric=name, value=found, n=a.n, note="no interval: most half-samples have an empty row or column")
        return Comparison(difference=difference, p_recall=p_recall, p_accuracy=p_all)
    middle = float(_of_halves(cells.astype(float)[None, :], weight)[0])
    scale = np.sqrt(1 - a.n / population) if population else 1.0
    reach = float(stats.norm.ppf(1 - alpha / 2)) * float(np.sqrt(np.mean((values - middle) ** 2))) * scale
    low, high = min(middle - reach, found), max(middle + reach, found)
    difference = Estimate(metric=name, value=found, n=a.n, low=low, high=high, note="half-samples")
    return Comparison(difference=difference, p_recall=p_recall, p_accuracy=p_all)


def _of_halves(
    h: np.ndarray[tuple[int, int], np.dtype[np.float64]], weight: float
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    y00, y01, y10, y11, n00, n01, n10, n11 = (h[:, i] for i in range(8))
    a = wmcc_array(y10 + y11, n10 + n11, y00 + y01, n00 + n01, weight)
    b = wmcc_array(y01 + y11, n01 + n11, y00 + y10, n00 + n10, weight)
    return np.asarray(a - b)


def mcnemar(only_a: int, only_b: int) -> float | None:
    """Exact two-sided p that the discordant pairs fall evenly; None without any (McNemar 1947, binomial form)."""
    total = only_a + only_b
    return float(stats.binomtest(only_a, total, 0.5).pvalue) if total else None


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Holm's step-down correction for many comparisons: adjusted p by name, at most 1 (Holm 1979)."""
    ordered = sorted(p_values.items(), key=lambda item: item[1])
    adjusted: dict[str, float] = {}
    highest = 0.0
    for rank, (name, p) in enumerate(ordered):
        highest = max(highest, min(1.0, (len(ordered) - rank) * p))
        adjusted[name] = highest
    return adjusted


def relative_gain(before: Sequence[float], after: Sequence[float]) -> Estimate:
    """Mean after over mean before, minus 1: how tables of many models report a change. Undefined where the mean before is 0."""
    if len(before) != len(after) or not before:
        raise InputError("a gain needs the same models before and after")
    name = "relative_gain"
    if sum(before) == 0:
        return Estimate(metric=name, value=None, n=len(before), note="the mean before is 0")
    return Estimate(metric=name, value=sum(after) / sum(before) - 1, n=len(before))
