"""The report and a comparison in a real browser: nothing is asked of any host, nothing runs, all is reachable, print is whole."""

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.pipeline.comparing.comparing import compare_sides
from litcascade.pipeline.comparing.sides import load_sides
from litcascade.pipeline.comparing.telling import comparison_page
from litcascade.pipeline.report_page.assembling import report_page
from litcascade.report.html import page_html
from tests.desk.browsing import require_accessible, text
from tests.desk.making import harmonised, proposed
from tests.pipeline.test_graph import decide
from tests.pipeline.test_report_page import EVIL, INCLUDES, PANEL, answer, rows_of, two
from tests.support.reviews import REPORTS, ReviewFolder

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@pytest.fixture
def report(folder: ReviewFolder) -> Path:
    """A report with figures, lost records and a hostile title."""
    folder.protocol(PANEL, REPORTS)
    folder.records([*rows_of(range(1, 9)), {"id": "r9", "title": EVIL, "abstract": ""}])
    folder.gold([{"record_id": f"r{n}", "title_abstract": "include" if n in INCLUDES else "exclude"} for n in range(1, 10)])
    folder.run({"m": ScriptedBackend(answer)})
    folder.texts({f"r{n}": f"REPORT {n} of zinc, forty adults. " * 5 for n in (1, 2, 3, 4)})
    said: dict[str, str | None] = {"record_id": "r9", "stage": "title_abstract", "decision": "exclude", "note": EVIL}
    decide(folder, [said], by=f"Ada {EVIL}")
    folder.run({"m": ScriptedBackend(answer)})
    return written(folder)


def written(folder: ReviewFolder) -> Path:
    path = folder.path / "report.html"
    with folder.review.open() as store:
        path.write_text(page_html(report_page(folder.review, store)), encoding="utf-8")
    return path


def open_page(chrome: "Chrome", path: Path) -> str:
    chrome.get(path.as_uri())
    return text(chrome, "body")


def test_it_asks_nothing_of_any_host_and_runs_nothing(chrome: "Chrome", report: Path) -> None:
    chrome.get("about:blank")
    chrome.get_log("browser")  # type: ignore[no-untyped-call]
    said = open_page(chrome, report)
    assert "PRISMA 2020 flow diagram" in said
    loaded = chrome.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded == []
    assert [line for line in chrome.get_log("browser") if line["level"] in ("SEVERE", "WARNING")] == []  # type: ignore[no-untyped-call]
    assert chrome.execute_script("return [document.scripts.length, document.images.length, document.links.length > 0]") == [
        0,
        0,
        True,
    ]
    addresses = chrome.execute_script("return [...document.querySelectorAll('[href],[src]')].map(n => n.href || n.src)")
    assert all(str(address).startswith(report.as_uri() + "#") for address in addresses if isinstance(address, str))


def test_a_hostile_title_is_text(chrome: "Chrome", report: Path) -> None:
    open_page(chrome, report)
    assert chrome.execute_script("return document.documentElement.textContent.includes(arguments[0])", EVIL)
    assert chrome.execute_script("return document.querySelectorAll('img, script, iframe, object').length") == 0
    chrome.switch_to.default_content()  # an alert would have raised here


def test_figures_have_their_data_a_keystroke_away(chrome: "Chrome", report: Path) -> None:
    open_page(chrome, report)
    figures: list[dict[str, Any]] = chrome.execute_script(
        "return [...document.querySelectorAll('figure')].map(f => { const d = f.querySelector('details'); "
        "const hidden = d.querySelector('table').checkVisibility({contentVisibilityAuto: true}); d.querySelector('summary').focus(); "
        "return {name: f.querySelector('svg title').textContent, focused: document.activeElement === d.querySelector('summary'), "
        "hidden: !hidden, wide: f.querySelector('svg').getBoundingClientRect().width}; })"
    )
    assert len(figures) >= 5
    assert all(one["name"] and one["focused"] and one["hidden"] and one["wide"] > 300 for one in figures)
    from selenium.webdriver.common.action_chains import ActionChains

    chrome.execute_script("document.querySelector('figure summary').focus()")
    ActionChains(chrome).send_keys("\ue007").perform()
    assert chrome.execute_script(
        "const d = document.querySelector('figure details'); return d.open && d.querySelector('table').checkVisibility()"
    )


def test_print_is_whole(chrome: "Chrome", report: Path) -> None:
    """The PDF has pages and holds the text of every folded table; the flow is not cut at the edge of the paper."""
    pdfium = pytest.importorskip("pypdfium2")
    open_page(chrome, report)
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    chrome.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 690, "height": 1000, "deviceScaleFactor": 1, "mobile": False}
    )
    cut: list[Any] = chrome.execute_script(
        "const wide = document.documentElement.clientWidth; return [...document.querySelectorAll('figure svg')]"
        ".map(s => [s.querySelector('title').textContent, s.getBoundingClientRect().right - wide, s.parentElement.scrollWidth - "
        "s.parentElement.clientWidth]).filter(([, over, scrolled]) => over > 1 || scrolled > 1)"
    )
    assert cut == []
    chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    printed = chrome.execute_cdp_cmd("Page.printToPDF", {"printBackground": True, "preferCSSPageSize": True})
    pdf = pdfium.PdfDocument(base64.b64decode(printed["data"]))
    assert len(pdf) > 3
    words = ""
    for page in pdf:
        texts = page.get_textpage()
        words += " " + texts.get_text_bounded()
        edges = [texts.get_rect(place)[2] for place in range(texts.count_rects())]
        assert all(edge <= page.get_width() for edge in edges), page
    words = " ".join(words.split())
    for told in (
        "Reports sought for retrieval",
        "as it ran",
        "# System",
        "[stages.title_abstract]",
    ):
        assert told in words, told
    assert "Contents" not in words


def test_no_page_of_a_report_has_a_serious_fault(chrome: "Chrome", report: Path, axe: str, tmp_path: Path) -> None:
    open_page(chrome, report)
    require_accessible(chrome, axe, "the report")
    chrome.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
    require_accessible(chrome, axe, "the report, unfolded")
    for name, made in (("labels", harmonised), ("schema", proposed)):
        open_page(chrome, written(made(ReviewFolder(tmp_path / name))))
        chrome.execute_script("for (const d of document.querySelectorAll('details')) d.open = true")
        require_accessible(chrome, axe, f"the report of {name}")


def test_a_comparison_has_none_either(chrome: "Chrome", tmp_path: Path, axe: str) -> None:
    a, b = two(tmp_path)
    first, *others = load_sides([str(a.path), str(b.path)], tmp_path)
    path = tmp_path / "compare.html"
    path.write_text(page_html(comparison_page(compare_sides(first, others))), encoding="utf-8")
    assert "flipped" in open_page(chrome, path)
    require_accessible(chrome, axe, "the comparison")
    loaded = chrome.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert loaded == []
