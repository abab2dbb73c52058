import contextlib
import csv
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.corpora import read_records, read_text_as
from litcascade.corpora.encoding import decode
from litcascade.corpora.labels import read_choices, read_labels
from litcascade.corpora.writers import write_csv, write_ris, write_table
from litcascade.errors import InputError
from litcascade.schemas import AbstractStatus, Record

RIS = """TY  - JOUR
ID  - a1
TI  - Zinc for colds: a trial
AB  - Adults took zinc.
 It helped.
AU  - Ng, A.
AU  - Díaz, B.
PY  - 2020//
DO  - https://doi.org/10.5555/ABC.1
ER  -
"""


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_case_i14_missing_placeholder_and_cut_abstracts(cases: Path) -> None:
    folder = cases / "I14-missing-abstracts"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    parsed, receipt = read_records(folder / "input.csv")
    assert len(parsed.records) == expected["n"]
    assert {record.record_id: record.abstract_status.value for record in parsed.records} == expected["abstract_status"]
    assert receipt.missing_abstracts == expected["report_counts"]["missing"]
    assert receipt.cut_abstracts == expected["report_counts"]["truncated"]
    assert receipt.missing_titles == expected["report_counts"]["no_title"]
    for record in parsed.records:
        assert record.abstract not in expected["never_sent_to_model_as_text"]


def test_ris_is_read_whole() -> None:
    record = read_text_as("ris", RIS).records[0]
    assert (record.record_id, record.title, record.year, record.doi) == ("a1", "Zinc for colds: a trial", 2020, "10.5555/abc.1")
    assert record.abstract == "Adults took zinc. It helped."
    assert record.authors == ("Ng, A.", "Díaz, B.")


def test_a_missing_end_tag_and_text_between_records_melt_nothing() -> None:
    text = "Search history line\n" + RIS.replace("ER  -\n", "") + RIS.replace("a1", "a2") + "3.\nUR  - stray\n"
    parsed = read_text_as("ris", text)
    assert [record.record_id for record in parsed.records] == ["a1", "a2"]
    assert [item.line for item in parsed.set_aside] == [1, 21, 22]
    assert any("no end tag" in repair for repair in parsed.repairs)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252"])
def test_every_encoding_gives_the_same_record(tmp_path: Path, encoding: str) -> None:
    parsed, _ = read_records(write(tmp_path / "x.ris", RIS.encode(encoding)))
    assert parsed.records[0].authors[1] == "Díaz, B."


def test_one_bad_byte_is_read_and_counted(tmp_path: Path) -> None:
    raw = RIS.encode().replace(b"Adults", b"Adults\x92")
    parsed, receipt = read_records(write(tmp_path / "x.ris", raw))
    assert parsed.records[0].abstract == "Adults’ took zinc. It helped."
    assert any("1 byte(s)" in repair for repair in receipt.repairs)


@given(st.binary())
def test_decoding_never_fails_and_never_writes_a_replacement_of_its_own(raw: bytes) -> None:
    decoded = decode(raw)
    decoded.text.encode("utf-8")
    if b"\xef\xbf\xbd" not in raw and not decoded.encoding.startswith("utf-16") and not decoded.encoding.startswith("utf-32"):
        assert "\ufffd" not in decoded.text


@given(st.text())
def test_any_text_as_ris_or_csv_gives_records_or_one_sentence(text: str) -> None:
    read_text_as("ris", text)
    with contextlib.suppress(InputError):
        read_text_as("csv", text)


words = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1, max_size=12).map(str.strip).filter(bool)
titles = (
    st.lists(words, min_size=1, max_size=5)
    .map(" ".join)
    .filter(lambda title: title.casefold() not in ("nan", "none", "null", "na", "n/a", "abstract", "-", "--", "."))
)


@given(st.lists(st.tuples(titles, titles, st.integers(1900, 2030)), min_size=1, max_size=8))
def test_what_is_written_reads_back_the_same(rows: list[tuple[str, str, int]]) -> None:
    records = [
        Record(record_id=f"r{i}", title=title, authors=(f"Author{i}, A.",), year=year, journal=journal.replace(";", ","))
        for i, (title, journal, year) in enumerate(rows)
    ]
    for back in (read_text_as("ris", write_ris((r, {}) for r in records)).records,):
        assert [(r.record_id, r.title, r.year, r.journal, r.authors) for r in back] == [
            (r.record_id, r.title, r.year, r.journal, r.authors) for r in records
        ]


