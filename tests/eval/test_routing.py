"""Routing by length: the regression against scikit-learn, the fitted rule, and where it helps and where it does not."""

import numpy as np
import pytest
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.binary import metrics_of
from litcascade.eval.metrics.f import f_beta
from litcascade.eval.panels import (
    Decided,
    Escalation,
    Heard,
    Labelled,
    LengthRouted,
    Prices,
    ReaderPrice,
    apply,
    choose,
    decide,
    escalation_bands,
    fit_length_routing,
    operating_points,
    score_readers,
)
from litcascade.eval.panels.candidates import fixed
from litcascade.eval.panels.logistic import Problem, ridge_logistic
from litcascade.eval.panels.routing import folds_of, quantile_edges
from litcascade.schemas import Ask
from tests.eval.test_panels import made, study

SEEDS = 30


@pytest.mark.parametrize("ridge", [0.1, 1.0, 10.0])
@pytest.mark.parametrize(("seed", "groups"), [(1, 1), (2, 2), (3, 3), (4, 4)])
def test_the_grouped_regression_equals_scikit_learn_on_its_dense_columns(seed: int, groups: int, ridge: float) -> None:
    linear = pytest.importorskip("sklearn.linear_model", reason="scikit-learn (extra [learn]) is not installed")
    rng = np.random.default_rng(seed)
    n, readers = 200, 3
    place, votes = rng.integers(groups, size=n), rng.random((n, readers)) < 0.5
    gold = rng.random(n) < 1 / (1 + np.exp(2 - votes @ [1.0, 2.0, 0.5] - place))
    gold[:2] = [True, False]
    rows, positives, totals = np.zeros((groups, n, 4)), np.zeros((2, groups, n)), np.zeros((2, groups, n))
    rows[place, np.arange(n)] = np.column_stack([np.ones(n), votes])
    kept = np.array([np.ones(n), np.arange(n) < 150], dtype=float)
    positives[:, place, np.arange(n)], totals[:, place, np.arange(n)] = kept * gold, kept
    fits = ridge_logistic(Problem(rows, positives, totals, ridge))
    assert fits.converged.all()
    shared = np.column_stack([np.ones(n), votes])
    dense = [np.where((place == g)[:, None], shared, 0.0) for g in range(groups)] if groups > 1 else []
    columns = np.column_stack([shared[:, 1:], *dense])
    for fit in range(2):
        model = linear.LogisticRegression(C=1 / ridge, tol=1e-10, max_iter=10_000)
        model.fit(columns, gold, sample_weight=kept[fit])
        ours = (fits.by_group[fit][place] * shared).sum(axis=1)
        assert ours == pytest.approx(model.decision_function(columns), abs=2e-3)


def test_a_perfectly_separated_split_stays_finite() -> None:
    rows = np.array([[[1.0, 0.0], [1.0, 1.0]]])
    fits = ridge_logistic(Problem(rows, np.array([[[0.0, 50.0]]]), np.array([[[50.0, 50.0]]]), 1.0))
    assert fits.converged.all()
    assert np.isfinite(fits.by_group).all()
    assert fits.by_group[0, 0, 1] > 2


def by_length(seed: int, n: int = 2000) -> Labelled:
    """Two readers: one is right on short records, the other on long ones; elsewhere each is right in 65 %."""
    rng = np.random.default_rng([1, seed])
    gold, tokens = rng.random(n) < 0.15, rng.lognormal(6, 0.6, n)
    is_long = tokens > np.exp(6)
    right = rng.random((n, 2)) < np.column_stack([np.where(is_long, 0.65, 0.95), np.where(is_long, 0.95, 0.65)])
    return made(np.where(right, gold[:, None], ~gold[:, None]), gold, tokens=tokens)


def whatever_length(seed: int, n: int = 2000) -> Labelled:
    """One good reader and two blurred copies of it: neither the length nor the copies add anything."""
    rng = np.random.default_rng([2, seed])
    gold, tokens = rng.random(n) < 0.15, rng.lognormal(6, 0.6, n)
    best = np.where(rng.random(n) < 0.92, gold, ~gold)
    copies = [np.where(rng.random(n) < 0.9, best, ~best) for _ in range(2)]
    return made(np.column_stack([best, *copies]), gold, tokens=tokens)


def independent(seed: int, n: int = 2000) -> Labelled:
    """Four readers of even quality at every length: a panel helps, its length bins do not."""
    rng = np.random.default_rng([3, seed])
    gold, tokens = rng.random(n) < 0.15, rng.lognormal(6, 0.6, n)
    right = rng.random((n, 4)) < [0.9, 0.88, 0.86, 0.85]
    return made(np.where(right, gold[:, None], ~gold[:, None]), gold, tokens=tokens)


