"""Every page of the desk at a desktop's and a phone's width: no serious fault of accessibility, nothing that runs over."""

from typing import TYPE_CHECKING

from litcascade.backends.scripted import ScriptedBackend
from litcascade.desk.kinds import QUEUES, Rules
from litcascade.schemas import Reply
from tests.desk.browsing import enter, press, require_accessible, text, told, wait
from tests.desk.making import (
    ANNA,
    BEN,
    CLEO,
    PANEL,
    VERA,
    audited,
    extracted,
    harmonised,
    proposed,
    screened,
    session,
    with_duplicates,
)
from tests.desk.serving import Served, served
from tests.support.reviews import ReviewFolder

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


TWO_MODELS = """
[readers.one]
model = "m"
[readers.two]
model = "m"
prompt = "inclusion"
[stages.title_abstract]
readers = ["one", "two"]
"""


def look(chrome: "Chrome", axe: str, desk: Served, paths: list[str]) -> None:
    for path in paths:
        chrome.get(desk.base + path)
        require_accessible(chrome, axe, path)


def full(chrome: "Chrome", axe: str, desk: Served, names: tuple[str, ...]) -> None:
    """Queues that hold something, as a screen and as a list."""
    for name in names:
        chrome.get(f"{desk.base}/queue/{name}")
        assert "nothing waits" not in text(chrome), name
        require_accessible(chrome, axe, name)
    look(chrome, axe, desk, [f"/list/{name}" for name in names])


def test_pages_of_a_screened_review(chrome: "Chrome", folder: ReviewFolder, axe: str) -> None:
    screened(folder)
    folder.gold([{"record_id": "r2", "title_abstract": "include"}])
    with_duplicates(folder)
    audited(folder, 2)
    with served(folder) as desk:
        chrome.get(desk.base + "/enter?token=guess")
        assert "unknown or has expired" in text(chrome)
        require_accessible(chrome, axe, "an unknown link")
        chrome.delete_all_cookies()
        chrome.get(desk.base + "/")
        assert "Come in by your link" in text(chrome)
        require_accessible(chrome, axe, "no link")
        enter(chrome, desk, CLEO)
        full(chrome, axe, desk, ("referred", "positives", "audit", "duplicates", "causes"))
        look(chrome, axe, desk, ["/", "/keys", "/queue/nowhere", "/no/such/page", "/queue/again", "/list/again"])
        chrome.get(desk.base + "/queue/positives?key=title_abstract%1Fr3")
        press(chrome, "i")
        told(chrome, "Stored")
        require_accessible(chrome, axe, "what was stored is told")
        press(chrome, "q", "words that stand nowhere", "\ue00c", "w", "Because.", "\ue00c", "i")
        wait(lambda: "does not stand" in text(chrome, ".fault"))
        require_accessible(chrome, axe, "a form at fault")
        chrome.get(desk.base + "/queue/duplicates")
        press(chrome, "a")
        told(chrome, "Stored")
        look(chrome, axe, desk, ["/", "/progress", "/queue/positives?key=title_abstract%1Fr3"])
        enter(chrome, desk, VERA, "/queue/positives")
        require_accessible(chrome, axe, "as a viewer")
        from selenium.webdriver.common.by import By

        chrome.find_element(By.XPATH, "//button[text()='Leave']").click()
        wait(lambda: "You have left" in text(chrome))
        require_accessible(chrome, axe, "after leaving")


def test_the_page_that_a_link_opens(chrome: "Chrome", folder: ReviewFolder, axe: str) -> None:
    """It leads on at once, so it is looked at without the way on."""
    screened(folder, 3)
    with served(folder) as desk:
        import httpx

        page = httpx.get(desk.link(ANNA), trust_env=False).text
        assert 'http-equiv="refresh"' in page
        chrome.get(desk.base + "/static/icon.svg")
        chrome.get("about:blank")
        chrome.execute_script("document.write(arguments[0]); document.close()", page.replace('http-equiv="refresh"', 'name="x"'))
        assert "Welcome, Anna" in text(chrome)
        require_accessible(chrome, axe, "welcome")


def test_pages_where_two_read_blind(chrome: "Chrome", folder: ReviewFolder, axe: str) -> None:
    screened(folder, 30)
    with served(folder, Rules(double=True, again_after=0)) as desk:
        for user, word in ((ANNA, "include"), (BEN, "exclude")):
            for item in desk.desk.queues.page("positives", user, 99):
                desk.desk.decide("positives", item.key, {"decision": word, "form": f"{user.name}{item.key}"}, session(user))
        enter(chrome, desk, CLEO)
        full(chrome, axe, desk, ("people", "referred"))
        look(chrome, axe, desk, ["/", "/progress"])
        mine = next(user for user in (ANNA, BEN) if desk.desk.queues.count("again", user))
        enter(chrome, desk, mine)
        full(chrome, axe, desk, ("again",))


def test_pages_of_panels(chrome: "Chrome", folder: ReviewFolder, axe: str) -> None:
    screened(folder, parts=(PANEL,))
    with served(folder) as desk:
        enter(chrome, desk, ANNA)
        full(chrome, axe, desk, ("panel",))
    mute = ReviewFolder(folder.path.parent / "mute")
    mute.protocol(TWO_MODELS)
    mute.records(3)
    mute.run({"m": ScriptedBackend(lambda request: Reply(key=request.key, text="Who knows."))})
    with served(mute) as desk:
        enter(chrome, desk, ANNA)
        full(chrome, axe, desk, ("readers",))


def test_pages_of_extraction_labels_harmonising_and_schemas(chrome: "Chrome", folder: ReviewFolder, axe: str) -> None:
    deep = {name: ReviewFolder(folder.path.parent / name) for name in ("deep", "labels", "schema")}
    with served(extracted(deep["deep"])) as desk:
        enter(chrome, desk, CLEO)
        full(chrome, axe, desk, ("extraction", "calibration"))
    with served(harmonised(deep["labels"])) as desk:
        enter(chrome, desk, CLEO)
        full(chrome, axe, desk, ("harmonising",))
        items = desk.desk.queues.page("harmonising", CLEO, 99)
        compared = next(item.key for item in items if item.why.startswith("results.claim"))
        look(chrome, axe, desk, [f"/queue/harmonising?key={compared.replace(chr(31), '%1F')}"])
    with served(proposed(deep["schema"])) as desk:
        enter(chrome, desk, CLEO)
        full(chrome, axe, desk, ("schema",))
        chrome.get(desk.base + "/queue/schema")
        press(chrome, "w")
        require_accessible(chrome, axe, "a proposal that is changed")
        press(chrome, "\ue00c", "a")
        told(chrome, "Stored")
        look(chrome, axe, desk, ["/", "/queue/schema?key=p1"])


def test_no_queue_is_left_out_here() -> None:
    looked = {
        "referred", "positives", "audit", "duplicates", "causes", "people", "again", "panel", "readers", "extraction", "calibration",
        "harmonising", "schema",
    }  # fmt: skip
    assert looked == set(QUEUES)
