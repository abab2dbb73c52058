"""Whether an item that matches nothing of a person's is stated in the report all the same, with the words that state it."""

from collections.abc import Sequence
from typing import Any, ClassVar

from litcascade.judges.base import MODEL_JUDGES, WORDS, Judged, ModelJudge, Unit
from litcascade.schemas import JsonShape, Refer, ReferCode, Reply

QUOTE = 400
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"quote": {"type": "string", "maxLength": QUOTE}, "stated": {"enum": ["yes", "no"]}},
    "required": ["quote", "stated"],
    "additionalProperties": False,
}


@MODEL_JUDGES.register("support")
class Support(ModelJudge):
    """One question a window of the report, until one says yes. A yes counts only with a quote that stands in that window.

    No needs a no from every window: where one failed and none said yes, the item is unjudged.
    """

    name: ClassVar[str] = "support"
    needs_text: ClassVar[bool] = True

    def questions(self, unit: Unit) -> int:
        """One a window."""
        return len(unit.windows)

    def values(self, unit: Unit, number: int) -> dict[str, str]:
        """The item and the window."""
        return self.fenced(item=unit.item, report=unit.windows[number])

    def shape(self, unit: Unit) -> JsonShape:
        """Quote first, then yes or no."""
        return JsonShape(name="support", json_schema=_SCHEMA)

    def read(self, unit: Unit, number: int, reply: Reply) -> Judged | Refer:
        """Yes with a quote of this window, or no."""
        found = self.tools.read_object(reply)
        if isinstance(found, Refer):
            return found
        stated, quote = found.get("stated"), found.get("quote")
        word = WORDS.get(stated.strip().casefold()) if isinstance(stated, str) else None
        if word == "unclear":
            return Refer(code=ReferCode.UNCLEAR, detail=str(stated)[:200])
        if word is None:
            return Refer(code=ReferCode.UNPARSED, detail='"stated" must be yes or no')
        if word == "exclude":
            return Judged(verdict=False)
        if not isinstance(quote, str) or not self.tools.quoted(quote, unit.windows[number]):
            return Refer(code=ReferCode.CONFLICT, detail="it says yes, but its quote does not stand in the text")
        return Judged(verdict=True, quote=quote.strip())

    def settled(self, parts: Sequence[Judged | Refer]) -> bool:
        """One yes is enough."""
        last = parts[-1]
        return isinstance(last, Judged) and last.verdict is True

    def result(self, unit: Unit, parts: Sequence[Judged | Refer]) -> Judged | Refer:
        """Yes from any window; no from all."""
        if not parts:
            return Refer(code=ReferCode.NO_TEXT, detail="there is no text to look in")
        if self.settled(parts):
            return parts[-1]
        failed = [part for part in parts if isinstance(part, Refer)]
        if failed:
            words = f"{len(failed)} of {len(parts)} part(s) of the report failed: {failed[0].detail}"
            return failed[0].model_copy(update={"detail": words[:300]})
        return Judged(verdict=False)
