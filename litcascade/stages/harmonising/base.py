"""A question about free text as a stage that executors drive: one reader, one repair a question, an outcome or a reason."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Any, ClassVar

from litcascade.schemas import (
    Answer,
    Ask,
    Frozen,
    JsonShape,
    Prompt,
    Reader,
    Reading,
    Refer,
    ReferCode,
    Reply,
    Request,
    Sampling,
    StageSpec,
    State,
    Turn,
    Verdict,
    digest,
    say,
)
from litcascade.stages.base import REPAIRABLE, Stage, Subject
from litcascade.stages.prompt import fill

REPAIRS = 1


class Outcome(Frozen):
    """What came of a question; what it is, the steps say."""


class OutcomeAnswer(Answer):
    """An outcome as the executor carries answers."""

    outcome: Outcome


class OutcomeVerdict(Verdict):
    """A subject with its outcome, or why there is none."""

    subject: Subject
    outcome: Outcome | Refer


class AskingStage(Stage):
    """A step that asks one reader with a model. Authors write the questions, how one reply is read, and what the parts say."""

    name: ClassVar[str]
    version: ClassVar[int] = 1

    def __init__(self, reader: Reader, field: str, definition: str) -> None:
        if reader.model is None:
            raise ValueError(f"reader '{reader.name}' is a person and takes no question")
        self.reader = reader
        self.model = reader.model
        self.prompt = load(self.name)
        self.spec = StageSpec(readers=(reader.name,))
        self.readers = {reader.name: reader}
        self.places = {"field": field, "definition": definition.strip() or "(not defined)"}

    @abstractmethod
    def questions(self, subject: Subject) -> int:
        """How many questions a subject takes at most."""

    @abstractmethod
    def values(self, subject: Subject, number: int) -> dict[str, str]:
        """The places of question `number` (from 0), texts from papers fenced."""

    @abstractmethod
    def json_schema(self, subject: Subject, number: int) -> dict[str, Any]:
        """What a reply must look like; every text and list in it is bounded."""

    @abstractmethod
    def take(self, subject: Subject, number: int, reply: Reply) -> Outcome | Refer:
        """What one reply says, or why it cannot be used."""

    @abstractmethod
    def result(self, subject: Subject, parts: Sequence[Outcome | Refer]) -> Outcome | Refer:
        """What the parts say together."""

    def hindrance(self, subject: Subject) -> Refer | None:
        """Why nothing may be asked about a subject; None where it may."""
        return None

    def room(self, subject: Subject) -> int:
        """Tokens that a whole answer may take."""
        return 400

    @property
    def rests_on(self) -> list[Any]:
        """What an outcome rests on beside subject and model: goes into the fingerprint."""
        return [self.name, self.version, self.prompt.system, self.prompt.user, self.places]

    @property
    def fingerprint(self) -> str:
        """What an outcome rests on beside its subject, the reader with its model included."""
        kept = self.reader.model_dump(mode="json", include={"model", "temperature", "seed", "max_tokens"})
        return f"harmonise:{digest([self.rests_on, kept])}"

    def ask(self, subject: Subject, reader: Reader) -> Request | Refer:
        """The first question."""
        outcome = self.step(subject, reader, ())
        return outcome if isinstance(outcome, Request | Refer) else Refer(code=ReferCode.FAULT, detail="settled unasked")

    def read(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """What the turns say."""
        return self.step(subject, reader, turns)

    def step(self, subject: Subject, reader: Reader, turns: Sequence[Turn]) -> Request | Answer | Refer:
        """The next question, the outcome, or why there is none. Never raises on what a model said."""
        hindrance = self.hindrance(subject)
        if hindrance is not None:
            return hindrance
        parts: list[Outcome | Refer] = []
        groups = _by_question(turns)
        for number, group in enumerate(groups):
            part = self.take(subject, number, group[-1].reply)
            if isinstance(part, Refer) and part.code in REPAIRABLE and len(group) <= REPAIRS and number == len(groups) - 1:
                return self._mended(group[-1], part)
            parts.append(part)
        if len(parts) < self.questions(subject) and not (parts and isinstance(parts[-1], Refer)):
            return self._request(subject, len(parts))
        told = self.result(subject, parts)
        return OutcomeAnswer(outcome=told) if isinstance(told, Outcome) else told

    def decide(self, subject: Subject, readings: Mapping[str, Reading]) -> Ask | Verdict:
        """The one reading."""
        if self.reader.name not in readings:
            return Ask(readers=(self.reader.name,))
        told = readings[self.reader.name].outcome
        outcome: Outcome | Refer = told.outcome if isinstance(told, OutcomeAnswer) else Refer(code=ReferCode.FAULT)
        return OutcomeVerdict(
            record_id=subject.record.record_id, stage=self.name, state=State.EXTRACTED,
            readings=(readings[self.reader.name],), subject=subject, outcome=told if isinstance(told, Refer) else outcome,
        )  # fmt: skip

    def _request(self, subject: Subject, number: int) -> Request:
        values = {**self.places, **self.values(subject, number)}
        messages = (say("system", fill(self.prompt.system, values)), say("user", fill(self.prompt.user, values)))
        return self._put(messages, self.json_schema(subject, number), max(self.reader.max_tokens, self.room(subject)), "ask")

    def _put(self, messages: tuple[Any, ...], schema: dict[str, Any], tokens: int, purpose: str) -> Request:
        sampling = Sampling(temperature=self.reader.temperature, seed=self.reader.seed, max_tokens=tokens)
        shape = JsonShape(name=self.name, json_schema=schema)
        return Request(
            model=self.model, messages=messages, shape=shape, sampling=sampling, purpose=purpose, via=self.reader.via
        )  # fmt: skip

    def _mended(self, turn: Turn, fault: Refer) -> Request:
        """Ask once more: with more room where the answer was cut or empty, else with the fault named."""
        last = turn.request
        assert isinstance(last.shape, JsonShape)
        schema, tokens = last.shape.json_schema, last.sampling.max_tokens
        if fault.code in (ReferCode.TRUNCATED, ReferCode.EMPTY):
            return self._put(last.messages, schema, tokens * 2, "repair")
        words = f"Your answer could not be used: {fault.detail[:300]}. Answer again, with the JSON object alone."
        said = say("assistant", (turn.reply.text or "")[:2000])
        return self._put((*last.messages, said, say("user", words)), schema, tokens, "repair")


def load(name: str) -> Prompt:
    """The prompt of a step in its two parts."""
    text = (resources.files("litcascade.stages.harmonising") / "prompts" / f"{name}.md").read_text(encoding="utf-8")
    system, _, user = text.removeprefix("# System\n").partition("\n# User\n")
    return Prompt(name=name, system=system.strip(), user=user.strip())


def schema_of(properties: Mapping[str, Any]) -> dict[str, Any]:
    """An object with exactly these properties, in their order."""
    return {
        "type": "object", "properties": dict(properties), "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _by_question(turns: Sequence[Turn]) -> list[list[Turn]]:
    groups: list[list[Turn]] = []
    for turn in turns:
        if turn.request.purpose == "repair" and groups:
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return groups
