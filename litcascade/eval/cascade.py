"""What the whole cascade lost, at which stage, and what would have come out with gold put in."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.intervals import REPEATS, clopper_pearson
from litcascade.schemas import Frozen

NO_INCLUDE = "no record is an include by gold"


class StageLoss(Frozen):
    """One stage: its recall among the gold includes that reached it, and its share of all that were lost.

    `loss` is L_j = (1 - r_j) * product of the recalls before it; the losses of all stages sum to 1 - R_end.
    """

    stage: str
    recall: Estimate
    loss: Estimate


class CascadeLoss(Frozen):
    """End-to-end recall R_end = product of the r_j, and the loss by stage."""

    end_to_end: Estimate
    stages: tuple[StageLoss, ...]


def cascade_loss(frame: pl.DataFrame, stages: Sequence[str], alpha: float = 0.05) -> CascadeLoss:
    """From a frame of the finally included records by gold: `record_id`, and a boolean column a stage (passed it).

    A record that failed a stage counts in no later one: r_j is conditional, never a product of marginal recalls. Each
    figure is a share of whole papers, so its interval is the exact binomial one (Clopper-Pearson), which needs no
    resampling; `resampled_losses` gives the joint picture. Undefined without gold includes, and for a stage that no gold
    include reached.
    """
    _check(frame, stages)
    total = frame.height
    alive = frame
    rows = []
    for stage in stages:
        passed = alive.filter(pl.col(stage))
        r = _share("recall", passed.height, alive.height, "no gold include reached this stage", alpha)
        share = _share("loss", alive.height - passed.height, total, NO_INCLUDE, alpha)
        rows.append(StageLoss(stage=stage, recall=r, loss=share))
        alive = passed
    return CascadeLoss(end_to_end=_share("end_to_end_recall", alive.height, total, NO_INCLUDE, alpha), stages=tuple(rows))


def _share(name: str, part: int, whole: int, empty: str, alpha: float) -> Estimate:
    found = ratio(name, part, whole, empty, whole)
    if found.value is None:
        return found
    low, high = clopper_pearson(part, whole, alpha)
    return found.model_copy(update={"low": low, "high": high})


def _check(frame: pl.DataFrame, columns: Sequence[str]) -> None:
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"the table has no column for stage '{missing[0]}'")
    if "record_id" in frame.columns and frame["record_id"].n_unique() != frame.height:
        raise InputError("an id stands twice in the table of the cascade")


def resampled_losses(
    frame: pl.DataFrame, stages: Sequence[str], rng: np.random.Generator, repeats: int = REPEATS
) -> pl.DataFrame:
    """Whole papers resampled through all stages: one row a repeat, a column a stage's loss and `end_to_end`.

    For joint statements (is more lost at screening than at retrieval?). Without gold includes a frame without rows.
    """
    _check(frame, stages)
    if not frame.height:
        return pl.DataFrame(schema=dict.fromkeys([*stages, "end_to_end"], pl.Float64))
    passed = np.column_stack([frame[stage].to_numpy().astype(bool) for stage in stages])
    lost_at = np.where(passed.all(axis=1), len(stages), (~passed).argmax(axis=1))
    counts = np.bincount(lost_at, minlength=len(stages) + 1)
    drawn = rng.multinomial(frame.height, counts / frame.height, size=repeats) / frame.height
    return pl.DataFrame(drawn, schema=[*stages, "end_to_end"])


def counterfactuals(frame: pl.DataFrame, stages: Sequence[str]) -> dict[str, Estimate]:
    """R_end if gold stood in for one stage: by stage. Exact where later stages were run on all; else assumed, and said so.

    A null in a later stage's column means that the record never reached it; such records are taken to pass it as often as
    those that did. Undefined without gold includes, or where nothing is known of a later stage.
    """
    _check(frame, stages)
    found = {}
    for number, stage in enumerate(stages):
        others = [*stages[:number], *stages[number + 1 :]]
        known = frame.drop_nulls(others)
        before = [pl.col(name).fill_null(False) for name in stages[:number]]
        alive = frame.filter(before) if before else frame
        upto = alive.height / frame.height if frame.height else 0.0
        if known.height == frame.height:
            whole = frame.filter(pl.all_horizontal([pl.col(name) for name in others])).height if others else frame.height
            found[stage] = ratio("end_to_end_recall", whole, frame.height, NO_INCLUDE, frame.height)
            continue
        value, note = upto, "later stages assumed to pass what was lost here as often as what they saw"
        for later in stages[number + 1 :]:
            seen = frame[later].drop_nulls()
            value = value * float(seen.sum()) / len(seen) if len(seen) else float("nan")
        if np.isnan(value):
            found[stage] = Estimate(
                metric="end_to_end_recall", value=None, n=frame.height, note="a later stage was never reached"
            )
        else:
            found[stage] = Estimate(metric="end_to_end_recall", value=value, n=frame.height, note=note)
    return found


class Yield(Frozen):
    """Yield = R_end * coverage * correctness, and the share of papers with everything right."""

    end_to_end: Estimate
    coverage: Estimate
    correctness: Estimate
    extraction_yield: Estimate
    complete: Estimate


def extraction_yield(
    frame: pl.DataFrame, stages: Sequence[str], rng: np.random.Generator, alpha: float = 0.05, repeats: int = REPEATS
) -> Yield:
    """From a frame of the gold includes: the stage columns, and `gold_values`, `given`, `right` counts per paper.

    Coverage: share of gold values for which any value was given, among papers that reached extraction; correctness: share
    of those that are right; `complete`: share of papers that reached extraction with all values right. The interval of
    the yield resamples whole papers, since values of one paper are not independent. Undefined parts carry their reason.
    """
    _check(frame, [*stages, "gold_values", "given", "right"])
    end = cascade_loss(frame, stages, alpha).end_to_end
    reached = frame.filter(pl.all_horizontal([pl.col(stage) for stage in stages]))
    gold, given, right = (int(reached[name].sum()) for name in ("gold_values", "given", "right"))
    coverage = ratio("coverage", given, gold, "no gold value among the papers that reached extraction", reached.height)
    correctness = ratio("correctness", right, given, "no value was given", reached.height)
    whole = reached.filter(pl.col("right") == pl.col("gold_values")).height
    complete = _share("complete_extraction", whole, reached.height, "no paper reached extraction", alpha)
    if end.value is None or coverage.value is None or correctness.value is None:
        note = end.note or coverage.note or correctness.note
        return Yield(end_to_end=end, coverage=coverage, correctness=correctness, complete=complete,
                     extraction_yield=Estimate(metric="extraction_yield", value=None, n=frame.height, note=note))  # fmt: skip
    passed = frame.select(pl.all_horizontal([pl.col(stage) for stage in stages])).to_series().to_numpy().astype(float)
    table = np.column_stack([passed, *(frame[name].to_numpy().astype(float) * passed for name in ("gold_values", "right"))])
    drawn = table[rng.integers(0, len(table), size=(repeats, len(table)))].sum(axis=1)
    kept = drawn[drawn[:, 1] > 0]
    values = kept[:, 0] / len(table) * kept[:, 2] / kept[:, 1]
    low, high = np.quantile(values, [alpha / 2, 1 - alpha / 2])
    product = Estimate(
        metric="extraction_yield", value=end.value * coverage.value * correctness.value, n=frame.height,
        low=float(low), high=float(high), note="interval resamples papers",
    )  # fmt: skip
    return Yield(end_to_end=end, coverage=coverage, correctness=correctness, extraction_yield=product, complete=complete)
