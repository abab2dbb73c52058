import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.corpora import read_records
from litcascade.corpora.baselines import (
    BASELINES,
    LabelledSet,
    Material,
    Settings,
    figures,
    labelled_set,
    order_figures,
    repeat_frame,
    run_baseline,
    run_baselines,
    simulate,
    verdicts,
)
from litcascade.corpora.baselines.folds import possible_folds, stratified_folds
from litcascade.corpora.baselines.run import threshold_at_recall
from litcascade.corpora.baselines.terms import class_weights, count_terms, tfidf
from litcascade.errors import InputError, MissingExtraError
from litcascade.eval import confusion_of, join_by_id, parse_measure, ranking_of
from litcascade.schemas import AbstractStatus, Answer, Record, Refer, ReferCode, State

LEARNERS = [name for name, one in BASELINES if one.learns]
NOISE = [f"word{number}" for number in range(30)]


def separable(n: int = 60, includes: int = 12, seed: int = 0) -> LabelledSet:
    """Includes speak of malaria in children, excludes of concrete bridges, both among the same noise."""
    rng = np.random.default_rng(seed)
    labels = np.zeros(n, dtype=bool)
    labels[rng.choice(n, includes, replace=False)] = True
    topic = {True: "malaria in children", False: "concrete of bridges"}
    texts = tuple(f"{topic[bool(label)]} {' '.join(rng.choice(NOISE, 6))}" for label in labels)
    return LabelledSet(tuple(f"r{place}" for place in range(n)), texts, labels, criteria="malaria\nchildren")


def noise(n: int = 120, includes: int = 40, seed: int = 1) -> LabelledSet:
    """Texts that say nothing of the label, but for one word that stands in this one record and tells its label."""
    rng = np.random.default_rng(seed)
    labels = np.zeros(n, dtype=bool)
    labels[rng.choice(n, includes, replace=False)] = True
    texts = tuple(f"{' '.join(rng.choice(NOISE, 8))} {'yes' if labels[i] else 'no'}{i}" for i in range(n))
    return LabelledSet(tuple(f"r{place}" for place in range(n)), texts, labels, criteria="word1")


def auc(data: LabelledSet, name: str) -> float:
    outcome = run_baseline(name, data, Settings(repeats=1 if name == "random_forest" else 3, folds=4))
    (estimate,) = figures(outcome, ("auc",))
    assert estimate.value is not None
    return estimate.value


def test_the_baselines_that_the_docs_name() -> None:
    named = {"bm25", "embedding", "logistic", "complement_nb", "linear_svm", "random_forest", "include_all", "random"}
    assert named <= set(BASELINES.names())


@pytest.mark.parametrize("name", LEARNERS)
def test_learners_tell_separable_classes_apart(name: str) -> None:
    outcome = run_baseline(name, separable(), Settings(repeats=1))
    mcc, wss = figures(outcome, ("mcc", "wss@0.95"))
    assert mcc.value == pytest.approx(1.0)
    assert wss.value == pytest.approx(48 / 60 - 0.05)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_records_own_label_never_reaches_its_score(name: str) -> None:
    assert auc(noise(), name) < 0.62


@pytest.mark.parametrize("name", ["logistic", "complement_nb", "linear_svm"])
def test_duplicates_that_straddle_folds_leak_and_grouped_ones_do_not(name: str) -> None:
    once = noise(60, 20, seed=3)
    texts = tuple(" ".join(word for word in text.split() if word in NOISE) for text in once.texts)
    ids = (*once.ids, *(f"{one}-again" for one in once.ids))
    twice = LabelledSet(ids, texts + texts, np.concatenate([once.labels, once.labels]))
    grouped = LabelledSet(ids, twice.texts, twice.labels, groups=once.ids + once.ids)
    assert auc(twice, name) > auc(grouped, name) + 0.2
    assert auc(grouped, name) < 0.66


def test_equal_seeds_give_equal_outcomes_and_others_do_not() -> None:
    data = noise()
    one, again, other = (run_baseline("logistic", data, Settings(repeats=2, seed=seed)) for seed in (5, 5, 6))
    assert np.array_equal(one.scores, again.scores)
    assert not np.array_equal(one.scores, other.scores)
    assert not np.array_equal(one.scores[0], one.scores[1])


