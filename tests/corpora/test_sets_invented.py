"""Sets of which no copy is at hand, and broken copies of the others, from invented fixtures."""

import csv
import gzip
import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from litcascade.corpora.sets import SETS, Corpus, split_overlaps
from litcascade.errors import InputError
from litcascade.schemas import DocumentState


def put(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def table(path: Path, *rows: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle).writerows(rows)
    return path


def load(name: str, folder: Path, part: str | None = None, texts: Path | None = None) -> Corpus:
    corpus = SETS.get(name).load(folder, part, texts)
    assert all(counted.rows == counted.used + counted.aside for counted in corpus.tables)
    return corpus


def noted(corpus: Corpus, words: str) -> bool:
    return any(words in note for note in corpus.notes)


def test_every_set_has_a_card_that_says_what_labels_mean() -> None:
    assert SETS.names() == [
        "asreview_hosted", "clef_tar", "cohen2006", "csmed", "csmed_ft", "evidence_inference", "lassa", "rct_numeric",
        "scilitbench", "synergy",
    ]  # fmt: skip
    for name, benchmark in SETS:
        card = benchmark.card
        assert card.name == name
        assert card.title
        assert card.licence
        assert card.source.startswith("https://")
        assert card.labels
        assert set(card.labels) <= {"title_abstract", "full_text", "extraction"}


@pytest.mark.parametrize("name", SETS.names())
def test_a_folder_that_is_not_there_or_empty_is_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        SETS.get(name).load(tmp_path / "nowhere")
    with pytest.raises(InputError, match="holds no file"):
        SETS.get(name).load(tmp_path)


# Evidence Inference

PROMPTS = (
    ("PromptID", "PMCID", "Outcome", "Intervention", "Comparator"),
    ("1", "11", "pain", "zinc", "placebo"),
    ("2", "11", "sleep", "zinc", "placebo"),
    ("3", "22", "pain", "iron", "water"),
    ("3", "22", "fever", "iron", "water"),
    ("4", "22.0", "fever", "iron", "water"),
)
ANNOTATIONS = (
    ("UserID", "PromptID", "PMCID", "Valid Label", "Valid Reasoning", "Label", "Annotations", "Label Code", "In Abstract"),
    ("0", "1", "11", "True", "True", "significantly decreased", "Pain fell by half.", "-1", "True"),
    ("1", "1", "11", "1", "0", "Significantly decreased", "Some other words", "-1", "True"),
    ("0", "2", "11", "True", "True", "no significant difference", "Sleep did not differ.", "0", "True"),
    ("1", "2", "11", "True", "True", "significantly increased", "Sleep was longer.", "1", "True"),
    ("0", "3", "22", "False", "True", "significantly increased", "Not accepted.", "1", "True"),
    ("1", "3", "22", "True", "True", "invalid prompt", "", "", "True"),
    ("1", "4", "22", "True", "True", "rather more", "", "", "True"),
    ("1", "9", "22", "True", "True", "significantly increased", "", "1", "True"),
    ("1", "4", "11", "True", "True", "significantly increased", "", "1", "True"),
)


@pytest.fixture
def inference(tmp_path: Path) -> Path:
    table(tmp_path / "prompts_merged.csv", *PROMPTS)
    table(tmp_path / "annotations_merged.csv", *ANNOTATIONS)
    put(tmp_path / "txt_files" / "PMC11.txt", "RESULTS\n\nPain fell by half. Sleep did not differ.")
    put(tmp_path / "splits" / "train_article_ids.txt", "11\n33\n")
    put(tmp_path / "splits" / "test_article_ids.txt", "22\n11")
    return tmp_path


def test_evidence_inference_prompts_and_findings(inference: Path) -> None:
    corpus = load("evidence_inference", inference)
    assert [record.record_id for record in corpus.records] == ["PMC11", "PMC22"]
    assert corpus.records[0].pmcid == "PMC11"
    common = {
        field.item: (field.value, field.quote) for field in corpus.fields if field.field == "finding" and not field.annotator
    }
    assert common == {"prompt:1": ("significantly decreased", "Pain fell by half.")}
    said = [(f.item, f.annotator, f.value, f.quote) for f in corpus.fields if f.field == "finding" and f.annotator]
    assert said == [
        ("prompt:1", "0", "significantly decreased", "Pain fell by half."),
        ("prompt:1", "1", "significantly decreased", None),
        ("prompt:2", "0", "no significant difference", "Sleep did not differ."),
        ("prompt:2", "1", "significantly increased", "Sleep was longer."),
    ]
    assert [(row.row, row.file) for row in corpus.set_aside] == [
        (5, "prompts_merged.csv"),
        (9, "annotations_merged.csv"),
        (10, "annotations_merged.csv"),
    ]
    assert noted(corpus, "annotators of 1 prompt(s) disagree")
    assert noted(corpus, "'rather more' for prompt 4")
    assert noted(corpus, "1 annotation(s) whose label the verifier did not accept")
    assert noted(corpus, "2 prompt(s) have no accepted annotation: 3, 4")
    assert noted(corpus, "1 record(s) have no full text: PMC22")


def test_evidence_inference_splits_are_checked(inference: Path) -> None:
    corpus = load("evidence_inference", inference)
    assert corpus.splits == {"all:test": ("PMC22", "PMC11"), "all:train": ("PMC11",)}
    assert noted(corpus, "1 article(s) of the splits have no prompt: PMC33")
    (shared,) = split_overlaps(corpus).values()
    assert [(pair.first, pair.how) for pair in shared.pairs] == [("PMC11", "id")]


# CSMeD


def test_csmed_tables_by_collection_and_in_the_loaders_columns(tmp_path: Path) -> None:
    put(
        tmp_path / "cohen" / "Zinc.tsv",
        'PMID\tTitle\tAbstract\tLabel\n1.0\tA "quoted title\tText\t1\n2\tB\tnan\t0\n3\tC\t\tmaybe\n',
    )
    table(tmp_path / "swift" / "Iron.csv", ("PMID", "Title", "Abstract", "Label"), ("1", "A", "x y", "1"), ("", "B", "z", "0"))
    table(
        tmp_path / "export.csv",
        ("review_name", "pmid", "title", "abstract", "label"),
        ("Gold", "7", "A", "words", "1"),
        ("Tin", "7", "A", "words", "0"),
    )
    csmed = SETS.get("csmed")
    assert csmed.parts(tmp_path) == ["Gold", "Tin", "cohen/Zinc", "swift/Iron"]
    corpus = load("csmed", tmp_path)
    assert corpus.decisions("full_text") == {
        "cohen/Zinc:1": "include", "cohen/Zinc:2": "exclude", "Gold:7": "include", "Tin:7": "exclude",
    }  # fmt: skip
    assert corpus.decisions("title_abstract") == {"swift/Iron:1": "include", "swift/Iron:row-2": "exclude"}
    assert noted(corpus, "'maybe' for cohen/Zinc:3")
    assert noted(corpus, "1 table(s) lie in no folder named after a collection")
    assert next(record for record in corpus.records if record.record_id == "cohen/Zinc:2").abstract is None
    alone = load("csmed", tmp_path, "Tin")
    assert [record.record_id for record in alone.records] == ["Tin:7"]
    assert [counted.rows for counted in alone.tables] == [1]


# CSMeD-FT as the released archive

FT = ("review_id", "document_id", "decision", "reason_for_exclusion", "title", "abstract", "main_text", "year")


def test_csmed_ft_is_read_from_its_archive_split_by_split(tmp_path: Path) -> None:
    rows = {
        "train": [("R1", "R1-1", "included", "", "A title", "An abstract.", "Main text here.", "2001.0")],
        "test": [
            ("R2", "R2-1", "excluded", "Wrong design", "B", "", "Other text.", ""),
            ("R2", "", "included", "", "C", "", "x", ""),
        ],
        "sample": [("R2", "R2-1", "excluded", "Wrong design", "B", "", "Other text.", "")],
    }
    with zipfile.ZipFile(tmp_path / "CSMeD-FT.zip", "w") as archive:
        for split, lines in rows.items():
            path = table(tmp_path / "made" / f"{split}.csv", FT, *lines)
            archive.writestr(f"CSMeD-FT/CSMeD-FT-{split}.csv", path.read_bytes())
            told = {"R1": {"title": "Review", "criteria": {"Types of studies": "Trials"}}, "R2": {"title": "Other"}}
            archive.writestr(f"CSMeD-FT/CSMeD-FT-{split}_reviews_metadata.json", json.dumps(told))
    assert SETS.get("csmed_ft").parts(tmp_path) == ["train", "test", "sample"]
    corpus = load("csmed_ft", tmp_path)
    assert corpus.splits == {"train": ("R1-1",), "test": ("R2-1",)}
    assert noted(corpus, "`sample` was left out")
    assert [(label.record_id, label.decision, label.reason) for label in corpus.labels] == [
        ("R1-1", "include", None),
        ("R2-1", "exclude", "Wrong design"),
    ]
    assert [row.reason for row in corpus.set_aside] == ["has no document_id"]
    assert {review.name: review.criteria for review in corpus.reviews} == {"R1": "Types of studies\nTrials", "R2": None}
    assert noted(corpus, "published are 2053/–/904")
    assert [record.record_id for record in load("csmed_ft", tmp_path, "sample").records] == ["R2-1"]


# CLEF

TOPIC = "Topic: CD000001 \n\nTitle: Tests of zinc \n\nQuery: \nzinc.mp.\n1 and 2\n\nPids: \n    101 \n    102 \n    109 \n"


def test_clef_binary_levels_topics_and_texts(tmp_path: Path) -> None:
    put(
        tmp_path / "qrels" / "full.test.abs.2019.qrels",
        "CD000001 0 101 1\nCD000001 0 102 0\nCD000001 0 103 1\nCD000002 0 101 1\n",
    )
    put(tmp_path / "qrels" / "full.test.content.2019.qrels", "CD000001 0 101 1\nCD000001 0 102 1\nnot a line\n")
    put(tmp_path / "topics" / "CD000001", TOPIC)
    put(tmp_path / "protocols" / "CD000001", "<?xml version='1.0'?>\n<root><Objectives>To see.</Objectives></root>")
    put(tmp_path / "protocols" / "CD000002", "<root><broken")
    texts = table(tmp_path / "outside" / "texts.csv", ("pmid", "title", "abstract"), ("101", "Zinc at last", "Words."))
    assert SETS.get("clef_tar").parts(tmp_path) == ["CD000001", "CD000002"]
    corpus = load("clef_tar", tmp_path, "CD000001", texts)
    assert [record.record_id for record in corpus.records] == [f"CD000001:{pmid}" for pmid in (101, 102, 109, 103)]
    assert corpus.records[0].title == "Zinc at last"
    assert corpus.decisions("title_abstract") == {"CD000001:101": "include", "CD000001:102": "exclude", "CD000001:103": "include"}
    (review,) = corpus.reviews
    assert (review.title, review.query, review.protocol) == ("Tests of zinc", "zinc.mp.\n1 and 2", "Objectives\nTo see.")
    assert noted(corpus, "1 record(s) are included at full text but excluded before it: CD000001:102")
    assert noted(corpus, "1 record(s) are listed in the topic file but not judged: CD000001:109")
    assert noted(corpus, "1 record(s) are judged but not in the topic file: CD000001:103")
    assert [(row.row, row.file) for row in corpus.set_aside] == [(3, "qrels/full.test.content.2019.qrels")]
    other = load("clef_tar", tmp_path, "CD000002")
    assert noted(other, "1 topic(s) have no topic file")
    assert noted(other, "1 protocol(s) are no well-formed XML: CD000002")


def test_clef_graded_values_hold_both_levels(tmp_path: Path) -> None:
    lines = [f"CD000001\t0\t{100 + value}\t{value}" for value in (0, 1, 2, 3, 4)]
    put(tmp_path / "test.combined.qrels", "\n".join([*lines, "CD000001\t0\t200\t-1"]))
    corpus = load("clef_tar", tmp_path)
    assert {r.partition(":")[2]: d for r, d in corpus.decisions("title_abstract").items()} == {
        "100": "exclude", "101": "include", "102": "include", "103": "include", "104": "include",
    }  # fmt: skip
    included = sorted(record_id for record_id, decision in corpus.decisions("full_text").items() if decision == "include")
    assert included == ["CD000001:102", "CD000001:104"]
    assert len(corpus.records) == 6
    assert {label.reason for label in corpus.labels if label.record_id.endswith("103")} == {"not found by the query"}


def test_clef_files_that_contradict_or_do_not_say_their_level(tmp_path: Path) -> None:
    put(tmp_path / "a.abs.qrels", "CD000001 0 1 1\nCD000001 0 2 1\n")
    put(tmp_path / "b.abs.qrels", "CD000001 0 1 0\nCD000001 0 2 1\n")
    put(tmp_path / "plain.qrels", "CD000001 0 1 1\n")
    corpus = load("clef_tar", tmp_path)
    assert corpus.decisions("title_abstract") == {"CD000001:2": "include"}
    assert noted(corpus, "1 record(s) have contradicting labels, which were withdrawn: CD000001:1 at title_abstract")
    assert noted(corpus, "plain.qrels: its level cannot be told from its name")
    assert corpus.stages() == ["title_abstract"]


# Cohen's first release


def test_cohen_first_release_with_reason_codes_and_texts(tmp_path: Path) -> None:
    rows = [
        "Zinc\t1\t101\tI\tI",
        "Zinc\t2\t102\tI\t3",
        "Zinc\t3\t103\tE\tE",
        "Iron\t1\t101\tE\tE",
        "Iron\t2\t\tI\tI",
        "Iron\t3\t7\tX\tE",
    ]
    put(tmp_path / "epc-ir.clean.tsv", "\n".join(rows) + "\n")
    texts = table(
        tmp_path / "local" / "t.csv", ("PMID", "Title", "Abstract"), ("101", "Zinc and iron", "[No abstract available]")
    )
    cohen = SETS.get("cohen2006")
    assert cohen.parts(tmp_path) == ["Iron", "Zinc"]
    corpus = load("cohen2006", tmp_path, texts=texts)
    assert corpus.decisions("full_text")["Zinc:102"] == "exclude"
    assert [label.reason for label in corpus.labels if label.record_id == "Zinc:102"] == [None, "wrong drug"]
    assert corpus.decisions("title_abstract") == {
        "Zinc:101": "include", "Zinc:102": "include", "Zinc:103": "exclude", "Iron:101": "exclude",
    }  # fmt: skip
    assert [(record.title, record.abstract) for record in corpus.records if record.pmid == "101"] == [("Zinc and iron", None)] * 2
    assert noted(corpus, "'X' for Iron:7 at title_abstract")
    assert [row.reason for row in corpus.set_aside] == ["has no PMID ('')"]
    assert [record.record_id for record in load("cohen2006", tmp_path, "Iron").records] == ["Iron:101", "Iron:7"]


# SciLitBench-style


@pytest.fixture
def release(tmp_path: Path) -> Path:
    head = ("id", "title", "abstract", "year", "doi", "label", "split", "quote", "rationale")
    table(
        tmp_path / "title_abstract_gold.csv",
        head,
        ("1", "Zinc for pain", "We gave zinc.", "2001", "10.1000/1", "1", "development", "gave zinc", "It tests zinc."),
        ("2", "Iron for pain", "We gave iron.", "2002", "", "0", "few_shot", "", ""),
        ("3", "Zinc again", "", "2003", "10.1000/3", "1", "Evaluation", "", ""),
        ("3", "Zinc again", "", "2003", "10.1000/3", "0", "evaluation", "", ""),
        ("4", "Odd", "", "", "", "perhaps", "evaluation", "", ""),
    )
    table(
        tmp_path / "title_abstract_silver.csv",
        head[:6],
        ("1", "", "", "", "", "0"),
        ("5", "Only silver", "Text.", "2004", "", "1"),
    )
    table(
        tmp_path / "full_text.csv",
        ("id", "label", "reason", "split", "quote", "rationale"),
        ("1", "include", "", "evaluation", "", ""),
        ("5", "exclude", "wrong design", "few_shot", "", ""),
    )
    table(
        tmp_path / "extraction.csv",
        ("id", "field", "value", "item", "quote", "rationale"),
        ("1", "year", "2001", "", "in 2001", "It says so."),
        ("1", "domain", "", "", "", ""),
        ("8", "year", "2001", "", "", ""),
    )
    put(tmp_path / "full_text" / "1.txt", "Methods\n\nWe gave zinc to forty adults.")
    put(tmp_path / "full_text" / "5.txt", " ")
    put(tmp_path / "full_text" / "99.txt", "Nobody's text.")
    put(tmp_path / "question.md", "Does zinc help?")
    put(tmp_path / "fields.json", '{"fields": [{"name": "year"}]}')
    return tmp_path


def test_a_release_by_the_names_that_are_tried_first(release: Path) -> None:
    corpus = load("scilitbench", release)
    assert [record.record_id for record in corpus.records] == ["1", "2", "3", "4", "5"]
    assert corpus.decisions("title_abstract") == {"1": "include", "2": "exclude"}
    assert corpus.decisions("title_abstract", "silver") == {"1": "exclude", "5": "include"}
    assert corpus.decisions("full_text") == {"1": "include", "5": "exclude"}
    first = corpus.labels[0]
    assert (first.quote, first.rationale, first.source) == ("gave zinc", "It tests zinc.", "gold")
    assert corpus.splits["title_abstract:development"] == ("1",)
    assert corpus.splits["title_abstract:evaluation"] == ("3", "4")
    assert corpus.splits["full_text:few_shot"] == ("5",)
    assert split_overlaps(corpus) == {}
    assert [(f.field, f.value, f.quote, f.rationale) for f in corpus.fields] == [
        ("year", "2001", "in 2001", "It says so."),
        ("domain", None, None, None),
    ]
    (review,) = corpus.reviews
    assert review.question == "Does zinc help?"
    assert review.fields
    assert {d.record_id: d.state for d in corpus.documents} == {"1": DocumentState.PARSED, "5": DocumentState.EMPTY}
    for words in (
        "1 record(s) have contradicting labels, which were withdrawn: 3 at title_abstract",
        "'perhaps' for 4 at title_abstract in title_abstract_gold.csv",
        "belong to no record, or to one that has a text: 99.txt",
        "there is no criteria",
    ):
        assert noted(corpus, words)
    assert [(row.file, row.row) for row in corpus.set_aside] == [("title_abstract_gold.csv", 5), ("extraction.csv", 4)]


def test_a_release_with_other_names_and_forms_is_mapped(tmp_path: Path) -> None:
    lines = [
        {"pid": 1, "t": "Zinc", "a": "Words", "verdict": "IN", "by": "human", "part": "dev"},
        {"pid": 2, "t": "Iron", "a": None, "verdict": "OUT", "by": "model", "part": "dev"},
        {"pid": 3, "t": "Tin", "a": "x", "verdict": "IN", "by": "oracle", "part": "eval"},
        ["no object"],
    ]
    put(tmp_path / "records.jsonl.gz", gzip.compress("\n".join(json.dumps(line) for line in lines).encode()))
    table(tmp_path / "wide.csv", ("pid", "Year", "Domain", "who"), ("1", "2001", "health", "A"))
    table(tmp_path / "texts.csv", ("pid", "body"), ("1", "Forty adults took part."), ("1", "again"), ("2", ""))
    mapping = """
review = "mine"
[[tables]]
file = "records.jsonl"
kind = "screening"
include = ["in"]
exclude = ["out"]
columns = { record_id = "pid", title = "t", abstract = "a", label = "verdict", source = "by", split = "part" }
[[tables]]
file = "wide.csv"
kind = "extraction"
fields = { year = "Year", domain = "Domain" }
columns = { record_id = "pid", annotator = "who" }
[[tables]]
file = "texts.csv"
kind = "texts"
columns = { record_id = "pid", text = "body" }
"""
    put(tmp_path / "mapping.toml", mapping)
    corpus = load("scilitbench", tmp_path)
    assert SETS.get("scilitbench").parts(tmp_path) == ["mine"]
    assert corpus.decisions("title_abstract") == {"1": "include"}
    assert corpus.decisions("title_abstract", "silver") == {"2": "exclude"}
    assert noted(corpus, "the label's source 'oracle' is neither gold nor silver")
    assert [(f.field, f.value, f.annotator) for f in corpus.fields] == [("year", "2001", "A"), ("domain", "health", "A")]
    assert {d.record_id: d.state for d in corpus.documents} == {"1": DocumentState.PARSED, "2": DocumentState.EMPTY}
    assert [row.reason for row in corpus.set_aside] == ["is no object", "its id '1' is the id of no record, or stands before"]


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        ("tables = [", "not readable TOML"),
        ("", "tables: Field required"),
        ('[[tables]]\nfile = "a.csv"\nkind = "screening"\ncolumns = { record_id = "id" }', "needs columns.label"),
        (
            '[[tables]]\nfile = "a.csv"\nkind = "extraction"\ncolumns = { record_id = "id", field = "f" }',
            "columns.field and columns.value",
        ),
        ('[[tables]]\nfile = "a.csv"\nkind = "other"\ncolumns = { record_id = "id" }', "tables.0.kind"),
        ('[[tables]]\nfile = "a.csv"\nkind = "screening"\ncolumns = { record_id = "id", lable = "x" }', "lable"),
        ('[[tables]]\nfile = "b.csv"\nkind = "screening"\ncolumns = { record_id = "id", label = "l" }', "holds no file 'b.csv'"),
        ('[[tables]]\nfile = "a.csv"\nkind = "screening"\ncolumns = { record_id = "id", label = "l" }', "has no column 'l'"),
    ],
)
def test_a_mapping_that_does_not_fit_is_one_sentence(tmp_path: Path, mapping: str, words: str) -> None:
    table(tmp_path / "a.csv", ("id", "title"), ("1", "Zinc"))
    put(tmp_path / "mapping.toml", mapping)
    with pytest.raises(InputError, match=r"mapping\.toml|a\.csv") as caught:
        load("scilitbench", tmp_path)
    assert words in str(caught.value)


