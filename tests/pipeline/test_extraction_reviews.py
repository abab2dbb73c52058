"""Extraction in a whole review: stored with its evidence, scored against gold of every kind, exported long and wide."""

import csv
import json
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
from python_calamine import CalamineWorkbook

from litcascade.backends.scripted import ScriptedBackend
from litcascade.errors import InputError
from litcascade.pipeline.exporting import export
from litcascade.pipeline.importing import import_decisions, import_gold
from litcascade.pipeline.scoring import score_review
from litcascade.schemas import Reply, Request
from litcascade.store import Store
from tests.support.reviews import FIELDS, ReviewFolder

MORE = """
[[fields]]
name = "grade"
kind = "ordinal"
definition = "Certainty."
values = ["low", "moderate", "high"]
[[fields]]
name = "arms"
kind = "group"
definition = "The arms."
key = ["arm"]
[[fields.fields]]
name = "arm"
kind = "open"
definition = "Name."
required = true
[[fields.fields]]
name = "n"
kind = "number"
definition = "People."
unit = "people"
"""
TEXT = "Twenty people took zinc and 21 took sugar in a hospital. Pain was measured. The certainty was low."
ANSWER: dict[str, Any] = {
    "setting": {"quote": "in a hospital", "notes": "", "value": "Hospital"},
    "outcomes": {"quote": "Pain was measured", "notes": "", "value": ["pain"]},
    "people": {"quote": "Forty-one", "notes": "summed", "raw": "forty-one", "value": 41},
    "dose": {"quote": "", "notes": "", "value": None},
    "grade": {"quote": "The certainty was low", "notes": "", "value": "low"},
    "arms": {
        "notes": "",
        "value": [
            {"quote": "Twenty people took zinc", "arm": "zinc", "n": 20},
            {"quote": "21 took sugar", "arm": "=sugar", "n": "twenty-one"},
        ],
    },
}
GOLD = [
    ("r1", "setting", "", "", "hospital"),
    ("r1", "grade", "", "", "moderate"),
    ("r1", "arms", "b", "arm", "=Sugar"),
    ("r1", "arms", "b", "n", "21"),
    ("r1", "arms", "a", "arm", "Zinc"),
    ("r1", "arms", "a", "n", "20"),
    ("r1", "arms", "c", "arm", "no treatment"),
    ("r2", "arms", "", "", '[{"arm": "zinc", "n": 20}]'),
    ("r2", "grade", "", "", "low"),
]


def table(folder: ReviewFolder, name: str, rows: Sequence[tuple[str, ...]]) -> Path:
    header = ("record_id", "field", "row", "subfield", "value")
    return folder.table(name, [dict(zip(header, row, strict=True)) for row in rows])


@pytest.fixture
def extracted(folder: ReviewFolder) -> ReviewFolder:
    folder.protocol(FIELDS, MORE)
    folder.records(2)
    folder.texts({"r1": TEXT, "r2": TEXT})
    good = ANSWER | {"arms": {"notes": "", "value": ANSWER["arms"]["value"][:1]}}

    def answer(request: Request) -> Reply:
        words = " ".join(message.content for message in request.messages)
        return Reply(key=request.key, text=json.dumps(ANSWER if "trial 1" in words else good), finish_reason="stop")

    assert folder.run({"m": ScriptedBackend(answer)}).status == "complete"
    review = folder.review
    with review.open() as store:
        import_gold(review, store, table(folder, "gold.csv", GOLD))
    return folder


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def test_values_are_stored_with_raw_form_evidence_and_why_a_person_should_look(extracted: ReviewFolder) -> None:
    found = {
        name: more
        for name, *more in extracted.rows(
            "select field, value, raw, notes, evidence, escalated, purpose from extracted where record_id = 'r1'"
        )
    }
    assert found["setting"][:2] == ['"hospital"', "Hospital"]
    assert found["people"][1:3] == ["forty-one", "summed"]
    assert found["people"][4] == "quote not found: the quote does not stand in the text"
    assert found["dose"][4] is None
    evidence = json.loads(found["arms"][3])
    assert [row["quote_found"] for row in evidence] == [True, True]
    assert evidence[1]["raw"] == {"n": "twenty-one"}
    assert "row 2, n" in found["arms"][4]
    assert {row[5] for row in found.values()} == {"ask"}


