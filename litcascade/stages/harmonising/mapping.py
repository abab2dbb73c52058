"""An item gets labels of a frozen set: asked with the labels in two orders, and two answers that differ go to people."""

from collections.abc import Sequence
from typing import Any, ClassVar

from litcascade.schemas import Reader, Refer, ReferCode, Reply
from litcascade.stages.base import Subject
from litcascade.stages.harmonising.base import AskingStage, Outcome, schema_of
from litcascade.stages.harmonising.items import Item
from litcascade.stages.harmonising.labels import NONE_FITS, SEVERAL, UNCLEAR, Label, LabelSet
from litcascade.stages.parse import read_object
from litcascade.stages.prompt import fence
from litcascade.stages.quote import fold, stands_in

AMBIGUOUS = "ambiguous"
WORDS = 300


class Mapped(Outcome):
    """What an item means: `labels` with the `words` it rests on, or a `flag` that says why a person must look.

    `first` and `second` are the answers under the two orders of the labels, "none fits" and "unclear" among them.
    """

    labels: tuple[str, ...] = ()
    words: str | None = None
    flag: str | None = None
    detail: str | None = None
    first: tuple[str, ...] = ()
    second: tuple[str, ...] = ()


class ItemSubject(Subject):
    """An item on its way; `hindrance` says why nothing may be asked about it."""

    item: Item
    hindrance: Refer | None = None


class Map(AskingStage):
    """Two questions an item: the labels in their order, and turned round. What does not agree is ambiguous, never a choice."""

    name: ClassVar[str] = "map"

    def __init__(self, reader: Reader, field: str, definition: str, labels: LabelSet) -> None:
        super().__init__(reader, field, definition)
        self.labelled = labels

    @property
    def rests_on(self) -> list[Any]:
        """The label set too."""
        return [*super().rests_on, self.labelled.content_hash]

    def hindrance(self, subject: Subject) -> Refer | None:
        """Text that may steer."""
        return _item(subject).hindrance

    def questions(self, subject: Subject) -> int:
        """Both orders."""
        return 2

    def values(self, subject: Subject, number: int) -> dict[str, str]:
        """The labels in the order of this question, which all items share, and the item."""
        most = f"Give every label that fits, {SEVERAL} at most." if self.labelled.several else (
            'Give the one label that fits; where two fit equally, say "unclear".'
        )  # fmt: skip
        lines = "\n".join(map(_line, self._ordered(number)))
        return {"labels": lines, "choice": most, "item": fence(_item(subject).item.text, "item")}

    def json_schema(self, subject: Subject, number: int) -> dict[str, Any]:
        """Words first, then labels of the set or one of the two other answers."""
        names = [label.name for label in self._ordered(number)]
        most = min(SEVERAL, len(names)) if self.labelled.several else 1
        labels = {"type": "array", "items": {"enum": [*names, NONE_FITS, UNCLEAR]}, "minItems": 1, "maxItems": most}
        return schema_of({"words": {"type": "string", "maxLength": WORDS}, "labels": labels})

    def take(self, subject: Subject, number: int, reply: Reply) -> Outcome | Refer:
        """Known labels with words that stand in the item, or one of the two other answers alone."""
        found = read_object(reply)
        if isinstance(found, Refer):
            return found
        told, words = found.get("labels"), found.get("words")
        if not isinstance(told, list) or not told or not all(isinstance(one, str) for one in told):
            return Refer(code=ReferCode.UNPARSED, detail='there must be a list "labels" with at least one of the labels')
        others = [one.strip().casefold() for one in told if one.strip().casefold() in (NONE_FITS, UNCLEAR)]
        if others:
            alone = len(others) == len(told) == 1
            return Mapped(first=(others[0],)) if alone else Refer(
                code=ReferCode.CONFLICT, detail=f'"{others[0]}" must stand alone'
            )  # fmt: skip
        names = [self.labelled.known(one) for one in told]
        if None in names:
            return Refer(code=ReferCode.UNPARSED, detail=f"'{told[names.index(None)][:80]}' is no label of the set")
        given = set(names)
        if len(given) > 1 and not self.labelled.several:
            return Refer(code=ReferCode.CONFLICT, detail="it gives several labels where one was asked for")
        if not isinstance(words, str) or not stands_in(words, fold(_item(subject).item.text)):
            return Refer(code=ReferCode.CONFLICT, detail='its "words" do not stand in the text')
        return Mapped(first=tuple(one.name for one in self.labelled.labels if one.name in given), words=words.strip())

    def result(self, subject: Subject, parts: Sequence[Outcome | Refer]) -> Outcome | Refer:
        """The labels where both orders give the same ones; else the reason why a person must look."""
        told = [part for part in parts if isinstance(part, Mapped)]
        failed = next((part for part in parts if isinstance(part, Refer)), None)
        if failed is not None:
            words = f"{'the second order' if told else 'the first order'} failed: {failed.detail}"
            if told:
                words += f" (the first said {', '.join(told[0].first)})"
            return failed.model_copy(update={"detail": words[:300]})
        first, second = told[0].first, told[1].first
        common = Mapped(first=first, second=second, words=told[0].words)
        if first != second:
            words = f"{', '.join(first)} in one order of the labels, {', '.join(second)} in the other"
            return common.model_copy(update={"flag": AMBIGUOUS, "detail": words, "words": told[0].words or told[1].words})
        if first[0] in (NONE_FITS, UNCLEAR):
            return common.model_copy(update={"flag": first[0]})
        return common.model_copy(update={"labels": first})

    def _ordered(self, number: int) -> tuple[Label, ...]:
        return self.labelled.labels if number == 0 else self.labelled.labels[::-1]


def by_name(item: Item, labels: LabelSet) -> Mapped | None:
    """The label that an item gets without a model, because it equals its name or a synonym; None where it equals none."""
    name = labels.exact(item.text)
    return None if name is None else Mapped(labels=(name,), words=item.text)


def _line(label: Label) -> str:
    forms = [f'"{text}"' for text in (*label.synonyms, *label.examples)]
    return f"- {label.name}: {label.definition}" + (f" (such as {', '.join(forms)})" if forms else "")


def _item(subject: Subject) -> ItemSubject:
    assert isinstance(subject, ItemSubject)
    return subject
