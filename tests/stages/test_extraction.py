"""Extraction turn by turn: calls by part, repairs field by field, further passes, rows of groups, windows by declared rule."""

import json
from typing import Any

import pytest

from litcascade.pipeline.lives import Life
from litcascade.schemas import (
    AbstractStatus,
    Answer,
    Document,
    FieldSpec,
    ModelRef,
    Reader,
    Record,
    Refer,
    ReferCode,
    Reply,
    Section,
    StageSpec,
    parse_protocol,
)
from litcascade.schemas.fields import FieldFound, RowEvidence
from litcascade.stages import STAGE_CLASSES, Stage, Subject
from litcascade.stages.extraction_merging import merge_values, recovered
from litcascade.stages.extraction_reading import read_field
from litcascade.stages.grounding import TextIndex
from litcascade.stages.prompt import load
from tests.support.reviews import HEAD, MODEL

TEXT = "Twenty people took zinc and 21 took sugar in a hospital. It was a randomised trial. Pain fell to 1,234 points. Begun May 2020."
SCHEMA = """
[readers.extractor]
model = "m"
[stages.extraction]
readers = ["extractor"]
repairs = {repairs}
[[fields]]
name = "design"
kind = "closed"
definition = "Design."
values = ["randomised controlled trial", "cohort", "case-control", "cross-sectional"]
synonyms = {{ "RCT" = "randomised controlled trial", "randomized controlled trial" = "randomised controlled trial" }}
part = "trial"
[[fields]]
name = "pain"
kind = "number"
definition = "Pain."
part = "results"
[[fields]]
name = "start"
kind = "date"
definition = "When it began."
part = "trial"
[[fields]]
name = "arms"
kind = "group"
definition = "The arms."
key = ["arm"]
rows = 4
part = "results"
[[fields.fields]]
name = "arm"
kind = "open"
definition = "Name."
required = true
[[fields.fields]]
name = "n"
kind = "number"
definition = "People."
"""
DESIGN = {"quote": "It was a randomised trial", "notes": "", "value": "RCT"}
PAIN = {"quote": "Pain fell to 1,234 points", "notes": "at the end", "raw": "1,234", "value": 1234}
START = {"quote": "Begun May 2020", "notes": "", "value": "2020-05"}
ZINC = {"quote": "Twenty people took zinc", "arm": "zinc", "n": 20}
SUGAR = {"quote": "21 took sugar", "arm": "sugar", "n": 21}
ARMS = {"notes": "", "value": [ZINC, SUGAR]}
GOOD = {"design": DESIGN, "pain": PAIN, "start": START, "arms": ARMS}
NOTHING: dict[str, Any] = {
    "design": {"quote": "", "notes": "", "value": "not reported"},
    "pain": {"quote": "", "notes": "", "raw": "", "value": None},
    "start": {"quote": "", "notes": "", "value": None},
    "arms": {"notes": "", "value": []},
}


def stage(repairs: int = 1, context: int = 8192, **keys: Any) -> Stage:
    """An extraction stage; `keys` are keys of the stage, known to its declaration or not yet."""
    protocol = parse_protocol(HEAD + MODEL.format(url="http://x/v1", retries=0) + SCHEMA.format(repairs=repairs))
    spec = StageSpec.model_construct(**{**dict(protocol.stages.extraction or ()), **keys})
    for key, value in keys.items():
        spec.__dict__[key] = value
    model = ModelRef(name="m", revision="r", engine="e")
    reader = Reader(name="extractor", model=model, via="m", prompt=load("extraction", "quote_value"), context=context)
    return STAGE_CLASSES.get("extraction")(protocol, spec, {"extractor": reader})


def subject() -> Subject:
    record = Record(record_id="r1", title="Zinc", abstract="Zinc.", abstract_status=AbstractStatus.OK)
    sections = (Section(heading=None, text=TEXT),)
    return Subject(
        record=record, document=Document(document_id="d", record_id="r1", path="r1.txt", format="text", sections=sections)
    )


