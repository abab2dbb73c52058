"""Blind double reading as the protocol says it, words on pairs, and what goes wrong: told plainly, with nothing lost."""

import subprocess
import sys

import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.desk.keys import join
from litcascade.desk.kinds import QUEUES, Rules
from litcascade.desk.screens import RecordScreen
from litcascade.errors import InputError
from litcascade.pipeline.duplicates import deduplicate
from litcascade.store import Store
from tests.desk.making import ANNA, BEN, CLEO, TITLES, answers, desk_of, screened, session, with_duplicates
from tests.desk.serving import Browser, served
from tests.support.reviews import ReviewFolder

TA = "title_abstract"
R3 = "/queue/positives?key=title_abstract%1Fr3"
READ_BY_TWO = TITLES + 'people = "double"\n'
BOTH_STAGES = READ_BY_TWO + '[readers.prose]\nmodel = "m"\nstyle = "criteria"\n[stages.full_text]\nreaders = ["prose"]\n'


def key(record_id: str, stage: str = TA) -> str:
    return join(stage, record_id)


def test_the_protocol_says_where_two_read_blind(folder: ReviewFolder) -> None:
    screened(folder, parts=(BOTH_STAGES,))
    with desk_of(folder) as desk:
        anna, ben = session(ANNA), session(BEN)
        assert (desk.rules.two(TA), desk.rules.two("full_text")) == (True, False)
        screen = desk.show("positives", key("r3"), ben).screen
        assert isinstance(screen, RecordScreen)
        assert screen.hidden
        desk.decide("positives", key("r3"), {"decision": "include", "form": "1"}, anna)
        assert key("r3") not in [item.key for item in desk.queues.page("positives", ANNA, 9)]
        assert key("r3") in [item.key for item in desk.queues.page("positives", BEN, 9)]
        assert desk.store.value(f"select state from {TA} where record_id = 'r3'") == "referred"
        assert "both agree" in desk.decide("positives", key("r3"), {"decision": "include", "form": "2"}, ben)
        assert desk.store.rows(f"select state, decided_by from {TA} where record_id = 'r3'") == [("included", "Anna + Ben")]
        report = key("r3", "full_text")
        assert desk.store.value("select state from full_text where record_id = 'r3'") == "not retrieved"
        desk.decide("referred", report, {"decision": "exclude", "form": "3"}, anna)
        assert desk.store.rows("select state, decided_by from full_text where record_id = 'r3'") == [("excluded", "Anna")]


def test_the_option_reads_every_stage_twice_whatever_the_protocol_says(folder: ReviewFolder) -> None:
    screened(folder, parts=(BOTH_STAGES.replace("double", "single"),))
    with desk_of(folder) as desk:
        assert not desk.rules.anywhere
    with desk_of(folder, Rules(double=True)) as desk:
        assert desk.rules.two(TA)
        assert desk.rules.two("full_text")


def test_how_people_read_re_asks_nothing(folder: ReviewFolder) -> None:
    screened(folder)
    before = folder.review.protocol.hash(), folder.rows("select fingerprint from current_stages")
    folder.protocol(READ_BY_TWO)
    backend = ScriptedBackend(answers)
    folder.run({"m": backend})
    assert len(backend.asked) == 0
    assert (folder.review.protocol.hash(), folder.rows("select fingerprint from current_stages")) == before
    with pytest.raises(InputError, match="is for screening stages"):
        folder.protocol(
            '[readers.x]\nmodel = "m"\n[stages.extraction]\nreaders = ["x"]\npeople = "double"\n'
            '[[fields]]\nname = "n"\nkind = "open"\ndefinition = "N."\n'
        )


def test_words_on_pairs_are_told_until_they_count(folder: ReviewFolder) -> None:
    screened(folder)
    with_duplicates(folder)
    with served(folder) as desk:
        ben = Browser(desk, BEN)
        ben.get("/queue/duplicates")
        assert "counts once duplicates are found anew" in ben.page.text
        ben.send("/queue/duplicates", decision="same")
        assert "it counts once duplicates are found anew" in ben.page.text
        assert "does not count yet" in ben.get("/").text
        assert desk.desk.store.value("select count(*) from current_clusters where record_id <> kept_id") == 0
        assert "1 of 14 records are duplicates now" in ben.send("/join").text
        assert "does not count yet" not in ben.page.text
        ben.get("/queue/duplicates?key=d1%1Fd2")
        ben.send("/undo")
        assert "does not count yet" in ben.get("/").text
    assert folder.rows("select count(*) from current_clusters where record_id <> kept_id") == [(0,)]  # worked in at the end


def test_words_on_pairs_that_a_crash_left_are_told_at_the_next_opening(folder: ReviewFolder) -> None:
    screened(folder)
    with_duplicates(folder)
    with desk_of(folder) as desk:  # never closed, as in a crash
        (pair,) = desk.queues.page("duplicates", ANNA, 9)
        desk.decide("duplicates", pair.key, {"decision": "same"}, session(ANNA))
    with desk_of(folder) as desk:
        assert desk.words_on_pairs
        desk.close()
        assert desk.store.value("select count(*) from current_clusters where record_id <> kept_id") == 1


@pytest.mark.parametrize("name", list(QUEUES))
def test_a_queue_that_is_dry_is_told_and_looked_at_again(name: str, folder: ReviewFolder) -> None:
    folder.protocol(TITLES)
    folder.records(1)
    with served(folder) as desk:
        cleo = Browser(desk, CLEO)
        page = cleo.get(f"/queue/{name}")
        assert page.status_code == 200
        assert "nothing waits for you" in page.text
        assert "Everything you decided is stored" in page.text
        assert "Nothing stands on this page" in cleo.get(f"/list/{name}").text


