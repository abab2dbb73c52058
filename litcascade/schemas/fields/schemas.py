"""Extraction schemas as files of their own: `[[fields]]` in TOML, shipped or written by a person."""

import tomllib
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from litcascade.errors import InputError
from litcascade.registry import nearest
from litcascade.schemas.fields.spec import FieldSpec
from litcascade.schemas.keys import digest

_ADAPTER = TypeAdapter(tuple[FieldSpec, ...])


def example_schemas() -> list[str]:
    """The names of the schemas that come with the program."""
    return sorted(item.name.removesuffix(".toml") for item in _shipped().iterdir() if item.name.endswith(".toml"))


def load_schema(name: str | Path) -> tuple[FieldSpec, ...]:
    """The fields of a shipped schema by its name, or of a TOML file; what cannot be read is an `InputError`."""
    if isinstance(name, str) and not name.endswith(".toml"):
        if name not in example_schemas():
            raise InputError(f"there is no shipped schema '{name}'{nearest(name, example_schemas())}")
        return parse_schema((_shipped() / f"{name}.toml").read_text(encoding="utf-8"), f"{name}.toml")
    path = Path(name)
    try:
        return parse_schema(path.read_text(encoding="utf-8"), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: the schema cannot be read ({type(error).__name__}); name a TOML file in UTF-8") from None


def parse_schema(text: str, source: str = "schema.toml") -> tuple[FieldSpec, ...]:
    """The `[[fields]]` of a TOML text; tables beside them are left alone. A fault is an `InputError` of one sentence."""
    try:
        content = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source}: not valid TOML: {error}") from None
    if not content.get("fields"):
        raise InputError(f"{source}: there are no fields; add at least one [[fields]] with name, kind and definition")
    try:
        specs = _ADAPTER.validate_python(content["fields"])
    except ValidationError as error:
        raise InputError(f"{source}: {_explain(error)}") from None
    require_names(specs, source)
    return specs


def require_names(specs: tuple[FieldSpec, ...], source: str) -> None:
    """Refuse two fields of one name, and a plain field that names the arm or time point of a row."""
    names = [spec.name for spec in specs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise InputError(f"{source}: two fields are called '{twice}'; rename one")
    stray = next((spec.name for spec in specs if spec.arm or spec.time), None)
    if stray:
        raise InputError(f"{source}: field '{stray}' is no sub-field of a group; take out its arm and time")


def schema_hash(specs: tuple[FieldSpec, ...]) -> str:
    """32 hexadecimal digits of a schema, whatever the order of its fields."""
    return digest([spec.model_dump(mode="json") for spec in sorted(specs, key=lambda spec: spec.name)])


def _explain(error: ValidationError) -> str:
    faults = error.errors(include_url=False)
    first = next((fault for fault in faults if fault["type"] == "extra_forbidden"), faults[0])
    place = ", ".join(f"field {part + 1}" if isinstance(part, int) else str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        return f"{place}: unknown key{nearest(str(first['loc'][-1]), list(FieldSpec.model_fields))}"
    return f"{place}: {first['msg'].removeprefix('Value error, ')}".removeprefix(": ")


def _shipped() -> Traversable:
    return resources.files("litcascade.schemas") / "examples"
