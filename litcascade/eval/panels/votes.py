"""What readers said of the same records: a matrix of votes with its ids, and gold joined by id."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import polars as pl

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion, as_text, require_ids
from litcascade.eval.panels.counts import Bools, Counts, Floats, Ints
from litcascade.schemas import Frozen

Gaps = Literal["refuse", "common", "referred"]
DECISIONS = ("include", "exclude")


class Gap(Frozen):
    """Records that others answered and this reader never did: how many, and the first ids."""

    reader: str
    records: int
    first: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.reader} lacks {self.records} ({', '.join(self.first)}{', …' if self.records > len(self.first) else ''})"


@dataclass(frozen=True, eq=False)
class Votes:
    """Records x readers. A reader that was heard voted include or exclude; one that failed is no vote for exclusion.

    `include` is True for a vote to include; it is False where `heard` is False. `scores` is p(include) in [0, 1], NaN
    where there is none. `tokens` is the length of each record in tokens, NaN where unknown. `gaps` lists readers that
    answered different records. Rows and columns are found by `record_ids` and `readers`.
    """

    record_ids: tuple[str, ...]
    readers: tuple[str, ...]
    include: Bools
    heard: Bools
    scores: Floats
    tokens: Floats
    gaps: tuple[Gap, ...] = ()

    @property
    def could(self) -> Bools:
        """Votes with every missing reading counted as include: a record that failed readers could turn goes to a person."""
        return self.include | ~self.heard

    def columns(self, readers: Sequence[str]) -> list[int]:
        """Where these readers stand; one that is not there is an `InputError`."""
        place = {name: column for column, name in enumerate(self.readers)}
        lacking = [name for name in readers if name not in place]
        if lacking:
            raise InputError(f"reader '{lacking[0]}' gave no readings; there are: {', '.join(self.readers)}")
        return [place[name] for name in readers]

    def of(self, readers: Sequence[str]) -> "Votes":
        """The same records, these readers only, in this order."""
        at = self.columns(readers)
        return replace(
            self, readers=tuple(readers), include=self.include[:, at], heard=self.heard[:, at], scores=self.scores[:, at]
        )

    def rows(self, at: Ints | Bools) -> "Votes":
        """These records only, by row number or mask."""
        where = np.flatnonzero(at) if at.dtype == bool else at
        ids = tuple(self.record_ids[row] for row in where)
        return Votes(ids, self.readers, self.include[where], self.heard[where], self.scores[where], self.tokens[where])


@dataclass(frozen=True, eq=False)
class Labelled:
    """Votes with gold (True = include) for every one of their records; `unlabelled` counts voted records without gold."""

    votes: Votes
    gold: Bools
    unlabelled: int = 0

    @property
    def positives(self) -> int:
        """Includes by gold."""
        return int(self.gold.sum())

    @property
    def negatives(self) -> int:
        """Excludes by gold."""
        return len(self.gold) - self.positives

    def rows(self, at: Ints | Bools) -> "Labelled":
        """These records only, by row number or mask."""
        return Labelled(self.votes.rows(at), self.gold[at])

    def only(self, record_ids: Sequence[str]) -> "Labelled":
        """The records with these ids; one that is not there is an `InputError`."""
        place = {name: row for row, name in enumerate(self.votes.record_ids)}
        lacking = [name for name in record_ids if name not in place]
        if lacking:
            raise InputError(f"{len(lacking)} record(s) of the split have no votes and gold: {', '.join(lacking[:5])}")
        return self.rows(np.array([place[name] for name in record_ids], dtype=np.int64))

    def count(self, positive: Bools) -> Counts:
        """Counts of C rules from their positive records, a C x N matrix (or one row of N)."""
        table = np.atleast_2d(positive)
        tp = (table & self.gold).sum(axis=1).astype(float)
        return Counts(tp, table.sum(axis=1) - tp, self.positives, self.negatives)

    def confusion(self, positive: Bools) -> Confusion:
        """The matrix of one rule from its N positive records (included or referred)."""
        return self.count(positive).confusion(0)


def votes_of(readings: pl.DataFrame, lengths: pl.DataFrame | None = None, gaps: Gaps = "refuse") -> Votes:
    """Votes from a long frame `record_id`, `reader`, `decision` (include, exclude; null or referred: failed), maybe `score`.

    A failed reading is a missing vote, never one for exclusion. Where a reader has no row at all for a record that
    others answered, `gaps` says what happens: `refuse` (an `InputError` that lists them), `common` (only records that
    all answered are kept) or `referred` (as if the reading had failed); the last two list them in `Votes.gaps`.
    `lengths` has `record_id` and `tokens`. Records are in the order of their ids, readers in that of their names.
    """
    frame = _checked(readings)
    ids, names = frame["record_id"].unique().sort(), frame["reader"].unique().sort()
    row = ids.search_sorted(frame["record_id"]).to_numpy()
    column = names.search_sorted(frame["reader"]).to_numpy()
    shape = (len(ids), len(names))
    asked, include, heard = (np.zeros(shape, dtype=bool) for _ in range(3))
    scores = np.full(shape, np.nan)
    asked[row, column] = True
    include[row, column] = (frame["decision"] == "include").to_numpy()
    heard[row, column] = frame["decision"].is_in(DECISIONS).to_numpy()
    scores[row, column] = frame["score"].to_numpy()
    found = Votes(tuple(ids), tuple(names), include, heard, scores, _tokens(ids, lengths), _gaps(asked, ids, names))
    if not found.gaps or gaps == "referred":
        return found
    if gaps == "refuse":
        raise InputError(
            f"the readers answered different records: {'; '.join(map(str, found.gaps))}; ask them about those, or choose to "
            "keep only the records that all answered"
        )
    return replace(found.rows(np.flatnonzero(asked.all(axis=1))), gaps=found.gaps)


def _checked(readings: pl.DataFrame) -> pl.DataFrame:
    frame = as_text(readings, ("record_id", "reader"))
    if "decision" not in frame.columns:
        raise InputError("the table of readings has no column 'decision'")
    frame = frame.with_columns(pl.col("decision").cast(pl.String).fill_null("referred"))
    odd = frame.filter(~pl.col("decision").is_in([*DECISIONS, "referred"]))
    if odd.height:
        raise InputError(
            f"reader '{odd['reader'][0]}' has decision '{odd['decision'][0]}' on record '{odd['record_id'][0]}', which is "
            "none of include, exclude, referred"
        )
    if frame["record_id"].has_nulls() or frame["reader"].has_nulls():
        raise InputError("a reading has no record_id or no reader")
    twice = frame.filter(pl.struct("record_id", "reader").is_duplicated())
    if twice.height:
        raise InputError(f"reader '{twice['reader'][0]}' answered record '{twice['record_id'][0]}' twice in the table")
    if not frame.height:
        raise InputError("the table of readings is empty; run the readers on the labelled records first")
    if "score" in frame.columns and not (frame["score"].dtype.is_numeric() or frame["score"].dtype == pl.Null):
        raise InputError("the column 'score' of the readings does not hold numbers")
    score = pl.col("score").cast(pl.Float64) if "score" in frame.columns else pl.lit(None, dtype=pl.Float64)
    frame = frame.with_columns(score=score.fill_null(np.nan))
    wrong = frame.filter(pl.col("score").is_not_nan() & ~pl.col("score").is_between(0, 1))
    if wrong.height:
        raise InputError(f"record '{wrong['record_id'][0]}' has score {wrong['score'][0]}, which is outside [0, 1]")
    return frame


def _tokens(ids: pl.Series, lengths: pl.DataFrame | None) -> Floats:
    if lengths is None:
        return np.full(len(ids), np.nan)
    frame = as_text(lengths, ("record_id",))
    if "tokens" not in frame.columns or not frame["tokens"].dtype.is_numeric():
        raise InputError("the table of lengths has no column 'tokens' of numbers")
    require_ids(frame)
    joined = ids.alias("record_id").to_frame().join(frame.select("record_id", "tokens"), on="record_id", how="left")
    found = joined.sort("record_id")["tokens"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    if (found < 0).any():
        raise InputError("a length in tokens is below 0")
    return found


def _gaps(asked: Bools, ids: pl.Series, names: pl.Series) -> tuple[Gap, ...]:
    lacking = ~asked
    return tuple(
        Gap(reader=names[column], records=int(lacking[:, column].sum()), first=tuple(ids.filter(lacking[:, column]).head(5)))
        for column in np.flatnonzero(lacking.any(axis=0)).tolist()
    )


def label(votes: Votes, gold: pl.DataFrame) -> Labelled:
    """Join votes with gold (`record_id`, `gold`: include, exclude) by id.

    Gold without votes is an `InputError` that lists it; voted records without gold (the unlabelled rest) are counted.
    """
    frame = as_text(gold, ("record_id", "gold"))
    require_ids(frame)
    odd = frame.filter(~pl.col("gold").is_in(DECISIONS).fill_null(False))
    if odd.height:
        raise InputError(f"record '{odd['record_id'][0]}' has gold '{odd['gold'][0]}', which is neither include nor exclude")
    known: dict[str, str] = dict(frame.select("record_id", "gold").iter_rows())
    lone = sorted(known.keys() - set(votes.record_ids))
    if lone:
        raise InputError(f"{len(lone)} labelled record(s) have no votes: {', '.join(lone[:5])}{', …' if len(lone) > 5 else ''}")
    has = np.array([name in known for name in votes.record_ids], dtype=bool)
    kept = votes.rows(has)
    truth = np.array([known[name] == "include" for name in kept.record_ids], dtype=bool)
    return Labelled(replace(kept, gaps=votes.gaps), truth, unlabelled=int((~has).sum()))
