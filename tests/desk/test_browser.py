"""The desk in a real browser: keyboard, undo, conflicts, rationales, labels, hostile texts, small screens, accessibility."""

import base64
import hashlib
import io
import os
import shutil
import tarfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from litcascade.desk.queues import Rules
from litcascade.desk.users import User
from tests.conftest import need
from tests.desk.making import ANNA, BEN, CLEO, XSS, audited, extracted, screened, with_duplicates
from tests.desk.serving import Served, served
from tests.support.reviews import ReviewFolder

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

TA = "title_abstract"
R3 = "/queue/positives?key=title_abstract%1Fr3"
AXE = "https://registry.npmjs.org/axe-core/-/axe-core-4.10.3.tgz"
AXE_DIGEST = "Xm7bpRXnDSX2YE2YFfBk2FnF0ep6tmG7xPh8iHee8MIcrgq762Nkce856dYtJYLkuIoYZvGfTs/PbZhideTcEg=="  # sha512, as npm tells it


@pytest.fixture(scope="module")
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


@pytest.fixture(scope="module")
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


def enter(chrome: "Chrome", desk: Served, user: User, path: str = "/") -> None:
    chrome.delete_all_cookies()
    chrome.get(desk.link(user))
    wait(lambda: chrome.title.startswith("Queues"))
    if path != "/":
        chrome.get(desk.base + path)


def wait(true: Callable[[], Any], seconds: float = 20.0) -> None:
    ends = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < ends, "waited in vain"
        time.sleep(0.03)


def press(chrome: "Chrome", *keys: str) -> None:
    from selenium.webdriver.common.action_chains import ActionChains

    for key in keys:
        ActionChains(chrome).send_keys(key).perform()


def text(chrome: "Chrome", css: str = "main") -> str:
    return str(chrome.execute_script("const n = document.querySelector(arguments[0]); return n ? n.innerText : ''", css))


def told(chrome: "Chrome", words: str) -> None:
    wait(lambda: words in text(chrome, ".told"))


def test_a_record_is_decided_and_undone_by_keyboard_alone(chrome: "Chrome", folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA, R3)
        press(chrome, "2", "n", "seen before: i e u", "\ue00c", "e")  # a note is typed, Escape leaves it
        told(chrome, "Stored: exclude (E1) for r3.")
        row = desk.desk.store.rows(f"select state, criterion, reason from {TA} where record_id = 'r3'")
        assert row == [("excluded", "E1", "seen before: i e u")]
        press(chrome, "z")
        told(chrome, "Taken back")
        assert desk.desk.store.value(f"select state from {TA} where record_id = 'r3'") == "referred"
        assert "taken back" in text(chrome, ".history")
        press(chrome, "i")
        told(chrome, "Stored: include for r3.")
        press(chrome, "s")
        told(chrome, "Skipped")
        press(chrome, "u")
        told(chrome, "Stored: unsure")


def test_the_tab_key_alone_is_enough_and_focus_is_seen(chrome: "Chrome", folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA, R3)
        seen = []
        for _ in range(40):
            press(chrome, "\ue004")
            here: dict[str, str] = chrome.execute_script(
                "const n = document.activeElement; const s = getComputedStyle(n);"
                "return {value: n.value || '', name: n.name || '', outline: s.outlineStyle + s.outlineWidth}"
            )
            seen.append(here)
            if here["value"] == "include":
                break
        assert seen[-1]["value"] == "include"
        assert all(here["outline"] == "solid3px" for here in seen if here["name"])
        press(chrome, "\ue007")
        told(chrome, "Stored: include for r3.")


def test_keys_can_be_turned_off(chrome: "Chrome", folder: ReviewFolder) -> None:
    from selenium.webdriver.common.by import By

    screened(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA, "/keys")
        chrome.find_element(By.CSS_SELECTOR, "[data-toggle-keys]").click()
        chrome.get(desk.base + R3)
        press(chrome, "i")
        time.sleep(0.3)
        assert "Stored" not in text(chrome)
        assert desk.desk.store.value("select count(*) from adjudications") == 0


def test_two_reviewers_differ_blind_and_the_arbiter_decides(chrome: "Chrome", folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder, Rules(double=True)) as desk:
        enter(chrome, desk, ANNA, R3)
        assert "Read blind" in text(chrome)
        press(chrome, "i")
        told(chrome, "Stored: include for r3.")
        enter(chrome, desk, BEN, R3)
        assert "Anna" not in text(chrome)
        assert "What the readers said" not in text(chrome)
        press(chrome, "e")
        told(chrome, "Stored: exclude for r3.")
        enter(chrome, desk, CLEO, "/queue/people")
        assert "Anna" in text(chrome, ".history")
        assert "Ben" in text(chrome, ".history")
        press(chrome, "1", "e")
        told(chrome, "Stored: exclude (I1) for r3.")
        assert desk.desk.store.rows(f"select state, decided_by from {TA} where record_id = 'r3'") == [("excluded", "Cleo")]


