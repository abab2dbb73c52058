import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, matthews_corrcoef, ndcg_score, roc_auc_score

from litcascade.errors import InputError
from litcascade.eval import METRICS, Confusion, join_by_id, parse_measure, ranking_of
from litcascade.eval.binary import mcc, wmcc
from litcascade.eval.curves import decision_curve, loss_workload_curve
from litcascade.eval.metrics.wmcc import wmcc_array
from litcascade.eval.sensitivity import best_by_weight, crossovers, sweep

counts = st.integers(1, 5000)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Confusion, Confusion]:
    """Two classifiers of the same records."""
    positives, negatives = draw(counts), draw(counts)
    made = []
    for _ in range(2):
        tp, fp = draw(st.integers(0, positives)), draw(st.integers(0, negatives))
        made.append(Confusion(tp=tp, fp=fp, fn=positives - tp, tn=negatives - fp))
    return made[0], made[1]


@given(pairs())
def test_the_order_changes_at_crossovers_and_nowhere_else(two: tuple[Confusion, Confusion]) -> None:
    a, b = two
    assume(wmcc(a).value is not None and wmcc(b).value is not None)
    roots = crossovers(a, b, 0.1, 1000)
    assert roots == sorted(roots)
    edges = [0.1, *roots, 1000.0]
    signs = []
    for low, high in itertools.pairwise(edges):
        inside = np.geomspace(low * (1 + 1e-5), high * (1 - 1e-5), 7)
        one, other = (wmcc_array(c.tp, c.fp, c.fn, c.tn, inside) for c in two)
        difference = one - other
        signs.append(set(np.sign(difference[np.abs(difference) > 1e-9])))
    assert all(len(here) <= 1 for here in signs)


@given(st.lists(pairs(), min_size=1, max_size=3))
@settings(max_examples=40)
def test_the_leader_by_span_has_the_highest_wmcc(many: list[tuple[Confusion, Confusion]]) -> None:
    first = many[0][0]
    able = {f"c{i}": c for i, pair in enumerate(many) for c in pair[:1]} | {"d": many[0][1], "e": first}
    spans = best_by_weight(able, 1, 100)
    if all(wmcc(c).value is None for c in able.values()):
        assert spans == []
        return
    assert spans[0].low == 1
    assert spans[-1].high == 100
    for span in spans:
        middle = (span.low * span.high) ** 0.5
        values = {name: wmcc(c, middle).value for name, c in able.items()}
        best = max(value for value in values.values() if value is not None)
        leader = values[span.classifier]
        assert leader is not None
        assert leader >= best - 1e-9


def test_a_leader_at_zero_is_above_one_below_zero() -> None:
    worse, chance = Confusion(tp=0, fp=1, fn=2, tn=1), Confusion(tp=1, fp=1, fn=1, tn=1)
    spans = best_by_weight({"worse": worse, "chance": chance}, 1, 100)
    assert [(span.classifier, span.low, span.high) for span in spans] == [("chance", 1, 100)]


def test_a_sweep_leaves_undefined_values_empty() -> None:
    frame = sweep({"a": Confusion(tp=1, fp=0, fn=0, tn=0), "b": Confusion(tp=5, fp=1, fn=1, tn=5)}, [1, 10])
    assert frame["wmcc"].null_count() == 2
    assert sweep({}, [1]).height == 0
    with pytest.raises(InputError, match="above 0"):
        sweep({}, [0])


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60), st.floats(0.5, 50))
def test_wmcc_equals_scikit_learn_with_sample_weights(rows: list[tuple[bool, bool]], weight: float) -> None:
    gold, found = ([row[i] for row in rows] for i in (0, 1))
    c = Confusion(
        tp=sum(g and f for g, f in rows), fp=sum(f and not g for g, f in rows),
        fn=sum(g and not f for g, f in rows), tn=sum(not g and not f for g, f in rows),
    )  # fmt: skip
    value = wmcc(c, weight).value
    if value is not None:
        theirs = matthews_corrcoef(gold, found, sample_weight=[weight if g else 1.0 for g in gold])
        assert value == pytest.approx(theirs, abs=1e-9)


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 10**9))
def test_class_swap_leaves_mcc_and_nothing_overflows(tp: int, fp: int, fn: int, tn: int) -> None:
    one, swapped = mcc(Confusion(tp=tp, fp=fp, fn=fn, tn=tn)).value, mcc(Confusion(tp=tn, fp=fn, fn=fp, tn=tp)).value
    assert one is not None
    assert swapped == pytest.approx(one, abs=1e-9)
    assert -1 - 1e-12 <= one <= 1 + 1e-12


def test_chance_scores_zero_in_expectation() -> None:
    rng = np.random.default_rng(7)
    values = []
    for _ in range(3000):
        gold, found = rng.random(400) < 0.1, rng.random(400) < 0.3
        c = Confusion(tp=(gold & found).sum(), fp=(~gold & found).sum(), fn=(gold & ~found).sum(), tn=(~gold & ~found).sum())
        value = wmcc(c).value
        assert value is not None
        values.append(value)
    assert abs(np.mean(values)) < 4 * np.std(values) / np.sqrt(len(values)) + 0.004


