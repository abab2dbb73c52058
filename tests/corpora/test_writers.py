import csv
import gc
import json
import weakref
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.corpora import asreview, read_records  # noqa: F401  (importing registers the reader)
from litcascade.corpora.abstracts import nothing, read_abstract
from litcascade.corpora.build import build
from litcascade.corpora.writers import WRITERS, About, Answer, Row, Written, format_of, write_records, write_table
from litcascade.corpora.writers.base import Cleaner, label_of
from litcascade.corpora.writers.bibtex import citation_key
from litcascade.errors import InputError
from litcascade.schemas import Record

ABOUT = About("A review", ("title_abstract", "full_text"), criteria="Adults; not animals")
NAMES = {
    "ris": "x.ris", "csv": "x.csv", "tsv": "x.tsv", "xlsx": "x.xlsx", "bibtex": "x.bib", "parquet": "x.parquet",
    "jsonl": "x.jsonl", "asreview": "x.asreview", "asreview_csv": "x.asreview.csv", "hf_text": "t.parquet", "hf_pair": "p.jsonl",
}  # fmt: skip
FOLDED = ("ris", "bibtex")  # formats of one line a value: blanks and line ends in an abstract become single blanks
SINGLE = ("asreview", "asreview_csv", "hf_text", "hf_pair")  # formats whose one label comes back as that of `screening`
FIELDS = ("record_id", "title", "authors", "year", "journal", "volume", "issue", "pages", "doi", "pmid", "pmcid", "url", "status")
AWKWARD = (
    "=1+1", "+", "-", "--", "---", "@x", "'", "'=", '"', '""', ",", ";", "\\", "\\;", "{", "}", "$", "$x_1$", "%", "&", "#", "_",
    "~", "^", "``a''", "''", " and ", "and", "others", "\n", "\nTI  - x", "\nER  - ", "\n@article{x,", "\r\n", "\t", "|", " ", "  ",
    "😀", "שלום", "\u202e", "(12)", "\\textbf{x}", "\\'e", "\\alpha ", "<b>", "_x0041_", "&amp;", "\u2028", "\x85", "\xa0", "null",
    "0012", "1e5", "ß", "label_full_text: include", "{x}",
)  # fmt: skip
FREE = st.characters(exclude_categories=["Cs"], exclude_characters="\ue000\ue001\ue002\ue003")
TEXT = st.lists(st.sampled_from(AWKWARD) | st.text(FREE, max_size=6) | st.just("word "), min_size=1, max_size=9).map("".join)
LINK = st.text("abcXYZ019/?&=%_.~#{}-$;", max_size=15).map("https://example.org/a".__add__)


@st.composite
def records(draw: st.DrawFn) -> Record:
    """A record as a reader would build it, its text free of what no file holds."""
    clean = Cleaner()
    fields = {
        name: clean.text(value) if (value := draw(st.none() | TEXT)) is not None else None
        for name in ("title", "abstract", "journal", "volume", "issue", "pages")
    }
    fields["year"] = draw(st.none() | st.integers(1500, 2099).map(str))
    fields["doi"] = draw(st.none() | st.text("abz019.", min_size=1, max_size=8).map("10.5555/a".__add__))
    fields["pmid"] = draw(st.none() | st.integers(1, 10**8).map(str))
    fields["pmcid"] = draw(st.none() | st.integers(1, 10**8).map("PMC{}".format))
    fields["url"] = draw(st.none() | LINK)
    kinds = ("JOUR", "CHAP", "article", "comment", "Journal Article; Retracted Publication", "Conference paper")
    fields["kind"] = draw(st.sampled_from(kinds))
    authors = [clean.text(author) for author in draw(st.lists(TEXT, max_size=3))]
    labels = draw(st.dictionaries(st.sampled_from(("title_abstract", "full_text", "screening")), st.sampled_from(LABELS)))
    record_id = draw(TEXT.map(clean.text).filter(lambda text: not nothing(text)))
    return build(record_id, fields, authors, 1, {}, labels)


