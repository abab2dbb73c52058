import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.errors import InputError
from litcascade.eval import (
    Confusion,
    Pair,
    cascade_loss,
    confusion_of,
    jaccard,
    metrics_of,
    parse_measure,
    ranking_of,
    score_field,
)
from litcascade.eval.binary import mcc, recall, wmcc
from litcascade.judges import normalised_match
from litcascade.schemas import FieldSpec

counts = st.integers(0, 10**6)
whole = st.builds(Confusion, tp=counts, fp=counts, fn=counts, tn=counts)


@pytest.mark.parametrize(
    ("weight", "value"),
    [(1, 0.605088), (2, 0.640627), (3, 0.641131), (5, 0.620221), (10, 0.557263), (20, 0.466650), (30, 0.408478)],
)
def test_wmcc_weights_the_whole_positive_row(weight: float, value: float) -> None:
    found = wmcc(Confusion(tp=128, fp=68, fn=20, tn=232), weight).value
    assert found is not None
    assert math.isclose(found, value, abs_tol=5e-7)


@given(whole)
def test_wmcc_at_one_is_mcc_and_swapping_predictions_turns_its_sign(c: Confusion) -> None:
    plain, swapped = mcc(c), mcc(Confusion(tp=c.fn, fp=c.tn, fn=c.tp, tn=c.fp))
    assert plain.value == wmcc(c, 1).value
    if plain.value is None:
        assert plain.note
        assert swapped.value is None
    else:
        assert -1 - 1e-12 <= plain.value <= 1 + 1e-12
        assert math.isclose(plain.value, -(swapped.value or 0), abs_tol=1e-9)


def test_no_overflow_at_a_thousand_million() -> None:
    found = mcc(Confusion(tp=1e9, fp=1e9, fn=1e9, tn=1e9)).value
    assert found is not None
    assert abs(found) < 1e-12
    assert mcc(Confusion(tp=1e9, fp=0, fn=0, tn=1e9)).value == 1


@pytest.mark.parametrize("matrix", [(5, 9, 0, 0), (0, 0, 3, 4), (0, 2, 0, 3), (2, 0, 3, 0), (0, 0, 0, 0)])
def test_an_undefined_metric_carries_its_reason_and_is_not_zero(matrix: tuple[int, int, int, int]) -> None:
    c = Confusion(**dict(zip(("tp", "fp", "fn", "tn"), matrix, strict=True)))
    assert mcc(c).value is None
    assert mcc(c).note
    for estimate in metrics_of(c, 10.0):
        assert (estimate.value is None) == bool(estimate.note)


def test_referred_counts_as_positive_and_odd_states_are_refused() -> None:
    rows = [
        ("a", "include", "referred"),
        ("b", "exclude", "referred"),
        ("c", "include", "excluded"),
        ("d", "exclude", "excluded"),
    ]
    frame = pl.DataFrame(rows, schema=["record_id", "gold", "state"], orient="row")
    assert confusion_of(frame) == Confusion(tp=1, fp=1, fn=1, tn=1)
    assert recall(confusion_of(frame)).value == 0.5
    with pytest.raises(InputError, match="'pending'"):
        confusion_of(frame.with_columns(state=pl.lit("pending")))
    with pytest.raises(InputError, match="twice"):
        confusion_of(pl.concat([frame, frame]))


def test_losses_by_stage_sum_to_what_the_cascade_lost() -> None:
    frame = pl.DataFrame(
        {
            "record_id": list("abcdefghij"),
            "one": [True] * 8 + [False] * 2,
            "two": [False] * 2 + [True] * 8,
            "three": [True, False] * 5,
        }
    )
    found = cascade_loss(frame, ["one", "two", "three"])
    assert [item.recall.value for item in found.stages] == [0.8, 0.75, 0.5]
    assert math.isclose(sum(item.loss.value or 0 for item in found.stages), 1 - (found.end_to_end.value or 0))
    assert cascade_loss(frame.head(0), ["one"]).end_to_end.value is None
    with pytest.raises(InputError, match="'four'"):
        cascade_loss(frame, ["four"])


def test_auc_by_hand() -> None:
    frame = pl.DataFrame(
        {"record_id": list("abcd"), "gold": ["include", "include", "exclude", "exclude"], "score": [0.9, 0.4, 0.4, 0.1]}
    )
    assert parse_measure("auc")(ranking_of(frame)).value == 0.875
    assert parse_measure("auc")(ranking_of(frame.head(2))).value is None


def test_fields_are_scored_by_their_kind() -> None:
    multi = FieldSpec(name="m", kind="multi", definition="d", values=("a", "b", "c"))
    pairs = [
        Pair(record_id="1", gold=["a", "b"], value=["b", "c"]),
        Pair(record_id="2", gold=[], value=[]),
        Pair(record_id="3", gold=["a"], invalid=True),
    ]
    estimate = score_field(multi, pairs, normalised_match)
    assert estimate.value == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert "1 invalid" in (estimate.note or "")
    assert "1 with both sides empty" in (estimate.note or "")
    number = FieldSpec(name="n", kind="number", definition="d")
    assert (
        score_field(
            number, [Pair(record_id="1", gold=40, value=40.0), Pair(record_id="2", gold=None, value=3)], normalised_match
        ).value
        == 0.5
    )
    assert score_field(number, [], normalised_match).value is None
    assert jaccard([], []) == 1


@pytest.mark.parametrize(
    ("gold", "value", "same"),
    [
        ("2,500 lux for 40 minutes", "2500 Lux, for 40 minutes.", True),
        ("75 mg", "7.5 mg", False),
        ("-3 points", "3 points", False),
        ("zinc better than placebo", "placebo better than zinc", False),
        ("", "", False),
    ],
)
def test_normalised_match_folds_dress_and_nothing_else(gold: str, value: str, same: bool) -> None:
    assert normalised_match(gold, value) is same
