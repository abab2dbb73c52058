"""Fields as pydantic classes, both ways: a class gives the declarations, the declarations give a class."""

import types
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt, MaxLen
from pydantic import BaseModel, Field, ValidationError, create_model
from pydantic.fields import FieldInfo

from litcascade.errors import InputError
from litcascade.schemas.fields.spec import NOT_REPORTED, FieldSpec
from litcascade.schemas.fields.values import value_type

_EXTRA: tuple[str, ...] = (
    "unit", "edge_cases", "synonyms", "same", "escalate", "part", "merge", "key", "arm", "time", "minimum", "maximum",
)  # fmt: skip


def fields_from_model(model: type[BaseModel]) -> tuple[FieldSpec, ...]:
    """The fields that a pydantic class declares.

    `Literal` or an enumeration of texts: closed (ordinal with `json_schema_extra={"kind": "ordinal"}`); a list of them: multi;
    int and float: number, with `ge` and `le` as bounds; `date`: date; str: open; a list of another class: group. A type that
    may be None is one that may be "not reported". The description is the definition; the keys `unit`, `edge_cases`, `synonyms`,
    `same`, `escalate`, `part`, `merge`, `key`, `arm`, `time` may stand in `json_schema_extra`. Anything else is an `InputError`.
    """
    return tuple(_spec(model.__name__, name, info) for name, info in model.model_fields.items())


def _spec(owner: str, name: str, info: FieldInfo) -> FieldSpec:
    inner, optional = _without_none(info.annotation)
    kind, told = _kind_of(owner, name, inner)
    extra = dict(info.json_schema_extra) if isinstance(info.json_schema_extra, dict) else {}
    unknown = next((key for key in extra if key not in (*_EXTRA, "kind")), None)
    if unknown:
        raise InputError(f"{owner}.{name}: json_schema_extra holds the unknown key '{unknown}'; use {', '.join(_EXTRA)}")
    if kind in ("multi", "group"):
        optional = optional or not _least(info)
    keys: dict[str, Any] = {"required": not optional, **told, **_bounds(kind, info), **extra}
    try:
        return FieldSpec.model_validate({"name": name, "kind": kind, "definition": info.description or "", **keys})
    except ValidationError as error:
        words = error.errors(include_url=False)[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"{owner}.{name}: {words}") from None


def _without_none(annotation: Any) -> tuple[Any, bool]:
    """The type without `None` and without `Annotated`, and whether None was there."""
    if get_origin(annotation) is Annotated:
        return _without_none(get_args(annotation)[0])
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [one for one in get_args(annotation) if one is not type(None)]
        if len(rest) == 1:
            return _without_none(rest[0])[0], len(rest) < len(get_args(annotation))
    return annotation, False


def _kind_of(owner: str, name: str, inner: Any) -> tuple[str, dict[str, Any]]:
    values = _values(inner)
    if values:
        return "closed", _closed(values)
    if inner in (int, float):
        return "number", {}
    if inner in (date, str):
        return ("date" if inner is date else "open"), {}
    if get_origin(inner) in (list, tuple):
        item, _ = _without_none(get_args(inner)[0])
        if listed := _values(item):
            return "multi", {"values": listed}
        if isinstance(item, type) and issubclass(item, BaseModel):
            return "group", {"fields": fields_from_model(item)}
    raise InputError(f"{owner}.{name}: {inner!r} is no type of a field; use Literal, int, float, date, str, or a list of them")


def _closed(values: tuple[str, ...]) -> dict[str, Any]:
    """Listed values; where "not reported" is one of three or more, it is what the field says of nothing."""
    plain = tuple(value for value in values if value != NOT_REPORTED)
    return {"values": plain, "required": False} if 2 <= len(plain) < len(values) else {"values": values}


def _values(inner: Any) -> tuple[str, ...]:
    found: tuple[Any, ...] = ()
    if get_origin(inner) is Literal:
        found = get_args(inner)
    elif isinstance(inner, type) and issubclass(inner, Enum):
        found = tuple(member.value for member in inner)
    return found if all(isinstance(value, str) for value in found) else ()


def _least(info: FieldInfo) -> int:
    return max((getattr(mark, "min_length", 0) for mark in info.metadata), default=0)


def _bounds(kind: str, info: FieldInfo) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for mark in info.metadata:
        if kind == "number" and isinstance(mark, Ge | Gt):
            found["minimum"] = mark.ge if isinstance(mark, Ge) else mark.gt
        if kind == "number" and isinstance(mark, Le | Lt):
            found["maximum"] = mark.le if isinstance(mark, Le) else mark.lt
        if kind == "group" and isinstance(mark, MaxLen):
            found["rows"] = mark.max_length
    return found


def model_from_fields(specs: tuple[FieldSpec, ...], name: str = "Extraction") -> type[BaseModel]:
    """A pydantic class whose fields hold the values of these declarations; `fields_from_model` gives them back.

    It checks as `check_value` does, but takes listed values letter by letter and dates by their form alone.
    """
    made: dict[str, Any] = {spec.name: (_annotation(spec, name), _info(spec)) for spec in specs}
    return create_model(name, __config__={"extra": "forbid"}, **made)


def _annotation(spec: FieldSpec, owner: str) -> Any:
    if spec.kind == "group":
        row = model_from_fields(spec.fields, f"{owner}_{spec.name}")
        return list[row]  # type: ignore[valid-type]  # the class was made a line above
    if spec.kind == "date":
        return value_type(spec)
    if spec.kind == "number":
        return float if spec.required else float | None
    if spec.kind in ("closed", "ordinal"):
        listed: Any = Literal[tuple(spec.choices())]
        return listed
    return value_type(spec)


def _info(spec: FieldSpec) -> Any:
    dumped = spec.model_dump(mode="json")
    extra: dict[str, Any] = {key: dumped[key] for key in _EXTRA if key in dumped and key not in ("unit", "minimum", "maximum")}
    if spec.unit:
        extra["unit"] = spec.unit
    if spec.kind in ("ordinal", "date"):
        extra["kind"] = spec.kind
    limits: dict[str, Any] = {}
    if spec.kind == "number":
        limits = {"ge": spec.minimum, "le": spec.maximum}
    if spec.kind == "group":
        limits = {"min_length": int(spec.required), "max_length": spec.rows}
    return Field(description=spec.definition, json_schema_extra=extra or None, **limits)