def f2_on_validation(labelled: Labelled, bins: int) -> tuple[float, float]:
    """F2 of routing and of the best single reader, both chosen on the first half and scored on the second."""
    train, rest = labelled.rows(np.arange(1000)), labelled.rows(np.arange(1000, 2000))
    routed = fixed(rest, [fit_length_routing(train, bins=bins).rule])
    best = max(score_readers(train), key=lambda one: one.f2.value or 0.0).reader
    single = {one.reader: one.f2.value for one in score_readers(rest)}[best]
    found = f_beta(routed.counts.confusion(0)).value
    assert found is not None
    assert single is not None
    return found, single


def test_routing_beats_the_best_single_reader_where_accuracy_depends_on_length() -> None:
    gains = [a - b for a, b in (f2_on_validation(by_length(seed), 4) for seed in range(SEEDS))]
    assert np.mean(gains) > 0.15
    assert stats.ttest_1samp(gains, 0, alternative="greater").pvalue < 1e-10


def test_routing_does_not_beat_it_where_accuracy_does_not_depend_on_length() -> None:
    gains = [a - b for a, b in (f2_on_validation(whatever_length(seed), 4) for seed in range(SEEDS))]
    assert abs(np.mean(gains)) < 0.01
    assert stats.ttest_1samp(gains, 0, alternative="greater").pvalue > 0.05


def test_length_bins_add_nothing_to_a_panel_whose_accuracy_does_not_depend_on_length() -> None:
    gains = [f2_on_validation(independent(seed), 4)[0] - f2_on_validation(independent(seed), 1)[0] for seed in range(SEEDS)]
    assert abs(np.mean(gains)) < 0.01
    assert stats.ttest_1samp(gains, 0, alternative="greater").pvalue > 0.05


def test_the_fitted_rule_asks_only_the_readers_that_weigh() -> None:
    labelled = by_length(1, 6000)
    rng = np.random.default_rng(9)
    noise = made(np.column_stack([labelled.votes.include, rng.random(6000) < 0.3]), labelled.gold, tokens=labelled.votes.tokens)
    fit = fit_length_routing(noise, edges=[float(np.exp(6))], target=0.9, tokens_of="m")
    short, long_ = fit.rule.bins
    assert fit.reached
    assert fit.recall.value is not None
    assert fit.recall.value >= 0.9
    assert fit.rule.tokens_of == "m"
    assert "m02" not in fit.rule.readers
    assert (
        dict(zip(short.readers, short.weights, strict=True))["m00"]
        > 2 * dict(zip(short.readers, short.weights, strict=True))["m01"]
    )
    assert (
        dict(zip(long_.readers, long_.weights, strict=True))["m01"]
        > 2 * dict(zip(long_.readers, long_.weights, strict=True))["m00"]
    )
    assert short.n + long_.n == 6000
    assert short.includes + long_.includes == labelled.positives
    again = LengthRouted.model_validate_json(fit.rule.model_dump_json())
    assert again == fit.rule
    assert decide(again, {}, 10.0) == Ask(readers=short.readers)
    unknown = decide(again, {}, None)
    assert isinstance(unknown, Decided)
    assert unknown.verdict == "refer"


def test_a_bin_never_excludes_what_all_its_readers_include() -> None:
    rng = np.random.default_rng(4)
    n = 1500
    tokens = rng.lognormal(6, 0.5, n)
    gold = (rng.random(n) < 0.2) & (tokens < np.exp(6))
    right = rng.random((n, 3)) < 0.85
    rule = fit_length_routing(made(np.where(right, gold[:, None], ~gold[:, None]), gold, tokens=tokens), bins=4).rule
    for number, one in enumerate(rule.bins):
        length = [0.0, *rule.edges][number] + 1
        said = {name: Heard(decision="include" if w > 0 else "exclude") for name, w in zip(one.readers, one.weights, strict=True)}
        assert decide(rule, said, length) == Decided(verdict="include")


def test_scores_out_of_fold_do_not_come_from_fits_that_saw_the_record() -> None:
    # Votes are noise: a fit that saw the records would find something to say of them, out of fold there is nothing.
    rng = np.random.default_rng(6)
    gains = []
    for _ in range(20):
        gold = rng.random(120) < 0.5
        labelled = made(rng.random((120, 8)) < 0.5, gold, tokens=rng.lognormal(6, 0.5, 120))
        fit = fit_length_routing(labelled, bins=4, ridge=0.01, target=0.5)
        seen = labelled.confusion(apply(fit.rule, labelled.votes).positive)
        gains.append((fit.precision.value or 0.0, seen.tp / (seen.tp + seen.fp)))
    out, inside = np.mean(gains, axis=0)
    assert out < 0.58
    assert inside > out + 0.1


def test_folds_are_balanced_and_follow_the_ids() -> None:
    labelled = study(500, 2, 1)
    folds = folds_of(labelled, 5, 3)
    for side in (labelled.gold, ~labelled.gold):
        counts = np.bincount(folds[side])
        assert counts.max() - counts.min() <= 1
    order = np.random.default_rng(1).permutation(500)
    assert folds_of(labelled.rows(order), 5, 3).tolist() == folds[order].tolist()
    assert folds_of(labelled, 5, 4).tolist() != folds.tolist()


