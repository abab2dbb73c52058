import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.backends.base import reply_of
from litcascade.schemas import Refer, ReferCode, Reply
from litcascade.stages.parse import read_word
from litcascade.stages.words import words_of
from tests.conftest import DATA

CODE = {
    "truncated": ReferCode.TRUNCATED,
    "empty": ReferCode.EMPTY,
    "unparsed": ReferCode.UNPARSED,
    "conflict": ReferCode.CONFLICT,
}


def said(text: str | None, finish: str = "stop") -> Reply:
    return Reply(key="k", text=text, finish_reason=finish)


def recorded(path: Path) -> dict[str, Reply]:
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return {row["key"]: reply_of(row["key"], row["reply"], json.dumps(row["reply"]), 0.1) for row in rows}


def test_case_s12_verdict_forms(cases: Path) -> None:
    with (cases / "S12-verdict-forms" / "answers.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert len(rows) == 26
    for row in rows:
        word = read_word(said(row["raw"]))
        got = "" if isinstance(word, Refer) else word
        wanted = row["expected"]
        allowed = {"", wanted.removesuffix("_or_None")} if wanted.endswith("_or_None") else {wanted}
        assert got in allowed, row


def check(expected: Any, word: object, name: str) -> None:
    if isinstance(expected, str):
        assert word == expected, name
    elif expected["decision"] is None:
        assert isinstance(word, Refer), name
        assert word.code is CODE[expected["status"]], name
    else:
        assert word == expected["decision"], name


def test_case_s01_answer_after_the_reasoning_block(cases: Path) -> None:
    folder = cases / "S01-think-block-json"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    replies = recorded(folder / "replies.jsonl")
    for name, reply in replies.items():
        check(expected[name], read_word(reply), name)
    assert "<think>x</think>" in (replies["c"].text or "")


def test_case_s02_nothing_is_parsed_from_a_cut_answer(cases: Path) -> None:
    folder = cases / "S02-length-truncation"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    causes = {}
    for name, reply in recorded(folder / "replies.jsonl").items():
        word = read_word(reply)
        check(expected[name], word, name)
        if isinstance(word, Refer):
            causes[name] = word.detail
    assert causes["a"] == "the reasoning used up the tokens"
    assert causes["b"] == "a run of blanks used up the tokens"
    assert causes["c"] == "the answer was cut"


@pytest.mark.parametrize(
    "text",
    [
        "No, there is no reason to exclude it.",
        "Yes, exclude it.",
        "No exclusion criterion applies.",
        "No, it should be included.",
        "I think it should be included.",
        '{"include": "false"}',
        '{"decision": "perhaps not"}',
        "{}",
        "Decision: banana",
        "No, keep it.",
        "No. I would keep this record.",
        "E1: Is it a review?\nAnswer: No\n\nAll criteria are met, so the report belongs in the review.",
        "Excluded: no",
        "Exclude? No",
        "Should this report be excluded? No.",
        "Do any exclusion criteria apply?\nNo",
        "No, none of the exclusion criteria apply.",
        "No: it meets all inclusion criteria.",
        "No. The exclusion criteria do not apply.",
        "No, it does not meet the inclusion criteria.",
        "Non, il faut l'inclure.",
        "Nein, kein Ausschlussgrund.",
        "Include: no",
        "Eligible: no",
        "Relevant: No.",
        "Decision: do not include",
        "Final decision: not included",
        '{"decision": "do not include", "relevant": true}',
        '[{"criterion": "E1", "answer": "no"}]',
        "<think>It fits. I will include it.</think>",
        "The study is about zinc.",
        "yes or no",
        "include/exclude",
    ],
)
def test_words_that_decide_nothing_go_to_a_person(text: str) -> None:
    word = read_word(said(text))
    assert isinstance(word, Refer) or word == "unclear"


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("The population fits.\nThe design fits.\n\nDecision: INCLUDE", "include"),
        ("**Decision:** exclude", "exclude"),
        ("Long reasons.\n\n**Include**", "include"),
        ("<decision>EXCLUDE</decision>", "exclude"),
        ("Final answer: **Yes**.", "include"),
        ('{"include": false}', "exclude"),
        ('{"decision": "Included", "reason": "I would exclude nothing here"}', "include"),
        ("<thinking>Decision: include</thinking>\nExclude", "exclude"),
        ("Decision: Include. The trial fits.", "include"),
        ("Decision: include. No exclusion criterion applies.", "include"),
        ("Decision: exclude (E1)", "exclude"),
        ("Decision:\ninclude", "include"),
        ("**Decision:**\n\nInclude", "include"),
        ("Reasons.\nSo my final decision: include", "include"),
        ("No. It should be excluded.", "exclude"),
    ],
)
def test_plain_decisions_are_read(text: str, word: str) -> None:
    assert read_word(said(text)) == word


@pytest.mark.parametrize(
    "text",
    [
        "Decision: yes\nDecision: no",
        '{"decision": "include"} then {"decision": "exclude"}',
        "Decision: include\n\nExclude",
        "Decision: exclude\n\nOn second thoughts.\nRevised decision: include",
        '{"decision": "include", "decision": "exclude"}',
    ],
)
def test_two_decisions_are_a_conflict(text: str) -> None:
    word = read_word(said(text))
    assert isinstance(word, Refer)
    assert word.code is ReferCode.CONFLICT


@given(st.text())
def test_any_text_gives_a_word_or_a_referral(text: str) -> None:
    word = read_word(said(text))
    assert isinstance(word, Refer) or word in ("include", "exclude", "unclear")


@given(st.text(), st.sampled_from(["length"]))
def test_a_cut_answer_never_decides(text: str, finish: str) -> None:
    assert isinstance(read_word(said(text, finish)), Refer)


@given(st.text(alphabet=st.characters(exclude_categories=["L"])))
def test_text_without_letters_decides_nothing(text: str) -> None:
    word = read_word(said(text))
    assert isinstance(word, Refer) or word == "unclear"


def test_deep_json_does_not_break_the_reader() -> None:
    assert isinstance(read_word(said("[" * 100_000)), Refer)
    assert isinstance(read_word(said('{"a":' * 50_000)), Refer)


@pytest.mark.parametrize("text", ["I1 is met.\nE1 Is a review\nNo", '{"criterion": "E1", "answer": "no"}', "yes", "No."])
def test_yes_and_no_are_no_verdicts_where_the_labels_are_other_words(text: str) -> None:
    assert isinstance(read_word(said(text), words_of("include", "exclude")), Refer)


def test_case_s10_an_answer_with_marks_of_a_chat_template_decides_nothing() -> None:
    folder = DATA / "cases" / "S10-chat-template"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    for line in (folder / "replies.jsonl").read_text(encoding="utf-8").splitlines():
        case = json.loads(line)
        found = read_word(reply_of(case["key"], case["reply"], "", 0.0))
        if expected[case["key"]]["decision"] is None:
            assert isinstance(found, Refer)
            assert found.code is ReferCode.TEMPLATE
        else:
            assert found == expected[case["key"]]["decision"]
