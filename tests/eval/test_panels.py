"""Votes, pools, rules and operating points: by hand, against brute force, and on recorded decisions."""

import csv
import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.errors import InputError
from litcascade.eval.binary import Confusion
from litcascade.eval.metrics.f import f_array, f_beta
from litcascade.eval.panels import (
    AtLeast,
    Decided,
    Escalation,
    Heard,
    Labelled,
    LengthBin,
    LengthRouted,
    MeanScore,
    Prices,
    ReaderPrice,
    Rule,
    Union,
    Votes,
    Weighted,
    any_of,
    apply,
    choose,
    choose_pools,
    decide,
    describe,
    escalation_bands,
    fixed,
    frontier,
    label,
    majority,
    operating_points,
    parse_rule,
    score_readers,
    score_steps,
    singles,
    union_steps,
    vote_steps,
    votes_of,
)
from litcascade.eval.panels.counts import measure_of
from litcascade.eval.panels.frontier import pareto
from litcascade.eval.panels.operating import table
from litcascade.eval.panels.pools import top
from litcascade.eval.panels.rules import By
from litcascade.schemas import Ask
from tests.conftest import need

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference"


def made(
    include: np.ndarray, gold: np.ndarray, heard: np.ndarray | None = None, scores: np.ndarray | None = None,
    tokens: np.ndarray | None = None,
) -> Labelled:  # fmt: skip
    n, readers = include.shape
    heard = np.ones_like(include) if heard is None else heard
    scores = np.full(include.shape, np.nan) if scores is None else scores
    tokens = np.full(n, np.nan) if tokens is None else tokens
    names = tuple(f"m{j:02d}" for j in range(readers))
    votes = Votes(tuple(f"r{i:06d}" for i in range(n)), names, include & heard, heard, scores, tokens.astype(float))
    return Labelled(votes, gold)


def study(n: int, readers: int, seed: int, prevalence: float = 0.1) -> Labelled:
    rng = np.random.default_rng(seed)
    gold = rng.random(n) < prevalence
    se, sp = rng.uniform(0.6, 0.97, readers), rng.uniform(0.8, 0.98, readers)
    draws = rng.random((n, readers))
    include = np.where(gold[:, None], draws < se, draws > sp)
    scores = np.clip(np.where(include, 0.5, 0.0) + rng.random((n, readers)) / 2, 0, 1)
    return made(include, gold, scores=scores, tokens=rng.lognormal(6, 0.5, n))


def long(rows: Sequence[tuple[str | None, str, str | None]]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema={"record_id": pl.String, "reader": pl.String, "decision": pl.String}, orient="row")


def test_votes_are_joined_by_id_whatever_the_order_of_rows() -> None:
    rows = [("b", "y", "include"), ("a", "x", "exclude"), ("b", "x", None), ("a", "y", "referred")]
    votes = votes_of(long(rows), pl.DataFrame({"record_id": ["b", "z"], "tokens": [7, 9]}))
    assert votes.record_ids == ("a", "b")
    assert votes.readers == ("x", "y")
    assert votes.include.tolist() == [[False, False], [False, True]]
    assert votes.heard.tolist() == [[True, False], [False, True]]
    assert votes.could.tolist() == [[False, True], [True, True]]
    assert np.isnan(votes.tokens[0])
    assert votes.tokens[1] == 7
    found = label(votes, pl.DataFrame({"record_id": ["b"], "gold": ["include"]}))
    assert found.votes.record_ids == ("b",)
    assert found.gold.tolist() == [True]
    assert found.unlabelled == 1
    assert found.only(["b"]).votes.include.tolist() == [[False, True]]


def test_readers_that_answered_different_records_are_listed() -> None:
    rows = [("a", "x", "include"), ("b", "x", "exclude"), ("c", "x", "exclude"), ("a", "y", "include")]
    with pytest.raises(InputError, match=r"different records: y lacks 2 \(b, c\)"):
        votes_of(long(rows))
    common = votes_of(long(rows), gaps="common")
    assert common.record_ids == ("a",)
    assert [(gap.reader, gap.records, gap.first) for gap in common.gaps] == [("y", 2, ("b", "c"))]
    referred = votes_of(long(rows), gaps="referred")
    assert referred.could[:, 1].tolist() == [True, True, True]
    assert referred.gaps == common.gaps


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("a", "x", "maybe")], "'maybe'"),
        ([("a", "x", "include"), ("a", "x", "include")], "answered record 'a' twice"),
        ([(None, "x", "include")], "no record_id"),
    ],
)
def test_odd_readings_are_refused(rows: list[tuple[str | None, str, str | None]], words: str) -> None:
    with pytest.raises(InputError, match=words):
        votes_of(long(rows))


