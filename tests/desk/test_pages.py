"""The pages over HTTP, without JavaScript: forms work, strangers stay out, nothing of a paper becomes markup."""

import socket
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from litcascade.desk.keys import join
from litcascade.desk.kinds import QUEUES, Rules
from litcascade.desk.opening import Place, names_of, require_local
from litcascade.errors import InputError
from litcascade.store import Store
from tests.desk.making import ANNA, BEN, CLEO, VERA, extracted, screened, with_duplicates
from tests.desk.serving import Browser, served
from tests.support.reviews import ReviewFolder

TA = "title_abstract"
R3 = "/queue/positives?key=title_abstract%1Fr3"


def test_plain_forms_decide_undo_and_tell(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        assert "Predicted positives" in anna.page.text
        anna.get(R3)
        page = anna.send("/queue/positives", decision="exclude", criterion="E1", note="a <b>review</b>")
        assert page.status_code == 200
        assert "Stored: exclude (E1) for r3." in page.text
        assert page.url.params["key"] == join(TA, "r6")
        assert desk.desk.store.value(f"select state from {TA} where record_id = 'r3'") == "excluded"
        page = anna.get(R3)
        assert "a &lt;b&gt;review&lt;/b&gt;" in page.text
        page = anna.send("/undo")
        assert "Taken back" in page.text
        assert desk.desk.store.value(f"select state from {TA} where record_id = 'r3'") == "referred"


def test_a_form_at_fault_comes_back_as_it_was_filled_in(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        anna.get(R3)
        page = anna.send("/queue/positives", decision="include", quote="words that are <not> there", note="kept note")
        assert page.status_code == 422
        assert "does not stand" in page.text
        assert "words that are &lt;not&gt; there" in page.text
        assert "kept note" in page.text
        assert desk.desk.store.value("select count(*) from adjudications") == 0


def test_strangers_and_foreign_forms_are_refused(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        stranger = Browser(desk, None)
        assert stranger.page.status_code == 403
        assert stranger.get("/enter?token=guess").status_code == 403
        assert stranger.get("/list/positives").status_code == 403
        anna = Browser(desk, ANNA)
        anna.get(R3)
        fields = anna.fields()
        for changed in ({"csrf": "guess"}, {"csrf": ""}):
            assert anna.http.post("/queue/positives", data={**fields, **changed, "decision": "include"}).status_code == 422
        without = {name: value for name, value in fields.items() if name != "csrf"}
        assert anna.http.post("/queue/positives", data={**without, "decision": "include"}).status_code == 422
        full = {**fields, "decision": "include"}
        assert anna.http.post("/queue/positives", data=full, headers={"Origin": "http://evil.example"}).status_code == 403
        assert anna.http.post("/queue/positives", data=full, headers={"Host": "evil.example"}).status_code == 421
        assert anna.http.get("/", headers={"Host": "rebound.example:80"}).status_code == 421
        assert anna.http.request("DELETE", "/").status_code == 405
        assert anna.http.post("/queue/positives", data={**full, "note": "x" * 1_100_000}).status_code == 413
        assert stranger.http.post("/queue/positives", data=full).status_code == 403
        assert desk.desk.store.value("select count(*) from adjudications") == 0
        assert anna.http.post("/queue/positives", data=full).status_code == 200
        assert desk.desk.store.value("select count(*) from adjudications") == 1


def test_every_page_carries_its_policy_and_the_cookie_is_strict(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        entered = httpx.get(desk.link(ANNA), trust_env=False)
        cookie = entered.headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        anna = Browser(desk, ANNA)
        for path in ("/", "/queue/referred", "/keys", "/static/desk.js", "/nowhere"):
            headers = anna.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "same-origin"
        assert anna.get("/").headers["cache-control"] == "no-store"


def test_nothing_of_a_paper_becomes_markup_and_no_path_outside_is_served(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        for path in ("/list/referred", "/queue/referred?key=title_abstract%1Fr1"):
            page = anna.get(path).text
            assert "<img src=x" not in page
            assert "<script>window" not in page
            assert "{{7*7}}" in page
        assert "&lt;img src=x" in page
        assert anna.get("/queue/referred?key=<script>x</script>").status_code == 404
        assert "<script>x" not in anna.page.text
        for path in ("/static/../desk.py", "/static/%2e%2e/desk.py", "/static/..%2f..%2freview.toml", "/review.toml", "/static/"):
            assert anna.get(path).status_code in (404, 405)


def test_links_expire(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        anna.get(R3)
        fields = anna.fields()
        desk.now[0] = 4000.0
        assert Browser(desk, ANNA).page.status_code == 403
        page = anna.http.post("/queue/positives", data={**fields, "decision": "include"})
        assert page.status_code == 403
        assert "Whatever you decided before is stored" in page.text
        assert desk.desk.store.value("select count(*) from adjudications") == 0


def test_a_queue_that_runs_dry_a_record_that_is_gone_and_a_viewer_are_told(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        anna, vera = Browser(desk, ANNA), Browser(desk, VERA)
        anna.get("/queue/referred")
        for _ in range(2):
            assert "Why it is here" in anna.page.text
            anna.send("/queue/referred", decision="include")
        assert "nothing waits for you" in anna.page.text
        gone = anna.get("/queue/referred?key=title_abstract%1Fgone")
        assert gone.status_code == 404
        assert "is not in this review (any more)" in gone.text
        assert anna.get("/queue/nowhere").status_code == 404
        assert anna.get("/list/positives?page=999999").status_code == 200
        assert anna.get("/list/positives?page=-1").status_code == 200
        vera.get(R3)
        assert 'name="decision"' not in vera.page.text
        assert vera.send("/queue/positives", decision="include").status_code == 422
        assert vera.send("/join").status_code == 422
        assert anna.send("/go-on").status_code == 422
        assert desk.desk.store.value("select count(*) from adjudications") == 2


def test_every_screen_opens_for_everyone_who_may_see_it(folder: ReviewFolder) -> None:
    extracted(folder)
    with served(folder) as desk:
        cleo = Browser(desk, CLEO)
        for name in QUEUES:
            assert cleo.get(f"/queue/{name}").status_code == 200, name
            assert cleo.get(f"/list/{name}").status_code == 200, name
        cleo.get("/queue/extraction?key=r1")
        page = cleo.send("/queue/extraction", **{"do:people": "change", "value:people": "many"})
        assert page.status_code == 422
        assert 'value="many"' in page.text
        cleo.send("/queue/extraction", **{"do:people": "confirm"})
        assert "Stored: 1 value(s) of r1." in cleo.page.text
        assert cleo.get("/progress").status_code == 200


def test_causes_and_pairs_by_plain_forms(folder: ReviewFolder) -> None:
    screened(folder)
    folder.gold([{"record_id": "r2", "title_abstract": "include"}])
    with_duplicates(folder)
    with served(folder) as desk:
        ben = Browser(desk, BEN)
        ben.get("/queue/causes")
        assert "the gold label says include" in ben.page.text
        ben.send("/queue/causes", cause="my own cause")
        assert desk.desk.store.rows("select cause, who from current_causes") == [("my own cause", "Ben")]
        ben.get("/queue/duplicates")
        ben.send("/queue/duplicates", decision="different")
        assert desk.desk.store.value("select verdict from current_pairs where who = 'Ben'") == "different"
        ben.get("/")
        assert "0 of 14 records are duplicates now" in ben.send("/join").text


def test_the_run_goes_on_through_the_desk(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        cleo = Browser(desk, CLEO)
        cleo.get("/progress")
        cleo.send("/go-on")
        for _ in range(400):
            if not desk.desk.run.going:
                break
            time.sleep(0.05)
        assert "run stopped: " in desk.desk.run.words  # its model cannot be reached; the desk stays
        assert "The run stopped" in cleo.get("/progress").text
        cleo.get(R3)
        assert "Stored" in cleo.send("/queue/positives", decision="include").text


def test_many_at_once_lose_nothing_and_a_form_sent_twice_is_stored_once(folder: ReviewFolder) -> None:
    screened(folder, 60)
    with served(folder, Rules()) as desk:
        browsers = [Browser(desk, user) for user in (ANNA, BEN, CLEO) for _ in range(2)]

        def work(browser: Browser) -> int:
            stored = 0
            browser.get("/queue/positives")
            while 'class="decide' in browser.page.text:
                fields = {**browser.fields(), "decision": "include"}
                first = browser.http.post("/queue/positives", data=fields)
                browser.page = browser.http.post("/queue/positives", data=fields)
                assert first.status_code == browser.page.status_code == 200
                stored += 1
            return stored

        with ThreadPoolExecutor(6) as pool:
            done = sum(pool.map(work, browsers))
        kept = int(desk.desk.store.value("select (select count(*) from adjudications) + (select count(*) from opinions)"))
        assert done == kept
        assert desk.desk.store.value(f"select count(*) from {TA} where state = 'included'") == 20


def test_a_browser_that_goes_away_in_the_middle_stores_nothing_half(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        anna.get(R3)
        where = urlsplit(desk.base)
        cookie = "; ".join(f"{name}={value}" for name, value in anna.http.cookies.items())
        with socket.create_connection((str(where.hostname), int(where.port or 0))) as wire:
            head = f"POST /queue/positives HTTP/1.1\r\nHost: {where.netloc}\r\nCookie: {cookie}\r\n"
            wire.sendall(f"{head}Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n\r\ncsrf=".encode())
        assert anna.get("/").status_code == 200
        assert desk.desk.store.value("select count(*) from adjudications") == 0


def test_other_machines_are_kept_out_unless_asked_for() -> None:
    require_local(Place("127.0.0.1"))
    require_local(Place("::1"))
    require_local(Place("192.0.2.7", remote=True))
    for host, remote in (("192.0.2.7", False), ("example.org", False), ("0.0.0.0", True), ("::", True)):
        with pytest.raises(InputError, match="--host"):
            require_local(Place(host, remote=remote))
    assert names_of("127.0.0.1", 80) == ["127.0.0.1:80", "localhost:80"]
    assert names_of("::1", 80) == ["[::1]:80"]


def _start(folder: ReviewFolder, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-u", "-m", "litcascade", "desk", "--review", str(folder.path), "--port", "0", *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_command_prints_links_holds_the_store_and_ends_cleanly(folder: ReviewFolder) -> None:
    screened(folder)
    with _start(folder, "--user", "Anna") as desk:
        desk.send_signal(15)  # while it begins or right after: no decision is lost either way
        desk.communicate(timeout=60)
    with _start(folder, "--user", "Anna", "--user", "Cleo:arbiter") as desk:
        assert desk.stdout
        lines = [desk.stdout.readline() for _ in range(4)]
        link = next(line.rpartition(" ")[2].strip() for line in lines if "Anna (reviewer)" in line)
        assert link.startswith("http://127.0.0.1:")
        assert httpx.get(link, trust_env=False).status_code == 200
        other = _start(folder)
        assert "another process holds the review" in other.communicate(timeout=60)[1]
        assert other.returncode == 2
        desk.send_signal(2)
        out, errors = desk.communicate(timeout=60)
    assert (desk.returncode, errors) == (0, "")
    assert "The desk is closed." in out


def test_a_store_of_a_newer_version_is_told(folder: ReviewFolder) -> None:
    screened(folder, 2)
    with Store(folder.path / "review.duckdb") as store:
        store.append("migrations", [{"name": "9999_future", "at_time": "2030-01-01"}])
    told = _start(folder)
    assert "written by a newer litcascade" in told.communicate(timeout=60)[1]
    assert told.returncode == 2


def test_options_at_fault_are_told(folder: ReviewFolder) -> None:
    screened(folder, 2)
    for options, words in (
        (("--double",), "two people"),
        (("--host", "192.0.2.7"), "--allow-remote"),
        (("--hours", "0"), "--hours"),
    ):
        told = _start(folder, *options)
        assert words in told.communicate(timeout=60)[1]
        assert told.returncode == 2


def test_the_pages_name_no_other_host() -> None:
    for path in (Path(__file__).parents[2] / "litcascade" / "desk").rglob("*.*"):
        if path.suffix in (".html", ".css", ".js"):
            text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")
            assert "http:" not in text
            assert "https:" not in text
            assert "style=" not in text
            assert "|safe" not in text.replace(" ", "")
