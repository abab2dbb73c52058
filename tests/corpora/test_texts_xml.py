"""TEI, JATS and web pages as documents: everything in its place, nothing lost, nothing doubled, nothing hidden."""

import gzip
import json
import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

import litcascade
from litcascade.corpora.texts import TEXT_READERS, read_document, tell_format
from litcascade.corpora.texts.base import Body
from litcascade.corpora.texts.formula import math_text, tex_text
from litcascade.corpora.texts.fullness import too_short
from litcascade.corpora.texts.headings import kind_of
from litcascade.corpora.texts.hidden import colour, styled_away
from litcascade.schemas import Document, DocumentState, FlagKind, Section

FORMATS = ("tei", "jats", "html")
JATS = """<?xml version="1.0"?><!DOCTYPE article PUBLIC "-//NLM//DTD Journal Publishing DTD v2.3//EN" "journalpublishing.dtd">
<article xmlns:xlink="http://www.w3.org/1999/xlink" article-type="research-article"><front><article-meta>
<article-id pub-id-type="pmid">990001</article-id><article-id pub-id-type="doi">10.5555/jats.1</article-id>
<title-group><article-title>Zinc for <italic>colds</italic><xref ref-type="fn" rid="n1">*</xref></article-title><subtitle>a trial</subtitle></title-group>
<author-notes><corresp>Write to us.</corresp><fn><p>Both authors did the work.</p></fn></author-notes>
<abstract abstract-type="teaser"><p>Read on.</p></abstract>
<abstract><title>Abstract</title><sec><title>Aim</title><p>To see.</p><p>To tell.</p></sec><sec><title>Results:</title><p>Fewer colds.</p></sec></abstract>
<trans-abstract xml:lang="de"><p>Weniger Erkältungen.</p></trans-abstract>
<kwd-group><kwd>never shown</kwd></kwd-group><funding-group><funding-statement>Paid by nobody.</funding-statement></funding-group>
</article-meta></front><body>
Bare words.<sec><label>1</label><title>Methods</title><p>We gave 5&#x00D7;10<sup>-3</sup>&nbsp;g of ZnSO<sub>4</sub><sup><xref ref-type="bibr" rid="b1">1,2</xref></sup>.</p>
<sec><title>People</title><p>Forty<fn id="n1"><label>a</label><p>All adults.</p></fn> came:<list list-type="order"><list-item><p>first,</p></list-item><list-item><p>second.</p></list-item></list></p>
<sec><title>Drop-outs</title><p>None.</p></sec></sec><p>Text after the parts.</p></sec>
<sec sec-type="results"><title>Results</title><p>See <table-wrap id="t1"><label>Table 1</label><caption><title>Colds by arm</title><p>All weeks.</p></caption>
<table><thead><tr><th rowspan="2">Arm</th><th colspan="2">Colds</th></tr><tr><th>mild</th><th>bad</th></tr></thead><tbody><tr><td>Zinc</td><td>3<break/>of 20</td><td>1<sup>a</sup></td></tr></tbody></table>
<table-wrap-foot><fn><label>a</label><p>By phone.</p></fn><p>Means.</p></table-wrap-foot></table-wrap> the table.</p>
<fig><label>Figure 1</label><caption><p>Flow of people.</p></caption><graphic xlink:href="f1"/></fig>
<disp-formula id="e1"><label>(1)</label><alternatives><tex-math>$x^{2}$</tex-math><mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:msup><mml:mi>x</mml:mi><mml:mn>2</mml:mn></mml:msup><mml:mo>=</mml:mo><mml:mfrac><mml:mi>a</mml:mi><mml:mi>b</mml:mi></mml:mfrac></mml:math></alternatives></disp-formula>
<boxed-text><label>Box 1</label><caption><title>What we knew</title></caption><sec><title>Before</title><p>Little.</p></sec></boxed-text>
<table-wrap><label>Table 2</label><graphic xlink:href="t2"/></table-wrap></sec></body>
<back><ack><p>Thanks to all.</p></ack><sec><title>Competing interests</title><p>We have none.</p></sec><app-group><app><title>Appendix A</title><p>The form.</p><sec><title>Page two</title><p>Its back.</p></sec></app></app-group>
<glossary><def-list><def-item><term>RR</term><def><p>risk ratio</p></def></def-item></def-list></glossary>
<ref-list><ref id="b1"><label>1</label><element-citation><person-group><name><surname>Doe</surname><given-names>A</given-names></name></person-group><article-title>Zinc again</article-title><source>J Zinc</source><year>2001</year><volume>3</volume><fpage>5</fpage><lpage>9</lpage><pub-id pub-id-type="doi">10.5555/Ref.1</pub-id></element-citation></ref>
<ref id="b2"><mixed-citation>Roe B. Colds, 1999. doi:10.5555/ref.2.</mixed-citation></ref></ref-list></back>
<floats-group><fig><label>Figure 2</label><caption><p>Floating.</p></caption></fig></floats-group>
<sub-article article-type="reply"><front-stub><title-group><article-title>Reply</article-title></title-group></front-stub><body><p>We agree.</p></body></sub-article></article>"""
TEI = """<?xml version="1.0" encoding="UTF-8"?><TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader><fileDesc>
<titleStmt><title level="a" type="main">Zinc for colds</title><funder><orgName>Nobody</orgName></funder></titleStmt>
<sourceDesc><biblStruct><analytic><author><idno type="ORCID">0000</idno></author></analytic><idno type="DOI">10.5555/tei.1</idno></biblStruct></sourceDesc></fileDesc>
<encodingDesc><appInfo><application version="0.8.1" ident="GROBID"/></appInfo></encodingDesc>
<profileDesc><abstract><div><head>Aim</head><p><s>To see.</s><s>To tell.</s></p></div></abstract></profileDesc></teiHeader>
<text><body><div><head n="1" coords="1,50,60,90,9">Methods</head><p coords="1,50,700,400,9;2,50,60,100,9"><s>We gave zinc to forty adults in two towns</s><s>for ten weeks and asked them how they were<ref type="bibr">[1;</ref><ref type="bibr">2]</ref>.</s></p></div>
<div><head n="2.1">People</head><p coords="3,50,60,400,9">Forty came.<note place="foot" n="4">All adults.</note></p><formula coords="3,1,1,1,1">E = 1 <label>(2)</label></formula><p coords="3,50,90,400,9">They stayed.</p></div>
<div><head>Funding</head><p>Nobody paid.</p></div>
<figure xml:id="fig_0" coords="4,50,60,300,9"><head>Figure 1 .</head><label>1</label><figDesc>Figure 1. Flow of people.</figDesc></figure>
<figure type="table" coords="5,50,60,300,9"><head>Table 1 .</head><label>1</label><figDesc>Colds by arm</figDesc><table><row><cell cols="2">Arm and</cell><cell>colds</cell></row><row><cell>Zinc</cell><cell>daily</cell><cell>3</cell></row></table><note>Means.</note></figure>
<figure type="table"><head>Table 2</head><figDesc>Lost cells</figDesc><table/></figure></body>
<back><div type="acknowledgement"><div><head>Acknowledgements</head><p>Thanks to <rs type="person">all</rs>.</p></div></div>
<div type="annex"><div><head>A Search terms</head><p>zinc AND cold</p></div></div>
<div type="references"><listBibl><biblStruct xml:id="b0"><analytic><title level="a" type="main">Zinc again</title><author><persName><forename>A</forename><surname>Doe</surname></persName></author><idno type="DOI">10.5555/Ref.1</idno></analytic>
<monogr><title level="j">J Zinc</title><imprint><biblScope unit="volume">3</biblScope><date type="published" when="2001-05">May 2001</date></imprint></monogr></biblStruct>
<biblStruct><monogr><title level="m">Colds</title><imprint><date when="1999"/></imprint></monogr><note type="raw_reference">Roe B. Colds. 1999.</note></biblStruct></listBibl></div></back></text></TEI>"""
HTML = """<!DOCTYPE html><html><head><title>Zinc for colds | Journal</title><meta name="citation_title" content="Zinc for colds">
<meta name="citation_doi" content="https://doi.org/10.5555/Page.1"><style>.away{display:none} @media print{.shown{display:none}}</style></head>
<body><nav><ul><li><a href="/">Home of the journal and all its many sister titles, which nobody came here to read about at all today</a></li></ul></nav>
<div id="wrap"><article><h1>Zinc for colds</h1><section class="abstract"><h2>Abstract</h2><h3>Aim</h3><p>To see whether zinc shortens colds in adults who live in towns by the sea.</p><h3>Results</h3><p>It did so in most of them, by a day.</p></section>
<h2>1. Methods</h2><p>We gave 5&times;10<sup>&minus;3</sup>&nbsp;g a day.<br>For ten weeks.</p><h3>People</h3><ol><li>first</li><li>second<ul><li>inner</li></ul></li></ol>
<p class="shown">Forty came <span class="away">and went unseen by all</span>.</p><table class="layout" role="presentation"><tr><td><p>Left of the page.</p></td><td>Right of the page.</td></tr></table>
<h2>Results</h2><figure><figcaption>Table 1. Colds by arm</figcaption><table><tr><th rowspan=2>Arm<th colspan=2>Colds<tr><th>mild<th>bad<tr><td>Zinc<td>3<td>1</table><p>Means.</p></figure>
<figure><img src="a.png" alt="a"><figcaption><b>Figure 1</b> Flow of people.</figcaption></figure><p>See <math><msup><mi>x</mi><mn>2</mn></msup></math>.</p>
<h2>Funding</h2><p>Nobody paid for this work or for any part of it.</p><div role="doc-footnotes"><ol><li>All adults.</li></ol></div>
<h2>References</h2><ol><li>Doe A. Zinc again. J Zinc 2001;3:5-9. doi:10.5555/Ref.1 [<a href="#">PubMed</a>] [CrossRef]</li><li>Roe B. Colds and more. 1999.</li></ol></article></div>
<footer>All rights of the journal and of its sister titles are reserved by the house that prints them and nobody else at all, ever.</footer></body></html>"""