def test_scores_of_every_kind_are_in_the_review(extracted: ReviewFolder) -> None:
    review = extracted.review
    with review.open() as store:
        fields = score_review(review, store).fields
    assert fields.counts["setting"].correct == 1
    assert (fields.counts["grade"].wrong, fields.counts["grade"].correct) == (1, 1)
    assert fields.ordinal["grade"].distance.value == 0.5
    arms = fields.groups["arms"]
    assert (arms.rows.correct, arms.rows.missing, arms.rows.spurious, arms.rows_right) == (3, 1, 0, 2)
    assert (arms.cells["n"].correct, arms.cells["n"].invalid, arms.cells["n"].missing) == (2, 1, 0)
    assert fields.scores["arms"].value == pytest.approx((3 / 5 + 1) / 2)
    assert fields.to_people == {"arms": 1, "people": 2}
    assert fields.recovered == {}


def test_long_and_wide_tables_hold_values_with_their_quotes(extracted: ReviewFolder, tmp_path: Path) -> None:
    review = extracted.review
    with review.open() as store:
        for what in ("extractions", "extractions_wide", "extraction_rows", "extractions_to_check"):
            for ending in ("csv", "tsv", "jsonl", "parquet", "xlsx"):
                assert export(review, store, what, tmp_path / f"{what}.{ending}").rows > 0
        with pytest.raises(InputError, match=r"use .csv, .tsv, .xlsx, .parquet or .jsonl"):
            export(review, store, "extractions", tmp_path / "x.sav")
    long = rows_of(tmp_path / "extractions.csv")
    assert list(long[0])[:7] == ["record_id", "reader", "field", "value", "quote", "quote_found", "error"]
    cells = {(row["row"], row["subfield"]): row for row in long if row["record_id"] == "r1" and row["field"] == "arms"}
    assert cells["1", "n"]["value"] == "20"
    assert cells["1", "n"]["quote"] == "Twenty people took zinc"
    assert cells["2", "n"]["raw"] == "twenty-one"
    assert cells["2", "n"]["error"]
    assert cells["2", "arm"]["value"] == "'=sugar", "no spreadsheet runs it"
    assert [row["value"] for row in long if row["field"] == "outcomes"] == ["pain", "pain"]

    wide = pl.read_parquet(tmp_path / "extractions_wide.parquet").sort("record_id")
    assert wide["people"].to_list() == [41.0, 41.0]
    assert wide["people"].dtype == pl.Float64
    assert wide["people.raw"].to_list() == ["forty-one"] * 2
    assert wide["setting.quote"].to_list() == ["in a hospital"] * 2
    assert wide["arms.rows"].to_list() == [2, 1]

    lines = pl.read_parquet(tmp_path / "extraction_rows.parquet").sort("record_id", "row")
    assert lines.select("record_id", "row", "arm", "n").rows() == [
        ("r1", 1, "zinc", 20.0), ("r1", 2, "=sugar", None), ("r2", 1, "zinc", 20.0),
    ]  # fmt: skip
    book = CalamineWorkbook.from_path(str(tmp_path / "extractions_wide.xlsx"))
    assert book.sheet_names == ["extractions", "arms"]
    assert book.get_sheet_by_name("arms").to_python()[1][5:7] == ["zinc", 20.0]
    check = rows_of(tmp_path / "extractions_to_check.csv")
    assert {(row["record_id"], row["field"]) for row in check} == {("r1", "arms"), ("r1", "people"), ("r2", "people")}
    assert "value" not in check[0], "nothing counts as decided before a person says so"


def test_a_persons_rows_take_the_place_of_the_models(extracted: ReviewFolder, tmp_path: Path) -> None:
    review = extracted.review
    path = table(extracted, "mine.csv", [row for row in GOLD if row[1] == "arms" and row[0] == "r1"])
    with review.open() as store:
        import_decisions(review, store, path, "Anna")
        assert score_review(review, store).fields.groups["arms"].rows_right == 4
        export(review, store, "extraction_rows", tmp_path / "rows.csv")
    rows = [row for row in rows_of(tmp_path / "rows.csv") if row["record_id"] == "r1"]
    assert [(row["reader"], row["arm"], row["n"]) for row in rows] == [
        ("Anna", "'=Sugar", "21"), ("Anna", "Zinc", "20"), ("Anna", "no treatment", ""),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([("r1", "arms", "a", "size", "3")], r"line 2: group 'arms' has no sub-field 'size' \(arm, n\)"),
        ([("r1", "arms", "a", "", "3")], "needs both row and subfield"),
        ([("r1", "arms", "a", "n", "many")], "'many' is not a number"),
        ([("r1", "arms", "a", "n", "3"), ("r1", "arms", "a", "n", "4")], "'n' twice"),
        ([("r1", "arms", "a", "n", "3")], "row 1, arm: missing"),
        ([("r1", "people", "a", "n", "3")], "has no rows"),
        ([("r1", "arms", "", "", "zinc")], "not valid JSON"),
        ([("r1", "arms", "", "", '[{"arm": 3}]')], "row 1, arm: "),
        ([("r1", "arms", "", "", "[]"), ("r1", "arms", "a", "arm", "x")], "both whole and row by row"),
        ([("r1", "grade", "", "", "lowish")], "allowed: low, moderate, high"),
    ],
)
def test_gold_that_cannot_be_read_is_refused_with_its_line(folder: ReviewFolder, rows: list[Any], words: str) -> None:
    folder.protocol(FIELDS, MORE)
    folder.records(1)
    review = folder.review
    with review.open() as store, pytest.raises(InputError, match=words):
        import_gold(review, store, table(folder, "g.csv", rows))


