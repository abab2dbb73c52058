"""Fields as TOML text that reads back to the same fields."""

from collections.abc import Sequence
from typing import Any

from litcascade.schemas.fields.spec import FieldSpec
from litcascade.schemas.toml_text import toml_lines


def schema_toml(specs: Sequence[FieldSpec], table: str = "fields") -> str:
    """`[[fields]]` for each field, keys that have their default left out; `parse_schema` gives the same fields back."""
    return "\n\n".join(_field(spec, table) for spec in specs) + "\n" if specs else ""


def _field(spec: FieldSpec, table: str) -> str:
    lines = [f"[[{table}]]", *toml_lines(told_keys(spec))]
    return "\n".join(lines) + "".join(f"\n\n{_field(inner, f'{table}.fields')}" for inner in spec.fields)


def told_keys(spec: FieldSpec) -> dict[str, Any]:
    """The keys of a field that differ from their default, sub-fields left out, as plain values."""
    plain = FieldSpec.model_fields
    dumped = spec.model_dump(mode="json")
    told = {
        key: value
        for key, value in dumped.items()
        if key != "fields" and value is not None and (key == "definition" or getattr(spec, key) != plain[key].default)
    }
    pairs = dict(spec.synonyms)
    if pairs and len(pairs) == len(spec.synonyms):
        told["synonyms"] = pairs
    return told
