"""The desk in a real browser: keyboard, undo, conflicts, rationales, labels, hostile texts, small screens, accessibility."""

import time
from typing import TYPE_CHECKING

from litcascade.desk.kinds import Rules
from tests.desk.browsing import enter, press, text, told, wait
from tests.desk.making import ANNA, BEN, CLEO, XSS, extracted, harmonised, proposed, screened
from tests.desk.serving import served
from tests.support.reviews import ReviewFolder

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

TA = "title_abstract"
R3 = "/queue/positives?key=title_abstract%1Fr3"


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


def test_a_proposal_is_changed_and_an_item_labelled_by_keyboard(chrome: "Chrome", folder: ReviewFolder) -> None:
    with served(proposed(folder)) as desk:
        enter(chrome, desk, ANNA, "/queue/schema?key=p2")
        press(chrome, "w", "\ue009\ue010", "\ue000", '\nunit = "people"\n', "\ue00c", "a")
        wait(lambda: "was changed in the form" in text(chrome, ".fault"))
        press(chrome, "e")
        told(chrome, "Stored: edit p2")
        press(chrome, "d")
        told(chrome, "Stored: refuse p1")
        kept = "select proposal_id, decision, who, proposal->'fields'->0->>'unit' from proposal_words order by seq"
        assert desk.desk.store.rows(kept) == [("p2", "edit", "Anna", "people"), ("p1", "refuse", "Anna", None)]
    with served(harmonised(ReviewFolder(folder.path.parent / "labels"))) as desk:
        enter(chrome, desk, ANNA, "/queue/harmonising")
        first = text(chrome, "h1")
        press(chrome, "2", "c")
        told(chrome, f"“{first}”")
        press(chrome, "z")
        told(chrome, "Taken back")
        press(chrome, "f")
        told(chrome, "Stored: none fits")
        assert desk.desk.store.value("select count(*) from mapping_decisions") == 2


def test_a_lost_connection_and_a_closed_tab_lose_no_words_and_store_nothing_half(chrome: "Chrome", folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        enter(chrome, desk, ANNA, R3)
        press(chrome, "n", "words before the line broke", "\ue00c")
        chrome.execute_cdp_cmd("Network.enable", {})
        line = {"latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
        chrome.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": True, **line})
        press(chrome, "i")
        wait(lambda: chrome.execute_script("return document.querySelector('form.decide') === null"))
        assert desk.desk.store.value("select count(*) from adjudications") == 0
        chrome.execute_cdp_cmd("Network.emulateNetworkConditions", {"offline": False, **line})
        chrome.get(desk.base + R3)
        assert chrome.execute_script("return document.getElementById('note').value") == "words before the line broke"
        first = chrome.current_window_handle
        chrome.switch_to.new_window("tab")
        chrome.get(desk.base + R3)
        press(chrome, "n", " and then some", "\ue00c")
        chrome.close()
        chrome.switch_to.window(first)
        chrome.get(desk.base + R3)
        assert "and then some" in chrome.execute_script("return document.getElementById('note').value")
        press(chrome, "i")
        told(chrome, "Stored: include for r3.")
        (row,) = desk.desk.store.rows("select record_id, decision, note from adjudications")
        assert row[:2] == ("r3", "include")
        assert "words before the line broke" in row[2]
        chrome.get(desk.base + R3)
        assert chrome.execute_script("return document.getElementById('note').value") == ""
