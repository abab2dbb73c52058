"""The collaborator pass: one batch of candidates shown beside the schema so far, and the proposals that come of it."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from litcascade.errors import InputError
from litcascade.schemas import (
    Answer,
    Ask,
    JsonShape,
    Protocol,
    Reader,
    Reading,
    Refer,
    ReferCode,
    Request,
    StageSpec,
    State,
    Turn,
    Verdict,
    say,
)
from litcascade.schemas.fields import FieldSpec, guide
from litcascade.stages.base import Stage, Subject
from litcascade.stages.budget import TEMPLATE, estimate
from litcascade.stages.parse import read_object
from litcascade.stages.prompt import fence
from litcascade.stages.schema_drafting.collating import Batch
from litcascade.stages.schema_drafting.drafting import REPAIRS
from litcascade.stages.schema_drafting.prompting import kinds_words
from litcascade.stages.schema_drafting.proposals import TOKENS, Invalid, Proposal, read_proposals, shape

LEAST, MOST = 2, 16  # proposals a batch
LEAST_ROOM = 400  # tokens of candidates; with less the pass is of no use


class BatchSubject(Subject):
    """A batch on its way through the executor."""

    batch: Batch


class ProposeAnswer(Answer):
    """The proposals of a batch, and what in the answer was none."""

    proposals: tuple[Proposal, ...] = ()
    invalid: tuple[Invalid, ...] = ()


class ProposeVerdict(Verdict):
    """A batch with its proposals, or why there are none."""

    batch: Batch
    outcome: ProposeAnswer | Refer


class ProposeStage(Stage):
    """Asks one reader for proposals about one batch of candidates."""

    name: ClassVar[str] = "schema_propose"

    def __init__(self, protocol: Protocol, reader: Reader, goals: str, schema: Sequence[FieldSpec]) -> None:
        self.goals = goals
        self.schema = tuple(schema)
        super().__init__(protocol, StageSpec(readers=(reader.name,), repairs=REPAIRS), {reader.name: reader})

    def shared_places(self, reader: Reader) -> dict[str, str]:
        """Goals, question and notes, the schema so far, and the kinds of fields."""
        review = self.protocol.review
        own = {"goals": self.goals.strip(), "question": review.question.strip(), "notes": review.notes.strip()}
        schema = fence(guide(self.schema) if self.schema else "(none yet)", "schema")
        return {**own, "schema": schema, "kinds": kinds_words(), "limit": str(most_of(reader))}

    def room(self, reader: Reader) -> int:
        """Tokens that candidates and other names may take; too little of it is an `InputError`."""
        assert reader.prompt is not None
        fixed = estimate(self.system(reader).content) + estimate(reader.prompt.user) + TEMPLATE + 80
        room = reader.context - fixed - self._answer_room(reader)
        if room < LEAST_ROOM:
            raise InputError(
                f"reader '{reader.name}' has a window of {reader.context} tokens, of which goals, schema and answer take "
                f"about {reader.context - room}; use a model with a longer window, or fewer words"
            )
        return room

    def _answer_room(self, reader: Reader) -> int:
        return max(reader.max_tokens, TOKENS * most_of(reader) + 40)

    def ask(self, subject: Subject, reader: Reader) -> Request | Refer:
        """The question about a batch."""
        assert isinstance(subject, BatchSubject)
        return self._ask(subject.batch, reader, most_of(reader), "", "ask")

    def _ask(self, batch: Batch, reader: Reader, most: int, words: str, purpose: str) -> Request:
        assert reader.prompt is not None
        others = f"Names in other parts of the list, which you may merge too: {', '.join(batch.others)}" if batch.others else ""
        user = self.filled(reader, reader.prompt.user, {"candidates": fence(batch.text, "candidates"), "others": others})
        messages = (self.system(reader), say("user", f"{user}\n{words}".strip()))
        last = max(int(name[1:]) for name in batch.shown)
        answer = JsonShape(name="proposals", json_schema=shape(most, last))
        return self.request(reader, messages, answer, max_tokens=self._answer_room(reader), purpose=purpose)

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> ProposeAnswer | Refer:
        """The proposals of an answer."""
        assert isinstance(subject, BatchSubject)
        found = read_object(turns[-1].reply)
        read = found if isinstance(found, Refer) else read_proposals(found, subject.batch.shown)
        return read if isinstance(read, Refer) else ProposeAnswer(proposals=tuple(read[0]), invalid=tuple(read[1]))

    def repair(self, subject: Subject, reader: Reader, turns: Sequence[Turn], fault: Refer) -> Request:
        """The same question for fewer proposals where the answer was cut, else with the fault named."""
        assert isinstance(subject, BatchSubject)
        if fault.code in (ReferCode.TRUNCATED, ReferCode.EMPTY):
            fewer = max(1, most_of(reader) // 2 ** len(turns))
            return self._ask(subject.batch, reader, fewer, f"Make the {fewer} most useful proposals only.", "repair")
        words = f"An earlier answer could not be used: {fault.detail[:200]}. Answer with the JSON object alone."
        return self._ask(subject.batch, reader, most_of(reader), words, "repair")

    def decide(self, subject: Subject, readings: Mapping[str, Reading]) -> Ask | ProposeVerdict:
        """The one reading."""
        assert isinstance(subject, BatchSubject)
        name = self.spec.readers[0]
        if name not in readings:
            return Ask(readers=(name,))
        told = readings[name].outcome
        outcome = told if isinstance(told, ProposeAnswer | Refer) else Refer(code=ReferCode.FAULT)
        return ProposeVerdict(
            record_id=subject.record.record_id, stage=self.name, readings=(readings[name],), outcome=outcome,
            state=State.EXTRACTED if isinstance(outcome, ProposeAnswer) else State.REFERRED, batch=subject.batch,
        )  # fmt: skip


def most_of(reader: Reader) -> int:
    """How many proposals one batch may bring: their answer takes a third of the reader's window at most."""
    return max(LEAST, min(MOST, reader.context // 3 // TOKENS))
