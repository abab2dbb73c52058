import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate
from litcascade.eval.judge_calibration import (
    ExtractionCounts,
    JudgeCounts,
    JudgeRates,
    allocate,
    calibrate,
    calibrate_by_papers,
    calibrate_by_verdict,
    calibrate_share,
    calibrated_precision,
    calibrated_recall,
    judge_counts,
)
from litcascade.eval.prediction_powered import compare_with_labels, labels_only, ppi_mean

share = st.floats(0, 1)
RATES = JudgeRates(right0=140, m0=200, right1=180, m1=200)


def ends(estimate: Estimate) -> tuple[float, float]:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.low, estimate.high


def covers(estimate: Estimate, truth: float) -> bool:
    return estimate.low is not None and estimate.high is not None and estimate.low <= truth <= estimate.high


@pytest.mark.parametrize(
    ("p", "q0", "q1", "n", "m0", "m1", "theta", "low", "high"),
    [
        (0.4, 0.7, 0.9, 1000, 200, 200, 0.166667, 0.056351, 0.262733),
        (0.8, 0.9, 0.95, 500, 60, 140, 0.823529, 0.765550, 0.883468),
        (0.2, 0.95, 0.6, 300, 100, 50, 0.272727, 0.152091, 0.400604),
        (0.97, 0.8, 0.98, 2000, 50, 50, 0.987179, 0.944717, 1),
        (0.05, 0.93, 0.9, 400, 80, 40, 0, 0, 0.040399),
    ],
)
def test_the_reference_estimates(
    p: float, q0: float, q1: float, n: int, m0: int, m1: int, theta: float, low: float, high: float
) -> None:
    found = calibrate_share(p, n, q0, q1, m0, m1)
    assert found.estimate.value == pytest.approx(theta, abs=1e-6)
    assert ends(found.estimate) == pytest.approx((low, high), abs=1e-6)
    assert found.support == "supported"
    assert found.judged == p
    assert found.signal == pytest.approx(q0 + q1 - 1)
    assert found.estimate.n == n


@pytest.mark.parametrize(
    ("p", "q0", "q1", "budget", "pilot", "m0", "m1"),
    [
        (0.4, 0.7, 0.9, 200, 10, 136, 64),
        (0.8, 0.9, 0.95, 500, 10, 112, 388),
        (0.1, 0.8, 0.6, 100, 10, 87, 13),
        (0.0, 0.8, 0.6, 100, 10, 90, 10),
        (1.0, 0.8, 0.6, 100, 10, 10, 90),
        (1e-300, 0.8, 0.6, 100, 10, 90, 10),
        (0.5, 0.8, 0.6, 20, 10, 10, 10),
    ],
)
def test_the_allocation_of_labels(p: float, q0: float, q1: float, budget: int, pilot: int, m0: int, m1: int) -> None:
    found = allocate(p, q0, q1, budget, pilot)
    assert (found.m0, found.m1) == (m0, m1)


@given(share, share, share, st.integers(1, 40), st.integers(0, 400))
def test_an_allocation_spends_the_budget_and_keeps_the_pilots(p: float, q0: float, q1: float, pilot: int, more: int) -> None:
    found = allocate(p, q0, q1, 2 * pilot + more, pilot)
    assert found.m0 + found.m1 == 2 * pilot + more
    assert min(found.m0, found.m1) >= pilot


@pytest.mark.parametrize(
    ("p", "n", "q0", "q1", "m0", "m1", "support", "why"),
    [
        (None, 0, 0.9, 0.9, 50, 50, "unsupported", "no item was judged"),
        (0.5, 900, None, 0.9, 0, 50, "unsupported", "no truly incorrect item"),
        (0.5, 900, 0.9, None, 50, 0, "unsupported", "no truly correct item"),
        (0.5, 900, 0.4, 0.6, 50, 50, "unsupported", "no better than chance"),
        (0.5, 900, 0.7, 0.3, 50, 50, "unsupported", "no better than chance"),
        (0.5, 900, 0.4, 0.55, 50, 50, "unsupported", "no better than chance"),
        (0.45, 900, 1.0, 0.2, 1, 1000, "unsupported", "too few labels"),
        (0.45, 10**7, 0.6, 0.5, 10**6, 10**6, "unstable", "0.100 above chance"),
        (0.45, 10**7, 0.6, 0.501, 10**6, 10**6, "supported", None),
        (0.55, 20, 0.9, 0.9, 20, 20, "unstable", "wide"),
    ],
)
def test_support(
    p: float | None, n: int, q0: float | None, q1: float | None, m0: int, m1: int, support: str, why: str | None
) -> None:
    found = calibrate_share(p, n, q0, q1, m0, m1)
    assert found.support == support
    assert (found.estimate.value is None) == (support == "unsupported")
    assert (found.estimate.low is None) == (support == "unsupported")
    assert (why in found.estimate.note) if why and found.estimate.note else found.estimate.note is why


