"""The report of a review: every number is a query on the store, the boxes close, nothing is left out in silence."""

import json
import math
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html

from litcascade.backends.scripted import ScriptedBackend
from litcascade.corpora.labels import PairWord
from litcascade.corpora.sets import SETS
from litcascade.errors import InputError
from litcascade.pipeline.amending import amend
from litcascade.pipeline.comparing.comparing import compare_sides
from litcascade.pipeline.comparing.sides import load_sides
from litcascade.pipeline.comparing.telling import comparison_page, plain, tables_of
from litcascade.pipeline.corpus import load_corpus
from litcascade.pipeline.duplicates import deduplicate, record_words
from litcascade.pipeline.importing import import_records
from litcascade.pipeline.judging.reporting import judge_report
from litcascade.pipeline.report_page.assembling import report_page
from litcascade.pipeline.report_page.prisma import prisma_blocks, prisma_flow
from litcascade.pipeline.report_page.repeat import without_secrets
from litcascade.pipeline.schema_drafting.words import freeze_words, record_word
from litcascade.report.flow import Box, Flow, Step
from litcascade.report.html import page_html
from litcascade.report.markdown import page_markdown
from litcascade.report.page import Prose
from litcascade.schemas import Reply, Request, TokenLogprobs
from litcascade.store import Store, now
from tests.conftest import CORPORA, need
from tests.desk.making import harmonised, proposed
from tests.pipeline import test_judging as judging
from tests.pipeline.test_graph import decide
from tests.pipeline.test_harmonising import import_
from tests.support.reviews import ABSTRACTS, FIELDS, HEAD, REPORTS, ReviewFolder


def tree_of(text: str) -> Any:
    """The page as parsed; lxml's own types are too wide to be read with."""
    return lxml_html.document_fromstring(text)


PANEL = """
[readers.one]
model = "m"
[readers.two]
model = "m"
prompt = "inclusion"
[stages.title_abstract]
readers = ["one", "two"]
policy = "threshold"
threshold = 0.5
"""
EVIL = "<script>alert('x')</script><img src=http://evil.example/x onerror=alert(1)>"
INCLUDES = (1, 2, 3, 4, 5, 9)


def answer(request: Request) -> Reply:
    """Scores by the number of the trial: what is past 4 scores low, so that trial 5 is missed. Report 3 is not understood."""
    asked = request.messages[-1].content
    if "REPORT" in asked or request.purpose != "ask":
        number = int(asked.split("REPORT ")[1].split()[0]) if "REPORT" in asked else 3
        said = {3: "Who knows.", 4: "Decision: exclude"}.get(number, "Decision: include")
        return Reply(key=request.key, text=said, prompt_tokens=40, completion_tokens=3, seconds=0.25)
    number = int(asked.split("trial ")[1].split()[0].rstrip(".")) if "trial " in asked else 9
    p = 0.9 if number <= 4 else 0.2
    top = (("yes", math.log(p)), ("no", math.log1p(-p)))
    return Reply(
        key=request.key, text="yes" if p > 0.5 else "no", prompt_tokens=10 + number, completion_tokens=1, seconds=0.125,
        logprobs=(TokenLogprobs(token="yes" if p > 0.5 else "no", top=top),),
    )  # fmt: skip


def rows_of(numbers: range, title: str = "Zinc") -> list[dict[str, str | None]]:
    return [{"id": f"r{n}", "title": f"{title} trial {n} <b>&</b>", "abstract": f"Forty adults, trial {n}."} for n in numbers]


@pytest.fixture
def screened(folder: ReviewFolder) -> ReviewFolder:
    """Ten records, two without abstract; of six gold includes the models miss one, and a person excludes one."""
    folder.protocol(PANEL, REPORTS)
    folder.records(
        [
            *rows_of(range(1, 9)),
            {"id": "r9", "title": EVIL, "abstract": ""},
            {"id": "ra", "title": "Nor here", "abstract": ""},
        ]
    )
    folder.gold([{"record_id": f"r{n}", "title_abstract": "include" if n in INCLUDES else "exclude"} for n in range(1, 10)])
    folder.run({"m": ScriptedBackend(answer)})
    folder.texts({f"r{n}": f"REPORT {n} of zinc, forty adults. " * 5 for n in (1, 2, 3, 4)})
    decide(
        folder,
        [{"record_id": "r9", "stage": "title_abstract", "decision": "exclude", "criterion": "E1", "note": EVIL}],
        by=f"Ada {EVIL}",
    )
    folder.run({"m": ScriptedBackend(answer)})
    folder.gold([{"record_id": f"r{n}", "full_text": "include" if n != 2 else "exclude"} for n in (1, 2, 3, 4)], "gold_ft.csv")
    return folder


def parsed(folder: ReviewFolder) -> tuple[Any, str]:
    with folder.review.open() as store:
        text = page_html(report_page(folder.review, store))
    return tree_of(text), text


def table(tree: Any, title: str) -> list[list[Any]]:
    """A table by its title: numbers unrounded, a dash as None."""
    found = tree.xpath("//table[@aria-label=$title]", title=title)
    assert len(found) == 1, [node.get("aria-label") for node in tree.xpath("//table")]
    return [[_value(cell) for cell in row.xpath("./td")] for row in found[0].xpath("./tbody/tr")]


def _value(cell: Any) -> Any:
    exact = cell.get("data-value")
    if exact is None:
        return None if cell.text_content() == "–" else cell.text_content()
    return float(exact) if "." in exact or "e" in exact else int(exact)


def test_the_boxes_are_the_ledger_and_close(screened: ReviewFolder) -> None:
    tree, _ = parsed(screened)
    counts = {(row[2], row[3]): row[4] for row in table(tree, "Boxes of the flow diagram")}

    def sql(query: str) -> int:
        return int(screened.rows(query)[0][0])

    assert counts["Records identified", None] == sql("select count(*) from records") == 10
    assert counts["Records excluded", None] == sql("select count(*) from title_abstract where state = 'excluded'")
    assert counts["Records excluded", "by people"] == 1
    assert counts["Records excluded", "by models"] == sql(
        "select count(*) from verdicts join current_stages using (stage, fingerprint) where stage = 'title_abstract' and state = 'excluded'"
    )
    assert counts["Records that wait for people", None] == sql("select count(*) from queue where stage = 'title_abstract'") == 1
    assert counts["Reports sought for retrieval", None] == sql("select count(*) from title_abstract where state = 'included'")
    assert counts["Reports not retrieved", None] == sql("select count(*) from full_text where document_id is null")
    assert counts["Reports excluded", "no criterion named, by models"] == 1
    assert counts["Reports included", None] == sql("select count(*) from full_text where state = 'included'") == 2
    assert counts["Reports included", "studies that they belong to"] == 2
    assert tree.xpath("//p[@class='warning']") == []
    assert "Every box equals what leaves it" in tree.text_content()


