"""A ranking of records by score, ties broken against us."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from litcascade.errors import InputError
from litcascade.eval.confusion import as_text, require_ids

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """Gold labels (true = include) in reading order, highest score first; within equal scores the excludes stand first.

    So no measure profits from a tie. `scores` are in the same order; `left_out` counts records without a score.
    """

    relevant: Bools
    scores: Floats
    left_out: int = 0

    @property
    def n(self) -> int:
        """How many records are ranked."""
        return len(self.relevant)

    @property
    def includes(self) -> int:
        """How many of them are includes by gold."""
        return int(self.relevant.sum())

    def cut_at_recall(self, target: float) -> int | None:
        """How many records must be read, from the top, until recall reaches `target`; None without includes."""
        if not self.includes:
            return None
        needed = int(np.ceil(round(target * self.includes, 9)))
        return int(np.flatnonzero(np.cumsum(self.relevant) >= max(1, needed))[0]) + 1

    def note(self) -> str | None:
        """What a reader of a measure should know of the ties and of what was left out."""
        ties = self.n - len(np.unique(self.scores))
        notes = [f"{ties} tied score(s) broken against us"] if ties else []
        notes += [f"{self.left_out} record(s) without a score are left out"] if self.left_out else []
        return "; ".join(notes) or None


def ranking_of(frame: pl.DataFrame) -> Ranking:
    """Rank a frame with columns `record_id`, `gold` (include, exclude) and `score` in [0, 1] or null.

    Unknown labels, NaN, scores outside [0, 1] and repeated ids are an `InputError`.
    """
    frame = as_text(frame, ("record_id", "gold"))
    if "score" not in frame.columns or not (frame["score"].dtype.is_numeric() or frame["score"].dtype == pl.Null):
        raise InputError("the table to rank has no column 'score' of numbers")
    frame = frame.with_columns(pl.col("score").cast(pl.Float64))
    require_ids(frame)
    odd = frame.filter(~pl.col("gold").is_in(["include", "exclude"]).fill_null(False))
    if odd.height:
        raise InputError(f"record '{odd['record_id'][0]}' has gold '{odd['gold'][0]}', which is neither include nor exclude")
    scored = frame.filter(pl.col("score").is_not_null())
    wrong = scored.filter(pl.col("score").is_nan() | ~pl.col("score").is_between(0, 1))
    if wrong.height:
        raise InputError(f"record '{wrong['record_id'][0]}' has score {wrong['score'][0]}, which is outside [0, 1]")
    scores = scored["score"].cast(pl.Float64).to_numpy()
    relevant = (scored["gold"] == "include").to_numpy()
    order = np.lexsort((relevant, -scores))
    return Ranking(relevant[order].astype(bool), scores[order].astype(float), frame.height - scored.height)