LABELS = ("include", "exclude", "maybe", "conflict")
STATES = st.dictionaries(
    st.sampled_from(("title_abstract", "full_text")), st.sampled_from(("included", "excluded", "referred", "pending"))
)
ROWS = st.lists(st.builds(Row, records(), STATES), min_size=1, max_size=3, unique_by=lambda row: row.record.record_id)


def expected_labels(row: Row, name: str) -> dict[str, str]:
    said = {"included": "include", "excluded": "exclude"}
    labels = {**row.record.labels, **{stage: said[state] for stage, state in row.states.items() if state in said}}
    label, _ = label_of(row, ABOUT)
    if name in SINGLE and label:
        labels["screening"] = label
    elif name == "asreview":
        labels.pop("screening", None)
    return labels


def agrees(back: Record, row: Row, name: str) -> None:
    record = row.record
    assert {field: getattr(back, field) for field in FIELDS} == {field: getattr(record, field) for field in FIELDS}
    abstract = " ".join(record.abstract.split()) if record.abstract and name in FOLDED else record.abstract
    assert (back.abstract, back.abstract_status) == read_abstract(abstract)
    assert back.kind == record.kind
    assert back.labels == expected_labels(row, name)


@pytest.mark.parametrize("name", NAMES)
@settings(max_examples=40, deadline=None)
@given(rows=ROWS)
def test_what_is_written_is_read_back(name: str, rows: list[Row], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("out") / NAMES[name]
    rows = [Row(record("the first", title="A file in which no record has a title is refused")), *rows]
    assert write_records(path, iter(rows), ABOUT, name) == Written(len(rows))
    parsed, receipt = read_records(path)
    assert (receipt.read, receipt.refused, parsed.set_aside) == (len(rows), 0, [])
    for back, row in zip(parsed.records, rows, strict=True):
        agrees(back, row, name)


@pytest.mark.parametrize("name", NAMES)
def test_real_exports_are_read_back(name: str, corpora: Path, tmp_path: Path) -> None:
    found = sorted((corpora / "exports" / "asreview_citation_file_formatting" / "RIS").glob("*.ris"))
    assert found
    for export in found:
        clean = Cleaner()
        rows = list(clean.rows(Row(one, {"title_abstract": "included"}) for one in read_records(export)[0].records[:40]))
        write_records(tmp_path / NAMES[name], rows, ABOUT, name)
        back = read_records(tmp_path / NAMES[name])[0].records
        assert len(back) == len(rows)
        for one, row in zip(back, rows, strict=True):
            agrees(one, row, name)


def record(record_id: str = "r1", **fields: str | None) -> Record:
    return build(record_id, {"year": "2020", "kind": "JOUR", **fields}, ["Ng, A."], 1, {})


def written(path: Path, *rows: Row, name: str | None = None) -> Record:
    write_records(path, rows, ABOUT, name)
    return read_records(path)[0].records[0]


@pytest.mark.parametrize("name", NAMES)
def test_a_writer_does_not_hold_the_rows(name: str, tmp_path: Path) -> None:
    alive: list[weakref.ref[Row]] = []

    def rows() -> Iterator[Row]:
        for number in range(60):
            row = Row(record(f"r{number}", title=f"Title {number}"))
            alive.append(weakref.ref(row))
            yield row
            del row
            gc.collect(0)
            assert sum(ref() is not None for ref in alive) < 5

    assert write_records(tmp_path / NAMES[name], rows(), ABOUT, name).rows == 60


@pytest.mark.parametrize("name", NAMES)
def test_control_characters_are_left_out_and_counted(name: str, tmp_path: Path) -> None:
    row = Row(record(title="Zi\x00nc\ud800 colds\ufeff", abstract="a\x08b\x0bc"))
    result = write_records(tmp_path / NAMES[name], [row], ABOUT, name)
    assert result.notes == ("5 control character(s) that no text file holds were left out",)
    back = read_records(tmp_path / NAMES[name])[0].records[0]
    assert (back.title, back.abstract) == ("Zinc colds", "ab c")


@pytest.mark.parametrize("name", NAMES)
def test_no_rows_make_a_file_without_records(name: str, tmp_path: Path) -> None:
    assert write_records(tmp_path / NAMES[name], [], ABOUT, name) == Written(0)
    with pytest.raises(InputError):
        read_records(tmp_path / NAMES[name])


def test_the_ending_says_the_format() -> None:
    assert {name: format_of(Path(name)) for name in ("A.RIS", "b.bib", "c.csv.part", "d.asreview", "e.asreview.csv")} == {
        "A.RIS": "ris", "b.bib": "bibtex", "c.csv.part": "csv", "d.asreview": "asreview", "e.asreview.csv": "asreview_csv",
    }  # fmt: skip
    with pytest.raises(InputError, match=r"x\.doc: the ending says the format; use \.ris, \.csv"):
        format_of(Path("x.doc"))
    assert set(NAMES) | {"hf_qa"} == set(WRITERS.names())


def test_a_line_like_a_start_tag_inside_a_cell_does_not_make_a_table_ris(tmp_path: Path) -> None:
    abstract = "The export began\nTY  - JOUR\nand went on"
    assert written(tmp_path / "x.csv", Row(record(abstract=abstract, title="T"))).abstract == abstract


def test_a_formula_gets_an_apostrophe_in_csv_and_stays_text_in_a_workbook(tmp_path: Path) -> None:
    for title in ("=1+1", "'=1+1", "''@x", "-5", "+4 and more", "'quoted'", "@cite"):
        assert written(tmp_path / "x.csv", Row(record(title=title))).title == title
        assert written(tmp_path / "x.xlsx", Row(record(title=title))).title == title
    write_records(tmp_path / "y.csv", [Row(record("=id", title="=1+1", abstract="@x"))], ABOUT)
    row = next(csv.DictReader((tmp_path / "y.csv").read_text(encoding="utf-8").splitlines()))
    assert (row["record_id"], row["title"], row["abstract"]) == ("'=id", "'=1+1", "'@x")
    assert write_table(["a"], [{"a": "-5"}, {"a": None}]) == 'a\n-5\n""\n'


def test_cells_of_a_workbook_are_text_but_for_the_year(tmp_path: Path) -> None:
    import python_calamine

    row = Row(record("0012", title="=1+1", url="https://example.org/x", volume="7", pages="10-20"))
    write_records(tmp_path / "x.xlsx", [row], ABOUT)
    sheet = python_calamine.CalamineWorkbook.from_path(tmp_path / "x.xlsx").get_sheet_by_name("records").to_python()
    found = dict(zip(sheet[0], sheet[1], strict=True))
    assert [found[name] for name in ("record_id", "title", "url", "volume", "pages", "year")] == [
        "0012", "=1+1", "https://example.org/x", "7", "10-20", 2020.0,
    ]  # fmt: skip


@pytest.mark.parametrize("text", ["word " * 20_000, "😀" * 40_000, "x" * 32_768, "a" + " b" * 16_384, "line\n" * 9_000])
def test_a_text_too_long_for_a_cell_goes_on_in_further_columns(tmp_path: Path, text: str) -> None:
    rows = [Row(record("r0", title="Short")), Row(record("r1", title="Long", abstract=text))]
    result = write_records(tmp_path / "x.xlsx", rows, ABOUT)
    assert "go on in abstract (continued 2)" in result.notes[0]
    assert [back.abstract for back in read_records(tmp_path / "x.xlsx")[0].records] == [None, text.strip()]


def test_a_text_that_just_fits_a_cell_has_no_further_column(tmp_path: Path) -> None:
    text = "x" * 32_767
    assert write_records(tmp_path / "x.xlsx", [Row(record(title="T", abstract=text))], ABOUT) == Written(1)
    assert read_records(tmp_path / "x.xlsx")[0].records[0].abstract == text


def test_a_long_list_of_authors_comes_back_from_a_workbook(tmp_path: Path) -> None:
    authors = tuple(f"Surname{n}, First; Middle" for n in range(3_000))
    row = Row(record(title="T").model_copy(update={"authors": authors}))
    assert written(tmp_path / "x.xlsx", row).authors == authors


def test_a_full_sheet_is_followed_by_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("litcascade.corpora.writers.workbook.SHEET_ROWS", 4)
    rows = [Row(record(f"r{n}", title=f"T{n}")) for n in range(7)]
    assert write_records(tmp_path / "x.xlsx", rows, ABOUT).rows == 7
    assert [back.record_id for back in read_records(tmp_path / "x.xlsx")[0].records] == [f"r{n}" for n in range(7)]


def test_ris_has_what_reference_managers_and_asreview_look_for(tmp_path: Path) -> None:
    own = build(
        "a 1", {"title": "T", "pages": "10-20", "kind": "Journal Article", "journal": "J", "pmid": "7"}, ["Ng, A."], 1, {}
    )
    row = Row(own.model_copy(update={"labels": {"screening": "include"}}), {"title_abstract": "referred"})
    write_records(tmp_path / "x.ris", [row], ABOUT)
    assert (tmp_path / "x.ris").read_text(encoding="utf-8").splitlines() == [
        "TY  - JOUR", "ID  - a 1", "TI  - T", "AU  - Ng, A.", "JO  - J", "SP  - 10", "EP  - 20", "AN  - 7", "DB  - PubMed",
        "N1  - litcascade kind: Journal Article", "N1  - title_abstract: referred", "N1  - ASReview_relevant", "ER  - ", "",
    ]  # fmt: skip


def test_a_record_without_a_kind_gets_the_general_one_of_its_format(tmp_path: Path) -> None:
    assert written(tmp_path / "x.ris", Row(record(title="T", kind=None))).kind == "GEN"
    assert written(tmp_path / "y.ris", Row(record(title="T", kind=None, journal="J"))).kind == "JOUR"
    assert written(tmp_path / "x.bib", Row(record(title="T", kind=None))).kind == "misc"
    assert written(tmp_path / "x.csv", Row(record(title="T", kind=None))).kind is None


def test_bibtex_escapes_what_latex_would_run_and_keeps_safe_ids_as_keys(tmp_path: Path) -> None:
    row = Row(record("smith:2020", title=r"50% of {A} & B_1 cost $5 \alpha ~ x^2 #1 -- yes"), {"title_abstract": "excluded"})
    write_records(tmp_path / "x.bib", [row], ABOUT)
    assert (tmp_path / "x.bib").read_text(encoding="utf-8") == (
        "@article{smith:2020,\n"
        r"  title = {50\% of \{A\} \& B\_1 cost \$5 \textbackslash{}alpha {\textasciitilde} x\textasciicircum{}2 \#1 -{}- yes},"
        "\n  author = {Ng, A.},\n  year = {2020},\n  litcascade_kind = {JOUR},\n  title_abstract = {excluded}\n}\n\n"
    )


def test_a_url_that_is_none_comes_back_from_bibtex(tmp_path: Path) -> None:
    for url in ("<Go to ISI>://0001", "http://example.com; http://www.example.com", "C:\\file_1.pdf"):
        assert written(tmp_path / "x.bib", Row(record(title="T", url=url))).url == url
    assert "url = {C:%5C" not in (tmp_path / "x.bib").read_text(encoding="utf-8")  # a bare percent sign begins a comment
    assert "url = {C:\\%5Cfile\\_1.pdf}" in (tmp_path / "x.bib").read_text(encoding="utf-8")


@given(st.sets(TEXT.map(lambda text: " ".join(text.split())).filter(bool), max_size=30))
def test_citation_keys_are_safe_and_differ(ids: set[str]) -> None:
    keys = {citation_key(record_id) for record_id in ids}
    assert len(keys) == len(ids)
    assert all(key.isascii() and not set(key) & set(" ,{}%#\\\"'()=~") for key in keys)


def test_one_label_is_taken_from_the_stage_then_from_imported_labels() -> None:
    base = Row(record(title="T"))
    labelled = replace(
        base, record=base.record.model_copy(update={"labels": {"screening": "exclude", "title_abstract": "include"}})
    )
    assert label_of(base, ABOUT) == (None, None)
    assert label_of(replace(base, states={"title_abstract": "referred"}), ABOUT) == (None, None)
    assert label_of(labelled, ABOUT) == ("include", "label title_abstract")
    assert label_of(replace(labelled, states={"title_abstract": "excluded"}), ABOUT) == ("exclude", "state title_abstract")
    assert label_of(labelled, replace(ABOUT, decided_at="full_text")) == ("exclude", "label screening")


def test_hugging_face_text_and_pair(tmp_path: Path) -> None:
    rows = [
        Row(record("a", title="Zinc", abstract="Adults."), {"title_abstract": "included"}),
        Row(record("b", title=None, abstract="Rats."), {"title_abstract": "excluded"}),
        Row(record("c", title="Tin"), {"title_abstract": "referred"}),
    ]
    write_records(tmp_path / "t.parquet", rows, ABOUT, "hf_text")
    frame = pl.read_parquet(tmp_path / "t.parquet")
    assert frame.select("record_id", "text", "label", "label_from", "title_abstract").rows() == [
        ("a", "Zinc\n\nAdults.", 1, "state title_abstract", "included"),
        ("b", "Rats.", 0, "state title_abstract", "excluded"),
        ("c", "Tin", None, None, "referred"),
    ]
    assert frame.schema["label"] == frame.schema["year"] == pl.Int64
    write_records(tmp_path / "p.jsonl", rows, ABOUT, "hf_pair")
    lines = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {tuple(line) for line in lines} == {("text", "text_pair", "label", *frame.columns[2:])[:4] + tuple(frame.columns[3:])}
    assert lines[1]["text"] == "Should this record be included?\n\nAdults; not animals"
    assert (lines[1]["text_pair"], lines[1]["label"]) == ("Rats.", 0)


def test_hugging_face_question_and_answer(tmp_path: Path) -> None:
    answers = (Answer("dose", "Which dose?", "5 mg", "They took 5 mg."), Answer("sex", "Which sex?", None))
    rows = [Row(record("a", title="Zinc"), answers=answers), Row(record("b", title="Tin"), {"title_abstract": "excluded"})]
    assert write_records(tmp_path / "q.jsonl", rows, ABOUT, "hf_qa").rows == 3
    lines = [json.loads(line) for line in (tmp_path / "q.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [tuple(line.values()) for line in lines] == [
        ("a#dose", "a", "Which dose?", "They took 5 mg.", "5 mg", None),
        ("a#sex", "a", "Which sex?", "Zinc", None, None),
        (
            "b#title_abstract",
            "b",
            "Should this record be included?\n\nAdults; not animals",
            "Tin",
            "exclude",
            "state title_abstract",
        ),
    ]
    assert list(lines[0]) == ["id", "record_id", "question", "context", "answer", "label_from"]


def test_a_hugging_face_folder_has_a_card_that_names_every_column(tmp_path: Path) -> None:
    about = replace(ABOUT, name='A "quoted": review')
    write_records(tmp_path / "set", [Row(record(title="T"))], about, "hf_text")
    card = (tmp_path / "set" / "README.md").read_text(encoding="utf-8")
    frame = pl.read_parquet(tmp_path / "set" / "data" / "train.parquet")
    head = card.split("---\n")[1]
    assert [line.removeprefix("  - name: ") for line in head.splitlines() if line.startswith("  - name: ")] == [
        *frame.columns,
        "train",
    ]
    assert 'pretty_name: "A \\"quoted\\": review"' in head
    assert "    num_examples: 1" in head
    with pytest.raises(InputError, match=r"x\.doc: a Hugging Face data set is"):
        write_records(tmp_path / "x.doc", [], ABOUT, "hf_text")
