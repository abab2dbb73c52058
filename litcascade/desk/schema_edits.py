"""The queue of proposals for the schema: what waits, what stands on its screen, and what a decision comes to."""

from collections.abc import Mapping
from dataclasses import dataclass

from litcascade.desk.history import Event, minute
from litcascade.desk.keys import whole_number
from litcascade.desk.users import User
from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.pipeline.schema_drafting.words import (
    NEWEST,
    WAITING,
    base_schema,
    change_text,
    misfit,
    proposal_of,
    record_word,
    worked_on,
)
from litcascade.schemas import FieldSpec
from litcascade.stages.schema_drafting import Proposal
from litcascade.store import Store

QUEUE = (
    "select proposal_id as key_one, '' as key_two, replace(kind, '_', ' ') || ': ' || concat_ws(' to ', "
    "nullif(array_to_string(json_extract_string(proposal, '$.names[*]'), ', '), ''), "
    "nullif(array_to_string(json_extract_string(proposal, '$.fields[*].name'), ', '), '')) as title, "
    "proposal->>'rationale' as why, case when kind in ('new', 'merge', 'split') then 0.6 else 0.4 end as loss, seq as tie "
    f"from ({WAITING})"
)
MEANING = {
    "new": "adds a field", "merge": "makes one field of several", "split": "parts a field", "edge_case": "adds an edge case",
    "exception": "adds an exception",
}  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """What a proposal rests on: the paper, its quote, and whether that stands in it."""

    record_id: str
    title: str
    name: str
    quote: str
    found: bool
    flags: tuple[str, ...]


@dataclass(frozen=True)
class SchemaScreen:
    """A proposed change of the schema: what it does, the fields that stand now, its evidence, and the change as TOML."""

    key: str
    proposal: Proposal
    meaning: str
    why: str
    papers: int
    now: list[FieldSpec]
    evidence: list[Shown]
    change: str
    history: list[Event]
    version: int
    mine: str | None
    notes: list[str]


def schema_screen(review: Review, store: Store, key: str, user: User) -> SchemaScreen:
    """The screen of a proposal of the newest pass; another one is an `InputError`."""
    one = proposal_of(store, key)
    titles = dict(
        store.rows(
            "select record_id, title from records where record_id in (select unnest(?::text[]))",
            [[item.record for item in one.evidence]],
        )
    )
    evidence = [
        Shown(item.record, titles.get(item.record) or "(no title)", item.name, item.quote, item.found, item.flags)
        for item in one.evidence
    ]
    wanted = {*one.names, *(field.name for field in one.fields)}
    events, mine, version = _history(store, key, user)
    edited = worked_on(review, store)
    notes = [f"{edited.name} was filled in by hand: the desk hears that once it is frozen by the command"] if edited else []
    return SchemaScreen(
        key, one, MEANING[one.kind], one.rationale, len({item.record for item in one.evidence}),
        [spec for spec in base_schema(store) if spec.name in wanted], evidence, change_text(one), events, version, mine, notes,
    )  # fmt: skip


def decide_proposal(store: Store, key: str, user: User, form: Mapping[str, str]) -> str:
    """Append a decision on a proposal and say what it came to."""
    _refuse_late(store, key, user, form)
    decision = form.get("decision", "")
    change = "\n".join(form.get("change", "").split("\r\n")).strip()
    if decision == "accept" and change and change != change_text(proposal_of(store, key)):
        raise InputError("the proposal was changed in the form; choose 'store as changed', or put the change back")
    kept = record_word(store, key, decision, user.name, note=form.get("note", "").strip() or None, text=change or None)
    told = f"Stored: {kept.decision} {key}; it counts once a version is frozen."
    fault = misfit(store) if decision != "refuse" else None
    return f"{told} As decided so far the schema does not fit together: {fault}." if fault else told


def _refuse_late(store: Store, key: str, user: User, form: Mapping[str, str]) -> None:
    seen = whole_number(form.get("version", ""))
    rows = store.rows(
        f"select seq, who, decision from proposal_words where run_id = ({NEWEST}) and proposal_id = ? "
        "and seq not in (select of_seq from withdrawn) order by seq desc limit 1",
        [key],
    )
    if rows and seen is not None and rows[0][0] > seen and rows[0][1].casefold() != user.name.casefold():
        raise InputError(f"{rows[0][1]} decided on it while you read ({rows[0][2]}); look at the history and decide again")


def _history(store: Store, key: str, user: User) -> tuple[list[Event], str | None, int]:
    rows = store.rows(
        "select at_time, who, decision, note, seq, seq in (select of_seq from withdrawn) from proposal_words "
        f"where run_id = ({NEWEST}) and proposal_id = ? order by seq",
        [key],
    )
    events = []
    mine, version = None, 0
    for at, who, decision, note, seq, taken in rows:
        own = who.casefold() == user.name.casefold()
        told = f"{decision}{f' · “{note}”' if note else ''}{' (taken back)' if taken else ''}"
        events.append(Event(minute(at), who, told, "proposal_words", int(seq), own and not taken, own))
        version = version if taken else int(seq)
        mine = decision if own and not taken else mine
    return events, mine, version
