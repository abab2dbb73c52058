"""What was found for a field: the value with raw form, notes, evidence row by row, and why a person should look."""

import json
from typing import Any

from pydantic import Field, field_serializer

from litcascade.schemas.keys import Frozen
from litcascade.schemas.reading import FieldValue


class Supported(Frozen):
    """What the quote is worth for its value, and where it stands.

    support: a status of `stages.grounding` ("supported", or what speaks against it), None where no quote is needed. because: that
    in words. quote_start, quote_end: characters of the document's text; place: part, heading and page. near: the stretch of the
    text most like a quote that does not stand there, with what differs, for people's eyes alone.
    """

    support: str | None = None
    because: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None
    place: str | None = None
    near: str | None = None


class RowEvidence(Supported):
    """The evidence of one row of a group.

    Its quote and whether that stands in the text; the cells that are wrong (`errors`) with what was given (`raw`); the cells that
    the quote does not hold up (`doubts`, status and words); further quotes of a row that several windows gave (`others`).
    `support` is the worst of its cells'.
    """

    quote: str | None = None
    quote_found: bool | None = None
    errors: dict[str, str] = Field(default_factory=dict)
    raw: dict[str, str] = Field(default_factory=dict)
    doubts: dict[str, str] = Field(default_factory=dict)
    others: tuple[str, ...] = ()


class FieldFound(FieldValue, Supported):
    """One extracted field with all that stands beside its value.

    raw: the value as the report writes it (numbers), or as the model gave it where it was mapped or is wrong. notes: what the
    model remarks. evidence: the quotes of a group's rows, in their order, or of the windows that
    a list of labels comes from. escalated: why a person should look at this value,
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
