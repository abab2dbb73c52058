"""Reports longer than the window, servers that cut prompts, and screening criterion by criterion, in whole runs."""

import json
from typing import Any

import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.errors import ProtocolError
from litcascade.schemas import Reply, Request, parse_protocol
from litcascade.schemas.logic import evaluate, parse_logic
from tests.support.reviews import FIELDS, HEAD, MODEL, ReviewFolder

SMALL = MODEL.replace("timeout = 5", "timeout = 5\ncontext = 1024")
FULL = """
[readers.prose]
model = "m"
prompt = "one_step_basic"
labels = ["include", "exclude"]
[stages.full_text]
readers = ["prose"]
"""
BY_CRITERION = """
[readers.checker]
model = "m"
style = "criteria"
[stages.full_text]
readers = ["checker"]
repairs = 1
"""
CRITERIA = (
    HEAD
    + """
[[criteria]]
id = "I2"
kind = "include"
text = "Was randomised."
"""
)
REPORT = "\n\n".join(f"Paragraph {n} of the report says {' '.join(f'w{n}x{i}' for i in range(30))}." for n in range(60))


def count(text: str) -> int:
    return len(text.split())


def labelled(request: Request, word: str) -> Reply:
    text = " ".join(message.content for message in request.messages)
    return Reply(key=request.key, text=word, finish_reason="stop", prompt_tokens=count(text))


def long_review(folder: ReviewFolder, *parts: str, text: str = REPORT, model: str = SMALL) -> None:
    (folder.path / "review.toml").write_text(HEAD + model.format(url="http://x/v1", retries=0) + "".join(parts), encoding="utf-8")
    folder.records(1)
    folder.texts({"r1": text})


def test_a_long_report_is_read_in_windows_and_one_that_includes_is_enough(folder: ReviewFolder) -> None:
    long_review(folder, FULL)
    asked: list[str] = []

    def answer(request: Request) -> Reply:
        asked.append(request.messages[-1].content)
        return labelled(request, "include" if "Paragraph 45 of" in asked[-1] else "exclude")

    folder.run({"m": ScriptedBackend(answer, count=count)})
    assert folder.states("full_text") == {"r1": "included"}
    assert len(asked) > 1
    assert all(f"(Part {n + 1} of " in text for n, text in enumerate(asked))
    assert "Paragraph 45 of" in asked[-1]
    seen, stored = folder.rows("select seen, (select min(seen) from readings) from verdicts")[0]
    assert 0.6 < seen == stored <= 1
    reason = folder.rows("select reason from verdicts")[0][0]
    assert reason is None or "part" in reason


def test_all_windows_must_exclude_and_the_verdict_says_that_all_was_seen(folder: ReviewFolder) -> None:
    long_review(folder, FULL)
    backend = ScriptedBackend(lambda request: labelled(request, "exclude"), count=count)
    folder.run({"m": backend})
    assert folder.states("full_text") == {"r1": "excluded"}
    assert folder.rows("select round(seen, 6) from verdicts") == [(1.0,)]
    assert "none of" in folder.rows("select reason from verdicts")[0][0]
    folder.run({"m": backend})
    assert len(backend.asked) == folder.rows("select count(*) from calls")[0][0]


def test_a_window_that_cannot_be_read_sends_the_report_to_a_person(folder: ReviewFolder) -> None:
    long_review(folder, FULL)

    def answer(request: Request) -> Reply:
        return labelled(request, "hm" if "Paragraph 45 of" in " ".join(m.content for m in request.messages) else "exclude")

    folder.run({"m": ScriptedBackend(answer, count=count)})
    assert folder.states("full_text") == {"r1": "referred"}
    assert "part" in folder.rows("select reason from full_text")[0][0]


def test_a_server_that_cuts_prompts_in_silence_is_found_out(folder: ReviewFolder) -> None:
    long_review(folder, FULL)
    cut = ScriptedBackend(lambda request: labelled(request, "exclude").model_copy(update={"prompt_tokens": 120}), count=count)
    folder.run({"m": cut})
    assert folder.rows("select state, code from full_text") == [("referred", "the server cut the prompt")]


