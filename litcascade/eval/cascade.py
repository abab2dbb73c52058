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

    A record that failed a stage counts in no later one: r_j is conditional, never a product of marginal recalls. A null
    at a stage means that the record did not come there though it was not lost (it waits for a person, or a person ended its
    route): it leaves the later denominators, and R_end is the product of what is left, its note counting them. The bounds of
    r_j are exact (a share of whole papers); so are those of R_end and the losses where no record left its route, else they
    have none. Undefined without gold includes, and for a stage that no gold include reached.
    """
    _check(frame, stages)
    total, alive, product, left = frame.height, frame, 1.0, 0
    rows: list[tuple[str, Estimate, float | None]] = []
    for stage in stages:
        reached = alive.drop_nulls(stage)
        left += alive.height - reached.height
        alive = reached.filter(pl.col(stage))
        r = _share("recall", alive.height, reached.height, "no gold include reached this stage", alpha)
        rows.append((stage, r, None if r.value is None else (1 - r.value) * product))
        product *= 1.0 if r.value is None else r.value
    whole = any(r.value is None for _, r, _ in rows)
    note = f"{left} record(s) wait for a person or were decided by one, and left the later stages" if left else None
    losses = [_part("loss", loss, total, left, alpha, r.note, note) for _, r, loss in rows]
    reason = next((r.note for _, r, _ in rows if r.value is None), None) if whole else None
    end = _part("end_to_end_recall", None if whole and total else product, total, left, alpha, reason, note)
    return CascadeLoss(
        end_to_end=end,
        stages=tuple(StageLoss(stage=stage, recall=r, loss=loss) for (stage, r, _), loss in zip(rows, losses, strict=True)),
    )


def _part(name: str, value: float | None, total: int, left: int, alpha: float, reason: str | None, note: str | None) -> Estimate:
    """A share of all gold includes: exact bounds where every record kept to its route, none where some left it."""
    if not total or value is None:
        return Estimate(metric=name, value=None, n=total, note=reason or NO_INCLUDE if total else NO_INCLUDE)
    if left:
        return Estimate(metric=name, value=value, n=total, note=note)
    low, high = clopper_pearson(round(value * total), total, alpha)
    return Estimate(metric=name, value=value, n=total, low=low, high=high)


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
    those that came there after passing all before. Undefined without gold includes, or where nobody reached a later stage.
    """
    _check(frame, stages)
    recalls = {item.stage: item.recall for item in cascade_loss(frame, stages).stages}
    found = {}
    for number, stage in enumerate(stages):
        before, later = stages[:number], stages[number + 1 :]
        alive = frame.filter([pl.col(name).fill_null(False) for name in before]) if before else frame
        name = "end_to_end_recall"
        if not frame.height:
            found[stage] = Estimate(metric=name, value=None, n=0, note=NO_INCLUDE)
        elif _known(alive, later) == alive.height and _known(frame, before) == frame.height:
            whole = alive.filter([pl.col(other) for other in later]).height if later else alive.height
            found[stage] = Estimate(metric=name, value=whole / frame.height, n=frame.height)
        else:
            found[stage] = _assumed(name, frame.height, [recalls[other] for other in (*before, *later)], bool(later))
    return found


def _known(frame: pl.DataFrame, stages: Sequence[str]) -> int:
    """How many records have a value at all of these stages."""
    return frame.drop_nulls(list(stages)).height if stages else frame.height


def _assumed(name: str, n: int, recalls: Sequence[Estimate], later: bool) -> Estimate:
    """The product of the other stages' recalls."""
    unknown = next((r.note for r in recalls if r.value is None), None)
    if unknown:
        return Estimate(metric=name, value=None, n=n, note=unknown)
    note = "later stages assumed to pass what was lost here as often as what they saw" if later else "product of stage recalls"
    return Estimate(metric=name, value=float(np.prod([r.value or 0.0 for r in recalls])), n=n, note=note)


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
    of those that are right; `complete`: share of papers with gold values that reached extraction and have all right. The
    interval of the yield resamples whole papers, since values of one paper are not independent; there is none below 10
    papers, or where all resamples are equal. Undefined parts carry their reason. right <= given <= gold_values is required.
    """
    _check(frame, [*stages, "gold_values", "given", "right"])
    counted = frame.with_columns(pl.col("gold_values", "given", "right").fill_null(0), pl.col(list(stages)).fill_null(False))
    odd = counted.filter((pl.col("right") > pl.col("given")) | (pl.col("given") > pl.col("gold_values")))
    if odd.height:
        raise InputError(f"{odd.height} paper(s) have more values right than given, or more given than gold has")
    end = cascade_loss(frame, stages, alpha).end_to_end
    reached = counted.filter([pl.col(stage) for stage in stages])
    gold, given, right = (int(reached[name].sum()) for name in ("gold_values", "given", "right"))
    coverage = ratio("coverage", given, gold, "no gold value among the papers that reached extraction", reached.height)
    correctness = ratio("correctness", right, given, "no value was given", reached.height)
    with_gold = reached.filter(pl.col("gold_values") > 0)
    whole = with_gold.filter(pl.col("right") == pl.col("gold_values")).height
    complete = _share("complete_extraction", whole, with_gold.height, "no paper with gold values reached extraction", alpha)
    product = _yield(counted, stages, end, coverage, correctness, rng, alpha, repeats)
    return Yield(end_to_end=end, coverage=coverage, correctness=correctness, extraction_yield=product, complete=complete)


def _yield(
    counted: pl.DataFrame, stages: Sequence[str], end: Estimate, coverage: Estimate, correctness: Estimate,
    rng: np.random.Generator, alpha: float, repeats: int,
) -> Estimate:  # fmt: skip
    name, n = "extraction_yield", counted.height
    if end.value is None or coverage.value is None or correctness.value is None:
        return Estimate(metric=name, value=None, n=n, note=end.note or coverage.note or correctness.note)
    value = end.value * coverage.value * correctness.value
    if n < 10:
        return Estimate(metric=name, value=value, n=n, note="no interval: fewer than 10 papers to resample")
    passed = counted.select(pl.all_horizontal([pl.col(stage) for stage in stages])).to_series().to_numpy().astype(float)
    table = np.column_stack([passed, *(counted[part].to_numpy().astype(float) * passed for part in ("gold_values", "right"))])
    drawn = table[rng.integers(0, n, size=(repeats, n))].sum(axis=1)
    right = np.divide(drawn[:, 2], drawn[:, 1], out=np.zeros(repeats), where=drawn[:, 1] > 0)
    values = drawn[:, 0] / n * right
    if np.ptp(values) == 0:
        return Estimate(metric=name, value=value, n=n, note="no interval: all resamples are equal")
    low, high = (float(end) for end in np.quantile(values, [alpha / 2, 1 - alpha / 2]))
    return Estimate(metric=name, value=value, n=n, low=min(low, value), high=max(high, value), note="interval resamples papers")