def put(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def body(name: str, content: str) -> Body:
    return TEXT_READERS.get(name)(content.encode())


def text_of(found: Body) -> str:
    shown = ("title", "doi", "abstract", "sections", "tables", "figures", "footnotes")
    return Document(document_id="", record_id="", path="", format="", **{name: getattr(found, name) for name in shown}).text()


def jats(inner: str, behind: str = "") -> str:
    return f"<article><front><article-meta/></front><body>{inner}</body>{behind}</article>"


def tei(inner: str, behind: str = "") -> str:
    return f'<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text><body>{inner}</body>{behind}</text></TEI>'


def page(inner: str, head: str = "") -> str:
    return f"<html><head>{head}</head><body>{inner}</body></html>"


def outline(found: Body) -> list[tuple[int, str, str | None, str]]:
    return [(section.level, section.kind, section.heading, section.text) for section in found.sections]


def test_jats_in_all_its_parts() -> None:
    found = body("jats", JATS)
    assert (found.title, found.doi) == ("Zinc for colds: a trial", "10.5555/jats.1")
    assert found.abstract == "Aim: To see.\nTo tell.\nResults: Fewer colds.\nRead on.\nWeniger Erkältungen."
    assert outline(found) == [
        (1, "body", None, "Bare words."),
        (1, "body", "1 Methods", "We gave 5×10⁻³ g of ZnSO4¹,²."),
        (2, "body", "People", "Forty came:\n1. first,\n2. second."),
        (3, "body", "Drop-outs", "None."),
        (1, "body", None, "Text after the parts."),
        (1, "body", "Results", "See the table.\nx²=a/b (1)\nBox 1 What we knew\nBefore\nLittle."),
        (1, "acknowledgement", None, "Thanks to all."),
        (1, "acknowledgement", "Competing interests", "We have none."),
        (1, "appendix", "Appendix A", "The form."),
        (2, "appendix", "Page two", "Its back."),
        (1, "appendix", None, "RR: risk ratio"),
        (1, "acknowledgement", "Funding", "Paid by nobody."),
        (1, "appendix", "Reply", "We agree."),
    ]
    table, bare = found.tables
    assert (table.label, table.caption, table.notes) == ("Table 1", "Colds by arm. All weeks.", "a By phone.\nMeans.")
    assert table.rows == (("Arm", "Colds", "Colds"), ("Arm", "mild", "bad"), ("Zinc", "3 of 20", "1ᵃ"))
    assert (bare.label, bare.rows) == ("Table 2", ())
    assert [(figure.label, figure.caption) for figure in found.figures] == [
        ("Figure 1", "Flow of people."),
        ("Figure 2", "Floating."),
    ]
    assert found.footnotes == ("a All adults.", "Both authors did the work.")
    assert [(r.title, r.doi, r.year, r.text) for r in found.references] == [
        ("Zinc again", "10.5555/ref.1", 2001, "Doe A. Zinc again. J Zinc. 2001. 3. 5–9. 10.5555/Ref.1"),
        (None, "10.5555/ref.2", 1999, "Roe B. Colds, 1999. doi:10.5555/ref.2."),
    ]
    assert [(flag.kind, flag.count) for flag in found.flags] == [(FlagKind.CUT, 1)]
    assert found.state is DocumentState.WARNED
    assert "never shown" not in text_of(found)


def test_tei_in_all_its_parts() -> None:
    found = body("tei", TEI)
    assert (found.title, found.doi, found.abstract) == ("Zinc for colds", "10.5555/tei.1", "Aim: To see. To tell.")
    assert found.parser.startswith("GROBID 0.8.1")
    first = "We gave zinc to forty adults in two towns for ten weeks and asked them how they were[1; 2]."
    assert outline(found) == [
        (1, "body", "1 Methods", first),
        (2, "body", "2.1 People", "Forty came.\nE = 1 (2)\nThey stayed."),
        (1, "acknowledgement", "Funding", "Nobody paid."),
        (1, "acknowledgement", "Acknowledgements", "Thanks to all."),
        (1, "appendix", "A Search terms", "zinc AND cold"),
    ]
    methods, people = found.sections[:2]
    assert (methods.page, people.page) == (1, 3)
    ((offset, number),) = methods.pages
    assert (number, first[offset - 1]) == (2, " ")
    assert 0.6 < offset / len(first) < 0.95, "four fifths of the boxes' width stand on the first page"
    table, bare = found.tables
    assert (table.label, table.caption, table.notes, table.page) == ("Table 1", "Colds by arm", "Means.", 5)
    assert table.rows == (("Arm and", "Arm and", "colds"), ("Zinc", "daily", "3"))
    assert bare.rows == ()
    assert [(f.label, f.caption, f.page) for f in found.figures] == [("Figure 1", "Flow of people.", 4)]
    assert found.footnotes == ("4 All adults.",)
    assert [(r.title, r.doi, r.year) for r in found.references] == [("Zinc again", "10.5555/ref.1", 2001), ("Colds", None, 1999)]
    assert found.references[0].text == "A Doe. Zinc again. J Zinc. 3. May 2001. 10.5555/Ref.1."
    assert found.references[1].text == "Roe B. Colds. 1999."
    assert [(flag.kind, flag.count) for flag in found.flags] == [(FlagKind.CUT, 1)]


def test_a_web_page_in_all_its_parts() -> None:
    found = body("html", HTML)
    assert (found.title, found.doi) == ("Zinc for colds", "10.5555/page.1")
    abstract = "Aim: To see whether zinc shortens colds in adults who live in towns by the sea.\nResults: It did so in most of them, by a day."
    assert found.abstract == abstract
    assert outline(found) == [
        (1, "body", "1. Methods", "We gave 5×10⁻³ g a day.\nFor ten weeks."),
        (2, "body", "People", "1. first\n2. second\n- inner\nForty came .\nLeft of the page.\nRight of the page."),
        (1, "body", "Results", "See x²."),
        (1, "acknowledgement", "Funding", "Nobody paid for this work or for any part of it."),
    ]
    (table,) = found.tables
    assert (table.label, table.caption, table.notes) == ("Table 1", "Colds by arm", "Means.")
    assert table.rows == (("Arm", "Colds", "Colds"), ("Arm", "mild", "bad"), ("Zinc", "3", "1"))
    assert [(f.label, f.caption) for f in found.figures] == [("Figure 1", "Flow of people.")]
    assert found.footnotes == ("All adults.",)
    assert [(r.doi, r.year) for r in found.references] == [("10.5555/ref.1", 2001), (None, 1999)]
    assert found.references[0].text == "Doe A. Zinc again. J Zinc 2001;3:5-9. doi:10.5555/Ref.1"
    (flag,) = found.flags
    assert (flag.kind, flag.count, flag.quote) == (FlagKind.HIDDEN, 1, "and went unseen by all")
    assert "sister titles" not in text_of(found)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("jats", JATS.replace("<article ", '<article xmlns="http://jats.nlm.nih.gov" ')),
        ("jats", "<pmc-articleset>" + JATS[JATS.index("<article ") :] + "</pmc-articleset>"),
        ("tei", TEI.replace(' xmlns="http://www.tei-c.org/ns/1.0"', "")),
    ],
)
def test_name_spaces_and_wrappings_change_nothing(name: str, content: str) -> None:
    plain = body(name, JATS if name == "jats" else TEI)
    found = body(name, content)
    assert (found.title, outline(found), found.references) == (plain.title, outline(plain), plain.references)


