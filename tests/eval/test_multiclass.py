import math
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import matthews_corrcoef

from litcascade.errors import InputError
from litcascade.eval.binary import Confusion, mcc, wmcc
from litcascade.eval.estimate import Estimate
from litcascade.eval.multiclass import (
    KConfusion,
    absolute_cost,
    kconfusion_of,
    r_d,
    r_k,
    r_k_matrix,
    r_k_weighted,
    squared_cost,
    zero_one_cost,
)

counts = st.integers(0, 10**6)
whole = st.builds(Confusion, tp=counts, fp=counts, fn=counts, tn=counts)
labels = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)
published = KConfusion(classes=("a", "b", "c"), counts=((20, 3, 2), (4, 15, 6), (1, 5, 44)))


def two(c: Confusion) -> KConfusion:
    return KConfusion(classes=("include", "exclude"), counts=((c.tp, c.fn), (c.fp, c.tn)))


def square(rows: Any, extra: tuple[str, ...] = ()) -> KConfusion:
    return KConfusion(classes=tuple("abcdefgh"[: len(rows)]), counts=tuple(map(tuple, rows)), extra=extra)


def counted(pairs: list[tuple[int, int]]) -> KConfusion:
    frame = pl.DataFrame(
        {"record_id": range(len(pairs)), "gold": [gold for gold, _ in pairs], "predicted": [said for _, said in pairs]}
    )
    return kconfusion_of(frame, ["0", "1", "2", "3"])


def same(one: Estimate, other: Estimate) -> None:
    assert (one.value is None) == (other.value is None)
    if one.value is not None and other.value is not None:
        assert math.isclose(one.value, other.value, abs_tol=1e-9)


# Gorodkin 2004, recomputed (shared/reference/multiclass_mcc_vectors.json)
@pytest.mark.parametrize(
    ("found", "value"),
    [
        (r_k(published), 0.661742),
        (r_k_weighted(published, (10, 3, 1)), 0.593811),
        (r_d(published, squared_cost(3)), 0.783639),
        (r_d(published, absolute_cost(3)), 0.726046),
        (r_d(published, absolute_cost(3), weights=(10, 3, 1)), 0.64766),
        (r_d(published, zero_one_cost(3)), 0.661742),
    ],
)
def test_the_published_vectors(found: Estimate, value: float) -> None:
    assert found.value == pytest.approx(value, abs=1e-6)
    assert found.n == 100
    assert found.note is None


@given(whole, st.floats(0.1, 100))
def test_two_classes_are_mcc_and_wmcc(c: Confusion, weight: float) -> None:
    same(r_k(two(c)), mcc(c))
    same(r_k_weighted(two(c), (weight, 1.0)), wmcc(c, weight))
    same(r_k_matrix(two(c), [[weight, weight], [1.0, 1.0]]), wmcc(c, weight))


@given(labels)
def test_r_k_is_what_scikit_learn_gives_where_it_is_defined(pairs: list[tuple[int, int]]) -> None:
    found = r_k(counted(pairs))
    gold, said = [gold for gold, _ in pairs], [said for _, said in pairs]
    if found.value is None:  # scikit-learn gives 0 here; we never do
        assert found.note
        assert min(len(set(gold)), len(set(said))) == 1
    else:
        assert math.isclose(found.value, matthews_corrcoef(gold, said), abs_tol=1e-9)


@given(labels)
def test_the_squared_cost_is_pearsons_r_of_the_codes(pairs: list[tuple[int, int]]) -> None:
    found = r_d(counted(pairs), squared_cost(4))
    gold, said = np.array(pairs, dtype=np.float64).T
    assert (found.value is None) == (gold.std() == 0 or said.std() == 0)
    if found.value is not None:
        assert math.isclose(found.value, np.corrcoef(gold, said)[0, 1], abs_tol=1e-9)


@given(labels, st.permutations(range(4)))
def test_the_order_of_the_classes_does_not_matter(pairs: list[tuple[int, int]], order: list[int]) -> None:
    c, weights, cost = counted(pairs), np.array([7.0, 0.5, 3.0, 1.0]), absolute_cost(4)
    moved = square(np.array(c.counts)[np.ix_(order, order)])
    same(r_k(c), r_k(moved))
    same(r_k_weighted(c, weights.tolist()), r_k_weighted(moved, weights[order].tolist()))
    same(r_d(c, cost), r_d(moved, cost[np.ix_(order, order)]))


