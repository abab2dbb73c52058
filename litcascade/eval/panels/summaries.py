"""A grid of configurations in tables: every cell, averages by what was varied, and gains with intervals over models."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.intervals import clopper_pearson
from litcascade.eval.metrics.base import parse_measure
from litcascade.eval.paired import relative_gain
from litcascade.schemas import Frozen

KEYS = ("model", "family", "size", "prompt", "shots", "positives", "repeat")
COUNTS = ("tp", "fp", "fn", "tn")
MEASURES = ("f@2", "recall", "precision", "wmcc@10", "workload_reduction")
MODEL_KEYS = ("model", "family", "size")


class Average(Frozen):
    """The mean of a measure over models in one group, each model first averaged over its own cells.

    The interval is Student's t over models; `cells` counts cells, `undefined` those without a value, left out.
    """

    by: dict[str, str]
    mean: Estimate
    cells: int
    undefined: int


class Gain(Frozen):
    """How a measure changes from one level of a factor to another, over the models that have both."""

    factor: str
    before: str
    after: str
    gain: Estimate
    left_out: int


def cell_table(cells: pl.DataFrame, measures: Sequence[str] = MEASURES) -> pl.DataFrame:
    """Every cell with its measures, null where undefined and the reason beside it in `note`.

    `cells` has tp, fp, fn, tn and any of the keys model, family, size, prompt, shots, positives, repeat, with a row a
    cell. Two rows with the same keys are an `InputError`. With `replies` and `formed` the share in the required form and
    its exact bounds stand in `reliability`, `reliability_low`, `reliability_high`.
    """
    _check(cells)
    rows = []
    for row in cells.iter_rows(named=True):
        c = Confusion(**{name: float(row[name]) for name in COUNTS})
        found = [parse_measure(name)(c) for name in measures]
        notes = dict.fromkeys(one.note for one in found if one.value is None and one.note)
        made = {name: one.value for name, one in zip(measures, found, strict=True)}
        rows.append({**made, **_reliability_of(row), "note": "; ".join(notes) or None})
    schema = {name: pl.Float64 for name in rows[0] if name != "note"} if rows else dict.fromkeys(measures, pl.Float64)
    return pl.concat([cells, pl.DataFrame(rows, schema={**schema, "note": pl.String})], how="horizontal")


def _check(cells: pl.DataFrame) -> None:
    lacking = [name for name in COUNTS if name not in cells.columns]
    if lacking:
        raise InputError(f"the table of cells has no column '{lacking[0]}'; it has: {', '.join(cells.columns)}")
    if cells.select(COUNTS).null_count().sum_horizontal().item():
        raise InputError("a cell of the grid has no counts; leave out cells that were not run and say so")
    keys = [name for name in KEYS if name in cells.columns]
    twice = cells.filter(pl.struct(keys).is_duplicated()) if keys else cells.head(0)
    if twice.height:
        raise InputError(f"a cell stands twice in the grid: {', '.join(f'{name} {twice[name][0]}' for name in keys)}")


def _reliability_of(row: Mapping[str, object]) -> dict[str, float | None]:
    if "replies" not in row or "formed" not in row:
        return {}
    found = reliability(int(str(row["formed"])), int(str(row["replies"])))
    return {"reliability": found.value, "reliability_low": found.low, "reliability_high": found.high}


def reliability(formed: int, replies: int, alpha: float = 0.05) -> Estimate:
    """Share of first replies in the required form, in [0, 1], with exact two-sided bounds; undefined without replies."""
    if not replies:
        return Estimate(metric="reliability", value=None, n=0, note="no reply was asked for")
    low, high = clopper_pearson(formed, replies, alpha)
    return Estimate(metric="reliability", value=formed / replies, n=replies, low=low, high=high, note="exact (Clopper-Pearson)")


def averages(cells: pl.DataFrame, by: Sequence[str], value: str = "f@2", alpha: float = 0.05) -> tuple[Average, ...]:
    """The mean of a column of figures by the factors in `by`: prompt, shots, (family, size), …; models are the units.

    Undefined figures are left out and counted: look at the count before comparing, for a model that found nothing has no F.
    Grouped by model itself, the units are its cells.
    """
    _columns(cells, [*by, value])
    unit = "model" if "model" in cells.columns and "model" not in by else None
    found = []
    for key, group in sorted(cells.group_by(list(by)), key=lambda item: tuple(map(str, item[0]))):
        known = group.filter(pl.col(value).is_not_null())
        names = [unit, *(name for name in ("family", "size") if name in cells.columns)] if unit else []
        units = known.group_by(names).agg(pl.col(value).mean())[value] if names else known[value]
        label = {name: str(part) for name, part in zip(by, key, strict=True)}
        mean = _mean(value, units.to_numpy(), alpha)
        found.append(Average(by=label, mean=mean, cells=group.height, undefined=group.height - known.height))
    return tuple(found)


def _columns(cells: pl.DataFrame, names: Sequence[str]) -> None:
    lacking = [name for name in names if name not in cells.columns]
    if lacking:
        raise InputError(f"the grid has no column '{lacking[0]}'; it has: {', '.join(cells.columns)}")


def _mean(name: str, values: np.ndarray[tuple[int], np.dtype[np.float64]], alpha: float) -> Estimate:
    if not len(values):
        return Estimate(metric=name, value=None, n=0, note="undefined in every cell of the group")
    mean = float(values.mean())
    if len(values) < 3:
        return Estimate(metric=name, value=mean, n=len(values), note="no interval: fewer than 3 models")
    reach = float(stats.t.ppf(1 - alpha / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values)))
    low, high = bounds_of(name)
    return Estimate(metric=name, value=mean, n=len(values), low=max(low, mean - reach), high=min(high, mean + reach))


def bounds_of(measure: str) -> tuple[float, float]:
    """The range of a measure by its registered name; without bounds for a column that is no measure."""
    try:
        spec = parse_measure(measure).spec
    except InputError:
        return -np.inf, np.inf
    return -np.inf if spec.low is None else spec.low, np.inf if spec.high is None else spec.high


def gain(cells: pl.DataFrame, factor: str, before: str, after: str, value: str = "f@2", alpha: float = 0.05) -> Gain:
    """Mean after over mean before, minus 1, over the models that have the figure at both levels of `factor`.

    Each model is first averaged over its own cells at a level. The interval is paired over models: a jackknife of the
    logarithm of the ratio of means, with Student's t of (models - 1) degrees of freedom; a single model at 0 does no harm.
    None below 5 models. It speaks of models like these, not of new reviews. Models without a figure at one of the levels
    are left out and counted.
    """
    _columns(cells, [factor, value, "model"])
    names = [name for name in MODEL_KEYS if name in cells.columns]
    sides = []
    for level in (before, after):
        here = cells.filter((pl.col(factor).cast(pl.String) == level) & pl.col(value).is_not_null())
        if not here.height:
            raise InputError(f"the grid has no figure '{value}' where {factor} is '{level}'")
        sides.append(here.group_by(names).agg(pl.col(value).mean()))
    both = sides[0].join(sides[1], on=names, suffix="_after", nulls_equal=True).sort(names)
    all_models = pl.concat([side.select(names) for side in sides]).unique().height
    if not both.height:
        raise InputError(f"no model has '{value}' at both {factor} '{before}' and '{after}'")
    one, two = both[value].to_list(), both[f"{value}_after"].to_list()
    estimate = _with_interval(relative_gain(one, two), np.array(one), np.array(two), alpha)
    return Gain(factor=factor, before=before, after=after, gain=estimate, left_out=all_models - both.height)


def _with_interval(
    found: Estimate, before: np.ndarray[tuple[int], np.dtype[np.float64]], after: np.ndarray[tuple[int], np.dtype[np.float64]],
    alpha: float,
) -> Estimate:  # fmt: skip
    n = len(before)
    if found.value is None:
        return found
    if n < 5:
        return found.model_copy(update={"note": "no interval: fewer than 5 models"})
    without = (after.sum() - after) / np.where(before.sum() - before == 0, np.nan, before.sum() - before)
    if found.value <= -1 or np.isnan(without).any() or (without <= 0).any():
        return found.model_copy(update={"note": "no interval: one model carries a whole side"})
    logs = np.log(without)
    error = float(np.sqrt((n - 1) / n * ((logs - logs.mean()) ** 2).sum()))
    reach = float(stats.t.ppf(1 - alpha / 2, n - 1)) * error
    low, high = (float(np.exp(np.log1p(found.value) + side) - 1) for side in (-reach, reach))
    return found.model_copy(update={"low": low, "high": high, "note": "jackknife over models"})