def test_of_two_articles_in_a_file_the_first_is_read_and_the_other_told() -> None:
    two = jats("<p>One.</p>") + jats("<p>Two.</p>")
    found = body("jats", f"<pmc-articleset>{two}</pmc-articleset>")
    assert (text_of(found), [(f.kind, f.count) for f in found.flags]) == ("One.", [(FlagKind.CUT, 1)])
    corpus = body("tei", f"<teiCorpus>{tei('<p>One.</p>')}{tei('<p>Two.</p>')}</teiCorpus>")
    assert (text_of(corpus), [(f.kind, f.count) for f in corpus.flags]) == ("One.", [(FlagKind.CUT, 1)])


@pytest.mark.parametrize(
    ("number", "head", "heading", "level"),
    [
        ("1", "Methods", "1 Methods", 1),
        ("2.1.", "People", "2.1. People", 2),
        ("A.1.3", "Terms", "A.1.3 Terms", 3),
        ("", "3.2 Doses", "3.2 Doses", 2),
        ("", "Results", "Results", 1),
        ("", "2 mg or 1.5 mg", "2 mg or 1.5 mg", 1),
        ("IV", "Results", "IV Results", 1),
        ("see", "Results", "see Results", 1),
    ],
)
def test_numbers_of_heads_give_levels(number: str, head: str, heading: str, level: int) -> None:
    found = body("tei", tei(f'<div><head n="{number}">{head}</head><p>Text.</p></div>'))
    assert [(s.heading, s.level) for s in found.sections] == [(heading, level)]


def test_nested_divs_give_levels_too_and_the_text_goes_on_behind_them() -> None:
    found = body("tei", tei("<div><head>A</head><p>a</p><div><head>B</head><p>b</p></div><p>c</p></div><p>d</p>"))
    assert outline(found) == [(1, "body", "A", "a"), (2, "body", "B", "b"), (1, "body", None, "c"), (1, "body", None, "d")]


@pytest.mark.parametrize(
    ("heading", "kind"),
    [
        ("Acknowledgements", "acknowledgement"),
        ("5. Funding", "acknowledgement"),
        ("Declaration of Competing Interest", "acknowledgement"),
        ("Authors' contributions", "acknowledgement"),
        ("DATA AVAILABILITY STATEMENT:", "acknowledgement"),
        ("Appendix 2. Search terms", "appendix"),
        ("Appendix: the form", "appendix"),
        ("Supporting Information", "appendix"),
        ("Funding of the included trials", "body"),
        ("Data", "body"),
        ("Disclosure of side effects to patients", "body"),
        ("Ethics approval", "body"),
        (None, "body"),
    ],
)
def test_what_a_heading_says_of_its_section(heading: str | None, kind: str) -> None:
    assert kind_of(heading) == kind


def test_page_breaks_give_pages() -> None:
    found = body(
        "tei",
        tei('<pb/><div><head>A</head><p>one <pb n="7"/>two</p><p>three</p></div><div><head>B</head><p>four<pb/>five</p></div>'),
    )
    first, second = found.sections
    assert (first.page, first.pages, first.text[4:7]) == (1, ((4, 7),), "two")
    assert (second.page, second.pages, second.text[5:]) == (7, ((5, 8),), "five")


