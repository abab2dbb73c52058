import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from litcascade.errors import InputError
from litcascade.eval.judging import Judgement, judgements_of, read_score, summarise_pairs, summarise_scores


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_failed_judgements_of_e01_are_missing_and_counted(cases: Path) -> None:
    folder = cases / "E01-judge-failures-hidden"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    scores = {row["key"]: read_score(row["content"], *row["scale"]) for row in lines(folder / "judge_replies.jsonl")}
    assert scores == expected["scores"]
    found = summarise_scores(scores, 1, 5)
    assert (found.n, found.n_scored, found.n_failed) == (expected["n"], expected["n_scored"], expected["n_failed"])
    assert found.mean.value == expected["mean_of_scored"]
    assert found.mean.n == 2
    assert found.headline == expected["headline"]
    assert not found.complete
    assert found.failed == tuple("bcdefhi")
    assert found.worst == pytest.approx(13 / 9)
    assert found.best == pytest.approx(41 / 9)


@pytest.mark.parametrize(
    "text",
    [
        '{"score": true}', '{"score": "4"}', '{"score": NaN}', '{"score": Infinity}', '{"score": 1e999}', '{"score": null}',
        '{"score": 0.99}', '{"score": 5.01}', '{"score": 4} thanks', "4", "[4]", '{"score": 4, "score": 2}', '{"Score": 4}',
        "[" * 100_000, '{"score": 1' + "0" * 5000 + "}", '{"score": 1' + "0" * 500 + "}", "", None,
    ],
)  # fmt: skip
def test_no_score_is_read_where_there_is_none_to_trust(text: str | None) -> None:
    assert read_score(text, 1, 5) is None


def test_a_score_is_read_with_both_ends_of_the_scale() -> None:
    assert [read_score(f' {{"why": "x", "score": {score}}}\n', 1, 5) for score in ("1", "5", "2.5")] == [1, 5, 2.5]


def test_the_gate_and_the_bounds() -> None:
    values: dict[str, float | None] = {str(key): 4.0 for key in range(9)}
    found = summarise_scores(values, 1, 5)
    assert (found.complete, found.headline, found.worst, found.best) == (True, "4.0 on 9 of 9", 4, 4)
    one_failed = values | {"9": None}
    assert summarise_scores(one_failed, 1, 5).complete
    assert not summarise_scores(one_failed, 1, 5, most_failed=0.05).complete
    some_failed = {str(key): None if key < 29 else 3.0 for key in range(100)}
    assert summarise_scores(some_failed, 1, 5, most_failed=0.29).complete
    for bad in (math.nan, math.inf, 0.5, 5.5, True):
        assert summarise_scores(values | {"9": bad}, 1, 5).failed == ("9",)


def test_no_score_at_all_is_undefined_and_never_complete() -> None:
    found = summarise_scores({"a": None, "b": math.nan}, 0, 1, most_failed=1)
    assert (found.mean.value, found.worst, found.best) == (None, 0, 1)
    assert found.headline.startswith("no score on 0 of 2")
    empty = summarise_scores({}, 0, 1)
    assert (empty.mean.value, empty.worst, empty.best, empty.complete) == (None, None, None, False)
    assert empty.mean.note == "no judgement"
    for low, high in ((1, 1), (5, 1), (math.nan, 1), (0, math.inf)):
        with pytest.raises(InputError, match="scale"):
            summarise_scores({}, low, high)
    with pytest.raises(InputError, match="limit"):
        summarise_scores({}, 0, 1, most_failed=1.5)