def test_a_queue_that_runs_dry_under_two_people_tells_the_second(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with served(folder) as desk:
        anna, ben = Browser(desk, ANNA), Browser(desk, BEN)
        anna.get("/queue/referred")
        assert "nothing waits for you" in ben.get("/queue/referred").text  # Anna has the only one open
        anna.send("/queue/referred", decision="exclude")
        assert "Stored: exclude for r1." in anna.page.text
        assert "nothing waits for you" in anna.page.text
        assert "nothing waits for you" in ben.get("/queue/referred").text
        assert desk.desk.store.value("select count(*) from adjudications") == 1


def test_a_record_that_is_gone_from_the_search_is_told_and_the_next_one_comes(folder: ReviewFolder) -> None:
    screened(folder)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        anna.get(R3)
        fields = anna.fields()
        desk.desk.store._write("delete from records where record_id = ?", ["r3"])
        page = anna.http.post("/queue/positives", data={**fields, "decision": "include", "note": "words"})
        assert page.status_code == 422
        assert "nothing was changed" in page.text
        assert "data-stored" not in page.text  # so that the browser keeps what was typed
        assert desk.desk.store.value("select count(*) from adjudications") == 0
        assert anna.get(R3).status_code == 404
        assert "is not in this review (any more)" in anna.page.text
        desk.desk.heads.forget()
        assert "Zinc trial 6" in anna.get("/queue/positives").text.replace('<mark class="term">', "").replace("</mark>", "")
        anna.send("/queue/positives", decision="include")
        assert "Stored: include for r6." in anna.page.text


def test_a_record_that_became_a_duplicate_while_it_was_read_is_told_and_counts_for_the_kept_one(folder: ReviewFolder) -> None:
    screened(folder)
    with_duplicates(folder)
    folder.run({"m": ScriptedBackend(answers)})
    with served(folder) as desk:
        anna, ben = Browser(desk, ANNA), Browser(desk, BEN)
        anna.get("/queue/referred?key=title_abstract%1Fd2")
        fields = anna.fields()
        ben.get("/queue/duplicates")
        ben.send("/queue/duplicates", decision="same")
        ben.get("/")
        ben.send("/join")
        page = anna.http.post("/queue/referred", data={**fields, "decision": "include"})
        assert "d2 is a duplicate of d1 now; the decision counts for d1." in page.text
        assert dict(desk.desk.store.rows(f"select record_id, state from {TA} where record_id in ('d1', 'd2')")) == {
            "d1": "included", "d2": "duplicate",
        }  # fmt: skip


def test_a_record_that_left_the_stage_while_it_was_read_is_told_and_kept(folder: ReviewFolder) -> None:
    screened(folder, parts=(BOTH_STAGES.replace("double", "single"),))
    with served(folder) as desk:
        anna, cleo = Browser(desk, ANNA), Browser(desk, CLEO)
        cleo.get(R3)
        cleo.send("/queue/positives", decision="include")
        where = "/queue/referred?key=full_text%1Fr3"
        anna.get(where)
        fields = anna.fields()
        cleo.get(R3)
        cleo.send("/queue/positives", decision="exclude")
        page = anna.http.post("/queue/referred", data={**fields, "decision": "include"})
        assert "r3 is not at full_text any more; the decision is kept and counts if it comes back." in page.text
        assert desk.desk.store.value("select count(*) from adjudications where stage = 'full_text'") == 1
        assert desk.desk.store.value("select count(*) from full_text where record_id = 'r3'") == 0
        cleo.get(R3)
        cleo.send("/undo")
        assert desk.desk.store.rows("select state, decided_by from full_text where record_id = 'r3'") == [("included", "Anna")]


def test_a_store_of_a_newer_version_is_told_in_one_sentence_and_left_as_it_is(folder: ReviewFolder) -> None:
    screened(folder, 2)
    path = folder.path / "review.duckdb"
    with Store(path) as store:
        store.append("migrations", [{"name": "9999_future", "at_time": "2030-01-01"}])
    before = path.read_bytes()
    command = [sys.executable, "-m", "litcascade", "desk", "--review", str(folder.path), "--port", "0"]
    told = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert told.returncode == 2
    assert "written by a newer litcascade (has '9999_future'); update the program" in told.stderr
    assert "Traceback" not in told.stderr
    assert "http://" not in told.stdout
    assert path.read_bytes() == before


def test_the_command_tells_where_two_must_read_and_one_is_here(folder: ReviewFolder) -> None:
    screened(folder, 2, parts=(READ_BY_TWO,))
    command = [sys.executable, "-u", "-m", "litcascade", "desk", "--review", str(folder.path), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as desk:
        assert desk.stdout
        lines = [desk.stdout.readline() for _ in range(3)]
        desk.send_signal(2)
        desk.communicate(timeout=60)
    assert "Two people must read each record at title_abstract; only one is here now.\n" in lines


def test_deduplication_elsewhere_leaves_no_word_waiting(folder: ReviewFolder) -> None:
    screened(folder)
    with_duplicates(folder)
    with desk_of(folder) as desk:
        (pair,) = desk.queues.page("duplicates", ANNA, 9)
        desk.decide("duplicates", pair.key, {"decision": "same"}, session(ANNA))
        deduplicate(desk.store)
    with desk_of(folder) as desk:
        assert not desk.words_on_pairs