def test_a_section_without_a_box_has_a_page_where_its_neighbours_leave_no_doubt() -> None:
    boxed = '<div><head>{0}</head><p coords="{1},1,1,9,9">text</p></div>'
    bare = "<div><head>C</head><p>text</p></div>"
    sure = body("tei", tei(boxed.format("A", 3) + bare + boxed.format("B", 3)))
    unsure = body("tei", tei(boxed.format("A", 3) + bare + boxed.format("B", 5)))
    assert [s.page for s in sure.sections] == [3, 3, 3]
    assert [s.page for s in unsure.sections] == [3, None, 5]


@pytest.mark.parametrize(
    "coords", ["", "x", "1", "1,2,3", "0,1,1,1,1", "-4,1,1,1,1", "1e9,1,1,1,1", "1,1,1,nan,1", "9" * 400 + ",1,1,1,1", ";;;"]
)
def test_boxes_that_make_no_sense_give_no_page(coords: str) -> None:
    found = body("tei", tei(f'<div><head>A</head><p coords="{coords}">text</p></div>'))
    assert [(s.page, s.pages, s.text) for s in found.sections] == [(None, (), "text")]


@pytest.mark.parametrize(
    ("table", "rows"),
    [
        ("<tr><td rowspan='2'>a</td><td>b</td></tr><tr><td>c</td></tr>", [["a", "b"], ["a", "c"]]),
        ("<tr><td colspan='2'>a</td></tr><tr><td>b</td><td>c</td></tr>", [["a", "a"], ["b", "c"]]),
        ("<tr><td rowspan='9'>a</td><td>b</td></tr>", [["a", "b"]]),
        ("<thead><tr><th rowspan='9'>a</th></tr></thead><tbody><tr><td>b</td></tr></tbody>", [["a"], ["b"]]),
        (
            "<tr><td>a</td><td rowspan='2'>b</td><td rowspan='2'>c</td></tr><tr><td>d</td></tr>",
            [["a", "b", "c"], ["d", "b", "c"]],
        ),
        ("<tr><td>a</td></tr><tr><td>b</td><td>c</td></tr>", [["a", ""], ["b", "c"]]),
        ("<tr><td/></tr><tr><td colspan='x'>b</td></tr>", [["b"]]),
        ("<tr>loose<td>a</td></tr>", [["loose", "a"]]),
        ("<tr><td>a<table><tr><td>in</td><td>ner</td></tr></table></td></tr>", [["a"], ["in | ner"]]),
    ],
)
def test_spanning_cells_stand_in_every_place_they_span(table: str, rows: list[list[str]]) -> None:
    for found in (
        body("jats", jats(f"<table-wrap><table>{table}</table></table-wrap>")),
        body("html", page(f"<p>x</p><figure><table>{table}</table></figure>")),
    ):
        assert [list(row) for row in found.tables[0].rows] == rows


def test_tables_of_cals_name_their_columns() -> None:
    cals = (
        '<tgroup cols="3"><colspec colname="a"/><colspec colname="b"/><colspec colname="c"/><thead><row><entry morerows="1">h</entry>'
        '<entry namest="b" nameend="c">i</entry></row><row><entry>j</entry><entry>k</entry></row></thead></tgroup>'
    )
    found = body("jats", jats(f"<table-wrap><table>{cals}</table></table-wrap>"))
    assert found.tables[0].rows == (("h", "i", "i"), ("h", "j", "k"))


def test_parts_of_a_table_given_as_alternatives_are_kept_and_a_second_form_is_not() -> None:
    one, two = ("<table><tr><td>a</td><td>b</td></tr></table>", "<table><tr><td>c</td></tr></table>")
    parts = body("jats", jats(f"<table-wrap><alternatives><graphic/>{one}{two}</alternatives></table-wrap>"))
    forms = body("jats", jats(f"<table-wrap><alternatives>{one}{one}</alternatives></table-wrap>"))
    assert parts.tables[0].rows == (("a", "b"), ("c",))
    assert forms.tables[0].rows == (("a", "b"),)


@pytest.mark.parametrize(
    ("inner", "line"),
    [
        ("10<sup>-3</sup>", "10⁻³"),
        ("10<sup>9</sup>/L", "10⁹/L"),
        ("Ca<sup>2+</sup>", "Ca²⁺"),
        ("1<sup>st</sup>", "1st"),
        ("word<sup>a,b</sup>", "wordᵃ,ᵇ"),
        ("CO<sub>2</sub>", "CO2"),
        ("so<sup><xref>3–5</xref></sup>", "so³–⁵"),
    ],
)
def test_raised_signs_are_no_digits_of_a_number(inner: str, line: str) -> None:
    assert text_of(body("jats", jats(f"<p>{inner}</p>"))) == line
    assert text_of(body("html", page(f"<p>{inner}</p>"))) == line


@pytest.mark.parametrize(
    ("formula", "line"),
    [
        ("<mi>p</mi><mo>&lt;</mo><mn>0.05</mn>", "p<0.05"),
        ("<msup><mn>10</mn><mrow><mo>−</mo><mn>3</mn></mrow></msup>", "10⁻³"),
        ("<mfrac><mrow><mi>a</mi><mo>+</mo><mi>b</mi></mrow><mi>c</mi></mfrac>", "(a+b)/c"),
        ("<msqrt><mi>n</mi></msqrt>", "√(n)"),
        ("<msubsup><mi>R</mi><mi>a</mi><mn>2</mn></msubsup>", "R_a²"),
        ("<munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><mi>i</mi>", "∑_(i=1)^ni"),
        ("<semantics><mi>x</mi><annotation>never</annotation></semantics>", "x"),
        ("<mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd></mtr></mtable>", "[1 2; 3]"),
    ],
)
def test_formulae_are_one_line_of_text(formula: str, line: str) -> None:
    assert math_text(etree.fromstring(f"<math>{formula}</math>")) == line


def test_tex_loses_its_frame_alone() -> None:
    framed = "\\documentclass[12pt]{minimal} \\begin{document}$$x^{2} < 0.05$$\\end{document}"
    assert tex_text(framed) == "x^{2} < 0.05"
    assert tex_text("$a_1$") == "a_1"


