"""The confusion matrix of a screening stage, as a value."""

import polars as pl
from pydantic import Field

from litcascade.errors import InputError
from litcascade.schemas import Frozen

POSITIVE_STATES = ("included", "referred")


class Confusion(Frozen):
    """Counts of a binary classifier; include is the positive class, and referred records count as positive.

    Counts are floats from the start, so that products of large counts cannot overflow.
    """

    tp: float = Field(ge=0, allow_inf_nan=False)
    fp: float = Field(ge=0, allow_inf_nan=False)
    fn: float = Field(ge=0, allow_inf_nan=False)
    tn: float = Field(ge=0, allow_inf_nan=False)

    @property
    def n(self) -> int:
        """How many records were counted."""
        return round(self.tp + self.fp + self.fn + self.tn)

    @property
    def positives(self) -> float:
        """Includes by gold."""
        return self.tp + self.fn

    @property
    def negatives(self) -> float:
        """Excludes by gold."""
        return self.fp + self.tn


def confusion_of(frame: pl.DataFrame) -> Confusion:
    """Count a frame with columns `record_id`, `gold` (include, exclude) and `state` (included, referred, excluded).

    Other labels or states, missing values and repeated ids are an `InputError`: nothing is dropped in silence.
    """
    known = pl.col("gold").is_in(["include", "exclude"]) & pl.col("state").is_in([*POSITIVE_STATES, "excluded"])
    odd = frame.filter(~known.fill_null(False))
    if odd.height:
        row = odd.row(0, named=True)
        raise InputError(
            f"record '{row['record_id']}' has gold '{row['gold']}' and state '{row['state']}', which cannot be scored "
            f"({odd.height} such record(s))"
        )
    if frame["record_id"].n_unique() != frame.height:
        raise InputError("an id stands twice in the table to score")
    gold = pl.col("gold") == "include"
    found = pl.col("state").is_in(POSITIVE_STATES)
    counts = frame.select(
        tp=(gold & found).sum(), fp=(~gold & found).sum(), fn=(gold & ~found).sum(), tn=(~gold & ~found).sum()
    ).row(0, named=True)
    return Confusion(**{name: float(count) for name, count in counts.items()})


def join_by_id(gold: pl.DataFrame, states: pl.DataFrame) -> pl.DataFrame:
    """Join gold (`record_id`, `gold`) and states (`record_id`, `state`) by id; ids in one table only are an `InputError`."""
    for mine, theirs, where in ((gold, states, "has gold but no verdict"), (states, gold, "has a verdict but no gold")):
        alone = sorted(set(mine["record_id"]) - set(theirs["record_id"]))
        if alone:
            shown = ", ".join(str(key) for key in alone[:5]) + (", …" if len(alone) > 5 else "")
            raise InputError(f"{len(alone)} record(s) in one table only: {shown} {where}")
    return gold.join(states, on="record_id", validate="1:1")
