"""What was decided on a record, by whom and when, as a list that only grows."""

from dataclasses import dataclass
from typing import Any

from litcascade.store import Store


@dataclass(frozen=True)
class Event:
    """One thing that happened: when (to the minute), who, in words; `kind`, `seq` name its row; `back`: one can undo it."""

    at: str
    who: str
    words: str
    kind: str
    seq: int
    back: bool
    own: bool


_SQL = """
with taken as (select of_seq, any_value(who) as by_whom from withdrawn group by 1)
select at_time, who, words, note, kind, seq, taken.of_seq is not null as taken, word, criteria from (
    select coalesce(decision, 'unsure') as word, at_time, who,
        concat_ws(' ', coalesce(decision, case when unsure then 'unsure' end), criterion) as words, note,
        'adjudications' as kind, seq, criteria_hash as criteria from adjudications where stage = $stage and record_id = $record
    union all
    select coalesce(decision, 'unsure'), at_time, who,
        concat_ws(' ', 'as a reader:', coalesce(decision, 'unsure'), criterion), note, 'person_readings', seq, criteria_hash
        from person_readings where stage = $stage and record_id = $record
    union all
    select coalesce(decision, 'unsure'), at_time, who,
        concat_ws(' ', case purpose when 'again' then 'read again:' when 'late' then 'beside it:' when 'beside' then 'beside it:'
        else 'blind:' end, coalesce(decision, 'unsure'), criterion), note, 'opinions', seq, criteria_hash
        from opinions where stage = $stage and record_id = $record
    union all
    select null, at_time, who, concat_ws(' ', 'rationale:', reasoning), quote, 'rationales', seq, null
        from rationales where stage = $stage and record_id = $record
    union all
    select null, at_time, who, 'cause: ' || cause, null, 'causes', seq, null
        from causes where stage = $stage and record_id = $record
    union all
    select null, r.at_time, 'an amendment', 'queued again: ' || r.reason, null, 'requeued', r.seq, null
        from requeued r join adjudications a using (adjudication_id) where a.stage = $stage and a.record_id = $record
) left join taken on taken.of_seq = seq order by seq
"""


@dataclass(frozen=True)
class History:
    """What people did to a record: events, one's own newest standing word (or None), and the `seq` that settled it last."""

    events: list[Event]
    mine: str | None
    version: int

    def shown(self, *, hidden: bool) -> list[Event]:
        """All events, or one's own alone where what others did is hidden."""
        return [event for event in self.events if event.own or not hidden]


def history_of(store: Store, stage: str, record_id: str, me: str, criteria: str | None = None) -> History:
    """All that people did to a record at a stage, oldest first, as `me` sees it; `mine` is of these `criteria`."""
    events = []
    mine, version = None, 0
    for at, who, words, note, kind, seq, taken, word, version_of in store.rows(_SQL, {"stage": stage, "record": record_id}):
        own = me.casefold() in [name.casefold() for name in str(who or "").split(" + ")]
        told = f"{words}{f' · “{note}”' if note else ''}{' (taken back)' if taken else ''}"
        events.append(Event(minute(at), who or "nobody", told, kind, int(seq), own and not taken and kind != "requeued", own))
        if own and not taken and word and (criteria is None or version_of == criteria):
            mine = str(word)
        if kind == "adjudications" and not taken:
            version = int(seq)
    return History(events, mine, version)


def minute(at: Any) -> str:
    """A time to the minute."""
    return at.strftime("%Y-%m-%d %H:%M") if hasattr(at, "strftime") else str(at)[:16]
