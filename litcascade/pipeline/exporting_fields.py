"""Extracted values as tables: long (a row a value or cell), wide (a row a record), and the rows of groups for meta-analysis."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from litcascade.corpora.writers import Written
from litcascade.errors import InputError
from litcascade.pipeline.field_tables import FieldTable, write_tables
from litcascade.pipeline.review import Review
from litcascade.schemas import FieldSpec
from litcascade.stages.extraction_support import SEVERITY
from litcascade.stages.grounding import Status
from litcascade.store import Store

LONG = (
    "record_id", "reader", "field", "value", "quote", "quote_found", "error", "support", "because", "place", "row", "subfield",
    "kind", "unit", "raw", "notes", "escalated", "title",
)  # fmt: skip
_SELECT = (
    "select e.record_id, e.reader, e.field, e.value, e.quote, e.quote_found, e.error, e.raw, e.notes, e.evidence, e.escalated, "
    "r.title, e.support, e.because, e.place, e.near "
    "from extracted e left join records r on r.record_id = e.record_id order by e.record_id, e.field, e.reader, e.seq"
)


@dataclass(frozen=True)
class Stored:
    """One stored value of one field of one record by one reader."""

    record_id: str
    reader: str
    name: str
    value: Any
    quote: str | None
    quote_found: bool | None
    error: str | None
    raw: str | None
    notes: str | None
    evidence: Sequence[Mapping[str, Any]] = field(default_factory=list)
    escalated: str | None = None
    title: str | None = None
    support: str | None = None
    because: str | None = None
    place: str | None = None
    near: str | None = None


def stored_values(store: Store) -> list[Stored]:
    """Every value that stands, by record, field and reader."""
    return [
        Stored(
            record_id=row[0], reader=row[1], name=row[2], value=json.loads(row[3]) if row[3] is not None else None,
            quote=row[4], quote_found=row[5], error=row[6], raw=row[7], notes=row[8],
            evidence=json.loads(row[9]) if row[9] else [], escalated=row[10], title=row[11],
            support=row[12], because=row[13], place=row[14], near=row[15],
        )
        for row in store.rows(_SELECT)
    ]  # fmt: skip


def export_long(review: Review, store: Store, path: Path) -> Written:
    """Every extracted value with its quote, one row a record, reader and field; groups one row a cell."""
    specs = {spec.name: spec for spec in review.protocol.fields}
    rows = [row for one in stored_values(store) for row in long_rows(one, specs.get(one.name))]
    return write_tables(path, [FieldTable("extractions", LONG, rows)])


def long_rows(one: Stored, spec: FieldSpec | None) -> Iterator[dict[str, Any]]:
    """The rows of one value; a group without rows, or one that is an error, is a row of its own."""
    common = {"record_id": one.record_id, "reader": one.reader, "field": one.name, "notes": one.notes, "title": one.title}
    common |= {"kind": spec.kind if spec else None, "escalated": one.escalated}
    if spec is None or spec.kind != "group" or not one.value:
        told = {"value": flat(one.value), "quote": _quotes(one) or one.quote, "quote_found": one.quote_found}
        told |= {"error": one.error, "raw": one.raw}
        held = {"support": one.support, "because": one.because, "place": _places(one) or one.place}
        yield {**common, **told, **held, "unit": spec.unit if spec else None}
        return
    for number, (cells, shown) in enumerate(zip(one.value, _evidence(one), strict=True), start=1):
        for part in spec.fields:
            yield {
                **common, "row": number, "subfield": part.name, "kind": part.kind, "unit": part.unit,
                "value": flat(cells.get(part.name)), "quote": shown.get("quote"), "quote_found": shown.get("quote_found"),
                "error": shown.get("errors", {}).get(part.name), "raw": shown.get("raw", {}).get(part.name),
                "place": shown.get("place"), **_cell_support(cells.get(part.name), shown, part.name),
            }  # fmt: skip


def _cell_support(value: Any, shown: Mapping[str, Any], name: str) -> dict[str, str | None]:
    """What the row's quote is worth for one cell; nothing where there is no value, or none was held against a quote."""
    if value is None or shown.get("support") is None:
        return {"support": None, "because": None}
    status, _, because = shown.get("doubts", {}).get(name, "supported").partition(": ")
    return {"support": status, "because": because or None}


def export_wide(review: Review, store: Store, path: Path) -> Written:
    """One row a record and reader, a column a field with its quote beside it; a workbook has each group on a sheet of its own."""
    values = stored_values(store)
    plain = [spec for spec in review.protocol.fields if spec.kind != "group"]
    groups = [spec for spec in review.protocol.fields if spec.kind == "group"]
    tables = [_wide(values, plain, groups)]
    if path.name.removesuffix(".part").lower().endswith(".xlsx"):
        tables += [group_table(values, [spec], prefixed=False) for spec in groups]
    return write_tables(path, tables)