def test_odd_scores_lengths_and_gold_are_refused() -> None:
    frame = long([("a", "x", "include")])
    with pytest.raises(InputError, match="outside"):
        votes_of(frame.with_columns(score=pl.lit(1.5)))
    with pytest.raises(InputError, match="does not hold numbers"):
        votes_of(frame.with_columns(score=pl.lit("high")))
    with pytest.raises(InputError, match="is empty"):
        votes_of(frame.head(0))
    with pytest.raises(InputError, match="no column 'decision'"):
        votes_of(frame.drop("decision"))
    with pytest.raises(InputError, match="no column 'tokens'"):
        votes_of(frame, pl.DataFrame({"record_id": ["a"]}))
    with pytest.raises(InputError, match="below 0"):
        votes_of(frame, pl.DataFrame({"record_id": ["a"], "tokens": [-1]}))
    votes = votes_of(frame)
    with pytest.raises(InputError, match=r"1 labelled record\(s\) have no votes: b"):
        label(votes, pl.DataFrame({"record_id": ["b"], "gold": ["include"]}))
    with pytest.raises(InputError, match="neither include nor exclude"):
        label(votes, pl.DataFrame({"record_id": ["a"], "gold": ["unsure"]}))
    with pytest.raises(InputError, match="reader 'z' gave no readings"):
        votes.of(["z"])
    with pytest.raises(InputError, match="no votes and gold: q"):
        label(votes, pl.DataFrame({"record_id": ["a"], "gold": ["include"]})).only(["q"])


# -- rules -------------------------------------------------------------------------------------------------------------

NAMES = ("a", "b", "c", "d")
quarters = st.integers(-6, 6).map(lambda x: x / 4)
eighths = st.integers(0, 8).map(lambda x: x / 8)


@st.composite
def rules(draw: st.DrawFn) -> Rule:
    kind = draw(st.integers(0, 5))
    if kind == 0:
        readers = draw(st.sampled_from([("a",), ("b", "a"), NAMES]))
        return AtLeast(readers=readers, votes=draw(st.integers(1, len(readers))))
    if kind == 1:
        strong, lenient = draw(st.sampled_from([(("a", "b"), ("c", "d")), (("d",), ("a", "b", "c"))]))
        s = draw(st.integers(1, len(strong) + 1))
        return Union(strong=strong, lenient=lenient, strong_votes=s, lenient_votes=draw(st.integers(1, len(lenient))))
    if kind == 2:
        return Weighted(readers=NAMES, weights=tuple(draw(quarters) for _ in NAMES), threshold=draw(quarters))
    if kind == 3:
        return MeanScore(readers=draw(st.sampled_from([("a",), ("a", "b"), NAMES])), threshold=draw(eighths))
    if kind == 4:
        bins = tuple(
            LengthBin(
                readers=names, weights=tuple(draw(quarters) for _ in names), intercept=draw(quarters), threshold=draw(quarters)
            )
            for names in (("a", "b"), ("c",), NAMES)
        )
        return LengthRouted(edges=(100.0, 200.0), bins=bins)
    by: By = draw(st.sampled_from(["score", "vote"]))
    cut = draw(st.none() | eighths)
    return Escalation(cheap="a", strong="b", low=draw(eighths), high=draw(eighths), by=by, strong_threshold=cut)


heard = st.builds(Heard, decision=st.sampled_from(["include", "exclude", None]), score=st.none() | eighths)
said_by_all = st.fixed_dictionaries(dict.fromkeys(NAMES, heard))
records = st.lists(st.tuples(said_by_all, st.sampled_from([None, 50.0, 100.0, 150.0, 300.0])), min_size=1, max_size=8)


