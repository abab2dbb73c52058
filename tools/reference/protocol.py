"""docs/reference/protocol.md: every key of `review.toml` with type and default, from the models that validate it."""

import inspect
import json
import re
from datetime import date
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from litcascade.schemas import bench, protocol
from litcascade.schemas.fields import FieldSpec
from litcascade.schemas.fields.spec import Same
from reference.text import code, table

HEAD = """# Keys of the protocol

Made from the code by `python tools/make_docs.py`. What the keys mean together, with examples, stands in
[The protocol](../protocol.md). An unknown key is refused with its line and the nearest right name.
"""
TABLES: tuple[tuple[str, type[BaseModel]], ...] = (
    ("[review]", protocol.Review),
    ("[[search]]", protocol.Search),
    ("[[criteria]]", protocol.Criterion),
    ("[models.NAME]", protocol.ModelSpec),
    ("[readers.NAME]", protocol.ReaderSpec),
    ("[stages.NAME]", protocol.StageSpec),
    ("[[fields]]", FieldSpec),
    ("[fields.same]", Same),
    ("[operating_point]", protocol.OperatingPoint),
    ("[budget]", protocol.Budget),
    ("[bench]", bench.BenchSpec),
    ("[bench.splits]", bench.BenchSplits),
    ("[bench.prices]", bench.BenchPrices),
)
NAMED: dict[Any, str] = {str: "text", int: "whole number", float: "number", bool: "true or false", date: "date", Any: "any value"}
LIMITS = (
    ("ge", "from"), ("gt", "above"), ("le", "to"), ("lt", "below"), ("min_length", "length from"), ("max_length", "length to"),
)  # fmt: skip
KEYED = re.compile(r"^[a-z_]+(, [a-z_]+)*( `[a-z_]+`)?( \([a-z_ ]+\))?: ")


def page() -> str:
    """The page of keys."""
    return HEAD + f"\nTables at the top: {_top()}. Stages are {_listed(protocol.STAGES)}.\n" + "".join(map(_section, TABLES))


def _top() -> str:
    return ", ".join(
        f"`{name}`" + (" (required)" if info.is_required() else "") for name, info in protocol.Protocol.model_fields.items()
    )


def _section(named: tuple[str, type[BaseModel]]) -> str:
    name, model = named
    rows = [[code(key), kind(info.annotation, info.metadata), _default(info)] for key, info in model.model_fields.items()]
    return f"\n## {name}\n\n{_described(model)}\n\n{table(['key', 'what it takes', 'default'], rows)}"


def _described(model: type[BaseModel]) -> str:
    """The model's own words: paragraphs, and an item of a list for each line that begins with a key and a colon."""
    return "\n\n".join(_paragraph(part.splitlines()) for part in inspect.cleandoc(model.__doc__ or "").split("\n\n"))


def _paragraph(lines: list[str]) -> str:
    lead, items = "", ""
    for line in lines:
        if KEYED.match(line):
            items += f"\n- {line}"
        elif items:
            items += f" {line}"
        else:
            lead += f" {line}"
    return "\n\n".join(part for part in (lead.strip(), items.strip()) if part)


def kind(annotation: Any, metadata: Any = ()) -> str:
    """What a key takes, in words: `"wait" or "pass"`, `list of text`, `number, from 0, to 1`."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return kind(inner[0], [*inner[1:], *metadata])
    if origin in (Union, UnionType):
        return _choice([kind(part, metadata) for part in inner if part is not NoneType])
    if origin is Literal:
        return _choice([code(json.dumps(value)) for value in inner])
    limits = _limits(metadata)
    return ", ".join([_plain(annotation, origin, inner), *([limits] if limits else [])])


def _plain(annotation: Any, origin: Any, inner: tuple[Any, ...]) -> str:
    if origin is tuple and inner[-1] is Ellipsis:
        return "tables" if _is_model(inner[0]) else f"list ({kind(inner[0])})"
    if origin is tuple:
        return f"{len(inner)} values ({', '.join(kind(part) for part in inner)})"
    if origin is dict:
        return f"table ({kind(inner[1])})"
    return "table" if _is_model(annotation) else NAMED.get(annotation, "text")


def _choice(words: list[str]) -> str:
    return " or ".join(words) if len(words) < 3 else f"one of {', '.join(words)}"


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _limits(metadata: Any) -> str:
    found = [
        f"{word} {value:g}" for part in metadata for name, word in LIMITS if (value := getattr(part, name, None)) is not None
    ]
    patterns = [f"matching {code(part.pattern)}" for part in metadata if getattr(part, "pattern", None)]
    return ", ".join([*found, *patterns])


def _default(info: FieldInfo) -> str:
    if info.is_required():
        return "required"
    value = info.get_default(call_default_factory=True) if info.default is PydanticUndefined else info.default
    if value is None or value in ("", (), {}):
        return "–"
    if isinstance(value, BaseModel):
        return "its defaults"
    return code(f"{value:g}" if isinstance(value, float) else json.dumps(value))


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(map(code, names))
