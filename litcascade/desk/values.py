"""Extracted values as the extraction screen shows them, those that need a person first."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from litcascade.desk.marking import Span
from litcascade.pipeline.exporting_fields import flat
from litcascade.schemas import FieldSpec
from litcascade.stages.extraction_support import SEVERITY
from litcascade.store import Store

_SQL = (
    "select field, value, reader, quote, quote_start, quote_end, place, support, because, escalated, error, notes, evidence "
    "from extracted where record_id = ? order by seq"
)


@dataclass(frozen=True)
class Value:
    """One field on the extraction screen: what was extracted, how it is held up, and where it stands in the text."""

    name: str
    kind: str
    definition: str
    values: tuple[str, ...]
    given: str | None
    reader: str | None
    quote: str | None
    anchor: str | None
    place: str | None
    support: str | None
    why: str | None
    error: str | None
    notes: str | None
    urgent: bool
    cell: str
    seen: str


def values_of(store: Store, record_id: str, specs: Sequence[FieldSpec]) -> tuple[list[Value], list[Span]]:
    """The values of a record in the order of urgency, and the places of their quotes in the text of the report."""
    stored = {row[0]: row for row in store.rows(_SQL, [record_id])}
    values = [_value(spec, stored.get(spec.name)) for spec in specs]
    order = {spec.name: place for place, spec in enumerate(specs)}
    values.sort(key=lambda value: (not value.urgent, _severity(value.support), order[value.name]))
    return values, [span for name, row in stored.items() for span in _quoted(name, row)]


def _quoted(name: str, row: Sequence[Any]) -> list[Span]:
    """The places of a field's quotes in the text: its own, or those of a group's rows."""
    spans = [Span(row[4], row[5], "quote", f"q-{name}")] if row[4] is not None and row[5] is not None else []
    rows: list[Mapping[str, Any]] = json.loads(row[12]) if row[12] else []
    for shown in rows:
        start, end = shown.get("quote_start"), shown.get("quote_end")
        if isinstance(start, int) and isinstance(end, int):
            spans.append(Span(start, end, "quote", f"q-{name}"))
    return spans


def _value(spec: FieldSpec, row: Sequence[Any] | None) -> Value:
    common = (spec.name, spec.kind, spec.definition, tuple(spec.values))
    if row is None:
        return Value(*common, None, None, None, None, None, None, None, None, None, True, "", seen_of(None))
    _, value, reader, quote, _, _, place, support, because, escalated, error, notes, _ = row
    read = None if value is None else json.loads(value)
    cell = "" if read is None else str(flat(read))
    anchor = f"q-{spec.name}" if _quoted(spec.name, row) else None
    why = escalated or because
    return Value(
        *common,
        cell or None,
        reader,
        quote,
        anchor,
        place,
        support,
        why,
        error,
        notes,
        escalated is not None,
        cell,
        seen_of(value),
    )


def seen_of(value: str | None) -> str:
    """A mark of a stored value (as JSON), so that a form says which one its page showed."""
    return "none" if value is None else sha256(value.encode()).hexdigest()[:16]


def _severity(support: str | None) -> int:
    return SEVERITY.index(support) if support in SEVERITY else len(SEVERITY)
