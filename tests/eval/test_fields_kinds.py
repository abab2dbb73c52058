"""Ordinal, date, tolerance and group fields against gold, by hand."""

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.errors import InputError
from litcascade.eval.field_groups import score_groups
from litcascade.eval.field_ordinal import ordinal_scores
from litcascade.eval.field_rows import align_rows, compare_rows
from litcascade.eval.fields import FieldCounts, Pair, count_field, error_class, outcome_of, right_of, score_field, whole_records
from litcascade.judges import normalised_match
from litcascade.schemas import FieldSpec

GRADE = FieldSpec(name="g", kind="ordinal", definition="d", values=("low", "moderate", "high"))
DATE = FieldSpec(name="d", kind="date", definition="d")
DOSE = FieldSpec(name="n", kind="number", definition="d", same={"absolute": 0.5})
ARMS = FieldSpec.model_validate(
    {
        "name": "arms", "kind": "group", "definition": "d", "key": ["arm", "time"],
        "fields": [
            {"name": name, "kind": kind, "definition": "d"}
            for name, kind in (("arm", "open"), ("time", "open"), ("n", "number"), ("mean", "number"))
        ],
    }
)  # fmt: skip
NAMES = [field.name for field in ARMS.fields]


def pairs(*rows: tuple[Any, ...]) -> list[Pair]:
    return [Pair(record_id=str(place), gold=row[0], value=row[1], invalid=len(row) > 2) for place, row in enumerate(rows)]


def row(*cells: Any) -> dict[str, Any]:
    return dict(zip(NAMES, cells, strict=True))


A, B, C = row("zinc", "1 week", 20, 3.5), row("zinc", "2 weeks", 20, 2.5), row("sugar", "1 week", 21, 4.5)


@pytest.mark.parametrize(
    ("spec", "gold", "value", "outcome", "kind"),
    [
        (GRADE, "low", "low", "correct", None),
        (GRADE, "low", "high", "wrong", "wrong value"),
        (GRADE, "low", "not reported", "missing", "omission"),
        (DATE, "2020-05", "2020-05-01", "wrong", "wrong value"),
        (DATE, None, "2020", "spurious", "fabrication"),
        (DOSE, 10, 10.5, "correct", None),
        (DOSE, 10, 10.6, "wrong", "wrong value"),
        (ARMS, [A, C], [C, A], "correct", None),
        (ARMS, [A, C], [A], "wrong", "wrong value"),
        (ARMS, [A], [], "missing", "omission"),
        (ARMS, [], [A], "spurious", "fabrication"),
        (ARMS, [], None, "both_empty", None),
    ],
)
def test_outcomes_of_the_newer_kinds(spec: FieldSpec, gold: Any, value: Any, outcome: Any, kind: str | None) -> None:
    assert outcome_of(spec, Pair(record_id="1", gold=gold, value=value), normalised_match) == outcome
    assert error_class(outcome) == kind


def test_kinds_of_errors_have_their_own_shares() -> None:
    counts = FieldCounts(correct=5, wrong=2, missing=2, spurious=1, both_empty=3, invalid=2, invalid_on_gold=1)
    assert (counts.omission.value, counts.wrong_value.value) == (0.2, 0.2)
    assert (counts.fabrication.value, counts.fabrication.n) == (0.2, 5)
    for estimate in (FieldCounts().omission, FieldCounts().wrong_value, FieldCounts(correct=1).fabrication):
        assert estimate.value is None
        assert estimate.note


def test_a_confusion_of_neighbours_costs_less_than_one_of_the_ends() -> None:
    said = [("low", "low"), ("moderate", "moderate"), ("high", "high"), ("low", "low"), ("high", "high")]
    near = ordinal_scores(GRADE, pairs(*said, ("high", "moderate"), ("low", None), ("low", None, "invalid"), (None, "low")))
    far = ordinal_scores(GRADE, pairs(*said, ("high", "low")))
    assert near.graded.value is not None
    assert far.graded.value is not None
    assert near.graded.value > far.graded.value
    codes = [(0, 0), (1, 1), (2, 2), (0, 0), (2, 2), (2, 1)]
    mean = [sum(pair[side] for pair in codes) / 6 for side in (0, 1)]
    cov = sum((x - mean[0]) * (y - mean[1]) for x, y in codes)
    spread = [math.sqrt(sum((pair[side] - mean[side]) ** 2 for pair in codes)) for side in (0, 1)]
    assert near.graded.value == pytest.approx(cov / (spread[0] * spread[1]))
    assert near.distance.value == pytest.approx(1 / 6)
    assert (near.n_left_out, near.confusion.n) == (3, 8)
    assert near.plain.value is not None
    assert ordinal_scores(GRADE, pairs(*said)).plain.value == pytest.approx(1)
    weighted = ordinal_scores(GRADE, pairs(*said, ("high", "low")), weights=(1, 1, 5)).graded.value
    assert weighted != pytest.approx(far.graded.value)
    empty = ordinal_scores(GRADE, [])
    assert all(e.value is None and e.note for e in (empty.graded, empty.linear, empty.distance, empty.plain))
    with pytest.raises(InputError, match="is date"):
        ordinal_scores(DATE, [])
    with pytest.raises(InputError, match="none of: low"):
        ordinal_scores(GRADE, pairs(("low", "lowish")))


