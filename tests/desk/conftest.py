"""A real browser, and axe-core, for tests of pages."""

import base64
import hashlib
import io
import os
import shutil
import tarfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.conftest import need

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

AXE = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz"
AXE_DIGEST = "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg=="  # sha512, as npm tells it


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
    """axe-core's script, fetched from the npm registry once and kept in a cache; it is not part of this project."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "litcascade"
    kept = folder / "axe-core-4.10.3.tgz"
    if not kept.exists():
        try:
            with urllib.request.urlopen(AXE, timeout=60) as answer:
                content = answer.read()
        except OSError as error:
            need("browser", False, f"axe-core cannot be fetched from the npm registry ({error})")
        folder.mkdir(parents=True, exist_ok=True)
        kept.write_bytes(content)
    content = kept.read_bytes()
    assert base64.b64encode(hashlib.sha512(content).digest()).decode() == AXE_DIGEST
    with tarfile.open(fileobj=io.BytesIO(content)) as packed:
        script = packed.extractfile("package/axe.min.js")
        assert script
        return script.read().decode()
