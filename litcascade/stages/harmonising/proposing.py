"""Labels proposed over shuffled subsets of a field's items, and put together by name with their support."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any, ClassVar

from litcascade.schemas import Frozen, Refer, ReferCode, Reply, digest
from litcascade.stages.base import Subject
from litcascade.stages.harmonising.base import AskingStage, Outcome, schema_of
from litcascade.stages.harmonising.items import folded
from litcascade.stages.harmonising.labels import RESERVED
from litcascade.stages.parse import read_object
from litcascade.stages.prompt import fence

LABELS = 20
NAME = 60
DEFINITION = 240
SHOWN = 300  # characters of an item


class Proposed(Frozen):
    """A label that one subset proposed, with its items as they stand."""

    name: str
    definition: str
    items: tuple[str, ...]


class Proposal(Outcome):
    """The labels of one subset; there is one at least."""

    labels: tuple[Proposed, ...]


class SubsetSubject(Subject):
    """One shuffled subset of a field's distinct items; `number` from 1."""

    number: int
    items: tuple[str, ...]

    @property
    def subset_id(self) -> str:
        """24 hexadecimal digits of the items in their order."""
        return digest(list(self.items))[:24]


class Drawn(Frozen):
    """The subsets, and how many items stand in none of them because samples times size does not reach."""

    subsets: tuple[tuple[str, ...], ...]
    never_shown: int


def distinct(texts: Sequence[str]) -> tuple[str, ...]:
    """One text of each that are equal after folding, the first in alphabetical order, sorted by their folded form."""
    found: dict[str, str] = {}
    for text in sorted(texts):
        found.setdefault(folded(text), text)
    return tuple(found[form] for form in sorted(found))


def draw(items: Sequence[str], samples: int, size: int, seed: int) -> Drawn:
    """`samples` subsets of `size` items (or of all, where there are fewer), the same for the same items and seed.

    The items are dealt out in shuffled rounds, so that each stands in one subset before any stands in two; no subset holds one
    twice. Raises ValueError unless samples and size are 1 at least.
    """
    if samples < 1 or size < 1:
        raise ValueError("samples and size must be 1 at least")
    size = min(size, len(items))
    waiting: list[str] = []
    rounds = count(1)
    subsets = []
    for _ in range(samples if items else 0):
        taken: list[str] = []
        while len(taken) < size:
            fresh = next((item for item in waiting if item not in taken), None)
            if fresh is None:
                waiting += _shuffled(items, seed, next(rounds))
                continue
            waiting.remove(fresh)
            taken.append(fresh)
        subsets.append(tuple(taken))
    shown = {item for subset in subsets for item in subset}
    return Drawn(subsets=tuple(subsets), never_shown=len(items) - len(shown))


def _shuffled(items: Sequence[str], seed: int, number: int) -> list[str]:
    return sorted(items, key=lambda item: digest([seed, number, folded(item)]))


class Propose(AskingStage):
    """One question a subset: labels with definitions and the numbers of their items."""

    name: ClassVar[str] = "propose"

    def questions(self, subject: Subject) -> int:
        """One."""
        return 1

    def values(self, subject: Subject, number: int) -> dict[str, str]:
        """The items, numbered from 1, one a line."""
        lines = [f"{place}. {' '.join(item.split())[:SHOWN]}" for place, item in enumerate(_subset(subject).items, start=1)]
        return {"items": fence("\n".join(lines), "items")}

    def json_schema(self, subject: Subject, number: int) -> dict[str, Any]:
        """At most twenty labels, each with the numbers of its items."""
        size = len(_subset(subject).items)
        numbers = {"type": "integer", "minimum": 1, "maximum": size}
        label = schema_of(
            {
                "name": {"type": "string", "minLength": 1, "maxLength": NAME},
                "definition": {"type": "string", "minLength": 1, "maxLength": DEFINITION},
                "items": {"type": "array", "items": numbers, "minItems": 1, "maxItems": size},
            }
        )
        return schema_of({"labels": {"type": "array", "items": label, "minItems": 1, "maxItems": LABELS}})

    def room(self, subject: Subject) -> int:
        """Names and definitions of a dozen labels, and a few tokens an item."""
        return 1200 + 6 * len(_subset(subject).items)

    def take(self, subject: Subject, number: int, reply: Reply) -> Outcome | Refer:
        """The labels of a reply that is one JSON object with at least one of them."""
        found = read_object(reply)
        if isinstance(found, Refer):
            return found
        listed = found.get("labels")
        if not isinstance(listed, list) or not listed:
            return Refer(code=ReferCode.UNPARSED, detail='there must be a list "labels" with at least one label')
        labels = []
        for one in listed:
            label = _label(one, _subset(subject).items)
            if isinstance(label, str):
                return Refer(code=ReferCode.UNPARSED, detail=label)
            labels.append(label)
        return Proposal(labels=tuple(labels))

    def result(self, subject: Subject, parts: Sequence[Outcome | Refer]) -> Outcome | Refer:
        """The one part."""
        return parts[0]


