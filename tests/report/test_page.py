"""Pages: well-formed, closed to the outside, inert; flows that sum; charts that hold their numbers."""

import math
import re
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import html as lxml_html

from litcascade.report.charts import Axis, Line, Shown, histogram, interval_chart, line_chart
from litcascade.report.flow import Box, Flow, Step, flow_svg
from litcascade.report.html import page_html
from litcascade.report.markdown import page_markdown
from litcascade.report.page import Block, Figure, Folded, Page, Points, Prose, Section, Verbatim
from litcascade.report.svg import ticks
from litcascade.report.tables import Table

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)> \"' & </style></svg>\x1b[31m\u202e ![x](http://evil.example/a.png)"
FLOW = Flow(
    (
        Step("Identification", Box("Records identified", 10, (("a.ris", 7), ("b.ris", 3))), (Box("Duplicates", 2),)),
        Step("Screening", Box("Records screened", 8), (Box("Excluded", 5, (("by models", 4), ("by people", 1))), Box("Waiting", 1, waits=True))),
        Step("Included", Box("Reports", 2, told=(("studies", 1),))),
    )
)  # fmt: skip


def tree_of(text: str) -> Any:
    """The page as parsed; lxml's own types are too wide to be read with."""
    return lxml_html.document_fromstring(text)


def whole(words: str) -> Page:
    """A page with every kind of block, the words in every place."""
    table = Table(words, ["name", words], [[words, 1.5], ["b", None]], [words])
    figure = Figure(words, flow_svg(FLOW, words), table, words)
    blocks: list[Block] = [
        table,
        figure,
        Folded(table),
        Prose(words),
        Prose(words, "warning"),
        Prose(words, "copy"),
        Points([words]),
        Verbatim(words, words),
    ]
    return Page(words, [words], [Section("One part", blocks), Section(words, blocks[3:])])


def test_a_page_loads_nothing_and_runs_nothing() -> None:
    text = page_html(whole(EVIL))
    tree = tree_of(text)
    assert {str(node.tag) for node in tree.iter() if isinstance(node.tag, str)} & {
        "script",
        "img",
        "iframe",
        "link",
        "object",
    } == set()
    for node in tree.iter():
        for name, value in node.attrib.items():
            assert not name.startswith("on")
            if name in ("href", "src", "xlink:href"):
                assert value.startswith("#")
    policy = tree.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
    assert policy.startswith("default-src 'none'; style-src 'unsafe-inline'; img-src data:")
    assert re.findall(r"url\((?!#)", text) == []
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_what_people_wrote_is_shown_sign_by_sign() -> None:
    tree = tree_of(page_html(whole("a <b>bold</b> & 'x'")))
    assert tree.xpath("//h1")[0].text == "a <b>bold</b> & 'x'"
    assert tree.xpath("//section//p")[0].text == "a <b>bold</b> & 'x'"
    assert tree.xpath("//b") == []
    assert tree.xpath("//section//pre")[0].text == "a <b>bold</b> & 'x'"


def test_commands_are_set_as_code_and_stay_inert() -> None:
    tree = tree_of(page_html(Page("t", [], [Section("s", [Prose("run `a <b>` now")])])))
    assert tree.xpath("//code")[0].text == "a <b>"


@given(st.text())
def test_any_text_gives_a_page_and_markdown_without_markup_of_its_own(words: str) -> None:
    tree = tree_of(page_html(Page("t", [words], [Section("s", [Table("t", ["a"], [[words]])])])))
    assert len(tree.xpath("//td")) == 1
    assert {node.tag for node in tree.xpath("//td//*")} == set()
    row = page_markdown(Page("t", [], [Section("s", [Table("t", ["a"], [[words]])])])).splitlines()
    line = row[next(i for i, one in enumerate(row) if one.startswith("| ---")) + 1]
    assert len(re.findall(r"(?<!\\)\|", line)) == 2
    assert not re.search(r"<[a-zA-Z/!]", line)
    assert not re.search(r"(?<!\\)[\[\]`]", line)


def test_numbers_keep_their_whole_value_beside_the_rounded_one() -> None:
    tree = tree_of(page_html(Page("t", [], [Section("s", [Table("t", ["v"], [[1 / 3], [None]])])])))
    cells = tree.xpath("//td")
    assert (cells[0].text, float(cells[0].get("data-value"))) == ("0.333", 1 / 3)
    assert (cells[1].text, cells[1].get("data-value")) == ("–", None)


