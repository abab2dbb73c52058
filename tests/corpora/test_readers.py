import contextlib
import csv
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.corpora import Parsed, read_records, read_text_as
from litcascade.corpora.latex import plain
from litcascade.corpora.readers import detect
from litcascade.errors import InputError
from litcascade.schemas import AbstractStatus, Record

WOS = """\ufeffFN Clarivate Analytics Web of Science
VR 1.0
PT J
AU Doe, A
   Roe, B
AF Doe, Ana
   Roe, Ben
TI Honey and
   TI bees: a trial
AB First line
   of two.
SO JOURNAL OF EXAMPLES
DT Article; Early Access
EA NOV 2019
DI 10.5555/W.1
PM 99000901
UT WOS:0001
ER

stray words
PT C
TI Second, never ended
PY 2018
not tagged
   nor its rest
SO X
PT J
TI Third
ER

EF
"""


def expected(folder: Path) -> Any:
    return json.loads((folder / "expected.json").read_text(encoding="utf-8"))


def refused(parsed: Parsed) -> int:
    return sum(item.is_record for item in parsed.set_aside)


def agrees(record: Record, wanted: dict[str, Any]) -> None:
    for key, value in wanted.items():
        if key == "abstract_contains":
            for words in value:
                assert words in (record.abstract or "")
        elif hasattr(record, key):
            found = getattr(record, key)
            assert (list(found) if isinstance(found, tuple) else found) == value
        else:
            assert record.source[key] == value


def test_case_i01_what_stands_between_records_is_set_aside(cases: Path) -> None:
    folder = cases / "I01-ris-junk-between-records"
    wanted = expected(folder)
    parsed, _ = read_records(folder / "input.ris")
    assert len(parsed.records) == wanted["n_records"]
    assert [record.doi for record in parsed.records] == wanted["dois"]
    everything = json.dumps([record.model_dump(mode="json") for record in parsed.records])
    for words in wanted["no_field_contains"]:
        assert words not in everything
    assert parsed.set_aside
    assert sum("no end tag" in repair for repair in parsed.repairs) == wanted["import_report"]["records_without_ER"]


def test_case_i03_an_indented_line_always_continues(cases: Path) -> None:
    folder = cases / "I03-nbib-caps-continuation"
    wanted = expected(folder)
    parsed, receipt = read_records(folder / "input.nbib")
    assert (receipt.format, len(parsed.records)) == ("nbib", wanted["n_records"])
    agrees(parsed.records[0], wanted["record_0"])
    agrees(parsed.records[1], wanted["record_1"])
    assert not parsed.set_aside


@pytest.mark.parametrize("name", ["cp1252.ris", "utf16le.ris", "utf8_bom.ris", "utf8_then_bad_byte.ris"])
def test_case_i04_encodings(cases: Path, name: str) -> None:
    folder = cases / "I04-encodings"
    wanted = expected(folder)
    parsed, receipt = read_records(folder / name)
    assert len(parsed.records) == wanted["each_file_n_records"]
    assert parsed.records[0].title == wanted["title"]
    assert wanted["abstract_contains"] in (parsed.records[0].abstract or "")
    text = parsed.records[0].model_dump_json()
    assert wanted["no_char"] not in text
    text.encode("utf-8")
    assert receipt.encoding


def test_case_i05_title_and_abstract_are_found_record_by_record(cases: Path) -> None:
    folder = cases / "I05-ris-t1-ti-mixed"
    wanted = expected(folder)
    both = [read_records(folder / name) for name in ("embase.ris", "cinahl.ris")]
    records = [record for parsed, _ in both for record in parsed.records]
    assert len(records) == wanted["n_records"]
    assert sum(receipt.missing_titles for _, receipt in both) == wanted["n_missing_title"]
    assert sum(receipt.missing_abstracts for _, receipt in both) == wanted["n_missing_abstract"]
    assert [record.title for record in records] == wanted["titles"]
    assert [record.year for record in records] == wanted["years"]


def test_case_i07_markup_inside_text_cuts_nothing(cases: Path) -> None:
    folder = cases / "I07-pubmed-inline-markup"
    wanted = expected(folder)
    parsed, receipt = read_records(folder / "input.xml")
    assert (receipt.format, len(parsed.records)) == ("pubmed_xml", wanted.pop("n_records"))
    records = {record.pmid: record for record in parsed.records}
    for pmid, fields in wanted.items():
        agrees(records[pmid], fields)
    assert records["99000702"].abstract_status is AbstractStatus.OTHER_LANGUAGE


