"""Extraction fields: one declaration gives the JSON schema, the prompt's field guide and the check of a value."""

from typing import Annotated, Any, Literal

from pydantic import Field as PydanticField
from pydantic import TypeAdapter, ValidationError, model_validator

from litcascade.schemas.keys import Frozen

NOT_REPORTED = "not reported"
QUOTE_LIMIT = 400
TEXT_LIMIT = 300


class FieldSpec(Frozen):
    """One field of the extraction schema, as a person declares it under `[[fields]]`.

    kind: `closed` (one of `values`), `multi` (any of `values`), `number`, `open` (free text).
    A field may be "not reported" unless `required` is true.
    """

    name: Annotated[str, PydanticField(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]
    kind: Literal["closed", "multi", "number", "open"]
    definition: str
    values: tuple[str, ...] = ()
    required: bool = False
    unit: str | None = None
    minimum: float = -1e12
    maximum: float = 1e12

    @model_validator(mode="after")
    def _values_fit_the_kind(self) -> "FieldSpec":
        if self.kind in ("closed", "multi") and len(self.values) < 2:
            raise ValueError(f"field '{self.name}' is {self.kind}: give at least two values")
        if self.kind in ("number", "open") and self.values:
            raise ValueError(f"field '{self.name}' is {self.kind}: it takes no list of values")
        if len(set(self.values)) != len(self.values):
            raise ValueError(f"field '{self.name}' lists a value twice")
        return self

    def choices(self) -> list[str]:
        """The closed values, with "not reported" where that is allowed."""
        extra = [] if self.required or NOT_REPORTED in self.values else [NOT_REPORTED]
        return [*self.values, *extra]


def value_schema(spec: FieldSpec) -> dict[str, Any]:
    """The JSON schema of the field's value, bounded so that a grammar can hold it."""
    nothing: list[dict[str, Any]] = [] if spec.required else [{"type": "null"}]
    match spec.kind:
        case "closed":
            return {"enum": spec.choices()}
        case "multi":
            items: Any = {"enum": list(spec.values)}
            return {"type": "array", "items": items, "minItems": int(spec.required), "maxItems": len(spec.values)}
        case "number":
            return {"anyOf": [{"type": "number", "minimum": spec.minimum, "maximum": spec.maximum}, *nothing]}
        case "open":
            return {"anyOf": [{"type": "string", "minLength": 1, "maxLength": TEXT_LIMIT}, *nothing]}


def json_schema(specs: tuple[FieldSpec, ...]) -> dict[str, Any]:
    """The JSON schema of the whole answer: for each field the quote first, then the value it supports."""
    quote = {"type": "string", "maxLength": QUOTE_LIMIT}
    return {
        "type": "object",
        "properties": {
            spec.name: {
                "type": "object",
                "properties": {"quote": quote, "value": value_schema(spec)},
                "required": ["quote", "value"],
                "additionalProperties": False,
            }
            for spec in specs
        },
        "required": [spec.name for spec in specs],
        "additionalProperties": False,
    }


def value_type(spec: FieldSpec) -> Any:
    """The Python type a value of this field must have; strict, so that "12" is no number and 1 is no text."""
    kept: Any
    match spec.kind:
        case "closed":
            return Literal[tuple(spec.choices())]
        case "multi":
            low = int(spec.required)
            item: Any = Literal[tuple(spec.values)]
            return Annotated[list[item], PydanticField(min_length=low, max_length=len(spec.values))]
        case "number":
            kept = Annotated[float, PydanticField(ge=spec.minimum, le=spec.maximum, allow_inf_nan=False, strict=True)]
        case "open":
            kept = Annotated[str, PydanticField(min_length=1, max_length=TEXT_LIMIT, strict=True)]
    return kept if spec.required else kept | None


def check_value(spec: FieldSpec, value: Any) -> tuple[Any, str | None]:
    """Return (value, None) where `value` is right for the field, else (None, what is wrong in one sentence).

    Closed values are compared letter by letter; a multi-label list loses its repeats and keeps its order.
    """
    try:
        right = TypeAdapter(value_type(spec)).validate_python(value)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        allowed = f"; allowed: {', '.join(spec.choices())}" if spec.kind in ("closed", "multi") else ""
        return None, f"{first['msg']} (got {str(value)[:80]!r}){allowed}"
    if spec.kind == "multi":
        return list(dict.fromkeys(right)), None
    return (value if spec.kind == "number" else right), None


def is_nothing(spec: FieldSpec, value: Any) -> bool:
    """Whether the value says that the report does not state it (so that no quote is needed)."""
    return value is None or value == NOT_REPORTED or (spec.kind == "multi" and value == [])


def guide(specs: tuple[FieldSpec, ...]) -> str:
    """The field guide for the prompt: one line a field, with definition and allowed values."""
    lines = []
    for spec in specs:
        allowed = {
            "closed": f"exactly one of: {', '.join(spec.choices())}",
            "multi": f"a list of any of: {', '.join(spec.values)} (empty list if none is reported)",
            "number": f"a number{f' in {spec.unit}' if spec.unit else ''}{'' if spec.required else ', or null if not reported'}",
            "open": f"a short phrase{'' if spec.required else ', or null if not reported'}",
        }[spec.kind]
        lines.append(f"- {spec.name}: {spec.definition.strip()} Value: {allowed}.")
    return "\n".join(lines)