def test_include_all_finds_everything_and_its_mcc_is_undefined() -> None:
    outcome = run_baseline("include_all", separable(), Settings(repeats=2))
    recall, mcc, last = figures(outcome, ("recall", "mcc", "last_relevant"))
    assert recall.value == 1.0
    assert mcc.value is None
    assert mcc.note == "nothing was excluded"
    assert last.value == 1.0
    assert {one.state for one in verdicts(outcome, "title_abstract")} == {State.INCLUDED}


def test_chance_has_no_skill_and_a_range_around_zero() -> None:
    outcome = run_baseline("random", noise(300, 60), Settings(repeats=40))
    mcc, wss = figures(outcome, ("mcc", "wss@0.95"))
    assert mcc.value == pytest.approx(0, abs=4 / np.sqrt(300 * 40))
    assert mcc.low is not None
    assert mcc.high is not None
    assert mcc.low < 0 < mcc.high
    assert wss.value == pytest.approx(0, abs=0.05)
    assert mcc.note == "range of 40 repeats, not an interval"


def test_bm25_by_hand() -> None:
    # equal lengths: tf / (tf + 1.5), so 2/3.5 against 1/2.5, that is 1 against 0.7
    data = LabelledSet(("a", "b", "c"), ("cat cat dog", "cat dog dog", "dog dog dog"), np.array([True, True, False]), "A cat?")
    outcome = run_baseline("bm25", data, Settings(repeats=1))
    assert outcome.scores[0] == pytest.approx([1.0, 0.7, 0.0])


def test_bm25_without_a_common_word_scores_zero_and_includes_all() -> None:
    data = LabelledSet(("a", "b", "c", "d"), ("cat", "dog", "cow", "ant"), np.array([True, True, False, False]), "quark")
    outcome = run_baseline("bm25", data, Settings(repeats=1, folds=2))
    assert outcome.scores[0].tolist() == [0, 0, 0, 0]
    assert outcome.included is not None
    assert outcome.included.all()


def test_embedding_by_hand_averages_the_lines_of_the_criteria() -> None:
    place = {"east": [1.0, 0], "north": [0, 2.0], "west": [-3.0, 0], "nowhere": [0, 0]}
    data = LabelledSet(tuple(place), tuple(place), np.array([True, False, False, True]), criteria="east\n\neast")
    outcome = run_baseline("embedding", data, Settings(repeats=1), embed=lambda texts: np.array([place[one] for one in texts]))
    assert outcome.scores[0] == pytest.approx([1.0, 0.5, 0.0, 0.5])


def test_an_embedding_of_the_wrong_shape_is_told() -> None:
    with pytest.raises(InputError, match=r"shape \(3,\)"):
        run_baseline("embedding", separable(), embed=lambda _: np.zeros(3))


def test_what_is_not_installed_is_told_and_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    monkeypatch.setitem(sys.modules, "bm25s", None)
    outcomes, absent = run_baselines(separable(), Settings(repeats=1), names=["bm25", "embedding", "random"])
    assert [one.baseline for one in outcomes] == ["random"]
    assert "litcascade[learn]" in absent["bm25"]
    assert "pip install sentence-transformers" in absent["embedding"]


def test_learners_without_scikit_learn_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.feature_extraction.text", None)
    with pytest.raises(MissingExtraError, match=r"litcascade\[learn\]"):
        run_baseline("logistic", separable())


def test_rankings_need_criteria() -> None:
    data = LabelledSet(("a", "b"), ("cat", "dog"), np.array([True, False]))
    with pytest.raises(InputError, match="none are given"):
        run_baseline("bm25", data)


@pytest.mark.parametrize(("recall", "threshold"), [(0.5, 0.9), (0.95, 0.7), (1.0, 0.7)])
def test_the_threshold_of_a_recall(recall: float, threshold: float) -> None:
    assert threshold_at_recall(np.array([0.9, 0.8, 0.7, 0.6]), np.array([True, False, True, False]), recall) == threshold


def test_a_rankings_threshold_comes_from_the_other_fold() -> None:
    # in two folds of one include each, the threshold is the score of the other fold's include
    data = LabelledSet(("a", "b", "c", "d"), ("cat cat dog", "cat dog dog", "dog dog dog", "cow cow cow"),
                       np.array([True, True, False, False]), "cat")  # fmt: skip
    outcome = run_baseline("bm25", data, Settings(repeats=1, folds=2))
    assert outcome.included is not None
    assert outcome.included[0].tolist() == [True, False, False, False]  # 1 >= 0.7, but 0.7 < 1