def test_splits_of_a_release_that_share_a_record_are_named(release: Path) -> None:
    with (release / "title_abstract_gold.csv").open("a", encoding="utf-8") as handle:
        handle.write(
            "1,Zinc for pain,We gave zinc.,2001,10.1000/1,1,evaluation,,\n6,Zinc for pain: a trial of forty adults,,2001,10.1000/1,1,few_shot,,\n"
        )
    corpus = load("scilitbench", release)
    assert noted(corpus, "splits title_abstract:development and title_abstract:evaluation share 1 record(s): 1")
    found = split_overlaps(corpus)
    pairs = {names: [(pair.first, pair.second, pair.how) for pair in shared.pairs] for names, shared in found.items()}
    assert pairs[("title_abstract:development", "title_abstract:evaluation")] == [("1", "1", "id")]
    assert pairs[("title_abstract:development", "title_abstract:few_shot")] == [("1", "6", "doi")]


# Broken copies

HOSTED = ("record_id", "title", "abstract", "label_included", "label_abstract_screening", "duplicate_record_id")


def test_ids_used_twice_odd_labels_and_contradictions_are_listed(tmp_path: Path) -> None:
    table(
        tmp_path / "Zinc_2020.csv",
        HOSTED,
        ("1", "A", "x", "1", "1", ""),
        ("1", "A", "x", "0", "1", ""),
        ("2", "B", "NaN", "yes", "0", ""),
        ("3", "C", "[No abstract available]", "1.0", "0", "9"),
        ("", "D", "y", "", "-1", ""),
    )
    corpus = load("asreview_hosted", tmp_path)
    assert [record.record_id for record in corpus.records] == [f"Zinc_2020:{i}" for i in (1, 2, 3, "row-5")]
    assert [record.abstract for record in corpus.records] == ["x", None, None, "y"]
    assert [(row.row, row.reason) for row in corpus.set_aside] == [
        (3, "its id 'Zinc_2020:1' is used before, in row 2 of Zinc_2020.csv")
    ]
    assert corpus.decisions("full_text") == {"Zinc_2020:3": "include"}
    assert noted(corpus, "contradicting labels, which were withdrawn: Zinc_2020:1 at full_text")
    assert noted(corpus, "2 label(s) are none of the known forms")
    assert noted(corpus, "included at full text but excluded before it: Zinc_2020:3")
    assert noted(corpus, "1 mark(s) name a record that is not there")


