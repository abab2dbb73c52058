"""The closed ledger: every kind of bad reply, at every stage, through a real HTTP server."""

import json
from collections.abc import Callable

import pytest

from tests.support.reviews import ABSTRACTS, FIELDS, REPORTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say, asked_labels

TEXT = "Methods\n\nThe trial took place in a hospital. Pain was measured in 40 people who took 75 mg of zinc."
GOOD = json.dumps(
    {
        "setting": {"quote": "took place in a hospital", "value": "hospital"},
        "outcomes": {"quote": "Pain was measured", "value": ["pain"]},
        "people": {"quote": "in 40 people", "value": 40},
        "dose": {"quote": "75 mg of zinc", "value": "75 mg"},
    }
)
SCREENING: dict[str, Say] = {
    "prose instead of a label": Say("The abstract deals with zinc in several ways."),
    "missing field": Say('{"reason": "zinc"}'),
    "value out of range": Say('{"decision": "perhaps"}'),
    "truncated JSON": Say('{"decision": "incl', finish="length"),
    "truncated JSON that claims to be whole": Say('{"decision": "incl'),
    "an unclosed think block": Say("<think>It could be yes. yes"),
    "empty object as content": Say("{}"),
    "false as a string": Say('{"include": "false"}'),
    "empty text": Say(""),
    "no text": Say(None, reasoning="yes"),
    "both labels": Say("yes/no"),
    "refused": Say(status=400, raw='{"error": {"message": "bad request"}}'),
}
EXTRACTION: dict[str, Say] = {
    "prose instead of JSON": Say("The trial took place in a hospital."),
    "truncated JSON": Say(GOOD[:80], finish="length"),
    "truncated JSON that claims to be whole": Say(GOOD[:80]),
    "empty object as content": Say("{}"),
    "an unclosed think block": Say("<think>" + GOOD),
    "empty text": Say(""),
    "a list": Say("[1, 2]"),
    "refused": Say(status=400, raw='{"error": {"message": "bad request"}}'),
}


def marked(name: str) -> str:
    return f"case {name}."


def answers(cases: dict[str, Say], good: Callable[[Body], Say]) -> Callable[[Body], Say]:
    """Bad answers for the record whose title names the case; a good one for all others."""

    def answer(body: Body) -> Say:
        text = " ".join(message["content"] for message in body["messages"])
        for name, say in cases.items():
            if marked(name) in text:
                return say
        return good(body)

    return answer


def rows(cases: dict[str, Say]) -> list[dict[str, str | None]]:
    bad = [{"id": f"bad{i}", "title": marked(name), "abstract": "Adults took zinc."} for i, name in enumerate(cases)]
    good = [{"id": f"good{i}", "title": f"Trial {i}", "abstract": "Adults took zinc."} for i in range(5)]
    return [*bad, *good, {"id": "bare", "title": "No abstract here", "abstract": None}]  # type: ignore[list-item]


def say_yes(body: Body) -> Say:
    labels = asked_labels(body)
    if "unclear" in labels:
        return Say("unclear")  # the refinement model finds no decision in such prose
    return Say(labels[0] if labels else "Decision: include")


def closes(folder: ReviewFolder, stage: str, entered: int) -> None:
    total = folder.rows(f"select count(*), count(distinct record_id) from {stage}")[0]
    assert total == (entered, entered)


@pytest.mark.parametrize("stage", ["title_abstract", "full_text"])
def test_screening_refers_every_unusable_reply_and_keeps_it(folder: ReviewFolder, server: ModelServer, stage: str) -> None:
    folder.protocol(ABSTRACTS if stage == "title_abstract" else REPORTS, url=server.url)
    table = rows(SCREENING)
    folder.records(table)
    if stage == "full_text":
        folder.texts({str(row["id"]): TEXT for row in table})
    server.answer = answers(SCREENING, say_yes)
    outcome = folder.run()
    assert outcome.status == "complete"
    closes(folder, stage, len(table))
    states = folder.states(stage)
    assert {name for name in states if name.startswith("bad") and states[name] != "referred"} == set()
    assert all(states[f"good{i}"] == "included" for i in range(5))
    if stage == "title_abstract":
        assert states["bare"] == "referred"
    for record_id, calls in folder.rows(f"select record_id, calls from readings where stage = '{stage}' and code is not null"):
        kept = folder.rows("select raw, prompt_tokens, refused from calls where key in (select unnest(?::text[]))", [calls])
        assert len(kept) == len(calls) > 0, record_id
        assert all(raw for raw, _, _ in kept)
    before = len(server.asked)
    assert folder.run().status == "complete"
    assert len(server.asked) == before