def test_the_tables_are_what_sql_says(screened: ReviewFolder) -> None:
    tree, _ = parsed(screened)
    ledger = {row[0]: row for row in table(tree, "Ledger (records)")}
    for stage in ("title_abstract", "full_text"):
        entered, passed = screened.rows(f"select count(*), count(*) filter (passes) from {stage}")[0]
        assert (ledger[stage][1], ledger[stage][-1]) == (entered, passed)
    matrix = screened.rows(
        "select count(*) filter (gold = 'include' and state <> 'excluded'), count(*) filter (gold = 'exclude' and state <> 'excluded'), "
        "count(*) filter (gold = 'include' and state = 'excluded'), count(*) filter (gold = 'exclude' and state = 'excluded') from ("
        "select g.decision as gold, v.state from current_gold g join verdicts v using (record_id, stage) "
        "join current_stages using (stage, fingerprint) where stage = 'title_abstract')"
    )[0]
    scores = {row[0]: row[1] for row in table(tree, "Scores at title_abstract (models against gold, n = 9)")}
    assert tuple(scores[name] for name in ("TP", "FP", "FN", "TN")) == matrix == (5, 0, 1, 3)
    assert scores["recall"] == 5 / 6
    calls = {(row[0]): row for row in table(tree, "Calls by stage and model")}
    for stage, count, prompt, seconds in screened.rows(
        "select stage, count(*), sum(prompt_tokens), sum(seconds) from calls group by 1"
    ):
        assert (calls[stage][2], calls[stage][3], calls[stage][6]) == (count, prompt, pytest.approx(seconds))
    rates = {(row[0], row[1]): row[2:5] for row in table(tree, "Reliability rate")}
    for stage, reader, orderly, total in screened.rows(
        "select stage, reader, sum(orderly::int), count(*) from readings where len(calls) > 0 group by 1, 2"
    ):
        assert rates[stage, reader] == [orderly, total, pytest.approx(orderly / total)]
    imports = table(tree, "By import: where its records stand")
    assert [row[3] for row in imports] == [10, 4]
    runs = table(tree, "Runs")
    assert [row[0] for row in runs] == [row[0] for row in screened.rows("select run_id from runs order by seq")]
    said = {tuple(row[:3]): row[3] for row in table(tree, "What people decided, by what the models had said")}
    assert said == {("title_abstract", "referred", "exclude"): 1}


def test_lost_records_are_named_with_who_why_and_score(screened: ReviewFolder) -> None:
    tree, _ = parsed(screened)
    lost = table(tree, "Gold includes lost at title_abstract")
    score = screened.rows("select score from title_abstract where record_id = 'r5'")[0][0]
    assert [(row[0], row[2], row[3], row[5]) for row in lost] == [
        ("r5", "excluded", "models: one, two", score), ("r9", "excluded", f"Ada {EVIL}", pytest.approx(0.2)),
    ]  # fmt: skip
    assert (lost[1][1], lost[1][6]) == (EVIL, EVIL)
    assert table(tree, "Gold includes lost at full_text")[0][0] == "r4"
    assert "Decision: exclude" in table(tree, "Gold includes lost at full_text")[0][6]


def test_figures_carry_the_data_they_are_drawn_from(screened: ReviewFolder) -> None:
    tree, _ = parsed(screened)
    figures = tree.xpath("//figure")
    assert len(figures) >= 5
    for figure in figures:
        assert figure.xpath(".//*[local-name()='svg']/*[local-name()='title']")
        assert figure.xpath(".//details/summary")[0].text == "Data"
        assert figure.xpath(".//table/tbody/tr")
    bins = table(tree, "Scores at title_abstract: data")
    assert sum(sum(row[2:]) for row in bins) == screened.rows("select count(score) from title_abstract")[0][0]
    calibration = table(tree, "Reliability of the scores at title_abstract: data")
    assert sum(row[2] for row in calibration) == 9
    frontier = table(tree, "What recall costs at title_abstract: data")
    assert frontier[0] == ["as it ran", None, 4 / 9, 5 / 6]
    sweep = table(tree, "WMCC over w at title_abstract: data")
    assert {row[0] for row in sweep} == {"this stage", "one", "two"}


def test_what_papers_and_people_wrote_is_text(screened: ReviewFolder) -> None:
    tree, text = parsed(screened)
    assert tree.xpath("//script | //img") == []
    assert EVIL in tree.text_content()
    assert "<script" not in text
    assert all(value.startswith("#") for value in tree.xpath("//@href | //@src"))
    with screened.review.open() as store:
        assert "<script" not in page_markdown(report_page(screened.review, store))


def test_a_review_without_anything_still_gives_a_page(folder: ReviewFolder) -> None:
    folder.protocol(PANEL, REPORTS, FIELDS)
    with folder.review.open(create=True) as store:
        page = report_page(folder.review, store)
    tree = tree_of(page_html(page))
    assert len(tree.xpath("//section")) == len(page.sections)
    for section in tree.xpath("//section"):
        assert section.xpath(".//p | .//table | .//figure | .//ul"), section.get("id")
    assert "Nothing was imported from a file" in tree.text_content()
    for words in (
        "no gold labels",
        "Nothing was run yet",
        "never amended",
        "No person has decided",
        "No judge was run",
        "No value is extracted",
        "No free-text field was harmonised",
        "The extraction schema was not developed",
    ):
        assert words in tree.text_content()