@settings(deadline=None)
@given(rules(), records)
def test_deciding_one_record_equals_applying_to_many(rule: Rule, found: list[tuple[dict[str, Heard], float | None]]) -> None:
    table = [[said[name] for name in NAMES] for said, _ in found]
    votes = Votes(
        tuple(str(i) for i in range(len(found))), NAMES,
        np.array([[one.decision == "include" for one in row] for row in table]),
        np.array([[one.decision is not None for one in row] for row in table]),
        np.array([[np.nan if one.score is None else one.score for one in row] for row in table]),
        np.array([np.nan if tokens is None else tokens for _, tokens in found]),
    )  # fmt: skip
    applied = apply(rule, votes)
    assert parse_rule(rule.model_dump(mode="json")) == rule
    assert describe(rule)
    for row, (said, tokens) in enumerate(found):
        readings: dict[str, Heard] = {}
        while isinstance(step := decide(rule, readings, tokens), Ask):
            assert step.readers
            assert not set(step.readers) & set(readings)
            readings.update({name: said[name] for name in step.readers})
        verdict = "include" if applied.included[row] else "refer" if applied.referred[row] else "exclude"
        assert step.verdict == verdict
        assert set(readings) == {name for name, asked in zip(NAMES, applied.asked[row], strict=True) if asked}


@settings(deadline=None)
@given(rules(), said_by_all, st.sampled_from(NAMES))
def test_a_failed_reading_never_excludes_what_it_could_have_included(rule: Rule, said: dict[str, Heard], failed: str) -> None:
    def verdict(readings: dict[str, Heard]) -> str:
        found = decide(rule, readings, 150.0)
        assert isinstance(found, Decided)
        return found.verdict

    without = verdict({**said, failed: Heard()})
    replaced = isinstance(rule, Escalation) and failed == rule.cheap  # the strong reader then decides in its place
    if without == "exclude" and not replaced:
        for decision in ("include", "exclude"):
            for score in (0.0, 0.5, 1.0):
                assert verdict({**said, failed: Heard(decision=decision, score=score)}) != "include"


def test_majority_any_and_what_cannot_be_a_rule() -> None:
    assert majority("abcd").votes == 3
    assert majority("abc").votes == 2
    assert any_of("abc").votes == 1
    for wrong, words in (
        ({"kind": "at_least", "readers": ["a"], "votes": 2}, "can never be reached"),
        ({"kind": "at_least", "readers": ["a", "a"], "votes": 1}, "named twice"),
        ({"kind": "union", "strong": ["a"], "lenient": ["b"], "strong_votes": 2, "lenient_votes": 2}, "neither pool"),
        ({"kind": "weighted", "readers": ["a"], "weights": [1.0, 2.0], "threshold": 1}, "weight"),
        ({"kind": "length_routed", "edges": [2, 1], "bins": []}, "bins"),
        ({"kind": "escalation", "cheap": "a", "strong": "a", "low": 0, "high": 1}, "the same"),
        ({"kind": "oracle"}, "oracle"),
    ):
        with pytest.raises(InputError, match=words):
            parse_rule(wrong)
    said = {"a": Heard(decision="include"), "b": Heard(decision="exclude")}
    one_pool = Union(strong=("a",), lenient=("b",), strong_votes=2, lenient_votes=1)
    assert decide(one_pool, said) == Decided(verdict="exclude")


def test_escalation_asks_the_strong_reader_only_inside_the_band() -> None:
    rule = Escalation(cheap="c", strong="s", low=0.25, high=0.75)
    assert decide(rule, {}) == Ask(readers=("c",))
    assert decide(rule, {"c": Heard(decision="include", score=0.8)}) == Decided(verdict="include", score=0.8)
    assert decide(rule, {"c": Heard(decision="exclude", score=0.2)}) == Decided(verdict="exclude", score=0.2)
    for unsure in (Heard(decision="exclude", score=0.25), Heard(decision="include", score=0.75), Heard()):
        assert decide(rule, {"c": unsure}) == Ask(readers=("s",))
    said = {"c": Heard(), "s": Heard()}
    found = decide(rule, said)
    assert isinstance(found, Decided)
    assert found.verdict == "refer"


# -- pools -------------------------------------------------------------------------------------------------------------


