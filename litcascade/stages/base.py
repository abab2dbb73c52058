"""A stage: a pure function of one record's life, `step(subject, reader, turns) -> Request | Answer | Refer`.

Stage authors write `ask` and `read`; this base adds repair (one more try with the fault named) and referral.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import ClassVar

from pydantic import Field

from litcascade.registry import Registry
from litcascade.schemas import (
    Answer,
    Ask,
    Decision,
    Document,
    Flag,
    Frozen,
    LabelShape,
    Message,
    ModelRef,
    Protocol,
    Reader,
    Reading,
    Record,
    Refer,
    ReferCode,
    Request,
    Sampling,
    Shape,
    StageSpec,
    State,
    TextShape,
    Turn,
    Verdict,
    say,
)
from litcascade.stages.policy import POLICIES, Outcome
from litcascade.stages.prompt import fill

REPAIRABLE = {ReferCode.EMPTY, ReferCode.TRUNCATED, ReferCode.UNPARSED, ReferCode.CONFLICT}


class Subject(Frozen):
    """What a stage looks at: the record, its full text where there is one, and what people who are readers said.

    `counts` are tokens by model (`via`) and key of a text (`stages.budget.key_of`), as the model's own tokenizer counted.
    """

    record: Record
    document: Document | None = None
    people: dict[str, Decision] = Field(default_factory=dict)
    counts: dict[str, dict[str, int]] = Field(default_factory=dict)


class Stage(ABC):
    """One stage bound to a protocol and its readers. Pure: no clock, no file, no randomness."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    needs_text: ClassVar[bool] = False

    def __init__(self, protocol: Protocol, spec: StageSpec, readers: Mapping[str, Reader]) -> None:
        self.protocol = protocol
        self.spec = spec
        self.readers = readers
        self.policy = POLICIES.get(spec.policy)(spec)
        self._shared = {name: self.shared_places(reader) for name, reader in readers.items()}
        prompted = [(reader, reader.prompt) for reader in readers.values() if reader.prompt]
        self._system = {reader.name: say("system", self.system_text(reader, prompt.system)) for reader, prompt in prompted}

    @property
    def turn_limit(self) -> int:
        """How many turns one window may take where the stage plans more than usual; 0: as usual."""
        return 0

    @abstractmethod
    def ask(self, subject: Subject, reader: Reader) -> Request | Refer:
        """The first question, or why none can be put."""

    @abstractmethod
    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """What the turns so far say; a Request goes on (a refinement), a Refer may still be repaired by the base."""

    def guard(self, subject: Subject) -> Refer | None:
        """Why this record may not be decided by a model alone, whatever it says; None where it may."""
        return None

    def step(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """The next question, the answer, or the referral of one reader on one record."""
        if reader.is_person:
            decision = subject.people.get(reader.name)
            return Answer(decision=decision) if decision else Refer(code=ReferCode.AWAITING, detail=reader.name)
        if not turns:
            return self.ask(subject, reader)
        outcome = self.read(subject, reader, turns)
        if isinstance(outcome, Refer) and outcome.code in REPAIRABLE:
            repaired = sum(turn.request.purpose == "repair" for turn in turns)
            if repaired < self.spec.repairs:
                return self.repair(subject, reader, turns, outcome)
        return outcome

    def repair(self, subject: Subject, reader: Reader, turns: Sequence[Turn], fault: Refer) -> Request:
        """Ask once more: with more room where the answer was cut, else with the fault named."""
        last = turns[-1].request
        if fault.code in (ReferCode.TRUNCATED, ReferCode.EMPTY):
            sampling = last.sampling.model_copy(update={"max_tokens": last.sampling.max_tokens * 2})
            return last.model_copy(update={"sampling": sampling, "purpose": "repair"})
        said = (turns[-1].reply.text or "")[:2000]
        wanted = f"Answer again with exactly one word, {reader.include_label} or {reader.exclude_label}, and nothing else."
        messages = (*last.messages, say("assistant", said), say("user", f"Your answer could not be read. {wanted}"))
        return self.request(reader, messages, self.labels(reader), max_tokens=8, purpose="repair")

    def decide(self, subject: Subject, readings: Mapping[str, Reading]) -> Ask | Verdict:
        """The stage's verdict from the readings so far, or whom to ask next."""
        outcome = self.policy(readings)
        if isinstance(outcome, Ask):
            return outcome
        by_people = any(self.readers[name].is_person and isinstance(r.outcome, Answer) for name, r in readings.items())
        guard = None if by_people else self.guard(subject)
        if guard and outcome.state is not State.REFERRED:
            outcome = Outcome(State.REFERRED, outcome.score, guard.code, guard.detail or None)
        if outcome.state is State.INCLUDED and self.spec.positives == "people" and not by_people:
            outcome = Outcome(State.REFERRED, outcome.score, ReferCode.CONFIRM, outcome.reason)
        return Verdict(
            record_id=subject.record.record_id,
            stage=self.name,
            state=outcome.state,
            score=outcome.score,
            code=outcome.code,
            reason=outcome.reason,
            policy=self.spec.policy,
            readings=tuple(readings[name] for name in self.spec.readers if name in readings),
            document_id=subject.document.document_id if subject.document else None,
            criterion=outcome.criterion,
        )

    def request(
        self, reader: Reader, messages: Sequence[object], shape: Shape, *, max_tokens: int, purpose: str = "ask"
    ) -> Request:
        """A request to the reader's model; label answers ask for log-probabilities."""
        model: ModelRef | None = reader.model
        if model is None:
            raise ValueError(f"reader '{reader.name}' is a person and takes no request")
        sampling = Sampling(
            temperature=reader.temperature,
            max_tokens=max_tokens,
            seed=reader.seed,
            top_logprobs=20 if isinstance(shape, LabelShape) else 0,
        )
        return Request(model=model, messages=tuple(messages), shape=shape, sampling=sampling, purpose=purpose, via=reader.via)

    def system_text(self, reader: Reader, template: str) -> str:
        """The filled system part; stages that show examples there add them."""
        return self.filled(reader, template, {})

    def system(self, reader: Reader) -> Message:
        """The system part of a reader's prompt, the same for every record."""
        return self._system[reader.name]

    def seen(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> float | None:
        """The share of a report's text that stood in the prompts; None where the stage reads no report."""
        return None

    def labels(self, reader: Reader) -> LabelShape:
        """The two label words of a reader."""
        return LabelShape(labels=(reader.include_label, reader.exclude_label))

    def shape(self, reader: Reader) -> Shape:
        """What a screening reader's first answer must look like."""
        return self.labels(reader) if reader.style == "constrained" else TextShape()

    def shared_places(self, reader: Reader) -> dict[str, str]:
        """The prompt's places that are the same for every record."""
        criteria = self.protocol.criteria_for(self.name)
        sides = {
            kind: "\n".join(
                f"- {criterion.id}: {criterion.text.strip()}" + (f" ({criterion.notes.strip()})" if criterion.notes else "")
                for criterion in criteria
                if criterion.kind == kind
            )
            for kind in ("include", "exclude")
        }
        return {
            "question": self.protocol.review.question.strip(),
            "notes": self.protocol.review.notes.strip(),
            "include_criteria": sides["include"] or "(none)",
            "exclude_criteria": sides["exclude"] or "(none)",
            "criteria": f"Inclusion criteria:\n{sides['include'] or '(none)'}\n"
            f"Exclusion criteria:\n{sides['exclude'] or '(none)'}",
            "include": reader.include_label,
            "exclude": reader.exclude_label,
        }

    def filled(self, reader: Reader, part: str, values: Mapping[str, str]) -> str:
        """A part of the prompt with its shared places and those of this record filled."""
        return fill(part, {**self._shared[reader.name], **values})


def told_flag(flag: Flag) -> str:
    """A flag in a line: what, how, and the words themselves."""
    return f"{flag.kind.value}: {flag.detail}" + (f' ("{flag.quote}")' if flag.quote else "")


StageClass = type[Stage]
STAGE_CLASSES: Registry[StageClass] = Registry("stage")