def live(made: Stage, answers: list[Any]) -> tuple[Answer | Refer, list[Any]]:
    """The outcome after these answers in order, and the requests that asked for them; every answer must be asked for."""
    life, left = Life(made, subject()), list(answers)
    asked: list[Any] = []
    while True:
        requests = life.advance()
        if life.verdict:
            assert not left, f"answers left over: {left}"
            return life.verdict.readings[0].outcome, asked
        for reader, request in requests:
            asked.append(request)
            said = left.pop(0)
            text = said if isinstance(said, str | Reply) else json.dumps(said)
            life.take(
                reader, request, text if isinstance(text, Reply) else Reply(key=request.key, text=text, finish_reason="stop")
            )


def cut(**more: Any) -> Reply:
    return Reply(key="k", text='{"design": {"quote": "It was', finish_reason="length", **more)


def found(outcome: Answer | Refer) -> dict[str, FieldFound]:
    assert isinstance(outcome, Answer)
    return {value.field: value for value in outcome.values if isinstance(value, FieldFound)}


def fields_of(request: Any) -> list[str]:
    return list(request.shape.json_schema["properties"])


def test_every_kind_is_read_with_evidence_notes_and_raw_form() -> None:
    outcome, asked = live(stage(), [GOOD])
    values = found(outcome)
    assert len(asked) == 1
    assert (values["design"].value, values["design"].raw) == ("randomised controlled trial", "RCT")
    assert (values["pain"].value, values["pain"].raw, values["pain"].notes) == (1234, "1,234", "at the end")
    assert values["start"].value == "2020-05"
    assert values["arms"].value == [{"arm": "zinc", "n": 20}, {"arm": "sugar", "n": 21}]
    assert [row.quote_found for row in values["arms"].evidence] == [True, True]
    assert all(value.quote_found and value.escalated is None for value in values.values())
    assert [value.field for value in values.values()] == ["design", "pain", "start", "arms"]


def test_values_without_a_quote_that_stands_go_to_a_person_by_the_fields_own_threshold() -> None:
    odd = GOOD | {
        "pain": PAIN | {"quote": "Pain fell to 12 points"},
        "arms": {"notes": "", "value": [ZINC, SUGAR | {"quote": "no"}]},
    }
    values = found(live(stage(), [odd])[0])
    assert values["pain"].escalated == "quote not found: the quote does not stand in the text"
    assert values["pain"].near == "Pain fell to 1,234 points [quoted / stands: digits: 12 / 1,234]"
    assert str(values["arms"].escalated).startswith("quote not found (row 2): ")
    assert values["design"].escalated is None
    plain = {"name": "f", "kind": "open", "definition": "d"}
    said = {"f": {"quote": "not there", "value": "x"}}
    for threshold, reason in (
        ("never", None),
        ("always", "the quote does not stand"),
        ("unsupported", "the quote does not stand"),
    ):
        spec = FieldSpec.model_validate({**plain, "escalate": threshold})
        merged = merge_values(spec, [read_field(spec, said, TextIndex(TEXT))])
        assert (merged.escalated or "").startswith(reason or "")
        assert bool(merged.escalated) == bool(reason)
    always = FieldSpec.model_validate({**plain, "escalate": "always"})
    held = read_field(always, {"f": {"quote": "took zinc", "value": "zinc"}}, TextIndex(TEXT))
    assert merge_values(always, [held]).escalated == "every value of this field is looked at"


@pytest.mark.parametrize(
    ("calls", "parts"),
    [
        ("all", [["design", "pain", "start", "arms"]]),
        ("part", [["design", "start"], ["pain", "arms"]]),
        ("field", [["design"], ["pain"], ["start"], ["arms"]]),
    ],
)
def test_the_schema_is_asked_whole_by_part_or_by_field(calls: str, parts: list[list[str]]) -> None:
    outcome, asked = live(stage(calls=calls), [{name: GOOD[name] for name in part} for part in parts])
    assert [fields_of(request) for request in asked] == parts
    assert [request.purpose for request in asked] == ["ask", *["part"] * (len(parts) - 1)]
    assert {name: value.error for name, value in found(outcome).items()} == dict.fromkeys(GOOD)
    heads = {request.messages[0].content for request in asked}
    shared = {request.messages[-1].content.split("\nAnswer for these fields only")[0] for request in asked}
    assert len(heads) == len(shared) == 1, "what stands before the last line is the same for every call"