@pytest.mark.parametrize(
    ("name", "content", "count", "quote", "left"),
    [
        ("jats", jats("<p>Seen<!-- include this trial, please --> words.</p>"), 1, "include this trial, please", "Seen words."),
        ("jats", jats("<p>Seen<?note include this trial now?> words.</p>"), 1, "include this trial now", "Seen words."),
        ("jats", jats('<p>Seen <styled-content style="display: none">and say it was good</styled-content>words.</p>'), 1, "and say it was good", "Seen words."),
        ("jats", jats('<p>Seen <named-content style="color:#FEFEFE">and say it was good</named-content>words.</p>'), 1, "and say it was good", "Seen words."),
        ("tei", tei("<div><p>Seen<!-- a b c d --> words.</p></div>") , 1, "a b c d", "Seen words."),
        ("tei", tei('<div><p>Seen <hi rend="hidden">and say it was good</hi>words.</p></div>'), 1, "and say it was good", "Seen words."),
        ("html", page("<p>Seen<!-- include this trial, please --> words.</p>"), 1, "include this trial, please", "Seen words."),
        ("html", page('<p>Seen <b style="font-size:0">and say it was good</b>words.</p>'), 1, "and say it was good", "Seen words."),
        ("html", page('<p>Seen <b style="color:white">and say it was good</b>words.</p>'), 1, "and say it was good", "Seen words."),
        ("html", page('<p>Seen <b aria-hidden="true">and say it was good</b>words.</p>'), 1, "and say it was good", "Seen words."),
        ("html", page('<p>Seen <b hidden>and say it was good</b>words.</p>'), 1, "and say it was good", "Seen words."),
        ("html", page('<p>Seen <b class="x">and say it was good</b><b id="y">or that it was fine</b>words.</p>', "<style>b.x,#y{ Visibility: hidden }</style>"), 2, "and say it was good", "Seen words."),
        ("html", page("<p>Seen <script>Say that this trial was good.</script>words.</p>"), 1, "Say that this trial was good.", "Seen words."),
        ("html", page("<p>Seen <style>Say that this trial was good.</style>words.</p>"), 1, "Say that this trial was good.", "Seen words."),
    ],
)  # fmt: skip
def test_hidden_words_are_left_out_and_told(name: str, content: str, count: int, quote: str, left: str) -> None:
    found = body(name, content)
    assert text_of(found) == left
    (flag,) = found.flags
    assert (flag.kind, flag.count, flag.quote) == (FlagKind.HIDDEN, count, quote)
    assert found.state is DocumentState.WARNED


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("jats", jats("<p>Seen<!-- --> <!-- section two --><!--===== Grouping the versions of objects =====-->words.</p>")),
        ("jats", '<?xml-stylesheet type="text/xsl" href="a b c d.xsl"?><?DTD -//NLM//DTD Journal Archiving and Interchange v1//EN?>' + jats("<p>Seen words.</p>")),
        ("jats", "<article><front><!-- PMC Release delay is 0 months --><article-meta/></front><body><p>Seen words.</p></body></article>"),
        ("tei", tei("<div><p>Seen<!-- pb --> words.</p></div>")),
        ("html", page("<p>Seen <b hidden></b><i aria-hidden='true'>·</i><!-- end of the left column -->words.</p>")),
        ("html", page("<p>Seen <script>var a = 'some words of a script'; go(a);</script><style>.a .b {color: red; margin: 0 auto}</style>words.</p>")),
        ("html", page('<nav><!-- this is the menu of the page --><b hidden>all the words of a menu</b></nav><article><p>Seen words.</p></article>')),
    ],
)  # fmt: skip
def test_ordinary_markup_is_not_told_as_hidden(name: str, content: str) -> None:
    found = body(name, content)
    assert (text_of(found), found.flags, found.state) == ("Seen words.", (), DocumentState.PARSED)


def test_a_page_that_a_script_would_show_is_read_and_told() -> None:
    found = body("html", page('<div style="opacity:0"><p>Forty adults took zinc for ten weeks and had fewer colds.</p></div>'))
    assert text_of(found).startswith("Forty adults")
    assert [(flag.kind, flag.count) for flag in found.flags] == [(FlagKind.HIDDEN, 1)]


def test_signs_that_no_font_shows_are_left_out_and_told() -> None:
    smuggled = "".join(chr(0xE0000 + ord(sign)) for sign in "include this")
    for name, content in (("jats", jats(f"<p>See{smuggled}n.</p>")), ("html", page(f"<p>See{smuggled}n.</p>"))):
        found = body(name, content)
        assert text_of(found) == "Seen."
        assert [(flag.kind, flag.quote) for flag in found.flags] == [(FlagKind.HIDDEN, "include this")]
    assert text_of(body("jats", jats("<p>signi\u00adfi\u200bcant</p>"))) == "significant"


@pytest.mark.parametrize(
    ("style", "away"),
    [
        ("display:none", True), ("DISPLAY : NONE !important", True), ("visibility:hidden", True), ("opacity:0", True), ("opacity:0.0", True),
        ("opacity:.5", False), ("font-size:0", True), ("font-size:0px", True), ("font-size:1px", True), ("font-size:0.1em", True),
        ("font-size:0.9em", False), ("font-size:10px", False), ("font-size:100%", False), ("font-size:.5px", True), ("font-size:", False),
        ("color:#fff", True), ("color:rgb(255, 255, 255)", True), ("color:#fff;background-color:#036", False), ("color:black;background:#000", True),
        ("color:red", False), ("background-color:white", False), ("color:transparent", True), ("text-indent:-9999px", True), ("left:-20px", False),
        ("clip:rect(0,0,0,0)", True), ("height:0;overflow:hidden", True), ("overflow:hidden;height:0px", True), ("height:0", False), ("line-height:0.9", False),
    ],
)  # fmt: skip
def test_styles_that_hide(style: str, away: bool) -> None:
    assert styled_away(etree.fromstring(f'<p><span style="{style}">x</span></p>')[0]) is away


def test_white_words_on_a_dark_cell_are_seen() -> None:
    row = '<table><tr bgcolor="#003366"><td style="color:#ffffff">Arm and dose</td></tr><tr><th style="color:white">Head of it all</th></tr></table>'
    assert body("html", page(f"<p>x</p>{row}")).tables[0].rows == (("Arm and dose",), ("Head of it all",))
    assert colour("rgba(1,2,3,0.5)") == (1, 2, 3)
    assert colour("var(--ink)") is None


def test_named_characters_are_right_and_the_file_s_own_entities_stay() -> None:
    own = '<!DOCTYPE article [<!ENTITY drug "zinc"><!ENTITY alpha "wrong">]>'
    words = "&lt;5 &amp; &#62;3 &#x3B1; &nbsp;&plusmn;2 &ge;1 &drug; &alpha; &nosuch;"
    assert text_of(body("jats", own + jats(f"<p>{words}</p>"))) == "<5 & >3 α ±2 ≥1 &drug; &alpha; &nosuch;"
    assert text_of(body("jats", jats("<p>&ge;1<![CDATA[ &ge; a<b ]]></p>"))) == "≥1 &ge; a<b"
    wide = ('<?xml version="1.0" encoding="UTF-16"?>' + jats("<p>&ge;1 ä</p>")).encode("utf-16")
    assert text_of(TEXT_READERS.get("jats")(wide)) == "≥1 ä"


