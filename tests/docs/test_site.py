"""The site that MkDocs builds: whole, without a broken link, and loading nothing from other hosts."""

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from lxml import html

from tests.conftest import need
from tests.desk.browsing import text, wait
from tests.docs.pages import DOCS, ROOT

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

AWAY = re.compile(r"^(?:https?:)?//")
LOADING = (
    "//script/@src | //img/@src | //iframe/@src | //source/@src | //object/@data | //video/@src | //audio/@src | //link/@href"
)
IN_STYLE = re.compile(r"(?:url\(|@import)\s*['\"]?\s*((?:https?:)?//[^'\")\s]+)")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built from this checkout; a warning fails the build."""
    need("docs", importlib.util.find_spec("material") is not None, "MkDocs Material is missing: pip install 'litcascade[docs]'")
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


def built_pages(site: Path) -> list[Path]:
    return sorted(site.rglob("*.html"))


def test_every_page_is_built_and_stands_in_the_navigation(site: Path) -> None:
    start = html.parse(str(site / "index.html"))
    linked = {str(link) for link in start.xpath("//nav//a/@href")}
    pages = {page.relative_to(DOCS).with_suffix(".html").as_posix() for page in DOCS.rglob("*.md")}
    assert pages <= {page.relative_to(site).as_posix() for page in built_pages(site)}
    assert pages - linked == set(), "put these into nav, in mkdocs.yml"


def test_the_pages_of_the_root_are_pages_of_the_site(site: Path) -> None:
    assert "Add a metric" in (site / "contributing.html").read_text(encoding="utf-8")
    assert "litcascade dedup" in (site / "changelog.html").read_text(encoding="utf-8")


def test_nothing_is_loaded_from_other_hosts(site: Path) -> None:
    loaded = {
        f"{page.name}: {address}"
        for page in built_pages(site)
        for address in html.parse(str(page)).xpath(LOADING)
        if AWAY.match(str(address))
    }
    styles = [*site.rglob("*.css"), *built_pages(site)]
    loaded |= {f"{path.name}: {found}" for path in styles for found in IN_STYLE.findall(path.read_text(encoding="utf-8"))}
    assert loaded == set()
    drawn = [page.name for page in built_pages(site) if 'class="mermaid"' in page.read_text(encoding="utf-8")]
    assert drawn == [], "diagrams in mermaid are drawn by a script from another host"


def test_search_has_an_index_of_its_own(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert any("operating_point" in entry["text"] or "operating_point" in entry["title"] for entry in index["docs"])
    assert {entry["location"].split("#")[0] for entry in index["docs"]} > {"tutorial.html", "reference/store.html"}


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder and says nothing."""

    def log_message(self, format: str, *args: Any) -> None:
        """Nobody reads a log here."""


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Where the site is served on this machine."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join(10)


def test_search_finds_a_page_in_a_browser_and_asks_no_other_host(chrome: "Chrome", address: str) -> None:
    chrome.get(f"{address}/index.html?q=certificate")
    wait(lambda: "What a certificate says" in text(chrome, ".md-search-result__list"))
    asked: list[str] = chrome.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert asked
    assert [name for name in asked if not name.startswith(address)] == []


@pytest.mark.parametrize("page", ["tutorial", "commands", "reference/protocol", "full-texts"])
def test_a_page_fits_a_small_screen(chrome: "Chrome", address: str, page: str) -> None:
    before = chrome.get_window_size()
    chrome.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        chrome.get(f"{address}/{page}.html")
        wide: int = chrome.execute_script("return document.documentElement.scrollWidth")
    finally:
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        chrome.set_window_size(before["width"], before["height"])
    assert wide <= 390
