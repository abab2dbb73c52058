"""Intervals and guarantees, simulated with fixed seeds: what claims 95 % covers at least 94 % where it says so."""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval import Confusion
from litcascade.eval.binary import wmcc
from litcascade.eval.cascade import cascade_loss, counterfactuals, extraction_yield, resampled_losses
from litcascade.eval.guarantees import certificate, choose_deployment, choose_threshold, elusion, plan_elusion
from litcascade.eval.intervals import (
    clopper_pearson,
    most_in_population,
    recall_interval,
    resample_mean,
    subsampling_picture,
    wilson,
    wmcc_interval,
)
from litcascade.eval.paired import Pairs, compare, holm, mcnemar, pairs_of

ROUNDS = 1500


def population(records: int, prevalence: float, recall: float, specificity: float) -> np.ndarray:
    positives = round(records * prevalence)
    tp, tn = round(positives * recall), round((records - positives) * specificity)
    return np.array([tp, records - positives - tn, positives - tp, tn])


def confusion(counts: np.ndarray) -> Confusion:
    return Confusion(tp=counts[0], fp=counts[1], fn=counts[2], tn=counts[3])


REGIMES = [
    (10_000, 0.05, 0.95, 0.8, 500),
    (10_000, 0.2, 0.9, 0.8, 500),
    (10_000, 0.3, 0.8, 0.8, 200),
    (2_000, 0.1, 0.9, 0.7, 1_000),
]


@pytest.mark.parametrize("regime", REGIMES)
def test_wmcc_intervals_cover_where_they_say_so(regime: tuple[int, float, float, float, int]) -> None:
    records, prevalence, recall, specificity, sample = regime
    whole = population(records, prevalence, recall, specificity)
    for weight in (1.0, 10.0):
        truth = wmcc(confusion(whole), weight).value
        assert truth is not None
        rng = np.random.default_rng(int(sample + weight))
        hits, claimed = 0, 0
        for counts in rng.multivariate_hypergeometric(whole, sample, size=ROUNDS):
            found = wmcc_interval(confusion(counts), rng, weight=weight, population=records, repeats=200)
            if found.low is None or found.high is None or "too short" in (found.note or ""):
                continue
            claimed += 1
            hits += found.low <= truth <= found.high
        assert claimed > ROUNDS / 2
        assert hits / claimed >= 0.94, (regime, weight, hits / claimed)


@pytest.mark.parametrize("regime", [*REGIMES, (10_000, 0.02, 0.9, 0.95, 300), (1_000, 0.2, 0.9, 0.9, 800)])
def test_exact_recall_bounds_cover_everywhere(regime: tuple[int, float, float, float, int]) -> None:
    records, prevalence, recall, specificity, sample = regime
    whole = population(records, prevalence, recall, specificity)
    truth = whole[0] / (whole[0] + whole[2])
    rng = np.random.default_rng(sample)
    two, one, total = 0, 0, 0
    for counts in rng.multivariate_hypergeometric(whole, sample, size=600):
        found = recall_interval(confusion(counts), records)
        if found.low is None or found.high is None:
            continue
        total += 1
        two += found.low <= truth <= found.high
        below = recall_interval(confusion(counts), records, one_sided=True)
        one += (below.low or 0) <= truth
    assert two / total >= 0.95
    assert one / total >= 0.95


def test_plain_subsampling_is_only_a_picture() -> None:
    values = subsampling_picture(Confusion(tp=24, fp=95, fn=1, tn=380), np.random.default_rng(1))
    assert len(values) == 2000
    assert np.all(np.diff(values[~np.isnan(values)]) >= 0)


def test_recall_certificates_err_at_most_as_often_as_they_say() -> None:
    rng = np.random.default_rng(11)
    wrong = 0
    for _ in range(2000):
        truth = rng.uniform(0.8, 1.0)
        includes = int(rng.integers(20, 300))
        low = certificate(int(rng.binomial(includes, truth)), includes).low
        wrong += (low or 0) > truth
    assert wrong / 2000 <= 0.05


def test_a_chosen_threshold_keeps_its_promise_over_a_thousand_reviews() -> None:
    rng = np.random.default_rng(5)
    thresholds = np.linspace(0, 1, 41)
    broken = chosen = 0
    for _ in range(1000):
        shape = rng.uniform(2, 6)
        found = choose_threshold(rng.beta(shape, 2, size=150), list(thresholds), 0.9)
        if found.threshold is None:
            continue
        chosen += 1
        broken += 1 - stats.beta.cdf(found.threshold, shape, 2) < 0.9
    assert chosen > 900
    assert broken / 1000 <= 0.05


