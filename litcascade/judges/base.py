"""A judge that asks a model: a pure step from one unit's turns to the next question, a judgement, or why there is none.

Authors write the questions, how one reply is read, and what the parts say together; the base adds one repair a question. A
judge asks nothing of a clock, a file or chance. What it borrows from the floor beside it (fences, strict reading) arrives as
`Tools`.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

from litcascade.registry import Registry
from litcascade.schemas import (
    Frozen,
    JsonShape,
    LabelShape,
    Message,
    Prompt,
    Reader,
    Refer,
    ReferCode,
    Reply,
    Request,
    Sampling,
    Turn,
    digest,
    say,
)

REPAIRABLE = {ReferCode.EMPTY, ReferCode.TRUNCATED, ReferCode.UNPARSED, ReferCode.CONFLICT}
REPAIRS = 1
WORDS: Mapping[str, Literal["include", "exclude", "unclear"]] = {
    "yes": "include", "no": "exclude", "unclear": "unclear", "unsure": "unclear", "maybe": "unclear", "unknown": "unclear",
}  # fmt: skip


class Unit(Frozen):
    """What one judgement is about: an item that a model extracted for a field of a record, and what it is held against.

    `gold` is a person's item (`same_meaning`) or all of them (`rubric`); `windows` are the parts of the report
    (`support`). `hindrance` says why nothing may be asked, such as a report that cannot be read.
    """

    record_id: str
    field: str
    definition: str = ""
    item: str
    gold: str = ""
    document_id: str | None = None
    windows: tuple[str, ...] = ()
    hindrance: Refer | None = None

    @cached_property
    def unit_id(self) -> str:
        """24 hexadecimal digits of what the judgement is about, however the report is shown."""
        return digest([self.record_id, self.field, self.definition, self.item, self.gold, self.document_id])[:24]


class Judged(Frozen):
    """What a judge found: `verdict` for yes or no, `score` on a scale. `first` and `second` are the two orders' verdicts.

    A `flip` is a yes in one order and a no in the other: no match.
    """

    verdict: bool | None = None
    score: float | None = None
    first: bool | None = None
    second: bool | None = None
    quote: str | None = None
    detail: str | None = None

    @property
    def flip(self) -> bool:
        """Whether the order decided."""
        return None not in (self.first, self.second) and self.first != self.second


@dataclass(frozen=True)
class Tools:
    """How texts are fenced and templates filled, and how replies are read strictly.

    `read_word(reply, words)` gives include, exclude, unclear or a `Refer`; `read_object(reply)` the one JSON object or a
    `Refer`; `quoted(quote, text)` says whether a quote stands in a text.
    """

    fence: Callable[[str, str], str]
    fill: Callable[[str, Mapping[str, str]], str]
    read_word: Callable[[Reply, Mapping[str, Literal["include", "exclude", "unclear"]]], str | Refer]
    read_object: Callable[[Reply], dict[str, Any] | Refer]
    quoted: Callable[[str, str], bool]


class ModelJudge(ABC):
    """One judge bound to a reader with a model that answers yes or no, and to its prompt."""

    name: ClassVar[str]
    version: ClassVar[int] = 1
    needs_text: ClassVar[bool] = False

    def __init__(self, reader: Reader, prompt: Prompt, tools: Tools) -> None:
        if reader.model is None:
            raise ValueError(f"reader '{reader.name}' is a person and cannot be a model judge")
        self.reader = reader
        self.model = reader.model
        self.prompt = prompt
        self.tools = tools

    @abstractmethod
    def questions(self, unit: Unit) -> int:
        """How many questions a unit takes at most."""

    @abstractmethod
    def values(self, unit: Unit, number: int) -> dict[str, str]:
        """The places of question `number` (from 0), texts from papers and models fenced."""

    @abstractmethod
    def shape(self, unit: Unit) -> LabelShape | JsonShape:
        """What a reply must look like."""

    @abstractmethod
    def read(self, unit: Unit, number: int, reply: Reply) -> Judged | Refer:
        """What one reply says, or why it cannot be used."""

    @abstractmethod
    def result(self, unit: Unit, parts: Sequence[Judged | Refer]) -> Judged | Refer:
        """What the parts say together."""

    def settled(self, parts: Sequence[Judged | Refer]) -> bool:
        """Whether further questions can change nothing."""
        return False

    @property
    def rests_on(self) -> list[Any]:
        """What a judgement rests on beside unit and model: goes into the fingerprint."""
        return [self.name, self.version, self.prompt.system, self.prompt.user]

    def step(self, unit: Unit, turns: Sequence[Turn]) -> Request | Judged | Refer:
        """The next question, the judgement, or why there is none. Never raises on what a model said."""
        if unit.hindrance is not None:
            return unit.hindrance
        parts: list[Judged | Refer] = []
        groups = _by_question(turns)
        for number, group in enumerate(groups):
            part = self.read(unit, number, group[-1].reply)
            if isinstance(part, Refer) and part.code in REPAIRABLE and len(group) <= REPAIRS and number == len(groups) - 1:
                return self._repair(group[-1], part)
            parts.append(part)
        if len(parts) >= self.questions(unit) or (parts and self.settled(parts)):
            return self.result(unit, parts)
        return self._request(unit, len(parts))

    def fenced(self, **texts: str) -> dict[str, str]:
        """Each text between the marks of its name; none can open or close the marks of another."""
        found = {}
        for tag, text in texts.items():
            others = "|".join(name for name in texts if name != tag)
            shown = self.tools.fence(text, tag)
            found[tag] = re.sub(rf"<(/?)\s*({others})\b", r"‹\1\2", shown, flags=re.IGNORECASE) if others else shown
        return found

    def _request(self, unit: Unit, number: int) -> Request:
        values = {**self.values(unit, number), "field": unit.field, "definition": unit.definition.strip() or "(not defined)"}
        system, user = (self.tools.fill(part, values) for part in (self.prompt.system, self.prompt.user))
        return self._ask((say("system", system), say("user", user)), self.shape(unit), self.reader.max_tokens, "ask")

    def _ask(self, messages: tuple[Message, ...], shape: LabelShape | JsonShape, tokens: int, purpose: str) -> Request:
        reader = self.reader
        room = max(tokens, 400) if isinstance(shape, JsonShape) else tokens
        sampling = Sampling(temperature=reader.temperature, seed=reader.seed, max_tokens=room)
        return Request(model=self.model, messages=messages, shape=shape, sampling=sampling, purpose=purpose, via=reader.via)

    def _repair(self, turn: Turn, fault: Refer) -> Request:
        """Ask once more: with more room where the answer was cut or empty, else with the fault named."""
        last = turn.request
        shape = last.shape
        assert isinstance(shape, LabelShape | JsonShape)
        if fault.code in (ReferCode.TRUNCATED, ReferCode.EMPTY):
            return self._ask(last.messages, shape, last.sampling.max_tokens * 2, "repair")
        wanted = "with yes or no and nothing else" if isinstance(shape, LabelShape) else "with the JSON object alone"
        words = f"Your answer could not be used: {fault.detail[:300]}. Answer again, {wanted}."
        said = say("assistant", (turn.reply.text or "")[:2000])
        return self._ask((*last.messages, said, say("user", words)), shape, last.sampling.max_tokens, "repair")


def _by_question(turns: Sequence[Turn]) -> list[list[Turn]]:
    groups: list[list[Turn]] = []
    for turn in turns:
        if turn.request.purpose == "repair" and groups:
            groups[-1].append(turn)
        else:
            groups.append([turn])
    return groups


def yes_or_no(word: str | Refer, reply: Reply) -> Judged | Refer:
    """A verdict word as a judgement; "unclear" is none."""
    if isinstance(word, Refer):
        return word
    if word == "unclear":
        return Refer(code=ReferCode.UNCLEAR, detail=(reply.text or "").strip()[:200])
    return Judged(verdict=word == "include")


MODEL_JUDGES: Registry[type[ModelJudge]] = Registry("model judge")