share = st.lists(st.integers(1, 50), min_size=4, max_size=4)


@given(share, share, st.lists(st.floats(0.1, 50), min_size=4, max_size=4))
def test_an_independent_classifier_scores_0(true: list[int], said: list[int], weights: list[float]) -> None:
    c = square(np.outer(true, said))
    for found in (
        r_k(c),
        r_k_weighted(c, weights),
        r_d(c, squared_cost(4)),
        r_d(c, absolute_cost(4), weights),
        r_k_matrix(c, np.outer(weights, weights[::-1])),
    ):
        assert found.value == pytest.approx(0, abs=1e-9)


def test_no_overflow_at_a_thousand_million() -> None:
    big = square(np.full((3, 3), 1e9))
    for found in (r_k(big), r_k_weighted(big, (1e9, 1, 1e-9)), r_d(big, squared_cost(3))):
        assert found.value == pytest.approx(0, abs=1e-12)
    assert r_k(square(np.diag([1e9, 1e9, 1]))).value == pytest.approx(1, abs=1e-12)
    rare = square([[1, 1e9], [0, 1]])
    assert r_k(rare).value == pytest.approx(1 / (1e9 + 1), rel=1e-9)


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[0, 0], [0, 0]], "no record"),
        ([[5, 3], [0, 0]], "one class by gold"),
        ([[5, 0], [3, 0]], "only one class was predicted"),
        ([[4, 0], [0, 0]], "one class by gold"),
    ],
)
def test_an_undefined_value_carries_its_reason(rows: list[list[float]], reason: str) -> None:
    c = square(rows)
    for found in (r_k(c), r_k_weighted(c, (2, 1)), r_k_matrix(c, [[1, 2], [3, 4]]), r_d(c, zero_one_cost(2))):
        assert found.value is None
        assert reason in (found.note or "")


def test_a_weight_matrix_says_whether_it_has_rank_one() -> None:
    independent = square(np.outer([1, 2, 7], [3, 3, 4]))
    found = r_k_matrix(independent, [[1, 5, 9], [2, 1, 4], [3, 3, 1]])
    assert found.value is not None
    assert abs(found.value) > 0.1
    assert f"scores {found.value:.3f}" in (found.note or "")
    assert "not of rank one" in (found.note or "")
    rank_one = r_k_matrix(independent, np.outer([10, 3, 1], [1, 2, 1]))
    assert rank_one.note == "W has rank one"
    same(r_k_matrix(published, np.outer([10, 3, 1], [1, 1, 1])), r_k_weighted(published, (10, 3, 1)))
    only_hits = r_k_matrix(square([[0, 2], [3, 0]]), np.eye(2))
    assert only_hits.value is None
    assert "weight" in (only_hits.note or "")


def test_referred_is_a_predicted_class_that_is_never_true() -> None:
    gold = ["a", "a", "b", "b", "c", "c"]
    said = ["a", "referred", "b", "c", "c", "referred"]
    frame = pl.DataFrame({"record_id": list("123456"), "gold": gold, "predicted": said})
    c = kconfusion_of(frame, ["a", "b", "c"], extra=["referred"])
    assert c.counts == ((1, 0, 0, 1), (0, 1, 1, 0), (0, 0, 1, 1))
    assert c.n == 6
    assert r_k(c).value == pytest.approx(matthews_corrcoef(gold, said))
    same(r_k_matrix(c, np.ones((3, 4))), r_k(c))
    same(r_d(c, zero_one_cost(4)), r_k(c))
    with pytest.raises(InputError, match="4 by 4"):
        r_d(c, zero_one_cost(3))
    with pytest.raises(InputError, match="record '2' has the label 'referred' in column 'predicted'"):
        kconfusion_of(frame, ["a", "b", "c"])


