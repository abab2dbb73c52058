"""Whose word settles a record, that every record waits somewhere, and that nothing is overruled or taken back unseen."""

import random

import pytest

from litcascade.desk.desk import Desk
from litcascade.desk.keys import join
from litcascade.desk.kinds import QUEUES, Rules
from litcascade.desk.progress import agreements
from litcascade.desk.screens import ExtractionScreen, PairScreen, RecordScreen
from litcascade.desk.users import Session, User
from litcascade.errors import InputError
from litcascade.pipeline.subjects import load_subjects
from tests.desk.making import (
    ANNA,
    BEN,
    CLEO,
    PANEL,
    PEOPLE,
    VERA,
    audited,
    desk_of,
    extracted,
    proposed,
    screened,
    session,
    with_duplicates,
)  # fmt: skip
from tests.desk.serving import Browser, served
from tests.support.reviews import ReviewFolder

TA = "title_abstract"
TWO = Rules(double=True)
READER = User("anna", "reviewer")


def key(record_id: str) -> str:
    return join(TA, record_id)


def state(desk: Desk, record_id: str) -> tuple[str, str | None]:
    (row,) = desk.store.rows(f"select state, decided_by from {TA} where record_id = ?", [record_id])
    return row


def waiting(desk: Desk, users: tuple[User, ...] = PEOPLE) -> set[str]:
    """The records that wait for anybody in any queue of decisions."""
    names = [name for name, queue in QUEUES.items() if queue.screen == "record"]
    return {item.key for name in names for user in users for item in desk.queues.page(name, user, 500)}


def decide(desk: Desk, user: User, record_id: str, word: str, queue: str = "positives") -> str:
    """A decision from a page that is fresh."""
    screen = desk.show(queue, key(record_id), session(user)).screen
    assert isinstance(screen, RecordScreen)
    return desk.decide(queue, key(record_id), {"decision": word, "version": str(screen.version)}, session(user))


def newest(desk: Desk, table: str, who: str) -> int:
    found = desk.store.value(f"select max(seq) from {table} where who = ? and seq not in (select of_seq from withdrawn)", [who])
    assert found
    return int(found)


def test_a_joint_decision_that_was_taken_back_goes_to_the_arbiter(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder, TWO) as desk:
        decide(desk, ANNA, "r3", "include")
        decide(desk, BEN, "r3", "include")
        desk.take_back("adjudications", newest(desk, "adjudications", "Anna + Ben"), key("r3"), session(ANNA))
        assert state(desk, "r3") == ("referred", "model")
        (item,) = desk.queues.page("people", CLEO, 9)
        assert item.key == key("r3")
        assert "no decision stands" in item.why
        decide(desk, CLEO, "r3", "exclude", "people")
        assert state(desk, "r3") == ("excluded", "Cleo")
        assert desk.queues.page("people", CLEO, 9) == []


@pytest.mark.parametrize("rules", [TWO, Rules()])
def test_an_arbiter_who_is_unsure_still_has_it(rules: Rules, folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder, rules) as desk:
        for user, word in ((ANNA, "include"), (BEN, "exclude")):
            desk.decide("positives", key("r3"), {"decision": word, "version": "0"}, session(user))
        decide(desk, CLEO, "r3", "unsure", "people")
        assert key("r3") in {item.key for item in desk.queues.page("people", CLEO, 9)}


