"""How well a score ranks includes above excludes."""

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate


def auc(frame: pl.DataFrame) -> Estimate:
    """Area under the ROC curve from columns `gold` (include, exclude) and `score`, in [0, 1]; ties count one half.

    By the Mann-Whitney rank sum. Rows without a score are left out and counted in the note. Undefined where one of the
    two classes has no score; a score that is not a number is an `InputError`.
    """
    if frame["score"].is_nan().any():
        raise InputError("a score is not a number")
    scored = frame.drop_nulls("score")
    missing = frame.height - scored.height
    note = f"{missing} record(s) without a score are left out" if missing else None
    ranks = scored.select(pl.col("score").rank("average"), gold=pl.col("gold") == "include")
    yes = int(ranks["gold"].sum())
    no = ranks.height - yes
    if not yes or not no:
        return Estimate(
            metric="auc",
            value=None,
            n=scored.height,
            note=f"no scored record is an {'include' if not yes else 'exclude'}",
        )
    total = float(ranks.filter(pl.col("gold"))["score"].sum())
    return Estimate(metric="auc", value=(total - yes * (yes + 1) / 2) / (yes * no), n=scored.height, note=note)
