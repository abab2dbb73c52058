"""Whether a person's item and a model's item mean the same: asked in both orders, and a flip is no match."""

from collections.abc import Sequence
from typing import ClassVar

from litcascade.judges.base import MODEL_JUDGES, WORDS, Judged, ModelJudge, Unit, yes_or_no
from litcascade.schemas import LabelShape, Refer, Reply


@MODEL_JUDGES.register("same_meaning")
class SameMeaning(ModelJudge):
    """Two questions a pair: the person's item first, then the model's first. Which is whose is never said.

    Yes twice is a match, no twice is none, and neither is one of each. A failed order leaves the pair unjudged; the second
    order is not asked where the first one failed.
    """

    name: ClassVar[str] = "same_meaning"

    def questions(self, unit: Unit) -> int:
        """Both orders."""
        return 2

    def values(self, unit: Unit, number: int) -> dict[str, str]:
        """The two items, seated."""
        first, second = (unit.gold, unit.item) if number == 0 else (unit.item, unit.gold)
        return self.fenced(first=first, second=second)

    def shape(self, unit: Unit) -> LabelShape:
        """Yes or no."""
        return LabelShape(labels=("yes", "no"))

    def read(self, unit: Unit, number: int, reply: Reply) -> Judged | Refer:
        """The one word."""
        return yes_or_no(self.tools.read_word(reply, WORDS), reply)

    def settled(self, parts: Sequence[Judged | Refer]) -> bool:
        """A failed order cannot be made up for."""
        return isinstance(parts[-1], Refer)

    def result(self, unit: Unit, parts: Sequence[Judged | Refer]) -> Judged | Refer:
        """A match where both orders say so."""
        for number, part in enumerate(parts):
            if isinstance(part, Refer):
                words = "one order failed" if number else "the first order failed and the other was not asked"
                return part.model_copy(update={"detail": f"{words}: {part.detail}"[:300]})
        first, second = (part.verdict for part in parts if isinstance(part, Judged))
        return Judged(verdict=bool(first and second), first=first, second=second)