def test_extracted_values_and_their_scores_are_those_of_the_store(folder: ReviewFolder) -> None:
    folder.protocol(FIELDS)
    folder.records(2)
    folder.texts({"r1": "Forty people in a hospital.", "r2": "Nobody said where."})
    empty = {name: {"quote": "", "notes": "", "value": None} for name in ("setting", "people", "dose")} | {
        "outcomes": {"quote": "", "notes": "", "value": []}
    }
    found = empty | {"setting": {"quote": "in a hospital", "notes": "", "value": "hospital"}}
    replies = {True: json.dumps(found), False: json.dumps(empty)}
    folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text=replies["Forty people" in r.messages[-1].content]))})
    folder.gold([{"record_id": f"r{n}", "field": "setting", "value": "hospital"} for n in (1, 2)])
    tree, _ = parsed(folder)
    values = {(row[0], row[1]): row[2] for row in table(tree, "Extracted values")}
    assert values == {
        (key, name): value for key, name, value in folder.rows("select record_id, field, value::text from extracted")
    }
    assert values["r1", "setting"] == '"hospital"'
    assert [row[1:6] for row in table(tree, "By import: where its records stand")] == [["records.csv", "extraction", 2, 0, 0]]
    assert table(tree, "By import: where its records stand")[0][6] == 2  # extracted
    assert "no screening stage, so there is nothing to tell by length" in tree.text_content()
    scores = {row[0]: row for row in table(tree, "Extraction")}
    assert scores["setting"][3:6] == [2, 1, 0]  # of two gold values one is right, none wrong
    assert table(tree, "Boxes of the flow diagram")[-1][4] == 2
    assert "nothing is screened in this review" in tree.text_content()


def test_harmonised_values_are_those_of_the_view(folder: ReviewFolder) -> None:
    harmonised(folder)
    import_(folder, [{"item": "a mixed plan", "label": "Observed", "field": "design"}], by=f"Ada {EVIL}")
    tree, text = parsed(folder)
    assert "<script" not in text
    for name, label, items, records, exact, model, person in table(tree, "Harmonised values"):
        where = f"from harmonised where field = '{name}' and flag is null and list_contains(labels, '{label}')"
        assert folder.rows(
            f"select count(*), count(distinct record_id), sum((how = 'exact')::int), sum((how = 'model')::int), sum((how = 'person')::int) {where}"
        ) == [(items, records, exact, model, person)]
    assert [row[1:3] for row in table(tree, "Harmonised values")] == [["Randomised", 3], ["Observed", 2]]
    waits = {(row[0], row[1]): row[2] for row in table(tree, "Items that wait for people")}
    assert waits == {
        (name, why): count
        for name, why, count in folder.rows(
            "select field, flag, count(distinct item_id) from harmonised where flag is not null group by 1, 2"
        )
    }
    assert [row[1:5] for row in table(tree, "Comparisons")] == [["Zinc", "sugar", "pain", "first better"]]
    rows = table(tree, "Harmonised items")
    assert len(rows) == folder.rows("select count(*) from harmonised")[0][0]
    assert next(row[3:] for row in rows if row[0] == "r5") == ["Observed", "person", None, "were formed", f"Ada {EVIL}"]
    assert [row[:2] + row[3:] for row in table(tree, "Label sets")] == [["design", 1, "Ada", "Randomised, Observed", "yes"]]


def test_the_schema_is_told_with_versions_decisions_and_differences(folder: ReviewFolder) -> None:
    proposed(folder)
    with folder.review.open() as store:
        record_word(store, "p1", "accept", "Ben")
        record_word(store, "p2", "refuse", "Ben", note=EVIL)
        freeze_words(folder.review, store, "Cleo")
        record_word(store, "p2", "accept", "Ada")
        freeze_words(folder.review, store, "Cleo")
    tree, text = parsed(folder)
    assert "<script" not in text
    assert [row[:1] + row[2:4] for row in table(tree, "Frozen versions of the schema")] == [
        list(row) for row in folder.rows("select version, author, fields from schema_versions order by version")
    ]  # fmt: skip
    assert table(tree, "What each version changed") == [[2, "added", "people", None, None, None]]
    assert [row[:5] for row in table(tree, "Decisions on proposals")] == [
        [1, "p1", "merge", "accept", "Ben"], [1, "p2", "new", "refuse", "Ben"],
        [2, "p1", "merge", "accept", "Ben"], [2, "p2", "new", "accept", "Ada"],
    ]  # fmt: skip
    (row,) = table(tree, "Passes that made proposals")
    assert row[4:] == [
        *folder.rows("select candidates from schema_passes")[0],
        *folder.rows("select count(*) filter (fault is null), count(*) filter (fault is not null) from schema_proposals")[0],
    ]
    assert "5 paper(s) were drawn; of 5 a raw report was read, of 0 none could be." in tree.text_content()


def test_a_whole_review_of_lassa_agrees_with_sql(tmp_path: Path, corpora: Path) -> None:
    load_corpus(SETS.get("lassa").load(corpora / "lassa"), tmp_path / "lassa")
    folder = ReviewFolder(tmp_path / "lassa")
    with folder.review.open() as store:
        store.append("stage_versions", [{"run_id": "run-1", "stage": "title_abstract", "position": 0, "fingerprint": "f",
                                         "criteria_hash": "c", "referred": "wait"}])  # fmt: skip
        verdicts = [
            {"at_time": now(), "run_id": "run-1", "stage": "title_abstract", "fingerprint": "f", "record_id": key,
             "state": "referred" if n % 11 == 0 else "included" if n % 3 else "excluded", "score": n % 100 / 100}
            for n, (key,) in enumerate(store.rows("select record_id from records order by seq"))
            if n % 50
        ]  # fmt: skip
        store.append("verdicts", verdicts)
    tree, text = parsed(folder)
    boxes = {(row[2], row[3]): row[4] for row in table(tree, "Boxes of the flow diagram")}
    counts = dict(folder.rows("select state, count(*) from title_abstract group by 1"))
    assert boxes["Records identified", None] == 2817 == sum(counts.values())
    assert boxes["Records excluded", None] == counts["excluded"]
    assert boxes["Records that wait for people", None] == counts["referred"]
    assert boxes["Records not judged yet", None] == counts["pending"] == 57
    assert boxes["Records included", None] == counts["included"]
    assert tree.xpath("//p[@class='warning']") == []
    judged = "select {} from current_gold g join title_abstract s using (record_id) where g.stage = 'title_abstract' and s.state <> 'pending'"
    tp, fn, tn = folder.rows(
        judged.format(
            "count(*) filter (decision = 'include' and state <> 'excluded'), count(*) filter (decision = 'include' and state = 'excluded'), "
            "count(*) filter (decision = 'exclude' and state = 'excluded')"
        )
    )[0]
    scores = {row[0]: row[1] for row in table(tree, "Scores at title_abstract (models against gold, n = 2760)")}
    assert (scores["TP"], scores["FN"], scores["TN"]) == (tp, fn, tn)
    assert scores["recall"] == pytest.approx(tp / (tp + fn))
    assert len(table(tree, "Gold includes lost at title_abstract")) == fn
    bins = table(tree, "Scores at title_abstract: data")
    assert sum(sum(row[2:]) for row in bins) == folder.rows("select count(score) from title_abstract")[0][0]
    assert len(text) < 3_000_000


