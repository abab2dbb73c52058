"""Dawid and Skene's model: one step by hand, readers of known quality, and what it refuses."""

import itertools
from math import log

import numpy as np
import polars as pl
import pytest

from litcascade.errors import InputError
from litcascade.eval.panels import AtLeast, Votes, apply, dawid_skene, dawid_skene_labels, weighted_rule
from tests.eval.test_panels import made


def by_hand() -> Votes:
    """Records A to D and three readers: 110, 000, 111, 001."""
    include = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 0, 1]], dtype=bool)
    return made(include, np.zeros(4, dtype=bool)).votes


def test_one_step_by_hand() -> None:
    # The vote shares start it: A 2/3, B 0, C 1, D 1/3. So readers 1 and 2 have se = sp = 5/6, reader 3 has 2/3, and half of
    # the records are includes. Then A: (5/6)^2 (1/3) against (1/6)^2 (2/3), or 25 : 2; B: 1 : 50; C: 50 : 1; D: 2 : 25.
    model = dawid_skene(by_hand(), smoothing=0.0, iterations=1)
    assert model.shares == pytest.approx((0.5, 0.5))
    for one, rate in zip(model.readers, (5 / 6, 5 / 6, 2 / 3), strict=True):
        assert one.sensitivity == pytest.approx(rate)
        assert one.specificity == pytest.approx(rate)
        assert one.answered == 4
    assert model.posterior[:, 1] == pytest.approx([25 / 27, 1 / 51, 50 / 51, 2 / 27])
    assert model.log_likelihood == pytest.approx(2 * log(27 / 216) + 2 * log(51 / 216))
    assert not model.converged
    assert "did not converge in 1 iterations" in model.note
    with pytest.raises(InputError, match="converged"):
        weighted_rule(model)


def test_smoothing_by_hand() -> None:
    # Half an answer is added to each cell: reader 1 has se = (5/3 + 1/2) / (2 + 1); the shares stay at one half.
    model = dawid_skene(by_hand(), smoothing=0.5, iterations=1)
    assert model.readers[0].sensitivity == pytest.approx((5 / 3 + 0.5) / 3)
    assert model.readers[2].specificity == pytest.approx((4 / 3 + 0.5) / 3)


SE, SP = np.array([0.95, 0.85, 0.7, 0.9, 0.6]), np.array([0.9, 0.95, 0.8, 0.7, 0.97])


def panel(n: int, seed: int, missing: float = 0.0) -> tuple[Votes, np.ndarray]:
    rng = np.random.default_rng(seed)
    gold = rng.random(n) < 0.2
    draws = rng.random((n, 5))
    include = np.where(gold[:, None], draws < SE, draws > SP)
    return made(include, gold, rng.random((n, 5)) >= missing).votes, gold


@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_readers_of_known_quality_are_recovered_without_gold(missing: float) -> None:
    votes, gold = panel(20_000, 1, missing)
    model = dawid_skene(votes)
    assert model.converged
    assert model.note == "converged"
    assert model.shares[1] == pytest.approx(0.2, abs=0.015)
    for one, se, sp in zip(model.readers, SE, SP, strict=True):
        assert one.sensitivity == pytest.approx(se, abs=0.025)
        assert one.specificity == pytest.approx(sp, abs=0.015)
    found = model.posterior[:, 1] >= 0.5
    majority = apply(AtLeast(readers=votes.readers, votes=3), votes).included
    assert (found != gold).mean() < (majority != gold).mean()
    assert model.frame().columns == ["record_id", "exclude", "include"]


def test_the_weighted_vote_includes_where_the_posterior_says_so() -> None:
    votes, _ = panel(3000, 2)
    model = dawid_skene(votes)
    for probability in (0.1, 0.5, 0.9):
        rule = weighted_rule(model, probability)
        assert apply(rule, votes).included.tolist() == (model.posterior[:, 1] >= probability).tolist()
    with pytest.raises(InputError, match="between 0 and 1"):
        weighted_rule(model, 1.0)


def test_three_classes_are_recovered_and_do_not_depend_on_row_order() -> None:
    rng = np.random.default_rng(3)
    rates = np.array([[0.8, 0.15, 0.05], [0.1, 0.85, 0.05], [0.2, 0.1, 0.7]])
    truth = rng.choice(3, size=4000, p=[0.5, 0.3, 0.2])
    rows = [(f"r{i:05d}", f"m{j}", "abc"[rng.choice(3, p=rates[t])]) for i, t in enumerate(truth) for j in range(5)]
    frame = pl.DataFrame(rows, schema=["record_id", "reader", "label"], orient="row")
    model = dawid_skene_labels(frame)
    assert model.classes == ("a", "b", "c")
    assert np.allclose(model.shares, [0.5, 0.3, 0.2], atol=0.03)
    for one in model.readers:
        assert np.allclose(one.rates, rates, atol=0.05)
        assert one.sensitivity is None
    assert (model.posterior.argmax(axis=1) == truth).mean() > 0.93
    again = dawid_skene_labels(frame.sample(fraction=1.0, shuffle=True, seed=1))
    assert np.allclose(model.posterior, again.posterior)


def test_classes_are_named_as_the_readers_name_them() -> None:
    renamed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        answers = rng.integers(3, size=(10, 3))
        rows = [(f"r{i}", f"m{j}", "abc"[answers[i, j]]) for i in range(10) for j in range(3)]
        model = dawid_skene_labels(pl.DataFrame(rows, schema=["record_id", "reader", "label"], orient="row"), smoothing=0.0)
        mean = np.mean([one.rates for one in model.readers], axis=0)
        orders = itertools.permutations(range(len(model.classes)))
        assert np.trace(mean) >= max(np.trace(mean[list(order)]) for order in orders) - 1e-9
        assert model.posterior.sum(axis=1) == pytest.approx(1.0)
        assert model.relabelled == ("renamed" in model.note)
        renamed += model.relabelled
    assert renamed > 0


def test_a_reader_worse_than_chance_is_named() -> None:
    votes, gold = panel(3000, 4)
    include = votes.include.copy()
    include[:, 2] = ~include[:, 2]
    model = dawid_skene(made(include, gold).votes)
    assert [one.worse_than_chance for one in model.readers] == [False, False, True, False, False]
    assert "worse than chance: m02" in model.note


def test_what_cannot_be_fitted_is_refused() -> None:
    votes, _ = panel(20, 5)
    with pytest.raises(InputError, match="fewer than 3 of them"):
        dawid_skene(votes.of(["m00", "m01"]))
    silent = made(votes.include, np.zeros(20, dtype=bool), np.arange(5) != np.full((20, 1), 3)).votes
    with pytest.raises(InputError, match="no answer at all from: m03"):
        dawid_skene(silent)
    rows = pl.DataFrame({"record_id": ["a"] * 3, "reader": ["x", "y", "z"], "label": ["p", "p", "p"]})
    with pytest.raises(InputError, match="all the same class"):
        dawid_skene_labels(rows)
    with pytest.raises(InputError, match="none of: q, r"):
        dawid_skene_labels(rows, ["q", "r"])
    with pytest.raises(InputError, match="twice"):
        dawid_skene_labels(pl.concat([rows, rows]))
    with pytest.raises(InputError, match="smoothing"):
        dawid_skene(votes, smoothing=-1)