def _subset(subject: Subject) -> SubsetSubject:
    assert isinstance(subject, SubsetSubject)
    return subject


def _label(one: Any, items: Sequence[str]) -> Proposed | str:
    """One label of a reply, or what is wrong with it."""
    if not isinstance(one, dict):
        return "each label must be an object with name, definition and items"
    name, definition, numbers = (one.get(key) for key in ("name", "definition", "items"))
    if not isinstance(name, str) or not folded(name) or not isinstance(definition, str) or not definition.strip():
        return "each label must have a name and a definition"
    right = isinstance(numbers, list) and all(type(place) is int and 1 <= place <= len(items) for place in numbers)
    if not right or not numbers:
        return f"label '{name[:60]}' must list numbers from 1 to {len(items)}, one at least"
    members = tuple(items[place - 1] for place in dict.fromkeys(numbers or []))
    return Proposed(name=" ".join(name.split())[:NAME], definition=" ".join(definition.split())[:DEFINITION], items=members)


class Candidate(Frozen):
    """A label as the subsets together propose it: its definitions, its support, and each item with how many put it there."""

    name: str
    definitions: tuple[str, ...]
    support: int
    items: tuple[tuple[str, int], ...]


class Together(Frozen):
    """All candidates, best supported first; of how many subsets that answered; which shown items no subset gave a label."""

    candidates: tuple[Candidate, ...]
    answered: int
    left_out: tuple[str, ...]


def put_together(proposals: Mapping[int, Proposal], shown: Sequence[Sequence[str]]) -> Together:
    """The proposals of the subsets (by number) as one list; `shown` are the items of the subsets that answered.

    Labels are one where their names are equal after folding. The name is the form that most subsets use, the first in the
    alphabet of equals; definitions stand in the order of the subsets. A label that is called like an answer of its own
    ("unclear") is left out, and its items with it.
    """
    forms: dict[str, Counter[str]] = {}
    definitions: dict[str, dict[str, None]] = {}
    support: dict[str, set[int]] = {}
    members: dict[str, dict[str, set[int]]] = {}
    for number in sorted(proposals):
        for label in proposals[number].labels:
            key = folded(label.name)
            if key in RESERVED:
                continue
            forms.setdefault(key, Counter())[label.name.replace("|", "/")] += 1
            definitions.setdefault(key, {}).setdefault(label.definition)
            support.setdefault(key, set()).add(number)
            for item in label.items:
                members.setdefault(key, {}).setdefault(item, set()).add(number)
    candidates = [
        Candidate(
            name=min(forms[key], key=lambda form: (-forms[key][form], form)),
            definitions=tuple(definitions[key]),
            support=len(support[key]),
            items=tuple(
                sorted(((item, len(subsets)) for item, subsets in members[key].items()), key=lambda one: (-one[1], one[0]))
            ),
        )
        for key in forms
    ]
    given = {item for found in members.values() for item in found}
    return Together(
        candidates=tuple(sorted(candidates, key=lambda one: (-one.support, -len(one.items), folded(one.name)))),
        answered=len(proposals),
        left_out=tuple(sorted({item for subset in shown for item in subset} - given)),
    )