def test_judges_stand_with_whether_their_labels_support_them(folder: ReviewFolder) -> None:
    judging.make(folder)
    judging.ask(folder, judging.judge_says)
    with folder.review.open() as store:
        found = judge_report(folder.review, store)
    tree, _ = parsed(folder)
    shares = table(tree, "Extraction by judges, corrected for their errors")
    assert [(row[0], row[1], row[2], row[9]) for row in shares] == [
        (one.field, one.measure, one.items, one.share.support) for one in found.done.calibrations
    ]
    assert {row[9] for row in shares} == {"unsupported"}  # nobody labelled anything, so no share is corrected
    assert [row[6] for row in shares] == [None] * len(shares)
    assert table(tree, "Judges against people's labels")


def test_reports_and_the_studies_they_belong_to_are_counted_apart(folder: ReviewFolder) -> None:
    folder.protocol(PANEL)
    folder.records(rows_of(range(1, 5)))
    folder.run({"m": ScriptedBackend(answer)})
    with folder.review.open() as store:
        record_words(store, [PairWord("r1", "r2", "same study", "Ada"), PairWord("r3", "r4", "same", "Ada")], None, "here")
        deduplicate(store)
    tree, _ = parsed(folder)
    boxes = {(row[2], row[3]): row[4] for row in table(tree, "Boxes of the flow diagram")}
    (included,) = folder.rows("select count(*) from title_abstract where state = 'included'")[0]
    assert boxes["Records included", None] == included == 3
    assert boxes["Records included", "studies that they belong to"] == 2
    assert boxes["Duplicate records removed before screening", None] == 1
    assert tree.xpath("//p[@class='warning']") == []


@pytest.fixture(scope="module")
def judged_lassa(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Store]]:
    """The page of lassa with two readers' scores, calls, failures and people's decisions, beside its open store."""
    need("corpora", CORPORA.is_dir(), "the corpora are not beside this checkout (../shared/corpora)")
    folder = ReviewFolder(tmp_path_factory.mktemp("judged") / "lassa")
    load_corpus(SETS.get("lassa").load(CORPORA / "lassa"), folder.path)
    folder.protocol(PANEL)
    text = (folder.path / "review.toml").read_text(encoding="utf-8")
    (folder.path / "review.toml").write_text(
        text.replace('backend = "http"', 'backend = "http"\ncutoff = 2015-06-30'), encoding="utf-8"
    )
    review = folder.review
    with review.open() as store:
        gold = dict(store.rows("select record_id, decision from current_gold where stage = 'title_abstract'"))
        ids = [row[0] for row in store.rows("select record_id from records order by seq")]
        store.append("runs", [{"run_id": "run-1", "at_time": now(), "protocol_hash": review.protocol.hash(), "models": "{}"}])
        store.append("stage_versions", [{"run_id": "run-1", "stage": "title_abstract", "position": 0, "fingerprint": "f",
                                         "criteria_hash": review.protocol.criteria_hash("title_abstract"), "referred": "wait"}])  # fmt: skip
        where = {"run_id": "run-1", "stage": "title_abstract"}
        verdicts, readings, calls = [], [], []
        for n, key in enumerate(ids):
            if n % 40 == 0:
                continue
            scores = [(37 * n % 60 + 40 * (gold.get(key) == "include") + shift) / 128 for shift in (0, 9)]
            for reader, score in zip(("one", "two"), scores, strict=True):
                call = f"{key}-{reader}"
                readings.append({**where, "fingerprint": "f", "record_id": key, "reader": reader, "score": score,
                                 "decision": "include" if score >= 0.5 else "exclude", "orderly": n % 9 > 0, "calls": [call]})  # fmt: skip
                calls.append({**where, "key": call, "at_time": now(), "record_id": key, "reader": reader, "model": "m",
                              "prompt_tokens": 300 + n % 700, "cached_tokens": n % 5, "completion_tokens": 1, "seconds": 0.25})  # fmt: skip
            mean = sum(scores) / 2
            state = "referred" if n % 11 == 0 else "included" if mean >= 0.5 else "excluded"
            verdicts.append({**where, "at_time": now(), "fingerprint": "f", "record_id": key, "state": state, "score": mean,
                             "code": "no abstract" if state == "referred" else None})  # fmt: skip
        for name, rows in (("verdicts", verdicts), ("readings", readings), ("calls", calls)):
            store.append(name, rows)
        store.append(
            "failures", [{**where, "at_time": now(), "record_id": key, "key": key, "error": "gone"} for key in ids[:400:40]]
        )
        said = [
            {"adjudication_id": key, "at_time": now(), "stage": "title_abstract", "record_id": key, "who": ("Ada", "Ben")[n % 2],
             "unsure": False, "decision": "include" if n % 4 else "exclude",
             "criteria_hash": review.protocol.criteria_hash("title_abstract")}
            for n, key in enumerate(ids[11:1000:11])
        ]  # fmt: skip
        store.append("adjudications", said)
        yield tree_of(page_html(report_page(review, store))), store