@given(
    st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=4, max_size=60),
    st.integers(2, 6),
    st.integers(0, 99),
)
def test_folds_are_stratified_and_no_cluster_straddles(rows: list[tuple[int, bool]], wanted: int, seed: int) -> None:
    labels, groups = np.array([label for _, label in rows]), [f"g{group}" for group, _ in rows]
    folds, note = possible_folds(labels, groups, wanted)
    with_include = {group for group, label in zip(groups, labels, strict=True) if label}
    without = set(groups) - with_include
    fewest = min(len(with_include), len(without))
    assert folds == (min(wanted, fewest) if fewest >= 2 else 0)
    assert (note is None) == (folds == wanted)
    if not folds:
        return
    fold_of = stratified_folds(labels, groups, folds, np.random.default_rng(seed))
    assert np.array_equal(fold_of, stratified_folds(labels, groups, folds, np.random.default_rng(seed)))
    where = {group: {int(fold_of[i]) for i, one in enumerate(groups) if one == group} for group in set(groups)}
    assert all(len(folds_of) == 1 for folds_of in where.values())
    for clusters in (with_include, without):
        sizes = np.bincount([min(where[group]) for group in clusters], minlength=folds)
        assert sizes.max() - sizes.min() <= 1
        assert sizes.min() >= 1


@pytest.mark.parametrize("includes", [0, 1])
def test_too_few_includes_are_undefined_with_the_reason_and_nothing_is_excluded(includes: int) -> None:
    whole = separable()
    labels = np.zeros(60, dtype=bool)
    labels[:includes] = True
    data = LabelledSet(whole.ids, whole.texts, labels, criteria="malaria")
    learner, ranking = (run_baseline(name, data, Settings(repeats=2)) for name in ("linear_svm", "bm25"))
    assert np.isnan(learner.scores).all()
    for estimate in figures(learner):
        assert estimate.value is None
        assert f"only {includes} of the records are includes" in (estimate.note or "")
    assert not np.isnan(ranking.scores).any()
    assert figures(ranking, ("mcc",))[0].value is None
    for outcome in (learner, ranking):
        found = verdicts(outcome, "title_abstract")
        assert {(one.state, one.code) for one in found} == {(State.REFERRED, ReferCode.NO_SCORE)}
        assert all(one.reason for one in found)


def test_two_includes_that_are_duplicates_count_once() -> None:
    data = LabelledSet(("a", "b", "c", "d"), ("x y",) * 4, np.array([True, True, False, False]), groups=("g", "g", "c", "d"))
    outcome = run_baseline("logistic", data)
    assert outcome.included is None
    assert "duplicates counted once" in (outcome.note or "")


def test_few_includes_reduce_the_folds_and_say_so() -> None:
    outcome = run_baseline("logistic", separable(includes=3), Settings(repeats=1))
    assert outcome.folds == 3
    assert outcome.note == "3 folds instead of 5: only 3 of the records are includes (duplicates counted once)"
    assert not np.isnan(outcome.scores).any()
    assert "3 folds instead of 5" in (figures(outcome, ("mcc",))[0].note or "")


def records() -> tuple[list[Record], dict[str, str]]:
    rows = [Record(record_id=f"r{i}", title="malaria" if i % 3 == 0 else "bridge", abstract=f"{'children' if i % 3 == 0 else 'steel'} cohort",
                   abstract_status=AbstractStatus.OK) for i in range(18)]  # fmt: skip
    rows += [
        Record(record_id="bare"),
        Record(record_id="title-only", title="bridge of steel"),
        Record(record_id="cut", title="bridge", abstract="steel cohort", abstract_status=AbstractStatus.TRUNCATED),
    ]
    return rows, {one.record_id: "include" if one.title == "malaria" else "exclude" for one in rows}


def test_records_without_a_whole_abstract_are_referred_and_never_excluded() -> None:
    rows, gold = records()
    outcome = run_baseline("logistic", labelled_set(rows, gold), Settings(repeats=3))
    found = {one.record_id: one for one in verdicts(outcome, "title_abstract")}
    assert (found["bare"].state, found["bare"].code, found["bare"].score) == (State.REFERRED, ReferCode.NO_TITLE, None)
    assert (found["title-only"].state, found["title-only"].code) == (State.REFERRED, ReferCode.NO_ABSTRACT)
    assert (found["cut"].state, found["cut"].code) == (State.REFERRED, ReferCode.CUT_ABSTRACT)
    assert found["title-only"].score is not None
    assert found["r0"].state is State.INCLUDED
    assert found["r1"].state is State.EXCLUDED
    assert found["r1"].reason == "included in 0 of 3 repeats"
    assert isinstance(found["r1"].readings[0].outcome, Answer)
    assert isinstance(found["bare"].readings[0].outcome, Refer)
    assert found["r1"].policy == "baseline logistic: score >= 0.5, 5 folds x 3 repeats, seed 0"
    assert all(one.stage == "title_abstract" for one in found.values())


