"""Schema-guided data extraction: for every field the quote first, then the value it supports."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from litcascade.schemas import (
    Answer,
    Ask,
    FieldSpec,
    FieldValue,
    JsonShape,
    Reader,
    Reading,
    Refer,
    ReferCode,
    Request,
    State,
    Turn,
    Verdict,
    say,
)
from litcascade.schemas.fields import check_value, guide, is_nothing, json_schema
from litcascade.schemas.keys import scrubbed
from litcascade.stages.base import STAGE_CLASSES, Subject
from litcascade.stages.parse import read_object
from litcascade.stages.policy import Outcome, referral
from litcascade.stages.quote import fold, stands_in
from litcascade.stages.reports import ReportStage

TOKENS_PER_FIELD = 160


@STAGE_CLASSES.register("extraction")
class Extraction(ReportStage):
    """Extract the protocol's fields from a report.

    Good fields are kept; invalid ones are asked for again, alone, once; what stays invalid is an error of that field.
    A reply with no readable field at all sends the record to a person.
    """

    name: ClassVar[str] = "extraction"
    version: ClassVar[int] = 2

    def shared_places(self, reader: Reader) -> dict[str, str]:
        """The screening places and the field guide."""
        return {**super().shared_places(reader), "fields": guide(self.protocol.fields)}

    def shape_of(self, reader: Reader) -> JsonShape:
        """An object with quote and value for every field."""
        return JsonShape(name="extraction", json_schema=json_schema(self.protocol.fields))

    def answer_room(self, reader: Reader) -> int:
        """Tokens that the answer may take."""
        return max(reader.max_tokens, TOKENS_PER_FIELD * len(self.protocol.fields))

    def _question(self, reader: Reader, messages: Sequence[object], specs: tuple[FieldSpec, ...], purpose: str) -> Request:
        shape = JsonShape(name="extraction", json_schema=json_schema(specs))
        tokens = max(reader.max_tokens, TOKENS_PER_FIELD * len(specs))
        return self.request(reader, messages, shape, max_tokens=tokens, purpose=purpose)

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Answer | Refer:
        """The fields from all turns, later turns filling what earlier ones got wrong."""
        values, refer = self._gather(subject, turns)
        if refer:
            return refer
        faults = [value for value in values.values() if value.error]
        if faults and sum(turn.request.purpose == "repair" for turn in turns) < self.spec.repairs:
            named = "; ".join(f"{value.field}: {value.error}" for value in faults)
            return Refer(code=ReferCode.UNPARSED, detail=named)
        return Answer(values=tuple(values[spec.name] for spec in self.protocol.fields))

    def repair(self, subject: Subject, reader: Reader, turns: Sequence[Turn], fault: Refer) -> Request:
        """Ask again for the faulty fields alone, with what was wrong; or for all where nothing could be read."""
        if fault.code in (ReferCode.TRUNCATED, ReferCode.EMPTY):
            return super().repair(subject, reader, turns, fault)
        first = turns[0].request
        values, _ = self._gather(subject, turns)
        specs = tuple(s for s in self.protocol.fields if s.name not in values or values[s.name].error)
        said = (turns[-1].reply.text or "")[:4000]
        words = f"These parts could not be used: {fault.detail}. Answer again for {', '.join(s.name for s in specs)} only."
        messages = (*first.messages, say("assistant", said), say("user", words))
        return self._question(reader, messages, specs, "repair")

    def _gather(self, subject: Subject, turns: Sequence[Turn]) -> tuple[dict[str, FieldValue], Refer | None]:
        text = fold(subject.document.text()) if subject.document else ""
        values: dict[str, FieldValue] = {}
        problem: Refer | None = None
        for turn in turns:
            found = read_object(turn.reply)
            if isinstance(found, Refer):
                problem = found
                continue
            for spec in self.protocol.fields:
                if spec.name not in values or values[spec.name].error:
                    values[spec.name] = read_field(spec, found, text)
        if not values:
            return {}, problem or Refer(code=ReferCode.EMPTY)
        if all(value.error for value in values.values()):
            named = "; ".join(f"{value.field}: {value.error}" for value in values.values())
            return {}, Refer(code=ReferCode.UNPARSED, detail=named)
        return values, None

    def merge(self, outcomes: Sequence[Answer | Refer], windows: int) -> Answer | Refer:
        """One value a field from all windows: lists are joined, others agree or go to a person as an error of that field."""
        unread = next((one for one in outcomes if isinstance(one, Refer)), None)
        if unread is not None:
            return unread.model_copy(update={"detail": f"one of {windows} parts: {unread.detail}"[:300]})
        answers = [one for one in outcomes if isinstance(one, Answer)]
        return Answer(
            values=tuple(
                merge_values(spec, [value for answer in answers for value in answer.values if value.field == spec.name])
                for spec in self.protocol.fields
            )
        )

    def decide(self, subject: Subject, readings: Mapping[str, Reading]) -> Ask | Verdict:
        """Extracted where every reader gave values; else a person must look."""
        unheard = tuple(name for name in self.spec.readers if name not in readings)
        if unheard:
            return Ask(readers=unheard)
        refers = [r.outcome for r in readings.values() if isinstance(r.outcome, Refer)]
        outcome = referral(refers, None) if refers else Outcome(State.EXTRACTED)
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


def read_field(spec: FieldSpec, found: dict[str, Any], folded_text: str) -> FieldValue:
    """One field of the answer, checked against its declaration and its quote looked up in the text."""
    entry = found.get(spec.name)
    if not isinstance(entry, dict) or "value" not in entry:
        what = "missing from the answer" if entry is None else 'must be an object with "quote" and "value"'
        return FieldValue(field=spec.name, error=what)
    value, error = check_value(spec, scrubbed(entry["value"]))
    quote = scrubbed(entry.get("quote"))
    quote = quote.strip() or None if isinstance(quote, str) else None
    if error:
        return FieldValue(field=spec.name, quote=quote, error=error)
    if is_nothing(spec, value):
        return FieldValue(field=spec.name, value=value, quote=None)
    found_quote = bool(quote) and stands_in(quote or "", folded_text)
    return FieldValue(field=spec.name, value=value, quote=quote, quote_found=found_quote)


def merge_values(spec: FieldSpec, values: Sequence[FieldValue]) -> FieldValue:
    """One field over windows: what a found quote supports goes before what none does; nothing found anywhere stays nothing."""
    given = [value for value in values if not value.error and not is_nothing(spec, value.value)]
    told = [value for value in given if value.quote_found] or given
    if not told:
        return next((value for value in values if not value.error), values[0])
    if spec.kind == "multi":
        joined = list(dict.fromkeys(item for value in told for item in value.value))
        return told[0].model_copy(update={"value": joined})
    if any(value.value != told[0].value for value in told[1:]):
        shown = "; ".join(str(value.value)[:60] for value in told[:4])
        return FieldValue(field=spec.name, quote=told[0].quote, error=f"the parts of the report give different values: {shown}")
    return told[0]