def test_rows_are_aligned_by_their_key_wherever_they_stand() -> None:
    assert align_rows(ARMS, [A, B, C], [C, B, A]) == [(0, 2), (1, 1), (2, 0)]
    assert align_rows(ARMS, [A], [row("iron", "9 weeks", 20, 3.5)]) == [(0, None), (None, 0)]
    assert align_rows(ARMS, [A], [row("zinc", "7 days", 20, 3.5)]) == [(0, 0)], "half of the key agrees"
    assert align_rows(ARMS, [A], [row("zinc", "7 days", 20, 3.5)], least_key=1) == [(0, None), (None, 0)]
    assert align_rows(ARMS, [], []) == []
    torn = row("zinc", "1 week", 20, 99)
    assert align_rows(ARMS, [A, torn], [torn, A]) == [(0, 1), (1, 0)], "other cells part rows of one key"
    bare = [row(None, None, 1, 1), row(None, None, 2, 2)]
    assert align_rows(ARMS, bare, bare[::-1]) == [(0, 1), (1, 0)]


def test_groups_by_hand() -> None:
    found = score_groups(
        ARMS,
        [
            Pair(record_id="1", gold=[A, B, C], value=[B, row("zinc", "1 week", 20, 3.6), row("iron", "3 days", 5, None)]),
            Pair(record_id="2", gold=[A], value=[row("Zinc", "1 week", None, 3.5)]),
            Pair(record_id="3", gold=[A], value=[row("zinc", "1 week", None, 3.5)], wrong_cells=((0, "n"),)),
            Pair(record_id="4", gold=[C], invalid=True),
            Pair(record_id="5", gold=[], value=[]),
        ],
        normalised_match,
    )
    assert found.rows == FieldCounts(correct=4, missing=1, spurious=1, invalid=1, invalid_on_gold=1)
    assert found.rows_right == 1
    assert found.cells["mean"] == FieldCounts(correct=3, wrong=1, missing=1, invalid=1, invalid_on_gold=1)
    assert found.cells["n"] == FieldCounts(correct=2, missing=2, spurious=1, invalid=2, invalid_on_gold=2)
    assert found.all_cells.spurious == 3
    shares = [7 / (8 + 4 + 3), 3 / 4, 3 / 4, 0, 1]
    assert found.mean.value == pytest.approx(sum(shares) / 5)
    assert (found.whole.value, found.whole.n) == (1 / 5, 5)
    with pytest.raises(InputError, match="holds no rows"):
        score_groups(GRADE, [])
    assert score_groups(ARMS, []).mean.note


def test_the_fields_score_and_whole_records_count_groups() -> None:
    rows = pairs(([A, C], [C, A]), ([A, C], [A]), ([], []), ([A], None, "invalid"))
    score = score_field(ARMS, rows, normalised_match)
    assert score.metric == "cells_right"
    assert score.value == pytest.approx((1 + 0.5 + 1 + 0) / 4)
    assert score.note == "1 invalid, scored 0; 1 with both sides empty, scored 1"
    assert score.value == pytest.approx(score_groups(ARMS, rows, normalised_match).mean.value)
    assert count_field(ARMS, rows, normalised_match) == FieldCounts(
        correct=1, wrong=1, both_empty=1, invalid=1, invalid_on_gold=1
    )
    assert whole_records(right_of(ARMS, rows, normalised_match), ["arms"]).share.value == 0.5


_ROWS = st.lists(
    st.builds(row, st.sampled_from(["a", "b", None]), st.sampled_from(["x", None]), st.sampled_from([1, 2, None]), st.none()),
    max_size=4,
)


@settings(max_examples=60, deadline=None)
@given(_ROWS, _ROWS)
def test_every_row_and_value_is_counted_once(gold: list[dict[str, Any]], found: list[dict[str, Any]]) -> None:
    made = compare_rows(ARMS, gold, found)
    assert sorted(i for i, _ in made.pairs if i is not None) == list(range(len(gold)))
    assert sorted(j for _, j in made.pairs if j is not None) == list(range(len(found)))
    values = sum(cell is not None for one in gold for cell in one.values())
    assert sum(cell.on_gold for cell in made.cells) == values
    said = sum(cell is not None for one in found for cell in one.values())
    assert sum({"correct": 1, "wrong": 1, "spurious": 1}.get(cell.outcome, 0) for cell in made.cells) == said
    itself = compare_rows(ARMS, gold, gold[::-1])
    assert itself.rows_right == len(gold)