def test_a_store_made_before_is_still_read(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with duckdb.connect(str(path)) as old:
        old.execute("create table meta (key text primary key, value text)")
        old.execute("create table migrations (name text primary key, at_time timestamptz)")
        old.execute("insert into meta values ('views', 'of an earlier release')")
        for item in sorted((resources.files("litcascade.store") / "migrations").iterdir(), key=lambda item: item.name):
            if item.name.endswith(".sql") and item.name < "0008":
                for statement in duckdb.extract_statements(item.read_text(encoding="utf-8")):
                    old.execute(statement)
                old.execute("insert into migrations values (?, now())", [item.name.removesuffix(".sql")])
        old.execute("insert into extractions (record_id, field, value, quote, quote_found, reader) "
                    "values ('r1', 'people', '40', 'in 40 people', true, 'one')")  # fmt: skip
    with Store(path) as store:
        told = "select record_id, value, quote_found, raw, notes, evidence, escalated, purpose from extractions"
        assert store.rows(told) == [("r1", "40", True, None, None, None, None, None)]
        assert store.meta("views") is None
        store.set_stages(["extraction"])
        assert store.rows("select count(*) from extracted") == [(0,)]


def test_what_models_get_wrong_is_named_and_goes_to_a_person_while_the_rest_is_kept(folder: ReviewFolder, tmp_path: Path) -> None:
    """A grammar the engine refuses, an answer in another language, a quote from another paper, endless numbers."""
    folder.protocol(FIELDS, MORE)
    folder.records(5)
    folder.texts({f"r{number}": TEXT for number in range(1, 6)})
    good = ANSWER | {"people": {"quote": "", "notes": "", "raw": "", "value": None}, "arms": {"notes": "", "value": []}}
    foreign = good | {"setting": {"quote": "dans un hôpital", "notes": "", "value": "hôpital"}}
    elsewhere = good | {"outcomes": {"quote": "Fever was measured daily", "notes": "", "value": ["pain"]}}
    endless = json.dumps(good).replace('"value": null', '"value": ' + "9" * 5000, 1)
    said = {"2": None, "3": json.dumps(foreign), "4": json.dumps(elsewhere), "5": endless}

    def answer(request: Request) -> Reply:
        words = " ".join(message.content for message in request.messages)
        number = words.partition("trial ")[2][0]
        if number == "2":
            return Reply(key=request.key, text=None, refused="grammar is too complex")
        return Reply(key=request.key, text=said.get(number, json.dumps(good)), finish_reason="stop")

    assert folder.run({"m": ScriptedBackend(answer)}).status == "complete"
    stages = {key: (state, reason) for key, state, reason in folder.rows("select record_id, state, reason from extraction")}
    assert {key for key, (state, _) in stages.items() if state == "extracted"} == {"r1", "r3", "r4", "r5"}
    assert "grammar is too complex" in str(stages["r2"])
    faults = folder.rows("select record_id, field, error, escalated from extracted where escalated is not null order by 1")
    assert [(key, name) for key, name, _, _ in faults] == [("r3", "setting"), ("r4", "outcomes"), ("r5", "people")]
    assert "allowed: " in faults[0][2]
    assert faults[1][2:] == (None, "quote not found: the quote does not stand in the text")
    assert "999" in faults[2][2]
    kept = folder.rows("select record_id, count(*) from extracted where error is null group by 1 order by 1")
    assert kept == [("r1", 6), ("r3", 5), ("r4", 6), ("r5", 5)]
    with folder.review.open() as store:
        export(folder.review, store, "extractions_to_check", tmp_path / "check.csv")
    order = [(row["record_id"], row["field"]) for row in rows_of(tmp_path / "check.csv")]
    assert order[0] == ("r4", "outcomes"), "what its quote speaks against comes first"
