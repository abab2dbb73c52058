"""The JSON schema of an answer: evidence first, then notes, then the value; bounded so that a grammar can hold it."""

from collections.abc import Sequence
from typing import Any

from litcascade.schemas.fields.spec import NOTES_LIMIT, QUOTE_LIMIT, RAW_LIMIT, TEXT_LIMIT, FieldSpec
from litcascade.schemas.fields.values import DATE

Schema = dict[str, Any]
TOKENS_PER_FIELD = 160
_ROW_TOKENS, _CELL_TOKENS, _MOST_TOKENS = 40, 14, 2400


def value_schema(spec: FieldSpec) -> Schema:
    """The JSON schema of the field's value, bounded so that a grammar can hold it. For a group: of its list of rows."""
    nothing: list[Schema] = [] if spec.required else [{"type": "null"}]
    match spec.kind:
        case "closed" | "ordinal":
            return {"enum": spec.choices()}
        case "multi":
            items: Any = {"enum": list(spec.values)}
            return {"type": "array", "items": items, "minItems": int(spec.required), "maxItems": len(spec.values)}
        case "number":
            return {"anyOf": [{"type": "number", "minimum": spec.minimum, "maximum": spec.maximum}, *nothing]}
        case "date":
            return {"anyOf": [{"type": "string", "pattern": DATE, "minLength": 4, "maxLength": 10}, *nothing]}
        case "open":
            return {"anyOf": [{"type": "string", "minLength": 1, "maxLength": TEXT_LIMIT}, *nothing]}
        case "group":
            cells = {field.name: value_schema(field) for field in spec.fields}
            row = _object({"quote": _text(QUOTE_LIMIT), **cells})
            return {"type": "array", "items": row, "minItems": int(spec.required), "maxItems": spec.rows}


def json_schema(specs: Sequence[FieldSpec]) -> Schema:
    """The JSON schema of the whole answer: for each field the quote first, then notes, then the value it supports.

    A number is also given as the report writes it (`raw`); a group has its quotes row by row.
    """
    return _object({spec.name: _entry(spec) for spec in specs})


def _entry(spec: FieldSpec) -> Schema:
    if spec.kind == "group":
        return _object({"notes": _text(NOTES_LIMIT), "value": value_schema(spec)})
    raw = {"raw": _text(RAW_LIMIT)} if spec.kind == "number" else {}
    return _object({"quote": _text(QUOTE_LIMIT), "notes": _text(NOTES_LIMIT), **raw, "value": value_schema(spec)})


def _text(limit: int) -> Schema:
    return {"type": "string", "maxLength": limit}


def _object(properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def answer_tokens(specs: Sequence[FieldSpec]) -> int:
    """About how many tokens an answer may take; a group counts by its rows, up to a limit."""
    rows = [
        min(_MOST_TOKENS, TOKENS_PER_FIELD + spec.rows * (_ROW_TOKENS + _CELL_TOKENS * len(spec.fields)))
        if spec.kind == "group"
        else TOKENS_PER_FIELD
        for spec in specs
    ]
    return sum(rows)
