"""Extracted fields against gold: scores, counts by kind of fault, whole records."""

import json
from dataclasses import dataclass, field

import polars as pl

from litcascade.eval import Estimate, Pair, score_field
from litcascade.eval.field_groups import GroupScores, score_groups
from litcascade.eval.field_ordinal import OrdinalScores, ordinal_scores
from litcascade.eval.field_support import counts_by_support
from litcascade.eval.fields import FieldCounts, WholeRecords, count_field, right_of, whole_records
from litcascade.judges import normalised_match
from litcascade.pipeline.review import Review
from litcascade.schemas import FieldSpec
from litcascade.schemas.fields import is_nothing
from litcascade.store import Store


@dataclass(frozen=True)
class FieldScores:
    """Per field the score and the counts; the share of records right in every field; how the quotes stand.

    `groups` and `ordinal` hold what these kinds have beside it, `supported` how values came out by the support of their quotes.
    `to_people` counts the values that a person should look at, by
    field, and `recovered` those that a further pass brought.
    """

    scores: dict[str, Estimate] = field(default_factory=dict)
    counts: dict[str, FieldCounts] = field(default_factory=dict)
    whole: WholeRecords | None = None
    quotes: dict[str, int] = field(default_factory=dict)
    by_record: pl.DataFrame | None = None
    groups: dict[str, GroupScores] = field(default_factory=dict)
    ordinal: dict[str, OrdinalScores] = field(default_factory=dict)
    supported: dict[str, dict[str, FieldCounts]] = field(default_factory=dict)
    to_people: dict[str, int] = field(default_factory=dict)
    recovered: dict[str, int] = field(default_factory=dict)


def score_fields(review: Review, store: Store) -> FieldScores:
    """Score the first extraction reader (or the person who took its place) against gold fields."""
    spec = review.protocol.stages.extraction
    if spec is None:
        return FieldScores()
    scores, counts, by_record = {}, {}, []
    groups, ordinal, supported = {}, {}, {}
    for declared in review.protocol.fields:
        rows = _rows(store, declared, spec.readers[0])
        pairs = [pair for pair, extracted in rows if extracted]
        scores[declared.name] = score_field(declared, pairs, normalised_match)
        counts[declared.name] = count_field(declared, pairs, normalised_match)
        by_record.append(_by_record(declared, rows))
        supported[declared.name] = counts_by_support(declared, pairs, normalised_match)
        if declared.kind == "group":
            groups[declared.name] = score_groups(declared, pairs, normalised_match)
        if declared.kind == "ordinal":
            ordinal[declared.name] = ordinal_scores(declared, pairs)
    quotes = dict(
        store.rows(
            "select case when error is not null then 'invalid' else coalesce(support, case when quote_found then 'quote found' "
            "when quote_found is null then 'not reported' else 'quote not found' end) end, count(*) from extracted group by 1"
        )
    )
    joined = pl.concat(by_record)
    names = [declared.name for declared in review.protocol.fields]
    told = joined.filter("extracted").select("record_id", "field", "right")
    whole = whole_records(told, names) if told.height else None
    told_of = "select field, count(*) from extracted where {} group by 1 order by 1"
    to_people = dict(store.rows(told_of.format("escalated is not null")))
    recovered = dict(store.rows(told_of.format("purpose = 'recover'")))
    return FieldScores(scores, counts, whole, quotes, joined, groups, ordinal, supported, to_people, recovered)


def _rows(store: Store, spec: FieldSpec, reader: str) -> list[tuple[Pair, bool]]:
    """Every gold value of a field with what was extracted for it, and whether its record was extracted at all."""
    rows = store.rows(
        "select g.record_id, g.value, e.value, e.error is not null, s.state = 'extracted', e.evidence, e.support "
        "from current_gold_fields g left join extraction s on s.record_id = g.record_id "
        "left join (select * from extracted where reader = ? or fingerprint = 'person' "
        "  qualify row_number() over (partition by record_id, field order by fingerprint = 'person' desc, seq desc) = 1) e "
        "on e.record_id = g.record_id and e.field = g.field where g.field = ?",
        [reader, spec.name],
    )
    return [
        (
            Pair(
                record_id=key,
                gold=json.loads(gold),
                value=json.loads(value) if value is not None else None,
                invalid=bool(invalid),
                wrong_cells=_wrong_cells(evidence),
                support=support,
                doubts=_doubts(evidence),
            ),
            bool(extracted),
        )
        for key, gold, value, invalid, extracted, evidence, support in rows
    ]


def _wrong_cells(evidence: str | None) -> tuple[tuple[int, str], ...]:
    """The cells of a group that were errors, from the evidence of its rows."""
    rows = json.loads(evidence) if evidence else []
    return tuple((place, name) for place, row in enumerate(rows) for name in row["errors"])


def _doubts(evidence: str | None) -> tuple[tuple[int, str, str], ...]:
    """The cells of a group that their quotes do not hold up, with the status."""
    rows = json.loads(evidence) if evidence else []
    told = [(place, name, doubt) for place, row in enumerate(rows) for name, doubt in row.get("doubts", {}).items()]
    return tuple((place, name, doubt.split(": ")[0]) for place, name, doubt in told)


def _by_record(spec: FieldSpec, rows: list[tuple[Pair, bool]]) -> pl.DataFrame:
    """One row a gold value: whether a value was given for it, and whether it is right; nothing was where none was extracted."""
    pairs = [pair for pair, _ in rows]
    frame = right_of(spec, pairs, normalised_match)
    extracted = pl.Series([there for _, there in rows], dtype=pl.Boolean)
    given = pl.Series([not pair.invalid and not is_nothing(spec, pair.value) for pair in pairs], dtype=pl.Boolean)
    right = frame["right"] & extracted
    return frame.with_columns(extracted=extracted, right=right, given=(given & extracted) | right)