def test_measure_names_parse_back() -> None:
    for _, spec in METRICS:
        measure = parse_measure(spec.name)
        assert str(parse_measure(str(measure))) == str(measure)
    assert str(parse_measure("wmcc@10")) == "wmcc@10"
    assert str(parse_measure("f@2")) == "f@2"
    assert str(parse_measure("tnr@0.95")) == "tnr@0.95"
    for bad, words in (
        ("wmc", "did you mean 'wmcc'"),
        ("mcc@3", "takes no parameter"),
        ("wmcc@x", "above 0"),
        ("tnr@2", "recall r"),
    ):
        with pytest.raises(InputError, match=words):
            parse_measure(bad)
    with pytest.raises(InputError, match="needs a ranking"):
        parse_measure("auc")(Confusion(tp=1, fp=1, fn=1, tn=1))


def ranked(gold: list[bool], scores: list[float]) -> pl.DataFrame:
    labels = ["include" if g else "exclude" for g in gold]
    return pl.DataFrame({"record_id": [str(i) for i in range(len(gold))], "gold": labels, "score": scores})


@given(
    st.lists(
        st.tuples(st.booleans(), st.floats(0, 1, allow_subnormal=False)), min_size=4, max_size=50, unique_by=lambda row: row[1]
    )
)
def test_without_ties_the_ranking_measures_equal_scikit_learns(rows: list[tuple[bool, float]]) -> None:
    gold, scores = [row[0] for row in rows], [row[1] for row in rows]
    assume(any(gold) and not all(gold))
    r = ranking_of(ranked(gold, scores))
    assert parse_measure("auc")(r).value == pytest.approx(roc_auc_score(gold, scores))
    assert parse_measure("average_precision")(r).value == pytest.approx(average_precision_score(gold, scores))
    assert parse_measure("pr_auc")(r).value == pytest.approx(average_precision_score(gold, scores))
    assert parse_measure("ndcg@10")(r).value == pytest.approx(ndcg_score([gold], [scores], k=10))


def test_ranking_measures_by_hand_and_ties_against_us() -> None:
    # reading order: e i e i i e e e, two ties broken with the exclude first
    gold = [True, False, False, True, True, False, False, False]
    scores = [0.9, 0.9, 0.8, 0.8, 0.5, 0.4, 0.3, 0.2]
    r = ranking_of(ranked(gold, scores))
    assert r.relevant.tolist() == [False, True, False, True, True, False, False, False]
    assert "2 tied" in (r.note() or "")
    expected = {
        "recall_at@2": 1 / 3, "last_relevant": 5 / 8, "tnr@0.95": 3 / 5, "wss@0.95": 3 / 8 - 0.05, "np@0.95": 3 * 3 / (5 * 5),
        "average_precision": (1 / 2 + 2 / 4 + 3 / 5) / 3, "tnr@0.3": 4 / 5,
    }  # fmt: skip
    for name, value in expected.items():
        assert parse_measure(name)(r).value == pytest.approx(value), name


def test_curves() -> None:
    r = ranking_of(ranked([True, False, True, False], [0.9, 0.6, 0.6, 0.1]))
    curve = loss_workload_curve(r)
    assert curve.rows() == [(0.9, 1.0, 0.5, 0.75, 1.0), (0.6, 3.0, 0.0, 0.25, pytest.approx(2 / 3)), (0.1, 4.0, 0.0, 0.0, 0.5)]
    benefit = decision_curve(r, [0.5]).row(0)
    assert benefit == (0.5, 0.25, 0.0, 0.0)
    with pytest.raises(InputError, match=r"\[0, 1\)"):
        decision_curve(r, [1.0])


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (ranked([True, False], [0.5, 1.5]), "outside"),
        (ranked([True, False], [0.5, float("nan")]), "outside"),
        (ranked([True, False], [0.5, 0.2]).with_columns(record_id=pl.lit("x")), "twice"),
        (ranked([True, False], [0.5, 0.2]).with_columns(gold=pl.lit("maybe")), "neither"),
    ],
)
def test_bad_rankings_are_refused(frame: pl.DataFrame, words: str) -> None:
    with pytest.raises(InputError, match=words):
        ranking_of(frame)


def test_empty_and_one_class_tables_are_undefined_with_reasons() -> None:
    for frame in (ranked([], []), ranked([True], [0.3]), ranked([False], [0.3])):
        typed = frame.with_columns(
            pl.col("gold").cast(pl.String), pl.col("record_id").cast(pl.String), pl.col("score").cast(pl.Float64)
        )
        r = ranking_of(typed)
        for _, spec in METRICS:
            if spec.kind == "ranking":
                estimate = parse_measure(spec.name)(r)
                assert estimate.value is not None or estimate.note, spec.name


def test_ids_in_one_table_only_are_listed() -> None:
    gold = pl.DataFrame({"record_id": ["a", "b"], "gold": ["include", "exclude"]})
    states = pl.DataFrame({"record_id": ["a", "c"], "state": ["included", "excluded"]})
    with pytest.raises(InputError, match="b has gold but no verdict"):
        join_by_id(gold, states)
    with pytest.raises(InputError, match="c has a verdict but no gold"):
        join_by_id(gold.head(1), states)
    assert join_by_id(gold.head(1), states.head(1)).height == 1