@pytest.mark.parametrize("seed", range(6))
def test_every_referred_record_waits_in_some_queue_whatever_people_do(seed: int, folder: ReviewFolder) -> None:
    drawn = random.Random(seed)
    screened(folder, 4)
    with desk_of(folder, Rules(double=seed % 3 > 0)) as desk:
        sessions = {user.name: session(user) for user in (ANNA, BEN, CLEO)}
        for _ in range(45):
            user = drawn.choice((ANNA, BEN, CLEO))
            record_id = drawn.choice(("r1", "r3", "r4"))
            queue = drawn.choice(("people", "positives", "referred") if user == CLEO else ("positives", "referred"))
            step = drawn.random()
            try:
                if step < 0.7:
                    decide(desk, user, record_id, drawn.choice(("include", "exclude", "unsure")), queue)
                elif step < 0.85:
                    desk.undo(sessions[user.name])
                else:
                    table = drawn.choice(("adjudications", "opinions"))
                    mine = desk.store.rows(f"select seq, record_id from {table} where contains(who, ?)", [user.name])
                    if mine:
                        seq, of = drawn.choice(mine)
                        desk.take_back(table, int(seq), key(of), sessions[user.name])
            except InputError as error:
                if "nothing of this sitting" not in str(error):
                    raise
            referred = desk.store.rows(f"select record_id from {TA} where state = 'referred'")
            assert {key(row[0]) for row in referred} <= waiting(desk)


def test_an_old_opinion_takes_no_joint_decision_with_it_that_rests_on_a_newer_one(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder, TWO) as desk:
        decide(desk, ANNA, "r3", "include")
        old = newest(desk, "opinions", "Anna")
        decide(desk, ANNA, "r3", "exclude")
        decide(desk, BEN, "r3", "exclude")
        desk.take_back("opinions", old, key("r3"), session(ANNA))
        assert state(desk, "r3") == ("excluded", "Anna + Ben")
        desk.take_back("opinions", newest(desk, "opinions", "Anna"), key("r3"), session(ANNA))
        assert state(desk, "r3") == ("referred", "model")


def earlier_opinion(desk: Desk, who: str, record_id: str) -> int:
    """An opinion of a round under other criteria."""
    row = {"record_id": record_id, "stage": TA, "who": who, "decision": "include", "unsure": False, "purpose": "double"}
    desk.store.append("opinions", [{**row, "at_time": "2026-01-01", "criteria_hash": "old"}])
    return newest(desk, "opinions", who)


def test_an_opinion_under_earlier_criteria_is_taken_back_alone_and_shows_nothing(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder, TWO) as desk:
        old = earlier_opinion(desk, "Anna", "r3")
        decide(desk, BEN, "r3", "exclude")
        screen = desk.show("positives", key("r3"), session(ANNA)).screen
        assert isinstance(screen, RecordScreen)
        assert (screen.hidden, screen.mine, screen.said) == (True, None, [])
        assert {event.who for event in screen.history} == {"Anna"}
        decide(desk, User("Dora", "reviewer"), "r3", "exclude")
        assert state(desk, "r3") == ("excluded", "Ben + Dora")
        desk.take_back("opinions", old, key("r3"), session(ANNA))
        assert state(desk, "r3") == ("excluded", "Ben + Dora")


def test_only_readers_of_the_panel_read_for_it(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder, TWO) as desk:
        with pytest.raises(InputError, match="no reader of the panel"):
            desk.decide("panel", key("r3"), {"decision": "include"}, session(BEN))
        assert desk.store.value("select count(*) from adjudications") == 0


@pytest.mark.parametrize("rules", [TWO, Rules()])
def test_no_reviewer_overrules_an_arbiter(rules: Rules, folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder, rules) as desk:
        for user, word in ((ANNA, "include"), (BEN, "exclude")):
            desk.decide("positives", key("r3"), {"decision": word, "version": "0"}, session(user))
        before = state(desk, "r3")
        assert "arbiter" in decide(desk, BEN, "r3", "exclude")  # while it waits for the arbiter
        assert state(desk, "r3") == before
        decide(desk, CLEO, "r3", "include", "people")
        assert desk.queues.page("people", CLEO, 9) == []
        assert "arbiter" in decide(desk, ANNA, "r3", "exclude")
        assert state(desk, "r3") == ("included", "Cleo")
        assert [item.key for item in desk.queues.page("people", CLEO, 9)] == [key("r3")]
        decide(desk, CLEO, "r3", "exclude", "people")
        assert state(desk, "r3") == ("excluded", "Cleo")


