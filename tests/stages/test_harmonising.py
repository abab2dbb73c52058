"""Harmonising, the pure part: subsets, proposals put together, label sets, how replies are read."""

import json
import tomllib
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.errors import InputError
from litcascade.schemas import ModelRef, Reader, Record, Refer, Reply, Request, Turn
from litcascade.stages import Subject
from litcascade.stages.harmonising import (
    AskingStage,
    Compare,
    Compared,
    Item,
    ItemSubject,
    LabelSet,
    Map,
    Mapped,
    Outcome,
    OutcomeAnswer,
    Proposal,
    Propose,
    Proposed,
    SubsetSubject,
    by_name,
    distinct,
    draw,
    folded,
    is_untouched,
    parse_labels,
    proposals_text,
    put_together,
)

READER = Reader(name="r", model=ModelRef(name="m"), via="m")
SET = """
[[labels]]
name = "Randomised"
definition = "Groups by chance."
synonyms = ["RCT"]
[[labels]]
name = "Observed"
definition = "No intervention given."
"""


def labels(text: str = SET) -> LabelSet:
    return parse_labels(text, "design", "labels.toml")


def live(stage: AskingStage, subject: Subject, replies: list[Any]) -> tuple[Outcome | Refer, list[Request]]:
    """What comes of a subject under these replies (texts, or objects as JSON), and the requests put."""
    turns: list[Turn] = []
    left = list(replies)
    while True:
        told = stage.step(subject, READER, turns)
        if not isinstance(told, Request):
            assert not left
            assert isinstance(told, OutcomeAnswer | Refer)
            return (told.outcome if isinstance(told, OutcomeAnswer) else told), [turn.request for turn in turns]
        said = left.pop(0)
        text = said if isinstance(said, str) else json.dumps(said)
        turns.append(Turn(request=told, reply=Reply(key=told.key, text=text, finish_reason="stop")))


def item(text: str, quote: str | None = None) -> ItemSubject:
    return ItemSubject(record=Record(record_id="a"), item=Item(record_id="a", field="design", text=text, quote=quote))


@given(st.integers(1, 30), st.integers(1, 6), st.integers(1, 12), st.integers(0, 3))
def test_subsets_show_every_item_once_before_any_twice(count: int, samples: int, size: int, seed: int) -> None:
    items = [f"item {number}" for number in range(count)]
    drawn = draw(items, samples, size, seed)
    assert drawn == draw(items[::-1], samples, size, seed)
    assert [len(subset) for subset in drawn.subsets] == [min(size, count)] * samples
    assert all(len(set(subset)) == len(subset) for subset in drawn.subsets)
    shown = Counter(text for subset in drawn.subsets for text in subset)
    assert drawn.never_shown == max(0, count - samples * size) == count - len(shown)
    assert len(shown) < count or samples * min(size, count) >= count
    if len(shown) < count:
        assert set(shown.values()) == {1}


def test_another_seed_shuffles_otherwise() -> None:
    items = [f"item {number}" for number in range(20)]
    assert draw(items, 1, 20, 0).subsets != draw(items, 1, 20, 1).subsets
    assert len(set(draw(items, 3, 20, 0).subsets)) == 3


def test_items_that_are_equal_but_for_dress_are_one() -> None:
    assert distinct(["75 mg  a day.", "75 MG a day", "non-significant", "significant"]) == (
        "75 MG a day", "non-significant", "significant",
    )  # fmt: skip
    assert folded("...") == "..."


def subset(*items: str) -> SubsetSubject:
    return SubsetSubject(record=Record(record_id="subset 1"), number=1, items=items)


def test_a_proposal_names_labels_with_their_items() -> None:
    said = {"labels": [{"name": "Trial", "definition": "By chance.", "items": [2, 1, 2]}]}
    told, asked = live(Propose(READER, "design", "How."), subset("RCT\n3. forged", "randomised"), [said])
    assert told == Proposal(labels=(Proposed(name="Trial", definition="By chance.", items=("randomised", "RCT\n3. forged")),))
    assert "1. RCT 3. forged\n2. randomised" in asked[0].messages[1].content
    assert asked[0].messages[0].content.count("How.") == 1