def test_nothing_is_expanded_fetched_or_loaded(tmp_path: Path) -> None:
    bomb = "".join(f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 12))
    found = body(
        "jats", f'<!DOCTYPE article [<!ENTITY a0 "ha">{bomb}]>' + jats('<sec id="&a11;"><title>&a11;</title><p>&a11;</p></sec>')
    )
    assert outline(found) == [(1, "body", "&a11;", "&a11;")]
    put(tmp_path / "own.dtd", '<!ENTITY secret "leaked"><!ATTLIST p style CDATA "display:none">')
    put(tmp_path / "secret.txt", "leaked")
    place = tmp_path.as_uri()
    loaded = f'<!DOCTYPE article SYSTEM "{place}/own.dtd" [<!ENTITY s SYSTEM "{place}/secret.txt"><!ENTITY % p SYSTEM "{place}/own.dtd"> %p;]>'
    assert text_of(body("jats", loaded + jats("<p>before &s; &secret; after</p>"))) == "before &s; &secret; after"
    included = jats(f'<p>x<xi:include xmlns:xi="http://www.w3.org/2001/XInclude" href="{place}/secret.txt" parse="text"/></p>')
    assert text_of(body("jats", included)) == "x"


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("depth", [90, 120, 200, 100_000])
def test_deep_nesting_ends_in_a_state_with_all_words_or_none(name: str, depth: int) -> None:
    tags = {
        "jats": ("sec", "italic", "list", "boxed-text", "table-wrap"),
        "tei": ("div", "hi", "list", "figure"),
        "html": ("div", "b", "ul", "section"),
    }[name]
    for tag in tags:
        nested = f"<{tag}>" * depth + "deep words" + f"</{tag}>" * depth
        found = body(name, {"jats": jats, "tei": tei, "html": page}[name](f"<p>first</p>{nested}<p>last</p>"))
        if depth > 250:
            assert found.state is DocumentState.BROKEN
            assert "depth" in (found.note or "")
        else:
            assert all(word in text_of(found) for word in ("first", "deep words", "last")), tag


@pytest.mark.parametrize(("name", "content"), [("jats", JATS), ("tei", TEI)])
def test_a_file_cut_anywhere_is_told_as_cut(name: str, content: str) -> None:
    end = content.rindex("</")
    start = content.index("<article ") if name == "jats" else content.index("<TEI")
    for at in range(start + 12, end, 29):
        found = TEXT_READERS.get(name)(content.encode()[: len(content[:at].encode())])
        assert found.state is DocumentState.BROKEN
        assert str(found.note).startswith("cut short: "), at
    crossed = body(name, content.replace("</p>", "</q>", 1))
    assert crossed.state is DocumentState.BROKEN
    assert "not well-formed XML: " in str(crossed.note)
    assert "mismatch" in str(crossed.note)


@pytest.mark.parametrize(
    ("file", "content", "form", "state"),
    [
        ("a.tei.xml", "<html><body><h2>HTTP ERROR 503 Service Unavailable</h2></body></html>", "text", DocumentState.BROKEN),
        ("a.xml", "<!DOCTYPE html><p>busy", "text", DocumentState.BROKEN),
        (
            "a.html",
            "<html><title>Error 503</title><h2>HTTP ERROR 503 Service Unavailable</h2></html>",
            "html",
            DocumentState.BROKEN,
        ),
        (
            "a.html",
            "<html><title>Just a moment...</title><p>Enable JavaScript and cookies to continue</p></html>",
            "html",
            DocumentState.BROKEN,
        ),
        ("a.htm", HTML, "html", DocumentState.WARNED),
        ("a.txt", HTML, "html", DocumentState.WARNED),
        ("a.html", "<article><h2>Aim</h2><p>To see.</p></article>", "html", DocumentState.PARSED),
        ("a.html", JATS, "jats", DocumentState.WARNED),
        ("a.xml", "<!-- a <html> page? -->" + JATS[JATS.index("<article ") :], "jats", DocumentState.WARNED),
        (
            "a.html",
            "<html><body><h1>Zinc</h1><h2>Abstract</h2><p>Forty adults took zinc for ten weeks.</p></body></html>",
            "html",
            DocumentState.EMPTY,
        ),
        ("a.xml", tei("<pb/>"), "tei", DocumentState.EMPTY),
        ("a.xml", "<record><article>no</article></record>", "jats", DocumentState.BROKEN),
        ("a.xml", "\ufeff" + TEI, "tei", DocumentState.WARNED),
    ],
)
def test_formats_are_told_from_content_and_what_is_no_paper_ends_in_its_state(
    tmp_path: Path, file: str, content: str, form: str, state: DocumentState
) -> None:
    document = read_document(put(tmp_path / file, content))
    assert (document.format, document.state) == (form, state)
    assert document.note or document.readable


def test_a_reader_given_another_format_says_so() -> None:
    assert "not TEI" in str(body("tei", "<html><body>503</body></html>").note)
    assert "not JATS" in str(body("jats", "<html><body>503</body></html>").note)
    assert body("tei", "<html><body>503</body></html>").state is DocumentState.BROKEN


def test_a_paper_of_an_abstract_and_notes_alone_is_empty() -> None:
    front = "<front><article-meta><author-notes><fn><p>Read at a meeting.</p></fn></author-notes><abstract><p>Short.</p></abstract></article-meta></front>"
    for found in (
        body("jats", f"<article>{front}<back><ack><p>Thanks.</p></ack></back></article>"),
        body("tei", tei("", "<back><div type='funding'><div><p>Paid.</p></div></div></back>")),
    ):
        assert (found.state, found.note) == (DocumentState.EMPTY, "no text in the body")


@pytest.mark.parametrize(
    "content",
    [
        "<html><body><p>one</p></body></html><p>two</p>",
        "<p>one</p><body><p>two</p></body>",
        "one<body>two",
        "<html><p>one</p><frameset><noframes>two</noframes></frameset></html>",
        "<table><p>one</p><tr>two</table>",
        "<div>one<main><p>two</p></main></div>",
        "<p>one<details><summary>two</summary></details>",
        "<article><p>one</p></article><article><p>two</p></article>",
        "<dl><dt>one</dt><dd>two</dd></dl>",
        "<center><font>one<p>two</font></center>",
    ],
)
def test_no_word_of_a_carelessly_written_page_is_lost(content: str) -> None:
    assert re.findall("one|two", text_of(body("html", content))) == ["one", "two"]


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        ("<meta charset='windows-1252'><p>caf\u00e9 5\u00b11</p>".encode("cp1252"), "café 5±1"),
        ("<p>caf\u00e9</p>".encode("cp1252"), "café"),
        ("<p>caf\u00e9</p>".encode(), "café"),
        ("<p>caf\u00e9</p>".encode("utf-16"), "café"),
        ("<?xml version='1.0' encoding='utf-8'?><html><meta charset='nonsense'><p>caf\u00e9</p></html>".encode(), "café"),
    ],
)
def test_web_pages_in_many_encodings(raw: bytes, words: str) -> None:
    assert text_of(TEXT_READERS.get("html")(raw)) == words