_GOLD = "(select * from current_gold where stage = 'title_abstract')"
_JUDGED = f"{_GOLD} g join verdicts v using (record_id)"
_FOUND = "(g.decision = 'include' and v.state <> 'excluded')"
QUERIES = {  # title of a table: the columns that a query gives, and the query
    "Ledger (records)": (
        [0, 1, -1], "select 'title_abstract', count(*), count(*) filter (state = 'included') from title_abstract"
    ),
    "Referred to people": (
        [1, 2], "select code, count(*) from title_abstract where state = 'referred' group by 1 order by 1"
    ),
    "Gold includes lost at title_abstract": (
        [0, 2, 5], f"select s.record_id, s.state, s.score from title_abstract s join {_GOLD} g using (record_id) "
        "where g.decision = 'include' and s.state = 'excluded' order by s.score, s.record_id"
    ),
    "What people decided, by what the models had said": (
        [1, 2, 3], "select coalesce(v.state, 'no verdict'), a.decision, count(*) from adjudications a left join verdicts v using (record_id) "
        "group by 1, 2 order by 1, 2"
    ),
    "Reliability rate": (
        [1, 2, 3, 4], "select reader, count(*) filter (orderly), count(*), avg(orderly::int) from readings group by 1 order by 1"
    ),
    "Calls by stage and model": (
        [1, 2, 3, 4, 5, 6, 7], "select model, count(*), sum(prompt_tokens)::int, sum(cached_tokens)::int, sum(completion_tokens)::int, "
        "sum(seconds), count(*) / count(distinct record_id) from calls group by 1"
    ),
    "How long calls took": (
        [0, 2, 3, 5], "select stage, count(*), (list_sort(list(seconds))[(count(*) + 1) // 2] + list_sort(list(seconds))[count(*) // 2 + 1]) "
        "/ 2, max(seconds) from calls group by 1"
    ),
    "Requests without a reply": ([1, 2], "select count(*), count(distinct record_id) from failures"),
    "Decisions of people": ([0, 1], "select who, count(*) from adjudications group by 1 order by 1"),
    "By import: where its records stand": (
        [3, 4, 5], "select count(*), count(*) filter (state = 'included'), count(*) filter (state = 'excluded') from title_abstract"
    ),
    "Leakage at title_abstract": (
        [1, 2, 3, 4], "select case when year is null then 'year unknown' when year <= 2015 then 'published up to 2015' "
        "else 'published after 2015' end, count(*), count(*) filter (g.decision = 'include'), "
        f"count(*) filter (where {_FOUND}) / nullif(count(*) filter (where g.decision = 'include'), 0) "
        f"from {_JUDGED} join records using (record_id) group by 1 "
        "order by case 1 when 1 then 0 end, case when min(year) is null then 3 when min(year) <= 2015 then 1 else 2 end"
    ),
}  # fmt: skip


@pytest.mark.parametrize("title", list(QUERIES))
def test_a_table_of_lassa_is_what_a_query_says(title: str, judged_lassa: tuple[Any, Store]) -> None:
    tree, store = judged_lassa
    columns, sql = QUERIES[title]
    wanted = [list(row) for row in store.rows(sql)]
    assert wanted
    shown = [[row[place] for place in columns] for row in table(tree, title)]
    assert [[_near(value) for value in row] for row in wanted] == shown


def _near(value: Any) -> Any:
    return pytest.approx(value) if isinstance(value, float) else value


def test_the_scores_of_lassa_are_what_sql_says(judged_lassa: tuple[Any, Store]) -> None:
    tree, store = judged_lassa
    n, tp, fp, fn, tn = store.rows(
        f"select count(*), count(*) filter (where {_FOUND}), count(*) filter (where g.decision = 'exclude' and v.state <> 'excluded'), "
        "count(*) filter (where g.decision = 'include' and v.state = 'excluded'), "
        f"count(*) filter (where g.decision = 'exclude' and v.state = 'excluded') from {_JUDGED}"
    )[0]
    scores = {row[0]: row[1] for row in table(tree, f"Scores at title_abstract (models against gold, n = {n})")}
    wmcc = math.sqrt(10) * (tp * tn - fp * fn) / math.sqrt((10 * tp + fp) * (10 * fn + tn) * (tp + fn) * (fp + tn))
    wanted = {
        "TP": tp, "FP": fp, "FN": fn, "TN": tn, "recall": tp / (tp + fn), "lost_evidence": fn / (tp + fn), "wmcc@10": wmcc,
        "precision": tp / (tp + fp), "accuracy": (tp + tn) / n, "workload_reduction": (tn + fn) / n, "cost@10": fp + 10 * fn,
    }  # fmt: skip
    assert {name: scores[name] for name in wanted} == pytest.approx(wanted)
    frontier = table(tree, "What recall costs at title_abstract: data")
    assert frontier[0][2:] == pytest.approx([(tn + fn) / n, tp / (tp + fn)])
    steps = [row for row in frontier if row[0] == "threshold on the score" and row[1] is not None]
    assert len(steps) > 10
    for _, threshold, spared, recall in steps:
        assert store.rows(
            f"select count(*) filter (where v.score < $t) / count(*), count(*) filter (where v.score >= $t and g.decision = 'include') "
            f"/ count(*) filter (where g.decision = 'include') from {_JUDGED}",
            {"t": threshold},
        )[0] == pytest.approx((spared, recall))
    for row in table(tree, "WMCC over w at title_abstract: data"):
        if row[0] == "this stage":
            w = row[1]
            assert row[2] == pytest.approx(
                math.sqrt(w) * (tp * tn - fp * fn) / math.sqrt((w * tp + fp) * (w * fn + tn) * (tp + fn) * (fp + tn))
            )
    assert table(tree, "Where the order changes at title_abstract")


def test_the_figures_of_lassa_are_what_sql_says(judged_lassa: tuple[Any, Store]) -> None:
    tree, store = judged_lassa
    bins = table(tree, "Scores at title_abstract: data")
    for low, high, *counts in bins:
        wanted = store.rows(
            "select count(*) filter (where g.decision = 'include'), count(*) filter (where g.decision = 'exclude') "
            f"from {_JUDGED} where v.score >= ? and v.score < ?",
            [low, high],
        )[0]
        assert tuple(counts[:2]) == wanted
    calibration = table(tree, "Reliability of the scores at title_abstract: data")
    n, includes, total = store.rows(
        f"select count(*), count(*) filter (where g.decision = 'include'), sum(v.score) from {_JUDGED}"
    )[0]
    assert sum(row[2] for row in calibration) == n
    assert sum(row[2] * row[4] for row in calibration) == pytest.approx(includes)
    assert sum(row[2] * row[3] for row in calibration) == pytest.approx(total)
    for row in table(tree, "By length at title_abstract"):
        assert row[2:6] == list(
            store.rows(
                "select count(*), count(*) filter (state = 'included'), count(*) filter (state = 'excluded'), count(*) filter (state = 'referred') "
                "from title_abstract join (select record_id, max(prompt_tokens) as tokens from calls group by 1) using (record_id) "
                "where tokens between ? and ?", row[:2],
            )[0]
        )  # fmt: skip
    (pair,) = table(tree, "Agreement")
    assert pair[4:7] == [
        *store.rows(
            "select count(*), 0, avg((a.decision = b.decision)::int) from readings a join readings b using (record_id) "
            "where a.reader = 'one' and b.reader = 'two'"
        )[0]
    ]