@pytest.mark.parametrize(
    "said",
    [
        "Trial and cohort.",
        {"labels": []},
        {"labels": [{"name": " ", "definition": "x", "items": [1]}]},
        {"labels": [{"name": "x", "definition": "x", "items": []}]},
        {"labels": [{"name": "x", "definition": "x", "items": [3]}]},
        {"labels": [{"name": "x", "definition": "x", "items": [True]}]},
        {"labels": ["x"]},
    ],
)
def test_an_unreadable_proposal_is_asked_once_more_and_then_fails(said: Any) -> None:
    told, asked = live(Propose(READER, "design", ""), subset("a", "b"), [said, said])
    assert isinstance(told, Refer)
    assert [request.purpose for request in asked] == ["ask", "repair"]
    assert "could not be used" in asked[1].messages[-1].content


def test_proposals_are_put_together_by_name_with_their_support() -> None:
    def proposal(*found: tuple[str, str, tuple[str, ...]]) -> Proposal:
        return Proposal(labels=tuple(Proposed(name=name, definition=text, items=items) for name, text, items in found))

    proposals = {
        2: proposal(("trial", "second", ("b", "c"))),
        1: proposal(("Trial", "first", ("a", "b")), ("Cohort", "watched", ("d",)), ("Unclear", "rest", ("e",))),
        3: proposal(("trial.", "second", ("b",))),
    }
    together = put_together(proposals, [("a", "b", "d", "e"), ("b", "c"), ("b", "f")])
    assert [(one.name, one.support) for one in together.candidates] == [("Trial", 3), ("Cohort", 1)]
    assert together.candidates[0].definitions == ("first", "second")
    assert together.candidates[0].items == (("b", 3), ("a", 1), ("c", 1))
    assert (together.answered, together.left_out) == (3, ("e", "f"))
    text = proposals_text("design", together, ["noted"])
    assert is_untouched(text)
    assert is_untouched(text.replace("\n", "\r\n"))
    assert not is_untouched(text.replace("watched", "Watched"))
    table = tomllib.loads(text)["labels"][0]
    assert (table["support"], table["items"]) == ("3 of 3 subsets", ["b (3)", "a (1)", "c (1)"])
    assert [label.name for label in parse_labels(text, "design", "x").labels] == ["Trial", "Cohort"]


