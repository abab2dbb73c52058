"""Proposals for the schema and harmonised items on the desk: what waits, what is stored, what counts, what is taken back."""

from pathlib import Path

import pytest

from litcascade.desk.harmonising import HarmoniseScreen
from litcascade.desk.keys import join
from litcascade.desk.schema_edits import SchemaScreen
from litcascade.errors import InputError
from litcascade.schemas.fields import load_schema
from tests.desk.making import ANNA, BEN, CLEO, VERA, desk_of, harmonised, proposed, session
from tests.desk.serving import Browser, served
from tests.pipeline.test_schema_drafting import decide as fill_in
from tests.pipeline.test_schema_drafting import frozen as freeze_by_command
from tests.support.reviews import ReviewFolder

DESIGNS = "select record_id, labels, how, flag, decided_by from harmonised where field = 'design' order by record_id"


def test_proposals_stand_with_their_evidence_and_are_frozen_as_by_the_command(folder: ReviewFolder) -> None:
    proposed(folder)
    with desk_of(folder) as desk:
        anna, ben, cleo = session(ANNA), session(BEN), session(CLEO)
        assert [item.key for item in desk.queues.page("schema", ANNA, 9)] == ["p1", "p2", "p3", "p4"]
        assert desk.queues.page("schema", ANNA, 1)[0].title == "merge: daily_dose, zinc_dose to dose"
        screen = desk.show("schema", None, anna).screen
        assert isinstance(screen, SchemaScreen)
        assert (screen.proposal.names, [field.name for field in screen.proposal.fields]) == (
            ("daily_dose", "zinc_dose"),
            ["dose"],
        )
        assert [(one.quote, one.found) for one in screen.evidence] == [("took 2 mg of zinc", True), ("took 1 mg of zinc", True)]
        people = desk.show("schema", "p2", anna).screen
        assert isinstance(people, SchemaScreen)
        assert not people.evidence[0].found
        with pytest.raises(InputError, match="nothing to freeze"):
            desk.freeze(CLEO)
        changed = screen.change.replace('"The dose of the trial."', '"Daily dose."\nunit = "mg"')
        assert "Stored: edit p1" in desk.decide("schema", "p1", {"decision": "edit", "change": changed, "form": "1"}, anna)
        desk.decide("schema", "p2", {"decision": "accept", "note": "needed", "form": "2"}, ben)
        desk.decide("schema", "p4", {"decision": "refuse", "form": "3"}, ben)
        assert [item.key for item in desk.queues.page("schema", ANNA, 9)] == ["p3"]
        assert desk.unfrozen() == 3
        with pytest.raises(InputError, match="only an arbiter"):
            desk.freeze(ANNA)
        assert desk.freeze(CLEO).startswith("Version 1 is frozen: 2 field(s) (accept 1, edit 1, refuse 1); left for later: p3.")
        assert desk.unfrozen() == 0
        assert desk.store.rows("select proposal_id, decision, author, note from schema_decisions order by proposal_id") == [
            ("p1", "edit", "Cleo", None), ("p2", "accept", "Cleo", "needed"), ("p4", "refuse", "Cleo", None),
        ]  # fmt: skip
        assert desk.store.rows("select proposal_id, decision, who from proposal_words order by seq") == [
            ("p1", "edit", "Anna"), ("p2", "accept", "Ben"), ("p4", "refuse", "Ben"),
        ]  # fmt: skip
        desk.decide("schema", "p3", {"decision": "accept", "form": "4"}, cleo)
        assert desk.freeze(CLEO).startswith("Version 2 is frozen")
    dose, people_field = load_schema(folder.path / "schema" / "v1.toml")
    assert (dose.name, dose.unit, dose.definition) == ("dose", "mg", "Daily dose.")
    assert people_field.name == "people"
    assert load_schema(folder.path / "schema" / "v2.toml")[1].edge_cases == ("Count those who were randomised.",)


def test_a_decision_on_a_proposal_is_taken_back_and_nobody_overrules_unseen(folder: ReviewFolder) -> None:
    proposed(folder)
    with desk_of(folder) as desk:
        anna, ben = session(ANNA), session(BEN)
        desk.decide("schema", "p2", {"decision": "accept", "version": "0", "form": "1"}, anna)
        with pytest.raises(InputError, match="Anna decided on it while you read"):
            desk.decide("schema", "p2", {"decision": "refuse", "version": "0", "form": "2"}, ben)
        screen = desk.show("schema", "p2", ben).screen
        assert isinstance(screen, SchemaScreen)
        assert [(event.who, event.words, event.back) for event in screen.history] == [("Anna", "accept", False)]
        assert desk.undo(anna)[1:] == ("schema", "p2")
        assert len(desk.queues.page("schema", ANNA, 9)) == 4
        assert desk.store.value("select count(*) from proposal_words") == 1
        desk.decide("schema", "p2", {"decision": "refuse", "version": str(screen.version), "form": "3"}, ben)
        assert len(desk.queues.page("schema", ANNA, 9)) == 3