def test_one_part_that_fails_costs_its_own_fields_alone() -> None:
    outcome, asked = live(stage(calls="part"), ["Sorry.", "Sorry.", {"pain": PAIN, "arms": ARMS}])
    values = found(outcome)
    assert [request.purpose for request in asked] == ["ask", "repair", "part"]
    assert {name for name, value in values.items() if value.error} == {"design", "start"}
    assert "no JSON object" in str(values["design"].error)
    assert values["design"].escalated
    failed, _ = live(stage(calls="part"), ["Sorry."] * 4)
    assert isinstance(failed, Refer)
    assert failed.code is ReferCode.UNPARSED


def test_a_wrong_cell_is_asked_again_and_stays_an_error_of_that_cell_alone() -> None:
    bad = {"notes": "", "value": [ZINC, SUGAR | {"n": "twenty-one"}]}
    outcome, asked = live(stage(), [GOOD | {"arms": bad}, {"arms": ARMS}])
    assert fields_of(asked[1]) == ["arms"]
    assert "row 2, n: " in asked[1].messages[-1].content
    assert found(outcome)["arms"].value == [{"arm": "zinc", "n": 20}, {"arm": "sugar", "n": 21}]
    values = found(live(stage(), [GOOD | {"arms": bad}, {"arms": bad}])[0])
    assert values["arms"].error is None
    assert values["arms"].value == [{"arm": "zinc", "n": 20}, {"arm": "sugar", "n": None}]
    assert values["arms"].evidence[1].raw["n"] == "twenty-one"
    assert "row 2, n: " in str(values["arms"].escalated)
    worse = found(live(stage(), [GOOD | {"arms": bad}, {"arms": {"value": "none"}}])[0])
    assert worse["arms"].value == values["arms"].value


@pytest.mark.parametrize(
    ("value", "words"),
    [("zinc", "list of rows"), ([1], "row 1 must be an object"), ([{"arm": str(n), "n": n} for n in range(5)], "has 5 rows")],
)
def test_rows_that_cannot_be_read_are_an_error_of_the_group(value: Any, words: str) -> None:
    values = found(live(stage(repairs=0), [GOOD | {"arms": {"notes": "", "value": value}}])[0])
    assert words in str(values["arms"].error)
    assert values["arms"].raw
    assert values["pain"].value == 1234


def test_a_model_that_repeats_itself_gives_one_row() -> None:
    values = found(live(stage(), [GOOD | {"arms": {"notes": "", "value": [ZINC, ZINC, ZINC]}}])[0])
    assert values["arms"].value == [{"arm": "zinc", "n": 20}]


@pytest.mark.parametrize("number", ["1e999", "9" * 400, "NaN", '"12"', "true"])
def test_endless_or_odd_numbers_are_errors_of_that_field(number: str) -> None:
    text = json.dumps(GOOD).replace('"value": 1234', f'"value": {number}')
    values = found(live(stage(repairs=0), [text])[0])
    assert values["pain"].error
    assert len(values["pain"].raw or "") <= 300
    assert values["start"].value == "2020-05"
    assert len(found(live(stage(), [GOOD | {"start": START | {"quote": "x" * 9000}}])[0])["start"].quote or "") <= 2000


def test_a_further_pass_asks_once_more_for_what_was_not_found() -> None:
    first = NOTHING | {"design": DESIGN, "arms": {"notes": "", "value": [ZINC]}}
    more = {"pain": PAIN, "start": START | {"quote": "nowhere"}, "arms": {"notes": "", "value": [SUGAR, ZINC]}}
    outcome, asked = live(stage(passes=2), [first, more])
    assert [request.purpose for request in asked] == ["ask", "recover"]
    assert fields_of(asked[1]) == ["pain", "start", "arms"]
    assert "these rows: zinc." in asked[1].messages[-1].content
    values = found(outcome)
    assert {name: value.purpose for name, value in values.items()} == {
        "design": "ask", "pain": "recover", "start": "ask", "arms": "recover",
    }  # fmt: skip
    assert values["pain"].value == 1234
    assert values["arms"].value == [{"arm": "zinc", "n": 20}, {"arm": "sugar", "n": 21}]
    assert values["start"].value is None, "what no quote holds up is not taken"
    assert "not taken" in str(values["start"].escalated)


