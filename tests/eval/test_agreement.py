import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from litcascade.errors import InputError
from litcascade.eval.agreement import (
    agreement,
    cohens_kappa,
    flips,
    inter_rater,
    intra_rater,
    negative_agreement,
    pabak,
    pair_up,
    percent_agreement,
    positive_agreement,
    stratified_sample,
)

LABELS = ("include", "exclude")


def reading(labels: list[str], column: str = "label") -> pl.DataFrame:
    ids = [f"r{k:03}" for k in range(len(labels))]
    return pl.DataFrame({"record_id": ids, column: labels}, schema={"record_id": pl.String, column: pl.String})


def table(both: int, first: int, second: int, none: int) -> pl.DataFrame:
    one = ["include"] * (both + first) + ["exclude"] * (second + none)
    two = ["include"] * both + ["exclude"] * first + ["include"] * second + ["exclude"] * none
    return pair_up(reading(one), reading(two), LABELS)


def test_all_figures_by_hand() -> None:
    found = agreement(table(20, 5, 10, 15))
    assert found.percent.value == 0.7
    assert found.kappa.value == pytest.approx(0.4)
    assert found.pabak.value == pytest.approx(0.4)
    assert found.positive.value == pytest.approx(40 / 55)
    assert found.negative.value == pytest.approx(30 / 45)
    assert found.percent.n == 50
    assert [found.percent.low, found.percent.high] == pytest.approx([0.562496, 0.808964], abs=1e-6)


def test_kappa_falls_with_prevalence_and_pabak_does_not() -> None:
    even, rare = agreement(table(40, 5, 5, 50)), agreement(table(2, 5, 5, 88))
    assert even.percent.value == rare.percent.value == 0.9
    assert even.pabak.value == rare.pabak.value == pytest.approx(0.8)
    assert (even.kappa.value or 0) > 0.79
    assert (rare.kappa.value or 0) < 0.24


def test_undefined_figures_carry_their_reason() -> None:
    same = agreement(table(0, 0, 0, 9))
    assert same.percent.value == 1
    assert same.kappa.value is None
    assert "one label only" in (same.kappa.note or "")
    assert same.positive.value is None
    assert "'include'" in (same.positive.note or "")
    assert same.negative.value == 1
    assert negative_agreement(table(9, 0, 0, 0)).value is None
    empty = agreement(pair_up(reading([]), reading([])))
    for estimate in (empty.percent, empty.kappa, empty.pabak, empty.positive, empty.negative):
        assert estimate.value is None
        assert estimate.note


def test_more_than_two_labels() -> None:
    one = reading(["a", "b", "c", "a", "b", "c"])
    two = reading(["a", "b", "c", "a", "c", "b"])
    pairs = pair_up(one, two, ["a", "b", "c"])
    assert cohens_kappa(pairs).value == pytest.approx((4 / 6 - 1 / 3) / (2 / 3))
    assert pabak(pairs, ["a", "b", "c"]).value == pytest.approx((3 * 4 / 6 - 1) / 2)
    assert positive_agreement(pairs, "a").value == 1
    assert positive_agreement(pairs, "b").value == 0.5
    with pytest.raises(InputError, match="two possible labels"):
        pabak(pairs, ["a"])


@given(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), min_size=1, max_size=40))
@settings(max_examples=60, deadline=None)
def test_figures_are_symmetric_in_range_and_kappa_is_that_of_scikit_learn(rows: list[tuple[str, str]]) -> None:
    one, two = ([row[side] for row in rows] for side in (0, 1))
    found, turned = (agreement(pair_up(reading(a), reading(b), LABELS)) for a, b in ((one, two), (two, one)))
    assert found == turned
    if found.kappa.value is None:
        assert set(one) == set(two)
        assert len(set(one)) == 1
    else:
        assert found.kappa.value == pytest.approx(cohen_kappa_score(one, two))
        assert -1 <= found.kappa.value <= 1
    assert found.percent.value is not None
    assert found.pabak.value == pytest.approx(2 * found.percent.value - 1)


def test_flips_are_joined_by_id_and_not_by_place() -> None:
    first = reading(["included", "excluded", "excluded", "referred"], "verdict")
    second = reading(["included", "included", "excluded", "excluded"], "verdict").reverse()
    found = flips(first, second)
    assert found.share.value == 0.5
    assert found.ids == ("r001", "r003")
    assert [found.share.low, found.share.high] == pytest.approx([0.150039, 0.849961], abs=1e-6)
    assert flips(first, first).share.value == 0
    assert flips(first, first).ids == ()
    nothing = flips(first.head(0), second.head(0)).share
    assert nothing.value is None
    assert nothing.note
    with pytest.raises(InputError, match="alpha"):
        flips(first, second, alpha=0)


def test_tables_that_do_not_match_are_refused_with_the_ids() -> None:
    one = reading(["include"] * 9)
    with pytest.raises(InputError, match=r"7 id\(s\) stand only in the first table: 'r002', .*'r006' and 2 more"):
        pair_up(one, one.head(2))
    with pytest.raises(InputError, match=r"1 id\(s\) stand only in the second table: 'r008'"):
        pair_up(one.head(8), one)
    with pytest.raises(InputError, match=r"1 id\(s\) stand twice in a table: 'r000'"):
        pair_up(pl.concat([one, one.head(1)]), one)
    with pytest.raises(InputError, match=r"unknown label\(s\) in column 'label': 'maybe'"):
        pair_up(one, reading(["maybe"] * 9), LABELS)
    with pytest.raises(InputError, match="empty cell"):
        pair_up(one, one.with_columns(label=pl.lit(None, pl.String)))
    with pytest.raises(InputError, match="numbers"):
        pair_up(one, one.with_columns(label=pl.lit(float("nan"))))
    with pytest.raises(InputError, match="different types"):
        pair_up(one, one.with_columns(label=pl.lit(True)))
    with pytest.raises(InputError, match="no column 'verdict'"):
        flips(one, one)


