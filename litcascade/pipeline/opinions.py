"""Opinions: decisions that settle nothing alone, of people who read blind, again, came late, or spoke beside an arbiter."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from litcascade.corpora.labels import Choice
from litcascade.errors import InputError
from litcascade.pipeline.importing import record_choices, require_known
from litcascade.pipeline.review import Review
from litcascade.schemas import SCREENING
from litcascade.store import Store, now

Purpose = Literal["double", "again", "late", "beside"]
NEEDED = 2  # people who must agree where records are read by two


@dataclass(frozen=True)
class Opinion:
    """The newest standing opinion of one person on one record at one stage; `decision` None: unsure."""

    who: str
    decision: str | None
    criterion: str | None
    note: str | None


def record_opinion(review: Review, store: Store, choice: Choice, purpose: Purpose, where: str) -> None:
    """Append an opinion, with the version of the criteria in force; it must be signed."""
    require_known(store, where, {choice.record_id})
    if not choice.who:
        raise InputError(f"{where}: nobody is named; sign the opinion")
    if choice.stage not in SCREENING:
        raise InputError(f"{where}: '{choice.stage}' is no screening stage")
    known = {criterion.id for criterion in review.protocol.criteria_for(choice.stage)}
    if choice.criterion and choice.criterion not in known:
        raise InputError(f"{where}: there is no criterion '{choice.criterion}' at {choice.stage}")
    row = {name: getattr(choice, name) for name in ("record_id", "stage", "who", "decision", "unsure", "criterion", "note")}
    stamp = {"at_time": now(), "purpose": purpose, "criteria_hash": review.protocol.criteria_hash(choice.stage)}
    store.append("opinions", [{**row, **stamp}])


def opinions_on(review: Review, store: Store, stage: str, record_id: str) -> list[Opinion]:
    """The newest standing blind opinion of each person on a record under the criteria in force, in the order of names.

    Names that differ in case alone are one person.
    """
    rows = store.rows(
        "select who, decision, criterion, note from opinions where stage = ? and record_id = ? and purpose = 'double' "
        "and criteria_hash = ? and seq not in (select of_seq from withdrawn) "
        "qualify row_number() over (partition by lower(who) order by seq desc) = 1 order by lower(who)",
        [stage, record_id, review.protocol.criteria_hash(stage)],
    )
    return [Opinion(*row) for row in rows]


def settle_agreed(review: Review, store: Store, stage: str, record_id: str, where: str) -> str | None:
    """Append the decision that two people agree on, signed by both; None where they differ, are unsure, or one is missing."""
    said = opinions_on(review, store, stage, record_id)
    if len(said) < NEEDED or said[0].decision is None or len({one.decision for one in said}) > 1:
        return None
    joint = Choice(record_id, stage, None, unsure=False, who=" + ".join(one.who for one in said), criterion=None, note=None)
    criteria = {one.criterion for one in said}
    agreed = replace(joint, decision="include" if said[0].decision == "include" else "exclude",
                     criterion=criteria.pop() if len(criteria) == 1 else None)  # fmt: skip
    record_choices(review, store, [agreed], None, where)
    return said[0].decision


def withdraw(store: Store, kind: str, rows: Sequence[int], who: str, at: str | None = None) -> None:
    """Append that whoever wrote these rows (by `seq`) took them back; they stay in the store and count no more."""
    store.append("withdrawn", [{"at_time": at or now(), "of_seq": seq, "kind": kind, "who": who} for seq in rows])


def withdraw_reading(store: Store, seq: int, who: str) -> None:
    """Take back a panel reading; where it was the newest, what the person said before it (or that nothing is said) is appended.

    A row that such an append made carries the time of the withdrawal: taking it back takes back what it repeats.
    """
    stage, record_id, reader = store.rows("select stage, record_id, who from person_readings where seq = ?", [seq])[0]
    rows = store.rows(
        "select seq, decision, criterion, note, criteria_hash, at_time in ("
        "select at_time from withdrawn where kind = 'person_readings' and withdrawn.seq < p.seq) "
        "from person_readings p where stage = ? and record_id = ? and lower(who) = lower(?) "
        "and seq not in (select of_seq from withdrawn) order by seq",
        [stage, record_id, reader],
    )
    said, repeated = [row for row in rows if not row[5]], [int(row[0]) for row in rows if row[5]]
    gone = int(said[-1][0]) if seq in repeated and said else seq
    if not said or gone != said[-1][0]:
        withdraw(store, "person_readings", [seq], who)
        return
    criteria = said[-1][4]
    decision, criterion, note, version = said[-2][1:5] if len(said) > 1 else (None, None, None, criteria)
    at = now()
    row = {"stage": stage, "record_id": record_id, "who": reader, "at_time": at, "decision": decision}
    with store.transaction():
        withdraw(store, "person_readings", [gone, *repeated], who, at)
        store.append("person_readings", [{**row, "criterion": criterion, "note": note, "criteria_hash": version}])
        if len(said) == 1:
            blank = store.value(
                "select max(seq) from person_readings where stage = ? and record_id = ? and who = ?", [stage, record_id, reader]
            )
            withdraw(store, "person_readings", [int(blank)], who, at)