def test_elusion_bounds_err_at_most_as_often_as_they_say() -> None:
    rng = np.random.default_rng(3)
    wrong = 0
    for _ in range(2000):
        missed = int(rng.integers(0, 80))
        drawn = int(rng.hypergeometric(missed, 5000 - missed, 400))
        wrong += elusion(5000, 400, drawn, 200).most_missed < missed
    assert wrong / 2000 <= 0.05


def test_a_plan_is_the_smallest_that_suffices() -> None:
    for row in plan_elusion(8000, 400, 0.95, assumed=5):
        assert row.sample is not None
        assert row.chance is not None
        assert elusion(8000, row.sample, row.allowed, 400).recall_low >= 0.95  # type: ignore[operator]
        assert elusion(8000, row.sample - 1, row.allowed, 400).recall_low < 0.95  # type: ignore[operator]
    impossible = plan_elusion(100, 5, 0.95)
    assert [row.sample for row in impossible] == [95, None, None, None]
    with pytest.raises(InputError, match="plan needs"):
        plan_elusion(100, 0, 0.95)


def test_no_threshold_that_cannot_be_shown() -> None:
    found = choose_threshold([0.9] * 20, [0.0, 0.5], 0.95)
    assert found.threshold is None
    assert "59 includes" in found.note
    with pytest.raises(InputError, match="not a number from 0 to 1"):
        choose_threshold([float("nan")], [0.5], 0.9)


def test_exact_bounds_equal_scipys_and_the_limit() -> None:
    for found, total in ((0, 10), (3, 10), (10, 10), (480, 500)):
        low, high = clopper_pearson(found, total)
        theirs = stats.binomtest(found, total).proportion_ci(method="exact")
        assert [low, high] == pytest.approx([theirs.low, theirs.high])
        score = stats.binomtest(found, total).proportion_ci(method="wilson")
        assert list(wilson(found, total)) == pytest.approx([score.low, score.high], abs=1e-12)
    assert clopper_pearson(0, 0) == (0.0, 1.0)
    assert most_in_population(3, 10, 10) == 3
    with pytest.raises(InputError, match="not possible"):
        most_in_population(3, 2, 10)


def test_the_deployment_rule() -> None:
    rng = np.random.default_rng(1)
    good, careless = Confusion(tp=200, fp=300, fn=1, tn=1499), Confusion(tp=150, fp=100, fn=51, tn=1699)
    worse = Confusion(tp=200, fp=900, fn=1, tn=899)
    rule = choose_deployment({"careless": careless, "worse": worse, "good": good}, 0.95, rng)
    assert rule.chosen == "good"
    assert {c.name: c.passes for c in rule.candidates} == {"careless": False, "worse": True, "good": True}
    nobody = choose_deployment({"careless": careless, "all": Confusion(tp=201, fp=1799, fn=0, tn=0)}, 0.95, rng)
    assert nobody.chosen is None
    assert "people screen" in nobody.note


def test_paired_differences_cover_and_mcnemar_and_holm_are_exact() -> None:
    whole = np.array([10, 30, 20, 340, 6000, 900, 700, 2000])  # gold yes: 00 01 10 11; gold no: 00 01 10 11
    truth = _difference(whole)
    rng = np.random.default_rng(9)
    hits = 0
    for counts in rng.multivariate_hypergeometric(whole, 800, size=800):
        found = compare(_pairs(counts), rng, population=int(whole.sum()), repeats=200).difference
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= truth <= found.high
    assert hits / 800 >= 0.94
    assert mcnemar(8, 2) == pytest.approx(stats.binomtest(8, 10).pvalue)
    assert mcnemar(0, 0) is None
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03}) == {
        "a": pytest.approx(0.03),
        "c": pytest.approx(0.06),
        "b": pytest.approx(0.06),
    }


def _pairs(counts: np.ndarray) -> Pairs:
    y, n = counts[:4], counts[4:]
    return Pairs(yes=((int(y[0]), int(y[1])), (int(y[2]), int(y[3]))), no=((int(n[0]), int(n[1])), (int(n[2]), int(n[3]))))


def _difference(counts: np.ndarray) -> float:
    pairs = _pairs(counts)
    one, other = wmcc(pairs.a()).value, wmcc(pairs.b()).value
    assert one is not None
    assert other is not None
    return one - other