def test_csv_round_trip_keeps_ids_and_quotes(tmp_path: Path) -> None:
    record = Record(
        record_id="0012", title='A "quoted", title', abstract="Line one; line two", abstract_status=AbstractStatus.OK, year=2001
    )
    path = write(tmp_path / "x.csv", write_csv([(record, {"title_abstract": "included"})], ["title_abstract"]))
    back = read_records(path)[0].records[0]
    assert (back.record_id, back.title, back.abstract, back.year) == ("0012", record.title, record.abstract, 2001)


def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless() -> None:
    text = write_table(["a"], [{"a": "=1+1"}, {"a": "-5"}, {"a": "@x"}, {"a": None}])
    assert [row[0] if row else "" for row in csv.reader(text.splitlines())] == ["a", "'=1+1", "-5", "'@x", ""]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.ris", "", "empty"),
        ("a.ris", "   \n ", "empty"),
        ("a.ris", b"%PDF-1.7 x", "a PDF"),
        ("a.csv", b"PK\x03\x04xx", "zip"),
        ("a.ris", "<!DOCTYPE html><html>busy</html>", "web page"),
        ("a.ris", "just some words", "not recognised"),
        ("a.csv", "id,year\n1,2000\n", "id, year"),
        ("a.ris", b"\x00\x01\x02\x03" * 50, "binary"),
    ],
)
def test_what_is_no_export_is_named_for_what_it_is(tmp_path: Path, name: str, content: str | bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_records(write(tmp_path / name, content))


def test_an_id_that_two_records_share_is_neither_ones(tmp_path: Path) -> None:
    parsed, receipt = read_records(write(tmp_path / "a.csv", "id,title\nx,One\nx,Two\ny,Three\n,Four\na:2,Five\n"))
    assert [record.record_id for record in parsed.records] == ["a':1", "a':2", "y", "a':4", "a:2"]
    assert [record.source.get("id") for record in parsed.records] == ["x", "x", "y", None, "a:2"]
    assert any("'x', are used by 2 records" in repair for repair in receipt.repairs)
    assert any("1 record(s) have no id" in repair for repair in receipt.repairs)


def test_a_folder_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_records(tmp_path)
    with pytest.raises(InputError, match="no such file"):
        read_records(tmp_path / "nope.ris")


def test_a_row_with_too_few_cells_is_set_aside_and_counted(tmp_path: Path) -> None:
    parsed, receipt = read_records(write(tmp_path / "a.csv", "id;title;year\n1;One;2000\n2;Two\n3;Three;2001\n"))
    assert [record.record_id for record in parsed.records] == ["1", "3"]
    assert (receipt.in_file, receipt.read, receipt.refused) == (3, 2, 1)


def test_only_known_forms_become_labels(tmp_path: Path) -> None:
    path = write(tmp_path / "gold.csv", "record_id,title_abstract\na,Include\nb,0\nc,-1\nd,\ne,1.0\n")
    assert {label.record_id: label.decision for label in read_labels(path)} == {"a": "include", "b": "exclude", "e": "include"}
    with pytest.raises(InputError, match="line 2: 'perhaps' is not a known label"):
        read_labels(write(path, "record_id,title_abstract\na,perhaps\n"))
    with pytest.raises(InputError, match="no column holds record ids"):
        read_labels(write(path, "name,title_abstract\na,include\n"))
    with pytest.raises(InputError, match="no column 'decision'"):
        read_choices(write(path, "record_id,stage\na,full_text\n"))


def test_the_lassa_export_is_read_whole(corpora: Path) -> None:
    parsed, receipt = read_records(corpora / "lassa" / "records.csv")
    assert (receipt.in_file, receipt.read, receipt.missing_abstracts) == (2817, 2817, 686)
    labels = read_labels(corpora / "lassa" / "records.csv")
    assert sum(label.stage == "full_text" and label.decision == "include" for label in labels) == 193
    assert parsed.records[0].record_id == "#1"
