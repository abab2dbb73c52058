import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.errors import InputError
from litcascade.eval.binary import Confusion, mcc, recall, wmcc
from litcascade.eval.estimate import Estimate
from litcascade.eval.published import TERCILES, neighbourhood, ranking_survives, rebuild, tercile

CHATGPT = Confusion(tp=77, fp=310, fn=17, tn=685)
LR = Confusion(tp=56, fp=130, fn=38, tn=865)
counts = st.integers(0, 500)


def weighted(c: Confusion) -> Estimate:
    return wmcc(c, 10)


def test_a_matrix_is_rebuilt_from_printed_rates() -> None:
    assert rebuild(0.819, 0.688, 94, 995) == CHATGPT
    assert rebuild(0.5, 0.5, 1, 3) == Confusion(tp=1, fn=0, tn=2, fp=1)
    empty = rebuild(0.9, 0.5, 0, 10)
    assert mcc(empty).value is None
    assert recall(empty).value is None


@given(counts, counts, counts, counts)
def test_rates_of_a_matrix_give_it_back(tp: int, fp: int, fn: int, tn: int) -> None:
    c = Confusion(tp=tp, fp=fp, fn=fn, tn=tn)
    true_rate = tp / (tp + fn) if tp + fn else 0
    false_rate = tn / (tn + fp) if tn + fp else 0
    assert rebuild(true_rate, false_rate, tp + fn, tn + fp) == c
    around = neighbourhood(c)
    assert c in around
    assert len(set(map(str, around))) == len(around) <= 9
    for other in around:
        assert (other.tp + other.fn, other.tn + other.fp) == (tp + fn, tn + fp)
        assert max(abs(other.tp - tp), abs(other.tn - tn)) <= 1


def test_only_valid_neighbours_are_kept() -> None:
    assert len(neighbourhood(CHATGPT)) == 9
    assert len(neighbourhood(Confusion(tp=5, fn=0, tn=3, fp=2))) == 6
    assert len(neighbourhood(Confusion(tp=5, fn=0, tn=0, fp=2))) == 4
    assert neighbourhood(Confusion(tp=0, fn=0, tn=0, fp=0)) == (Confusion(tp=0, fn=0, tn=0, fp=0),)


def test_the_ranking_on_rl4se_outlives_the_rounding() -> None:
    assert ranking_survives(CHATGPT, LR, weighted) == (81, 81)
    assert ranking_survives(LR, CHATGPT, weighted) == (81, 81)
    assert ranking_survives(LR, CHATGPT, mcc) == (81, 81)
    near = ranking_survives(LR, CHATGPT, lambda c: wmcc(c, 6))
    assert near.of == 81
    assert 0 < near.survives < 81


def test_a_neighbour_without_a_value_does_not_survive_and_no_order_is_refused() -> None:
    edge = ranking_survives(Confusion(tp=4, fn=0, tn=5, fp=1), Confusion(tp=1, fn=3, tn=6, fp=0), weighted)
    assert edge.of == 36
    assert edge.survives < edge.of
    with pytest.raises(InputError, match="no order"):
        ranking_survives(LR, LR, weighted)
    with pytest.raises(InputError, match=r"'wmcc@10'.*undefined"):
        ranking_survives(LR, Confusion(tp=0, fp=0, fn=0, tn=9), weighted)


@pytest.mark.parametrize(
    ("metric", "value", "band"),
    [
        ("mcc", -1, "lower"),
        ("mcc", 0.21, "lower"),
        ("mcc", 0.211, "middle"),
        ("mcc", 0.38, "middle"),
        ("mcc", 0.381, "upper"),
        ("wmcc@10", 0.19, "lower"),
        ("wmcc@10", 0.42, "middle"),
        ("wmcc@10", 1, "upper"),
    ],
)
def test_terciles_carry_their_date(metric: str, value: float, band: str) -> None:
    found = tercile(metric, value)
    assert found.band == band
    assert found.text.startswith(f"{band} third of 183 configurations (2025)")


def test_medians_lie_in_their_thirds() -> None:
    for name, reference in TERCILES.items():
        assert [tercile(name, median).band for median in reference.medians] == ["lower", "middle", "upper"]
    assert "0.31" in tercile("mcc", 0.3).text


@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1.01, -1.01])
def test_a_value_out_of_range_is_refused(value: float) -> None:
    with pytest.raises(InputError, match=r"must lie in \[-1, 1\]"):
        tercile("mcc", value)


def test_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'wmcc@10'"):
        tercile("wmcc@1", 0.2)
    for rates in ((1.1, 0.5), (0.5, -0.1), (float("nan"), 0.5)):
        with pytest.raises(InputError, match=r"must lie in \[0, 1\]"):
            rebuild(*rates, 10, 10)
    with pytest.raises(InputError, match="negatives"):
        rebuild(0.5, 0.5, 10, -1)
