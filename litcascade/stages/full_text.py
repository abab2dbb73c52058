"""Full-text screening in two steps: answer, strict parse, refinement model, person; or criterion by criterion."""

from collections.abc import Sequence
from typing import ClassVar

from litcascade.schemas import (
    Answer,
    CriterionAnswer,
    LabelShape,
    Reader,
    Refer,
    ReferCode,
    Request,
    Shape,
    Turn,
    say,
)
from litcascade.schemas.protocol import Criterion
from litcascade.stages.base import STAGE_CLASSES, Subject
from litcascade.stages.criteria import TOKENS_PER_CRITERION, combine, criteria_shape, decide, logic_of, read_criteria
from litcascade.stages.examples import examples_block
from litcascade.stages.parse import after_reasoning, read_word
from litcascade.stages.prompt import fence, load
from litcascade.stages.quote import fold
from litcascade.stages.reports import ReportStage
from litcascade.stages.screening import read_screening

REFINED = ("include", "exclude", "unclear")


@STAGE_CLASSES.register("full_text")
class FullTextScreening(ReportStage):
    """Screen a report on its full text.

    A free answer that the strict parser cannot read goes to the refinement model, which turns prose into include,
    exclude or unclear; what is unclear then goes to a person. A reader of style `criteria` answers every criterion with a
    quote, and the protocol's logic decides. No readable text: a person, never an exclusion. Of several windows one that
    includes is enough; all must exclude.
    """

    name: ClassVar[str] = "full_text"
    version: ClassVar[int] = 3

    def system_text(self, reader: Reader, template: str) -> str:
        """The filled system part, then the worked examples, so that all reports share them as a prefix."""
        return "\n\n".join(part for part in (self.filled(reader, template, {}), examples_block(reader, reader.shots)) if part)

    def shape_of(self, reader: Reader) -> Shape:
        """A label, prose, or an object with an answer for every criterion."""
        return criteria_shape(self._criteria()) if reader.style == "criteria" else self.shape(reader)

    def answer_room(self, reader: Reader) -> int:
        """Tokens that the answer may take."""
        if reader.style != "criteria":
            return reader.max_tokens
        return max(reader.max_tokens, TOKENS_PER_CRITERION * len(self._criteria()))

    def _criteria(self) -> tuple[Criterion, ...]:
        return self.protocol.criteria_for(self.name)

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """Strict parse first; then the refiner where one is named and the prose itself is whole."""
        if reader.style == "criteria":
            return self._read_criteria(subject, turns)
        if turns[-1].request.purpose == "refine":
            return self._read_refined(turns)
        outcome = read_screening(reader, turns)
        prose_is_whole = isinstance(outcome, Refer) and outcome.code in (
            ReferCode.UNPARSED, ReferCode.CONFLICT, ReferCode.UNCLEAR,
        )  # fmt: skip
        if prose_is_whole and self.spec.refiner and reader.style == "free":
            visible = after_reasoning(turns[-1].reply.text or "")
            if not isinstance(visible, Refer):
                return self._refine(visible)
        return outcome

    def _refine(self, prose: str) -> Request:
        refiner = self.readers[str(self.spec.refiner)]
        prompt = load("full_text", "refine")
        messages = (
            say("system", self.filled(refiner, prompt.system, {})),
            say("user", self.filled(refiner, prompt.user, {"answer": fence(prose, "answer")})),
        )
        return self.request(refiner, messages, LabelShape(labels=REFINED), max_tokens=8, purpose="refine")

    def _read_refined(self, turns: Sequence[Turn]) -> Answer | Refer:
        word = read_word(turns[-1].reply)
        prose = next((turn.reply.text for turn in reversed(turns) if turn.request.purpose != "refine"), None) or ""
        if isinstance(word, Refer):
            return word.model_copy(update={"code": ReferCode.UNCLEAR, "detail": f"refinement failed: {word.code.value}"})
        if word == "unclear":
            return Refer(code=ReferCode.UNCLEAR, detail=prose.strip()[:200])
        return Answer(decision=word, reason=prose.strip()[-600:] or None)

    def _read_criteria(self, subject: Subject, turns: Sequence[Turn]) -> Answer | Refer:
        text = fold(subject.document.text()) if subject.document else ""
        answers = read_criteria(self._criteria(), turns[-1].reply, text)
        if isinstance(answers, Refer):
            return answers
        return self._decided([answers])

    def _decided(self, windows: Sequence[Sequence[CriterionAnswer]]) -> Answer | Refer:
        """The protocol's logic over one answer a criterion."""
        criteria = self._criteria()
        return decide(criteria, combine(criteria, windows), logic_of(criteria, self.spec.logic))

    def repair(self, subject: Subject, reader: Reader, turns: Sequence[Turn], fault: Refer) -> Request:
        """By criterion: the whole object once more with the faults named; else as every stage repairs."""
        if reader.style != "criteria" or fault.code in (ReferCode.TRUNCATED, ReferCode.EMPTY):
            return super().repair(subject, reader, turns, fault)
        said = (turns[-1].reply.text or "")[:4000]
        words = f"These parts could not be used: {fault.detail}. Answer every criterion again, with quote and yes, no or unclear."
        messages = (*turns[0].request.messages, say("assistant", said), say("user", words))
        return self.request(reader, messages, self.shape_of(reader), max_tokens=self.answer_room(reader), purpose="repair")

    def settled(self, outcome: Answer | Refer) -> bool:
        """A window that includes settles the report, unless criteria are gathered over all windows."""
        return isinstance(outcome, Answer) and outcome.decision == "include" and not outcome.criteria

    def merge(self, outcomes: Sequence[Answer | Refer], windows: int) -> Answer | Refer:
        """Include where a window includes; exclude where all do; else the first window that could not be read."""
        if any(outcome.criteria for outcome in outcomes):
            unread = next((outcome for outcome in outcomes if not outcome.criteria), None)
            return unread or self._decided([outcome.criteria for outcome in outcomes])
        answers = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
        scores = [answer.score for answer in answers if answer.score is not None]
        best = max(scores) if scores else None
        for number, outcome in enumerate(outcomes, start=1):
            if isinstance(outcome, Answer) and outcome.decision == "include":
                told = f"part {number} of {windows}" + (f": {outcome.reason}" if outcome.reason else "")
                return outcome.model_copy(update={"score": best, "reason": told[:600]})
        for number, outcome in enumerate(outcomes, start=1):
            if isinstance(outcome, Refer):
                return outcome.model_copy(update={"detail": f"part {number} of {windows}: {outcome.detail}"[:300]})
        reason = answers[0].reason
        told = f"none of {windows} parts includes" + (f"; part 1: {reason}" if reason else "")
        return answers[0].model_copy(update={"score": best, "reason": told[:600]})
