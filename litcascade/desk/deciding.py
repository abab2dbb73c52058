"""Decisions as forms send them, put through the same functions as tables that people import; everything is appended."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litcascade.corpora.labels import Choice, FieldLabel, PairWord, read_value
from litcascade.desk.differing import anybody_spoke, is_the_arbiters
from litcascade.desk.harmonising import decide_item
from litcascade.desk.keys import split, whole_number
from litcascade.desk.kinds import Queue, Rules, readers_at
from litcascade.desk.lateness import last_cause, last_pair, last_values, refuse_late
from litcascade.desk.schema_edits import decide_proposal
from litcascade.desk.users import User
from litcascade.desk.values import seen_of
from litcascade.errors import InputError
from litcascade.pipeline.duplicates import record_words
from litcascade.pipeline.errors_found import record_causes
from litcascade.pipeline.importing import record_choices, record_values
from litcascade.pipeline.judging.labels import record_labels
from litcascade.pipeline.opinions import Purpose, record_opinion, settle_agreed, withdraw, withdraw_reading
from litcascade.pipeline.rationales import record_rationales
from litcascade.pipeline.review import Review
from litcascade.schemas import SCREENING, FieldSpec
from litcascade.schemas.fields import check_value
from litcascade.store import Store

WHERE = "the desk"
KINDS = (
    "adjudications", "person_readings", "opinions", "rationales", "judge_labels", "pairs", "causes", "mapping_decisions",
    "proposal_words",
)  # fmt: skip
NOTE_LENGTH = 4000
WORDS = {"include": "include", "exclude": "exclude", "unsure": "unsure"}


@dataclass(frozen=True)
class Done:
    """What a form came to: words for people, the rows it appended as (table, seq), and whether the item is settled for all."""

    words: str
    rows: tuple[tuple[str, int], ...]
    settled: bool


class Decider:
    """Stores what people decide on one review."""

    def __init__(self, review: Review, store: Store, rules: Rules, users: Sequence[User] = ()) -> None:
        self._arbiters = {user.name.casefold() for user in users if user.role == "arbiter"}
        self.review = review
        self.store = store
        self.rules = rules

    def decide(self, queue: Queue, key: str, user: User, form: Mapping[str, str]) -> Done:
        """Store one filled-in form, whole or not at all; a form at fault is an `InputError`."""
        if not user.decides:
            raise InputError("you came in as a viewer; ask for a link as a reviewer to decide")
        if len(form.get("note", "")) > NOTE_LENGTH:
            raise InputError(f"the note is longer than {NOTE_LENGTH} characters; shorten it")
        made: dict[str, Callable[[Queue, str, User, Mapping[str, str]], tuple[str, bool]]] = {
            "record": self._record, "extraction": self._values, "label": self._label, "pair": self._pair, "cause": self._cause,
            "harmonise": self._harmonise, "schema": self._schema,
        }  # fmt: skip
        with self.store.transaction():
            mark = int(self.store.value("select nextval('rows')"))
            words, settled = made[queue.screen](queue, key, user, form)
            rows = self._after(mark)
        return Done(words, rows, settled)

    def undo(self, rows: Sequence[tuple[str, int]], user: User) -> None:
        """Take back rows that this person wrote (alone, or with others); anyone else's are an `InputError`."""
        with self.store.transaction():
            for kind, seq in [*rows, *self._rests_on(rows)]:
                if kind not in KINDS:
                    raise InputError(f"rows of '{kind}' cannot be taken back")
                who = self.store.value(f"select who from {kind} where seq = ?", [seq])
                if who is None or user.name.casefold() not in [name.casefold() for name in str(who).split(" + ")]:
                    raise InputError("only who decided may take a decision back; overrule it with your own instead")
                if self.store.value("select count(*) from withdrawn where of_seq = ?", [seq]):
                    continue
                if kind == "person_readings":
                    withdraw_reading(self.store, seq, user.name)
                else:
                    withdraw(self.store, kind, [seq], user.name)

    def _rests_on(self, rows: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
        """The joint decisions that rest on opinions among these rows: they fall with them.

        Only those under the same criteria where the opinion was the newest of its person.
        """
        seqs = [seq for kind, seq in rows if kind == "opinions"]
        joint = self.store.rows(
            "select a.seq from adjudications a join opinions o using (stage, record_id) where o.seq < a.seq "
            "and o.seq in (select unnest(?::bigint[])) and purpose = 'double' and a.criteria_hash = o.criteria_hash "
            "and contains(a.who, ' + ') and list_contains(string_split(lower(a.who), ' + '), lower(o.who)) and not exists ("
            "select 1 from opinions n left join withdrawn w on w.of_seq = n.seq where n.stage = o.stage "
            "and n.record_id = o.record_id and lower(n.who) = lower(o.who) and n.purpose = 'double' "
            "and n.criteria_hash = o.criteria_hash and n.seq > o.seq and n.seq < a.seq and coalesce(w.seq > a.seq, true))",
            [seqs],
        )
        return [("adjudications", int(row[0])) for row in joint]

    def version(self, stage: str, record_id: str) -> int:
        """The newest settling decision on a record, by its `seq`; 0 where there is none."""
        found = self.store.value(
            "select max(seq) from adjudications where stage = ? and record_id = ? and seq not in (select of_seq from withdrawn)",
            [stage, record_id],
        )
        return int(found or 0)

    def _after(self, mark: int) -> tuple[tuple[str, int], ...]:
        """What this transaction appended so far, in the order of the tables."""
        sql = " union all ".join(
            f"select {place} as place, '{kind}' as kind, seq from {kind}" for place, kind in enumerate(KINDS)
        )
        rows = self.store.rows(f"select kind, seq from ({sql}) where seq > ? order by place, seq", [mark])
        return tuple((kind, int(seq)) for kind, seq in rows)

    def _record(self, queue: Queue, key: str, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
        stage, record_id = self._at_stage(key)
        word = form.get("decision", "")
        if word not in WORDS:
            raise InputError("choose include, exclude or unsure; nothing was stored")
        decision = None if word == "unsure" else "include" if word == "include" else "exclude"
        criterion = (form.get("criterion") or None) if word == "exclude" else None
        note = form.get("note", "").strip() or None
        choice = Choice(record_id, stage, decision, word == "unsure", user.name, criterion, note)  # type: ignore[arg-type]
        words, settled = self._heard(queue, choice, user, form)
        self._rationale(choice, form)
        return words + self._left_the_stage(stage, record_id), settled

    def _at_stage(self, key: str) -> tuple[str, str]:
        """(Screening stage of this review, record) of a key; another stage is an `InputError`."""
        named, record_id = split(key)
        stages = [name for name, _ in self.review.protocol.stages.items() if name in SCREENING]
        if named not in stages:
            raise InputError(f"'{named[:40]}' is no screening stage of this review; nothing was stored")
        return stages[stages.index(named)], record_id

    def _left_the_stage(self, stage: str, record_id: str) -> str:
        """What to know where a record left the stage while somebody read it; blank where it did not."""
        kept = self.store.value("select kept_id from current_clusters where record_id = ? and kept_id <> record_id", [record_id])
        if kept is not None:
            return f" {record_id} is a duplicate of {kept} now; the decision counts for {kept}."
        first = next(iter(self.review.protocol.stages.items()))[0]
        entered = "records" if stage == first else stage  # all records are at the first stage, and to look there costs nothing
        if not self.store.value(f"select count(*) from {entered} where record_id = ?", [record_id]):
            return f" {record_id} is not at {stage} any more; the decision is kept and counts if it comes back."
        return ""

    def _heard(self, queue: Queue, choice: Choice, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
        said = f"{'unsure' if choice.unsure else choice.decision}{f' ({choice.criterion})' if choice.criterion else ''}"
        purpose = self._purpose(queue, choice, user, form)
        if purpose is None:
            record_choices(self.review, self.store, [choice], user.name, WHERE)
            return f"Stored: {said} for {choice.record_id}.", not choice.unsure
        record_opinion(self.review, self.store, choice, purpose, WHERE)
        if purpose == "late":
            return (
                f"Someone else decided on {choice.record_id} while you read. Yours ({said}) is kept beside theirs; where the two "
                "differ the arbiter has it now.", True
            )  # fmt: skip
        if purpose == "beside":
            return f"Stored beside what stands: {said} for {choice.record_id}. An arbiter decides where people differ.", False
        if purpose == "again":
            return f"Stored as a second reading: {said} for {choice.record_id}.", False
        agreed = settle_agreed(self.review, self.store, choice.stage, choice.record_id, WHERE)
        return f"Stored: {said} for {choice.record_id}{'; both agree, so it is settled' if agreed else ''}.", bool(agreed)

    def _purpose(self, queue: Queue, choice: Choice, user: User, form: Mapping[str, str]) -> Purpose | None:
        """What a word is kept as: an opinion of this purpose, or (None) a decision or a reading of the panel."""
        if queue.name == "panel":
            if user.name.casefold() not in readers_at(self.review, choice.stage):
                raise InputError(f"you are no reader of the panel at {choice.stage}; nothing was stored")
            return None
        if queue.name == "again":
            return "again"
        if self._came_late(choice, user, form):
            return "late"
        if queue.name == "people":
            return None
        if user.role != "arbiter" and self._is_the_arbiters(choice.stage, choice.record_id):
            return "beside"
        return "double" if self.rules.two(choice.stage) else None

    def _is_the_arbiters(self, stage: str, record_id: str) -> bool:
        """Whether an arbiter's decision stands on a record, or it waits for one; where nobody spoke yet neither can be."""
        if not anybody_spoke(self.store, stage, record_id):
            return False
        two = self.rules.two(stage)
        by = self.store.value(f"select decided_by from {stage} where record_id = ?", [record_id])
        if by not in (None, "model") and (str(by).casefold() in self._arbiters or (two and " + " not in str(by))):
            return True
        return is_the_arbiters(self.store, stage, self.review.protocol.criteria_hash(stage), record_id, two=two)

    def _came_late(self, choice: Choice, user: User, form: Mapping[str, str]) -> bool:
        """Whether someone else settled the record after this person's page was made."""
        seen = whole_number(form.get("version", ""))
        now = self.version(choice.stage, choice.record_id)
        if seen is None or seen >= now:
            return False
        who = self.store.value("select who from adjudications where seq = ?", [now])
        return str(who or "").casefold() != user.name.casefold()

    def _rationale(self, choice: Choice, form: Mapping[str, str]) -> None:
        quote, reasoning = form.get("quote", "").strip(), form.get("reasoning", "").strip()
        if not quote and not reasoning:
            return
        row = {"record_id": choice.record_id, "stage": choice.stage, "decision": choice.decision or "", "quote": quote}
        cells = {**row, "reasoning": reasoning, "who": choice.who or ""}
        receipt = record_rationales(self.review, self.store, [(1, cells)], choice.who, WHERE)
        if receipt.refused:
            raise InputError(f"rationale: {receipt.refused[0][1]}; nothing was stored, mend it and decide again")

    def _values(self, queue: Queue, key: str, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
        record_id, _ = split(key)
        refuse_late(last_values(self.store, record_id), user, form)
        given = [label for spec in self.review.protocol.fields if (label := self._value(spec, record_id, form)) is not None]
        if not given:
            raise InputError("no value was confirmed or changed; tick one at least")
        referred = self.store.value(
            "select count(*) from extraction where record_id = ? and state in ('referred', 'not retrieved')", [record_id]
        )
        missing = {spec.name for spec in self.review.protocol.fields} - {label.field for label in given}
        if referred and missing:
            raise InputError(f"nothing of this record is extracted yet: give every field ({', '.join(sorted(missing))})")
        record_values(self.review, self.store, given, user.name, WHERE, form.get("note", "").strip() or None)
        return f"Stored: {len(given)} value(s) of {record_id}.", True

    def _value(self, spec: FieldSpec, record_id: str, form: Mapping[str, str]) -> FieldLabel | None:
        action = form.get(f"do:{spec.name}", "leave")
        if action not in ("confirm", "change", "none"):
            return None
        row = self.store.rows("select value from extracted where record_id = ? and field = ?", [record_id, spec.name])
        stored = row[0][0] if row else None
        if form.get(f"seen:{spec.name}", seen_of(stored)) != seen_of(stored):
            raise InputError(f"the value of '{spec.name}' changed while you read; look at it again and decide again")
        if action == "confirm":
            if stored is None:
                raise InputError(f"field '{spec.name}' has no value that could be confirmed; give one")
            return FieldLabel(record_id, spec.name, json.loads(stored))
        cell = form.get(f"value:{spec.name}", "") if action == "change" else ""
        if action == "change" and not cell.strip():
            raise InputError(f"field '{spec.name}' is to be changed but its value is blank; choose 'not reported' for none")
        try:
            value, fault = check_value(spec, read_value(spec, cell))
        except ValueError as error:
            raise InputError(str(error)) from None
        if fault:
            raise InputError(f"field '{spec.name}': {fault}")
        return FieldLabel(record_id, spec.name, value)

    def _label(self, queue: Queue, key: str, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
        item_id, _ = split(key)
        word = form.get("decision", "")
        if word not in ("yes", "no"):
            raise InputError("choose yes or no, or skip the item")
        cells = {"item_id": item_id, "label": word, "who": user.name, "note": form.get("note", "")}
        record_labels(self.store, [(1, cells)], user.name, WHERE)
        return f"Stored: {word}.", not self.rules.anywhere

    def _pair(self, queue: Queue, key: str, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
        first, second = split(key)
        word = form.get("decision", "")
        if word not in ("same", "different", "same study", "unsure"):
            raise InputError("choose same, different, same study or unsure")
        refuse_late(last_pair(self.store, first, second), user, form)
        record_words(self.store, [PairWord(first, second, word, user.name, form.get("note", "").strip() or None)], None, WHERE)
        return f"Stored: {word} for {first} and {second}; it counts once duplicates are found anew (first page).", True

    def _harmonise(self, queue: Queue, key: str, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
        return decide_item(self.store, key, user, form)

    def _schema(self, queue: Queue, key: str, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
        return decide_proposal(self.store, key, user, form), True

    def _cause(self, queue: Queue, key: str, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
        stage, record_id = self._at_stage(key)
        refuse_late(last_cause(self.store, stage, record_id), user, form)
        cause = " ".join((form.get("cause") or form.get("decision") or "").split())
        if not cause or len(cause) > 200:
            raise InputError("name the cause in 1 to 200 characters")
        record_causes(self.store, [{"record_id": record_id, "stage": stage, "cause": cause}], user.name, WHERE)
        return f"Stored: {cause} for {record_id}.", True


def filled(form: Mapping[str, Any]) -> dict[str, str]:
    """The text fields of a form; files and anything else are left out."""
    return {name: value for name, value in form.items() if isinstance(value, str)}