def test_the_boxes_of_lassa_close_with_people_heard(judged_lassa: tuple[Any, Store]) -> None:
    tree, store = judged_lassa
    boxes = {(row[2], row[3]): row[4] for row in table(tree, "Boxes of the flow diagram")}
    who = dict(
        store.rows("select case when decided_by = 'model' then 'by models' else 'by people' end, count(*) from title_abstract "
                   "where state = 'excluded' group by 1")
    )  # fmt: skip
    counts = dict(store.rows("select state, count(*) from title_abstract group by 1"))
    assert {name: boxes["Records excluded", name] for name in who} == who
    assert boxes["Records excluded", None] == counts["excluded"] == sum(who.values())
    kept = boxes["Records included", None] + boxes["Records that wait for people", None] + boxes["Records not judged yet", None]
    assert boxes["Records identified", None] == 2817 == kept + boxes["Records excluded", None]
    assert tree.xpath("//p[@class='warning']") == []


def test_declared_prices_turn_into_cost_and_a_missing_one_leaves_the_sum_undefined(screened: ReviewFolder) -> None:
    prices = '[bench]\nmodels = ["m"]\nprompts = ["basic"]\n[bench.prices]\nminutes_per_record = 30\nper_hour = 40.0\n'
    screened.protocol(PANEL, REPORTS, prices + "per_million_tokens = 2.0\n")
    tokens = screened.rows("select sum(prompt_tokens + completion_tokens) from calls")[0][0]
    cost = {row[0]: row[3] for row in table(parsed(screened)[0], "Cost at the declared prices")}
    assert cost == {
        "tokens, millions": pytest.approx(2 * int(tokens) / 1e6), "engine hours": None, "hours of people": 20.0, "together": None,
    }  # fmt: skip
    screened.protocol(PANEL, REPORTS, prices + "per_million_tokens = 2.0\nper_gpu_hour = 0.0\n")
    cost = {row[0]: row[3] for row in table(parsed(screened)[0], "Cost at the declared prices")}
    assert cost["together"] == pytest.approx(20 + 2 * int(tokens) / 1e6)


def test_limitations_hold_only_where_the_data_say_so(screened: ReviewFolder) -> None:
    tree, _ = parsed(screened)
    told = " ".join(tree.xpath("//section[@id='limitations']//li/text()"))
    assert "At title_abstract the figures rest on 6 gold include(s) among 9 labelled records" in told
    assert "At title_abstract 1 of 10 records (10.0%) wait for a person's decision" in told
    assert "Leakage is not checked for m" in told
    assert "At full_text 1 of 4 first replies of prose were not in the form asked for (reliability 0.750)" in told
    assert "Of 10 records 2 have no abstract" in told
    assert "may be duplicates" not in told
    assert "steer" not in told
    assert "embedded engine" not in told


def test_the_methods_paragraph_has_the_numbers_of_the_ledger(screened: ReviewFolder) -> None:
    tree, _ = parsed(screened)
    words = tree.xpath("//p[@class='copy']")[0].text_content()
    assert "identified 10 records, of which 0 were removed as duplicates" in words
    assert "1 inclusion and 1 exclusion criteria" in words
    assert "including where the mean p(include) reached 0.5" in words
    assert "recall 0.833 (95 % interval" in words