def test_verdicts_of_one_repeat_score_as_the_figures_do_whatever_their_order() -> None:
    rows, gold = records()
    outcome = run_baseline("complement_nb", labelled_set(rows, gold, criteria="x"), Settings(repeats=1))
    found = sorted(verdicts(outcome, "title_abstract"), key=lambda one: one.record_id, reverse=True)
    states = pl.DataFrame({"record_id": [one.record_id for one in found], "state": [str(one.state) for one in found]})
    joined = join_by_id(pl.DataFrame({"record_id": list(gold), "gold": list(gold.values())}), states)
    assert confusion_of(joined) == confusion_of(repeat_frame(outcome, 0))
    mcc, wss = figures(outcome, ("mcc", "wss@0.95"))
    assert mcc.value == parse_measure("mcc")(confusion_of(joined)).value
    assert wss.value == parse_measure("wss@0.95")(ranking_of(repeat_frame(outcome, 0))).value
    assert "1 record(s) without a score are left out" in (wss.note or "")
    assert confusion_of(joined).fp == 3  # the three that no machine may exclude
    assert confusion_of(repeat_frame(outcome, 0, guarded=False)).fp == 1  # only the one without a score


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"r0": None}, "a record but no gold"),
        ({"strange": "include"}, "gold but no record"),
        ({"r1": "maybe"}, "neither include nor exclude"),
    ],
)
def test_gold_that_does_not_fit_is_told(change: dict[str, str | None], words: str) -> None:
    rows, gold = records()
    changed = {key: value for key, value in {**gold, **change}.items() if value is not None}
    with pytest.raises(InputError, match=words):
        labelled_set(rows, changed)


def test_sets_that_do_not_fit_are_told() -> None:
    with pytest.raises(InputError, match="'a' stands twice"):
        LabelledSet(("a", "a"), ("x", "y"), np.array([True, False]))
    with pytest.raises(InputError, match="2 ids and 1 texts"):
        LabelledSet(("a", "b"), ("x",), np.array([True, False]))
    with pytest.raises(InputError, match="did you mean 'logistic'"):
        run_baseline("logistics", separable())
    with pytest.raises(InputError, match="at least 1 repeat"):
        Settings(repeats=0)


def test_terms_of_held_out_texts_do_not_weigh() -> None:
    counts = count_terms(["alpha beta", "alpha gamma", "delta delta epsilon"])
    alone = tfidf(count_terms(["alpha beta", "alpha gamma"]))
    assert np.allclose(tfidf(counts, np.array([0, 1]))[:2].toarray().sum(axis=1), alone.toarray().sum(axis=1))
    assert tfidf(counts, np.array([0, 1])).shape[1] == alone.shape[1]


@given(st.lists(st.booleans(), min_size=2).filter(lambda one: 0 < sum(one) < len(one)), st.floats(0.1, 20))
def test_class_weights_hold_their_ratio(labels: list[bool], ratio: float) -> None:
    y = np.array(labels)
    weights = class_weights(y, ratio)
    assert weights[y].sum() == pytest.approx(ratio * weights[~y].sum())
    assert weights.mean() == pytest.approx(1.0)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 30), st.integers(0, 12), st.sampled_from(["prior", "random", "given"]), st.sampled_from([0, 0.1, 0.5]))
def test_a_simulation_reads_every_record_once(n: int, includes: int, start: str, batch: float) -> None:
    data = separable(n, min(includes, n), seed=n)
    done = simulate(data, seed=includes, start=start, batch=batch)  # type: ignore[arg-type]
    assert sorted(done.order) == sorted(data.ids)
    label = dict(zip(data.ids, data.labels, strict=True))
    assert [label[one] for one in done.order] == done.relevant.tolist()
    assert (np.diff(done.found) >= 0).all()
    again = simulate(data, seed=includes, start=start, batch=batch)  # type: ignore[arg-type]
    assert again.order == done.order
    assert (done.trained == 0) == (done.note is not None)