def test_marked_words_become_the_quote_of_a_rationale(chrome: "Chrome", folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA, R3)
        chrome.execute_script("""
            const where = document.querySelector('.abstract'), range = document.createRange();
            range.setStart(where.firstChild, 0); range.setEndAfter(where.querySelector('mark'));
            getSelection().removeAllRanges(); getSelection().addRange(range);
        """)
        quote = str(chrome.execute_script("return getSelection().toString().trim()"))
        assert quote.startswith("Forty")
        wait(lambda: chrome.execute_script("return document.readyState") == "complete")
        press(chrome, "q", "Adults took it.", "\ue00c", "i")
        told(chrome, "Stored: include for r3.")
        assert desk.desk.store.rows("select quote, reasoning, who, decision from current_rationales") == [
            (quote, "Adults took it.", "Anna", "include")
        ]


def test_items_are_labelled_for_a_judges_calibration(chrome: "Chrome", folder: ReviewFolder) -> None:
    extracted(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA, "/queue/calibration")
        press(chrome, "y")
        told(chrome, "Stored: yes.")
        press(chrome, "x")
        told(chrome, "Stored: no.")
        assert desk.desk.store.rows("select label, who from judge_labels order by seq") == [(True, "Anna"), (False, "Anna")]


def test_values_are_checked_beside_the_marked_text(chrome: "Chrome", folder: ReviewFolder) -> None:
    from selenium.webdriver.common.by import By

    extracted(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA, "/queue/extraction")
        chrome.find_element(By.LINK_TEXT, "show in the text").click()
        assert text(chrome, "mark:target") == "Forty adults"
        field = chrome.find_element(By.NAME, "value:people")
        field.clear()
        field.send_keys("40", "\ue00c")
        press(chrome, "v")
        told(chrome, "Stored: 1 value(s)")
        assert desk.desk.store.rows("select value, reader from extracted where record_id = 'r1' and field = 'people'") == [
            ("40", "Anna")
        ]


def test_an_expired_link_is_refused_and_words_typed_are_kept(chrome: "Chrome", folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA, R3)
        press(chrome, "n", "words I typed", "\ue00c")
        desk.now[0] = 4000.0
        press(chrome, "i")
        wait(lambda: "its time is over" in text(chrome))
        chrome.get(desk.link(ANNA))
        assert "has expired" in text(chrome)
        assert desk.desk.store.value("select count(*) from adjudications") == 0
        desk.now[0] = 0.0
        chrome.get(desk.base + R3)
        assert chrome.execute_script("return document.getElementById('note').value") == "words I typed"


def test_hostile_strings_of_a_title_do_nothing_and_nothing_is_loaded_from_elsewhere(
    chrome: "Chrome", folder: ReviewFolder
) -> None:
    screened(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA)
        chrome.get_log("browser")  # type: ignore[no-untyped-call]
        for path in ("/list/referred", "/queue/referred?key=title_abstract%1Fr1"):
            chrome.get(desk.base + path)
            assert XSS in text(chrome)
            assert chrome.execute_script("return [window.owned, document.title === 'owned', document.images.length]") == [
                None,
                False,
                0,
            ]
            loaded = chrome.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
            assert loaded
            assert all(name.startswith(desk.base) for name in loaded)
        assert [line for line in chrome.get_log("browser") if line["level"] == "SEVERE"] == []  # type: ignore[no-untyped-call]


def test_a_queue_of_ten_thousand_is_usable(chrome: "Chrome", folder: ReviewFolder) -> None:
    screened(folder, 30_003)
    with served(folder) as desk:
        enter(chrome, desk, ANNA)
        assert "10,001" in text(chrome)
        chrome.get(desk.base + "/list/positives?page=201")
        assert text(chrome, ".items li") == "Zinc trial 30003\nincluded by models, for a person to confirm"
        chrome.get(desk.base + "/queue/positives")
        press(chrome, "i")
        told(chrome, "Stored: include for r3.")
        assert "10,000 waiting" in text(chrome, ".place")
        assert chrome.execute_script("return document.getElementsByTagName('*').length") < 400


def test_no_page_has_a_serious_fault_of_accessibility_or_runs_over_a_phone(
    chrome: "Chrome", folder: ReviewFolder, axe: str
) -> None:
    screened(folder)
    folder.gold([{"record_id": "r2", "title_abstract": "include"}])
    with_duplicates(folder)
    audited(folder, 2)
    deep = extracted(ReviewFolder(folder.path.parent / "deep"))
    shared = ["/", "/progress", "/keys", "/list/referred", "/queue/nowhere", "/queue/again"]
    screens = [f"/queue/{name}" for name in ("referred", "positives", "audit", "duplicates", "causes")]
    for where, paths in ((folder, [*shared, *screens]), (deep, ["/queue/extraction", "/queue/calibration", "/list/extraction"])):
        with served(where) as desk:
            enter(chrome, desk, CLEO)
            for path in paths:
                chrome.get(desk.base + path)
                for width, height in ((1280, 900), (390, 844)):
                    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
                    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
                    wide = chrome.execute_script("return document.documentElement.scrollWidth")
                    assert wide <= width, f"{path} is {wide} wide on {width}"
                    chrome.execute_script(axe)
                    found = chrome.execute_async_script(
                        "const done = arguments[0]; axe.run().then(r => done(r.violations.map(v => [v.impact, v.id, v.nodes[0].html])))"
                    )
                    assert [fault for fault in found if fault[0] in ("serious", "critical")] == [], (path, width)
    chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
