"""Faults that a hostile reviewer found, each through a public door."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.corpora import read_records, read_text_as
from litcascade.corpora.texts import Known, Matcher, read_document
from litcascade.errors import InputError, ProtocolError
from litcascade.pipeline.amending import amend
from litcascade.pipeline.importing import import_gold
from litcascade.pipeline.ledger import read_ledger
from litcascade.pipeline.scoring import score_review
from litcascade.pipeline.texts import import_texts
from litcascade.schemas import Reply, Request
from tests.pipeline.test_graph import decide
from tests.support.reviews import ABSTRACTS, FIELDS, HEAD, REPORTS, ReviewFolder
from tests.support.server import ModelServer, Say

YES = ScriptedBackend(lambda r: Reply(key=r.key, text="Decision: include"))
PANEL = """
[readers.one]
model = "m"
[readers.anna]
person = true
[readers.bob]
person = true
[stages.title_abstract]
readers = [{readers}]
votes = {votes}
"""


def panel(readers: str, votes: int = 2) -> str:
    return PANEL.format(readers=readers, votes=votes)


def said(folder: ReviewFolder, who: str, decision: str, record: str = "r1") -> None:
    decide(folder, [{"record_id": record, "stage": "title_abstract", "decision": decision}], by=who)


def state(folder: ReviewFolder, record: str = "r1") -> str:
    return folder.states("title_abstract")[record]


def test_two_people_as_readers_are_both_heard(folder: ReviewFolder) -> None:
    folder.protocol(panel('"anna", "bob"'))
    folder.records(1)
    folder.run({"m": YES})
    assert state(folder) == "referred"
    said(folder, "anna", "include")
    said(folder, "bob", "unsure")
    folder.run({"m": YES})
    assert state(folder) == "referred"
    said(folder, "bob", "include")
    folder.run({"m": YES})
    assert state(folder) == "included"
    said(folder, "bob", "exclude")  # corrected after the verdict
    folder.run({"m": YES})
    assert state(folder) == "excluded"


def test_a_person_in_the_panel_can_settle_a_record_without_abstract(folder: ReviewFolder) -> None:
    folder.protocol(panel('"one", "anna"', 1))
    folder.records([{"id": "r1", "title": "Zinc", "abstract": ""}])
    folder.run({"m": YES})
    said(folder, "anna", "include")
    folder.run({"m": YES})
    assert state(folder) == "included"


def test_people_give_no_scores(folder: ReviewFolder) -> None:
    with pytest.raises(ProtocolError, match="gives no score"):
        folder.protocol(panel('"one", "anna"') + 'policy = "threshold"\nthreshold = 0.5\n')


def test_a_panel_decision_under_earlier_criteria_no_longer_counts(folder: ReviewFolder) -> None:
    folder.protocol(panel('"one", "anna"'))
    folder.records(1)
    folder.run({"m": YES})
    said(folder, "anna", "include")
    folder.run({"m": YES})
    assert state(folder) == "included"
    folder.protocol(panel('"one", "anna"'), head=HEAD.replace("Adults took zinc.", "Children took zinc."))
    review = folder.review
    with review.open() as store:
        amend(review, store, "Anna", "children")
    folder.run({"m": YES})
    assert state(folder) == "referred"


def test_the_order_of_criteria_does_not_matter_and_a_stage_that_comes_back_is_remembered(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(1)
    folder.run({"m": YES})
    first, second = HEAD.index("[[criteria]]"), HEAD.rindex("[[criteria]]")
    swapped = HEAD[:first] + HEAD[second:] + HEAD[first:second]
    folder.protocol(ABSTRACTS, head=swapped)
    assert folder.run({"m": YES}).status == "complete"
    folder.protocol(REPORTS, head=swapped)
    folder.run({"m": YES})
    folder.protocol(ABSTRACTS, head=swapped.replace("Adults took zinc.", "Children took zinc."))
    with pytest.raises(InputError, match="litcascade amend"):
        folder.run({"m": YES})


def test_a_readers_own_labels_are_read_as_it_means_them(folder: ReviewFolder) -> None:
    own = ABSTRACTS.replace('prompt = "inclusion"', 'prompt = "inclusion"\nlabels = ["keep", "drop"]')
    folder.protocol(own)
    folder.records(2)
    folder.run(
        {"m": ScriptedBackend(lambda r: Reply(key=r.key, text="keep" if "trial 1." in r.messages[-1].content else "drop"))}
    )
    assert folder.states("title_abstract") == {"r1": "included", "r2": "excluded"}
    with pytest.raises(InputError, match="does not mean"):
        folder.protocol(ABSTRACTS.replace('prompt = "inclusion"', 'prompt = "inclusion"\nlabels = ["no", "yes"]'))


@pytest.mark.parametrize(
    "raw",
    [
        '{"choices": [{"message": {"content": "no\\ud83d"}, "finish_reason": "stop"}]}',
        '{"choices": [{"message": {"content": "no"}, "finish_reason": "stop"}], "usage": {"prompt_tokens": 1000000000000}}',
        '{"choices": [{"message": {"content": "no"}, "finish_reason": "stop", "logprobs": {"content": [{"token": "\\ud83d", "top_logprobs": 5}]}}]}',
        '{"choices": [{"message": {"content": 7}, "finish_reason": 3}], "usage": "none"}',
    ],
)
def test_one_odd_reply_takes_no_neighbour_along(folder: ReviewFolder, server: ModelServer, raw: str) -> None:
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(3)
    server.answer = lambda body: Say(raw=raw) if "trial 2" in json.dumps(body["messages"]) else Say("yes")
    assert folder.run().status == "complete"
    states = folder.states("title_abstract")
    assert states["r1"] == states["r3"] == "included"
    assert states["r2"] in ("excluded", "referred")
    assert folder.rows("select count(*) from calls where text is null or text <> ''")[0][0] >= 3


def test_a_lone_surrogate_inside_extracted_json_is_kept_harmless(folder: ReviewFolder) -> None:
    folder.protocol(FIELDS)
    folder.records(2)
    folder.texts({"r1": "One.", "r2": "Two."})
    text = '{"setting": {"quote": "\\ud83d x", "value": "hospital"}, "outcomes": {"quote": "", "value": []}, "people": {"quote": "", "value": null}, "dose": {"quote": "\\udfff", "value": "a\\ud83d"}}'
    assert folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text=text))}).status == "complete"
    assert set(folder.states("extraction").values()) == {"extracted"}


def test_importing_the_same_folder_again_changes_nothing(folder: ReviewFolder) -> None:
    folder.protocol(REPORTS)
    folder.records(1)
    where = folder.path / "t"
    where.mkdir()
    (where / "r1.md").write_text("First report of a trial.", encoding="utf-8")
    (where / "r1.txt").write_text("Second report of a trial.", encoding="utf-8")
    (where / "._r1.txt").write_bytes(b"\x00\x05\x16\x07 resource fork")
    for _ in range(2):
        with folder.review.open() as store:
            receipt = import_texts(store, where)
        assert [name for name, _ in receipt.clashes] == ["r1.txt"]
        assert folder.rows("select path from current_documents") == [("r1.md",)]
    good = (where / "r1.md").read_bytes()
    for content in (b"", good):
        (where / "r1.md").write_bytes(content)
        with folder.review.open() as store:
            import_texts(store, where)
    assert folder.rows("select path, state from current_documents") == [("r1.md", "parsed")]


def test_a_name_that_fits_two_records_matches_none(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("words", encoding="utf-8")
    document = read_document(tmp_path / "x.txt")
    matcher = Matcher([Known("S-1", None), Known("S_1", None), Known("研究", None)])
    assert matcher.match(document, Path("S-1.txt"))[0] == "S-1"
    assert matcher.match(document, Path("s 1.txt"))[0] is None
    assert matcher.match(document, Path("综述.txt"))[0] is None
    assert matcher.match(document, Path("研究.pdf"))[0] == "研究"


def test_a_stray_quotation_mark_swallows_no_record(tmp_path: Path) -> None:
    rows = 'id{d}title{d}abstract\n1{d}One{d}a1\n2{d}"Big Pharma and zinc{d}a2\n3{d}The "common cold" trial{d}a3\n'
    (tmp_path / "x.tsv").write_text(rows.format(d="\t"), encoding="utf-8")
    assert [record.record_id for record in read_records(tmp_path / "x.tsv")[0].records] == ["1", "2", "3"]
    (tmp_path / "x.csv").write_text(rows.format(d=","), encoding="utf-8")
    parsed, receipt = read_records(tmp_path / "x.csv")
    assert [record.record_id for record in parsed.records] == ["1", "3"]
    assert (receipt.in_file, receipt.refused) == (3, 1)
    assert (parsed.set_aside[0].line, parsed.set_aside[0].raw) == (3, '2,"Big Pharma and zinc,a2')


def test_ris_drops_no_part_of_an_abstract() -> None:
    text = (
        "TY  - JOUR\nID  - a\nTI  - One\nAB  - First part.\nAB  - Second part with\nER - positive cells and\nT1 - weighted scans\u2028here.\nER  - \n"
        "\ufeffTY  - JOUR\nID  - b\nTI  - Two\nER  - \n"
    )
    parsed = read_text_as("ris", text)
    assert [record.record_id for record in parsed.records] == ["a", "b"]
    abstract = parsed.records[0].abstract or ""
    assert abstract.replace("\u2028", " ") == "First part. Second part with ER - positive cells and T1 - weighted scans here."
    loose = read_text_as("ris", "TY - JOUR\nID - c\nTI - Three\nER -\n")
    assert loose.records[0].title == "Three"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.txt", "Methods\n\nn = 40 adults\n\nZinc 75 mg daily\n\nMortality 12%", ["n = 40 adults", "Zinc 75 mg daily", "Mortality 12%"]),
        ("a.xml", "<article><front><article-meta><abstract>Bare words.</abstract></article-meta></front><body>Loose <sec>inside &x; more<p>p1</p>tail</sec><disp-formula>E=1</disp-formula></body><floats-group><table-wrap><table><tr><td>n</td><td>7</td></tr></table></table-wrap></floats-group></article>", ["Bare words.", "Loose", "inside", "more", "p1", "tail", "E=1", "n | 7"]),
        ("b.xml", '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><profileDesc><abstract>Bare.</abstract></profileDesc></teiHeader><text><body><p>Direct.</p><div><head>H</head>loose<formula>F=2</formula><note>N3</note><div><p>inner</p></div></div></body></text></TEI>', ["Bare.", "Direct.", "loose", "F=2", "N3", "inner"]),
    ],
)  # fmt: skip
def test_no_text_of_a_report_is_dropped(tmp_path: Path, name: str, content: str, words: list[str]) -> None:
    (tmp_path / name).write_text(content.replace("&x;", ""), encoding="utf-8")
    text = read_document(tmp_path / name).text()
    for word in words:
        assert text.count(word) == 1, (word, text)


def test_damaged_gzip_and_odd_entities_end_in_a_state(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"words " * 500)[:40] + b"\xff\xff broken")
    assert read_document(tmp_path / "a.txt.gz").state.value == "broken"
    (tmp_path / "b.xml").write_text(
        '<!DOCTYPE article [<!ENTITY x "y">]><article><body><sec>&x;<p>text</p></sec></body></article>', encoding="utf-8"
    )
    assert "text" in read_document(tmp_path / "b.xml").text()


def test_scores_do_not_count_people_or_lose_what_waits(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS + 'referred = "pass"\n', REPORTS)
    folder.records([{"id": "a", "title": "A", "abstract": ""}, {"id": "b", "title": "B", "abstract": "Whole b."}])
    folder.texts({"a": "Report a.", "b": "Report b."})
    decide(folder, [{"record_id": "b", "stage": "title_abstract", "decision": "include"}])
    folder.gold([{"record_id": key, "title_abstract": "include", "full_text": "include"} for key in "ab"])
    folder.run(
        {
            "m": ScriptedBackend(
                lambda r: Reply(key=r.key, text="Decision: exclude" if "Report a" in r.messages[-1].content else "yes")
            )
        }
    )
    review = folder.review
    with review.open() as store:
        scores = score_review(review, store)
    assert scores.stages[0].left_out == {"decided by a person": 1}
    assert scores.cascade is not None
    assert scores.cascade.loss.end_to_end.value == 0.0  # a was passed on, and then excluded: it is lost
    assert "1 record(s)" in (scores.cascade.loss.end_to_end.note or "")  # b left the models' route to a person


def test_gold_without_includes_is_undefined_and_contradictions_are_refused(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(2)
    folder.run({"m": YES})
    folder.gold([{"record_id": "r1", "title_abstract": "exclude"}])
    review = folder.review
    with review.open() as store:
        scores = score_review(review, store)
        assert scores.cascade is not None
        assert scores.cascade.loss.end_to_end.value is None
    path = folder.table(
        "c.csv", [{"record_id": "r1", "title_abstract": "include"}, {"record_id": "r1", "title_abstract": "exclude"}]
    )
    with review.open() as store, pytest.raises(InputError, match="both exclude and include"):
        import_gold(review, store, path)
    folder.table("d.csv", [{"record_id": "r1", "title_abstract": "include", "label_abstract": "exclude"}])
    with review.open() as store:
        assert import_gold(review, store, folder.path / "d.csv").by_stage == {"title_abstract include": 1}


def test_values_of_an_earlier_text_are_not_shown_as_current(folder: ReviewFolder) -> None:
    folder.protocol(FIELDS)
    folder.records(1)
    folder.texts({"r1": "Ten people."})
    good = {"setting": "hospital", "outcomes": ["pain"], "people": 10, "dose": "1 mg"}
    text = json.dumps({name: {"quote": "", "value": value} for name, value in good.items()})
    folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text=text))})
    folder.texts({"r1": "Ninety-nine people."})
    folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text="Sorry."))})
    decide(folder, [{"record_id": "r1", "field": "setting", "value": "school"}])
    assert folder.rows("select field, value from extracted") == [("setting", '"school"')]
    with pytest.raises(InputError, match="moon base"):
        decide(folder, [{"record_id": "r1", "field": "setting", "value": "moon base"}])


def test_a_refine_question_of_two_readers_is_stored_once(folder: ReviewFolder) -> None:
    from litcascade.cli.tracing import show_trace

    two = REPORTS.replace('readers = ["prose"]', 'readers = ["prose", "other"]\nvotes = 1') + (
        '[readers.other]\nmodel = "m"\nprompt = "unstructured"\nstyle = "free"\nlabels = ["include", "exclude"]\n'
    )
    folder.protocol(two)
    folder.records(1)
    folder.texts({"r1": "Report."})
    assert callable(show_trace)
    import asyncio

    from litcascade.pipeline.binding import bind
    from litcascade.pipeline.recorder import Recorder
    from litcascade.pipeline.subjects import load_subjects
    from litcascade.pipeline.tracing import trace_record
    from litcascade.schemas import ModelRef

    class Slow(ScriptedBackend):
        async def ask(self, requests: Any) -> Any:
            await asyncio.sleep(0.01)
            async for came in super().ask(requests):
                yield came

    def answer(r: Request) -> Reply:
        return Reply(key=r.key, text="unclear" if r.purpose == "refine" else "Hard to say.")

    review = folder.review
    with review.open() as store:
        bound = bind(review, {"m": ModelRef(name="m")}, store)[0]
        subject = load_subjects(store, "full_text", ["r1"])[0]
        trace = asyncio.run(trace_record(bound, subject, {"m": Slow(answer)}, Recorder(store, "t")))
        assert trace.verdict
        assert store.value("select count(*) - count(distinct key) from calls") == 0


def test_status_of_a_stage_added_later_closes(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(2)
    folder.run({"m": YES})
    folder.protocol(ABSTRACTS, REPORTS)
    review = folder.review
    with review.open(read_only=True) as store:
        ledger = read_ledger(store, review.protocol)
    assert [stage.closes() for stage in ledger] == [True, True]
    assert ledger[1].entered == 2


def test_a_corrupt_checkpoint_file_and_odd_numbers_are_no_traceback(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(1)
    (folder.path / "run.checkpoints.sqlite").write_bytes(b"not a database at all " * 100)
    assert folder.run({"m": YES}).status == "complete"
    with pytest.raises(ProtocolError, match=r"too long|not valid"):
        folder.protocol(ABSTRACTS, "[budget]\ncalls = " + "9" * 5000 + "\n")


def test_replies_of_two_engine_versions_can_be_replayed(folder: ReviewFolder) -> None:
    from litcascade.pipeline.exporting import export

    folder.protocol(ABSTRACTS)
    folder.records(2)
    for engine in ("engine 1", "engine 2"):
        folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text="yes"), engine=engine)})
    review = folder.review
    with review.open() as store:
        export(review, store, "replies", folder.path / "replies.jsonl")
    other = ReviewFolder(folder.path.parent / "other")
    (other.path / "replies.jsonl").write_bytes((folder.path / "replies.jsonl").read_bytes())
    other.protocol(
        '[models.old]\nbackend = "recorded"\nfile = "replies.jsonl"\n', ABSTRACTS.replace('model = "m"', 'model = "old"')
    )
    other.records(2)
    assert other.run().status == "complete"


def test_nothing_of_people_is_written_over(folder: ReviewFolder) -> None:
    from litcascade.pipeline.exporting import export

    folder.protocol(ABSTRACTS)
    folder.records([{"id": "a", "title": "A", "abstract": ""}])
    folder.run({"m": YES})
    review = folder.review
    with review.open() as store:
        for name in ("review.duckdb", "review.toml"):
            with pytest.raises(InputError, match="part of the review itself"):
                export(review, store, "queue", folder.path / name, force=True)
        export(review, store, "queue", folder.path / "q.csv")
        with pytest.raises(InputError, match="--force"):
            export(review, store, "queue", folder.path / "q.csv")
        assert export(review, store, "queue", folder.path / "q.csv", force=True).rows == 1


def test_a_persons_values_outlive_a_new_text_and_displace_the_models(folder: ReviewFolder) -> None:
    folder.protocol(FIELDS)
    folder.records(1)
    folder.texts({"r1": "Ten people."})
    good = {"setting": "hospital", "outcomes": ["pain"], "people": 10, "dose": "1 mg"}
    text = json.dumps({name: {"quote": "", "value": value} for name, value in good.items()})
    folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text=text))})
    decide(folder, [{"record_id": "r1", "field": "people", "value": "12"}])
    current = "select field, value from extracted order by field"
    assert dict(folder.rows(current))["people"] == "12"
    assert len(folder.rows(current)) == 4
    folder.texts({"r1": "A better scan: twelve people."})
    assert folder.rows(current) == [("people", "12")]


def test_a_cited_papers_doi_is_not_the_papers_own(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_text(
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body><div><p>Text.</p></div></body><back><div><listBibl>'
        '<biblStruct><idno type="DOI">10.5555/cited</idno></biblStruct></listBibl></div></back></text></TEI>',
        encoding="utf-8",
    )
    assert read_document(tmp_path / "x.xml").doi is None


def test_captions_notes_and_appendices_are_kept(tmp_path: Path) -> None:
    (tmp_path / "t.xml").write_text(
        '<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><div><p>Text.</p></div><figure><head>F1</head><figDesc>Flow of 120 adults</figDesc></figure>'
        '<figure type="table"><figDesc>T</figDesc><table><row><cell>n</cell><cell>37</cell></row></table><note>mean (SD)</note></figure></body>'
        '<back><div type="annex"><div><p>Annex words.</p></div></div><div type="references"><listBibl/></div></back></text></TEI>',
        encoding="utf-8",
    )
    (tmp_path / "j.xml").write_text(
        '<article><front><article-meta><abstract abstract-type="teaser"><p>Teaser.</p></abstract><abstract><p>Main.</p></abstract></article-meta></front>'
        "<body><p>Text.</p></body><back><app-group><app><title>A</title><p>Appendix words.</p></app></app-group></back>"
        "<floats-group><fig><label>F2</label><caption><p>Floating caption.</p></caption></fig></floats-group></article>",
        encoding="utf-8",
    )
    for name, words in (
        ("t.xml", ["Flow of 120 adults", "n | 37", "mean (SD)", "Annex words."]),
        ("j.xml", ["Teaser.", "Main.", "Appendix words.", "Floating caption."]),
    ):
        text = read_document(tmp_path / name).text()
        for word in words:
            assert text.count(word) == 1, (word, text)


def test_reasons_of_panel_members_are_kept_and_names_match_whatever_their_case(folder: ReviewFolder) -> None:
    folder.protocol(panel('"one", "anna"'))
    folder.records(1)
    folder.run({"m": YES})
    row = {"record_id": "r1", "stage": "title_abstract", "decision": "exclude", "criterion": "E1", "note": "an overview"}
    decide(folder, [row], by="Anna")  # type: ignore[list-item]
    assert folder.rows("select who, criterion, note from person_readings") == [("anna", "E1", "an overview")]
    assert folder.rows("select count(*) from adjudications") == [(0,)]
    with pytest.raises(InputError, match="both include and exclude"):
        decide(folder, [{**row, "who": "Carl", "decision": "include"}, {**row, "who": "Dora"}])


def test_two_joined_exports_with_other_habits_keep_every_record() -> None:
    parsed = read_text_as(
        "ris",
        "TY  - JOUR\nID  - a\nTI  - One\nER  - 1\nTY - JOUR\nID - b\nTI - Two\nER -\nTY  - JOUR\nID  - c\nTI  - Three\n",
        "x",
    )
    assert [(record.record_id, record.title) for record in parsed.records] == [("a", "One"), ("b", "Two"), ("c", "Three")]
    assert [item.reason for item in parsed.set_aside] == ["stands behind an end tag"]


def test_a_queue_filled_in_under_earlier_criteria_is_kept_and_queued_again(folder: ReviewFolder) -> None:
    from litcascade.pipeline.exporting import export

    folder.protocol(ABSTRACTS)
    folder.records([{"id": "a", "title": "A", "abstract": ""}])
    folder.run({"m": YES})
    review = folder.review
    with review.open() as store:
        export(review, store, "queue", folder.path / "q.csv")
    folder.protocol(ABSTRACTS, head=HEAD.replace("Adults took zinc.", "Children took zinc."))
    changed = folder.review
    with changed.open() as store:
        amend(changed, store, "Anna", "children")
    folder.run({"m": YES})
    text = (folder.path / "q.csv").read_text(encoding="utf-8").replace("a,title_abstract,,", "a,title_abstract,include,")
    (folder.path / "q.csv").write_text(text, encoding="utf-8")
    from litcascade.pipeline.importing import import_decisions

    with changed.open() as store:
        import_decisions(changed, store, folder.path / "q.csv", "Anna")
    assert folder.rows("select state, code from title_abstract") == [("referred", "decided under earlier criteria")]
    assert folder.rows("select decision from adjudications") == [("include",)]


def test_what_looks_like_utf16_and_is_not_stops_no_folder(folder: ReviewFolder) -> None:
    folder.protocol(REPORTS)
    folder.records(2)
    where = folder.path / "t"
    where.mkdir()
    (where / "r1.txt").write_bytes(b"A\0" * 200 + b"\x00\xd8" + b"A\0" * 50)
    (where / "r2.txt").write_text("A good report.", encoding="utf-8")
    with folder.review.open() as store:
        receipt = import_texts(store, where)
    assert receipt.states == {"broken": 1, "parsed": 1}


@pytest.mark.parametrize(
    ("stage", "words"),
    [
        ('[stages.title_abstract]\nreaders = ["one", "one"]\n', "named twice"),
        ('[stages.title_abstract]\nreaders = ["one"]\nthreshold = 0.5\n', "do nothing under"),
        ('[stages.title_abstract]\nreaders = ["free"]\npolicy = "threshold"\nthreshold = 0.5\n', "gives no score"),
        ('[stages.title_abstract]\nreaders = ["one"]\nrefiner = "one"\n', "belongs to full_text"),
        ('[stages.extraction]\nreaders = ["shown"]\n', "at the screening stages"),
    ],
)
def test_keys_that_would_do_nothing_are_refused(folder: ReviewFolder, stage: str, words: str) -> None:
    readers = (
        '[readers.one]\nmodel = "m"\n[readers.free]\nmodel = "m"\nstyle = "free"\n[readers.shown]\nmodel = "m"\nshots = ["a"]\n'
    )
    with pytest.raises(ProtocolError, match=words):
        folder.protocol(readers + stage)


def test_a_trace_on_a_fresh_review_settles_its_record(folder: ReviewFolder, server: ModelServer) -> None:
    from litcascade.cli.tracing import show_trace

    folder.protocol(ABSTRACTS, REPORTS, url=server.url)
    folder.records(2)
    assert show_trace(folder.review, "r1", False, True) == 0
    assert folder.states("title_abstract") == {"r1": "included", "r2": "pending"}
    server.answer = lambda _: Say(status=500, raw="down")
    assert show_trace(folder.review, "r2", False, True) == 3


def test_yield_counts_papers_that_were_not_extracted(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS, REPORTS, FIELDS)
    folder.records(6)
    folder.texts({f"r{i}": f"Report {i}." for i in range(1, 7)})
    folder.gold([{"record_id": f"r{i}", "title_abstract": "include", "full_text": "include"} for i in range(1, 7)])
    folder.gold([{"record_id": f"r{i}", "field": "people", "value": "40"} for i in range(1, 5)], "f.csv")
    values = {"setting": "hospital", "outcomes": ["pain"], "people": 40, "dose": "1 mg"}
    text = json.dumps({name: {"quote": "", "value": value} for name, value in values.items()})

    def answer(r: Request) -> Reply:
        if r.shape.kind != "json":
            return Reply(key=r.key, text="Decision: include" if r.sampling.max_tokens > 100 else "yes")
        return Reply(key=r.key, text=text if "Report 1" in str(r.messages) else "Sorry.")

    folder.run({"m": ScriptedBackend(answer)})
    review = folder.review
    with review.open() as store:
        scores = score_review(review, store)
    assert scores.cascade is not None
    found = scores.cascade.extraction
    assert found is not None
    assert (found.end_to_end.value, found.coverage.value, found.complete.value) == (1.0, 0.25, 0.25)
    assert found.extraction_yield.value == 0.25
    assert scores.fields.scores["people"].n == 1