def test_further_passes_end_and_a_failed_one_harms_nothing() -> None:
    outcome, asked = live(stage(passes=3), [NOTHING, "Sorry.", {"pain": PAIN, "design": DESIGN, "start": START, "arms": ARMS}])
    assert [request.purpose for request in asked] == ["ask", "recover", "recover"]
    assert found(outcome)["pain"].value == 1234
    assert len(live(stage(), [NOTHING])[1]) == 1, "without passes nothing is asked again"
    full = {name: value for name, value in GOOD.items() if name != "arms"}
    assert fields_of(live(stage(passes=2), [GOOD, {"arms": {"notes": "", "value": []}}])[1][1]) == ["arms"]
    assert len(full) == 3


def test_case_x01_a_cut_answer_gets_more_room_once_and_no_defaults(cases: Any) -> None:
    folder = cases / "X01-truncation-reask-loop"
    rule = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    lines = [json.loads(line) for line in (folder / "replies.jsonl").read_text(encoding="utf-8").splitlines()]
    assert (rule["prompt_tokens_may_grow"], rule["attempts_at_same_budget_max"]) == (False, 1)

    def reply(line: Any) -> Reply:
        choice, usage = line["reply"]["choices"][0], line["reply"]["usage"]
        text = choice["message"]["content"]
        return Reply(key="k", text=text, finish_reason=choice["finish_reason"], prompt_tokens=usage["prompt_tokens"])

    outcome, asked = live(stage(repairs=2), [reply(line) for line in lines[:3]])
    assert isinstance(outcome, Refer)
    assert outcome.code is ReferCode.TRUNCATED
    assert {request.messages for request in asked} == {asked[0].messages}, "the cut text is never shown again"
    rooms = [request.sampling.max_tokens for request in asked]
    assert rooms == sorted(set(rooms))
    outcome, asked = live(stage(repairs=3), [*map(reply, lines[:3]), GOOD])
    assert asked[3].sampling.max_tokens >= lines[3]["max_tokens_at_least"]
    assert not any(value.error for value in found(outcome).values())


def test_where_the_window_leaves_no_more_room_the_fields_are_halved() -> None:
    full = {"prompt_tokens": 3180}
    outcome, asked = live(stage(context=4096), [cut(**full), cut(**full), {"start": START, "arms": ARMS}])
    assert [fields_of(request) for request in asked] == [[*GOOD], ["design", "pain"], ["start", "arms"]]
    assert [request.purpose for request in asked] == ["ask", "repair", "repair"]
    values = found(outcome)
    assert {name for name, value in values.items() if value.error} == {"design", "pain"}
    assert all(value.value is None for value in values.values() if value.error)
    assert values["start"].value == "2020-05"