def test_case_i09_style_runs_are_joined(cases: Path) -> None:
    folder = cases / "I09-endnote-xml-style-runs"
    wanted = expected(folder)
    parsed, receipt = read_records(folder / "input.xml")
    assert (receipt.format, len(parsed.records)) == ("endnote_xml", wanted["n_records"])
    agrees(parsed.records[0], wanted["record_0"])
    agrees(parsed.records[1], wanted["record_1"])
    assert parsed.records[0].kind == "Journal Article"


def test_case_i10_no_entry_is_dropped(cases: Path) -> None:
    folder = cases / "I10-bibtex-dropped-entries"
    wanted = expected(folder)
    parsed, receipt = read_records(folder / "input.bib")
    assert receipt.in_file == wanted["n_entries_in_file"]
    assert (receipt.read, receipt.refused) == (wanted["n_records"], wanted["n_reported_bad"])
    assert [record.doi for record in parsed.records] == wanted["dois"]
    assert set(wanted["types_kept"]) <= {record.kind for record in parsed.records}
    assert [(item.line, item.raw[:20]) for item in parsed.set_aside] == [(14, "@article{broken2016,")]


def test_case_i11_delimiters_and_headers(cases: Path) -> None:
    folder = cases / "I11-csv-delimiter-headers"
    wanted = expected(folder)["eu_semicolon.csv"]
    parsed, _ = read_records(folder / "eu_semicolon.csv")
    assert (len(parsed.records), parsed.records[0].title) == (wanted["n"], wanted["title_0"])
    assert wanted["abstract_0_contains"] in (parsed.records[0].abstract or "")
    with pytest.raises(InputError, match="id, abstrcat, label; 'abstrcat' looks like 'abstract'"):
        read_records(folder / "only_ids.csv")
    wanted = expected(folder)["scopus_new_headers.csv"]
    record = read_records(folder / "scopus_new_headers.csv")[0].records[0]
    assert (record.title, record.abstract, record.authors) == (wanted["title"], wanted["abstract"], ("Doe, Ana", "Roe, Ben"))


