"""Extraction: each field against gold. An invalid field scores 0; one that gold does not cover is not scored."""

from collections.abc import Callable, Iterable
from typing import Any

from litcascade.eval.estimate import Estimate
from litcascade.schemas import FieldSpec, Frozen

SameText = Callable[[str, str], bool]


class Pair(Frozen):
    """Gold and the extracted value of one field of one record; `invalid` where the extraction was an error."""

    record_id: str
    gold: Any
    value: Any = None
    invalid: bool = False


def jaccard(predicted: Iterable[str], gold: Iterable[str]) -> float:
    """|P and G| / |P or G|, in [0, 1]; 1 where both are empty."""
    mine, theirs = set(predicted), set(gold)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def score_field(spec: FieldSpec, pairs: list[Pair], same_text: SameText) -> Estimate:
    """The mean over records: Jaccard for multi-label fields, else the share of right values.

    `same_text` judges open fields. Undefined without gold. The note counts invalid fields, and the records of a
    multi-label field where both sides are empty.
    """
    metric = "jaccard" if spec.kind == "multi" else "accuracy"
    if not pairs:
        return Estimate(metric=metric, value=None, n=0, note="no gold for this field among the extracted records")
    scores = [0.0 if pair.invalid else _score(spec, pair, same_text) for pair in pairs]
    notes = []
    if invalid := sum(pair.invalid for pair in pairs):
        notes.append(f"{invalid} invalid, scored 0")
    if spec.kind == "multi" and (empty := sum(not pair.gold and not pair.value and not pair.invalid for pair in pairs)):
        notes.append(f"{empty} with both sides empty, scored 1")
    return Estimate(metric=metric, value=sum(scores) / len(scores), n=len(pairs), note="; ".join(notes) or None)


def _score(spec: FieldSpec, pair: Pair, same_text: SameText) -> float:
    gold, value = pair.gold, pair.value
    if spec.kind == "multi":
        return jaccard(value or [], gold or [])
    if gold is None or value is None:
        return float(gold is None and value is None)
    if spec.kind == "number":
        return float(float(gold) == float(value))
    return float(same_text(str(gold), str(value)) if spec.kind == "open" else gold == value)