def test_a_table_that_cannot_be_counted_is_refused() -> None:
    frame = pl.DataFrame({"record_id": ["1", "2"], "gold": ["a", "b"], "predicted": ["a", "b"]})
    for bad, message in (
        (frame.with_columns(gold=pl.lit("x")), "record '1' has the label 'x' in column 'gold'"),
        (frame.with_columns(gold=pl.lit(math.nan)), "NaN"),
        (frame.with_columns(predicted=pl.lit(None)), "record '1' has no label in column 'predicted'"),
        (frame.with_columns(record_id=pl.lit("1")), "'1' stands twice"),
        (frame.with_columns(record_id=pl.lit(None)), "no record_id"),
        (frame.drop("gold"), "no column 'gold'"),
    ):
        with pytest.raises(InputError, match=message):
            kconfusion_of(bad, ["a", "b"])
    assert r_k(kconfusion_of(frame.head(0), ["a", "b"])).note == "there is no record"
    assert r_k(kconfusion_of(pl.DataFrame({"record_id": [], "gold": [], "predicted": []}), ["a", "b"])).value is None


@pytest.mark.parametrize(
    "bad", [[[1, 2]], [[1, -1], [0, 2]], [[1, math.nan], [0, 2]], [[1, math.inf], [0, 2]], [[1, 2, 3], [1, 2, 3]]]
)
def test_counts_that_are_none_are_refused(bad: list[list[float]]) -> None:
    with pytest.raises(InputError):
        KConfusion(classes=("a", "b"), counts=tuple(map(tuple, bad)))
    with pytest.raises(InputError, match="twice"):
        KConfusion(classes=("a", "a"), counts=((1, 2), (3, 4)))
    with pytest.raises(InputError, match="at least one"):
        KConfusion(classes=(), counts=())


def test_weights_and_costs_that_do_not_fit_are_refused() -> None:
    for weights in ((1, 2), (1, 0, 2), (1, -1, 2), (1, math.nan, 2), (1, math.inf, 2), ("a", 1, 2)):
        with pytest.raises(InputError, match="weight"):
            r_k_weighted(published, weights)  # type: ignore[arg-type]
    for matrix in (np.ones((2, 3)), np.zeros((3, 3)), -np.ones((3, 3)), "none", [[1, 2, 3], [1, 2], [1]]):
        with pytest.raises(InputError, match="weight matrix W"):
            r_k_matrix(published, matrix)
    for cost, message in (
        ([[0, 1, 2], [1, 0, 1], [3, 1, 0]], "symmetric"),
        ([[1, 1, 2], [1, 0, 1], [2, 1, 0]], "zero diagonal"),
        ([[0, -1, 1], [-1, 0, 1], [1, 1, 0]], "positive semidefinite"),
        ([[0, 1, 9], [1, 0, 1], [9, 1, 0]], "positive semidefinite"),
        (np.full((3, 3), math.nan), "finite"),
    ):
        with pytest.raises(InputError, match=message):
            r_d(published, cost)
    for helper in (zero_one_cost, absolute_cost, squared_cost):
        with pytest.raises(InputError):
            helper(0)


def test_classes_that_cost_nothing_between_each_other_leave_it_undefined() -> None:
    cost = [[0, 0, 1], [0, 0, 1], [1, 1, 0]]
    found = r_d(square([[3, 1, 2], [1, 4, 0], [0, 0, 0]]), cost)
    assert found.value is None
    assert "cost nothing" in (found.note or "")
    assert r_d(published, np.zeros((3, 3))).value is None
    assert r_d(published, cost).value == pytest.approx(r_k(square([[42, 8], [6, 44]])).value)


def test_the_sign_and_the_ends() -> None:
    assert r_k(square(np.diag([5, 9, 2]))).value == pytest.approx(1)
    assert r_k(square(np.diag([0.1, 0.1, 0.2]))).value == pytest.approx(1)
    assert r_d(square([[0, 0, 5], [0, 5, 0], [5, 0, 0]]), squared_cost(3)).value == pytest.approx(-1)
    values = [r_k(square(np.eye(3)[list(order)] * 4)).value for order in permutations(range(3))]
    assert sorted(round(value or 0, 9) for value in values) == [-0.5, -0.5, 0, 0, 0, 1]
