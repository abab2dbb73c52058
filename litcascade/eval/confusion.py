"""The confusion matrix of a screening stage, as a value."""

from collections.abc import Sequence

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
    def total(self) -> float:
        """The sum of the counts, not rounded."""
        return self.tp + self.fp + self.fn + self.tn

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
    frame = as_text(frame, ("record_id", "gold", "state"))
    known = pl.col("gold").is_in(["include", "exclude"]) & pl.col("state").is_in([*POSITIVE_STATES, "excluded"])
    odd = frame.filter(~known.fill_null(False))
    if odd.height:
        row = odd.row(0, named=True)
        raise InputError(
            f"record '{row['record_id']}' has gold '{row['gold']}' and state '{row['state']}', which cannot be scored "
            f"({odd.height} such record(s))"
        )
    require_ids(frame)
    gold = pl.col("gold") == "include"
    found = pl.col("state").is_in(POSITIVE_STATES)
    counts = frame.select(
        tp=(gold & found).sum(), fp=(~gold & found).sum(), fn=(gold & ~found).sum(), tn=(~gold & ~found).sum()
    ).row(0, named=True)
    return Confusion(**{name: float(count) for name, count in counts.items()})


def as_text(frame: pl.DataFrame, columns: Sequence[str]) -> pl.DataFrame:
    """The frame with these columns as texts; one that is missing is an `InputError`."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise InputError(f"the table has no column '{missing[0]}'; it has: {', '.join(frame.columns) or 'none'}")
    return frame.with_columns(pl.col(name).cast(pl.String) for name in columns)


def require_ids(frame: pl.DataFrame) -> None:
    """Refuse records without an id, and ids that stand twice."""
    if frame["record_id"].has_nulls():
        raise InputError(f"{frame['record_id'].null_count()} row(s) of the table have no record_id")
    if frame["record_id"].n_unique() != frame.height:
        twice = frame.filter(pl.col("record_id").is_duplicated())["record_id"][0]
        raise InputError(f"record '{twice}' stands twice in the table")


def join_by_id(gold: pl.DataFrame, states: pl.DataFrame) -> pl.DataFrame:
    """Join gold (`record_id`, `gold`) and states (`record_id`, `state`) by id; ids in one table only are an `InputError`."""
    gold, states = as_text(gold, ("record_id", "gold")), as_text(states, ("record_id", "state"))
    for frame in (gold, states):
        require_ids(frame)
    for mine, theirs, where in ((gold, states, "has gold but no verdict"), (states, gold, "has a verdict but no gold")):
        alone = sorted(set(mine["record_id"]) - set(theirs["record_id"]))
        if alone:
            shown = ", ".join(alone[:5]) + (", …" if len(alone) > 5 else "")
            raise InputError(f"{len(alone)} record(s) in one table only: {shown} {where}")
    return gold.join(states, on="record_id", validate="1:1")