def test_who_decided_first_may_not_turn_round_alone_once_another_differs(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder) as desk:
        for user, word in ((ANNA, "include"), (BEN, "exclude")):
            desk.decide("positives", key("r3"), {"decision": word, "version": "0"}, session(user))
        decide(desk, ANNA, "r3", "exclude")  # both think so now, but the decision that stands says otherwise
        assert state(desk, "r3") == ("included", "Anna")
        assert [item.key for item in desk.queues.page("people", CLEO, 9)] == [key("r3")]


def test_a_page_of_values_that_is_stale_signs_nothing(folder: ReviewFolder) -> None:
    extracted(folder, 2)
    with desk_of(folder) as desk:
        screen = desk.show("extraction", "r1", session(BEN)).screen
        assert isinstance(screen, ExtractionScreen)
        seen = {f"seen:{value.name}": value.seen for value in screen.values}
        desk.decide("extraction", "r1", {"do:people": "change", "value:people": "40"}, session(ANNA))
        form = {"do:people": "confirm", "version": str(screen.version), **seen}
        with pytest.raises(InputError, match="Anna decided on it while you read"):
            desk.decide("extraction", "r1", form, session(BEN))
        fresh = desk.show("extraction", "r1", session(BEN)).screen
        assert isinstance(fresh, ExtractionScreen)
        with pytest.raises(InputError, match="the value of 'people' changed"):
            desk.decide("extraction", "r1", {**form, "version": str(fresh.version)}, session(BEN))
        read = "select value, reader from extracted where record_id = 'r1' and field = 'people'"
        assert desk.store.rows(read) == [("40", "Anna")]
        now = {f"seen:{value.name}": value.seen for value in fresh.values}
        desk.decide("extraction", "r1", {**form, **now, "version": str(fresh.version)}, session(BEN))
        assert desk.store.rows(read) == [("40", "Ben")]


def test_the_page_of_values_carries_what_it_shows(folder: ReviewFolder) -> None:
    extracted(folder, 2)
    with served(folder) as desk:
        anna, ben = Browser(desk, ANNA), Browser(desk, BEN)
        for browser in (anna, ben):
            browser.get("/queue/extraction?key=r1")
        anna.send("/queue/extraction", **{"do:people": "change", "value:people": "40"})
        assert "Stored: 1 value(s) of r1." in anna.page.text
        page = ben.send("/queue/extraction", **{"do:people": "confirm"})
        assert page.status_code == 422
        assert "Anna decided on it while you read" in page.text
        assert page.text.count('name="seen:') == 3


def test_stale_words_on_pairs_and_causes_are_refused(folder: ReviewFolder) -> None:
    screened(folder, 3)
    folder.gold([{"record_id": "r2", "title_abstract": "include"}])
    with_duplicates(folder)
    with desk_of(folder) as desk:
        pair = desk.queues.page("duplicates", ANNA, 9)[0].key
        shown, error = desk.show("duplicates", pair, session(BEN)).screen, desk.show("causes", key("r2"), session(BEN)).screen
        assert isinstance(shown, PairScreen)
        assert isinstance(error, RecordScreen)
        desk.decide("duplicates", pair, {"decision": "same"}, session(ANNA))
        desk.decide("causes", key("r2"), {"cause": "gold label wrong"}, session(ANNA))
        with pytest.raises(InputError, match="Anna decided on it while you read"):
            desk.decide("duplicates", pair, {"decision": "different", "version": str(shown.version)}, session(BEN))
        with pytest.raises(InputError, match="Anna decided on it while you read"):
            desk.decide("causes", key("r2"), {"cause": "criterion misread", "version": str(error.version)}, session(BEN))
        with pytest.raises(InputError, match="no screening stage"):
            desk.decide("causes", join("nonsense", "r2"), {"cause": "x"}, session(BEN))