def test_pairs_are_joined_by_id_and_odd_rows_refused() -> None:
    rows = [
        ("a", "include", "included", "excluded"),
        ("b", "exclude", "excluded", "referred"),
        ("c", "include", "included", "included"),
    ]
    frame = pl.DataFrame(rows, schema=["record_id", "gold", "state_a", "state_b"], orient="row")
    pairs = pairs_of(frame)
    assert pairs.a() == Confusion(tp=2, fp=0, fn=0, tn=1)
    assert pairs.b() == Confusion(tp=1, fp=1, fn=1, tn=0)
    with pytest.raises(InputError, match="not judged by both"):
        pairs_of(frame.with_columns(state_b=pl.lit(None, dtype=pl.String)))


def test_means_over_reviews_cover() -> None:
    rng = np.random.default_rng(2)
    hits = sum(
        (found.low or 0) <= 0.6 <= (found.high or 0)
        for found in (resample_mean(rng.normal(0.6, 0.1, size=20), rng, repeats=400) for _ in range(600))
    )
    assert hits / 600 >= 0.93
    few = resample_mean([0.1, 0.9], rng)
    assert (few.value, few.low) == (0.5, None)
    assert "fewer than 10" in (few.note or "")
    assert resample_mean([1.0] * 15 + [0.2] * 3, rng).low is None
    assert resample_mean([], rng).value is None
    with pytest.raises(InputError, match="not a number"):
        resample_mean([0.5, float("nan")], rng)


STAGES = ["title_abstract", "retrieval", "full_text"]


def cascade(rows: Sequence[tuple[bool, bool | None, bool | None]]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema=dict.fromkeys(STAGES, pl.Boolean), orient="row")
    return frame.with_columns(record_id=pl.Series([str(i) for i in range(frame.height)]))


def test_losses_sum_and_joint_resampling_agrees() -> None:
    frame = cascade(
        [(True, True, True)] * 70 + [(True, True, False)] * 10 + [(True, False, False)] * 15 + [(False, False, False)] * 5
    )
    found = cascade_loss(frame, STAGES)
    assert [item.loss.value for item in found.stages] == pytest.approx([0.05, 0.15, 0.10])
    assert math.isclose(sum(item.loss.value or 0 for item in found.stages), 1 - (found.end_to_end.value or 0))
    assert (found.end_to_end.low, found.end_to_end.high) == clopper_pearson(70, 100)
    drawn = resampled_losses(frame, STAGES, np.random.default_rng(1))
    assert drawn["retrieval"].mean() == pytest.approx(0.15, abs=0.005)
    assert drawn.sum_horizontal().to_list() == pytest.approx([1.0] * drawn.height)


def test_counterfactuals_are_exact_where_known_and_say_so_where_not() -> None:
    known = cascade([(True, True, True), (True, True, False), (False, True, True), (True, False, True)])
    found = counterfactuals(known, STAGES)
    assert [found[stage].value for stage in STAGES] == [0.5, 0.5, 0.5]
    assert all(found[stage].note is None for stage in STAGES)
    unknown = cascade([(True, True, True), (True, True, False), (False, None, None), (True, False, None)])
    assumed = counterfactuals(unknown, STAGES)
    assert assumed["title_abstract"].value == pytest.approx(1 * (2 / 3) * (1 / 2))
    assert "assumed" in (assumed["title_abstract"].note or "")


def test_the_yield_of_extraction() -> None:
    frame = cascade([(True, True, True)] * 8 + [(False, False, False)] * 2).with_columns(
        gold_values=pl.Series([5] * 10), given=pl.Series([5] + [4] * 7 + [0, 0]), right=pl.Series([5, 3, 3, 3, 3, 3, 3, 3, 0, 0])
    )
    found = extraction_yield(frame, STAGES, np.random.default_rng(1))
    assert found.coverage.value == pytest.approx(33 / 40)
    assert found.correctness.value == pytest.approx(26 / 33)
    assert found.extraction_yield.value == pytest.approx(0.8 * 26 / 40)
    assert found.extraction_yield.low is not None
    assert found.extraction_yield.low < 0.8 * 26 / 40
    assert found.complete.value == pytest.approx(1 / 8)
    nothing = extraction_yield(frame.head(0), STAGES, np.random.default_rng(1))
    assert nothing.extraction_yield.value is None
    assert nothing.extraction_yield.note