def _wide(values: Sequence[Stored], plain: Sequence[FieldSpec], groups: Sequence[FieldSpec]) -> FieldTable:
    header = ["record_id", "title", "reader"]
    for spec in plain:
        header += [spec.name, f"{spec.name}.raw"] if spec.kind == "number" else [spec.name]
        header += [f"{spec.name}.{what}" for what in ("quote", "quote_found", "support", "place", "error")]
    header += [f"{spec.name}.{what}" for spec in groups for what in ("rows", "error")]
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    names, counted = {spec.name for spec in plain}, {spec.name for spec in groups}
    for one in values:
        row = rows.setdefault((one.record_id, one.reader), {"record_id": one.record_id, "title": one.title, "reader": one.reader})
        if one.name in names:
            row |= {one.name: flat(one.value), f"{one.name}.raw": one.raw, f"{one.name}.quote": one.quote}
            row |= {f"{one.name}.quote_found": one.quote_found, f"{one.name}.support": one.support}
            row |= {f"{one.name}.place": one.place, f"{one.name}.error": one.error}
        elif one.name in counted:
            row |= {f"{one.name}.rows": None if one.error else len(one.value or []), f"{one.name}.error": one.error}
    numbers = [spec.name for spec in plain if spec.kind == "number"]
    return FieldTable("extractions", header, list(rows.values()), numbers=frozenset(numbers))


def export_group_rows(review: Review, store: Store, path: Path) -> Written:
    """The rows of the groups, one a line with a column a sub-field, for meta-analysis tools; in a workbook a sheet a group."""
    groups = [spec for spec in review.protocol.fields if spec.kind == "group"]
    if not groups:
        raise InputError(f'{path.name}: no field of this review has kind = "group"; export extractions or extractions_wide')
    values = stored_values(store)
    if path.name.removesuffix(".part").lower().endswith(".xlsx"):
        return write_tables(path, [group_table(values, [spec], prefixed=False) for spec in groups])
    return write_tables(path, [group_table(values, groups, prefixed=len(groups) > 1)])


def group_table(values: Sequence[Stored], groups: Sequence[FieldSpec], *, prefixed: bool) -> FieldTable:
    """One line a row of a group; with several groups in one table the columns are named `group.subfield`."""
    columns = {(spec.name, part.name): _column(spec, part, prefixed) for spec in groups for part in spec.fields}
    header = [
        "record_id",
        "title",
        "reader",
        "group",
        "row",
        *columns.values(),
        "quote",
        "quote_found",
        "support",
        "doubts",
        "place",
        "errors",
    ]
    by_name = {spec.name: spec for spec in groups}
    rows = []
    for one in values:
        spec = by_name.get(one.name)
        if spec is None or not one.value:
            continue
        for number, (cells, shown) in enumerate(zip(one.value, _evidence(one), strict=True), start=1):
            common = {"record_id": one.record_id, "title": one.title, "reader": one.reader, "group": spec.name, "row": number}
            told = {columns[spec.name, part.name]: flat(cells.get(part.name)) for part in spec.fields}
            errors = "; ".join(f"{name}: {fault}" for name, fault in shown.get("errors", {}).items()) or None
            doubts = "; ".join(f"{name}: {doubt}" for name, doubt in shown.get("doubts", {}).items()) or None
            held = {name: shown.get(name) for name in ("quote", "quote_found", "support", "place")}
            rows.append({**common, **told, **held, "doubts": doubts, "errors": errors})
    numbers = {columns[spec.name, part.name] for spec in groups for part in spec.fields if part.kind == "number"}
    return FieldTable(groups[0].name if len(groups) == 1 else "groups", header, rows, numbers=frozenset(numbers))


def export_to_check(_: Review, store: Store, path: Path) -> Written:
    """The values that a person should look at, with the reason, the least supported first; a group is one line, its rows as JSON.

    What was extracted stands under `given`: no line counts as decided before a person writes a column `value`.
    """
    header = ["record_id", "field", "given", "escalated", "quote", "near", "place", "notes", "raw", "reader", "title"]
    rows = [
        {
            "record_id": one.record_id, "field": one.name, "escalated": one.escalated, "notes": one.notes, "raw": one.raw,
            "reader": one.reader, "title": one.title, "quote": _quotes(one) or one.quote,
            "given": flat(one.value), "near": _nears(one) or one.near, "place": _places(one) or one.place,
        }
        for one in sorted(stored_values(store), key=_urgency)
        if one.escalated
    ]  # fmt: skip
    return write_tables(path, [FieldTable("to check", header, rows)])


def flat(value: Any) -> Any:
    """A value as one cell: lists of labels parted by `|`, rows as JSON, anything else as it is."""
    if _is_rows(value):
        return json.dumps(value, ensure_ascii=False)
    return "|".join(map(str, value)) if isinstance(value, list) else value


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and any(isinstance(item, dict) for item in value)


def _quotes(one: Stored) -> str | None:
    return " | ".join(shown["quote"] for shown in one.evidence if shown.get("quote")) or None


def _nears(one: Stored) -> str | None:
    return " | ".join(shown["near"] for shown in one.evidence if shown.get("near")) or None


def _places(one: Stored) -> str | None:
    return " | ".join(dict.fromkeys(shown["place"] for shown in one.evidence if shown.get("place"))) or None


def _urgency(one: Stored) -> int:
    """Values that their quotes speak against first, then invalid ones, then what cannot be told, then the rest."""
    doubtful = SEVERITY.index(Status.NO_VALUE)
    place = SEVERITY.index(one.support) if one.support else len(SEVERITY)
    return doubtful if one.error and place > doubtful else place


def _evidence(one: Stored) -> Sequence[Mapping[str, Any]]:
    """The evidence of the rows; a person's rows have none."""
    return one.evidence if len(one.evidence) == len(one.value) else [{} for _ in one.value]


def _column(spec: FieldSpec, part: FieldSpec, prefixed: bool) -> str:
    own = {"record_id", "title", "reader", "group", "row", "quote", "quote_found", "support", "doubts", "place", "errors"}
    return f"{spec.name}.{part.name}" if prefixed or part.name in own else part.name
