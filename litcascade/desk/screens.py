"""What stands on a screen, as plain data: one record, pair or item, with everything a person needs to decide on it."""

from dataclasses import dataclass

from litcascade.desk.harmonising import HarmoniseScreen, harmonise_screen
from litcascade.desk.history import Event, history_of
from litcascade.desk.keys import split
from litcascade.desk.kinds import Queue, Rules
from litcascade.desk.lateness import last_cause, last_pair
from litcascade.desk.marking import quote_spans
from litcascade.desk.schema_edits import SchemaScreen, schema_screen
from litcascade.desk.showing import Card, Shown, card_of, note_of, pieces_of, plain
from litcascade.desk.users import User
from litcascade.desk.values import Value, values_of
from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.pipeline.states import model_states
from litcascade.pipeline.subjects import load_records
from litcascade.pipeline.texts import load_documents
from litcascade.schemas import SCREENING, Record
from litcascade.store import Store
from litcascade.store.views import NEEDS_TEXT

CALIBRATED = {
    "same_meaning": "Is the item, which a person recorded, among the others, in whatever words?",
    "support": "Is the item, which a program recorded, stated in the report for this field?",
}
CAUSES = (
    "criterion misread", "evidence missed in the text", "abstract says too little", "gold label wrong", "criteria unclear",
    "reply misread", "text damaged or missing",
)  # fmt: skip


@dataclass(frozen=True)
class Said:
    """What one reader said of a record, and how sure: `score` is p(include) in [0, 1], None where there is none."""

    reader: str
    decision: str | None
    score: float | None
    why: str | None
    criteria: tuple[tuple[str, str, str | None, bool | None], ...] = ()


@dataclass(frozen=True)
class RecordScreen:
    """A record at a screening stage; `hidden`: what readers and other people said is not shown yet."""

    key: str
    stage: str
    card: Card
    why: str
    score: float | None
    question: str
    notes: str
    criteria: list[tuple[str, str, str, str]]
    said: list[Said]
    hidden: bool
    history: list[Event]
    version: int
    mine: str | None
    document: list[Shown]
    document_note: str | None
    causes: tuple[str, ...] = ()


@dataclass(frozen=True)
class ExtractionScreen:
    """A report with its values, those that need a person first; `whole`: nothing is extracted yet, every field is wanted."""

    key: str
    card: Card
    values: list[Value]
    document: list[Shown]
    document_note: str | None
    whole: bool
    why: str
    history: list[Event]
    version: int


@dataclass(frozen=True)
class LabelScreen:
    """An item drawn for a judge's calibration, without a word of the judge."""

    key: str
    question: str
    judge: str
    field: str
    item: str
    others: list[str]
    card: Card | None
    document: list[Shown]


@dataclass(frozen=True)
class PairScreen:
    """Two records side by side: rows are (name, first value, second value, whether they are the same)."""

    key: str
    why: str
    rows: list[tuple[str, str, str, bool]]
    version: int


Screen = RecordScreen | ExtractionScreen | LabelScreen | PairScreen | HarmoniseScreen | SchemaScreen


