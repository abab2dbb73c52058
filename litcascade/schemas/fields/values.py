"""Is a value right for its field? Strict in type, lenient in dress: case, blanks and listed synonyms are mapped, nothing else."""

import re
from collections.abc import Mapping
from datetime import date
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter, ValidationError

from litcascade.schemas.fields.spec import LISTED, NOT_REPORTED, TEXT_LIMIT, FieldSpec, folded

DATE = r"^[0-9]{4}(-[0-9]{2}(-[0-9]{2})?)?$"


def value_type(spec: FieldSpec) -> Any:
    """The Python type a value of this field must have; strict, so that "12" is no number and 1 is no text.

    For a group that is a list of mappings, whose cells `check_value` looks at one by one.
    """
    kept: Any
    match spec.kind:
        case "closed" | "ordinal":
            return Literal[tuple(spec.choices())]
        case "multi":
            item: Any = Literal[tuple(spec.values)]
            return Annotated[list[item], Field(min_length=int(spec.required), max_length=len(spec.values))]
        case "number":
            kept = Annotated[float, Field(ge=spec.minimum, le=spec.maximum, allow_inf_nan=False, strict=True)]
        case "date":
            kept = Annotated[str, Field(pattern=DATE, max_length=10, strict=True)]
        case "open":
            kept = Annotated[str, Field(min_length=1, max_length=TEXT_LIMIT, strict=True)]
        case "group":
            return Annotated[list[dict[str, Any]], Field(min_length=int(spec.required), max_length=spec.rows)]
    return kept if spec.required else kept | None


def check_value(spec: FieldSpec, value: Any) -> tuple[Any, str | None]:
    """Return (value, None) where `value` is right for the field, else (None, what is wrong in one sentence).

    Listed values are taken in any case and with any blanks, and by their synonyms; a multi-label list loses its repeats and
    keeps its order. Rows of a group get all their sub-fields, those not given as not reported.
    """
    if spec.kind == "group":
        return _check_rows(spec, value)
    try:
        right = _adapter(spec).validate_python(mapped(spec, value))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        allowed = f"; allowed: {', '.join(spec.choices())}" if spec.kind in LISTED else ""
        return None, f"{first['msg']} (got {str(value)[:80]!r}){allowed}".replace("\n", " ")
    if spec.kind == "multi":
        return list(dict.fromkeys(right)), None
    if spec.kind == "date" and right is not None and not is_date(right):
        return None, f"there is no such day or month (got {right!r})"
    return (value if spec.kind == "number" else right), None


@lru_cache(maxsize=512)
def _adapter(spec: FieldSpec) -> TypeAdapter[Any]:
    return TypeAdapter(value_type(spec))


def mapped(spec: FieldSpec, value: Any) -> Any:
    """The value with case, blanks and listed synonyms folded to the declared values; what is not listed stays as it is."""
    if spec.kind == "multi" and isinstance(value, list):
        return [_listed(spec, item) for item in value]
    return _listed(spec, value) if spec.kind in ("closed", "ordinal") else value


def _listed(spec: FieldSpec, word: Any) -> Any:
    known = spec.values if spec.kind == "multi" else spec.choices()
    if not isinstance(word, str) or word in known:
        return word
    alike = [value for value in known if folded(value) == folded(word)]
    alike += [value for synonym, value in spec.synonyms if folded(synonym) == folded(word) and value in known]
    return alike[0] if len(set(alike)) == 1 else word


def is_date(text: str) -> bool:
    """Whether `text` is a year, year-month or year-month-day of the calendar."""
    if not re.match(DATE, text):
        return False
    year, month, day = ([*map(int, text.split("-")), 1, 1])[:3]
    try:
        date(year, month, day)
    except ValueError:
        return False
    return True


def check_cells(spec: FieldSpec, row: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """(The cells of one row of a group, by sub-field; what is wrong, by sub-field). A wrong cell is None in the first.

    A sub-field that is not there counts as not reported where it need not be; what is no sub-field is a fault under its own
    name (`quote` and `notes` apart).
    """
    if not isinstance(row, Mapping):
        return {}, {field.name: f"the row must be an object (got {str(row)[:80]!r})" for field in spec.fields}
    cells: dict[str, Any] = {}
    faults: dict[str, str] = {}
    for field in spec.fields:
        if field.name not in row and field.required:
            cells[field.name], faults[field.name] = None, "missing from the row"
            continue
        cells[field.name], fault = check_value(field, row[field.name] if field.name in row else nothing_of(field))
        if fault:
            faults[field.name] = fault
    known = {field.name for field in spec.fields} | {"quote", "notes"}
    faults.update({str(name): "is no sub-field of this group" for name in row if name not in known})
    return cells, faults


def _check_rows(spec: FieldSpec, value: Any) -> tuple[Any, str | None]:
    if value is None and not spec.required:
        return [], None
    try:
        rows = _adapter(spec).validate_python(value)
    except ValidationError as error:
        return None, f"{error.errors(include_url=False)[0]['msg']} (got {str(value)[:80]!r})".replace("\n", " ")
    kept = []
    for number, row in enumerate(rows, start=1):
        cells, faults = check_cells(spec, row)
        if faults:
            name, fault = next(iter(faults.items()))
            return None, f"row {number}, {name}: {fault}"
        kept.append(cells)
    return kept, None


def nothing_of(spec: FieldSpec) -> Any:
    """How a field says that nothing is reported: "not reported", an empty list, or null."""
    if spec.kind in ("closed", "ordinal"):
        return NOT_REPORTED
    return [] if spec.kind in ("multi", "group") else None


def is_nothing(spec: FieldSpec, value: Any) -> bool:
    """Whether the value says that the report does not state it (so that no quote is needed)."""
    return value is None or value == NOT_REPORTED or (spec.kind in ("multi", "group") and value == [])
