"""What the whole cascade lost, and at which stage."""

from collections.abc import Sequence

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate, ratio
from litcascade.schemas import Frozen


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


def cascade_loss(frame: pl.DataFrame, stages: Sequence[str]) -> CascadeLoss:
    """From a frame of the finally included records by gold: `record_id`, and a boolean column a stage (passed it).

    A record that failed a stage counts in no later one: r_j is conditional, never a product of marginal recalls.
    Undefined without gold includes, and for a stage that no gold include reached.
    """
    missing = [stage for stage in stages if stage not in frame.columns]
    if missing:
        raise InputError(f"the table has no column for stage '{missing[0]}'")
    total = frame.height
    alive = frame
    rows = []
    for stage in stages:
        passed = alive.filter(pl.col(stage))
        r = ratio("recall", passed.height, alive.height, "no gold include reached this stage", alive.height)
        share = ratio("loss", alive.height - passed.height, total, "no record is an include by gold", total)
        rows.append(StageLoss(stage=stage, recall=r, loss=share))
        alive = passed
    end = ratio("end_to_end_recall", alive.height, total, "no record is an include by gold", total)
    return CascadeLoss(end_to_end=end, stages=tuple(rows))
