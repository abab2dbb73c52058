"""Schema-guided data extraction: for every field the evidence first, then notes, then the value it supports."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from litcascade.schemas import Answer, Ask, JsonShape, Reader, Reading, Refer, ReferCode, Request, State, Turn, Verdict, say
from litcascade.schemas.fields import FieldFound, answer_tokens, guide, json_schema
from litcascade.stages.base import REPAIRABLE, STAGE_CLASSES, Stage, Subject
from litcascade.stages.budget import Plan
from litcascade.stages.extraction_calls import (
    SAID,
    Specs,
    asked_in,
    faulty_words,
    narrowed,
    only,
    opening,
    parts_of,
    recovery_words,
    worth_another_pass,
)
from litcascade.stages.extraction_merging import merge_values, recovered
from litcascade.stages.extraction_reading import escalated, faults_of, read_field
from litcascade.stages.extraction_support import damage_of, index_of, with_support
from litcascade.stages.grounding import TextIndex
from litcascade.stages.parse import read_object
from litcascade.stages.policy import Outcome, referral
from litcascade.stages.reports import ReportStage

_CUT = (ReferCode.TRUNCATED, ReferCode.EMPTY)


class OwnRepairs(Stage):
    """A stage whose `read` asks its repairs itself, since each field has its own."""

    def step(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """What `read` makes of the turns, without the repairs of the base."""
        return self.read(subject, reader, turns) if turns and not reader.is_person else super().step(subject, reader, turns)


class Readout:
    """What the turns of one window said of each field so far: the value, the fault of its last call, and who asked last."""

    def __init__(self) -> None:
        self.values: dict[str, FieldFound] = {}
        self.codes: dict[str, Refer] = {}
        self.asked: dict[str, int] = {}
        self.last: dict[str, Turn] = {}
        self.passes = 0


@STAGE_CLASSES.register("extraction")
class Extraction(ReportStage, OwnRepairs):
    """Extract the protocol's fields from a report.

    The schema is asked whole, part by part, or field by field (`calls` of the stage: all, part, field). Good fields are kept;
    invalid ones are asked for again, alone, as often as the stage allows; what stays invalid is an error of that field. An
    answer that was cut is asked for with more room, then in halves. With `passes` above 1, fields not reported are asked for
    again, and groups for missing rows (calls of purpose `recover`). A reply with no readable field at all sends the record to a
    person.
    """

    name: ClassVar[str] = "extraction"
    version: ClassVar[int] = 3

    @property
    def parts(self) -> list[Specs]:
        """The fields by call."""
        return parts_of(self.protocol.fields, getattr(self.spec, "calls", "all"))

    @property
    def turn_limit(self) -> int:
        """The most turns that one window can rightly take."""
        fields = len(self.protocol.fields)
        return 2 * fields * (1 + self.spec.repairs) + self._passes()

    def _passes(self) -> int:
        return int(getattr(self.spec, "passes", 1))

    def shared_places(self, reader: Reader) -> dict[str, str]:
        """The screening places and the field guide."""
        return {**super().shared_places(reader), "fields": guide(self.protocol.fields)}

    def shape_of(self, reader: Reader) -> JsonShape:
        """An object with evidence and value for every field of the first call."""
        return JsonShape(name="extraction", json_schema=json_schema(self.parts[0]))

    def answer_room(self, reader: Reader) -> int:
        """Tokens that the longest of the answers may take; at most half the window, but where the reader says so."""
        wanted = max(answer_tokens(part) for part in self.parts)
        return max(reader.max_tokens, min(wanted, max(reader.context // 2, 1)))

    def fixed_texts(self, subject: Subject, reader: Reader) -> list[str]:
        """What stands in every prompt beside the text, with the words that narrow a question to a part of the fields."""
        parts = self.parts
        return [*super().fixed_texts(subject, reader), *([max(map(only, parts), key=len)] if len(parts) > 1 else [])]

    def _ask_window(self, subject: Subject, reader: Reader, made: Plan, number: int) -> Request:
        whole = super()._ask_window(subject, reader, made, number)
        parts = self.parts
        return whole if len(parts) == 1 else self._ask(reader, whole, parts[0], "ask")

    def _ask(self, reader: Reader, like: Request, specs: Specs, purpose: str, words: str | None = None) -> Request:
        """A fresh question about the text of another one, for these fields alone."""
        if words is None and set(specs) == set(self.protocol.fields):
            messages = opening(like.messages)
        else:
            messages = narrowed(like.messages, only(specs) if words is None else words)
        shape = JsonShape(name="extraction", json_schema=json_schema(specs))
        return self.request(reader, messages, shape, max_tokens=self.answer_room(reader), purpose=purpose)

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """The fields of one window from all its turns, or the next question about it."""
        told = self._gather(subject, turns)
        return self._repair_next(reader, told) or self._ask_next(reader, turns[0], told) or self._outcome(subject, told)

    def _gather(self, subject: Subject, turns: Sequence[Turn]) -> Readout:
        index = index_of(subject.document.text() if subject.document else "")
        told = Readout()
        for turn in turns:
            self._hear(told, turn, index)
        return told

    def _hear(self, told: Readout, turn: Turn, index: TextIndex) -> None:
        purpose, names = turn.request.purpose, asked_in(turn)
        found = read_object(turn.reply)
        again = purpose == "recover"
        told.passes += again
        for spec in self.protocol.fields:
            name = spec.name
            if name not in names or (again and isinstance(found, Refer)):
                continue
            old = told.values.get(name)
            if isinstance(found, Refer):
                new = FieldFound(field=name, error=f"{found.code.value}: {found.detail}".strip(": "), purpose=purpose)
            else:
                new = read_field(spec, found, index, purpose)
            if again:
                told.values[name] = recovered(spec, told.values[name], new)
                continue
            told.asked[name] = told.asked.get(name, 0) + 1
            told.last[name] = turn
            told.codes.pop(name, None)
            if isinstance(found, Refer):
                told.codes[name] = found
            if old is None or old.error or faults_of(new) < faults_of(old):
                told.values[name] = new

    def _repair_next(self, reader: Reader, told: Readout) -> Request | None:
        """Ask again for the faulty fields of one call, the first that has any; None where nothing can be repaired."""
        faulty = [spec for spec in self.protocol.fields if spec.name in told.values and self._repairable(told, spec.name)]
        while faulty:
            turn = told.last[faulty[0].name]
            specs = tuple(spec for spec in faulty if told.last[spec.name] is turn)
            request = self._repair(reader, turn, specs, told)
            if request is not None:
                return request
            faulty = [spec for spec in faulty if spec not in specs]
        return None

    def _repairable(self, told: Readout, name: str) -> bool:
        code = told.codes.get(name)
        bad = faults_of(told.values[name]) > 0
        return bad and told.asked[name] <= self.spec.repairs and (code is None or code.code in REPAIRABLE)

    def _repair(self, reader: Reader, turn: Turn, specs: Specs, told: Readout) -> Request | None:
        fault = told.codes.get(specs[0].name)
        if fault is not None and fault.code in _CUT:
            return self._more_room(reader, turn, specs)
        said = say("assistant", (turn.reply.text or "")[:SAID])
        messages = (*opening(turn.request.messages), said, say("user", faulty_words(specs, told.values)))
        shape = JsonShape(name="extraction", json_schema=json_schema(specs))
        return self.request(reader, messages, shape, max_tokens=self.answer_room(reader), purpose="repair")

    def _more_room(self, reader: Reader, turn: Turn, specs: Specs) -> Request | None:
        """The same question with twice the room as far as the window goes, else about fewer fields; None where neither can be.

        The cut answer is never shown again, so that the prompt does not grow.
        """
        asked = asked_in(turn)
        if len(specs) < len(asked):
            return self._ask(reader, turn.request, specs, "repair")
        room = turn.request.sampling.max_tokens
        most = reader.context - turn.reply.prompt_tokens - 8 if turn.reply.prompt_tokens else reader.context // 2
        if (wider := min(2 * room, most)) > room:
            sampling = turn.request.sampling.model_copy(update={"max_tokens": wider})
            return turn.request.model_copy(update={"sampling": sampling, "purpose": "repair"})
        return self._ask(reader, turn.request, specs[: len(specs) // 2], "repair") if len(specs) > 1 else None

    def _ask_next(self, reader: Reader, first: Turn, told: Readout) -> Request | None:
        """The next part of the fields, or one more pass over what was not found; None where all is asked."""
        part = next((part for part in self.parts if part[0].name not in told.asked), None)
        if part is not None:
            return self._ask(reader, first.request, part, "part")
        if told.passes + 1 >= self._passes():
            return None
        specs = tuple(spec for spec in self.protocol.fields if worth_another_pass(spec, told.values[spec.name]))
        if not specs or all(value.error for value in told.values.values()):
            return None
        return self._ask(reader, first.request, specs, "recover", recovery_words(specs, told.values))

    def _outcome(self, subject: Subject, told: Readout) -> Answer | Refer:
        assert subject.document is not None
        held = with_support(self.protocol.fields, told.values, subject.document)
        damage = damage_of(subject.document)
        values = [escalated(spec, held[spec.name], damage) for spec in self.protocol.fields]
        if all(value.error for value in values):
            named = "; ".join(f"{value.field}: {value.error}" for value in values)
            return next(reversed(told.codes.values()), None) or Refer(code=ReferCode.UNPARSED, detail=named)
        return Answer(values=tuple(values))

    def merge(self, outcomes: Sequence[Answer | Refer], windows: int) -> Answer | Refer:
        """One value a field from all windows, by the field's rule; a window that was not read sends the record to a person."""
        unread = next((one for one in outcomes if isinstance(one, Refer)), None)
        if unread is not None:
            return unread.model_copy(update={"detail": f"one of {windows} parts: {unread.detail}"[:300]})
        values = [value for one in outcomes if isinstance(one, Answer) for value in one.values]
        merged = [
            merge_values(spec, [cast(FieldFound, value) for value in values if value.field == spec.name])
            for spec in self.protocol.fields
        ]
        return Answer(values=tuple(merged))

    def decide(self, subject: Subject, readings: Mapping[str, Reading]) -> Ask | Verdict:
        """Extracted where every reader gave values and the text may be trusted to a model; else a person must look."""
        unheard = tuple(name for name in self.spec.readers if name not in readings)
        if unheard:
            return Ask(readers=unheard)
        refers = [r.outcome for r in readings.values() if isinstance(r.outcome, Refer)]
        guard = self.guard(subject)
        outcome = referral(refers, None) if refers else Outcome(State.EXTRACTED)
        if guard and not refers:
            outcome = Outcome(State.REFERRED, None, guard.code, guard.detail or None)
        return Verdict(
            record_id=subject.record.record_id,
            stage=self.name,
            state=outcome.state,
            code=outcome.code,
            reason=outcome.reason,
            policy="extraction",
            readings=tuple(readings[name] for name in self.spec.readers),
            document_id=subject.document.document_id if subject.document else None,
        )