def test_pools_by_hand() -> None:
    gold = np.array([True] * 4 + [False] * 6)
    columns = {
        "good": "1110 000000", "wide": "1111 111111", "half": "1100 000000", "loud": "1111 110000", "none": "0000 000000",
    }  # fmt: skip
    include = np.array([[c == "1" for c in text.replace(" ", "")] for text in columns.values()]).T
    found = made(include, gold)
    votes = Votes(found.votes.record_ids, tuple(columns), include, found.votes.heard, found.votes.scores, found.votes.tokens)
    labelled = Labelled(votes, gold)
    scores = {one.reader: one for one in score_readers(labelled)}
    assert scores["good"].f2.value == pytest.approx(5 * 3 / (5 * 3 + 4 * 1))
    assert scores["none"].f2.value is None
    pools = choose_pools(labelled, strong=2, lenient=2, least_precision=0.4)
    assert pools.strong == ("loud", "good")
    assert pools.lenient == ("wide", "half")
    assert pools.tied == ()
    with pytest.raises(
        InputError, match="a strong pool of 5 needs 5 readers; there are 4 to choose from, and 1 more whose figure"
    ):
        choose_pools(labelled, strong=5, lenient=1)
    with pytest.raises(InputError, match=r"lenient pool .* of 10 needs 10 readers; there are 1"):
        choose_pools(labelled, strong=2, lenient=10, least_precision=0.5)
    with pytest.raises(InputError, match="at least 1"):
        choose_pools(labelled, strong=0)


def test_ties_for_the_last_seat_are_told() -> None:
    chosen, tied = top({"b": (0.5, 0.2), "a": (0.5, 0.2), "c": (0.9, 0.1), "d": (0.5, 0.3)}, 3, "pool")
    assert chosen == ("c", "d", "a")
    assert tied == ("b",)


def test_the_strong_pool_of_scilitbench_follows_its_f2() -> None:
    need("reference", REFERENCE.is_dir(), "the reference figures are not beside this checkout (../shared/reference)")
    with (REFERENCE / "scilitbench_title_abstract_f2.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ["|".join((row["model"], row["size"], row["shots"], row["prompt"])) for row in rows]
    marked = {name for name, row in zip(names, rows, strict=True) if row["strong"] == "True"}
    chosen, tied = top({name: (float(row["f2"]),) for name, row in zip(names, rows, strict=True)}, 5, "strong pool")
    assert len(rows) == 198
    assert set(chosen) == marked
    assert chosen[0] == "Llama 3.3|70B|0|incl_excl"
    assert tied == ()


def test_a_split_without_an_include_is_told() -> None:
    nobody = made(np.ones((5, 3), dtype=bool), np.zeros(5, dtype=bool))
    for attempt in (lambda: score_readers(nobody), lambda: vote_steps(nobody), lambda: fixed(nobody, [any_of(["m00"])])):
        with pytest.raises(InputError, match="no include by gold"):
            attempt()


# -- searching ---------------------------------------------------------------------------------------------------------


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 10_000), st.booleans())
def test_counts_of_every_family_equal_applying_each_rule(seed: int, failures: bool) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 40))
    gold = rng.random(n) < 0.4
    gold[0] = True
    heard = rng.random((n, 5)) < (0.8 if failures else 1.1)
    scores = np.where(heard, rng.integers(0, 9, (n, 5)) / 8, np.nan)
    scores[0] = 0.5
    labelled = made(rng.random((n, 5)) < 0.5, gold, heard, scores)
    names = labelled.votes.readers
    pools = choose_pools(labelled, 2, 2, 0.0) if f_beta_defined(labelled) >= 4 else None
    families = [singles(labelled), vote_steps(labelled), score_steps(labelled), score_steps(labelled, names[:1])]
    families += [union_steps(labelled, pools)] if pools else []
    families += [escalation_bands(labelled, names[0], names[1]), escalation_bands(labelled, names[0], names[1], "vote")]
    families += [escalation_bands(labelled, names[2], names[1], "score", 0.5)]
    for family in families:
        for index in range(len(family)):
            applied = apply(family.rule(index), labelled.votes)
            assert family.counts.confusion(index) == labelled.confusion(applied.positive), family.family
            if family.family != "strong or lenient":
                assert family.calls[index].tolist() == applied.asked.sum(axis=0).tolist(), family.family


def f_beta_defined(labelled: Labelled) -> int:
    return sum(one.f2.value is not None for one in score_readers(labelled))


def test_a_switched_off_pool_costs_no_calls() -> None:
    labelled = study(200, 5, 1)
    pools = choose_pools(labelled, 2, 3, 0.0)
    family = union_steps(labelled, pools)
    assert len(family) == 3 * 4 - 1
    calls = {(rule.strong_votes, rule.lenient_votes): family.calls[i].sum() / 200
             for i in range(len(family)) if isinstance(rule := family.rule(i), Union)}  # fmt: skip
    assert calls[(1, 1)] == 5
    assert calls[(1, 4)] == 2
    assert calls[(3, 1)] == 3