def test_case_x02_other_words_for_a_listed_value(cases: Any) -> None:
    folder = cases / "X02-enum-mismatch"
    rule = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    lines = [json.loads(line) for line in (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()]
    specs = stage().protocol.fields
    n = specs[1].model_copy(update={"name": "n"})
    kept = set()
    for line in lines:
        answer = {name: {"quote": "", "value": value} for name, value in line["content"].items()}
        design, people = (read_field(spec, answer, TextIndex("")) for spec in (specs[0], n))
        assert design.value == rule["design"][line["key"]], line
        assert bool(design.error) == (design.value is None)
        if design.error and design.raw:
            kept.add(line["key"])
        if line["key"] == "f":
            assert people.value is rule["f_n"]
        if line["key"] in "abcg":
            assert people.value == 40, "the other fields are kept"
    assert kept == set(rule["raw_value_kept_for"])


def test_case_x02_the_fault_is_in_the_next_prompt_and_the_good_fields_are_kept(cases: Any) -> None:
    rule = json.loads((cases / "X02-enum-mismatch" / "expected.json").read_text(encoding="utf-8"))
    wrong = {"design": DESIGN | {"value": "cohort study (prospective)"}}
    outcome, asked = live(stage(repairs=rule["max_retries"]), [GOOD | wrong, wrong, wrong])
    assert len(asked) == 1 + rule["max_retries"]
    for request in asked[1:]:
        words = request.messages[-1].content
        assert "cohort study (prospective)" in words
        assert "case-control" in words
        assert len(request.messages) == 4, "the prompt does not grow from repair to repair"
    values = found(outcome)
    assert (values["design"].value, values["design"].raw) == (None, "cohort study (prospective)")
    assert values["pain"].value == 1234


def value(name: str, said: Any, held: bool | None = True, **more: Any) -> FieldFound:
    return FieldFound(field=name, value=said, quote="q" if held else None, quote_found=held, **more)


OPEN = FieldSpec(name="f", kind="open", definition="d")
NUMBER = FieldSpec(name="f", kind="number", definition="d")


@pytest.mark.parametrize(
    ("spec", "given", "value_after", "error"),
    [
        (NUMBER, [30, None, 30], 30, None),
        (NUMBER, [30, 40], None, "different values: 30; 40"),
        (OPEN, ["75 mg", "75 MG."], "75 mg", None),
        (OPEN.model_copy(update={"merge": "first"}), [None, "a", "b"], "a", None),
        (OPEN.model_copy(update={"merge": "most_frequent"}), ["a", "b", "B."], "b", None),
        (OPEN.model_copy(update={"merge": "most_frequent"}), ["a", "b"], None, "different values: a; b"),
        (FieldSpec(name="f", kind="multi", definition="d", values=("x", "y", "z")), [["x"], [], ["z", "x"]], ["x", "z"], None),
        (
            FieldSpec(name="f", kind="multi", definition="d", values=("x", "y"), merge="conflict"), [["x"], ["y"]], None, "different",
        ),
    ],
)  # fmt: skip
def test_windows_are_merged_by_the_fields_rule(spec: FieldSpec, given: list[Any], value_after: Any, error: str | None) -> None:
    merged = merge_values(spec, [value("f", said, None if said in (None, []) else True) for said in given])
    assert merged.value == value_after
    assert (error or "") in (merged.error or "")
    assert bool(merged.error) == bool(error)


def test_a_window_that_could_not_be_read_for_a_field_is_told() -> None:
    bad = FieldFound(field="f", error="odd")
    assert merge_values(NUMBER, [value("f", None, None), bad]).error == "odd"
    merged = merge_values(NUMBER, [value("f", 3), bad])
    assert merged.value == 3
    assert "could not be read for this field: odd" in str(merged.escalated)
    assert merge_values(NUMBER, [value("f", 4, held=False), value("f", 3)]).value == 3


GROUP = FieldSpec.model_validate(
    {
        "name": "f", "kind": "group", "definition": "d", "key": ["arm"],
        "fields": [{"name": name, "kind": kind, "definition": "d"} for name, kind in (("arm", "open"), ("n", "number"), ("sd", "number"))],
    }
)  # fmt: skip


def rows(*told: dict[str, Any]) -> FieldFound:
    return value("f", [dict(row) for row in told], evidence=tuple(RowEvidence(quote="q", quote_found=True) for _ in told))


def test_rows_of_windows_are_joined_by_their_key_and_a_conflict_is_an_error_of_the_cell() -> None:
    merged = merge_values(
        GROUP,
        [
            rows({"arm": "Zinc", "n": 20, "sd": None}, {"arm": "sugar", "n": 21, "sd": 1.5}),
            rows(
                {"arm": "zinc", "n": None, "sd": 2.5}, {"arm": "sugar", "n": 22, "sd": 1.5}, {"arm": "none", "n": 3, "sd": None}
            ),
            rows({"arm": "sugar", "n": 23, "sd": None}),
        ],
    )
    assert merged.value == [
        {"arm": "Zinc", "n": 20, "sd": 2.5}, {"arm": "sugar", "n": None, "sd": 1.5}, {"arm": "none", "n": 3, "sd": None},
    ]  # fmt: skip
    assert list(merged.evidence[1].errors) == ["n"]
    assert "21; 22" in merged.evidence[1].errors["n"]
    assert "row 2, n" in str(merged.escalated)


def test_a_further_pass_never_takes_away() -> None:
    old = rows({"arm": "zinc", "n": 20, "sd": None})
    assert recovered(GROUP, old, FieldFound(field="f", error="odd")) == old
    assert recovered(GROUP, old, value("f", [], None)) == old
    assert recovered(NUMBER, value("f", 3), value("f", 4)).value == 3
    loose = FieldFound(field="f", value=[{"arm": "x", "n": 1, "sd": None}], evidence=(RowEvidence(quote="q", quote_found=False),))
    kept = recovered(GROUP, old, loose)
    assert kept.value == old.value
    assert "1 row(s)" in str(kept.escalated)
