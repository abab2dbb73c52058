"""How good an item is on a scale that a person declared, held against the person's own items."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

from pydantic import Field, model_validator

from litcascade.eval.judging import read_score
from litcascade.judges.base import MODEL_JUDGES, Judged, ModelJudge, Tools, Unit
from litcascade.schemas import Frozen, JsonShape, Prompt, Reader, Refer, ReferCode, Reply


class Rubric(Frozen):
    """A scale from `low` to `high` with words for what its points mean."""

    name: str = Field(min_length=1)
    text: str = Field(min_length=1)
    low: float = 1
    high: float = 5

    @model_validator(mode="after")
    def _ends_in_order(self) -> "Rubric":
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError("low must lie below high")
        return self


@MODEL_JUDGES.register("rubric")
class RubricJudge(ModelJudge):
    """One question: a reason and a score. A score that is not on the scale is none; nothing is clamped."""

    name: ClassVar[str] = "rubric"

    def __init__(self, reader: Reader, prompt: Prompt, tools: Tools, rubric: Rubric) -> None:
        super().__init__(reader, prompt, tools)
        self.rubric = rubric

    @property
    def rests_on(self) -> list[Any]:
        """The scale too."""
        return [*super().rests_on, self.rubric.model_dump(mode="json")]

    def questions(self, unit: Unit) -> int:
        """One."""
        return 1

    def values(self, unit: Unit, number: int) -> dict[str, str]:
        """The scale, the person's items and the item."""
        scale = {"rubric": self.rubric.text.strip(), "low": f"{self.rubric.low:g}", "high": f"{self.rubric.high:g}"}
        return {**scale, **self.fenced(item=unit.item, gold=unit.gold or "(none)")}

    def shape(self, unit: Unit) -> JsonShape:
        """A short reason, then the score."""
        score = {"type": "number", "minimum": self.rubric.low, "maximum": self.rubric.high}
        schema = {
            "type": "object",
            "properties": {"reason": {"type": "string", "maxLength": 300}, "score": score},
            "required": ["reason", "score"],
            "additionalProperties": False,
        }
        return JsonShape(name="rubric", json_schema=schema)

    def read(self, unit: Unit, number: int, reply: Reply) -> Judged | Refer:
        """The score of a reply that is one JSON object and nothing else."""
        found = self.tools.read_object(reply)
        if isinstance(found, Refer):
            return found
        score = read_score(reply.text, self.rubric.low, self.rubric.high)
        if score is None:
            words = f'there must be one JSON object with a number from {self.rubric.low:g} to {self.rubric.high:g} as "score"'
            return Refer(code=ReferCode.UNPARSED, detail=words)
        reason = found.get("reason")
        return Judged(score=score, detail=reason[:300] if isinstance(reason, str) else None)

    def result(self, unit: Unit, parts: Sequence[Judged | Refer]) -> Judged | Refer:
        """The one part."""
        return parts[0]