def test_every_contents_link_has_its_section_and_ids_are_unique() -> None:
    page = whole("plain")
    twins = [Section("Übersicht", [Prose("a")]), Section("übersicht!", [Prose("b")]), Section("評", [Prose("c")])]
    tree = tree_of(page_html(Page("t", [], [*page.sections, *twins])))
    assert len(tree.xpath("//section")) == 5
    ids = tree.xpath("//*[@id]/@id")
    assert {link[1:] for link in tree.xpath("//nav//a/@href")} <= set(ids)
    assert len(ids) == len(set(ids))


def test_a_code_block_cannot_be_closed_from_inside() -> None:
    text = page_markdown(Page("t", [], [Section("s", [Verbatim("v", "```\n# not a heading\n````")])]))
    assert text.count("`````") == 2


def test_a_flow_that_sums_has_no_fault_and_one_that_does_not_says_where() -> None:
    assert FLOW.faults() == []
    broken = Flow((*FLOW.steps[:2], Step("Included", Box("Reports", 3))))
    assert broken.faults() == ["'Records screened' holds 8, but 6 leave it and 3 go on"]
    parts = Flow((Step("x", Box("A", 3, (("p", 1), ("q", 1)))),))
    assert parts.faults() == ["'A' holds 3, its parts sum to 2"]
    assert FLOW.sums()[0] == "Records identified: 10 = 2 duplicates + 8 that go on"


def test_the_diagram_shows_every_box_and_part_inside_its_frame() -> None:
    root = ET.fromstring(flow_svg(FLOW))
    words = " ".join(node.text or "" for node in root.iter(f"{SVG}text")).replace("\u00a0", " ")
    for said in (
        "Records identified (n = 10)",
        "a.ris (n = 7)",
        "Waiting (n = 1)",
        "by people (n = 1)",
        "studies (n = 1)",
        "Included",
    ):
        assert said in words
    assert "Records screened 8, Excluded 5, Waiting 1" in (root.find(f"{SVG}desc").text or "")  # type: ignore[union-attr]
    _, _, width, height = map(float, root.get("viewBox", "").split())
    for box in root.iter(f"{SVG}rect"):
        assert float(box.get("x", 0)) + float(box.get("width", 0)) <= width
        assert float(box.get("y", 0)) + float(box.get("height", 0)) <= height


def test_a_line_chart_puts_points_where_the_numbers_are() -> None:
    x, y = Axis("w", 1, 100, log=True), Axis("v", 0, 1)
    root = ET.fromstring(line_chart([Line("a", [1, 10, 100], [0, 0.5, 1])], x, y, "t", "d"))
    path = next(node.get("d", "") for node in root.iter(f"{SVG}path") if node.get("d", "").count("L") == 2)
    places = [tuple(map(float, part.split())) for part in re.split("[ML]", path) if part]
    assert places[1][0] == pytest.approx((places[0][0] + places[2][0]) / 2, abs=0.2)  # log: 10 stands halfway
    assert places[1][1] == pytest.approx((places[0][1] + places[2][1]) / 2, abs=0.2)
    assert places[0][1] > places[2][1]


def test_series_differ_without_colour() -> None:
    lines = [Line(name, [0, 1], [0, 1], dots=True) for name in "abcd"]
    root = ET.fromstring(line_chart(lines, Axis("x", 0, 1), Axis("y", 0, 1), "t", "d"))
    dashes = {node.get("stroke-dasharray") for node in root.iter(f"{SVG}path") if node.get("stroke-width") == "2"}
    assert len(dashes) == 4


def test_bars_are_as_high_as_their_counts() -> None:
    root = ET.fromstring(histogram([0, 0.5, 1], {"one": [4, 2], "two": [0, 1]}, "x", "t", "d"))
    bars = [float(node.get("height", 0)) for node in root.iter(f"{SVG}rect") if node.find(f"{SVG}title") is not None]
    assert len(bars) == 4
    assert bars[0] == pytest.approx(2 * bars[1], rel=0.01)
    assert bars[2] == 0


def test_an_undefined_estimate_is_drawn_as_the_word() -> None:
    root = ET.fromstring(interval_chart([Shown("a", None), Shown("b", 0.5, 0.4, 0.6)], Axis("x", 0, 1), "t", "d"))
    words = [node.text for node in root.iter(f"{SVG}text")]
    assert "undefined" in words
    assert len(list(root.iter(f"{SVG}circle"))) == 1


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_lie_within_their_axis_and_are_few(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert len(found) <= 8
    assert all(low - span * 1e-6 - 1e-9 <= tick <= low + span * (1 + 1e-6) + 1e-9 for tick in found)
    assert all(math.isfinite(tick) for tick in found)