def test_extraction_refers_what_holds_no_field_and_keeps_the_rest(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(FIELDS, url=server.url)
    table = rows(EXTRACTION)
    folder.records(table)
    folder.texts({str(row["id"]): TEXT for row in table})
    part = json.loads(GOOD) | {"people": {"quote": "q", "value": -3}}
    del part["dose"]
    server.answer = answers({**EXTRACTION, "of a bare record": Say(json.dumps(part))}, lambda _: Say(GOOD))
    assert folder.run().status == "complete"
    closes(folder, "extraction", len(table))
    states = folder.states("extraction")
    assert {states[f"bad{i}"] for i in range(len(EXTRACTION))} == {"referred"}
    assert {states[f"good{i}"] for i in range(5)} == {"extracted"}
    assert folder.rows("select count(*) from extracted where error is not null") == [(0,)]


def test_a_faulty_field_is_an_error_of_that_field_alone(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(FIELDS, url=server.url)
    folder.records(1)
    folder.texts({"r1": TEXT})
    part = json.loads(GOOD) | {"people": {"quote": "q", "value": -3}}
    del part["dose"]
    server.answer = lambda _: Say(json.dumps(part))
    folder.run()
    found = {field: (value, bool(error)) for field, value, error in folder.rows("select field, value, error from extracted")}
    assert found == {
        "setting": ('"hospital"', False),
        "outcomes": ('["pain"]', False),
        "people": (None, True),
        "dose": (None, True),
    }


def test_think_block_before_the_answer_is_read(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(3)
    server.answer = lambda _: Say("<think>no? no.</think>yes")
    folder.run()
    assert set(folder.states("title_abstract").values()) == {"included"}


@pytest.mark.parametrize("stage", ["title_abstract", "full_text", "extraction"])
def test_what_got_no_reply_stays_pending_and_only_that_is_asked_again(
    folder: ReviewFolder, server: ModelServer, stage: str
) -> None:
    folder.protocol({"title_abstract": ABSTRACTS, "full_text": REPORTS, "extraction": FIELDS}[stage], url=server.url, retries=1)
    folder.records(8)
    folder.texts({f"r{i}": TEXT for i in range(1, 9)})
    dead = {"trial 3", "trial 5"}

    def answer(body: Body) -> Say:
        text = body["messages"][-1]["content"]
        if any(name in text for name in dead):
            return Say(status=500, raw="internal error") if "trial 3" in text else Say(raw="{}")  # no completion either
        return Say(GOOD) if "response_format" in body else say_yes(body)

    server.answer = answer
    outcome = folder.run()
    assert (outcome.status, outcome.exit_code) == ("incomplete", 3)
    pending = {name for name, state in folder.states(stage).items() if state == "pending"}
    assert pending == {"r3", "r5"}
    closes(folder, stage, 8)
    assert {row[0] for row in folder.rows("select record_id from failures")} == pending
    assert folder.rows("select count(*) from verdicts where record_id in ('r3', 'r5')") == [(0,)]
    assert folder.rows("select count(*) from calls where record_id in ('r3', 'r5')") == [(0,)]
    dead.clear()
    server.asked.clear()
    assert folder.run().status == "complete"
    assert len(server.asked) == 2
    assert all(any(f"trial {n}" in body["messages"][-1]["content"] for n in (3, 5)) for body in server.asked)


def test_a_server_that_is_gone_stops_the_run_and_loses_nothing(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(60)
    server.answer = lambda _: Say(status=503, raw="down")
    outcome = folder.run()
    assert (outcome.status, outcome.exit_code) == ("backend", 3)
    assert "taken to be down" in outcome.words
    assert set(folder.states("title_abstract").values()) == {"pending"}
    server.answer = say_yes
    assert folder.run().status == "complete"
    assert set(folder.states("title_abstract").values()) == {"included"}
