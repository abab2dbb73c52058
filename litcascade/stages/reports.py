"""Stages that read reports: the text planned to the model's window, read window by window, and what of it was seen."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from litcascade.schemas import Answer, FlagKind, Message, Reader, Refer, ReferCode, Request, Shape, Turn, say
from litcascade.stages.base import Stage, Subject, told_flag
from litcascade.stages.budget import TEMPLATE, Counter, Plan, key_of, plan
from litcascade.stages.prompt import fence

LEAST_READ = 0.9  # of what was counted: below, the server has cut the prompt
MOST_BYTES_A_TOKEN = 12


class ReportStage(Stage):
    """A stage whose readers read full texts; a report longer than the window is read in several, each asked like the first."""

    needs_text: ClassVar[bool] = True

    @abstractmethod
    def shape_of(self, reader: Reader) -> Shape:
        """What the first answer must look like."""

    @abstractmethod
    def merge(self, outcomes: Sequence[Answer | Refer], windows: int) -> Answer | Refer:
        """One outcome from those of the windows read so far, of so many in all."""

    def settled(self, outcome: Answer | Refer) -> bool:
        """Whether the later windows can change nothing any more."""
        return False

    def answer_room(self, reader: Reader) -> int:
        """Tokens that the answer may take."""
        return reader.max_tokens

    def guard(self, subject: Subject) -> Refer | None:
        """A report with hidden text, text like an instruction, or another paper's header is never decided by a model alone."""
        document = subject.document
        if document is None:
            return super().guard(subject)
        if document.steering:
            told = "; ".join(told_flag(flag) for flag in document.steering[:3])
            return Refer(code=ReferCode.STEERING, detail=told[:300])
        other = next((flag for flag in document.flags if flag.kind is FlagKind.IDENTITY), None)
        return Refer(code=ReferCode.IDENTITY, detail=other.detail[:300]) if other else super().guard(subject)

    def asked(self, subject: Subject, reader: Reader) -> Reader:
        """The reader itself, or the one with the longer window where the text does not fit the reader's own."""
        longer = self.readers.get(self.spec.longer or "")
        if longer is None or longer.context <= reader.context or subject.document is None or not subject.document.readable:
            return reader
        made = self.plan(subject, reader)
        return longer if isinstance(made, Refer) or len(made.windows) > 1 else reader

    def plan(self, subject: Subject, reader: Reader) -> Plan | Refer:
        """The windows of this report for this reader, or why it cannot be read."""
        document = subject.document
        if document is None or not document.readable:
            return Refer(code=ReferCode.NO_TEXT, detail=(document.note or document.state.value) if document else "no file")
        if reader.prompt is None:
            return Refer(code=ReferCode.LIMIT, detail=f"reader '{reader.name}' has no prompt")
        count = Counter(subject.counts.get(reader.via, {}))
        fixed = self.fixed_texts(subject, reader)
        around = sum(count(text) for text in fixed) + TEMPLATE
        if around > reader.context // 2:
            words = f"criteria and examples alone take about {around} tokens, more than half of the window of {reader.context}"
            return Refer(code=ReferCode.TOO_LONG, detail=words)
        return plan(document, count, reader.context - around - self.answer_room(reader), self.spec.long)

    def fixed_texts(self, subject: Subject, reader: Reader) -> list[str]:
        """What stands in every prompt about this report beside its text."""
        assert reader.prompt is not None
        return [self.system(reader).content, self.filled(reader, reader.prompt.user, {"title": self._title(subject), "text": ""})]

    def _title(self, subject: Subject) -> str:
        document = subject.document
        return fence(subject.record.title or (document.title if document else None) or "(no title)", "title")

    def ask(self, subject: Subject, reader: Reader) -> Request | Refer:
        """The question about the first window."""
        made = self.plan(subject, reader)
        return made if isinstance(made, Refer) else self._ask_window(subject, reader, made, 0)

    def _ask_window(self, subject: Subject, reader: Reader, made: Plan, number: int) -> Request:
        assert reader.prompt is not None
        several = len(made.windows) > 1
        told = f"(Part {number + 1} of {len(made.windows)} of the report.)\n" if several else ""
        values = {"title": self._title(subject), "text": told + fence(made.windows[number], "report")}
        messages: tuple[Message, ...] = (self.system(reader), say("user", self.filled(reader, reader.prompt.user, values)))
        return self.request(reader, messages, self.shape_of(reader), max_tokens=self.answer_room(reader))

    def step(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """The next question, window by window; each window has its own repairs."""
        if reader.is_person:
            return super().step(subject, reader, turns)
        reader = self.asked(subject, reader)
        made = self.plan(subject, reader)
        if isinstance(made, Refer):
            return made
        parts = by_window(turns)
        outcomes: list[Answer | Refer] = []
        for number in range(len(made.windows)):
            if number == len(parts):
                return self._ask_window(subject, reader, made, number)
            outcome = self._cut(subject, reader, made, number, parts[number]) or super().step(subject, reader, parts[number])
            if isinstance(outcome, Request):
                return outcome
            outcomes.append(outcome)
            if self.settled(outcome):
                break
        return outcomes[0] if len(made.windows) == 1 else self.merge(outcomes, len(made.windows))

    def _cut(self, subject: Subject, reader: Reader, made: Plan, number: int, turns: Sequence[Turn]) -> Refer | None:
        """Why the answer to a window cannot count: the server read fewer tokens than were sent."""
        read = turns[0].reply.prompt_tokens
        if read is None:
            return None
        window = made.windows[number]
        counted = subject.counts.get(reader.via, {}).get(key_of(window))
        least = LEAST_READ * counted if counted else len(window.encode("utf-8", "replace")) / MOST_BYTES_A_TOKEN
        if read >= least:
            return None
        words = f"the server says it read {read} tokens of a prompt of at least {int(least)}"
        return Refer(code=ReferCode.CUT_PROMPT, detail=words)

    def seen(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> float | None:
        """The share of the report's tokens in the windows that were asked about."""
        if reader.is_person or not turns:
            return None
        made = self.plan(subject, self.asked(subject, reader))
        return None if isinstance(made, Refer) else made.seen(len(by_window(turns)))


def by_window(turns: Sequence[Turn]) -> list[list[Turn]]:
    """The turns of each window: one begins wherever a question is put that neither repairs nor refines."""
    found: list[list[Turn]] = []
    for turn in turns:
        if turn.request.purpose == "ask" or not found:
            found.append([])
        found[-1].append(turn)
    return found