def test_what_is_needed_to_repeat_it_is_there_and_no_secret(folder: ReviewFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY_OF_MINE", "sk-very-secret")
    folder.protocol(PANEL, url="https://user:hunter2@models.example/v1?key=abc123")
    text = (folder.path / "review.toml").read_text(encoding="utf-8")
    changed = text.replace('backend = "http"', 'backend = "http"\napi_key_env = "SECRET_KEY_OF_MINE"')
    (folder.path / "review.toml").write_text(changed, encoding="utf-8")
    folder.records(2)
    folder.run({"m": ScriptedBackend(answer)})
    tree, text = parsed(folder)
    for secret in ("hunter2", "abc123", "sk-very-secret"):
        assert secret not in text
    assert 'api_key_env = "SECRET_KEY_OF_MINE"' in tree.text_content()
    assert "models.example/v1" in tree.text_content()
    assert "https://user" not in text
    prompt = folder.review.prompts["title_abstract", "one"]
    assert prompt.user.splitlines()[0] in tree.text_content()
    assert folder.review.protocol.hash() in text
    assert [row[:2] for row in table(tree, "Fingerprints in force")] == [
        list(row) for row in folder.rows("select stage, fingerprint from current_stages order by 1")
    ]


@pytest.mark.parametrize(
    ("text", "gone"),
    [
        ('endpoints = ["http://me:pass@host/v1"]', "pass"),
        ("endpoints = ['https://host/v1?api_key=zzz']", "zzz"),
        ('api_key = "zzz"', "zzz"),
        ('vllm = { hf_token = "zzz", seed = 1 }', "zzz"),
        ("https://token@host/x", "token"),
    ],
)
def test_secrets_are_taken_out(text: str, gone: str) -> None:
    assert gone not in without_secrets(text)


def test_ordinary_lines_stay_as_they_are() -> None:
    for text in (
        "max_tokens = 256",
        'api_key_env = "KEY"',
        'question = "Who? And how?"',
        "tokens = 100_000  # at most",
        'query = "a AND b@c"',
    ):
        assert without_secrets(text) == text


def test_a_new_search_is_screened_alone_and_shown_apart(screened: ReviewFolder) -> None:
    path = screened.table("update.csv", rows_of(range(11, 13), "New"))
    with screened.review.open() as store:
        import_records(store, path)
    backend = ScriptedBackend(answer)
    screened.run({"m": backend})
    assert len(backend.asked) == 4  # two records, two readers
    tree, _ = parsed(screened)
    rows = table(tree, "By import: where its records stand")
    assert [(row[1], row[2], row[3]) for row in rows if row[2] == "title_abstract"] == [
        ("records.csv", "title_abstract", 10), ("update.csv", "title_abstract", 2),
    ]  # fmt: skip
    turns = [row for row in table(tree, "From run to run") if row[2] == "title_abstract"]
    assert [row[3] for row in turns] == [10, 10, 12]
    assert turns[-1][4:] == [2, 0, 0]


def test_an_amendment_is_listed_with_what_it_changed(screened: ReviewFolder) -> None:
    changed = HEAD.replace("Is a review.", "Is a review or a letter.")
    screened.protocol(PANEL, REPORTS, head=changed)
    with screened.review.open() as store:
        amend(screened.review, store, "Ada", "letters were many")
    screened.run(
        {"m": ScriptedBackend(lambda r: Reply(key=r.key, text="no") if "REPORT" not in r.messages[-1].content else answer(r))}
    )
    tree, _ = parsed(screened)
    words = tree.xpath("//section[@id='living-review-and-amendments']")[0].text_content()
    assert "by Ada: letters were many" in words
    assert "E1 was changed (at title_abstract, full_text); before: Is a review.; now: Is a review or a letter." in words
    assert "1 decision(s) of people were queued again, 0 are decided anew" in words
    newest = "select record_id, state from verdicts where stage = 'title_abstract' qualify row_number() over ({}) = 1"
    before, after = (dict(screened.rows(newest.format(f"partition by record_id order by seq {way}"))) for way in ("", "desc"))
    moved = [key for key in before if before[key] != after[key]]
    assert moved
    assert (
        f"title_abstract: {len(moved)} of 9 verdict(s) moved, 1 not judged anew" in words
    )  # one waits for the person who decided
    assert {row[2] for row in table(tree, "Records whose verdict moved") if row[1] == "title_abstract"} == set(moved)


def test_boxes_that_do_not_sum_raise_a_visible_warning(screened: ReviewFolder) -> None:
    broken = Flow((Step("Identification", Box("Records identified", 5)), Step("Included", Box("Reports", 4))))
    with screened.review.open() as store:
        blocks = prisma_blocks(screened.review, store, broken)
    assert isinstance(blocks[0], Prose)
    assert blocks[0].kind == "warning"
    assert "'Records identified' holds 5, but 0 leave it and 4 go on" in blocks[0].text


STATE = st.sampled_from([None, "included", "excluded", "referred"])
CHOICE = st.sampled_from([None, None, "include", "exclude", "unsure"])
LIFE = st.fixed_dictionaries(
    {
        "first": STATE,
        "second": STATE,
        "said": CHOICE,
        "later": CHOICE,
        "text": st.booleans(),
        "kept": st.integers(0, 11),
        "criterion": st.booleans(),
    }
)


@pytest.fixture(scope="module")
def blank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("blank") / "review.duckdb"
    Store(path, create=True).close()
    return path


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    lives=st.lists(LIFE, max_size=12),
    aside=st.integers(0, 3),
    passes=st.booleans(),
    stages=st.sampled_from(["both", "first", "second"]),
)
def test_the_boxes_close_whatever_the_ledger_holds(
    tmp_path_factory: pytest.TempPathFactory, blank: Path, lives: list[dict[str, Any]], aside: int, passes: bool, stages: str
) -> None:
    folder = ReviewFolder(Path(tempfile.mkdtemp(dir=tmp_path_factory.getbasetemp())))
    parts = {"both": (PANEL, REPORTS), "first": (PANEL,), "second": (REPORTS,)}[stages]
    review = folder.protocol(*parts)
    shutil.copy(blank, review.store_path)
    with review.open() as store:
        _fill(store, lives, aside, "pass" if passes else "wait")
        flow = prisma_flow(review, store)
        assert flow.faults() == []
        assert flow.steps[0].box.count == len(lives) + aside
        last = "full_text" if stages != "first" else "title_abstract"
        assert flow.steps[-1].box.count == store.value(f"select count(*) from {last} where state = 'included'")
        waiting = sum(box.count for step in flow.steps for box in step.out if box.title.endswith("wait for people"))
        queued = store.value("select count(*) from queue where state = 'referred'")
        told = sum(count for step in flow.steps for name, count in step.box.told if name.startswith("passed on undecided"))
        assert waiting + told == queued


def _fill(store: Store, lives: list[dict[str, Any]], aside: int, referred: str) -> None:
    ids = [f"r{n}" for n in range(len(lives))]
    stamp = {"at_time": now()}
    store.append(
        "imports", [{**stamp, "import_id": "i", "path": "a.ris", "sha256": "", "format": "", "encoding": "", "receipt": "{}"}]
    )
    store.append("records", [{"record_id": key, "import_id": "i", "title": key} for key in ids])
    store.append("set_aside", [{"import_id": "i", "line": n, "reason": "x", "raw": "", "is_record": True} for n in range(aside)])
    store.append("stage_versions", [
        {"run_id": "run-1", "stage": stage, "position": n, "fingerprint": "f", "criteria_hash": "c", "referred": referred}
        for n, stage in enumerate(("title_abstract", "full_text"))
    ])  # fmt: skip
    kept = {key: ids[life["kept"] % (n + 1)] for n, (key, life) in enumerate(zip(ids, lives, strict=True)) if life["kept"] <= n}
    roots = {
        key: kept.get(key, key) if kept.get(kept.get(key, key), kept.get(key, key)) == kept.get(key, key) else key for key in ids
    }
    store.append(
        "clusters",
        [{**stamp, "version": "1", "record_id": key, "kept_id": root, "study_id": root} for key, root in roots.items()],
    )
    for key, life in zip(ids, lives, strict=True):
        if life["text"]:
            store.append("documents", [{**stamp, "document_id": f"d{key}", "record_id": key, "path": key, "state": "parsed"}])
        for stage, state, said in (("title_abstract", life["first"], life["said"]), ("full_text", life["second"], life["later"])):
            document = f"d{key}" if stage == "full_text" and life["text"] else None
            if state:
                store.append("verdicts", [{**stamp, "run_id": "run-1", "stage": stage, "fingerprint": "f", "record_id": key, "state": state,
                                           "document_id": document, "criterion": "E1" if life["criterion"] else None}])  # fmt: skip
            if said:
                store.append("adjudications", [{**stamp, "adjudication_id": f"{key}-{stage}", "record_id": key, "stage": stage, "who": "Ada",
                                                "decision": None if said == "unsure" else said, "unsure": said == "unsure",
                                                "criteria_hash": "c"}])  # fmt: skip


