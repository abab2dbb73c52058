"""What readers say of a record, and what a stage makes of it."""

from enum import StrEnum
from typing import Any, Literal

from litcascade.schemas.call import Message, ModelRef
from litcascade.schemas.keys import Frozen

Decision = Literal["include", "exclude"]


class ReferCode(StrEnum):
    """Why a person must look."""

    NO_TITLE = "no title or abstract"
    NO_ABSTRACT = "no abstract"
    CUT_ABSTRACT = "abstract cut short"
    NO_TEXT = "no readable full text"
    EMPTY = "empty answer"
    TRUNCATED = "answer cut at the token limit"
    UNPARSED = "answer not understood"
    CONFLICT = "answer contradicts itself"
    UNCLEAR = "the reader says it is unclear"
    REJECTED = "the engine would not take the question"
    TOO_LONG = "longer than the model can read"
    NO_SCORE = "no probability to decide by"
    UNSURE = "score in the band left to people"
    PANEL = "readers disagree or failed"
    AWAITING = "waits for a person who is a reader"
    AMENDED = "decided under earlier criteria"
    LIMIT = "step limit reached"
    FAULT = "the program failed on this record"
    CONFIRM = "included by models, for a person to confirm"
    STEERING = "text that may steer the reader"
    TEMPLATE = "marks of a chat template in the answer"
    IDENTITY = "text may be of another paper"
    CUT_PROMPT = "the server cut the prompt"


class CriterionAnswer(Frozen):
    """Whether a report meets one criterion, with the words that decide it; `quote_found` None: there is no quote."""

    criterion: str
    met: Literal["yes", "no", "unclear"]
    quote: str | None = None
    quote_found: bool | None = None


class Refer(Frozen):
    """A person must look, because …; what was answered by criterion stays with it."""

    code: ReferCode
    detail: str = ""
    criteria: tuple[CriterionAnswer, ...] = ()


class FieldValue(Frozen):
    """One extracted field: the value with the quote it rests on, or the error that kept it from being read.

    `quote_found` is None where no quote is needed (value "not reported"), else whether the quote stands in the text.
    """

    field: str
    value: Any = None
    quote: str | None = None
    quote_found: bool | None = None
    error: str | None = None


class Answer(Frozen):
    """A typed result read from the turns of one reader.

    `score` is p(include) in [0, 1], None where the engine gives none. Screening sets `decision`, and read criterion by
    criterion also `criteria` and for an exclusion the first failing `criterion`; extraction sets `values`.
    """

    decision: Decision | None = None
    score: float | None = None
    reason: str | None = None
    values: tuple[FieldValue, ...] = ()
    criterion: str | None = None
    criteria: tuple[CriterionAnswer, ...] = ()


class Reading(Frozen):
    """One reader's answer or referral on one record; `calls` are the keys of the calls it was read from.

    `orderly` says whether the first reply was already in the form asked for (the reliability rate counts these). `tokens`
    is the length of the first prompt as the reader's own engine counted it, None where it did not say. `seen` is the share of
    a report's text that stood in the prompts, None where no report was read.
    """

    reader: str
    outcome: Answer | Refer
    calls: tuple[str, ...] = ()
    orderly: bool = True
    tokens: int | None = None
    seen: float | None = None


class Ask(Frozen):
    """A policy wants these readers' readings before it decides."""

    readers: tuple[str, ...]


class State(StrEnum):
    """Where a record stands at a stage; at every stage it is in exactly one."""

    PENDING = "pending"
    INCLUDED = "included"
    EXCLUDED = "excluded"
    REFERRED = "referred"
    EXTRACTED = "extracted"
    NOT_RETRIEVED = "not retrieved"
    DUPLICATE = "duplicate"


class Verdict(Frozen):
    """A stage's decision on a record."""

    record_id: str
    stage: str
    state: State
    score: float | None = None
    code: ReferCode | None = None
    reason: str | None = None
    policy: str = ""
    readings: tuple[Reading, ...] = ()
    document_id: str | None = None
    criterion: str | None = None

    @property
    def seen(self) -> float | None:
        """The least share of the report's text that any of the readers saw; None where no report was read."""
        shares = [reading.seen for reading in self.readings if reading.seen is not None]
        return min(shares) if shares else None


class Shot(Frozen):
    """One worked example for the prompt: the record as the reader would see it, and the right decision.

    With a rationale also why a person decided so: the words of the record it rests on, and a sentence.
    """

    record_id: str
    title: str
    abstract: str
    decision: Decision
    quote: str | None = None
    reasoning: str | None = None


class Prompt(Frozen):
    """A prompt text in its two parts; `system` is what all records share and stands first."""

    name: str
    system: str
    user: str


class Reader(Frozen):
    """Who answers: model @ revision × prompt × shots × parameters; a person has no model."""

    name: str
    model: ModelRef | None
    via: str = ""
    style: Literal["constrained", "free", "criteria"] = "constrained"
    prompt: Prompt | None = None
    include_label: str = "yes"
    exclude_label: str = "no"
    shots: tuple[Shot, ...] = ()
    temperature: float = 0.0
    seed: int | None = None
    max_tokens: int = 8
    context: int = 8192

    @property
    def is_person(self) -> bool:
        """Whether a person answers."""
        return self.model is None


def say(role: Literal["system", "user", "assistant"], content: str) -> Message:
    """A message, in fewer letters."""
    return Message(role=role, content=content)
