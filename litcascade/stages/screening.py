"""Title/abstract screening."""

from collections.abc import Sequence
from typing import ClassVar

from litcascade.schemas import (
    AbstractStatus,
    Answer,
    Message,
    Reader,
    Record,
    Refer,
    ReferCode,
    Request,
    Turn,
    say,
)
from litcascade.schemas.document import STEERING
from litcascade.schemas.steering import clean, steering_flags
from litcascade.stages.base import STAGE_CLASSES, Stage, Subject, told_flag
from litcascade.stages.examples import answer_of, rationale_of
from litcascade.stages.parse import read_word
from litcascade.stages.prompt import fence
from litcascade.stages.score import p_include
from litcascade.stages.words import words_of

NO_ABSTRACT = "(There is no abstract; judge by the title alone.)"


def read_screening(reader: Reader, turns: Sequence[Turn]) -> Answer | Refer:
    """The decision and score of a screening reader from its last turn."""
    reply = turns[-1].reply
    word = read_word(reply, words_of(reader.include_label, reader.exclude_label))
    if isinstance(word, Refer):
        return word
    if word == "unclear":
        return Refer(code=ReferCode.UNCLEAR, detail=(reply.text or "").strip()[:200])
    score = p_include(reply, reader.include_label, reader.exclude_label)
    return Answer(decision=word, score=score, reason=_reason(reply.text or ""))


def _reason(text: str) -> str | None:
    words = text.strip()
    return words[-600:] if len(words) > 12 else None


@STAGE_CLASSES.register("title_abstract")
class TitleAbstractScreening(Stage):
    """Screen a record on its title and abstract.

    A record without a whole abstract is asked on what there is, so that people see a score, but is always referred.
    """

    name: ClassVar[str] = "title_abstract"

    def guard(self, subject: Subject) -> Refer | None:
        """Missing and cut abstracts are never decided by a model, nor is text that is like an instruction to it."""
        record = subject.record
        if record.abstract_status is AbstractStatus.MISSING:
            return Refer(code=ReferCode.NO_ABSTRACT)
        if record.abstract_status is AbstractStatus.TRUNCATED:
            return Refer(code=ReferCode.CUT_ABSTRACT)
        text = f"{record.title or ''}\n{record.abstract or ''}"
        flags = [flag for flag in (*clean(text)[1], *steering_flags(text)) if flag.kind in STEERING]
        if flags:
            return Refer(code=ReferCode.STEERING, detail="; ".join(told_flag(flag) for flag in flags[:3])[:300])
        return None

    def ask(self, subject: Subject, reader: Reader) -> Request | Refer:
        """System part, worked examples, then the record."""
        record = subject.record
        if not record.title and not record.abstract:
            return Refer(code=ReferCode.NO_TITLE)
        if reader.prompt is None:
            return Refer(code=ReferCode.LIMIT, detail=f"reader '{reader.name}' has no prompt")
        messages: list[Message] = [self.system(reader)]
        for shot in reader.shots:
            shown = self._show(reader, shot.title, shot.abstract)
            why = rationale_of(shot) if reader.style == "constrained" else ""
            messages.append(say("user", f"{shown}\nWhy a person decided as follows:\n{why}" if why else shown))
            messages.append(say("assistant", answer_of(reader, shot)))
        messages.append(say("user", self._show(reader, record.title or "(no title)", _abstract(record))))
        return self.request(reader, messages, self.shape(reader), max_tokens=reader.max_tokens)

    def _show(self, reader: Reader, title: str, abstract: str) -> str:
        assert reader.prompt is not None
        values = {"title": fence(title, "title"), "abstract": fence(abstract, "abstract")}
        return self.filled(reader, reader.prompt.user, values)

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Answer | Refer:
        """Strict parse of the last reply."""
        return read_screening(reader, turns)


def _abstract(record: Record) -> str:
    return record.abstract or NO_ABSTRACT
