"""Amendments: the criteria changed after piloting; who, when, why, what, and whose decisions are touched."""

import json
import uuid
from dataclasses import dataclass

from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import store_protocol
from litcascade.schemas import STAGES, Protocol, parse_protocol
from litcascade.store import Store, now


@dataclass(frozen=True)
class Change:
    """One change: what it concerns (a criterion's id, `question`, `notes`, `fields`), how, and at which stages."""

    what: str
    how: str
    stages: tuple[str, ...]
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Amendment:
    """A recorded amendment, with how many decisions of people are queued again."""

    amendment_id: str
    author: str
    reason: str
    changes: list[Change]
    requeued: int


def amend(review: Review, store: Store, author: str, reason: str) -> Amendment:
    """Record the difference between the last protocol that ran and the one on disk; queue touched decisions again."""
    last = store.rows("select hash, text from protocols order by seq desc limit 1")
    if not last:
        raise InputError("nothing has run under this protocol yet; edit it freely, no amendment is needed")
    old_hash, old_text = last[0]
    old = parse_protocol(old_text, "the protocol of the last run")
    changes = differences(old, review.protocol)
    if not changes:
        raise InputError("question, notes, criteria and fields are as they were; there is nothing to amend")
    amendment_id = f"amendment-{uuid.uuid4().hex[:12]}"
    touched = _touched(store, review.protocol, changes)
    with store.transaction():
        kept = json.dumps([vars(change) for change in changes], ensure_ascii=False)
        row = {"amendment_id": amendment_id, "at_time": now(), "author": author, "reason": reason, "changes": kept}
        store.append("amendments", [{**row, "from_hash": old_hash, "to_hash": review.protocol.hash()}])
        again = {"amendment_id": amendment_id, "at_time": now()}
        store.append("requeued", [{**again, "adjudication_id": key, "reason": why} for key, why in touched])
        store_protocol(review, store)
    return Amendment(amendment_id, author, reason, changes, len(touched))


def differences(old: Protocol, new: Protocol) -> list[Change]:
    """What changed in all that people decide by."""
    everywhere: tuple[str, ...] = STAGES
    changes = [
        Change(what, "changed", everywhere, before, after)
        for what, before, after in (
            ("question", old.review.question, new.review.question),
            ("notes", old.review.notes, new.review.notes),
        )
        if before != after
    ]
    mine, theirs = ({c.id: c for c in protocol.criteria} for protocol in (old, new))
    for key in sorted(mine.keys() | theirs.keys()):
        before, after = mine.get(key), theirs.get(key)
        if before != after:
            how = "added" if before is None else "removed" if after is None else "changed"
            stages = tuple(dict.fromkeys([*(before.stages if before else ()), *(after.stages if after else ())]))
            changes.append(Change(key, how, stages, before.text if before else None, after.text if after else None))
    if old.criteria_hash("extraction") != new.criteria_hash("extraction") and set(old.fields) != set(new.fields):
        names = [", ".join(field.name for field in protocol.fields) for protocol in (old, new)]
        changes.append(Change("fields", "changed", ("extraction",), *names))
    return changes


def _touched(store: Store, new: Protocol, changes: list[Change]) -> list[tuple[str, str]]:
    """The standing decisions that the changes touch: (adjudication id, why).

    An exclusion that names its criterion stands as long as that criterion and the question stand; any other decision
    at a stage is touched by every change there.
    """
    rows = store.rows(
        "select adjudication_id, stage, decision, criterion, criteria_hash from adjudications "
        "where adjudication_id not in (select adjudication_id from requeued) and decision is not null "
        "and seq not in (select of_seq from withdrawn) "
        "qualify row_number() over (partition by record_id, stage order by seq desc) = 1"
    )
    touched = []
    for adjudication_id, stage, decision, criterion, made_under in rows:
        if made_under == new.criteria_hash(stage):
            continue
        here = [change for change in changes if stage in change.stages]
        if decision == "exclude" and criterion:
            here = [change for change in here if change.what in (criterion, "question")]
        if here:
            touched.append((adjudication_id, f"{here[0].what} was {here[0].how}"))
    return touched