def test_columns_can_be_declared(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("Nr;Kopf;Inhalt\n7;Zink;Worte\n", encoding="utf-8")
    record = read_records(path, {"title": "Kopf", "abstract": "inhalt", "record_id": "Nr"})[0].records[0]
    assert (record.record_id, record.title, record.abstract) == ("7", "Zink", "Worte")
    with pytest.raises(InputError, match="no column 'Kop' for title; did you mean 'Kopf'"):
        read_records(path, {"title": "Kop"})
    with pytest.raises(InputError, match="no field 'titel'"):
        read_records(path, {"titel": "Kopf"})


def test_case_i06_only_known_forms_become_labels(cases: Path) -> None:
    folder = cases / "I06-labels-misread"
    wanted = expected(folder)
    records = read_records(folder / "input.ris")[0].records
    assert {(record.title or "")[0]: next(iter(record.labels.values()), None) for record in records} == wanted["ris"]
    parsed, receipt = read_records(folder / "table.csv")
    assert {record.record_id: record.labels.get("full_text") for record in parsed.records} == wanted["csv"]
    assert receipt.labels == {"full_text: exclude": 1, "full_text: include": 2}


def test_case_i12_every_cell_is_text(cases: Path) -> None:
    folder = cases / "I12-csv-schema-inference"
    wanted = expected(folder)
    records = read_records(folder / "input.csv")[0].records
    assert (len(records), records[0].record_id, records[150].record_id) == (wanted["n"], wanted["first_id"], wanted["id_151"])
    assert (records[150].year, records[151].title) == (wanted["year_151"], wanted["title_152"])
    assert records[151].source["pages"] == wanted["pages_152"]


def test_case_i13_years_in_every_form(cases: Path) -> None:
    folder = cases / "I13-year-formats"
    forms: dict[str, tuple[Callable[[str], Parsed], str]] = {
        "DP": (partial(read_text_as, "nbib"), "PMID- 1\nDP  - {}\n"),
        "EA": (partial(read_text_as, "wos"), "PT J\nEA {}\nER\n"),
    }
    found, flagged = {}, []
    with (folder / "input.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            reader, text = forms.get(row["tag"], (partial(read_text_as, "ris"), f"TY  - JOUR\n{row['tag']}  - {{}}\nER  -\n"))
            record = reader(text.format(row["raw"])).records[0]
            found[row["key"]] = record.year
            flagged += [row["key"]] if record.year_note else []
            assert row["raw"] in json.dumps(record.source)
    assert found == expected(folder)["year"]
    assert flagged == expected(folder)["flag_for_hand_check"]


def test_nbib_keeps_what_it_does_not_understand_out_of_records() -> None:
    text = "\n".join(
        [
            "PMID- 1", "TI  - [Zinc in throats].", "SO  not a field", "      nor its rest", "OAB - Other words.",
            "DP  - in press", "DEP - 20160419", "AID - pii [pii]", "AID - 10.5555/n.1 [doi]", "PT  - Journal Article",
            "PT  - Retracted Publication", "", "TI  - no PMID opened this", "", "PMID-2", "TI  - [Not Available].", "TT  - Zink",
        ]
    )  # fmt: skip
    parsed = read_text_as("nbib", text)
    first, second = parsed.records
    assert (first.title, first.abstract, first.year, first.doi) == ("Zinc in throats", "Other words.", 2016, "10.5555/n.1")
    assert first.kind == "Journal Article; Retracted Publication"
    assert (second.pmid, second.title) == ("2", "Zink")
    assert [item.line for item in parsed.set_aside] == [3, 4, 13]


def test_nbib_with_blank_lines_between_fields_is_one_record_each() -> None:
    parsed = read_text_as("nbib", "PMID- 1\n\nTI  - One\n\n      more\n\nAB  - Text\n\nPMID- 2\n\nTI  - Two\n")
    assert [record.title for record in parsed.records] == ["One more", "Two"]
    assert not parsed.set_aside


def test_wos_is_read_whole_and_closed_at_each_start() -> None:
    parsed = read_text_as("wos", WOS)
    first, second, third = parsed.records
    assert (first.title, first.abstract) == ("Honey and TI bees: a trial", "First line of two.")
    assert (first.authors, first.year, first.doi) == (("Doe, Ana", "Roe, Ben"), 2019, "10.5555/w.1")
    assert (first.pmid, first.kind, first.journal) == ("99000901", "Article; Early Access", "JOURNAL OF EXAMPLES")
    assert (second.title, second.year, second.journal, third.title) == ("Second, never ended", 2018, "X", "Third")
    assert [item.line for item in parsed.set_aside] == [20, 24, 25]
    assert any("line 21" in repair for repair in parsed.repairs)


def test_pubmed_xml_books_dates_and_a_damaged_record() -> None:
    good = (
        "<PubmedArticle><MedlineCitation><PMID>1</PMID><Article><Journal><JournalIssue><PubDate>"
        "<MedlineDate>1999 Spring</MedlineDate></PubDate></JournalIssue><Title>J Ex</Title></Journal>"
        "<ArticleTitle>One</ArticleTitle><AuthorList><Author><LastName>Doe</LastName><ForeName>Ana</ForeName></Author>"
        "<Author><CollectiveName>The Group</CollectiveName></Author></AuthorList></Article></MedlineCitation>"
        "<PubmedData><ReferenceList><Reference><ArticleIdList><ArticleId IdType='doi'>10.5555/no</ArticleId></ArticleIdList>"
        "</Reference></ReferenceList><ArticleIdList><ArticleId IdType='doi'>10.5555/x.1</ArticleId></ArticleIdList>"
        "</PubmedData></PubmedArticle>"
    )
    book = (
        "<PubmedBookArticle><BookDocument><PMID>2</PMID><Book><BookTitle>The Book</BookTitle><PubDate><Year>2009</Year></PubDate>"
        "</Book><Abstract><AbstractText>Words.</AbstractText><CopyrightInformation>(c)</CopyrightInformation></Abstract>"
        "</BookDocument></PubmedBookArticle>"
    )
    text = f"<?xml version='1.0' encoding='UTF-16'?>\n<PubmedArticleSet>{good}\n<PubmedArticle><MedlineCitation>\n{book}</PubmedArticleSet>"
    assert detect(text) == "pubmed_xml"
    parsed = read_text_as("pubmed_xml", text)
    one, two = parsed.records
    assert (one.year, one.doi, one.authors, one.journal) == (1999, "10.5555/x.1", ("Doe, Ana", "The Group"), "J Ex")
    assert (two.title, two.abstract, two.year, two.journal) == ("The Book", "Words.", 2009, None)
    assert [(item.line, item.is_record) for item in parsed.set_aside] == [(3, True)]
    assert read_text_as("pubmed_xml", "<PubmedArticleSet><PubmedArticle/></PubmedArticleSet>", "x").set_aside[0].is_record


def test_xml_entities_are_not_expanded_and_control_characters_are_counted() -> None:
    text = '<!DOCTYPE xml [<!ENTITY a SYSTEM "file:///etc/passwd">]><xml><records><record><titles><title>T\x0b&a;&#x1F;</title></titles></record></records></xml>'
    parsed = read_text_as("endnote_xml", text)
    assert parsed.records[0].title == "T&a;"
    assert any("2 control character(s)" in repair for repair in parsed.repairs)


def test_bibtex_macros_joins_accents_and_links() -> None:
    text = r"""Exported by hand
@string{jex = "Journal of " # {Examples}}
@comment{not, a record}
@preamble{"\newcommand{\x}{y}"}
@Article(k1, title = "G{\"o}del and the {DNA} of $\alpha$-keratin", journal = jex, month = jul # "~1", year = 2001
  author = {Bj{\o}rn, {\AA}sa and {Health and Safety} and M{\"u}ller, K. and others}, url = {https://e.org/~a\_b}, note = )
@misc{k2, title = {50\% of \{x\} \& y -- \textit{in vivo}}, abstract = {A \emph{new} way.}, date = {2003-04-01}, journal = unknownmacro}
@misc{k3, title = {Tail}} @book{k4, title={Same line}}
@phdthesis{k5, title = {No end}, year = {2020}
@misc{, title = {Ends \"quoted\" here}}
"""
    parsed = read_text_as("bibtex", text)
    one, two, three, four, six = parsed.records
    assert (one.title, one.journal, one.year) == ("Gödel and the DNA of α-keratin", "Journal of Examples", 2001)
    assert one.authors == ("Bjørn, Åsa", "Health and Safety", "Müller, K.")
    assert (one.url, one.source["month"]) == ("https://e.org/~a_b", ["jul~1"])
    assert (two.title, two.abstract, two.year) == ("50% of {x} & y – in vivo", "A new way.", 2003)
    assert (three.title, four.title, four.kind, six.title) == (
        "Tail",
        "Same line",
        "book",
        'Ends "quoted" here',
    )
    assert [(item.line, item.is_record) for item in parsed.set_aside] == [(1, False), (9, True)]
    assert any("unknownmacro" in repair for repair in parsed.repairs)
    assert [record.record_id for record in read_text_as("bibtex", "@misc{a, title={A}}\n@misc{b, title={B}}").records] == [
        "a",
        "b",
    ]


@pytest.mark.parametrize(
    ("latex", "text"),
    [
        (r"{\'E}tude \'{e}t\'e na{\"\i}ve {\c C}a\u{g} \v{s} \'\i", "Étude été naïve Ça" + "ğ š í"),
        (r"Stra{\ss}e \o re \L{}odz", "Straße øre Łodz"),
        (r"$p<0.05$ and $\geq$ 5, CO$_2$, 10$^{-3}$", "$p<0.05$ and ≥ 5, CO2, 10-3"),
        (r"US$5 and US$10, ~50 of Fig.~3", "US$5 and US$10, ~50 of Fig. 3"),
        (r"``So'' \unknown{kept}", "“So” \\unknownkept"),
    ],
)
def test_latex_becomes_plain_text(latex: str, text: str) -> None:
    assert plain(latex) == text


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("PMID- 1\nTI  - x\n", "nbib"),
        ("\n\nFN Web\nVR 1.0\nPT J\nER\n", "wos"),
        ("Scopus\nEXPORT DATE: 1, 2\n\n@ARTICLE{a,\n", "bibtex"),
        ("<?xml version='1.0'?>\n<PubmedBookArticle>", "pubmed_xml"),
        ("<xml><records><record><ref-type name='x'>", "endnote_xml"),
        ("<1> Ovid\nTY  - JOUR\nAB  - x\nPMID- 3\n", "ris"),
        ('id,title,abstract\n1,x,"y\n@misc{a, b}"\n', "csv"),
        ("PT\tAU\tTI\nJ\tx\ty\n", "csv"),
        ("<TEI></TEI>", None),
        ('[{"title": 1}]', "json"),
        ('{"title": 1}\n', "json"),
    ],
)
def test_the_format_is_told_from_content(text: str, name: str | None) -> None:
    assert detect(text) == name