def test_a_name_in_other_letters_is_the_same_person(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder, TWO, users=(READER, BEN, CLEO)) as desk:
        decide(desk, ANNA, "r3", "include")
        assert key("r3") not in {item.key for item in desk.queues.page("positives", READER, 9)}
        decide(desk, READER, "r3", "include")
        assert state(desk, "r3") == ("referred", "model")
        assert key("r3") in {item.key for item in desk.queues.page("positives", BEN, 9)}
        decide(desk, BEN, "r3", "include")
        assert state(desk, "r3")[0] == "included"


def heard(desk: Desk) -> list[str]:
    return [str(word) for word in load_subjects(desk.store, TA, ["r3"])[0].people.values()]


def test_a_reading_that_is_not_the_newest_is_taken_back_alone(folder: ReviewFolder) -> None:
    screened(folder, 3, parts=(PANEL,))
    with desk_of(folder, users=(READER, BEN, CLEO)) as desk:
        anna = session(READER)
        desk.decide("panel", key("r3"), {"decision": "include"}, anna)
        first = newest(desk, "person_readings", "anna")
        desk.decide("panel", key("r3"), {"decision": "exclude"}, anna)
        desk.take_back("person_readings", first, key("r3"), anna)
        assert heard(desk) == ["exclude"]
        desk.undo(anna)
        assert heard(desk) == []
        assert key("r3") in {item.key for item in desk.queues.page("panel", READER, 9)}


def test_readings_undone_one_after_the_other_leave_nothing_said(folder: ReviewFolder) -> None:
    screened(folder, 3, parts=(PANEL,))
    with desk_of(folder, users=(READER, BEN, CLEO)) as desk:
        anna = session(READER)
        for word in ("include", "exclude"):
            desk.decide("panel", key("r3"), {"decision": word}, anna)
        desk.undo(anna)
        assert heard(desk) == ["include"]
        desk.undo(anna)
        assert heard(desk) == []
        desk.decide("panel", key("r3"), {"decision": "exclude"}, anna)
        assert heard(desk) == ["exclude"]


def test_a_changed_decision_is_no_form_sent_twice(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder) as desk:
        anna, form = session(ANNA), {"decision": "include", "form": "1"}
        desk.decide("positives", key("r3"), form, anna)
        assert "stored once" in desk.decide("positives", key("r3"), form, anna)
        assert desk.store.value("select count(*) from adjudications") == 1
        assert "twice" not in desk.decide("positives", key("r3"), {**form, "decision": "exclude"}, anna)
        assert state(desk, "r3") == ("excluded", "Anna")
        for _ in range(2):
            desk.undo(anna)
        assert "twice" not in desk.decide("positives", key("r3"), form, anna)
        assert state(desk, "r3") == ("included", "Anna")


def test_undo_is_offered_after_a_stored_decision_alone(folder: ReviewFolder) -> None:
    screened(folder, 6)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        anna.get("/queue/positives?key=title_abstract%1Fr3")
        assert 'action="/undo"' in anna.send("/queue/positives", decision="include").text
        anna.get("/queue/positives?key=title_abstract%1Fr6")
        anna.send("/queue/positives", decision="skip")
        assert "Skipped" in anna.page.text
        assert 'action="/undo"' not in anna.page.text


def test_causes_spoil_no_blind_reading(folder: ReviewFolder) -> None:
    screened(folder)
    folder.gold([{"record_id": "r2", "title_abstract": "include"}, {"record_id": "r3", "title_abstract": "exclude"}])
    audited(folder, 6)
    with desk_of(folder, TWO) as desk:
        assert desk.queues.page("causes", ANNA, 9) == []
        with pytest.raises(InputError, match="waits for a blind reading"):
            desk.show("causes", key("r3"), session(ANNA))
        for user in (ANNA, BEN):
            decide(desk, user, "r3", "include")
        assert state(desk, "r3") == ("included", "Anna + Ben")
        screen = desk.show("causes", key("r3"), session(CLEO)).screen
        assert isinstance(screen, RecordScreen)
        assert not screen.hidden