def test_both_orders_decide_in_e05(cases: Path) -> None:
    folder = cases / "E05-judge-order-length-bias"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    found = summarise_pairs([Judgement(**row) for row in lines(folder / "pairwise.jsonl")])
    assert {outcome.item: outcome.text for outcome in found.outcomes} == expected["winner"]
    assert (found.n_items, found.n_complete, found.n_missing, found.n_flips) == (4, 3, 1, 1)  # "1 of 3 complete pairs"
    assert found.flip_rate.value == pytest.approx(1 / 3)
    assert (found.longer_wins.value, found.longer_wins.n) == (1, 2)  # "2 of 2 decided pairs with unequal length"
    assert found.first_seat.value == pytest.approx(4 / 6)
    assert found.first_seat.n == 6
    assert (found.wins_a, found.wins_b) == (1, 1)
    assert found.own_family.value is None
    assert found.own_family.note


def pair(
    item: str, ab: str | None, ba: str | None, families: tuple[str | None, str | None], judge: str | None
) -> list[Judgement]:
    base: dict[str, Any] = {"item": item, "judge_family": judge}
    one, other = {"len": 10, "family": families[0]}, {"len": 20, "family": families[1]}
    seats = {"AB": (ab, one, other), "BA": (ba, other, one)}
    return [
        Judgement(
            **base, order=order, winner_seat=seat, len_first=first["len"], len_second=second["len"],
            family_first=first["family"], family_second=second["family"],
        )
        for order, (seat, first, second) in seats.items()
    ]  # fmt: skip


def test_own_family_counts_where_exactly_one_answer_is_of_the_family() -> None:
    rows = [
        *pair("own wins", "first", "second", ("x", "y"), "x"),
        *pair("own loses", "first", "second", ("y", "x"), "x"),
        *pair("both own", "first", "second", ("x", "x"), "x"),
        *pair("neither own", "first", "second", ("y", "z"), "x"),
        *pair("one unknown", "first", "second", ("x", None), "x"),
        *pair("judge unknown", "first", "second", ("x", None), None),
        *pair("flip", "second", "second", ("x", "y"), "x"),
        *pair("own wins, B", "second", "first", ("y", "x"), "x"),
    ]
    found = summarise_pairs(rows)
    assert found.own_family.value == pytest.approx(2 / 3)
    assert found.own_family.n == 3
    assert found.longer_wins.value == pytest.approx(1 / 7)
    assert found.longer_wins.n == 7
    assert (found.wins_a, found.wins_b, found.n_flips) == (6, 1, 1)
    assert summarise_pairs(rows[::-1]).flip_rate == found.flip_rate


def test_an_order_that_failed_or_was_not_asked_is_missing() -> None:
    rows = pair("1", None, None, (None, None), None)
    assert summarise_pairs(rows).outcomes[0].text == "missing (both orders failed)"
    alone = summarise_pairs(pair("1", "first", "first", (None, None), None)[:1])
    assert alone.outcomes[0].text == "missing (one order was not asked)"
    for found in (alone, summarise_pairs([])):
        for estimate in (found.flip_rate, found.first_seat, found.longer_wins, found.own_family):
            assert estimate.value is None
            assert estimate.note


def test_rows_that_do_not_belong_together_are_refused() -> None:
    rows = pair("1", "first", "second", ("x", "y"), "x")
    with pytest.raises(InputError, match="item '1' has the order AB twice"):
        summarise_pairs([rows[0], rows[0]])
    for change in ({"len_first": 11}, {"family_first": "z"}, {"judge_family": "z"}):
        with pytest.raises(InputError, match="item '1' differs"):
            summarise_pairs([rows[0], rows[1].model_copy(update=change)])


def test_a_frame_is_read_row_by_row(cases: Path) -> None:
    frame = pl.read_ndjson(cases / "E05-judge-order-length-bias" / "pairwise.jsonl")
    assert summarise_pairs(judgements_of(frame)).n_flips == 1
    for column, value in (("winner_seat", "third"), ("order", "CD"), ("len_first", math.nan), ("item", None), ("more", 1)):
        with pytest.raises(InputError, match=rf"judgement 1 .* bad '{column}'"):
            judgements_of(frame.with_columns(pl.lit(value).alias(column)))
