"""A real browser, and axe-core, for tests of pages."""

import shutil
from collections.abc import Iterator
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from tests.conftest import need

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@pytest.fixture(scope="session")
def chrome() -> Iterator["Chrome"]:
    browser, helper = shutil.which("chromium"), shutil.which("chromedriver")
    need(
        "browser",
        bool(browser and helper),
        "chromium and chromedriver are not installed (apt-get install chromium chromium-driver)",
    )
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1280,900"):
        options.add_argument(argument)
    options.binary_location = str(browser)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(helper)))
    driver.set_page_load_timeout(60)
    yield driver
    driver.quit()


@pytest.fixture(scope="session")
def axe() -> str:
    """axe-core's script, out of a package that carries it; it is not part of this project."""
    script = resources.files("axe_playwright_python") / "axe.min.js"
    return script.read_text(encoding="utf-8")
