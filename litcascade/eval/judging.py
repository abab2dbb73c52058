"""What a judge model said: scores on a scale, and choices between two answers. A failed judgement is missing, never a number."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Annotated, Any, Literal

import polars as pl
from pydantic import Field, ValidationError

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate, ratio
from litcascade.schemas import Frozen

Order = Literal["AB", "BA"]
Seat = Literal["first", "second"]
Winner = Literal["A", "B", "tie", "missing"]


class ScoreSummary(Frozen):
    """The scores of one judge. `mean` rests on those that could be read; `failed` names the others.

    `worst` and `best` are the mean with every failed judgement at the low and at the high end of the scale; None where
    there is no judgement at all. `complete` is false where the failed share is past the limit.
    """

    n: int
    n_scored: int
    n_failed: int
    mean: Estimate
    worst: float | None
    best: float | None
    complete: bool
    headline: str
    failed: tuple[str, ...]


class Judgement(Frozen):
    """One request to choose between the answers A and B of an item; in order "BA" answer B has the first seat.

    `winner_seat` is None where the judgement failed. The lengths, in any one unit, are those of the answers as seated.
    """

    item: Annotated[str, Field(coerce_numbers_to_str=True, min_length=1)]
    order: Order
    winner_seat: Seat | None
    len_first: float = Field(ge=0, allow_inf_nan=False)
    len_second: float = Field(ge=0, allow_inf_nan=False)
    family_first: str | None = None
    family_second: str | None = None
    judge_family: str | None = None


class PairOutcome(Frozen):
    """What both orders of one item say together; `reason` says why it is a tie or missing."""

    item: str
    winner: Winner
    reason: str | None = None

    @property
    def text(self) -> str:
        """For people: "A", or "tie (order flip)"."""
        return f"{self.winner} ({self.reason})" if self.reason else self.winner


class PairSummary(Frozen):
    """All items. Complete: both orders were read. Decided: complete, and both orders name the same answer."""

    outcomes: tuple[PairOutcome, ...]
    n_items: int
    n_complete: int
    n_missing: int
    n_flips: int
    wins_a: int
    wins_b: int
    flip_rate: Estimate
    first_seat: Estimate
    longer_wins: Estimate
    own_family: Estimate


def read_score(text: str | None, low: float, high: float) -> float | None:
    """The number under "score" of a reply that is one JSON object and nothing else; None where there is none to trust.

    A number in a text, true or false, NaN, a value outside [low, high] and a key that stands twice are no score.
    """
    try:
        found = json.loads(text or "", object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        return None
    value = found.get("score") if isinstance(found, dict) else None
    return _on_scale(value, low, high)


def summarise_scores(values: Mapping[str, float | None], low: float, high: float, *, most_failed: float = 0.1) -> ScoreSummary:
    """Mean score over the judgements that gave one, with the failed ones counted and bounded.

    None, NaN, and anything outside [low, high] is a failed judgement; nothing is clamped. The mean is in [low, high] and
    undefined where no judgement gave a score. `complete` is true where there are judgements and at most `most_failed` of
    them failed. A scale whose ends are not finite and in order, or a limit outside [0, 1], is an `InputError`.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"the scale must have a low end below its high end (got {low:g} to {high:g})")
    if not 0 <= most_failed <= 1:
        raise InputError(f"the limit of the failed share must be in 0 to 1 (got {most_failed:g})")
    read = {key: _on_scale(value, low, high) for key, value in values.items()}
    scored = [value for value in read.values() if value is not None]
    failed = tuple(key for key, value in read.items() if value is None)
    n, total = len(read), math.fsum(scored)
    mean = ratio("mean_score", total, len(scored), "no judgement gave a score" if n else "no judgement", len(scored))
    complete = n > 0 and len(failed) / n <= most_failed
    start = "no score" if mean.value is None else f"{round(mean.value, 2)}"
    return ScoreSummary(
        n=n,
        n_scored=len(scored),
        n_failed=len(failed),
        mean=mean,
        worst=(total + len(failed) * low) / n if n else None,
        best=(total + len(failed) * high) / n if n else None,
        complete=complete,
        headline=f"{start} on {len(scored)} of {n}{'' if complete else '; result incomplete'}",
        failed=failed,
    )


def judgements_of(frame: pl.DataFrame) -> tuple[Judgement, ...]:
    """The rows of a frame as `Judgement`s, its columns named as the fields there; a row that does not fit is an `InputError`."""
    rows = []
    for number, row in enumerate(frame.iter_rows(named=True), 1):
        try:
            rows.append(Judgement(**row))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(map(str, first["loc"]))
            raise InputError(f"judgement {number} (item '{row.get('item')}') has a bad '{where}': {first['msg']}") from error
    return tuple(rows)