def two(tmp_path: Path) -> tuple[ReviewFolder, ReviewFolder]:
    """The same eight records screened by two readers that differ on three; the second review has one record more."""
    made = []
    for name, flipped, more in (("a", (), 8), ("b", (2, 3, 7), 9)):
        folder = ReviewFolder(tmp_path / name)
        folder.protocol('\n[readers.one]\nmodel = "m"\n[stages.title_abstract]\nreaders = ["one"]\n')
        folder.records(rows_of(range(1, more + 1)))
        folder.gold([{"record_id": f"r{n}", "title_abstract": "include" if n in INCLUDES else "exclude"} for n in range(1, 9)])

        def reply(request: Request, flipped: tuple[int, ...] = flipped) -> Reply:
            number = int(request.messages[-1].content.split("trial ")[1].split()[0].rstrip("."))
            return Reply(key=request.key, text="yes" if (number <= 5) != (number in flipped) else "no")

        folder.run({"m": ScriptedBackend(reply)})
        made.append(folder)
    return made[0], made[1]


def test_planted_flips_are_found_and_tested(tmp_path: Path) -> None:
    a, b = two(tmp_path)
    done = compare_sides(*_sides([str(a.path), str(b.path)]))[0]
    stage = done.stages[0]
    assert [(flip.record_id, flip.first, flip.second, flip.gold) for flip in stage.flips] == [
        ("r2", "included", "excluded", "include"), ("r3", "included", "excluded", "include"), ("r7", "excluded", "included", "exclude"),
    ]  # fmt: skip
    assert stage.joint == {
        ("included", "included"): 3,
        ("included", "excluded"): 2,
        ("excluded", "included"): 1,
        ("excluded", "excluded"): 2,
    }
    assert done.only_second == {"excluded": 1}
    assert done.only_first == {}
    assert done.records == 8
    assert stage.paired is not None
    assert stage.paired.p_recall == pytest.approx(0.5)  # two discordant includes, both for a: 2 * 1/4
    assert stage.paired.p_accuracy == pytest.approx(0.25)  # three, all for a
    assert stage.adjusted == {"recall": pytest.approx(0.5), "accuracy": pytest.approx(0.5)}
    assert stage.agreement.percent.value == pytest.approx(5 / 8)
    assert done.changes == ()
    text = page_html(comparison_page([done]))
    assert "<script" not in text
    assert len(table(tree_of(text), "3 record(s) that flipped at title_abstract")) == 3
    assert plain([done])[0]["stages"][0]["flips"][0]["record_id"] == "r2"
    assert len(next(one for one in tables_of([done], 2) if "flipped" in one.title).rows) == 2


def test_keys_of_the_protocol_that_differ_are_named(tmp_path: Path) -> None:
    a, b = two(tmp_path)
    b.protocol(
        '\n[readers.one]\nmodel = "m"\ntemperature = 0.5\n[stages.title_abstract]\nreaders = ["one"]\n',
        head=HEAD.replace("Adults", "Children"),
    )
    changes = {
        change.key: (change.first, change.second) for change in compare_sides(*_sides([str(a.path), str(b.path)]))[0].changes
    }
    assert changes["readers.one.temperature"] == ("0.0", "0.5")
    assert changes["criteria[I1].text"] == ('"Adults took zinc."', '"Children took zinc."')


def test_an_id_that_stands_for_another_record_is_left_out(tmp_path: Path) -> None:
    a, _ = two(tmp_path)
    c = ReviewFolder(tmp_path / "c")
    c.protocol('\n[readers.one]\nmodel = "m"\n[stages.title_abstract]\nreaders = ["one"]\n')
    c.records([{"id": "r1", "title": "Something else", "abstract": "x"}, *rows_of(range(2, 4))])
    done = compare_sides(*_sides([str(a.path), str(c.path)]))[0]
    assert done.strangers == ("r1",)
    assert done.records == 2
    assert done.stages[0].paired is None
    assert done.stages[0].why == "no record with a gold label was judged by the models of both sides"


def test_runs_of_one_review_are_compared_as_they_had_judged(screened: ReviewFolder) -> None:
    changed = HEAD.replace("Is a review.", "Is a review or a letter.")
    screened.protocol(PANEL, REPORTS, head=changed)
    with screened.review.open() as store:
        amend(screened.review, store, "Ada", "letters were many")
    screened.run(
        {"m": ScriptedBackend(lambda r: Reply(key=r.key, text="no") if "REPORT" not in r.messages[-1].content else answer(r))}
    )
    runs = [row[0] for row in screened.rows("select run_id from runs order by seq")]
    done = compare_sides(*_sides([runs[0], runs[-1]], screened.path))[0]
    assert [change.key for change in done.changes] == ["criteria[E1].text"]
    stage = next(one for one in done.stages if one.stage == "title_abstract")
    assert {(flip.record_id, flip.first, flip.second) for flip in stage.flips} == {
        (f"r{n}", "included" if n <= 4 else "excluded", "referred") for n in range(1, 9)
    }
    assert done.stages[0].agreement.percent.note == "no record was labelled twice"


@pytest.mark.parametrize(
    ("names", "match"), [([], "two names"), (["x"], "two names"), (["x", "x"], "twice"), (["no", "such"], "neither a folder")]
)
def test_names_that_cannot_be_compared_are_refused(names: list[str], match: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=match):
        load_sides(names, tmp_path)


def _sides(names: list[str], folder: Path = Path()) -> tuple[Any, list[Any]]:
    first, *others = load_sides(names, folder)
    return first, others


def test_the_time_spent_on_stragglers_is_told(folder: ReviewFolder) -> None:
    """Forty calls: one a second, the last two a minute and two minutes late."""
    review = folder.protocol(ABSTRACTS)
    folder.records(40)
    ends = [*range(1, 39), 98, 158]
    with review.open() as store:
        rows = [
            {"key": f"k{n}", "run_id": "run-1", "stage": "title_abstract", "record_id": f"r{n}", "model": "m",
             "at_time": f"2026-01-01T00:{end // 60:02}:{end % 60:02}+00:00", "seconds": float(n)}
            for n, end in enumerate(ends, start=1)
        ]  # fmt: skip
        store.append("calls", rows)
        tree = tree_of(page_html(report_page(review, store)))
    assert table(tree, "Seconds by stage, and stragglers") == [
        ["run-1", "title_abstract", 40, 158, 120, pytest.approx(120 / 158)]
    ]
    assert table(tree, "How long calls took") == [["title_abstract", "m", 40, 20.5, pytest.approx(38.05), 40, "r40"]]