def test_a_file_that_is_not_the_one_of_the_card_is_a_note_and_not_an_error(tmp_path: Path) -> None:
    table(tmp_path / "ADHD.csv", ("pubmedID", "title", "abstract", "label_included"), ("5", "A", "x", "1"), ("", "B", "y", "0"))
    corpus = load("cohen2006", tmp_path)
    assert noted(corpus, "ADHD.csv: is not the file that the card was written against")
    assert noted(corpus, "ADHD: published are 851/84/20 records/abstract/final, loaded 1/0/1")
    assert [row.reason for row in corpus.set_aside] == ["has no PMID ('')"]


def test_missing_columns_parts_and_texts_are_one_sentence(tmp_path: Path) -> None:
    table(tmp_path / "ADHD.csv", ("pmid", "title"), ("5", "A"))
    cohen = SETS.get("cohen2006")
    with pytest.raises(InputError, match="has no column 'pubmedID'; its columns are: pmid, title"):
        cohen.load(tmp_path)
    with pytest.raises(InputError, match="did you mean 'ADHD'"):
        cohen.load(tmp_path, "ADDH")
    with pytest.raises(InputError, match="no such file or folder"):
        cohen.load(tmp_path, None, tmp_path / "none.csv")
    with pytest.raises(InputError, match="brings its own texts"):
        SETS.get("lassa").load(tmp_path, None, tmp_path)
    with pytest.raises(InputError, match="did you mean 'lassa'"):
        SETS.get("lasa")


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("ADHD.csv", b"", "the table is empty"),
        ("ADHD.csv", b'pubmedID,title\n1,"never closed\n2,B\n', "never closed"),
        ("ADHD.csv", b"<!DOCTYPE html><html>", "is a web page"),
        ("ADHD.csv.gz", b"\x1f\x8bbroken", "cannot be read"),
        ("ADHD.xlsx", b"PK\x03\x04nothing", "not a readable Excel workbook"),
        ("ADHD.jsonl", b'{"pubmedID": ', "not readable JSON"),
        ("ADHD.json", b'{"a": 1}', "holds no list"),
    ],
)
def test_tables_that_cannot_be_read_are_one_sentence(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    put(tmp_path / name, content)
    with pytest.raises(InputError, match="ADHD") as caught:
        SETS.get("cohen2006").load(tmp_path)
    assert words in str(caught.value)


def test_rows_with_other_cells_than_the_header_are_set_aside(tmp_path: Path) -> None:
    put(tmp_path / "ADHD.csv", "pubmedID,title,abstract,label_included\n1,A,x,1\n2,B\n3,C,y,0,extra\n4,D,z,0,\n")
    corpus = load("cohen2006", tmp_path)
    assert [record.pmid for record in corpus.records] == ["1", "4"]
    assert [row.row for row in corpus.set_aside] == [3, 4]


def test_lassa_gold_of_strangers_and_missing_gold_are_told(tmp_path: Path) -> None:
    head = ("id", "title", "abstract", "label_title_abstract", "label_full_text", "full_text_exclusion_reason", "tags")
    table(
        tmp_path / "records.csv",
        head,
        ("#1", "A", "", "include", "exclude", "1 duplicate", "Duplicate; x"),
        ("#2", "B", "", "exclude", "", "", ""),
        ("#3", "C", "", "include", "include", "left over", ""),
    )
    table(
        tmp_path / "extraction_gold" / "lassa_models.csv",
        ("covidence_id", "model_data_id", "model_type"),
        ("1", "m", "NA"),
        ("9", "n", "SEIR"),
    )
    corpus = load("lassa", tmp_path)
    assert [(f.record_id, f.field, f.value, f.item) for f in corpus.fields] == [("#1", "models.model_type", None, "models:m")]
    assert [row.reason for row in corpus.set_aside] == ["its covidence_id '9' is the id of no record"]
    assert noted(corpus, "models: gold for 1 record(s) that were not included: #1")
    assert noted(corpus, "lassa_outbreaks.csv is not there")
    assert noted(corpus, "1 record(s) carry the tag Duplicate")
    assert [label.reason for label in corpus.labels if label.record_id == "#3"] == [None, None]
    assert [(label.stage, label.reason) for label in corpus.labels if label.record_id == "#1"] == [
        ("title_abstract", None),
        ("full_text", "1 duplicate"),
    ]


def test_numbers_that_are_none_are_listed(tmp_path: Path) -> None:
    numbers = [
        f"{arm}_{name}"
        for arm in ("intervention", "comparator")
        for name in ("events", "group_size", "mean", "standard_deviation")
    ]
    head = ("id", "pmcid", "outcome", "intervention", "comparator", "split", *numbers)
    row = ("1", "PMC5", "pain", "zinc", "placebo", "TEST", "1,200", "40", "-1.5", "", "about 9", "40", "", "")
    table(
        tmp_path / "annotations.csv",
        head,
        row,
        ("1", "5", *row[2:]),
        ("2", "no", *row[2:]),
        ("3", "5", "a", "b", "c", "DEV", *[""] * 8),
    )
    corpus = load("rct_numeric", tmp_path)
    values = {field.field: field.value for field in corpus.fields if field.item == "ico:1"}
    assert (values["intervention_events"], values["intervention_mean"], values["comparator_mean"]) == (1200.0, -1.5, None)
    assert "comparator_events" not in values
    assert noted(corpus, "1 value(s) are no numbers and were left out: 'about 9' as comparator_events of ico:1")
    assert noted(corpus, "1 trial(s) stand in two splits: PMC5")
    assert noted(corpus, "1 record(s) have no full text: PMC5")
    assert [row.row for row in corpus.set_aside] == [3, 4]


def test_broken_criteria_are_one_sentence(tmp_path: Path) -> None:
    put(tmp_path / "Zinc_ids.csv", "openalex_id,label_included\nW1,1\n")
    put(tmp_path / "datasets.toml", "[[datasets")
    with pytest.raises(InputError, match="not readable TOML"):
        SETS.get("synergy").load(tmp_path)
    (tmp_path / "datasets.toml").unlink()
    corpus = load("synergy", tmp_path)
    assert noted(corpus, "datasets.toml is not there: no criteria")
    with pytest.raises(InputError, match="needs a column 'title'"):
        load("synergy", tmp_path, texts=table(tmp_path / "t" / "t.csv", ("doi", "abstract"), ("10.1000/1", "x")))
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no table of titles"):
        load("synergy", tmp_path, texts=tmp_path / "empty")