class Screens:
    """Makes the screens of one review."""

    def __init__(self, review: Review, store: Store, rules: Rules) -> None:
        self.review = review
        self.store = store
        self.rules = rules
        self._terms = [review.protocol.review.question, *(criterion.text for criterion in review.protocol.criteria)]

    def screen(self, queue: Queue, key: str, user: User, why: str | None = None) -> Screen:
        """The screen of an item, `why` as its queue told it; one that is not (or no more) in the review is an `InputError`."""
        if queue.screen == "pair":
            return self._pair(key)
        if queue.screen == "label":
            return self._label(key)
        if queue.screen == "extraction":
            return self._extraction(key, user)
        if queue.screen == "harmonise":
            return harmonise_screen(self.review, self.store, key, user)
        if queue.screen == "schema":
            return schema_screen(self.review, self.store, key, user)
        return self._record(queue, key, user, why)

    def _load(self, record_id: str) -> Record:
        found = load_records(self.store, [record_id])
        if not found:
            raise InputError(f"record '{record_id[:80]}' is not in this review (any more); nothing was changed")
        return found[0]

    def _record(self, queue: Queue, key: str, user: User, why: str | None) -> RecordScreen:
        stage, record_id = split(key)
        if stage not in SCREENING or stage not in dict(self.review.protocol.stages.items()):
            raise InputError(f"'{stage[:40]}' is no screening stage of this review")
        record = self._load(record_id)
        code, score = self._verdict(stage, record_id)
        if why is None:
            why = self._waits(stage, record_id)
        past = history_of(self.store, stage, record_id, user.name, self.review.protocol.criteria_hash(stage))
        mine = past.mine
        again = queue.name == "again"
        cause = queue.screen == "cause"
        hidden = not cause and (
            (queue.blind or self.rules.two(stage)) and (mine is None or again) and not (queue.arbiter and user.role == "arbiter")
        )
        said = [] if hidden else self._said(stage, record_id)
        quotes = [answer[2] for one in said for answer in one.criteria]
        document = load_documents(self.store, [record_id]).get(record_id) if stage in NEEDS_TEXT else None
        spec = self.review.protocol.review
        shown = "" if hidden and queue.blind else code if hidden else why
        if cause:
            shown = self._error(stage, record_id)
        elif queue.name == "people":
            shown = "people differ on it, or one is unsure; the history says who"
        return RecordScreen(
            key=key, stage=stage, card=card_of(record, self._terms, quotes, document),
            why=shown, score=None if hidden else score,
            question=spec.question, notes=spec.notes,
            criteria=[(one.id, one.kind, one.text, one.notes) for one in self.review.protocol.criteria_for(stage)],
            said=said, hidden=hidden, history=past.shown(hidden=hidden),
            version=last_cause(self.store, stage, record_id).seq if cause else past.version, mine=None if again else mine,
            document=pieces_of(document, quote_spans(document.text(), quotes) if document else [], self._terms),
            document_note=note_of(document, stage), causes=CAUSES if cause else (),
        )  # fmt: skip

    def _verdict(self, stage: str, record_id: str) -> tuple[str, float | None]:
        """Code (or the state, where there is none) and score of the verdict in force; blanks where there is none."""
        rows = self.store.rows(
            "select coalesce(code, state), score from verdicts join current_stages using (stage, fingerprint) "
            "where stage = ? and record_id = ? order by verdicts.seq desc limit 1",
            [stage, record_id],
        )
        return rows[0] if rows else ("", None)

    def _waits(self, stage: str, record_id: str) -> str:
        """Where a record stands that was opened by its address."""
        said = self.store.value(
            f"select concat_ws(': ', coalesce(code, state), reason) from {stage} where record_id = ?", [record_id]
        )
        return str(said) if said else "it is not at this stage"

    def _error(self, stage: str, record_id: str) -> str:
        """What gold and the models say of a record, in words."""
        gold = self.store.value("select decision from current_gold where stage = ? and record_id = ?", [stage, record_id])
        said = self.store.value(f"select state from ({model_states(stage)}) where record_id = ?", [record_id])
        return f"the gold label says {gold or 'nothing'}, the models' verdict is {said or 'missing'}"

    def _said(self, stage: str, record_id: str) -> list[Said]:
        criteria: dict[str, list[tuple[str, str, str | None, bool | None]]] = {}
        for reader, criterion, met, quote, found in self._answers(stage, record_id):
            criteria.setdefault(reader, []).append((criterion, met, quote, found))
        rows = self.store.rows(
            "select reader, decision, score, concat_ws(': ', code, coalesce(reason, detail)), seq "
            "from readings join current_stages using (stage, fingerprint) where stage = ? and record_id = ? order by seq",
            [stage, record_id],
        )
        newest = sorted({row[0]: row for row in rows}.values(), key=lambda row: int(row[4]))
        return [Said(row[0], row[1], row[2], row[3] or None, tuple(criteria.get(row[0], ()))) for row in newest]

    def _answers(self, stage: str, record_id: str) -> list[tuple[str, str, str, str | None, bool | None]]:
        """What readers that go by criterion answered: (reader, criterion, met, quote, whether it was found)."""
        if stage not in NEEDS_TEXT:
            return []
        rows = self.store.rows(
            "select reader, criterion, met, quote, quote_found from criterion_answers "
            "join current_stages using (stage, fingerprint) where stage = ? and record_id = ? "
            "qualify row_number() over (partition by reader, criterion order by seq desc) = 1 order by reader, seq",
            [stage, record_id],
        )
        return [(row[0], row[1], row[2], row[3], row[4]) for row in rows]

    def _extraction(self, key: str, user: User) -> ExtractionScreen:
        record_id, _ = split(key)
        record = self._load(record_id)
        document = load_documents(self.store, [record_id]).get(record_id)
        values, spans = values_of(self.store, record_id, self.review.protocol.fields)
        state = self.store.rows(
            "select state, concat_ws(': ', code, reason) from extraction where record_id = ?", [record_id]
        ) or [("not at this stage", "")]
        past = history_of(self.store, "extraction", record_id, user.name)
        return ExtractionScreen(
            key, card_of(record, self._terms, (), document), values, pieces_of(document, spans, self._terms),
            note_of(document, "extraction"),
            state[0][0] in ("referred", "not retrieved"), state[0][1] or "",
            past.events, past.version,
        )  # fmt: skip

    def _label(self, key: str) -> LabelScreen:
        item_id, _ = split(key)
        rows = self.store.rows(
            "select judge, field, item, others, record_id from judge_samples where item_id = ? order by seq desc limit 1",
            [item_id],
        )
        if not rows:
            raise InputError(f"item '{item_id[:80]}' was not drawn in this review; nothing was changed")
        judge, field, item, others, record_id = rows[0]
        records = load_records(self.store, [record_id])
        document = load_documents(self.store, [record_id]).get(record_id) if judge == "support" else None
        spans = quote_spans(document.text(), [item]) if document else []
        return LabelScreen(
            key, CALIBRATED.get(judge, "Is the item right?"), judge, field, item, list(others or []),
            card_of(records[0], self._terms) if records else None, pieces_of(document, spans, self._terms),
        )  # fmt: skip

    def _pair(self, key: str) -> PairScreen:
        first, second = (self._load(part) for part in split(key))
        found = self.store.rows(
            "select concat_ws(': ', rule, why) from current_pairs where (first_id = $a and second_id = $b) "
            "or (first_id = $b and second_id = $a)",
            {"a": first.record_id, "b": second.record_id},
        )
        rows = []
        for name in (
            "record_id",
            "title",
            "authors",
            "year",
            "journal",
            "volume",
            "issue",
            "pages",
            "doi",
            "pmid",
            "kind",
            "abstract",
        ):
            left, right = (plain(getattr(record, name)) for record in (first, second))
            if left or right:
                rows.append((name.replace("_", " "), left, right, name == "record_id" or left.casefold() == right.casefold()))
        version = last_pair(self.store, first.record_id, second.record_id).seq
        return PairScreen(key, found[0][0] if found else "", rows, version)
