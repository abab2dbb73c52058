"""Items to harmonise: a piece of extracted free text with the record and the quote it came with; equal ones are one unit."""

from typing import Literal

from litcascade.schemas import Frozen, digest
from litcascade.stages.quote import fold

Step = Literal["map", "compare"]


def folded(text: str) -> str:
    """The text as items and labels are compared: case, blanks, dashes, hyphens and marks around it folded, nothing else."""
    return fold(text).strip(" .,;:\"'…") or text.strip()


class Item(Frozen):
    """One piece of free text of one record, as it was extracted.

    `field` is `field`, or `field.subfield` of a group; `row` is the group's row from 1. `nth` counts equal texts of one record.
    """

    record_id: str
    field: str
    text: str
    row: int | None = None
    nth: int = 0
    reader: str | None = None
    quote: str | None = None
    quote_found: bool | None = None

    @property
    def item_id(self) -> str:
        """16 hexadecimal digits of where the text stands and what it says."""
        return digest([self.record_id, self.field, self.row, self.nth, self.text])[:16]

    def unit_id(self, step: Step) -> str:
        """24 hexadecimal digits of the question that a model is asked about it.

        Items of one field that are equal after folding are one question; in comparisons the quote belongs to the question too.
        """
        return digest([step, self.field, folded(self.text), (self.quote or "") if step == "compare" else ""])[:24]