@pytest.mark.parametrize("name", ["nbib", "wos", "bibtex", "pubmed_xml", "endnote_xml", "ris", "ovid", "csv", "json"])
@given(text=st.text() | st.text(alphabet="\"',;\t\n{}[]<>@:-= \\TYERtitle"))
def test_any_text_is_read_or_set_aside(name: str, text: str) -> None:
    try:
        parsed = read_text_as(name, text)
    except InputError:
        assert name in ("csv", "json")
        return
    assert [record.position for record in parsed.records] == list(range(1, len(parsed.records) + 1))
    with contextlib.suppress(InputError):
        read_text_as(detect(text) or "csv", text)


FRAGMENTS = {
    "nbib": ["PMID- {}", "TI  - {}", "AB  - {}", "      {}", "  {}", "", "{}", "AU  -{}", "SO- {}"],
    "wos": ["PT {}", "TI {}", "AU {}", "   {}", "", "ER", "EF", "{}", "AB"],
    "bibtex": [
        "@misc{{{},", "@article{{{}, title={{x}}}}", "title = {{{}}},", 'note = "{}"', "}}", "{{", '"', "{}", "@book ( {}, a = 1)",
        "url = {}", "\\{{{}", "\\", "#", "@online{{{},a=",
    ],
    "pubmed_xml": ["<PubmedArticle>", "</PubmedArticle>", "<MedlineCitation><PMID>{}</PMID></MedlineCitation>", "<x>", "{}", "&"],
    "endnote_xml": ["<record>", "</record>", "<titles><title><style>{}</style></title></titles>", "<xml>", "</xml>", "{}", "&"],
}  # fmt: skip
MARKS = {
    "nbib": r"^PMID-", "wos": r"^PT( |$)", "bibtex": r"^@\w+ *[{(]", "pubmed_xml": "<PubmedArticle>", "endnote_xml": "<record>",
}  # fmt: skip