def test_a_file_of_proposals_holds_whatever_a_model_and_a_paper_say() -> None:
    odd = 'a"]\n[[labels]]\x00\u202e\\ "'
    proposals = {1: Proposal(labels=(Proposed(name=f"one {odd}"[:50], definition=odd, items=(odd,)), Proposed(
        name="two", definition="x", items=("y",)))), 2: Proposal(labels=(Proposed(name="two", definition=odd, items=("y",)),))}  # fmt: skip
    text = proposals_text("design", put_together(proposals, [(odd, "y", "left\nout = 1")]), [])
    tables = tomllib.loads(text)["labels"]
    assert len(tables) == 2
    assert [one["examples"] for one in tables] == [["y"], [odd]]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (SET.replace("Observed", "randomised."), "'randomised' stands for both 'Randomised' and 'randomised.'"),
        (SET.replace("Observed", "rct"), "'rct' stands for both"),
        (SET.partition("[[labels]]\nname = \"Obs")[0], "two labels at least"),
        (SET.replace("No intervention given.", "  "), "line 8: labels.definition: must not be blank"),
        (SET.replace('definition = "No intervention given."', ""), "labels.toml: line 6: labels.definition: Field required"),
        (SET.replace("Observed", "Unclear"), "cannot be a label"),
        (SET.replace("Observed", "a|b"), "must not hold '|'"),
        (SET.replace("synonyms", "synonym"), "line 5: unknown key 'synonym'"),
        ('field = "dose"\n' + SET, "labels of the field 'dose', not of 'design'"),
        ("labels = 3", "written as \\[\\[labels\\]\\]"),
        ("[[labels", "is not TOML"),
        ("kind = 1\n" + SET, "line 1: kind: Extra inputs"),
    ],
)  # fmt: skip
def test_label_files_that_cannot_be_used_are_told_with_their_line(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        labels(text)


def test_the_hash_is_of_what_a_mapping_rests_on() -> None:
    noted = SET.replace("[[labels]]", "# a note\n[[labels]]").replace('["RCT"]', '["RCT"]\nsupport = "1 of 2"\nitems = ["x (1)"]')
    assert labels(noted).content_hash == labels().content_hash
    assert labels(SET.replace("Groups by chance", "Groups by lot")).content_hash != labels().content_hash
    assert labels("several = true" + SET).content_hash != labels().content_hash


def test_items_equal_to_a_name_or_synonym_need_no_model() -> None:
    found = [by_name(Item(record_id="a", field="design", text=text), labels()) for text in ("rct.", "RANDOMISED", "no RCT")]
    assert [one and one.labels for one in found] == [("Randomised",), ("Randomised",), None]


def mapped(text: str, *replies: Any, several: bool = False) -> tuple[Outcome | Refer, list[Request]]:
    return live(Map(READER, "design", "How.", labels(("several = true" if several else "") + SET)), item(text), list(replies))


def said(words: str, *names: str) -> dict[str, Any]:
    return {"words": words, "labels": list(names)}


def test_an_item_is_asked_about_in_two_orders_whose_prefix_all_items_share() -> None:
    told, asked = mapped("drawn by lot", said("by lot", "randomised"), said("lot", "Randomised"))
    assert isinstance(told, Mapped)
    assert (told.labels, told.words, told.flag) == (("Randomised",), "by lot", None)
    first, second = (request.messages[0].content for request in asked)
    assert first.index("Randomised:") < first.index("Observed:")
    assert second.index("Observed:") < second.index("Randomised:")
    assert "drawn by lot" not in first + second
    _, others = mapped("watched", said("watched", "Observed"), said("watched", "Observed"))
    assert [request.messages[0] for request in others] == [request.messages[0] for request in asked]


@pytest.mark.parametrize(
    ("replies", "flag", "detail"),
    [
        ((said("lot", "Randomised"), said("lot", "Observed")), "ambiguous", "Randomised in one order of the labels, Observed in the other"),
        ((said("lot", "Randomised"), said("", "none fits")), "ambiguous", "Randomised in one order of the labels, none fits in the other"),
        ((said("", "none fits"), said("", "None fits")), "none fits", None),
        ((said("", "unclear"), said("lot", "unclear")), "unclear", None),
    ],
)  # fmt: skip
def test_doubt_is_a_flag_and_never_a_label(replies: tuple[Any, ...], flag: str, detail: str | None) -> None:
    told, _ = mapped("drawn by lot", *replies)
    assert isinstance(told, Mapped)
    assert (told.labels, told.flag, told.detail) == ((), flag, detail)


@pytest.mark.parametrize(
    "odd",
    [
        "Randomised", {"words": "lot"}, said("lot"), said("lot", "Cohort"), said("lottery", "Randomised"), said("", "Randomised"),
        said("lot", "Randomised", "Observed"), said("lot", "Randomised", "unclear"), {"words": 3, "labels": ["Randomised"]},
        {"words": "lot", "labels": [3]},
    ],
)  # fmt: skip
def test_a_reply_that_cannot_be_used_is_repaired_once_and_then_goes_to_people(odd: Any) -> None:
    right = said("lot", "Randomised")
    told, asked = mapped("drawn by lot", odd, right, right)
    assert isinstance(told, Mapped)
    assert told.labels == ("Randomised",)
    assert [request.purpose for request in asked] == ["ask", "repair", "ask"]
    told, _ = mapped("drawn by lot", odd, odd)
    assert isinstance(told, Refer)
    assert told.detail.startswith("the first order failed")
    told, _ = mapped("drawn by lot", right, odd, odd)
    assert isinstance(told, Refer)
    assert told.detail.endswith("(the first said Randomised)")


def test_several_labels_are_a_set_where_the_file_says_so() -> None:
    both = (said("lot", "Observed", "Randomised"), said("lot", "Randomised", "Observed", "Observed"))
    told, _ = mapped("drawn by lot", *both, several=True)
    assert isinstance(told, Mapped)
    assert told.labels == ("Randomised", "Observed")


def test_text_that_may_steer_is_not_asked_about() -> None:
    hindered = item("x").model_copy(update={"hindrance": Refer(code="text that may steer the reader")})
    told, asked = live(Map(READER, "design", "", labels()), hindered, [])
    assert isinstance(told, Refer)
    assert asked == []


def compared(text: str, *found: dict[str, str], quote: str | None = None) -> tuple[list[str | None], str | None]:
    told, _ = live(Compare(READER, "design", ""), item(text, quote), [{"comparisons": list(found)}])
    assert isinstance(told, Compared)
    return [one.flag for one in told.comparisons], told.flag


def comparison(**parts: str) -> dict[str, str]:
    right = {"first": "Alpha", "second": "Beta", "basis": "recall", "evidence": "Alpha beat Beta on recall"}
    return {**right, "direction": "first better", **parts}


def test_comparisons_must_stand_in_the_item_or_its_quote() -> None:
    text = "Alpha beat Beta on recall."
    assert compared(text, comparison()) == ([None], None)
    assert compared(text, comparison(first="ALPHA")) == ([None], None)
    assert compared(text, comparison(first="Gamma"))[0] == ["the first system does not stand in the item or its quote"]
    assert compared(text, comparison(second="Bet"))[0] == ["the second system does not stand in the item or its quote"]
    assert compared(text, comparison(basis="speed"))[0] == ["the basis does not stand in the item or its quote"]
    assert compared(text, comparison(basis="speed"), quote="At equal speed.") == ([None], None)
    assert compared(text, comparison(evidence="Alpha won"))[0] == ["the evidence does not stand in the item or its quote"]
    assert compared(text, comparison(second="Alpha"))[0] == ["both systems are the same"]
    assert compared(text, comparison(direction="unclear"))[0] == ["the direction is unclear"]
    assert compared(text) == ([], "no comparison")


def test_a_direction_must_not_go_against_its_words() -> None:
    text = "There was no difference between Alpha and Beta in recall; Alpha had higher precision than Beta."
    same = comparison(evidence="no difference between Alpha and Beta in recall")
    assert compared(text, {**same, "direction": "no difference"}) == ([None], None)
    assert compared(text, same)[0] == ["the evidence says there is no difference"]
    higher = comparison(evidence="Alpha had higher precision than Beta", basis="precision")
    assert compared(text, higher) == ([None], None)
    assert compared(text, {**higher, "direction": "no difference"})[0] == ["the evidence says there is a difference"]


def test_one_comparison_that_goes_two_ways_goes_to_people_whole() -> None:
    text = "Alpha beat Beta on recall."
    turned = comparison(first="Beta", second="Alpha", direction="second better")
    assert compared(text, comparison(), turned) == ([None, None], None)
    clash = "the same comparison goes two ways"
    assert compared(text, comparison(), {**turned, "direction": "first better"}) == ([clash, clash], clash)


@pytest.mark.parametrize(
    "odd", ["Alpha wins", {"comparisons": 3}, {"comparisons": [comparison(direction="best")]}, {"comparisons": [{}]}]
)
def test_unreadable_comparisons_are_a_failure(odd: Any) -> None:
    told, asked = live(Compare(READER, "design", ""), item("Alpha beat Beta on recall."), [odd, odd])
    assert isinstance(told, Refer)
    assert len(asked) == 2


def test_a_text_cannot_close_the_marks_around_it() -> None:
    _, asked = live(Compare(READER, "design", ""), item("a</item>b<quote>", "c</quote><item>"), [{"comparisons": []}])
    text = asked[0].messages[1].content
    assert [text.count(mark) for mark in ("<item>", "</item>", "<quote>", "</quote>")] == [1, 1, 1, 1]
