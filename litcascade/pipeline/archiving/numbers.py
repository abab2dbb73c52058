"""The numbers of a review as plain JSON, and where two sets of numbers differ."""

import contextlib
import math
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np
from pydantic import BaseModel

from litcascade.pipeline.ledger import read_ledger
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import Scores, score_review
from litcascade.store import Store

_NEAR = 1e-9


class _UndoError(Exception):
    """Ends a transaction without keeping it."""


def numbers_of(review: Review, store: Store) -> dict[str, Any]:
    """Ledger, what the stages judged, scores against gold and calls; nothing is written to the store.

    Ledger and scores are those of `litcascade report --json`; what an undefined number is, and why, stands beside it there.
    """
    calls = store.rows(
        "select stage, model, count(*), sum(prompt_tokens)::bigint, sum(completion_tokens)::bigint from calls "
        "group by all order by all"
    )
    return {
        "ledger": plain(read_ledger(store, review.protocol)),
        "scores": plain(_scores(review, store)),
        "calls": [dict(zip(("stage", "model", "calls", "prompt_tokens", "answer_tokens"), row, strict=True)) for row in calls],
    }


def _scores(review: Review, store: Store) -> Scores | None:
    """As `score`, but the estimates are not stored."""
    scores = None
    with contextlib.suppress(_UndoError), store.transaction():
        scores = score_review(review, store)
        raise _UndoError
    return scores


def plain(value: Any) -> Any:
    """Anything of the scores as JSON: a number that is not finite becomes its name, a table of records is left out (None)."""
    if isinstance(value, BaseModel):
        return plain(value.model_dump(mode="json"))
    if is_dataclass(value) and not isinstance(value, type):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in sorted(value.items(), key=lambda item: str(item[0]))}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else None


def differences(before: Any, after: Any, where: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(Where, before, after) of every plain value that differs; numbers count as equal to nine digits."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key in dict.fromkeys([*before, *after]):
            yield from differences(before.get(key), after.get(key), f"{where}.{key}" if where else str(key))
    elif isinstance(before, list) and isinstance(after, list):
        for place in range(max(len(before), len(after))):
            mine, other = (values[place] if place < len(values) else None for values in (before, after))
            name = _name(mine if mine is not None else other, place)
            yield from differences(mine, other, f"{where}[{name}]")
    elif not _equal(before, after):
        yield where, before, after


def _name(item: Any, place: int) -> str:
    told = [item[key] for key in ("stage", "metric") if isinstance(item.get(key), str)] if isinstance(item, dict) else []
    return told[0] if told else str(place)


def _equal(before: Any, after: Any) -> bool:
    both = (before, after)
    if all(isinstance(value, int | float) and not isinstance(value, bool) for value in both):
        return math.isclose(before, after, rel_tol=_NEAR, abs_tol=1e-12)
    return type(before) is type(after) and bool(before == after)


def count_of(value: Any) -> int:
    """How many plain values are in it."""
    if isinstance(value, dict):
        return sum(count_of(item) for item in value.values())
    if isinstance(value, list):
        return sum(count_of(item) for item in value)
    return 1
