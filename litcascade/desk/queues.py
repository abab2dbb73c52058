"""Queues: what waits for people, worst loss first, as SQL that is read a page at a time.

The loss of an item is the probability that a wrong decision on it loses evidence, in [0, 1]: for records p(include) where a
reader gave it, else by the reason why they wait; for extracted values by what their quotes are worth.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from litcascade.desk import harmonising, schema_edits
from litcascade.desk.differing import TAKEN, differing
from litcascade.desk.keys import SEPARATOR
from litcascade.desk.kinds import Queue, Rules, may_see, queue_named, readers_at
from litcascade.desk.users import User
from litcascade.pipeline.review import Review
from litcascade.pipeline.states import model_states
from litcascade.schemas import SCREENING, ReferCode
from litcascade.stages.extraction_support import SEVERITY
from litcascade.store import Store

UNSCORED = 0.3
BY_REASON = {
    ReferCode.CONFIRM: 0.9, ReferCode.AMENDED: 0.6, ReferCode.PANEL: 0.5, ReferCode.UNSURE: 0.5, ReferCode.CONFLICT: 0.5,
    ReferCode.UNCLEAR: 0.5, ReferCode.STEERING: 0.4, ReferCode.IDENTITY: 0.4,
}  # fmt: skip
AGAIN_SHARE = 10  # every so many-th of one's decisions is put to the same person again


@dataclass(frozen=True)
class Waiting:
    """One item of a queue: its key, heading, why it waits, and its loss in [0, 1]."""

    key: str
    title: str
    why: str
    loss: float


@dataclass(frozen=True)
class Query:
    """SQL with the columns key_one, key_two, title, why, loss, tie (worst loss first, then `tie`), and its parameters."""

    sql: str
    parameters: dict[str, Any]


class Queues:
    """The queues of one review, as each person sees them."""

    def __init__(self, review: Review, store: Store, rules: Rules, users: Sequence[User]) -> None:
        self.review = review
        self.store = store
        self.rules = rules
        self._names = {user.name.casefold() for user in users}
        self.stages = [name for name, _ in review.protocol.stages.items() if name in SCREENING]

    def page(self, name: str, user: User, limit: int, offset: int = 0) -> list[Waiting]:
        """So many items of a queue from `offset` on, worst loss first."""
        return self.head(name, user, limit, offset)[0]

    def head(self, name: str, user: User, limit: int, offset: int = 0) -> tuple[list[Waiting], int]:
        """A page of a queue, and how many items wait in it (0 where the page is empty)."""
        query = self._query(queue_named(name), user)
        if query is None:
            return [], 0
        rows = self.store.rows(
            f"select key_one, key_two, title, why, loss, count(*) over () from ({query.sql}) order by loss desc, tie "
            f"limit {limit:d} offset {offset:d}",
            query.parameters,
        )
        items = [
            Waiting(one + (SEPARATOR + two if two else ""), title or "(no title)", why or "", float(loss))
            for one, two, title, why, loss, _ in rows
        ]
        return items, int(rows[0][5]) if rows else 0

    def personal(self, name: str) -> bool:
        """Whether a queue differs from person to person."""
        return self.rules.anywhere or name in ("panel", "people", "again", "duplicates", "calibration", "causes")

    def count(self, name: str, user: User) -> int:
        """How many items wait in a queue for this person."""
        query = self._query(queue_named(name), user)
        if query is None:
            return 0
        return int(self.store.rows(f"select count(*) from ({query.sql})", query.parameters)[0][0])

    def _query(self, queue: Queue, user: User) -> Query | None:
        if not may_see(queue, user):
            return None
        simple = {"extraction": self._extraction, "duplicates": self._duplicates, "calibration": self._calibration}
        if queue.name in simple:
            return simple[queue.name](user)
        if queue.name in ("harmonising", "schema"):
            return Query(harmonising.QUEUE if queue.name == "harmonising" else schema_edits.QUEUE, {})
        parts = [self._stage(queue.name, stage, user) for stage in self.stages]
        chosen = [part for part in parts if part]
        if not chosen:
            return None
        parameters = {"me": user.name, "days": self.rules.again_after}
        parameters |= {f"criteria_{stage}": self.review.protocol.criteria_hash(stage) for stage in self.stages}
        sql = " union all ".join(f"select * from ({part})" for part in chosen)
        return Query(sql, {name: value for name, value in parameters.items() if f"${name}" in sql})

    def _stage(self, name: str, stage: str, user: User) -> str | None:
        made = {
            "referred": self._referred, "positives": self._positives, "readers": self._readers, "people": self._people,
            "audit": self._audit, "again": self._again, "causes": self._causes, "panel": self._panel,
        }[name](stage, user)  # fmt: skip
        return made and made.replace("{stage}", stage)

    def _waiting(self, where: str, stage: str) -> str:
        """Records of a stage that are not yet decided by this person where two read blind."""
        mine = ""
        if self.rules.two(stage):
            mine = (
                " and s.record_id not in (select record_id from opinions where stage = '{stage}' and purpose = 'double' "
                f"and criteria_hash = $criteria_{{stage}} and not {TAKEN} group by record_id "
                "having bool_or(lower(who) = lower($me)) or count(distinct lower(who)) > 1)"
            )
        return (
            "select '{stage}' as key_one, s.record_id as key_two, title, concat_ws(': ', coalesce(code, state), reason) as why, "
            f"{_loss('s')} as loss, records.seq as tie from {{stage}} s join records using (record_id) where ({where}){mine}"
        )

    def _referred(self, stage: str, _: User) -> str:
        apart = [ReferCode.CONFIRM.value, ReferCode.PANEL.value]
        if readers_at(self.review, stage) & self._names:
            apart.append(ReferCode.AWAITING.value)
        listed = ", ".join(f"'{code}'" for code in apart)
        return self._waiting(f"state in ('referred', 'not retrieved') and coalesce(code, '') not in ({listed})", stage)

    def _positives(self, stage: str, _: User) -> str:
        confirm = ReferCode.CONFIRM.value
        where = f"(state = 'referred' and code = '{confirm}') or (state = 'included' and decided_by = 'model')"
        return self._waiting(where, stage)

    def _readers(self, stage: str, _: User) -> str:
        return self._waiting(f"state = 'referred' and code = '{ReferCode.PANEL.value}'", stage)

    def _audit(self, stage: str, _: User) -> str:
        return (
            self._waiting(
                "decided_by = 'model' and s.record_id in (select record_id from audits "
                "join current_stages using (stage, fingerprint) "
                "where audits.stage = '{stage}')",
                stage,
            )
            .replace(f"{_loss('s')} as loss, records.seq as tie", "0.5 as loss, hash(s.record_id) as tie")
            .replace("concat_ws(': ', coalesce(code, state), reason)", "'drawn for the audit'")
        )

    def _panel(self, stage: str, user: User) -> str | None:
        if user.name.casefold() not in readers_at(self.review, stage):
            return None
        return (
            "select '{stage}' as key_one, s.record_id as key_two, title, 'waits for you as a reader' as why, "
            f"{_loss('s')} as loss, records.seq as tie from {{stage}} s join records using (record_id) join ("
            "select distinct record_id from readings join current_stages using (stage, fingerprint) where stage = '{stage}' "
            f"and lower(reader) = lower($me) and code = '{ReferCode.AWAITING.value}') asked using (record_id) "
            "where state in ('referred', 'pending') and coalesce(decided_by, 'model') = 'model' and s.record_id not in ("
            "select record_id from (select record_id, decision from person_readings where stage = '{stage}' "
            "and lower(who) = lower($me) and criteria_hash = $criteria_{stage} "
            "qualify row_number() over (partition by record_id order by seq desc) = 1) where decision is not null)"
        )

    def _people(self, stage: str, _: User) -> str:
        return (
            f"select '{{stage}}' as key_one, differ.record_id as key_two, title, words as why, {_loss('s')} as loss, "
            f"records.seq as tie from ({differing(stage, two=self.rules.two(stage))}) differ join records using (record_id) "
            "join {stage} s on s.record_id = differ.record_id"
        )

    def _again(self, _: str, user: User) -> str | None:
        if not user.decides:
            return None
        return (
            "select '{stage}' as key_one, mine.record_id as key_two, title, 'read again' as why, 0.5 as loss, "
            "hash(mine.record_id) as tie from (select record_id, at_time, seq from ("
            "select record_id, at_time, seq, who, decision from adjudications where stage = '{stage}' "
            f"and criteria_hash = $criteria_{{stage}} and not {TAKEN} union all "
            "select record_id, at_time, seq, who, decision from opinions where stage = '{stage}' and purpose = 'double' "
            f"and criteria_hash = $criteria_{{stage}} and not {TAKEN}) where lower(who) = lower($me) and decision is not null "
            "qualify row_number() over (partition by record_id order by seq desc) = 1) mine join records using (record_id) "
            "where at_time <= now() - to_microseconds(($days * 86400000000)::bigint) "
            f"and hash(mine.record_id || $me) % {AGAIN_SHARE} = 0 and mine.record_id not in (select record_id from opinions "
            f"where stage = '{{stage}}' and purpose = 'again' and lower(who) = lower($me) and not {TAKEN})"
        )

    def reads_blind(self, stage: str, record_id: str, user: User) -> bool:
        """Whether a record waits for a blind reading that its gold label or the models' verdict would spoil."""
        if stage not in self.stages:
            return False
        sql = f"select count(*) from ({self._blind(stage, user)}) where record_id = $record".replace("{stage}", stage)
        given = {"me": user.name, "record": record_id, f"criteria_{stage}": self.review.protocol.criteria_hash(stage)}
        return bool(self.store.rows(sql, {name: value for name, value in given.items() if f"${name}" in sql})[0][0])

    def _blind(self, stage: str, user: User) -> str:
        """Records of a stage that wait for a blind reading: of two people, of the audit, or of this reader of the panel."""
        waits = "state <> 'excluded' or " if self.rules.two(stage) else ""
        sql = (
            f"select record_id from {{stage}} where coalesce(decided_by, 'model') = 'model' and ({waits}record_id in ("
            "select record_id from audits join current_stages using (stage, fingerprint) where audits.stage = '{stage}'))"
        )
        panel = self._panel(stage, user)
        return f"{sql} union all select key_two from ({panel})" if panel else sql

    def _causes(self, stage: str, user: User) -> str:
        missed = "g.decision = 'include' and m.state = 'excluded'"
        extra = "g.decision = 'exclude' and m.state in ('included', 'referred')"
        return (
            "select '{stage}' as key_one, g.record_id as key_two, title, "
            f"case when {missed} then 'missed: gold says include' else 'extra: gold says exclude' end as why, "
            f"case when {missed} then 1.0 else 0.1 end as loss, records.seq as tie "
            f"from (select * from current_gold where stage = '{{stage}}') g join ({model_states('{stage}')}) m using (record_id) "
            "join records on records.record_id = g.record_id "
            f"where (({missed}) or ({extra})) and g.record_id not in "
            "(select record_id from current_causes where stage = '{stage}') "
            f"and g.record_id not in ({self._blind(stage, user)})"
        )

    def _extraction(self, _: User) -> Query | None:
        if self.review.protocol.stages.extraction is None:
            return None
        steps = " ".join(
            f"when '{status}' then {1 - place / len(SEVERITY):.3f}" for place, status in enumerate(map(str, SEVERITY))
        )
        return Query(
            "select v.record_id as key_one, '' as key_two, any_value(records.title) as title, "
            "count(*) || ' value(s) to check: ' || string_agg(distinct field, ', ' order by field) as why, "
            f"max(case when error is not null then 0.35 else 0 end + case support {steps} else 0.2 end * 0.6) as loss, "
            "any_value(records.seq) as tie from extracted v join records using (record_id) "
            "where escalated is not null group by v.record_id union all "
            "select s.record_id, '', title, concat_ws(': ', coalesce(code, state), reason), 0.6, records.seq from extraction s "
            "join records using (record_id) where state in ('referred', 'not retrieved')",
            {},
        )

    def _duplicates(self, user: User) -> Query:
        return Query(
            "select first_id as key_one, second_id as key_two, a.title as title, coalesce(why, rule) as why, "
            "coalesce(least(score, 1.0), 0.5) as loss, p.seq as tie from current_pairs p "
            "join records a on a.record_id = first_id join records b on b.record_id = second_id "
            "where verdict = 'unsure' and (who = 'rules' or (lower(who) <> lower($me) and $arbiter))",
            {"me": user.name, "arbiter": user.role == "arbiter"},
        )

    def _calibration(self, user: User) -> Query:
        return Query(
            "with newest as (select item_id, who, label from judge_labels "
            f"where not {TAKEN} qualify row_number() over (partition by item_id, lower(who) order by seq desc) = 1), "
            "said as (select item_id, bool_or(lower(who) = lower($me)) as mine, count(*) as people, "
            "count(distinct label) as answers "
            "from newest group by 1), drawn as ("
            "select * from judge_samples qualify row_number() over (partition by item_id order by seq desc) = 1) "
            "select d.item_id as key_one, '' as key_two, d.item as title, d.judge || ': ' || d.field as why, "
            "case when answers > 1 then 0.6 else 0.5 end as loss, hash(d.item_id) as tie from drawn d "
            "left join said using (item_id) where people is null or (not mine and people < $needed) "
            "or (answers > 1 and $arbiter and not mine)",
            {"me": user.name, "needed": 2 if self.rules.anywhere else 1, "arbiter": user.role == "arbiter"},
        )


def _loss(alias: str) -> str:
    """p(include) where there is one, else by the reason."""
    steps = " ".join(f"when '{code.value}' then {loss}" for code, loss in BY_REASON.items())
    return f"coalesce({alias}.score, case {alias}.code {steps} else {UNSCORED} end)::double"