def test_bins_by_quantiles_and_what_is_refused() -> None:
    assert quantile_edges(np.arange(100.0), 4) == (24.75, 49.5, 74.25)
    assert quantile_edges(np.array([5.0] * 90 + [9.0] * 10), 4) == ()
    assert quantile_edges(np.arange(9.0), 1) == ()
    labelled = study(300, 3, 1)
    with pytest.raises(InputError, match="at least 1 bin"):
        fit_length_routing(labelled, bins=0)
    with pytest.raises(InputError, match="ridge penalty must be above 0"):
        fit_length_routing(labelled, ridge=0)
    with pytest.raises(InputError, match="must rise"):
        fit_length_routing(labelled, edges=[5, 5])
    with pytest.raises(InputError, match="2 folds and 2 records of each class"):
        fit_length_routing(labelled.rows(np.append(np.flatnonzero(labelled.gold)[:1], np.flatnonzero(~labelled.gold))))
    with pytest.raises(InputError, match=r"300 record\(s\) of the training split have no length"):
        fit_length_routing(made(labelled.votes.include, labelled.gold))
    with pytest.raises(InputError, match="no include by gold"):
        fit_length_routing(labelled.rows(np.flatnonzero(~labelled.gold)))


# -- confidence --------------------------------------------------------------------------------------------------------


def cheap_and_strong(seed: int, n: int = 4000) -> Labelled:
    rng = np.random.default_rng([5, seed])
    gold = rng.random(n) < 0.1
    cheap = 1 / (1 + np.exp(-(rng.normal(size=n) + np.where(gold, 1.5, -1.5))))
    strong = np.where(rng.random(n) < 0.97, gold, ~gold)
    include = np.column_stack([cheap >= 0.5, strong])
    return made(include, gold, scores=np.column_stack([cheap, np.full(n, np.nan)]))


PRICES = Prices(
    readers={"m00": ReaderPrice(tokens=500, gpu_seconds=0.02), "m01": ReaderPrice(tokens=900, gpu_seconds=1.0)},
    minutes_per_record=1.0, per_hour=30.0, per_million_tokens=0.0, per_gpu_hour=2.0,
)  # fmt: skip


def test_the_band_is_the_cheapest_that_reaches_the_target() -> None:
    labelled = cheap_and_strong(1, 400)
    scores = labelled.votes.scores[:, 0].round(1)
    coarse = made(labelled.votes.include, labelled.gold, scores=np.column_stack([scores, np.full(400, np.nan)]))
    found = choose([escalation_bands(coarse, "m00", "m01")], 0.95, PRICES, "gpu_seconds").chosen
    assert found is not None
    levels = np.unique(scores)
    edges = [levels[0] - 1, *levels, levels[-1] + 1]
    costs = []
    for low in edges:
        for high in edges:
            applied = apply(Escalation(cheap="m00", strong="m01", low=low, high=high), coarse.votes)
            c = coarse.confusion(applied.positive)
            if c.tp >= np.ceil(0.95 * coarse.positives):
                costs.append(400 * 0.02 + applied.asked[:, 1].sum() * 1.0)
    assert found.costs.gpu_seconds.value == pytest.approx(min(costs))


def test_escalation_saves_most_strong_calls_at_the_same_recall() -> None:
    labelled = cheap_and_strong(2, 8000)
    first, second = labelled.rows(np.arange(4000)), labelled.rows(np.arange(4000, 8000))
    (point,) = operating_points([escalation_bands(first, "m00", "m01")], second, (0.95,), prices=PRICES, minimise="money")
    assert point.chosen is not None
    assert isinstance(point.chosen.rule, Escalation)
    assert point.report is not None
    assert (point.report.recall.value or 0) > 0.9
    assert (point.report.precision.value or 0) > 0.6
    asked = apply(point.chosen.rule, second.votes).asked.sum(axis=0)
    assert asked[0] == 4000
    assert asked[1] < 0.6 * 4000
    assert point.chosen.costs.gpu_seconds.value is not None
    assert metrics_of(point.chosen.confusion, 10.0)


def test_a_band_needs_something_to_go_by() -> None:
    labelled = study(100, 2, 3)
    no_scores = made(labelled.votes.include, labelled.gold)
    with pytest.raises(InputError, match="'m00' gave no score on any record"):
        escalation_bands(no_scores, "m00", "m01")
    with pytest.raises(InputError, match="'m07' gave no readings"):
        escalation_bands(labelled, "m07", "m01")
    many = cheap_and_strong(3)
    assert 1000 < len(escalation_bands(many, "m00", "m01")) <= 201 * 202 / 2 + 202