def poisson_binomial(chances: np.ndarray) -> np.ndarray:
    found = np.ones(1)
    for p in chances:
        found = np.convolve(found, [1 - p, p])
    return found


def test_the_search_finds_the_true_optimum_of_readers_of_known_accuracy() -> None:
    rng = np.random.default_rng(5)
    n, prevalence = 200_000, 0.1
    se, sp = np.array([0.8, 0.78, 0.82, 0.97, 0.96, 0.95, 0.97]), np.array([0.97, 0.98, 0.96, 0.75, 0.7, 0.8, 0.72])
    gold = rng.random(n) < prevalence
    draws = rng.random((n, 7))
    labelled = made(np.where(gold[:, None], draws < se, draws > sp), gold)
    pools = choose_pools(labelled, 3, 4, 0.2)
    assert set(pools.strong) == {"m00", "m01", "m02"}
    family = union_steps(labelled, pools)

    def true_rates(rates: np.ndarray) -> dict[tuple[int, int], float]:
        s, k = poisson_binomial(rates[:3]), poisson_binomial(rates[3:])
        pairs = itertools.product(range(1, 5), range(1, 6))
        return {(a, b): 1 - float(s[:a].sum() * k[:b].sum()) for a, b in pairs}

    tpr, fpr = true_rates(se), true_rates(1 - sp)
    for target in (0.95, 0.98, 0.99):
        able = [pair for pair in tpr if tpr[pair] >= target]
        best = max(able, key=lambda pair: prevalence * tpr[pair] / (prevalence * tpr[pair] + (1 - prevalence) * fpr[pair]))
        chosen = choose([family], target).chosen
        assert chosen is not None
        assert isinstance(chosen.rule, Union)
        assert (chosen.rule.strong_votes, chosen.rule.lenient_votes) == best


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(1, 3))
def test_pareto_keeps_what_no_other_beats(seed: int, losses: int) -> None:
    rng = np.random.default_rng(seed)
    gain, loss = rng.integers(0, 5, 30).astype(float), rng.integers(0, 5, (30, losses)).astype(float)
    kept = pareto(gain, loss)
    for i in range(30):
        better = (gain >= gain[i]) & (loss <= loss[i]).all(axis=1)
        strictly = better & ((gain > gain[i]) | (loss < loss[i]).any(axis=1))
        same = (gain == gain[i]) & (loss == loss[i]).all(axis=1)
        assert kept[i] == (not strictly.any() and not kept[:i][same[:i]].any())


def test_votes_and_scores_stand_on_one_frontier() -> None:
    labelled = study(3000, 5, 3)
    families = [vote_steps(labelled), score_steps(labelled), score_steps(labelled, ["m00"]), singles(labelled)]
    points = frontier(families)
    found, read = [p.confusion.tp for p in points], [p.confusion.tp + p.confusion.fp for p in points]
    assert found == sorted(found, reverse=True)
    assert all(a > b for a, b in itertools.pairwise(read))
    assert {"votes", "mean score"} <= {p.family for p in points}
    assert points[0].recall.value == 1.0
    with pytest.raises(InputError, match="different splits"):
        frontier([vote_steps(labelled), vote_steps(study(3000, 5, 4))])
    with pytest.raises(InputError, match="no rule to compare"):
        frontier([])
    blind = made(np.zeros((20, 2), dtype=bool), np.arange(20) < 5)
    with pytest.raises(InputError, match="none of the rules finds an include"):
        frontier([vote_steps(blind)])


def test_a_second_cost_keeps_what_is_cheap_for_machines_on_the_frontier() -> None:
    labelled = study(400, 3, 5)
    prices = Prices(
        readers={name: ReaderPrice(gpu_seconds=s) for name, s in zip(labelled.votes.readers, (0.1, 1, 5), strict=True)}
    )
    families = [singles(labelled), vote_steps(labelled), escalation_bands(labelled, "m00", "m02")]
    by_reading, by_both = frontier(families, prices), frontier(families, prices, ("read", "gpu_seconds"))
    assert {(p.confusion.tp, p.confusion.fp) for p in by_reading} <= {(p.confusion.tp, p.confusion.fp) for p in by_both}
    assert min(p.costs.gpu_seconds.value or 0 for p in by_both) < min(p.costs.gpu_seconds.value or 0 for p in by_reading) + 1e-9
    assert len(by_both) > len(by_reading)
    with pytest.raises(InputError, match="tokens cannot be minimised"):
        frontier(families, prices, ("tokens",))