def summarise_pairs(rows: Sequence[Judgement]) -> PairSummary:
    """Join the two orders of each item, and show what the judge leans to; every share is in [0, 1].

    An answer wins where both orders name it. Where they differ the order decided: a tie, counted as a flip. An item with
    a failed or absent order is missing.
    flip_rate: flips / complete items. first_seat: verdicts for the first seat / verdicts of complete items, where every
    answer sat in each seat once, so .5 is fair. longer_wins: of the decided items with unequal lengths, those that the
    longer answer won. own_family: of the decided items where exactly one answer is of the judge's family, those that it
    won. Each is undefined where its denominator is empty. An order that an item has twice, or two orders that do not
    hold the same two answers, is an `InputError`.
    """
    seated = _seated(rows)
    outcomes = tuple(_outcome(item, orders) for item, orders in seated.items())
    flips = sum(outcome.winner == "tie" for outcome in outcomes)
    missing = sum(outcome.winner == "missing" for outcome in outcomes)
    complete = len(outcomes) - missing
    seats = [row.winner_seat for it in outcomes if it.winner != "missing" for row in seated[it.item].values()]
    decided = [(it.winner == "A", seated[it.item]["AB"]) for it in outcomes if it.winner in ("A", "B")]
    nothing = "no item was read in both orders"
    return PairSummary(
        outcomes=outcomes,
        n_items=len(outcomes),
        n_complete=complete,
        n_missing=missing,
        n_flips=flips,
        wins_a=sum(a_won for a_won, _ in decided),
        wins_b=sum(not a_won for a_won, _ in decided),
        flip_rate=ratio("flip_rate", flips, complete, nothing, complete),
        first_seat=ratio("first_seat", seats.count("first"), len(seats), nothing, len(seats)),
        longer_wins=_share("longer_wins", decided, _a_is_longer, "no decided item has answers of unequal length"),
        own_family=_share("own_family", decided, _a_is_own, "no decided item has one answer of the judge's own family"),
    )


def _seated(rows: Sequence[Judgement]) -> dict[str, dict[Order, Judgement]]:
    seated: dict[str, dict[Order, Judgement]] = {}
    for row in rows:
        orders = seated.setdefault(row.item, {})
        if row.order in orders:
            raise InputError(f"item '{row.item}' has the order {row.order} twice")
        orders[row.order] = row
    for item, orders in seated.items():
        if len(orders) == 2 and _answers(orders["AB"]) != _answers(orders["BA"]):
            raise InputError(f"item '{item}' differs in lengths or families between its two orders")
    return seated


def _answers(row: Judgement) -> tuple[Any, ...]:
    first, second = (row.len_first, row.family_first), (row.len_second, row.family_second)
    return (first, second, row.judge_family) if row.order == "AB" else (second, first, row.judge_family)


def _outcome(item: str, orders: Mapping[Order, Judgement]) -> PairOutcome:
    if len(orders) < 2:
        return PairOutcome(item=item, winner="missing", reason="one order was not asked")
    failed = sum(row.winner_seat is None for row in orders.values())
    if failed:
        return PairOutcome(item=item, winner="missing", reason=f"{'one order' if failed == 1 else 'both orders'} failed")
    if orders["AB"].winner_seat == orders["BA"].winner_seat:
        return PairOutcome(item=item, winner="tie", reason="order flip")
    return PairOutcome(item=item, winner="A" if orders["AB"].winner_seat == "first" else "B")


def _a_is_longer(ab: Judgement) -> bool | None:
    return None if ab.len_first == ab.len_second else ab.len_first > ab.len_second


def _a_is_own(ab: Judgement) -> bool | None:
    own = [family is not None and family == ab.judge_family for family in (ab.family_first, ab.family_second)]
    known = ab.family_first is not None and ab.family_second is not None
    return own[0] if known and own[0] != own[1] else None


def _share(
    metric: str, decided: Sequence[tuple[bool, Judgement]], a_has_it: Callable[[Judgement], bool | None], empty: str
) -> Estimate:
    """Of the decided items where exactly one answer has a trait, the share that it won."""
    hits = [a_won == has for a_won, row in decided if (has := a_has_it(row)) is not None]
    return ratio(metric, sum(hits), len(hits), empty, len(hits))


def _on_scale(value: Any, low: float, high: float) -> float | None:
    number = isinstance(value, Real) and not isinstance(value, bool)
    return float(value) if number and low <= value <= high else None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