def test_support_turns_where_the_interval_is_half_wide() -> None:
    seen = set()
    for size in range(10, 80):
        found = calibrate_share(0.5, size, 0.9, 0.9, size, size)
        low, high = ends(found.estimate)
        assert found.support == ("unstable" if high - low >= 0.5 else "supported")
        seen.add(found.support)
    assert seen == {"unstable", "supported"}


counts = st.integers(0, 300)


@given(share, counts, share, share, counts, counts)
def test_a_share_has_bounds_in_order_or_a_reason(p: float, n: int, q0: float, q1: float, m0: int, m1: int) -> None:
    found = calibrate_share(p, n, q0, q1, m0, m1)
    estimate = found.estimate
    if found.support == "unsupported":
        assert estimate.value is None
        assert estimate.low is None
        assert estimate.high is None
        assert estimate.note
    else:
        assert estimate.value is not None
        low, high = ends(estimate)
        assert 0 <= low <= high <= 1
        assert 0 <= estimate.value <= 1
        assert found.support == "supported" or estimate.note


def test_a_share_that_contradicts_the_rates_says_so() -> None:
    found = calibrate_share(0.02, 5000, 0.7, 0.9, 400, 400)
    assert ends(found.estimate) == (0, 0)
    assert "does not fit" in (found.estimate.note or "")


def test_a_perfect_judge_changes_nothing_and_a_higher_level_is_wider() -> None:
    found = calibrate_share(0.3, 100, 1.0, 1.0, 500, 500)
    assert found.estimate.value == pytest.approx(0.3)
    wide, narrow = (ends(calibrate_share(0.3, 100, 0.9, 0.9, 50, 50, alpha).estimate) for alpha in (0.01, 0.2))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.parametrize(
    ("theta", "q0", "q1", "n", "m0", "m1"),
    [
        (0.3, 0.8, 0.9, 1000, 150, 150),
        (0.6, 0.7, 0.9, 1000, 200, 200),
        (0.95, 0.9, 0.9, 500, 40, 100),
        (0.3, 0.8, 0.9, 1000, 30, 30),
    ],
)
def test_the_interval_covers_where_the_raw_share_does_not(theta: float, q0: float, q1: float, n: int, m0: int, m1: int) -> None:
    rng, repeats = np.random.default_rng(20260101), 4000
    p = rng.binomial(n, theta * q1 + (1 - theta) * (1 - q0), repeats) / n
    right0, right1 = rng.binomial(m0, q0, repeats) / m0, rng.binomial(m1, q1, repeats) / m1
    rows = zip(p.tolist(), right0.tolist(), right1.tolist(), strict=True)
    hits = sum(covers(calibrate_share(x, n, a, b, m0, m1).estimate, theta) for x, a, b in rows)
    raw = np.mean(np.abs(p - theta) <= 1.96 * np.sqrt(p * (1 - p) / n))
    assert hits / repeats >= 0.94
    assert raw < 0.10


def test_items_drawn_by_verdict_by_hand() -> None:
    found = calibrate_by_verdict(0.4, 1000, 0.9, 0.8, 100, 100)
    half = 1.959963985 * math.sqrt(0.16 * 0.09 / 100 + 0.36 * 0.16 / 100 + 0.49 * 0.24 / 1000)
    assert found.estimate.value == pytest.approx(0.48)
    assert ends(found.estimate) == pytest.approx((0.48 - half, 0.48 + half))
    assert found.support == "supported"
    assert found.estimate.note is None


