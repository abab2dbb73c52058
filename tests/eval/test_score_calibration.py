import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import brier_score_loss

from litcascade.errors import InputError, MissingExtraError
from litcascade.eval.score_calibration import (
    Binning,
    Calibrator,
    Kind,
    brier,
    expected_calibration_error,
    fit_calibrator,
    reliability,
)

KINDS: tuple[Kind, Kind] = ("isotonic", "platt")
BINNINGS: tuple[Binning, Binning] = ("width", "count")
rows = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60)


def drawn(n: int, slope: float, intercept: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores whose true log-odds are slope * log-odds(score) + intercept."""
    rng = np.random.default_rng(seed)
    scores = rng.uniform(0.01, 0.99, n)
    return scores, rng.random(n) < 1 / (1 + np.exp(-(slope * np.log(scores / (1 - scores)) + intercept)))


def test_equal_width_by_hand() -> None:
    found = reliability([0.1, 0.15, 0.9, 1.0], [0, 1, 1, 1], bins=5)
    assert [item.n for item in found.bins] == [2, 0, 0, 0, 2]
    first, empty, last = found.bins[0], found.bins[1], found.bins[-1]
    assert (first.low, first.high) == (0, 0.2)
    assert (first.share.value, first.score.value) == (0.5, 0.125)
    assert [first.share.low, first.share.high] == pytest.approx([0.094531, 0.905469], abs=1e-6)
    assert empty.share.value is None
    assert empty.score.value is None
    assert empty.share.note
    assert (last.share.value, last.score.value) == (1, 0.95)


def test_a_score_on_an_edge_belongs_to_the_bin_above() -> None:
    edges = [k / 100 for k in range(101)]
    found = reliability(edges, [0] * 101, bins=100)
    assert [item.n for item in found.bins] == [1] * 99 + [2]


def test_equal_counts_keep_ties_together() -> None:
    found = reliability([0.1, 0.2, 0.3, 0.4, 0.5, 0.6], [0, 0, 1, 0, 1, 1], bins=3, binning="count")
    assert [(item.low, item.high, item.n) for item in found.bins] == [(0.1, 0.2, 2), (0.3, 0.4, 2), (0.5, 0.6, 2)]
    tied = reliability([0.5] * 5 + [0.9], [0, 1, 0, 1, 0, 1], bins=3, binning="count")
    assert [(item.low, item.high, item.n) for item in tied.bins] == [(0.5, 0.5, 5), (0.9, 0.9, 1)]
    assert reliability([], [], binning="count").bins == ()
    assert len(reliability([], []).bins) == 10


def test_calibration_error_and_brier_by_hand() -> None:
    scores, labels = [0.1, 0.1, 0.9, 0.9], [0, 1, 1, 1]
    assert expected_calibration_error(scores, labels).value == pytest.approx(0.25)
    assert expected_calibration_error(scores, labels, bins=1).value == pytest.approx(0.25)
    assert expected_calibration_error(scores, labels, bins=2, binning="count").value == pytest.approx(0.25)
    assert brier(scores, labels).value == pytest.approx((0.01 + 0.81 + 0.01 + 0.01) / 4)
    assert expected_calibration_error(scores, labels).metric == "ece@10width"
    for estimate in (expected_calibration_error([], []), brier([], [])):
        assert estimate.value is None
        assert estimate.note


@given(rows, st.integers(1, 12), st.sampled_from(BINNINGS))
@settings(max_examples=60, deadline=None)
def test_the_error_is_that_of_the_curve(pairs: list[tuple[float, bool]], bins: int, binning: Binning) -> None:
    scores, labels = [s for s, _ in pairs], [y for _, y in pairs]
    curve = reliability(scores, labels, bins, binning)
    assert sum(item.n for item in curve.bins) == curve.n == len(pairs)
    gaps = sum(
        item.n * abs(item.share.value - item.score.value)
        for item in curve.bins
        if item.share.value is not None and item.score.value is not None
    )
    assert expected_calibration_error(scores, labels, bins, binning).value == pytest.approx(gaps / len(pairs))
    assert brier(scores, labels).value == pytest.approx(brier_score_loss(labels, scores, pos_label=True))


@pytest.mark.parametrize("kind", KINDS)
def test_a_fit_makes_other_scores_honest(kind: Kind) -> None:
    fitted = fit_calibrator(*drawn(3000, 0.5, -1, seed=1), kind)
    scores, labels = drawn(20000, 0.5, -1, seed=2)
    before = expected_calibration_error(scores, labels).value or 0
    after = expected_calibration_error(fitted.apply(scores), labels).value or 1
    assert before > 0.2
    assert after < 0.03
    assert (brier(fitted.apply(scores), labels).value or 1) < (brier(scores, labels).value or 0)
    assert fitted.n == 3000
    assert fitted.note is None


def test_platt_finds_the_curve_that_made_the_labels() -> None:
    ((slope, intercept),) = fit_calibrator(*drawn(40000, 2, -0.5, seed=3), "platt").parameters
    assert slope == pytest.approx(2, abs=0.08)
    assert intercept == pytest.approx(-0.5, abs=0.08)


def test_platt_targets_are_smoothed_so_a_perfect_split_stays_finite() -> None:
    fitted = fit_calibrator([0.2, 0.2, 0.8, 0.8], [0, 0, 1, 1], "platt")
    assert fitted.apply([0.2, 0.8]) == pytest.approx([1 / 4, 3 / 4], abs=1e-4)
    assert ((fitted.apply([0, 1]) > 0) & (fitted.apply([0, 1]) < 1)).all()


def test_isotonic_by_hand_and_as_scikit_learn() -> None:
    fitted = fit_calibrator([0.1, 0.2, 0.3, 0.4], [0, 1, 0, 1])
    assert fitted.apply([0, 0.1, 0.2, 0.3, 0.35, 0.4, 1]) == pytest.approx([0, 0, 0.5, 0.5, 0.75, 1, 1])
    scores, labels = drawn(500, 1, 0, seed=4)
    grid = np.linspace(0, 1, 101)
    model = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, labels)
    assert fit_calibrator(scores, labels).apply(grid) == pytest.approx(model.predict(grid))


@given(rows, st.sampled_from(KINDS))
@settings(max_examples=40, deadline=None)
def test_a_calibrator_stays_in_range_keeps_order_and_survives_json(pairs: list[tuple[float, bool]], kind: Kind) -> None:
    scores, labels = [*(s for s, _ in pairs), 0.3, 0.7], [*(y for _, y in pairs), False, True]
    fitted = fit_calibrator(scores, labels, kind)
    grid = fitted.apply(np.linspace(0, 1, 50))
    assert ((grid >= 0) & (grid <= 1)).all()
    if fitted.note is None:
        assert (np.diff(grid) >= -1e-9).all()
    else:
        assert "higher score" in fitted.note
    again = Calibrator.model_validate_json(fitted.model_dump_json())
    assert np.array_equal(again.apply(scores), fitted.apply(scores))


def test_scores_that_rank_backwards_are_noted() -> None:
    for kind in KINDS:
        assert "higher score" in (fit_calibrator([0.1, 0.2, 0.8, 0.9], [1, 1, 0, 0], kind).note or "")


@pytest.mark.parametrize(("kind", "module"), [("isotonic", "sklearn.isotonic"), ("platt", "sklearn.linear_model")])
def test_without_the_extra_only_fitting_is_refused(kind: Kind, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=r"litcascade\[learn\]"):
        fit_calibrator([0.1, 0.9], [0, 1], kind)
    assert Calibrator(kind="platt", parameters=((1.0, 0.0),), n=2).apply([0.3]) == pytest.approx([0.3])


def test_bad_input_is_refused() -> None:
    for scores, labels, why in (
        ([0.1, 1.1], [0, 1], "within"),
        ([0.1, float("nan")], [0, 1], "within"),
        ([0.1, 0.2], [0, 0.5], "neither true"),
        ([0.1, 0.2], [0, float("nan")], "neither true"),
        ([0.1, 0.2], [0], "2 scores and 1 labels"),
        (["x"], [0], "score is not a number"),
        ([[0.1]], [0], "one list"),
    ):
        with pytest.raises(InputError, match=why):
            brier(scores, labels)
    with pytest.raises(InputError, match="0 positives of 2"):
        fit_calibrator([0.1, 0.2], [0, 0])
    with pytest.raises(InputError, match="'beta'"):
        fit_calibrator([0.1, 0.2], [0, 1], "beta")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="'odd'"):
        reliability([0.1], [1], binning="odd")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one bin"):
        reliability([0.1], [1], bins=0)
    with pytest.raises(InputError, match="within"):
        Calibrator(kind="platt", parameters=((1.0, 0.0),), n=2).apply([2])
