"""Raw extraction reports: each paper of the sample is read whole, window by window, for the data items it states."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

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
    digest,
    say,
)
from litcascade.schemas.document import STEERING, FlagKind
from litcascade.stages.base import Subject, told_flag
from litcascade.stages.grounding import TextIndex
from litcascade.stages.parse import read_object
from litcascade.stages.quote import fold
from litcascade.stages.reports import ReportStage
from litcascade.stages.schema_drafting.candidates import TOKENS, Candidate, read_candidates, shape
from litcascade.stages.schema_drafting.prompting import kinds_words

REPAIRS = 2
LEAST, MOST = 3, 24  # candidates a window


class DraftAnswer(Answer):
    """A raw report: its candidates, the windows it was read in, and what of it could not be read, in words."""

    candidates: tuple[Candidate, ...] = ()
    windows: int = 1
    unread: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


class DraftVerdict(Verdict):
    """A paper with its raw report, or why there is none."""

    outcome: DraftAnswer | Refer
    flags: tuple[str, ...] = ()


class DraftStage(ReportStage):
    """Asks one reader for the candidate fields of a paper.

    A window whose answer cannot be read is named in `unread`; where none can be read, or none names a field, there is no
    report but a `Refer`. Texts with hidden words or words like an instruction are read, and their flags go with every candidate.
    """

    name: ClassVar[str] = "schema_draft"

    def __init__(self, protocol: Protocol, reader: Reader, goals: str) -> None:
        self.goals = goals
        super().__init__(protocol, StageSpec(readers=(reader.name,), repairs=REPAIRS), {reader.name: reader})

    def shared_places(self, reader: Reader) -> dict[str, str]:
        """Goals, question and notes, the kinds of fields and how many may be named."""
        review = self.protocol.review
        own = {"goals": self.goals.strip(), "question": review.question.strip(), "notes": review.notes.strip()}
        return {**own, "kinds": kinds_words(), "limit": str(most_of(reader))}

    def shape_of(self, reader: Reader) -> JsonShape:
        """A list of candidates."""
        return JsonShape(name="candidates", json_schema=shape(most_of(reader)))

    def answer_room(self, reader: Reader) -> int:
        """Tokens that the list may take."""
        return max(reader.max_tokens, TOKENS * most_of(reader) + 40)

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> DraftAnswer | Refer:
        """The candidates of one window."""
        found = read_object(turns[-1].reply)
        read = found if isinstance(found, Refer) else read_candidates(found)
        return read if isinstance(read, Refer) else DraftAnswer(candidates=tuple(read[0]), faults=tuple(read[1]))

    def repair(self, subject: Subject, reader: Reader, turns: Sequence[Turn], fault: Refer) -> Request:
        """The same question for fewer items where the answer was cut, else with the fault named; the old answer is not shown."""
        first = turns[0].request
        cut = fault.code in (ReferCode.TRUNCATED, ReferCode.EMPTY)
        most = max(1, most_of(reader) // 2 ** len(turns)) if cut else most_of(reader)
        words = f"An earlier answer could not be used: {fault.detail[:200]}. Answer with the JSON object alone."
        words = f"Name the {most} most important data items only." if cut else words
        messages = (*first.messages[:-1], say("user", f"{first.messages[-1].content}\n{words}"))
        answer = JsonShape(name="candidates", json_schema=shape(most))
        return self.request(reader, messages, answer, max_tokens=self.answer_room(reader), purpose="repair")

    def merge(self, outcomes: Sequence[Answer | Refer], windows: int) -> DraftAnswer | Refer:
        """The candidates of all windows that could be read."""
        read = [(number, one) for number, one in enumerate(outcomes, 1) if isinstance(one, DraftAnswer)]
        failed = [(number, one) for number, one in enumerate(outcomes, 1) if isinstance(one, Refer)]
        if not read:
            return failed[0][1].model_copy(update={"detail": f"none of {windows} parts: {failed[0][1].detail}"[:300]})
        candidates = [one.model_copy(update={"window": number}) for number, part in read for one in part.candidates]
        unread = tuple(f"part {number} of {windows}: {one.code.value}: {one.detail}"[:300] for number, one in failed)
        faults = tuple(f"part {number}, {fault}" for number, part in read for fault in part.faults)
        return DraftAnswer(candidates=tuple(candidates), windows=windows, unread=unread, faults=faults)

    def step(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """The next question, or the report with its quotes looked up."""
        outcome = super().step(subject, reader, turns)
        return self._checked(subject, reader, outcome) if isinstance(outcome, DraftAnswer) else outcome

    def _checked(self, subject: Subject, reader: Reader, found: DraftAnswer) -> DraftAnswer | Refer:
        document = subject.document
        if document is None or not found.candidates:
            words = "; ".join(found.unread) or "the reader names no data item in this text"
            return Refer(code=ReferCode.UNCLEAR, detail=words[:300])
        index = TextIndex(document.text())
        flags = flags_of(subject)
        kept = list({(one.name, fold(one.quote) or one.definition): one for one in reversed(found.candidates)}.values())[::-1]
        source = [subject.record.record_id, document.document_id, str(reader.model)]
        told = [
            one.model_copy(
                update={
                    "candidate_id": digest([*source, one.name, one.quote, one.definition])[:12],
                    "record_id": subject.record.record_id,
                    "quote_found": bool(index.find(one.quote)),
                    "flags": flags,
                }
            )
            for one in kept
        ]
        return found.model_copy(update={"candidates": tuple(told)})

    def decide(self, subject: Subject, readings: Mapping[str, Reading]) -> Ask | DraftVerdict:
        """The one reading."""
        name = self.spec.readers[0]
        if name not in readings:
            return Ask(readers=(name,))
        told = readings[name].outcome
        outcome = told if isinstance(told, DraftAnswer | Refer) else Refer(code=ReferCode.FAULT)
        return DraftVerdict(
            record_id=subject.record.record_id, stage=self.name, readings=(readings[name],), outcome=outcome,
            state=State.EXTRACTED if isinstance(outcome, DraftAnswer) else State.REFERRED, flags=flags_of(subject),
            document_id=subject.document.document_id if subject.document else None,
        )  # fmt: skip


def most_of(reader: Reader) -> int:
    """How many candidates one window may name: their answer takes a third of the reader's window at most."""
    return max(LEAST, min(MOST, reader.context // 3 // TOKENS))


def flags_of(subject: Subject) -> tuple[str, ...]:
    """What a person should know of the text before trusting what was read from it."""
    told = (*STEERING, FlagKind.IDENTITY)
    flags = subject.document.flags if subject.document else ()
    return tuple(told_flag(flag)[:200] for flag in flags if flag.kind in told)