def test_a_perfect_small_sample_by_verdict_still_has_a_width() -> None:
    found = calibrate_by_verdict(0.4, 1000, 1.0, 1.0, 10, 10)
    assert found.estimate.value == 0.4
    low, high = ends(found.estimate)
    half = 1.959963985 * math.sqrt(0.52 * (11 / 12 * 1 / 12) / 12 + 0.24 / 1000)
    assert (low, high) == pytest.approx((0.4 - half, 0.4 + half))
    assert "moved inwards" in (found.estimate.note or "")


@pytest.mark.parametrize(
    ("p", "n", "m_plus", "m_minus", "why"),
    [(None, 0, 5, 5, "judged"), (0.5, 9, 0, 5, "accepted"), (0.5, 9, 5, 0, "rejected")],
)
def test_by_verdict_needs_labels_of_both_verdicts(p: float | None, n: int, m_plus: int, m_minus: int, why: str) -> None:
    found = calibrate_by_verdict(p, n, 0.9, 0.9, m_plus, m_minus)
    assert found.support == "unsupported"
    assert found.estimate.value is None
    assert why in (found.estimate.note or "")
    assert calibrate_by_verdict(0.5, 5, 0.5, 0.5, 4, 4).support == "unstable"


def test_by_verdict_covers() -> None:
    rng, repeats, theta, n, m = np.random.default_rng(5), 4000, 0.3, 1000, 100
    p_true = theta * 0.9 + (1 - theta) * 0.2
    ppv, npv = theta * 0.9 / p_true, (1 - theta) * 0.8 / (1 - p_true)
    p, a, b = rng.binomial(n, p_true, repeats) / n, rng.binomial(m, ppv, repeats) / m, rng.binomial(m, npv, repeats) / m
    rows = zip(p.tolist(), a.tolist(), b.tolist(), strict=True)
    assert sum(covers(calibrate_by_verdict(x, n, y, z, m, m).estimate, theta) for x, y, z in rows) / repeats >= 0.93


def test_recall_and_precision_of_extraction_have_their_own_rates() -> None:
    found = ExtractionCounts(matched_gold=400, gold_items=1000, matched_machine=300, correct_unmatched=100, machine_items=500)
    recall = calibrated_recall(found, RATES).estimate
    assert recall.metric == "calibrated_recall"
    assert recall.value == pytest.approx(1 / 6)
    assert ends(recall) == pytest.approx((0.056351, 0.262733), abs=1e-6)
    precision = calibrated_precision(found, JudgeRates(right0=54, m0=60, right1=133, m1=140)).estimate
    assert precision.metric == "calibrated_precision"
    assert precision.value == pytest.approx(0.823529, abs=1e-6)
    assert ends(precision) == pytest.approx((0.765550, 0.883468), abs=1e-6)
    nothing = ExtractionCounts(matched_gold=0, gold_items=4, matched_machine=0, correct_unmatched=0, machine_items=0)
    assert calibrated_precision(nothing, RATES).estimate.value is None
    with pytest.raises(InputError, match="6 of 5"):
        calibrated_precision(nothing.model_copy(update={"matched_machine": 6, "machine_items": 5}), RATES)
    with pytest.raises(InputError, match="3 of 2"):
        JudgeRates(right0=3, m0=2, right1=0, m1=0)