def test_a_missing_price_leaves_a_figure_undefined_with_its_reason() -> None:
    labelled = study(500, 2, 3)
    some = Prices(readers={"m00": ReaderPrice(tokens=400, gpu_seconds=0.1)}, minutes_per_record=0.5)
    point = choose([vote_steps(labelled)], 0.5, some, records=5000).chosen
    assert point is not None
    read = point.confusion.tp + point.confusion.fp
    assert point.costs.read.value == pytest.approx(read * 10)
    assert point.costs.hours.value == pytest.approx(read * 10 * 0.5 / 60)
    assert point.costs.tokens.value is None
    assert point.costs.tokens.note == "no price: tokens of m01 not declared"
    assert point.costs.money.value is None
    with pytest.raises(InputError, match="gpu_seconds cannot be minimised: no price: gpu_seconds of m01"):
        choose([vote_steps(labelled)], 0.5, some, "gpu_seconds")
    person = ReaderPrice(tokens=0, gpu_seconds=0, minutes=3)
    full = Prices(readers={"m00": ReaderPrice(tokens=400, gpu_seconds=0.1), "m01": person}, minutes_per_record=0.5,
                  per_hour=30, per_million_tokens=1, per_gpu_hour=4)  # fmt: skip
    point = choose([vote_steps(labelled)], 0.5, full, "money").chosen
    assert point is not None
    read = point.confusion.tp + point.confusion.fp
    hours = (read * 0.5 + 500 * 3) / 60
    assert point.costs.money.value == pytest.approx(hours * 30 + 500 * 400 / 1e6 + 500 * 0.1 / 3600 * 4)


# -- operating points --------------------------------------------------------------------------------------------------


def test_a_recall_target_is_met_in_counts_not_in_rounded_shares() -> None:
    gold = np.array([True] * 47 + [False] * 10)
    include = np.column_stack([np.arange(57) < 46, np.arange(57) < 50])
    labelled = made(include, gold)
    chosen = choose([singles(labelled)], 0.98).chosen
    assert chosen is not None
    assert chosen.confusion == Confusion(tp=47, fp=3, fn=0, tn=7)
    lower = choose([singles(labelled)], 0.97).chosen
    assert lower is not None
    assert lower.confusion.fp == 0


def test_points_are_chosen_on_one_split_and_reported_on_another() -> None:
    labelled = study(4000, 6, 8)
    first, second = labelled.rows(np.arange(2000)), labelled.rows(np.arange(2000, 4000))
    points = operating_points([vote_steps(first), score_steps(first)], second, (1.0, 0.95))
    for point in points:
        assert point.chosen is not None
        assert point.report is not None
        again = labelled.rows(np.arange(2000, 4000))
        c = again.confusion(apply(point.chosen.rule, again.votes).positive)
        assert point.report.recall.value == pytest.approx(c.tp / again.positives)
        assert point.report.recall.low is not None
        assert point.report.recall.low < c.tp / again.positives
    assert points[0].report is not None
    assert not points[0].report.kept
    assert "a recall of 1 can be met but not shown" in points[0].note
    assert [row["target"] for row in table(points)] == [1.0, 0.95]
    assert pl.DataFrame(table(points)).height == 2


def test_a_target_that_no_rule_reaches_is_told_with_the_best_there_is() -> None:
    gold = np.array([True] * 10 + [False] * 10)
    labelled = made(np.column_stack([np.arange(20) < 9, np.arange(20) < 6]), gold)
    (point,) = operating_points([singles(labelled)], labelled, (0.95,))
    assert point.chosen is None
    assert point.report is None
    assert point.best is not None
    assert point.best.recall.value == 0.9
    assert point.note == "no rule reaches a recall of 0.95; the best there is has recall 0.900, precision 1.000 (single reader)"
    assert table([point])[0]["reached"] is False
    with pytest.raises(InputError, match="at most 1"):
        choose([singles(labelled)], 1.5)
    with pytest.raises(InputError, match="no rule to choose from"):
        choose([], 0.9)


