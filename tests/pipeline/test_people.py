"""People: decisions, readers, amendments, worked examples, gold and scores."""

import json

import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.errors import InputError
from litcascade.pipeline.amending import amend
from litcascade.pipeline.exporting import export
from litcascade.pipeline.importing import import_decisions
from litcascade.pipeline.scoring import score_review
from litcascade.schemas import Reply, Request
from tests.pipeline.test_graph import decide
from tests.support.reviews import ABSTRACTS, FIELDS, HEAD, REPORTS, ReviewFolder

YES = ScriptedBackend(lambda r: Reply(key=r.key, text="Decision: include"))


def words(request: Request) -> str:
    return request.messages[-1].content


def test_a_persons_decision_settles_a_referred_record(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records([{"id": "a", "title": "Zinc", "abstract": ""}, {"id": "b", "title": "Zinc b", "abstract": ""}])
    folder.run({"m": YES})
    assert folder.states("title_abstract") == {"a": "referred", "b": "referred"}
    decide(folder, [{"record_id": "a", "stage": "title_abstract", "decision": "exclude", "criterion": "E1", "note": "a review"}])
    decide(folder, [{"record_id": "b", "stage": "title_abstract", "decision": "unsure"}])
    rows = folder.rows("select record_id, state, decided_by, criterion, reason from title_abstract order by 1")
    assert rows == [("a", "excluded", "Anna", "E1", "a review"), ("b", "referred", "model", None, None)]
    assert [row[0] for row in folder.rows("select record_id from queue")] == ["b"]


def test_the_queue_goes_out_and_comes_back(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records([{"id": "=a", "title": "+Zinc", "abstract": ""}, {"id": "b", "title": "B", "abstract": "Whole."}])
    folder.run({"m": YES})
    review = folder.review
    with review.open() as store:
        assert export(review, store, "queue", folder.path / "queue.csv").rows == 1
    text = (folder.path / "queue.csv").read_text(encoding="utf-8")
    assert "no abstract" in text
    (folder.path / "filled.csv").write_text(text.replace("title_abstract,,", "title_abstract,include,"), encoding="utf-8")
    with review.open() as store:
        import_decisions(review, store, folder.path / "filled.csv", "Anna")
    assert folder.states("title_abstract") == {"=a": "included", "b": "included"}


@pytest.mark.parametrize(
    ("row", "match"),
    [
        ({"record_id": "zz", "stage": "title_abstract", "decision": "include"}, "1 id"),
        ({"record_id": "r1", "stage": "full_tekst", "decision": "include"}, "no screening stage"),
        ({"record_id": "r1", "stage": "title_abstract", "decision": "perhaps"}, "not a known label"),
        ({"record_id": "r1", "stage": "title_abstract", "decision": "exclude", "criterion": "E9"}, "no criterion 'E9'"),
    ],
)
def test_a_faulty_row_imports_nothing(folder: ReviewFolder, row: dict[str, str], match: str) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(2)
    good = {**dict.fromkeys(row, ""), "record_id": "r2", "stage": "title_abstract", "decision": "include"}
    with pytest.raises(InputError, match=match):
        decide(folder, [good, row])  # type: ignore[list-item]
    with pytest.raises(InputError, match="nobody is named"):
        decide(folder, [good], by=None)  # type: ignore[list-item]
    assert folder.rows("select count(*) from adjudications") == [(0,)]


PANEL = """
[readers.one]
model = "m"
[readers.anna]
person = true
[stages.title_abstract]
readers = ["one", "anna"]
votes = 2
"""


def test_a_person_who_is_a_reader_is_heard_in_the_panel(folder: ReviewFolder) -> None:
    folder.protocol(PANEL)
    folder.records(3)
    folder.run({"m": YES})
    assert set(folder.states("title_abstract").values()) == {"referred"}
    decide(folder, [{"record_id": "r1", "stage": "title_abstract", "decision": "include"}], by="anna")
    decide(folder, [{"record_id": "r2", "stage": "title_abstract", "decision": "exclude"}], by="anna")
    assert folder.states("title_abstract") == {"r1": "pending", "r2": "pending", "r3": "referred"}
    asked = len(YES.asked)
    assert folder.run({"m": YES}).status == "complete"
    assert len(YES.asked) == asked
    assert folder.states("title_abstract") == {"r1": "included", "r2": "excluded", "r3": "referred"}


def test_changed_criteria_need_an_amendment_and_touched_decisions_are_queued_again(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS, REPORTS)
    folder.records([{"id": key, "title": key, "abstract": ""} for key in "abcd"])
    folder.run({"m": YES})
    common = {"stage": "title_abstract", "criterion": ""}
    decide(
        folder,
        [
            {**common, "record_id": "a", "decision": "include"},
            {**common, "record_id": "b", "decision": "exclude", "criterion": "E1"},
            {**common, "record_id": "c", "decision": "exclude", "criterion": "I1"},
            {**common, "record_id": "d", "decision": "exclude"},
        ],
    )
    changed = HEAD.replace("Adults took zinc.", "Adults took zinc or copper.")
    folder.protocol(ABSTRACTS, REPORTS, head=changed)
    with pytest.raises(InputError, match="litcascade amend"):
        folder.run({"m": YES})
    review = folder.review
    with review.open() as store:
        done = amend(review, store, "Anna", "copper came up in the pilot")
        with pytest.raises(InputError, match="nothing to amend"):
            amend(review, store, "Anna", "again")
    assert [(change.what, change.how) for change in done.changes] == [("I1", "changed")]
    assert done.requeued == 3
    assert folder.run({"m": YES}).status == "complete"
    states = {row[0]: row[1:] for row in folder.rows("select record_id, state, code, decided_by from title_abstract")}
    assert states["b"][0] == "excluded"  # E1 stands as it was
    assert {states[key][0] for key in "acd"} == {"referred"}
    assert states["a"][1] == "decided under earlier criteria"
    assert folder.rows("select count(*) from adjudications") == [(4,)]
    decide(folder, [{**common, "record_id": "a", "decision": "include"}])
    assert folder.states("title_abstract")["a"] == "included"
    assert folder.rows("select author, reason from amendments") == [("Anna", "copper came up in the pilot")]


def test_models_are_asked_anew_under_amended_criteria(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(3)
    backend = ScriptedBackend(lambda r: Reply(key=r.key, text="yes" if "copper" in r.messages[0].content else "no"))
    folder.run({"m": backend})
    assert set(folder.states("title_abstract").values()) == {"excluded"}
    folder.protocol(ABSTRACTS, head=HEAD.replace("Adults took zinc.", "Adults took zinc or copper."))
    review = folder.review
    with review.open() as store:
        amend(review, store, "Anna", "copper")
    folder.run({"m": backend})
    assert set(folder.states("title_abstract").values()) == {"included"}
    assert len(backend.asked) == 6


def test_worked_examples_stand_in_the_shared_part_and_need_gold(folder: ReviewFolder) -> None:
    shots = ABSTRACTS.replace('prompt = "inclusion"', 'prompt = "inclusion"\nshots = ["r1", "r2"]')
    folder.protocol(shots)
    folder.records(3)
    with pytest.raises(InputError, match="no gold label at title_abstract"):
        folder.run({"m": YES})
    folder.gold([{"record_id": "r1", "title_abstract": "include"}, {"record_id": "r2", "title_abstract": "exclude"}])
    seen: list[Request] = []
    folder.run({"m": ScriptedBackend(lambda r: seen.append(r) or Reply(key=r.key, text="yes"))})  # type: ignore[func-returns-value]
    assert [message.role for message in seen[0].messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert [message.content for message in seen[0].messages[2:5:2]] == ["yes", "no"]
    assert len({request.messages[:5] for request in seen}) == 1


def test_scores_join_by_id_count_referred_as_positive_and_say_what_was_left_out(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS + 'referred = "pass"\n', REPORTS, FIELDS)
    folder.records([{"id": f"r{i}", "title": f"T{i}", "abstract": "" if i == 5 else f"Abstract {i}."} for i in range(1, 9)])
    folder.texts({f"r{i}": f"Report {i}. In 40 people." for i in (1, 2, 5, 6)})
    gold = {1: "include", 2: "include", 3: "include", 4: "exclude", 5: "include", 6: "exclude", 7: "include"}
    final = {1: "include", 2: "exclude", 3: "include", 5: "include", 6: "exclude", 7: "include"}
    folder.gold([{"record_id": f"r{i}", "title_abstract": gold[i], "full_text": final.get(i, "")} for i in reversed(gold)])
    folder.gold(
        [{"record_id": "r1", "field": "people", "value": "40"}, {"record_id": "r1", "field": "outcomes", "value": "pain|days"}],
        "f.csv",
    )
    values = {"setting": "hospital", "outcomes": ["pain"], "people": 40, "dose": "1 mg"}
    extracted = json.dumps({name: {"quote": "In 40 people", "value": value} for name, value in values.items()})

    def answer(r: Request) -> Reply:
        if r.shape.kind == "json":
            return Reply(key=r.key, text=extracted)
        if r.sampling.max_tokens > 100:
            return Reply(key=r.key, text="Decision: exclude" if "Report 2" in words(r) else "Decision: include")
        return Reply(key=r.key, text="no" if "Abstract 3" in words(r) or "Abstract 4" in words(r) else "yes")

    assert folder.run({"m": ScriptedBackend(answer)}).status == "complete"
    review = folder.review
    with review.open() as store:
        scores = score_review(review, store)
        stored = store.rows("select scope, metric, value from estimates where metric = 'recall' order by 1")
    abstracts, reports = scores.stages
    assert abstracts.confusion.model_dump() == {"tp": 4, "fp": 1, "fn": 1, "tn": 1}
    assert abstracts.left_out == {"without a gold label": 1}
    assert abstracts.referred == 1
    assert reports.confusion.model_dump() == {"tp": 2, "fp": 1, "fn": 0, "tn": 1}
    assert reports.left_out["did not reach this stage"] == 1
    assert reports.left_out["not retrieved"] == 1
    assert scores.cascade is not None
    assert [(item.stage, item.recall.value) for item in scores.cascade.loss.stages] == [
        ("title_abstract", 0.75), ("retrieval", pytest.approx(2 / 3)), ("full_text", 1.0),
    ]  # fmt: skip
    assert scores.cascade.loss.end_to_end.value == 0.5
    assert scores.fields.scores["people"].value == 1.0
    assert scores.fields.scores["outcomes"].value == 0.5
    assert scores.fields.scores["dose"].value is None
    assert scores.fields.counts["outcomes"].wrong == 1
    assert scores.cascade.extraction is not None
    assert scores.cascade.extraction.coverage.value == 1.0
    assert scores.cascade.extraction.correctness.value == 0.5
    assert scores.cascade.extraction.extraction_yield.value == pytest.approx(0.25)
    assert scores.cascade.with_gold_at["full_text"].value == 0.5
    assert stored == [("full_text", "recall", 1.0), ("title_abstract", "recall", 0.8)]


def test_a_persons_extraction_settles_a_referred_report(folder: ReviewFolder) -> None:
    folder.protocol(FIELDS)
    folder.records(2)
    folder.texts({"r1": "Report one.", "r2": "Report two."})
    folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text="Sorry."))})
    assert set(folder.states("extraction").values()) == {"referred"}
    decide(folder, [{"record_id": "r1", "field": "people", "value": "40"}, {"record_id": "r1", "field": "dose", "value": "1 mg"}])
    assert folder.states("extraction") == {"r1": "extracted", "r2": "referred"}
    assert folder.rows("select field, value, reader from extracted order by 1") == [
        ("dose", '"1 mg"', "Anna"),
        ("people", "40", "Anna"),
    ]


def test_case_i14_no_placeholder_reaches_a_model(folder: ReviewFolder, cases: object) -> None:
    from pathlib import Path

    from litcascade.pipeline.importing import import_records

    case = Path(str(cases)) / "I14-missing-abstracts"
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    folder.protocol(ABSTRACTS)
    with folder.review.open(create=True) as store:
        import_records(store, case / "input.csv")
    seen: list[str] = []

    def answer(request: Request) -> Reply:
        seen.append(words(request))
        return Reply(key=request.key, text="no")

    folder.run({"m": ScriptedBackend(answer)})
    states = folder.states("title_abstract")
    assert len(states) == expected["n"]
    for record_id in expected["auto_exclude_forbidden"]:
        assert states[record_id] == "referred"
    for text in seen:
        for never in expected["never_sent_to_model_as_text"]:
            assert f">\n{never}\n<" not in text