def test_one_long_paragraph_with_words_first_and_figures_behind_is_not_taken_for_cut(folder: ReviewFolder) -> None:
    """What a whole paragraph counts says little of its pieces: the windows are counted themselves."""
    long_review(folder, FULL, text=f"Report. {'misunderstanding ' * 500}{'7 . 1 ' * 400}")
    backend = ScriptedBackend(lambda request: labelled(request, "exclude"), count=count)
    folder.run({"m": backend})
    assert len(backend.asked) > 1
    assert folder.states("full_text") == {"r1": "excluded"}


def test_a_long_report_goes_to_the_reader_with_the_longer_window(folder: ReviewFolder) -> None:
    more = """
[models.wide]
backend = "http"
model = "wide"
endpoints = ["http://x/v1"]
context = 8192
[readers.far]
model = "wide"
prompt = "one_step_basic"
labels = ["include", "exclude"]
"""
    long_review(folder, more, FULL + 'longer = "far"\n')
    wide, small = (ScriptedBackend(lambda request: labelled(request, "exclude"), count=count) for _ in range(2))
    folder.run({"m": small, "wide": wide})
    assert (len(wide.asked), len(small.asked)) == (1, 0)
    assert folder.states("full_text") == {"r1": "excluded"}


def test_a_protocol_longer_than_half_the_window_is_referred_with_the_figure(folder: ReviewFolder) -> None:
    head = HEAD.replace("Adults took zinc.", "Adults took zinc. " + "Very much so. " * 400)
    (folder.path / "review.toml").write_text(head + SMALL.format(url="http://x/v1", retries=0) + FULL, encoding="utf-8")
    folder.records(1)
    folder.texts({"r1": REPORT})
    folder.run({"m": ScriptedBackend(lambda request: labelled(request, "include"), count=count)})
    assert folder.rows("select state, code from full_text") == [("referred", "longer than the model can read")]
    assert "more than half of the window" in folder.rows("select reason from full_text")[0][0]


def test_extraction_joins_the_windows_and_a_conflict_is_an_error_of_that_field_alone(folder: ReviewFolder) -> None:
    text = REPORT + "\n\nThe trial took place in a hospital.\n\nPain was measured in 40 people."
    text = "There were 30 people at first.\n\n" + text
    long_review(folder, FIELDS, text=text, model=SMALL.replace("1024", "2048"))

    def answer(request: Request) -> Reply:
        shown = " ".join(message.content for message in request.messages)
        values: dict[str, Any] = {
            "setting": {"quote": "took place in a hospital", "value": "hospital"} if "in a hospital." in shown else None,
            "outcomes": {"quote": "Pain was measured", "value": ["pain"]} if "Pain was" in shown else None,
            "people": None,
            "dose": None,
        }
        if "30 people at first" in shown:
            values["people"] = {"quote": "There were 30 people", "value": 30}
        if "measured in 40" in shown:
            values["people"] = {"quote": "measured in 40 people", "value": 40}
        nothing: dict[str, Any] = {"setting": "not reported", "outcomes": [], "people": None, "dose": None}
        full = {name: value or {"quote": "", "value": nothing[name]} for name, value in values.items()}
        return labelled(request, json.dumps(full))

    folder.run({"m": ScriptedBackend(answer, count=count)})
    rows = {row[0]: row[1:] for row in folder.rows("select field, value, error from extracted")}
    assert rows["setting"] == ('"hospital"', None)
    assert rows["outcomes"] == ('["pain"]', None)
    assert rows["people"][0] is None
    assert "different values: 30; 40" in rows["people"][1]


def criteria_review(folder: ReviewFolder, *parts: str) -> None:
    folder.protocol(*(parts or (BY_CRITERION,)), head=CRITERIA)
    folder.records(1)
    folder.texts({"r1": "Methods\n\nForty adults took zinc. Allocation was not random. This is no review."})