def test_a_report_split_without_includes_has_no_recall() -> None:
    labelled = study(300, 3, 2)
    empty = labelled.rows(np.flatnonzero(~labelled.gold))
    (point,) = operating_points([vote_steps(labelled)], empty, (0.9,))
    assert point.report is not None
    assert point.report.recall.value is None
    assert point.report.note == "no labelled include, so nothing can be shown"
    assert not point.report.kept


@settings(deadline=None)
@given(st.integers(0, 50), st.integers(0, 50), st.integers(0, 50), st.sampled_from([0.5, 1.0, 2.0]))
def test_the_array_measures_equal_the_registered_ones(tp: int, fp: int, fn: int, beta: float) -> None:
    one = f_beta(Confusion(tp=tp, fp=fp, fn=fn, tn=3), beta)
    many = float(f_array(tp, fp, tp + fn, beta))
    assert (one.value is None) == bool(np.isnan(many))
    if one.value is not None:
        assert many == pytest.approx(one.value)


def test_rules_are_compared_by_known_measures_only() -> None:
    assert float(measure_of("mcc")(np.array([5.0]), np.array([0.0]), 5.0, 5.0)[0]) == 1.0
    assert float(measure_of("wmcc@10")(np.array([128.0]), np.array([68.0]), 148.0, 300.0)[0]) == pytest.approx(0.557263, abs=1e-6)
    with pytest.raises(InputError, match="not compared by 'recall'"):
        measure_of("recall")


# -- recorded decisions ------------------------------------------------------------------------------------------------


def cbfm(corpora: Path) -> Labelled:
    frame = pl.read_csv(corpora / "replay_cbfm" / "cbfm_joined.csv").with_columns(record_id=pl.col("index").cast(pl.String))
    readings = pl.concat(
        [
            frame.select(
                "record_id",
                reader=pl.lit(name),
                decision=pl.col(f"{column}_decision").replace_strict({"Yes": "include", "No": "exclude"}),
                score=pl.col(f"{column}_criteria_seed0").fill_null("").str.count_matches("Yes") / 4,
            )
            for name, column in (("cheap", "gpt35_0613"), ("strong", "gpt4_1106"))
        ]
    )
    gold = frame.select("record_id", gold=pl.col("human_accept").replace_strict({"Yes": "include", "No": "exclude"}))
    return label(votes_of(readings), gold)


def test_recorded_decisions_replay_through_panel_frontier_and_escalation(corpora: Path) -> None:
    labelled = cbfm(corpora)
    scores = {one.reader: one.confusion for one in score_readers(labelled)}
    assert scores["cheap"] == Confusion(tp=65, fp=63, fn=35, tn=935)
    assert scores["strong"] == Confusion(tp=57, fp=27, fn=43, tn=971)
    votes = vote_steps(labelled)
    assert votes.counts.confusion(0) == Confusion(tp=76, fp=71, fn=24, tn=927)
    assert votes.counts.confusion(1) == Confusion(tp=46, fp=19, fn=54, tn=979)
    bands = escalation_bands(labelled, "cheap", "strong", "vote")
    counts = {(rule.low, rule.high): (bands.counts.confusion(i), bands.calls[i].tolist()) for i in range(len(bands))
              if isinstance(rule := bands.rule(i), Escalation)}  # fmt: skip
    assert counts[(0.0, 0.0)] == (Confusion(tp=76, fp=71, fn=24, tn=927), [1098, 970])
    assert counts[(1.0, 1.0)] == (Confusion(tp=46, fp=19, fn=54, tn=979), [1098, 128])
    assert counts[(1.0, 0.0)] == (scores["cheap"], [1098, 0])
    points = frontier([singles(labelled), votes, score_steps(labelled), escalation_bands(labelled, "cheap", "strong")])
    assert points[0].recall.value == 1.0
    assert len(points) > 5
    pools = choose_pools(labelled, 1, 1, 0.2)
    assert pools.strong == ("cheap",)
    assert pools.lenient == ("strong",)
    reading_all = choose([vote_steps(labelled), singles(labelled), bands], 0.95)
    assert reading_all.chosen is not None
    assert reading_all.chosen.confusion == Confusion(tp=100, fp=998, fn=0, tn=0)
    assert reading_all.note.startswith("only reading every record reaches a recall of 0.95")
    without = choose([vote_steps(labelled), singles(labelled)], 0.95)
    assert without.chosen is None
    assert without.best is not None
    assert without.best.confusion.tp == 76