@pytest.mark.parametrize("name", list(FRAGMENTS))
@given(data=st.data())
def test_counts_close_and_no_word_is_lost(name: str, data: st.DataObject) -> None:
    lines = data.draw(st.lists(st.sampled_from(FRAGMENTS[name]), max_size=25))
    words = [f"w{number}w" for number in range(len(lines))]
    text = "\n".join(line.format(word) for line, word in zip(lines, words, strict=True))
    parsed = read_text_as(name, text)
    assert len(parsed.records) + refused(parsed) == len(re.findall(MARKS[name], text, re.MULTILINE))
    kept = json.dumps([record.source for record in parsed.records]) + "".join(item.raw for item in parsed.set_aside)
    assert [word for word in words if word in text and word not in kept] == []


NAMES = (".ris", ".nbib", ".medline", ".xml", ".bib", ".isi", ".txt", ".csv", ".tsv")


def test_every_real_export_is_read_or_refused_in_one_sentence(corpora: Path) -> None:
    read: dict[str, int] = {}
    for path in sorted((corpora / "exports").rglob("*")):
        if path.suffix not in NAMES or not path.is_file():
            continue
        with contextlib.suppress(InputError):
            _, receipt = read_records(path)
            assert receipt.in_file == receipt.read + receipt.refused
            read[path.relative_to(corpora / "exports").as_posix()] = receipt.read
    folder = "asreview_citation_file_formatting/RIS/_baseline"
    assert read[f"{folder}.ris"] == read[f"{folder}_citavi.ris"] == 100
    assert len({read[f"{folder}_cochrane_{tool}.ris"] for tool in ("endnote", "procite", "refman")}) == 1
    assert len({read[f"{folder}_covidence_{tool}.ris"] for tool in ("endnote", "mendeley", "refworks", "zotero")}) == 1
    assert read["reflib_same_library/blue-light.xml"] == read["reflib_same_library/blue-light.ris"] == 102
    assert read["reflib_same_library/blue-light.nbib"] == 80
    assert (read["pubmed/metaknowledge_medline_test.medline"], read["pubmed/revtools_restoration_pubmed.nbib"]) == (175, 104)
    assert (read["wos/metaknowledge_savedrecs.txt"], read["wos/flashfloods_savedrecs501-557.bib"]) == (32, 57)
    assert read["scopus/lagisz_pfas_scopus.bib"] == read["scopus/lagisz_pfas_scopus.ris"] == 8


def test_a_record_inside_another_one_is_counted_and_set_aside() -> None:
    parsed = read_text_as("endnote_xml", "<record>\n<record>\n<titles><title>Zinc</title></titles></record>\n</record>")
    assert (len(parsed.records), refused(parsed)) == (1, 1)
    assert "Zinc" in str(parsed.records[0].source)
