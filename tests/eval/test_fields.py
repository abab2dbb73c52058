import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.errors import InputError
from litcascade.eval.fields import (
    FieldCounts,
    Pair,
    Tolerance,
    count_field,
    jaccard,
    multilabel_scores,
    outcome_of,
    right_of,
    same_number,
    score_field,
    whole_records,
)
from litcascade.judges import normalised_match
from litcascade.schemas import FieldSpec

OPEN = FieldSpec(name="o", kind="open", definition="d")
NUMBER = FieldSpec(name="n", kind="number", definition="d")
CLOSED = FieldSpec(name="c", kind="closed", definition="d", values=("Zinc", "Iron"))
MULTI = FieldSpec(name="m", kind="multi", definition="d", values=("a", "b", "c"))


def pairs(*rows: tuple[Any, ...]) -> list[Pair]:
    return [Pair(record_id=str(place), gold=row[0], value=row[1], invalid=len(row) > 2) for place, row in enumerate(rows)]


def test_jaccard_of_e02(cases: Path) -> None:
    folder = cases / "E02-undefined-metrics"
    found = json.loads((folder / "cases.json").read_text(encoding="utf-8"))["jaccard"]
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))["jaccard"]
    scores = {item["id"]: jaccard(item["a"], item["b"], fold=True) for item in found}
    assert scores["both_empty"] == expected["both_empty"]["value"]
    assert scores["one_empty"] == expected["one_empty"]
    assert scores["dupes_case"] == expected["dupes_case"]
    assert jaccard(["Zinc", "zinc "], ["zinc"]) == 0
    assert expected["both_empty"]["counted_apart"]
    assert multilabel_scores(MULTI, pairs(([], []))).n_both_empty == 1


def test_every_outcome_is_counted_once() -> None:
    rows = pairs(
        ("75 mg", "75 MG"), ("75 mg", "7.5 mg"), ("x", None), (None, "x"), (None, None), ("x", None, "invalid"),
        (None, None, "invalid"), ("not reported", None), ("zinc", "Zinc."),
    )  # fmt: skip
    found = count_field(OPEN, rows, normalised_match)
    assert found == FieldCounts(correct=2, wrong=1, missing=1, spurious=1, both_empty=2, invalid=2, invalid_on_gold=1)
    assert found.n == len(rows)
    assert found.accuracy.value == pytest.approx(4 / 9)
    assert (found.recall.value, found.recall.n) == (2 / 5, 5)
    assert (found.precision.value, found.precision.n) == (2 / 4, 4)


def test_undefined_field_scores_carry_a_reason() -> None:
    for estimate in (FieldCounts().accuracy, FieldCounts(spurious=2).recall, FieldCounts(missing=2, invalid=1).precision):
        assert estimate.value is None
        assert estimate.note
    assert count_field(OPEN, [], normalised_match).n == 0


@pytest.mark.parametrize(
    ("spec", "gold", "value", "fold", "outcome"),
    [
        (CLOSED, "Zinc", "Zinc", False, "correct"),
        (CLOSED, "Zinc", "zinc ", False, "wrong"),
        (CLOSED, "Zinc", "zinc ", True, "correct"),
        (CLOSED, "not reported", None, False, "both_empty"),
        (CLOSED, "Zinc", "not reported", False, "missing"),
        (MULTI, ["a", "b"], ["b", "a", "a"], False, "correct"),
        (MULTI, ["a", "b"], ["a"], False, "wrong"),
        (MULTI, ["a"], [" A"], True, "correct"),
        (MULTI, (), None, False, "both_empty"),
        (MULTI, None, ["a"], False, "spurious"),
        (NUMBER, 40, 40.0, False, "correct"),
        (NUMBER, 0, None, False, "missing"),
        (NUMBER, 0, 0.0, False, "correct"),
    ],
)
def test_outcomes_by_kind(spec: FieldSpec, gold: Any, value: Any, fold: bool, outcome: str) -> None:
    assert outcome_of(spec, Pair(record_id="1", gold=gold, value=value), normalised_match, fold=fold) == outcome


@given(st.lists(st.tuples(st.sampled_from([None, 1, 2]), st.sampled_from([None, 1, 2])), min_size=1))
def test_the_counts_agree_with_the_field_score(rows: list[tuple[int | None, int | None]]) -> None:
    found = count_field(NUMBER, pairs(*rows), normalised_match)
    assert found.n == len(rows)
    assert found.accuracy.value == pytest.approx(score_field(NUMBER, pairs(*rows), normalised_match).value)


@pytest.mark.parametrize(
    ("gold", "value", "options", "same"),
    [
        (40, 40.0, {}, True),
        (0.3, 0.1 + 0.2, {}, False),
        (10, 11, {"relative": 0.1}, True),
        (1.0, 1.1, {"relative": 0.1}, True),
        (1.0, 1.11, {"relative": 0.1}, False),
        (-1.0, -1.1, {"relative": 0.1}, True),
        (-3, 3, {"relative": 0.5}, False),
        (0, 0.4, {"relative": 0.5, "absolute": 0.5}, True),
        (0, 0.4, {"relative": 0.5}, False),
        (1100, 1.1, {"factor": 1000}, True),
        (2.5, 2500, {"factor": 0.001}, True),
        (75, 7.5, {"factor": 1}, False),
        (2**60, 2**60 + 1, {}, False),
    ],
)
def test_numbers_with_tolerance_and_unit(gold: float, value: float, options: dict[str, float], same: bool) -> None:
    assert same_number(gold, value, **options) is same


