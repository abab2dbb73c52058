"""The promise of a recall certificate: exact bounds by hand, and 1,000 simulated reviews."""

import numpy as np
import pytest
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.guarantees import certificate, includes_needed
from litcascade.eval.panels import (
    Labelled,
    Rule,
    allowed_misses,
    apply,
    certified_point,
    choose,
    choose_pools,
    score_steps,
    singles,
    union_steps,
    vote_steps,
)
from litcascade.eval.panels.frontier import ladder
from litcascade.eval.panels.promise import includes_of_population
from tests.eval.test_panels import made, study

REVIEWS = 1000


@pytest.mark.parametrize(("includes", "misses"), [(58, None), (59, 0), (92, 0), (93, 1), (124, 2), (153, 3)])
def test_the_includes_that_show_95_percent(includes: int, misses: int | None) -> None:
    assert allowed_misses(includes, 0.95).misses == misses


@pytest.mark.parametrize("target", [0.8, 0.9, 0.95])
def test_the_misses_allowed_are_those_whose_exact_bound_clears_the_target(target: float) -> None:
    for includes in range(1, 200, 7):
        allowed = allowed_misses(includes, target).misses
        bounds = [certificate(includes - k, includes).low or 0.0 for k in range(includes + 1)]
        assert allowed == max((k for k, low in enumerate(bounds) if low >= target), default=None)
        if allowed is not None:
            assert includes_needed(target, allowed) <= includes


def test_what_cannot_be_shown_says_why() -> None:
    assert "with 20 labelled includes" in allowed_misses(20, 0.95).note
    assert allowed_misses(0, 0.95).note == "no labelled include, so nothing can be shown"
    assert allowed_misses(47, 1.0).note == "a recall of 1 can be met but not shown: 47 of 47 shows 0.938"
    few = allowed_misses(59, 0.95, sample=590, population=640)
    assert few.misses is None
    assert "the rest may hold as few as" in few.note
    assert allowed_misses(30, 0.95, sample=300, population=300).misses == 30
    for wrong in (0.0, 1.1):
        with pytest.raises(InputError, match="target"):
            allowed_misses(10, wrong)


@pytest.mark.parametrize(("includes", "sample", "population"), [(80, 800, 4000), (120, 1000, 2500), (200, 1000, 20_000)])
@pytest.mark.parametrize("target", [0.9, 0.95])
def test_a_rule_that_misses_too_many_of_the_rest_passes_in_at_most_alpha(
    includes: int, sample: int, population: int, target: float
) -> None:
    allowed = allowed_misses(includes, target, sample=sample, population=population)
    low, high = includes_of_population(includes, sample, population, 0.01)
    assert stats.hypergeom.cdf(includes, population, high + 1, sample) <= 0.005
    assert stats.hypergeom.sf(includes - 1, population, low - 1, sample) <= 0.005
    assert allowed.misses is not None
    worst = 0.0
    for whole in range(low, high + 1):
        tolerated = int(np.floor((1 - target) * (whole - includes) + 1e-9))
        for missed in range(tolerated + 1, tolerated + 4):
            worst = max(worst, float(stats.hypergeom.cdf(allowed.misses, whole, missed, includes)))
    assert 0.005 < worst <= 0.05


def review(seed: int) -> tuple[np.ndarray, np.ndarray, None, np.ndarray]:
    """A review of 3,000 records: five readers whose errors go together, and a score from the first."""
    rng = np.random.default_rng([11, seed])
    gold = rng.random(3000) < rng.uniform(0.08, 0.15)
    se, sp = rng.uniform(0.75, 0.98, 5), rng.uniform(0.75, 0.97, 5)
    noise = 0.5 * rng.normal(size=(3000, 1)) + np.sqrt(0.75) * rng.normal(size=(3000, 5))
    include = np.where(gold[:, None], noise < stats.norm.ppf(se), noise > stats.norm.ppf(sp))
    scores = np.repeat(stats.norm.cdf(rng.normal(size=(3000, 1)) + 2.5 * gold[:, None] - 1), 5, axis=1).round(2)
    return include, gold, None, scores


def test_the_promise_holds_over_1000_simulated_reviews() -> None:
    broken, claimed, naive = {"the rest": 0, "in the long run": 0}, {"the rest": 0, "in the long run": 0}, 0
    for seed in range(REVIEWS):
        whole = made(*review(seed))
        first, second, rest = (whole.rows(np.arange(*span)) for span in ((0, 400), (400, 1300), (1300, 3000)))
        families = [union_steps(first, choose_pools(first, 2, 3, 0.0)), vote_steps(first), score_steps(first, ["m00"])]
        for kind, population in (("the rest", 2600), ("in the long run", None)):
            found = certified_point(families, second, 0.9, population=population)
            claimed[kind] += found.rule is not None
            broken[kind] += breaks(found.rule, rest)
        best = choose(families, 0.9).chosen
        naive += best is not None and breaks(best.rule, rest)
    assert min(claimed.values()) > 0.8 * REVIEWS
    assert max(broken.values()) <= 0.05 * REVIEWS
    assert naive > 0.2 * REVIEWS


def breaks(rule: Rule | None, rest: Labelled) -> bool:
    return rule is not None and bool(apply(rule, rest.votes).positive[rest.gold].mean() < 0.9)


def test_the_ladder_goes_from_the_most_inclusive_down() -> None:
    labelled = study(300, 6, 4)
    steps = ladder([vote_steps(labelled), score_steps(labelled), singles(labelled)])
    found = [family.counts.tp[index] for family, index in steps]
    read = [family.counts.tp[index] + family.counts.fp[index] for family, index in steps]
    assert read == sorted(read, reverse=True)
    assert found == sorted(found, reverse=True)
    assert sum(tp == found[0] for tp in found) > 1


def test_nothing_is_promised_where_nothing_can_be() -> None:
    labelled = study(300, 4, 6)
    few = labelled.rows(np.arange(100))
    found = certified_point([vote_steps(labelled)], few, 0.95)
    assert found.rule is None
    assert found.report is None
    assert found.tested == 0
    assert "0.95 cannot be shown" in found.note
    blind = made(np.zeros((600, 2), dtype=bool) | (np.arange(600)[:, None] % 3 == 0), np.arange(600) % 2 == 0)
    refused = certified_point([vote_steps(blind)], blind, 0.95)
    assert refused.rule is None
    assert refused.tested == 1
    assert refused.note.startswith("no rule can be promised: the most inclusive one")
