"""What was found for a field: the value with raw form, notes, evidence row by row, and why a person should look."""

import json
from typing import Any

from pydantic import Field, field_serializer

from litcascade.schemas.keys import Frozen
from litcascade.schemas.reading import FieldValue


class RowEvidence(Frozen):
    """The evidence of one row of a group: its quote, whether that holds, and the cells that are wrong with what was given."""

    quote: str | None = None
    quote_found: bool | None = None
    errors: dict[str, str] = Field(default_factory=dict)
    raw: dict[str, str] = Field(default_factory=dict)


class FieldFound(FieldValue):
    """One extracted field with all that stands beside its value.

    raw: the value as the report writes it (numbers), or as the model gave it where it was mapped or is wrong. notes: what the
    model remarks. evidence: the quotes of a group's rows, in their order. escalated: why a person should look at this value,
    None where nobody need. purpose: the kind of call it came from (ask, part, repair, recover).
    """

    raw: str | None = None
    notes: str | None = None
    evidence: tuple[RowEvidence, ...] = ()
    escalated: str | None = None
    purpose: str | None = None

    @field_serializer("evidence")
    def _as_json(self, rows: tuple[RowEvidence, ...]) -> str | None:
        told: list[dict[str, Any]] = [row.model_dump() for row in rows]
        return json.dumps(told, ensure_ascii=False) if rows else None