def by_criterion(folder: ReviewFolder, **answers: tuple[str, str]) -> tuple[str, str | None, str | None]:
    said = {name: {"met": met, "quote": quote} for name, (met, quote) in answers.items()}
    folder.run({"m": ScriptedBackend(lambda request: labelled(request, json.dumps(said)))})
    row = folder.rows("select state, criterion, reason from full_text")[0]
    return row[0], row[1], row[2]


def test_the_first_failing_criterion_is_the_reason_of_the_exclusion(folder: ReviewFolder) -> None:
    criteria_review(folder)
    found = by_criterion(
        folder, I1=("yes", "Forty adults took zinc"), I2=("no", "Allocation was not random"), E1=("no", "This is no review")
    )
    assert found == ("excluded", "I2", 'I2: Was randomised. ("Allocation was not random")')
    answers = folder.rows("select criterion, met, quote_found from criterion_answers order by criterion")
    assert answers == [("E1", "no", True), ("I1", "yes", True), ("I2", "no", True)]


def test_an_exclusion_without_a_quote_that_stands_in_the_report_goes_to_a_person(folder: ReviewFolder) -> None:
    criteria_review(folder)
    found = by_criterion(folder, I1=("yes", "Forty adults took zinc"), I2=("no", "Patients chose freely"), E1=("no", ""))
    assert found == ("referred", None, "open: I2")


def test_all_criteria_met_is_an_inclusion_and_logic_can_be_declared(folder: ReviewFolder) -> None:
    criteria_review(folder, BY_CRITERION + 'logic = "(I1 or I2) and not E1"\n')
    found = by_criterion(folder, I1=("yes", "Forty adults took zinc"), I2=("no", "Allocation was not random"), E1=("no", ""))
    assert found[0] == "included"


def test_a_reply_that_leaves_a_criterion_out_is_repaired_once_and_then_referred(folder: ReviewFolder) -> None:
    criteria_review(folder)
    assert by_criterion(folder, I1=("yes", ""), I2=("perhaps", "")) == (
        "referred",
        None,
        "I2: 'perhaps' is no answer; E1: missing",
    )
    assert folder.rows("select purpose from calls order by seq") == [("ask",), ("repair",)]


@pytest.mark.parametrize(
    ("logic", "words"),
    [
        ("I1 and I9", "names 'I9', which is no criterion of this stage; there are: E1, I1, I2"),
        ("I1 and (E1", "a parenthesis of the logic is not closed"),
        ("I1 E1", "has 'E1' where it should end"),
        ("I1 and", "ends where a criterion should stand"),
        ("I1 & E1", "cannot be read from '& E1' on"),
    ],
)
def test_a_faulty_logic_is_told_with_its_line(logic: str, words: str) -> None:
    text = CRITERIA + MODEL.format(url="http://x/v1", retries=0) + BY_CRITERION + f'logic = "{logic}"\n'
    with pytest.raises(ProtocolError, match=r"review.toml:\d+: ") as caught:
        parse_protocol(text)
    assert words in str(caught.value)


def test_logic_has_three_values() -> None:
    tree = parse_logic("A and (B or not C)", ["A", "B", "C"])
    assert evaluate(tree, {"A": "yes", "B": "no", "C": "no"}) == "yes"
    assert evaluate(tree, {"A": "no"}) == "no"
    assert evaluate(tree, {"A": "yes", "B": "no"}) == "unclear"
    assert evaluate(tree, {"A": "yes", "B": "yes"}) == "yes"


def test_criteria_readers_belong_to_full_text_and_to_votes() -> None:
    text = CRITERIA + MODEL.format(url="http://x/v1", retries=0) + BY_CRITERION
    with pytest.raises(ProtocolError, match="belongs to readers of full_text"):
        parse_protocol(text.replace("[stages.full_text]", "[stages.title_abstract]"))
    with pytest.raises(ProtocolError, match="gives no score"):
        parse_protocol(text + 'policy = "threshold"\nthreshold = 0.5\n')
