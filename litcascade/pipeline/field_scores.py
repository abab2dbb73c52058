"""Extracted fields against gold: scores, counts by kind of fault, whole records."""

import json
from dataclasses import dataclass, field

import polars as pl

from litcascade.eval import Estimate, Pair, score_field
from litcascade.eval.fields import FieldCounts, WholeRecords, count_field, right_of, whole_records
from litcascade.judges import normalised_match
from litcascade.pipeline.review import Review
from litcascade.schemas import FieldSpec
from litcascade.store import Store


@dataclass(frozen=True)
class FieldScores:
    """Per field the score and the counts; the share of records right in every field; how the quotes stand."""

    scores: dict[str, Estimate] = field(default_factory=dict)
    counts: dict[str, FieldCounts] = field(default_factory=dict)
    whole: WholeRecords | None = None
    quotes: dict[str, int] = field(default_factory=dict)
    by_record: pl.DataFrame | None = None


def score_fields(review: Review, store: Store) -> FieldScores:
    """Score the first extraction reader (or the person who took its place) against gold fields."""
    spec = review.protocol.stages.extraction
    if spec is None:
        return FieldScores()
    scores, counts, right = {}, {}, []
    for declared in review.protocol.fields:
        pairs = _pairs(store, declared, spec.readers[0])
        scores[declared.name] = score_field(declared, pairs, normalised_match)
        counts[declared.name] = count_field(declared, pairs, normalised_match)
        frame = right_of(declared, pairs, normalised_match)
        given = [not pair.invalid and pair.value not in (None, [], "not reported") for pair in pairs]
        right.append(frame.with_columns(given=pl.Series(given, dtype=pl.Boolean)))
    quotes = dict(
        store.rows(
            "select case when error is not null then 'invalid' when quote_found then 'quote found' "
            "when quote_found is null then 'not reported' else 'quote not found' end, count(*) from extracted group by 1"
        )
    )
    by_record = pl.concat(right)
    names = [declared.name for declared in review.protocol.fields]
    whole = whole_records(by_record.drop("given"), names) if by_record.height else None
    return FieldScores(scores, counts, whole, quotes, by_record)


def _pairs(store: Store, spec: FieldSpec, reader: str) -> list[Pair]:
    rows = store.rows(
        "select g.record_id, g.value, e.value, e.error is not null from current_gold_fields g "
        "join extracted e on e.record_id = g.record_id and e.field = g.field and e.reader = ? where g.field = ?",
        [reader, spec.name],
    )
    return [
        Pair(record_id=key, gold=json.loads(gold), value=json.loads(value) if value is not None else None, invalid=invalid)
        for key, gold, value, invalid in rows
    ]