def tables(rng: np.random.Generator, papers: int, labelled: int, size: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Papers with their own share of correct items and their own error rates; the mean share is .4."""
    truth, q0, q1 = (rng.beta(mean * 5, (1 - mean) * 5, papers) for mean in (0.4, 0.8, 0.9))
    paper = np.repeat(np.arange(papers), size)
    correct = rng.random(papers * size) < truth[paper]
    judged = np.where(correct, rng.random(papers * size) < q1[paper], rng.random(papers * size) >= q0[paper])
    items = pl.DataFrame({"item_id": np.arange(papers * size), "paper_id": paper, "judged": judged})
    return items, items.with_columns(correct=pl.Series(correct)).filter(pl.col("paper_id") < labelled)


def test_resampling_papers_covers_where_items_of_a_paper_are_alike() -> None:
    rng, repeats = np.random.default_rng(20260102), 250
    clustered = plain = 0
    for _ in range(repeats):
        items, labelled = tables(rng, 60, 25, 20)
        clustered += covers(calibrate_by_papers(items, labelled, rng, 400).estimate, 0.4)
        plain += covers(calibrate(judge_counts(items, labelled)).estimate, 0.4)
    assert clustered / repeats >= 0.91
    assert plain / repeats < 0.90


def test_resampling_papers_repeats_with_the_seed_and_not_with_the_order_of_rows() -> None:
    items, labelled = tables(np.random.default_rng(1), 40, 30, 10)
    first = calibrate_by_papers(items, labelled, np.random.default_rng(2))
    again = calibrate_by_papers(items.reverse(), labelled.sample(fraction=1, shuffle=True, seed=3), np.random.default_rng(2))
    assert first == again
    assert first.estimate.value == calibrate(judge_counts(items, labelled)).estimate.value
    assert first.support == "supported"
    assert first.estimate.note is None


def test_few_papers() -> None:
    items, labelled = tables(np.random.default_rng(1), 40, 6, 10)
    few = calibrate_by_papers(items, labelled, np.random.default_rng(2))
    assert "only 6 papers" in (few.estimate.note or "")
    one = calibrate_by_papers(items, labelled.filter(pl.col("paper_id") == 0), np.random.default_rng(2))
    assert one.support == "unstable"
    assert one.estimate.value is not None
    assert one.estimate.low is None
    assert "fewer than two papers" in (one.estimate.note or "")
    pair = calibrate_by_papers(items.filter(pl.col("paper_id") < 3), labelled, np.random.default_rng(2))
    low, high = ends(pair.estimate)
    assert low < high


def test_repeats_without_a_value_widen_the_interval() -> None:
    rows = [(f"{k}", f"p{k % 25}", k % 2 == 0, k % 2 == 0) for k in range(50)]
    rows += [("x", "p0", False, True), ("y", "p30", True, False)]
    labelled = pl.DataFrame(rows, schema=["item_id", "paper_id", "judged", "correct"], orient="row")
    only_one_wrong = labelled.filter(pl.col("correct") | (pl.col("item_id").is_in(["1"])))
    found = calibrate_by_papers(labelled.drop("correct"), only_one_wrong, np.random.default_rng(4))
    assert "repeats had no value" in (found.estimate.note or "")
    assert ends(found.estimate) == (0, 1)
    assert found.support == "unstable"


def test_no_items_and_no_labels_are_undefined_and_bad_tables_are_refused() -> None:
    items, labelled = tables(np.random.default_rng(1), 5, 5, 4)
    rng = np.random.default_rng(0)
    assert calibrate_by_papers(items.head(0), labelled, rng).estimate.note == "no item was judged"
    assert calibrate_by_papers(items, labelled.head(0), rng).support == "unsupported"
    empty = pl.DataFrame({"item_id": [], "paper_id": [], "judged": []})
    assert judge_counts(empty, empty.with_columns(correct=pl.lit(None))).n == 0
    for bad, why in (
        (items.drop("judged"), "no column 'judged'"),
        (pl.concat([items, items.head(1)]), "stands twice"),
        (items.with_columns(judged=pl.lit("yes")), "true or false"),
        (items.with_columns(paper_id=pl.lit(None)), "empty cell"),
        (items.with_columns(paper_id=pl.col("paper_id") + 1), "another paper"),
        (items.with_columns(judged=~pl.col("judged")), "another paper or verdict"),
        (items.with_columns(item_id=pl.col("item_id").cast(pl.String)), "different types"),
    ):
        with pytest.raises(InputError, match=why):
            judge_counts(bad, labelled)
    with pytest.raises(InputError, match="repeat"):
        calibrate_by_papers(items, labelled, rng, 0)


def test_the_power_tuned_mean_by_hand() -> None:
    found = ppi_mean([1, 1, 0, 0], [1, 0, 0, 0], [1, 1, 0, 0])
    weight = 14 / 45
    assert found.power == pytest.approx(weight)
    assert found.estimate.value == pytest.approx(0.5 + weight / 4)
    rest = np.array([1 - weight, 1, 0, 0])
    half = 1.959963985 * math.sqrt(np.var(rest, ddof=1) / 4 + weight**2 / 3 / 4)
    assert ends(found.estimate) == pytest.approx((max(0, 0.5 + weight / 4 - half), min(1, 0.5 + weight / 4 + half)))


def test_the_power_tuned_mean_falls_back_on_the_labels() -> None:
    labels = [1, 0, 1, 1, 0, 0, 1, 1]
    for verdicts in ([1] * 8, [1 - y for y in labels]):
        found = ppi_mean(labels, verdicts, [1] * 50)
        assert found.power == 0
        assert found.estimate.value == pytest.approx(5 / 8)
    assert ppi_mean([1], [1], [1, 0]).estimate.value is None
    assert ppi_mean([1, 0], [1, 0], []).power is None
    flat = ppi_mean([1, 1], [1, 1], [1, 1]).estimate
    assert flat.value == 1
    assert flat.low is None
    assert flat.note


def test_the_power_tuned_mean_covers_and_is_tighter_than_labels_when_the_judge_is_good() -> None:
    rng, repeats, n, hits, alone, tighter = np.random.default_rng(3), 1500, 200, 0, 0, 0
    for _ in range(repeats):
        truth = rng.random(1200) < 0.4
        judged = np.where(truth, rng.random(1200) < 0.9, rng.random(1200) < 0.2)
        with_judge, labels = ppi_mean(truth[:n], judged[:n], judged[n:]).estimate, labels_only(truth[:n])
        hits += covers(with_judge, 0.4)
        alone += covers(labels, 0.4)
        tighter += compare_with_labels(with_judge, labels).labels_tighter is True
    assert hits / repeats >= 0.93
    assert alone / repeats >= 0.93
    assert tighter == 0


def test_labels_alone_may_be_tighter() -> None:
    labels = labels_only([1] * 60 + [0] * 40)
    assert labels.value == 0.6
    assert ends(labels) == pytest.approx((0.502003, 0.690599), abs=1e-6)
    assert labels_only([]).value is None
    weak = calibrate_share(0.5, 1000, 0.6, 0.6, 50, 50).estimate
    found = compare_with_labels(weak, labels)
    assert found.labels_tighter
    assert "the labels alone are tighter" in found.text
    strong = calibrate_share(0.5, 1000, 0.95, 0.95, 300, 300).estimate
    assert compare_with_labels(strong, labels).labels_tighter is False
    none = calibrate_share(0.5, 1000, 0.5, 0.5, 50, 50).estimate
    assert compare_with_labels(none, labels).labels_tighter is True
    assert compare_with_labels(strong, labels_only([])).labels_tighter is False
    assert compare_with_labels(none, labels_only([])).labels_tighter is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30), st.lists(st.booleans(), max_size=30))
@settings(deadline=None)
def test_a_power_tuned_mean_has_bounds_in_order_or_a_reason(pairs: list[tuple[bool, bool]], rest: list[bool]) -> None:
    found = ppi_mean([y for y, _ in pairs], [f for _, f in pairs], rest).estimate
    assert (found.low is None) == bool(found.note)
    if found.value is not None and found.low is not None:
        low, high = ends(found)
        assert 0 <= low <= found.value <= high <= 1


def test_bad_numbers_are_refused() -> None:
    nan = float("nan")
    for p, n, q0, alpha, why in (
        (1.1, 10, 0.9, 0.05, "p must"),
        (nan, 10, 0.9, 0.05, "p must"),
        (None, 10, 0.9, 0.05, "p must"),
        (0.5, -1, 0.9, 0.05, "below 0"),
        (0.5, 10, nan, 0.05, "q0 must"),
        (0.5, 10, None, 0.05, "q0 must"),
        (0.5, 10, 0.9, 1.0, "alpha"),
    ):
        with pytest.raises(InputError, match=why):
            calibrate_share(p, n, q0, 0.9, 10, 10, alpha)
    with pytest.raises(InputError, match="PPV must"):
        calibrate_by_verdict(0.5, 10, 2.0, 0.5, 5, 5)
    with pytest.raises(InputError, match="p must"):
        allocate(nan, 0.9, 0.9, 100, 10)
    for budget, pilot in ((19, 10), (10, 0)):
        with pytest.raises(InputError, match="pilots"):
            allocate(0.5, 0.9, 0.9, budget, pilot)
    with pytest.raises(InputError, match="2 labels and 1 verdicts"):
        ppi_mean([1, 0], [1], [1, 0])
    for bad in ([nan, 1], [2, 1], ["a", "b"], [[1, 0]]):
        with pytest.raises(InputError):
            ppi_mean(bad, [1, 0], [1, 0])
    with pytest.raises(InputError, match="neither true"):
        labels_only([0.5])
    with pytest.raises(InputError, match="7 of 5"):
        JudgeCounts(accepted=7, n=5, rates=RATES)
