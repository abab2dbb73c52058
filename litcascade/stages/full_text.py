"""Full-text screening in two steps: answer, strict parse, refinement model, person."""

from collections.abc import Sequence
from typing import ClassVar

from litcascade.schemas import (
    Answer,
    LabelShape,
    Reader,
    Refer,
    ReferCode,
    Request,
    Turn,
    say,
)
from litcascade.stages.base import STAGE_CLASSES, Stage, Subject
from litcascade.stages.examples import examples_block
from litcascade.stages.parse import after_reasoning, read_word
from litcascade.stages.prompt import fence, load
from litcascade.stages.screening import read_screening

REFINED = ("include", "exclude", "unclear")


@STAGE_CLASSES.register("full_text")
class FullTextScreening(Stage):
    """Screen a report on its full text.

    A free answer that the strict parser cannot read goes to the refinement model, which turns prose into include,
    exclude or unclear; what is unclear then goes to a person. No readable text: a person, never an exclusion.
    """

    name: ClassVar[str] = "full_text"
    needs_text: ClassVar[bool] = True

    def system_text(self, reader: Reader, template: str) -> str:
        """The filled system part, then the worked examples, so that all reports share them as a prefix."""
        return "\n\n".join(part for part in (self.filled(reader, template, {}), examples_block(reader, reader.shots)) if part)

    def ask(self, subject: Subject, reader: Reader) -> Request | Refer:
        """System part, then the report."""
        messages = self.report_question(subject, reader)
        if isinstance(messages, Refer):
            return messages
        return self.request(reader, messages, self.shape(reader), max_tokens=reader.max_tokens)

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """Strict parse first; then the refiner where one is named and the prose itself is whole."""
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