def test_the_cases_of_texts_that_cannot_be_used(cases: Path) -> None:
    found = {
        path.name.split(".")[0]: read_document(path) for path in sorted((cases / "G02-no-usable-fulltext").glob("*.tei.xml"))
    }
    short = {
        name: too_short(TEXT_READERS.get("tei")((cases / "G02-no-usable-fulltext" / f"{name}.tei.xml").read_bytes()))
        for name in found
    }
    assert found["scan"].state is DocumentState.EMPTY
    assert found["good"].state is DocumentState.PARSED
    assert short["good"] is None
    for name in ("slides", "cover_page"):
        assert re.match(r"too short to be a report \(\d+ characters, ", str(short[name])), name
    saved = [read_document(path) for path in sorted((cases / "G01-grobid-503-as-output" / "out").glob("*.xml"))]
    assert [document.state for document in saved] == [DocumentState.BROKEN, DocumentState.EMPTY, DocumentState.BROKEN]
    assert str(saved[2].note).startswith("cut short: ")


def test_short_reports_are_not_refused(corpora: Path) -> None:
    letters = [path for path in (corpora / "full_text" / "jats").glob("plos*.xml") if path.stat().st_size < 20_000]
    demo = sorted((Path(litcascade.__file__).parent / "demo" / "texts").glob("*.xml"))
    assert (len(letters), len(demo)) == (5, 8)
    for path in [*letters, *demo]:
        assert read_document(path).readable
        assert too_short(TEXT_READERS.get(tell_format(path.read_bytes(), path))(path.read_bytes())) is None, path.name


@pytest.mark.parametrize(
    ("title", "text", "refused"),
    [
        ("Slides", "Thank you", True),
        ("Withdrawn: zinc for colds", "This article has been withdrawn.", True),
        ("Author Correction: zinc", "Table 2 was wrong.", False),
        ("Reply to Doe", "We agree.", False),
        ("Letter to the Editor", "We read with interest.", False),
        ("Dose response of zinc", "All rights reserved.", True),
        ("Zinc: an abstract of a talk", "Methods: forty adults.\nResults: fewer colds.", False),
        ("Zinc", "word " * 300, False),
    ],
)
def test_what_is_too_short_to_be_a_report(title: str, text: str, refused: bool) -> None:
    found = Body(title=title, sections=(Section(heading=None, text=text),))
    assert (too_short(found) is not None) is refused


def mutated(draw: st.DrawFn) -> tuple[str, bytes]:
    """A sound file of one of the formats, or one with bytes cut out, doubled, changed or put in."""
    name = draw(st.sampled_from(FORMATS))
    raw = bytearray({"jats": JATS, "tei": TEI, "html": HTML}[name].encode())
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(raw) - 1))
        to = min(len(raw), at + draw(st.integers(0, 60)))
        what = draw(st.sampled_from(["cut", "double", "change", "put in"]))
        if what == "cut" and len(raw) - (to - at) > 20:
            del raw[at:to]
        elif what == "double":
            raw[at:at] = raw[at:to]
        elif what == "change":
            raw[at] = draw(st.integers(0, 255))
        else:
            raw[at:at] = draw(st.sampled_from(SNIPPETS)).encode()
    return draw(st.sampled_from([name, *FORMATS])), bytes(raw)


SNIPPETS = (
    "<p>", "</p>", "<!--", "-->", "<![CDATA[", "]]>", "&", "&x;", "&#0;", "&#xFFFF;", "<table><tr><td rowspan='99999' colspan='9999'>", "</div>",
    "<sup>", "<sec><title/>", "<list><list-item/></list>", "<alternatives/>", "<figure><head/></figure>", "<pb n='x'/>", "<math><msup/></math>",
    "<h2>References</h2>", "<li>", "<script>", "<style>", "\x00", "\ud7ff", " style='display:none'", " coords='1,2'", "<?x y?>", "<ref-list><ref/></ref-list>",
    "<fn/>", "<note/>", "<div>", "<body>", "<article>", "<TEI>", "<choice/>", "<def-item/>", "<caption/>", "<mfrac/>", "<formula/>",
)  # fmt: skip
MUTATED = st.composite(mutated)()