def test_agreement_counts_what_each_said_first(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with desk_of(folder, TWO) as desk:
        decide(desk, ANNA, "r3", "include")
        decide(desk, BEN, "r3", "exclude")
        decide(desk, BEN, "r3", "include")
        assert [(one.n, one.percent) for one in agreements(desk.store)] == [(1, "0.00")]
        desk.take_back("opinions", newest(desk, "opinions", "Anna"), key("r3"), session(ANNA))
        decide(desk, ANNA, "r3", "exclude")
        assert [(one.n, one.percent) for one in agreements(desk.store)] == [(1, "0.00")]


def test_a_viewer_takes_nothing_back_and_keeps_nothing_from_others(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        decide(desk, ANNA, "r3", "include")
        with pytest.raises(InputError, match="viewer"):
            desk.take_back(
                "adjudications", newest(desk, "adjudications", "Anna"), key("r3"), Session(User("Anna", "viewer"), 1, "")
            )
        looked = desk.next_key("positives", session(VERA))
        desk.show("positives", looked, session(VERA))
        assert desk.next_key("positives", session(BEN)) == looked
        with pytest.raises(InputError):
            desk.show("referred", key("junk"), session(BEN))
        assert list(desk.heads._leases) == [looked]


def test_two_desks_in_one_browser_keep_their_sessions(folder: ReviewFolder, tmp_path_factory: pytest.TempPathFactory) -> None:
    screened(folder, 3)
    other = screened(ReviewFolder(tmp_path_factory.mktemp("other") / "review"), 3)
    with served(folder) as one, served(other) as two:
        anna = Browser(one, ANNA)
        anna.http.get(two.link(ANNA))
        assert anna.get("/").status_code == 200
        marks = {page.partition('data-review="')[2][:12] for page in (anna.page.text, anna.http.get(two.base).text)}
        assert len(marks) == 2


def test_long_forms_are_taken_and_endless_ones_told(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        anna.get("/queue/positives?key=title_abstract%1Fr3")
        many = {f"x{place}": "" for place in range(900)}
        assert "Stored: include for r3." in anna.send("/queue/positives", decision="include", **many).text
        anna.get("/queue/referred?key=title_abstract%1Fr1")
        page = anna.send("/queue/referred", decision="include", **{f"x{place}": "" for place in range(5000)})
        assert page.status_code == 400
        assert "too many fields; nothing was stored" in page.text


def test_odd_digits_in_addresses_are_no_failure(folder: ReviewFolder) -> None:
    screened(folder, 3)
    with served(folder) as desk:
        anna = Browser(desk, ANNA)
        assert anna.get("/list/referred?page=²").status_code == 200
        anna.get("/queue/referred?key=title_abstract%1Fr1")
        assert "Stored" in anna.send("/queue/referred", decision="include", version="²").text
        assert anna.send("/take-back", seq="²", kind="opinions", queue="referred").status_code == 422


def test_who_decided_on_the_schema_is_who_did_before_it_was_frozen(folder: ReviewFolder) -> None:
    from litcascade.pipeline.report_page.developed import schema_blocks
    from litcascade.report.page import Folded

    def deciders(desk: Desk) -> list[object]:
        tables = [block.table for block in schema_blocks(desk.review, desk.store) if isinstance(block, Folded)]
        return [row[4] for row in tables[0].rows if row[3] == "accept"]

    proposed(folder)
    with desk_of(folder) as desk:
        proposal = desk.queues.page("schema", ANNA, 9)[0].key
        desk.decide("schema", proposal, {"decision": "accept"}, session(ANNA))
        desk.freeze(CLEO)
        assert deciders(desk) == ["Anna"]
        desk.decide("schema", proposal, {"decision": "accept"}, session(BEN))
        assert deciders(desk) == ["Anna"]