def test_forms_at_fault_on_a_proposal_store_nothing(folder: ReviewFolder) -> None:
    proposed(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        screen = desk.show("schema", "p2", anna).screen
        assert isinstance(screen, SchemaScreen)
        other = screen.change.replace("people", "persons")
        for form, match in (
            ({"decision": "edit", "change": screen.change}, "nothing of the proposal was changed"),
            ({"decision": "edit", "change": "[[fields]\n"}, "not valid TOML"),
            ({"decision": "edit", "change": "rationale = 'x'"}, "has the key 'rationale'"),
            ({"decision": "edit", "change": "text = 'x'"}, "a new field needs exactly one field"),
            ({"decision": "accept", "change": other}, "was changed in the form"),
            ({"decision": "perhaps"}, "choose accept"),
        ):
            with pytest.raises(InputError, match=match):
                desk.decide("schema", "p2", form, anna)
        with pytest.raises(InputError, match="not in the newest pass"):
            desk.show("schema", "p9", anna)
        with pytest.raises(InputError, match="viewer"):
            desk.decide("schema", "p2", {"decision": "accept"}, session(VERA))
        assert desk.store.value("select count(*) from proposal_words") == 0
        words = desk.decide("schema", "p4", {"decision": "accept", "form": "1"}, anna)
        assert "does not fit together: proposal p4: there is no field 'zinc_dose'" in words


def test_what_the_command_froze_is_not_asked_again_and_is_not_lost(folder: ReviewFolder) -> None:
    proposed(folder)
    path = folder.path / "schema" / "proposals.toml"
    fill_in(path, p1="accept", p2="blank", p3="blank", p4="blank")
    freeze_by_command(folder, leave_undecided=True)
    with desk_of(folder) as desk:
        assert [item.key for item in desk.queues.page("schema", ANNA, 9)] == ["p2", "p3", "p4"]
        screen = desk.show("schema", "p2", session(ANNA)).screen
        assert isinstance(screen, SchemaScreen)
        assert "filled in by hand" in screen.notes[0]
        desk.decide("schema", "p2", {"decision": "accept", "form": "1"}, session(ANNA))
        desk.freeze(CLEO)
    assert [spec.name for spec in load_schema(folder.path / "schema" / "v2.toml")] == ["dose", "people"]
    assert 'decision = "accept"' in path.read_text(encoding="utf-8")


def test_items_in_doubt_are_labelled_as_by_the_command_and_taken_back(folder: ReviewFolder) -> None:
    harmonised(folder)
    with desk_of(folder) as desk:
        anna, ben = session(ANNA), session(BEN)
        titles = {item.title: item for item in desk.queues.page("harmonising", ANNA, 9)}
        assert {"a mixed plan", "other"} < set(titles)
        assert titles["a mixed plan"].why == "design: ambiguous (1 record(s))"
        key = titles["a mixed plan"].key
        screen = desk.show("harmonising", key, anna).screen
        assert isinstance(screen, HarmoniseScreen)
        assert [(one.name, one.by) for one in screen.labels] == [
            ("Randomised", "the model, in their order"), ("Observed", "the model, turned round"),
        ]  # fmt: skip
        assert (screen.definition, screen.label_version, screen.several) == ("How groups were formed.", 1, False)
        form = {"decision": "decide", "label": "Observed", "note": "no lot", "version": str(screen.version), "form": "1"}
        assert "Stored: Observed for “a mixed plan”." in desk.decide("harmonising", key, form, anna)
        assert next(row for row in desk.store.rows(DESIGNS) if row[0] == "r5")[1:] == (["Observed"], "person", None, "Anna")
        assert key not in {item.key for item in desk.queues.page("harmonising", ANNA, 9)}
        with pytest.raises(InputError, match="Anna decided on it while you read"):
            desk.decide("harmonising", key, {**form, "label": "Randomised", "form": "2"}, ben)
        desk.undo(anna)
        assert next(row for row in desk.store.rows(DESIGNS) if row[0] == "r5")[1:] == (None, "model", "ambiguous", None)
        assert desk.store.value("select count(*) from mapping_decisions") == 1
        other = titles["other"].key
        assert "none fits" in desk.decide("harmonising", other, {"decision": "none fits", "form": "3"}, anna)
        assert next(row for row in desk.store.rows(DESIGNS) if row[0] == "r6")[1:] == ([], "person", None, "Anna")
        desk.decide("harmonising", key, {"decision": "unsure", "form": "4"}, anna)
        waiting = {item.title: item.why for item in desk.queues.page("harmonising", BEN, 9)}
        assert waiting["a mixed plan"] == "design: a person is unsure (1 record(s))"


def test_a_comparison_in_doubt_is_mended_kept_or_dropped(folder: ReviewFolder) -> None:
    harmonised(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        told = {item.title: item.key for item in desk.queues.page("harmonising", ANNA, 9) if item.why.startswith("results.claim")}
        assert set(told) == {"Zinc and salt did alike", "Nothing to compare"}
        key = told["Zinc and salt did alike"]
        screen = desk.show("harmonising", key, anna).screen
        assert isinstance(screen, HarmoniseScreen)
        assert [one["basis"] for one in screen.tuples] == ["coughing", "pain"]
        with pytest.raises(InputError, match="say for each comparison"):
            desk.decide("harmonising", key, {"decision": "decide", "keep:0": "no"}, anna)
        kept = {f"{name}:1": value for name, value in screen.tuples[1].items()}
        form = {"decision": "decide", "keep:0": "no", "keep:1": "yes", "keep:2": "no", **kept, "form": "1"}
        assert "1 comparison(s) kept" in desk.decide("harmonising", key, form, anna)
        sql = "select basis, how, flag from harmonised where raw = 'Zinc and salt did alike'"
        assert desk.store.rows(sql) == [("pain", "person", None)]
        desk.undo(anna)
        assert len(desk.store.rows(sql)) == 2
        empty = told["Nothing to compare"]
        desk.decide("harmonising", empty, {"decision": "decide", "keep:0": "no", "keep:1": "no", "form": "2"}, anna)
        assert empty not in {item.key for item in desk.queues.page("harmonising", ANNA, 9)}


def test_forms_at_fault_on_an_item_store_nothing(folder: ReviewFolder) -> None:
    harmonised(folder)
    with desk_of(folder) as desk:
        anna = session(ANNA)
        key = next(item.key for item in desk.queues.page("harmonising", ANNA, 9) if item.title == "a mixed plan")
        for form, match in (
            ({"decision": "decide"}, "choose a label"),
            ({"decision": "decide", "label": "Nonsense"}, "is no label of 'design'"),
            ({"decision": "decide", "label:1": "Randomised", "label:2": "Observed"}, "several labels are given"),
            ({"decision": "decide", "label": "Observed", "record": "r1"}, "does not hold this item"),
        ):
            with pytest.raises(InputError, match=match):
                desk.decide("harmonising", key, form, anna)
        with pytest.raises(InputError, match="not in the last mapping"):
            desk.show("harmonising", join("map", "gone"), anna)
        assert desk.store.value("select count(*) from mapping_decisions") == 0


def test_both_by_plain_forms(tmp_path: Path) -> None:
    with served(harmonised(ReviewFolder(tmp_path / "labels"))) as desk:
        anna = Browser(desk, ANNA)
        anna.get("/queue/harmonising")
        anna.send("/queue/harmonising", decision="unsure")
        assert "Stored: unsure" in anna.page.text
        assert desk.desk.store.value("select count(*) from mapping_decisions where unsure") == 1
        for item in desk.desk.queues.page("harmonising", ANNA, 9):
            assert anna.http.get("/queue/harmonising", params={"key": item.key}).status_code == 200
    with served(proposed(ReviewFolder(tmp_path / "schema"))) as desk:
        cleo = Browser(desk, CLEO)
        cleo.get("/queue/schema")
        assert "took 2 mg of zinc" in cleo.page.text
        cleo.send("/queue/schema", decision="accept")
        assert "Stored: accept p1" in cleo.page.text
        assert "1 decision(s) on schema edits are in no version yet" in cleo.get("/").text
        assert "Version 1 is frozen: 1 field(s)" in cleo.send("/freeze").text
        assert "in no version yet" not in cleo.page.text
        page = cleo.get("/queue/schema?key=p2")
        assert cleo.send("/queue/schema", decision="edit", change="nonsense <b>").status_code == 422
        assert "nonsense &lt;b&gt;" in cleo.page.text
        assert "not found in the paper" in page.text