def test_numbers_that_cannot_be_compared_are_refused() -> None:
    for bad in (math.nan, math.inf, -math.inf, True, "40", None):
        with pytest.raises(InputError, match="not a finite number"):
            same_number(1, bad)  # type: ignore[arg-type]
    for options in ({"relative": -0.1}, {"absolute": -1}, {"factor": 0}, {"factor": -2}, {"relative": math.nan}):
        with pytest.raises(InputError):
            same_number(1, 1, **options)
    with pytest.raises(InputError, match="record '0', field 'n': nan"):
        count_field(NUMBER, pairs((1, math.nan)), normalised_match)
    grams = Tolerance(factor=1000, relative=0.01)
    assert count_field(NUMBER, pairs((1100, 1.105)), normalised_match, tolerance=grams).correct == 1


def test_multi_label_scores_by_hand() -> None:
    rows = pairs((["a", "b"], ["b", "c"]), ([], []), (["a"], None, "invalid"), (["b"], ["b"]), (None, ["c"]))
    found = multilabel_scores(MULTI, rows)
    assert found.mean_jaccard.value == pytest.approx((1 / 3 + 1 + 0 + 1 + 0) / 5)
    assert found.mean_jaccard.note == "1 invalid, scored 0; 1 with both sides empty, scored 1"
    assert found.micro_jaccard.value == pytest.approx(2 / 6)
    assert (found.n_both_empty, found.n_invalid) == (1, 1)
    a, b, c = found.labels
    assert (a.label, a.recall.value, a.recall.n, a.precision.value, a.jaccard.value) == ("a", 0, 2, None, 0)
    assert (b.recall.value, b.precision.value, b.jaccard.value) == (1, 1, 1)
    assert (c.recall.value, c.precision.value, c.jaccard.value) == (None, 0, 0)
    assert a.precision.note
    assert c.recall.note
    same = score_field(MULTI, rows, normalised_match)
    assert same.value == pytest.approx(found.mean_jaccard.value)
    assert same.note == found.mean_jaccard.note


def test_multi_label_scores_without_anything_are_undefined() -> None:
    found = multilabel_scores(MULTI, [])
    estimates = [found.mean_jaccard, found.micro_jaccard]
    estimates += [estimate for label in found.labels for estimate in (label.precision, label.recall, label.jaccard)]
    assert all(estimate.value is None and estimate.note for estimate in estimates)
    empty = multilabel_scores(MULTI, pairs(([], [])))
    assert (empty.mean_jaccard.value, empty.micro_jaccard.value) == (1, None)


def test_labels_are_folded_where_asked_and_unknown_ones_refused() -> None:
    rows = pairs((["A ", "a"], [" a"]))
    assert multilabel_scores(MULTI, rows, fold=True).micro_jaccard.value == 1
    with pytest.raises(InputError, match="record '0' has the label ' a', which field 'm' does not list"):
        multilabel_scores(MULTI, rows)
    for bad in ("abc", 3, [1], {"a": 1}):
        with pytest.raises(InputError, match="no list of labels"):
            multilabel_scores(MULTI, pairs((["a"], bad)))
    with pytest.raises(InputError, match="case or blanks only"):
        multilabel_scores(MULTI.model_copy(update={"values": ("a", "A")}), [], fold=True)
    with pytest.raises(InputError, match="is number"):
        multilabel_scores(NUMBER, [])
    twice = [Pair(record_id="x", gold=["a"]), Pair(record_id="x", gold=["a"])]
    for score in (lambda: multilabel_scores(MULTI, twice), lambda: count_field(MULTI, twice, normalised_match)):
        with pytest.raises(InputError, match="'x' stands 2 times under field 'm'"):
            score()


def test_whole_records_are_right_in_every_field() -> None:
    frame = pl.concat(
        [
            right_of(NUMBER, pairs((1, 1), (2, 3), (4, 4), (None, None)), normalised_match),
            right_of(OPEN, pairs(("x", "x"), ("x", "x"), ("x", "X"), ("x", None, "invalid")), normalised_match),
            right_of(MULTI, pairs((["a"], ["a"]), ([], []), ([], [])), normalised_match),
        ]
    )
    found = whole_records(frame, ["n", "o", "m"])
    assert found.share.value == pytest.approx(2 / 3)
    assert (found.share.n, found.n_unscored) == (3, 1)
    unjudged = frame.with_columns(right=pl.when(pl.col("field") != "o").then("right"))
    none = whole_records(unjudged, ["n", "o", "m"])
    assert (none.share.value, none.n_unscored) == (None, 4)
    assert none.share.note
    assert whole_records(frame.filter(pl.col("field") == "n"), ["n"]).share.value == 0.75
    empty = whole_records(pl.DataFrame({"record_id": [], "field": [], "right": []}), ["n"])
    assert (empty.share.value, empty.share.note, empty.n_unscored) == (None, "there is no record", 0)


def test_a_table_of_fields_that_cannot_be_joined_is_refused() -> None:
    frame = right_of(NUMBER, pairs((1, 1), (2, 3)), normalised_match)
    for bad, fields, message in (
        (frame, ["m"], "the field 'n', which is not among"),
        (pl.concat([frame, frame]), ["n"], "has the field 'n' twice"),
        (frame.drop("right"), ["n"], "no column 'right'"),
        (frame, [], "no field to score"),
        (frame.with_columns(right=pl.lit(0.5)), ["n"], "true, false or nothing"),
        (frame.with_columns(record_id=pl.lit(None)), ["n"], "record_id"),
        (frame.with_columns(field=pl.lit(None, dtype=pl.String)), ["n"], "not among"),
    ):
        with pytest.raises(InputError, match=message):
            whole_records(bad, fields)