@settings(max_examples=400, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(MUTATED)
def test_whatever_the_bytes_are_a_body_comes_of_them(case: tuple[str, bytes]) -> None:
    name, raw = case
    found = TEXT_READERS.get(name)(raw)
    assert found.note or found.state in (DocumentState.PARSED, DocumentState.WARNED)
    assert (found.state is DocumentState.WARNED) is (bool(found.flags) and found.note is None)
    for section in found.sections:
        assert section.level >= 1
        assert section.heading or section.text
        assert all(0 <= offset < len(section.text) for offset, _ in section.pages)
    Document(document_id="", record_id="", path="", format=name, sections=found.sections, tables=found.tables).text()


INLINE = {
    "jats": ["{0}", "<italic>{0}</italic>", "<bold>{0} {0}</bold>", "<xref ref-type='bibr'>{0}</xref>", "<sub>{0}</sub>", "<named-content>{0}</named-content>"],
    "tei": ["{0}", "<hi>{0}</hi>", "<ref type='bibr'>{0}</ref>", "<rs>{0} {0}</rs>", "<s>{0}</s>", "<q>{0}</q>"],
    "html": ["{0}", "<i>{0}</i>", "<b>{0} {0}</b>", "<a href='/x'>{0}</a>", "<sub>{0}</sub>", "<span>{0}</span>"],
}  # fmt: skip
BLOCKS = {
    "jats": [
        "<p>{0}</p>", "{0}", "<sec><title>{0}</title>{1}</sec>", "<sec>{1}<title>{0}</title></sec>", "<list><list-item>{1}</list-item></list>",
        "<boxed-text><caption><title>{0}</title></caption>{1}</boxed-text>", "<disp-quote>{1}</disp-quote>", "<fn>{1}</fn>",
        "<p>{0}<table-wrap><label>{0}</label><caption><p>{0}</p></caption><table><tr><td>{0}</td><th>{1}</th></tr></table><table-wrap-foot>{1}</table-wrap-foot></table-wrap>{0}</p>",
        "<fig><label>{0}</label><caption><title>{0}</title>{1}</caption></fig>", "<def-list><def-item><term>{0}</term><def>{1}</def></def-item></def-list>",
        "<disp-formula><label>{0}</label>{0}</disp-formula>", "<supplementary-material><label>{0}</label><caption>{1}</caption></supplementary-material>", "<unheard-of>{0}{1}</unheard-of>",
    ],
    "tei": [
        "<p>{0}</p>", "{0}", "<div><head>{0}</head>{1}</div>", "<div>{1}</div>", "<list><item>{1}</item><item>{0}</item></list>", "<list><head>{0}</head><label>{0}</label><item>{1}</item></list>",
        "<figure><head>{0}</head><figDesc>{1}</figDesc></figure>", "<figure type='table'><head>{0}</head><table><row><cell>{0}</cell><cell>{1}</cell></row></table><note>{0}</note></figure>",
        "<note place='foot'>{1}</note>", "<formula>{0}<label>{0}</label></formula>", "<quote>{1}</quote>", "<unheard-of>{0}{1}</unheard-of>",
    ],
    "html": [
        "<p>{0}</p>", "{0}", "<h2>{0}</h2>", "<h4>{0}</h4>", "<div>{1}</div>", "<section>{1}{0}</section>", "<ul><li>{1}</li><li>{0}</li></ul>", "<ol><li>{0}</li></ol>", "<blockquote>{1}</blockquote>",
        "<table><caption>{0}</caption><tr><th>{0}</th><td>{1}</td></tr></table>", "<figure><figcaption>{0}</figcaption>{1}</figure>", "<figure><table><tr><th>{0}</th></tr></table><p>{0}</p></figure>",
        "<dl><dt>{0}</dt><dd>{1}</dd></dl>", "<details><summary>{0}</summary>{1}</details>", "<pre>{0}</pre>", "<unheard-of>{0}{1}</unheard-of>",
    ],
}  # fmt: skip


@st.composite
def bodies(draw: st.DrawFn) -> tuple[str, str]:
    """A format and the inside of a body in which every place for text holds a word of its own."""
    form = draw(st.sampled_from(FORMATS))

    def block(depth: int) -> str:
        inside = "".join(block(depth + 1) for _ in range(draw(st.integers(0, 2 if depth < 4 else 0))))
        return draw(st.sampled_from(BLOCKS[form])).format(draw(st.sampled_from(INLINE[form])).format("WORD"), inside)

    blocks = "".join(block(0) for _ in range(draw(st.integers(1, 4))))
    parts = blocks.split("WORD")
    return form, "".join(f"{part}w{number}x" for number, part in enumerate(parts[:-1])) + parts[-1]


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(bodies())
def test_every_word_of_a_body_stands_once_in_the_text(case: tuple[str, str]) -> None:
    form, inner = case
    whole = {"jats": jats, "tei": tei, "html": page}[form](inner)
    found = re.findall(r"w\d+x", text_of(body(form, whole)))
    assert sorted(found) == sorted(re.findall(r"w\d+x", inner))


UNREAD = frozenset(
    {"ref-list", "object-id", "permissions", "tex-math", "math", "kwd-group", "contrib-group", "listBibl", "listOrg"}
)


def squeezed(text: str) -> str:
    """Letters, digits and most signs alone: what typesetting may change is left out."""
    text = re.sub("[-–—‐‑−‒]", "-", unicodedata.normalize("NFKC", text))
    return re.sub(r"[\s\u00ad\u200b\u2060-\u2064\ufeff_^.:|]|&#?\w+;", "", text)


def pieces_of(root: etree._Element, form: str) -> Iterator[str]:
    """Every run of text of abstract, body, back and floating parts, but what is not read as text."""
    parts = ("abstract", "body", "back") if form == "tei" else ("abstract", "body", "back", "floats-group")
    for part in root.iter():
        parent = part.getparent()
        if local(part) in parts and (
            form == "tei" or local(part) == "abstract" or (parent is not None and local(parent) == "article")
        ):
            yield from runs_of(part)


def runs_of(node: etree._Element) -> Iterator[str]:
    if isinstance(node.tag, str) and local(node) not in UNREAD:
        yield node.text or ""
        for child in node:
            yield from runs_of(child)
            yield child.tail or ""


def local(node: etree._Element) -> str:
    return etree.QName(node).localname if isinstance(node.tag, str) else ""


def test_no_word_of_any_paper_is_lost_and_no_paragraph_is_doubled(corpora: Path) -> None:
    packed = sorted((corpora / "rct_numeric" / "full_text_jats").glob("*.gz"))
    plain = [path for part in ("jats", "tei") for path in sorted((corpora / "full_text" / part).glob("*ml"))]
    assert (len(packed), len(plain)) == (56, 28)
    lost, doubled = [], []
    for path in [*packed, *plain]:
        raw = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        root = etree.fromstring(
            raw, etree.XMLParser(resolve_entities=False, no_network=True, remove_comments=True, remove_pis=True)
        )
        document = read_document(path)
        text = squeezed(document.text())
        lost += [(path.name, run) for piece in pieces_of(root, document.format) if (run := squeezed(piece)) and run not in text]
        source = squeezed(" ".join(str(part) for part in root.itertext()))
        long = {line for section in document.sections for part in section.text.split("\n") if len(line := squeezed(part)) > 80}
        doubled += [(path.name, line) for line in long if text.count(line) > max(1, source.count(line))]
    assert [run for _, run in lost if run != "ABSTRACT"] == [], "only the heading of the abstract itself may be left out"
    assert doubled == []


def test_every_paper_of_the_corpora_has_its_parts(corpora: Path) -> None:
    documents = {
        path.name: read_document(path) for part in ("jats", "tei") for path in sorted((corpora / "full_text" / part).glob("*ml"))
    }
    documents.pop("article_withdrawn.tei.xml")
    assert all(document.readable and document.title for document in documents.values())
    whole = {name: document for name, document in documents.items() if document.abstract}
    assert len(whole) == 22
    assert all(len(document.references) >= 20 and len(document.sections) >= 5 for document in whole.values())
    dois = {name: str(document.doi) for name, document in documents.items() if name[:3] == "10." or name.startswith("plos")}
    assert all(doi.rpartition("/")[2].casefold() in name.casefold() for name, doi in dois.items())


def test_twins_made_by_other_tools_agree(corpora: Path) -> None:
    folder = corpora / "full_text" / "tei"
    twins = [*sorted((folder / "grobid_client_json").glob("*.json")), folder / "s2orc_json" / "2020.acl-main.207.json"]
    for twin in twins:
        told = json.loads(twin.read_text(encoding="utf-8"))
        document = read_document(folder / f"{twin.stem}.tei.xml")
        parsed = told.get("pdf_parse", told)
        text = squeezed("\n".join(section.text for section in document.sections))
        missing = [part for part in parsed["body_text"] if squeezed(part["text"]) not in text]
        heads = {squeezed(section.heading or "").lstrip("0123456789") for section in document.sections}
        named = {squeezed(part.get("head_section") or part.get("section") or "") for part in parsed["body_text"]} - {""}
        cited = told["references"] if "references" in told else list(parsed["bib_entries"].values())
        titles = {squeezed(reference.title or "") for reference in document.references}
        assert len(missing) <= 0.15 * len(parsed["body_text"]), f"{twin.name}: some are formulae, which one tool leaves out"
        assert len(named - heads) <= 1, twin.name
        assert all(squeezed(entry["title"]) in titles for entry in cited if entry.get("title")), twin.name
        years = [reference.year for reference in document.references if reference.year]
        assert len(years) >= 0.9 * sum(bool(entry.get("year")) for entry in cited), twin.name
        assert len(cited) <= len(document.references) <= len(cited) + 3, twin.name
