"""Comparative statements as tuples: which two systems, on what basis, which did better, and the words that say so."""

import re
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, get_args

from litcascade.schemas import Frozen, Refer, ReferCode, Reply
from litcascade.stages.base import Subject
from litcascade.stages.grounding import TextIndex
from litcascade.stages.grounding.direction import directions
from litcascade.stages.harmonising.base import AskingStage, Outcome, schema_of
from litcascade.stages.harmonising.items import folded
from litcascade.stages.harmonising.mapping import ItemSubject
from litcascade.stages.parse import read_object
from litcascade.stages.prompt import fence

Better = Literal["first better", "second better", "no difference", "unclear"]
DIRECTIONS: tuple[Better, ...] = get_args(Better)
NO_COMPARISON = "no comparison"
TUPLES = 8
_NAME, _WORDS = 120, 400
_TAGS = re.compile(r"<(/?)\s*(item|quote)\b", re.IGNORECASE)


class Comparison(Frozen):
    """One comparison as it was given; `flag` says why a person must look, None where nobody need."""

    first: str
    second: str
    basis: str
    direction: str
    evidence: str
    flag: str | None = None


class Compared(Outcome):
    """The comparisons of an item; `flag` where there are none, or where the item must go to people."""

    comparisons: tuple[Comparison, ...] = ()
    flag: str | None = None


class Compare(AskingStage):
    """One question an item. Names, basis and evidence must stand in the item or in the quote it came with."""

    name: ClassVar[str] = "compare"

    def hindrance(self, subject: Subject) -> Refer | None:
        """Text that may steer."""
        return _item(subject).hindrance

    def questions(self, subject: Subject) -> int:
        """One."""
        return 1

    def values(self, subject: Subject, number: int) -> dict[str, str]:
        """The item and its quote, neither of which can open or close the other's marks."""
        item = _item(subject).item
        told = {"item": item.text, "quote": item.quote or "(none)"}
        return {tag: fence(_TAGS.sub(r"‹\1\2", text), tag) for tag, text in told.items()}

    def json_schema(self, subject: Subject, number: int) -> dict[str, Any]:
        """At most eight comparisons; the direction comes last, when its evidence stands."""
        texts = {"first": _NAME, "second": _NAME, "basis": _NAME, "evidence": _WORDS}
        parts: dict[str, Any] = {name: {"type": "string", "maxLength": most} for name, most in texts.items()}
        one = schema_of({**parts, "direction": {"enum": list(DIRECTIONS)}})
        return schema_of({"comparisons": {"type": "array", "items": one, "maxItems": TUPLES}})

    def room(self, subject: Subject) -> int:
        """A few comparisons."""
        return 800

    def take(self, subject: Subject, number: int, reply: Reply) -> Outcome | Refer:
        """The comparisons of a reply that is one JSON object, each held against the item and its quote."""
        found = read_object(reply)
        if isinstance(found, Refer):
            return found
        listed = found.get("comparisons")
        if not isinstance(listed, list):
            return Refer(code=ReferCode.UNPARSED, detail='there must be a list "comparisons"')
        item = _item(subject).item
        texts = [TextIndex(text) for text in (item.text, item.quote or "") if text.strip()]
        told: dict[Comparison, None] = {}
        for one in listed:
            read = _read(one)
            if isinstance(read, str):
                return Refer(code=ReferCode.UNPARSED, detail=read)
            told.setdefault(read.model_copy(update={"flag": fault(read, texts)}))
        clash = clashing(tuple(told))
        marked = tuple(one.model_copy(update={"flag": one.flag or clash}) for one in told)
        if clash:
            return Compared(comparisons=marked, flag=clash)
        return Compared(comparisons=marked, flag=None if marked else NO_COMPARISON)

    def result(self, subject: Subject, parts: Sequence[Outcome | Refer]) -> Outcome | Refer:
        """The one part."""
        return parts[0]


def fault(one: Comparison, texts: Sequence[TextIndex]) -> str | None:
    """Why a comparison must go to people: what does not stand in the texts, or a direction that its words do not bear."""
    for what, words in (
        ("first system", one.first),
        ("second system", one.second),
        ("basis", one.basis),
        ("evidence", one.evidence),
    ):
        if not any(text.find(words) for text in texts):
            return f"the {what} does not stand in the item or its quote"
    if folded(one.first) == folded(one.second):
        return "both systems are the same"
    if one.direction == "unclear":
        return "the direction is unclear"
    said = directions(TextIndex(one.evidence).folded, (), None, ("en",)) or set()
    if said == {"no difference"} and one.direction != "no difference":
        return "the evidence says there is no difference"
    if said and "no difference" not in said and one.direction == "no difference":
        return "the evidence says there is a difference"
    return None


def clashing(told: Sequence[Comparison]) -> str | None:
    """The words for two comparisons of the same systems on the same basis that go different ways; None where none do."""
    seen: dict[tuple[str, str, str], str] = {}
    for one in told:
        first, second = folded(one.first), folded(one.second)
        direction = one.direction
        if first > second:
            first, second = second, first
            direction = {"first better": "second better", "second better": "first better"}.get(direction, direction)
        if seen.setdefault((first, second, folded(one.basis)), direction) != direction:
            return "the same comparison goes two ways"
    return None


def _read(one: Any) -> Comparison | str:
    """One comparison of a reply, or what is wrong with it."""
    if not isinstance(one, dict):
        return "each comparison must be an object with first, second, basis, evidence and direction"
    texts = {name: one.get(name) for name in ("first", "second", "basis", "evidence", "direction")}
    missing = next((name for name, text in texts.items() if not isinstance(text, str)), None)
    if missing:
        return f'each comparison must have "{missing}"'
    given = {name: " ".join(str(text).split()) for name, text in texts.items()}
    given["direction"] = given["direction"].casefold()
    if given["direction"] not in DIRECTIONS:
        return f"the direction must be one of: {', '.join(DIRECTIONS)}"
    return Comparison(**given)


def _item(subject: Subject) -> ItemSubject:
    assert isinstance(subject, ItemSubject)
    return subject
