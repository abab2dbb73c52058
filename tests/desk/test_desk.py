"""The desk without HTTP: what is in a queue and in which order, what is shown, what a decision comes to, what is undone."""

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.backends.scripted import ScriptedBackend
from litcascade.desk.heads import LEASE, Heads
from litcascade.desk.keys import join
from litcascade.desk.kinds import Rules
from litcascade.desk.marking import Span, marked, quote_spans, term_spans
from litcascade.desk.progress import between
from litcascade.desk.screens import ExtractionScreen, LabelScreen, PairScreen, RecordScreen
from litcascade.desk.users import Door, User, parse_users
from litcascade.errors import InputError
from litcascade.pipeline.auditing import audit_results
from litcascade.pipeline.judging.labels import labels_of
from litcascade.schemas import Reply
from tests.desk.making import (
    ANNA,
    BEN,
    CLEO,
    PANEL,
    VERA,
    XSS,
    answers,
    audited,
    desk_of,
    extracted,
    screened,
    session,
    with_duplicates,
)
from tests.support.reviews import ReviewFolder

TA = "title_abstract"


def key(record_id: str) -> str:
    return join(TA, record_id)


def test_queues_hold_what_waits_worst_loss_first(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        counts = {queue.name: left for queue, left in desk.home(CLEO)}
        assert counts["referred"] == 2  # without abstract
        assert counts["positives"] == 4  # r3, r6, r9, r12
        assert "people" in counts
        assert "people" not in {queue.name for queue, _ in desk.home(ANNA)}
        page = desk.queues.page("positives", ANNA, 3)
        assert [item.key for item in page] == [key("r3"), key("r6"), key("r9")]
        assert [item.key for item in desk.queues.page("positives", ANNA, 3, 3)] == [key("r12")]
        assert all(item.loss >= later.loss for item, later in pairwise(page))


def test_a_decision_settles_and_goes_through_the_store_signed(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        form = {"decision": "exclude", "criterion": "E1", "note": "a review", "form": "1"}
        words = desk.decide("positives", key("r3"), form, anna)
        assert "exclude (E1)" in words
        row = desk.store.rows(f"select state, decided_by, criterion, reason from {TA} where record_id = 'r3'")
        assert row == [("excluded", "Anna", "E1", "a review")]
        assert desk.home(ANNA)[2][1] == 3
        assert "stored once" in desk.decide("positives", key("r3"), form, anna)
        assert desk.store.value("select count(*) from adjudications") == 1


def test_undo_is_appended_and_gives_the_record_back(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        form = {"decision": "include", "quote": "Forty adults took zinc", "reasoning": "Adults.", "form": "1"}
        desk.decide("positives", key("r3"), form, anna)
        assert desk.store.value("select quote from current_rationales") == "Forty adults took zinc"
        words, name, where = desk.undo(anna)
        assert (name, where) == ("positives", key("r3"))
        assert words.startswith("Taken back")
        assert desk.store.value(f"select state from {TA} where record_id = 'r3'") == "referred"
        assert desk.store.value("select count(*) from current_rationales") == 0
        assert desk.store.value("select count(*) from adjudications") == 1
        screen = desk.show("positives", key("r3"), anna).screen
        assert isinstance(screen, RecordScreen)
        assert any("taken back" in event.words for event in screen.history)
        with pytest.raises(InputError, match="nothing of this sitting"):
            desk.undo(anna)


def test_an_earlier_decision_stands_again_after_undo_and_nobody_undoes_anothers(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        anna, cleo = session(ANNA), session(CLEO)
        desk.decide("positives", key("r3"), {"decision": "include"}, anna)
        version = desk.decider.version(TA, "r3")
        desk.decide("positives", key("r3"), {"decision": "exclude", "version": str(version)}, cleo)
        assert desk.store.value(f"select decided_by from {TA} where record_id = 'r3'") == "Cleo"
        with pytest.raises(InputError, match="only who decided"):
            desk.take_back("adjudications", desk.decider.version(TA, "r3"), key("r3"), anna)
        desk.undo(cleo)
        assert desk.store.rows(f"select state, decided_by from {TA} where record_id = 'r3'") == [("included", "Anna")]


def test_two_who_decide_at_once_lose_nothing_and_the_arbiter_gets_the_conflict(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        anna, ben, cleo = session(ANNA), session(BEN), session(CLEO)
        desk.decide("positives", key("r3"), {"decision": "include", "version": "0"}, anna)
        assert "kept beside" in desk.decide("positives", key("r3"), {"decision": "exclude", "version": "0"}, ben)
        assert desk.store.value(f"select state from {TA} where record_id = 'r3'") == "included"
        (item,) = desk.queues.page("people", CLEO, 9)
        assert item.key == key("r3")
        assert item.why == "Anna: include, Ben: exclude"
        screen = desk.show("people", item.key, cleo).screen
        assert isinstance(screen, RecordScreen)
        desk.decide("people", item.key, {"decision": "exclude", "version": str(screen.version)}, cleo)
        assert desk.queues.page("people", CLEO, 9) == []
        assert desk.store.rows(f"select state, decided_by from {TA} where record_id = 'r3'") == [("excluded", "Cleo")]


def test_where_two_read_blind_neither_sees_the_other_and_agreement_settles(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder, Rules(double=True)) as desk:
        anna, ben = session(ANNA), session(BEN)
        before = desk.show("positives", key("r3"), ben).screen
        assert isinstance(before, RecordScreen)
        assert before.hidden
        assert before.said == []
        desk.decide("positives", key("r3"), {"decision": "include"}, anna)
        blind = desk.show("positives", key("r3"), ben).screen
        assert isinstance(blind, RecordScreen)
        assert blind.history == []
        assert desk.store.value(f"select state from {TA} where record_id = 'r3'") == "referred"
        assert key("r3") not in [item.key for item in desk.queues.page("positives", ANNA, 9)]
        assert "both agree" in desk.decide("positives", key("r3"), {"decision": "include"}, ben)
        assert desk.store.rows(f"select state, decided_by from {TA} where record_id = 'r3'") == [("included", "Anna + Ben")]
        after = desk.show("positives", key("r3"), ben).screen
        assert isinstance(after, RecordScreen)
        assert after.said
        assert len(after.history) == 3
        assert desk.standing(CLEO).agreements[0].percent == "1.00"
        desk.undo(anna)  # the joint decision rests on hers, so it falls too
        assert desk.store.value(f"select state from {TA} where record_id = 'r3'") == "referred"


def test_blind_readers_who_differ_or_are_unsure_go_to_the_arbiter(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder, Rules(double=True)) as desk:
        anna, ben, cleo = session(ANNA), session(BEN), session(CLEO)
        for record_id, word in (("r3", "exclude"), ("r6", "unsure")):
            desk.decide("positives", key(record_id), {"decision": "include"}, anna)
            desk.decide("positives", key(record_id), {"decision": word}, ben)
        assert {item.key for item in desk.queues.page("people", CLEO, 9)} == {key("r3"), key("r6")}
        assert desk.queues.count("positives", BEN) == 2
        desk.decide("people", key("r6"), {"decision": "include"}, cleo)
        assert desk.queues.count("people", CLEO) == 1
        with pytest.raises(InputError, match="arbiter's"):
            desk.show("people", None, anna)


def test_a_person_of_the_panel_reads_blind_and_undoes(folder: ReviewFolder) -> None:
    screened(folder, parts=(PANEL,))
    with desk_of(folder) as desk:
        anna = session(ANNA)
        waiting = desk.queues.count("panel", ANNA)
        assert waiting > 2
        assert desk.queues.count("panel", BEN) == 0
        screen = desk.show("panel", key("r3"), anna).screen
        assert isinstance(screen, RecordScreen)
        assert screen.hidden
        desk.decide("panel", key("r3"), {"decision": "include"}, anna)
        assert desk.queues.count("panel", ANNA) == waiting - 1
        assert desk.store.rows("select who, decision from person_readings") == [("anna", "include")]
    folder.run({"m": ScriptedBackend(answers)})
    assert folder.states(TA)["r3"] == "included"
    with desk_of(folder) as desk:
        seq = desk.store.value("select max(seq) from person_readings")
        desk.take_back("person_readings", seq, key("r3"), session(ANNA))
    folder.run({"m": ScriptedBackend(answers)})
    assert folder.states(TA)["r3"] == "referred"
    with desk_of(folder) as desk:
        assert desk.queues.count("panel", ANNA) == waiting


def test_the_audit_is_read_without_scores_and_counts(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        for record_id in ("r3", "r6", "r9", "r12"):
            desk.decide("positives", key(record_id), {"decision": "include"}, session(ANNA))
    audited(folder, 3)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        for _ in range(3):
            view = desk.show("audit", None, anna)
            assert isinstance(view.screen, RecordScreen)
            assert view.screen.hidden
            assert view.screen.score is None
            desk.decide("audit", view.screen.key, {"decision": "exclude"}, anna)
        assert desk.show("audit", None, anna).screen is None
        assert audit_results(desk.store)[0].decided == 3


def test_some_of_ones_own_decisions_come_again_after_the_interval(folder: ReviewFolder) -> None:
    screened(folder, 90)
    with desk_of(folder, Rules(again_after=0)) as desk:
        anna = session(ANNA)
        for item in desk.queues.page("positives", ANNA, 99):
            desk.decide("positives", item.key, {"decision": "include"}, anna)
        again = desk.queues.page("again", ANNA, 99)
        assert 0 < len(again) < 15
        assert desk.queues.count("again", BEN) == 0
        screen = desk.show("again", again[0].key, anna).screen
        assert isinstance(screen, RecordScreen)
        assert screen.hidden
        assert screen.mine is None
        desk.decide("again", again[0].key, {"decision": "exclude"}, anna)
        assert len(desk.queues.page("again", ANNA, 99)) == len(again) - 1
        assert desk.store.value(f"select count(*) from {TA} where state = 'included'") == 30  # a second reading settles nothing
        assert desk.standing(CLEO).again[0].percent == "0%"
        assert [item.why for item in desk.queues.page("people", CLEO, 9)] == ["Anna: include, Anna (again): exclude"]
    with desk_of(folder, Rules(again_after=14)) as desk:
        assert desk.queues.count("again", ANNA) == 0


def test_causes_pairs_and_labels_come_in_by_the_desk(folder: ReviewFolder) -> None:
    screened(folder)
    folder.gold([{"record_id": "r2", "title_abstract": "include"}, {"record_id": "r3", "title_abstract": "exclude"}])
    with_duplicates(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        assert [item.key for item in desk.queues.page("causes", ANNA, 9)] == [key("r2"), key("r3")]
        desk.decide("causes", key("r2"), {"decision": "criterion misread"}, anna)
        assert desk.queues.count("causes", ANNA) == 1
        desk.undo(anna)
        assert desk.queues.count("causes", ANNA) == 2
        (pair,) = desk.queues.page("duplicates", ANNA, 9)
        screen = desk.show("duplicates", pair.key, anna).screen
        assert isinstance(screen, PairScreen)
        assert screen.rows[0] == ("record id", "d1", "d2", True)
        assert screen.rows[1][3]  # the titles differ in case alone
        desk.decide("duplicates", pair.key, {"decision": "same"}, anna)
        assert "1 of 14 records are duplicates" in desk.join_pairs(ANNA)
        desk.undo(anna)
        desk.join_pairs(ANNA)
        assert desk.store.value("select count(*) from current_clusters where record_id <> kept_id") == 0


def test_values_are_confirmed_changed_and_taken_back(folder: ReviewFolder) -> None:
    extracted(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        view = desk.show("extraction", None, anna)
        assert isinstance(view.screen, ExtractionScreen)
        first = view.screen.values[0]
        assert (first.name, first.urgent, first.given) == ("people", True, "41")
        marks = [part for shown in view.screen.document for part in shown.parts if part.kind == "quote"]
        assert {part.name for part in marks} == {"q-setting", "q-people", "q-dose"}
        form = {"do:people": "change", "value:people": "forty"}
        with pytest.raises(InputError, match="not a number"):
            desk.decide("extraction", "r1", form, anna)
        assert desk.store.value("select count(*) from adjudications") == 0
        desk.decide("extraction", "r1", {"do:people": "change", "value:people": "40", "do:dose": "confirm"}, anna)
        told = "select field, value, reader from extracted where record_id = 'r1' order by field"
        assert desk.store.rows(told) == [
            ("dose", '"90 mg"', "Anna"),
            ("people", "40", "Anna"),
            ("setting", '"hospital"', "extractor"),
        ]
        assert desk.queues.count("extraction", ANNA) == view.left - 1
        desk.undo(anna)
        assert ("people", "41", "extractor") in desk.store.rows(told)
        with pytest.raises(InputError, match="no value was confirmed"):
            desk.decide("extraction", "r1", {}, anna)


def test_calibration_labels_are_given_without_a_word_of_the_judge(folder: ReviewFolder) -> None:
    extracted(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        left = desk.queues.count("calibration", ANNA)
        assert left == 6
        for word in ("yes", "no"):
            view = desk.show("calibration", None, anna)
            assert isinstance(view.screen, LabelScreen)
            desk.decide("calibration", view.screen.key, {"decision": word}, anna)
        assert desk.queues.count("calibration", ANNA) == left - 2
        desk.undo(anna)
        settled = [labels_of(desk.store, judge, "dose").settled for judge in ("same_meaning", "support")]
        assert [value for labels in settled for value in labels.values()] == [True]


def test_forms_at_fault_store_nothing(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        for form, match in (
            ({"decision": "perhaps"}, "choose include"),
            ({"decision": "exclude", "criterion": "E9"}, "no criterion 'E9'"),
            ({"decision": "include", "quote": "these words stand nowhere"}, "does not stand"),
            ({"decision": "include", "note": "x" * 5000}, "longer than"),
        ):
            with pytest.raises(InputError, match=match):
                desk.decide("positives", key("r3"), form, anna)
        with pytest.raises(InputError, match="not in the review"):
            desk.decide("positives", key("gone"), {"decision": "include"}, anna)
        with pytest.raises(InputError, match="not in this review"):
            desk.show("positives", key("gone"), anna)
        with pytest.raises(InputError, match="no queue"):
            desk.show("nowhere", None, anna)
        with pytest.raises(InputError, match="viewer"):
            desk.decide("positives", key("r3"), {"decision": "include"}, session(VERA))
        for table in ("adjudications", "rationales", "opinions"):
            assert desk.store.value(f"select count(*) from {table}") == 0


def test_a_report_is_shown_whole_with_its_quotes_and_a_missing_one_is_told(folder: ReviewFolder) -> None:
    folder.protocol(
        '[readers.one]\nmodel = "m"\nstyle = "criteria"\n[stages.full_text]\nreaders = ["one"]\npositives = "people"\n'
    )
    folder.records(2)
    folder.texts(
        {"r1": "Methods\n\nForty adults took zinc for a week.\n\nResults\n\nPain was less after two days. <b>No</b> harm."}
    )
    said = {"I1": {"quote": "Forty adults took zinc", "met": "yes"}, "E1": {"quote": "", "met": "no"}}
    folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text=json.dumps(said), finish_reason="stop"))})
    with desk_of(folder) as desk:
        anna = session(ANNA)
        found = {item.key: name for name in ("referred", "positives") for item in desk.queues.page(name, ANNA, 9)}
        screen = desk.show(found[join("full_text", "r1")], join("full_text", "r1"), anna).screen
        assert isinstance(screen, RecordScreen)
        parts = [part for piece in screen.document for part in piece.parts]
        assert "<b>No</b> harm." in "".join(part.text for part in parts)
        assert next(answer[:3] for answer in screen.said[0].criteria) == ("I1", "yes", "Forty adults took zinc")
        assert [part.text for part in parts if part.kind == "quote"] == ["Forty adults took zinc"]
        gone = desk.show("referred", join("full_text", "r2"), anna).screen
        assert isinstance(gone, RecordScreen)
        assert gone.document_note == "There is no full text of this record."
        quote = {"decision": "include", "quote": "Pain was less after two days", "reasoning": "It helped."}
        desk.decide(found[join("full_text", "r1")], join("full_text", "r1"), quote, anna)
        assert desk.store.rows("select stage, quote from current_rationales") == [("full_text", quote["quote"])]


def test_hostile_titles_stay_text(folder: ReviewFolder) -> None:
    screened(folder)
    with desk_of(folder) as desk:
        screen = desk.show("referred", key("r1"), session(ANNA)).screen
        assert isinstance(screen, RecordScreen)
        assert "".join(part.text for part in screen.card.title) == f"Zinc {XSS} trial 1"
        assert screen.card.flags


def test_an_open_item_is_kept_from_others_for_a_while_and_skipped_ones_come_last(folder: ReviewFolder) -> None:
    screened(folder)
    now = [0.0]
    with desk_of(folder) as desk:
        desk.heads = Heads(desk.queues, lambda: now[0])
        anna, ben = session(ANNA), session(BEN)
        assert desk.next_key("referred", anna) == key("r1")
        assert desk.next_key("referred", ben) == key("r4")
        assert desk.next_key("referred", anna) == key("r1")
        now[0] = LEASE + 1
        assert desk.next_key("referred", ben) == key("r1")
        anna = session(ANNA)
        now[0] *= 3
        desk.decide("referred", key("r1"), {"decision": "skip"}, anna)
        assert desk.next_key("referred", anna) == key("r4")
        desk.decide("referred", key("r4"), {"decision": "include"}, anna)
        assert desk.next_key("referred", anna) == key("r1")
        assert desk.store.value("select count(*) from adjudications") == 1


def test_links_sessions_and_forms_have_an_end() -> None:
    now = [0.0]
    door = Door([ANNA, BEN], 100, lambda: now[0])
    entered = door.enter(door.tokens["Anna"])
    assert entered
    cookie, told = entered
    assert told.user == ANNA
    assert door.session(cookie) is told
    assert door.enter("wrong") is None
    assert door.session("wrong") is None
    door.leave(cookie)
    assert door.session(cookie) is None
    again = door.enter(door.tokens["Anna"])
    assert again
    now[0] = 100
    assert door.session(again[0]) is None
    assert door.enter(door.tokens["Anna"]) is None


def test_users_are_named_with_roles() -> None:
    assert parse_users([], "me") == [User("me", "arbiter")]
    assert parse_users(["Anna", "Cleo:arbiter"], "me") == [ANNA, CLEO]
    for words, match in (
        (["Anna:boss"], "no role"),
        ([":reviewer"], "a name has"),
        (["A+B"], "plus"),
        (["Anna", "anna"], "twice"),
    ):
        with pytest.raises(InputError, match=match):
            parse_users(words, "me")


@given(
    st.text(max_size=40),
    st.lists(st.tuples(st.integers(-2, 42), st.integers(-2, 42), st.sampled_from(["term", "quote", "warn"]))),
)
def test_marking_never_changes_a_text(text: str, places: list[tuple[int, int, str]]) -> None:
    spans = [Span(start, end, kind) for start, end, kind in places]  # type: ignore[arg-type]
    assert "".join(part.text for part in marked(text, spans)) == text


def test_terms_and_quotes_are_found_in_their_forms() -> None:
    text = "Children took zinc lozenges; a lozenge tasted bad."
    terms = [text[span.start : span.end] for span in term_spans(text, ["Does a lozenge help children?"])]
    assert terms == ["Children", "lozenges", "lozenge"]
    (quote,) = quote_spans(text, ["CHILDREN took\nzinc", None, "not there"])
    assert text[quote.start : quote.end] == "Children took zinc"
    parts = marked(text, [*term_spans(text, ["children"]), quote])
    assert next((part.text, part.kind) for part in parts) == ("Children took zinc", "quote")


def test_pace_leaves_breaks_out() -> None:
    assert between([0, 10, 30, 2000, 2012]) == 12
    assert between([5]) is None