def test_people_are_compared_two_by_two() -> None:
    rows = [("1", "ann", "include"), ("2", "ann", "exclude"), ("3", "ann", "exclude")]
    rows += [("1", "bob", "include"), ("2", "bob", "include"), ("4", "bob", "exclude")]
    rows += [("9", "cy", "include")]
    people = pl.DataFrame(rows, schema=["record_id", "rater", "label"], orient="row")
    first, second, third = inter_rater(people)
    assert (first.first, first.second, first.only_one) == ("ann", "bob", 2)
    assert first.agreement.percent.value == 0.5
    assert first.agreement.percent.n == 2
    assert (second.first, second.second) == ("ann", "cy")
    assert second.agreement.percent.value is None
    assert third.only_one == 4
    with pytest.raises(InputError, match="labelled a record twice"):
        inter_rater(pl.concat([people, people.head(1)]))
    with pytest.raises(InputError, match="two of them"):
        inter_rater(people.head(3))
    with pytest.raises(InputError, match="'include'"):
        inter_rater(people, ["yes", "no"])


def test_a_person_against_themselves() -> None:
    first = reading(["include", "exclude", "include", "exclude"])
    again = first.head(3).with_columns(label=pl.Series(["include", "exclude", "exclude"]))
    found = intra_rater(first, again)
    assert found.percent.n == 3
    assert found.percent.value == pytest.approx(2 / 3)
    assert intra_rater(first, again.head(0)).kappa.value is None
    with pytest.raises(InputError, match="only in the second table: 'r003'"):
        intra_rater(first.head(3), first)
    with pytest.raises(InputError, match="no column 'record_id'"):
        intra_rater(first, again.drop("record_id"))


def strata_of(sizes: list[int]) -> pl.DataFrame:
    names = [f"s{k}" for k, size in enumerate(sizes) for _ in range(size)]
    return reading(names, "stratum")


def test_a_stratum_that_is_too_small_is_taken_whole_and_says_so() -> None:
    found = stratified_sample(strata_of([2, 50, 50]), "stratum", 20, np.random.default_rng(1))
    assert [item.drawn for item in found.strata] == [2, 9, 9]
    assert found.strata[0].note == "too small: 2 row(s), 6 wanted"
    assert found.strata[1].note is None
    assert found.strata[0].values == ("s0",)
    assert found.frame["record_id"].is_sorted()


def test_two_columns_make_one_stratum_and_the_draw_does_not_hang_on_the_order() -> None:
    frame = strata_of([30, 30]).with_columns(half=pl.Series(["a", "b"] * 30))
    one = stratified_sample(frame, ["stratum", "half"], 10, np.random.default_rng(1))
    two = stratified_sample(frame.reverse(), ["stratum", "half"], 10, np.random.default_rng(1))
    assert one.frame.equals(two.frame)
    assert [item.values for item in one.strata] == [("s0", "a"), ("s0", "b"), ("s1", "a"), ("s1", "b")]
    assert sorted(item.drawn for item in one.strata) == [2, 2, 3, 3]


@given(st.lists(st.integers(1, 15), min_size=1, max_size=6), st.data(), st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_a_sample_is_whole_and_as_even_as_can_be(sizes: list[int], data: st.DataObject, seed: int) -> None:
    n = data.draw(st.integers(0, sum(sizes)))
    found = stratified_sample(strata_of(sizes), "stratum", n, np.random.default_rng(seed))
    assert found.frame.height == found.frame["record_id"].n_unique() == n
    assert sum(item.drawn for item in found.strata) == n
    assert [item.size for item in found.strata] == sizes
    free = [item.drawn for item in found.strata if item.drawn < item.size]
    assert not free or max(free) - min(free) <= 1
    assert all(item.drawn <= min(free, default=n) + 1 for item in found.strata)
    for item in found.strata:
        assert item.note is None or item.drawn == item.size


def test_every_record_of_a_stratum_is_as_likely() -> None:
    rng, frame = np.random.default_rng(8), strata_of([4, 8])
    drawn = [name for _ in range(1000) for name in stratified_sample(frame, "stratum", 4, rng).frame["record_id"]]
    shares = [drawn.count(f"r{k:03}") / 1000 for k in range(12)]
    assert shares == pytest.approx([0.5] * 4 + [0.25] * 8, abs=0.06)


def test_impossible_samples_are_refused() -> None:
    frame, rng = strata_of([3, 3]), np.random.default_rng(1)
    for n in (7, -1):
        with pytest.raises(InputError, match="cannot be drawn from 6"):
            stratified_sample(frame, "stratum", n, rng)
    with pytest.raises(InputError, match="no column 'review'"):
        stratified_sample(frame, "review", 2, rng)
    with pytest.raises(InputError, match="empty cell"):
        stratified_sample(frame.with_columns(stratum=pl.lit(None)), "stratum", 2, rng)
    assert stratified_sample(frame.head(0), "stratum", 0, rng).strata == ()
    assert percent_agreement(table(0, 0, 0, 0)).value is None