@pytest.mark.parametrize("batch", [0, 0.02, 0.2])
def test_a_simulation_finds_separable_includes_first(batch: float) -> None:
    runs = [simulate(separable(200, 20, seed), seed=seed, batch=batch) for seed in range(5)]
    wss, last = order_figures(runs, ("wss@0.95", "last_relevant"))
    assert wss.low is not None
    assert wss.low > 0.75  # by chance 0
    assert last.high is not None
    assert last.high <= 0.15  # 20 of 200 at best
    assert runs[0].order != runs[1].order


def test_one_at_a_time_trains_after_every_record() -> None:
    data = separable(40, 8)
    done = simulate(data, batch=0)
    last = int(np.flatnonzero(done.relevant)[-1]) + 1
    assert done.prior == 2
    assert done.trained == last - done.prior
    assert simulate(data, batch=0.5).trained < done.trained


def test_prior_knowledge_is_read_first() -> None:
    data = separable()
    include, exclude = data.ids[int(np.flatnonzero(data.labels)[0])], data.ids[int(np.flatnonzero(~data.labels)[0])]
    done = simulate(data, prior=[exclude, include])
    assert done.order[:2] == (exclude, include)
    assert done.prior == 2
    with pytest.raises(InputError, match="unknown record 'zz'"):
        simulate(data, prior=["zz"])
    with pytest.raises(InputError, match="a record twice"):
        simulate(data, prior=[include, include])


def test_the_given_order_is_read_until_both_classes_were_seen() -> None:
    data = LabelledSet(
        ("a", "b", "c", "d", "e"), ("cat", "cat", "dog", "dog", "cat"), np.array([False, False, True, True, False])
    )
    done = simulate(data, start="given", batch=0)
    assert done.order[:4] == ("a", "b", "c", "d")
    assert done.prior == 0
    assert done.found.tolist()[:4] == [0, 0, 1, 2]


def test_a_simulation_that_cannot_learn_says_why() -> None:
    same = LabelledSet(("a", "b"), ("cat", "dog"), np.array([False, False]))
    wordless = LabelledSet(("a", "b", "c"), ("", "-", "!"), np.array([True, False, False]))
    known = LabelledSet(("a", "b"), ("cat", "dog"), np.array([True, False]))
    assert "same label" in (simulate(same).note or "")
    assert order_figures([simulate(same)], ("last_relevant",))[0].value is None
    assert "no usable word" in (simulate(wordless).note or "")
    assert "nothing to rank" in (simulate(known).note or "")
    with pytest.raises(InputError, match="share of the records read"):
        simulate(same, batch=1)


def test_texts_without_words_do_not_stop_a_learner() -> None:
    data = LabelledSet(("a", "b", "c", "d"), ("-", "-", "-", "-"), np.array([True, True, False, False]))
    outcome = run_baseline("logistic", data, Settings(repeats=1))
    assert outcome.scores[0].tolist() == [0.5] * 4
    assert Material(data.texts).terms.shape == (4, 0)


def test_the_adhd_review_gives_the_figures_of_the_docs(corpora: Path) -> None:
    rows = read_records(corpora / "cohen2006" / "ADHD.csv")[0].records
    gold = {one.record_id: "include" if one.source["label_included"] == "1" else "exclude" for one in rows}
    data = labelled_set(
        rows, gold, criteria="pharmacologic treatment of attention deficit hyperactivity disorder, randomised trial"
    )
    assert (len(data.ids), int(data.labels.sum()), len(data.with_text)) == (851, 20, 827)
    naive = figures(run_baseline("complement_nb", data, Settings(repeats=3)), ("wmcc@10", "wss@0.95"))
    assert naive[0].value == pytest.approx(0.55, abs=0.08)
    assert naive[1].value == pytest.approx(0.64, abs=0.08)
    (bm25,) = figures(run_baseline("bm25", data, Settings(repeats=1)), ("auc",))
    assert bm25.value is not None
    assert bm25.value > 0.7
    wss, tnr, last = order_figures([simulate(data, start="given")])
    assert wss.value == pytest.approx(0.53, abs=0.02)  # ASReview's own, one record at a time: 0.53, 0.59, 0.69
    assert tnr.value == pytest.approx(0.59, abs=0.02)
    assert last.value == pytest.approx(0.67, abs=0.03)
