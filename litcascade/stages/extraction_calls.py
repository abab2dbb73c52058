"""What each call of an extraction asks for: all fields, a part of them, or one; a repair, or a further pass."""

from collections.abc import Mapping, Sequence
from typing import Any

from litcascade.schemas import Message, Turn, say
from litcascade.schemas.fields import FieldFound, FieldSpec, is_nothing

Specs = tuple[FieldSpec, ...]
SAID = 2000  # characters of a faulty answer that are shown again


def parts_of(specs: Specs, calls: str) -> list[Specs]:
    """The fields by call: `all` in one, by their `part` (those without one together), or each alone (`field`)."""
    if calls == "field":
        return [(spec,) for spec in specs]
    if calls != "part":
        return [specs]
    found: dict[str | None, list[FieldSpec]] = {}
    for spec in specs:
        found.setdefault(spec.part, []).append(spec)
    return [tuple(part) for part in found.values()]


def asked_in(turn: Turn) -> set[str]:
    """The names of the fields that a call asked for."""
    schema: Mapping[str, Any] = getattr(turn.request.shape, "json_schema", {})
    return set(schema.get("properties", {}))


def opening(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The messages up to the first question about the report; what was said after it is left out."""
    first = next((place for place, message in enumerate(messages) if message.role == "user"), len(messages) - 1)
    return tuple(messages[: first + 1])


def narrowed(messages: Sequence[Message], words: str) -> tuple[Message, ...]:
    """The opening with these words at the end of its question: what stands before them is the same for every call."""
    head = opening(messages)
    return (*head[:-1], say("user", f"{head[-1].content.rstrip()}\n{words}"))


def only(specs: Specs) -> str:
    """The words that narrow a question to some fields."""
    return f"Answer for these fields only: {', '.join(spec.name for spec in specs)}."


def faulty_words(specs: Specs, values: Mapping[str, FieldFound]) -> str:
    """What was wrong with an answer, by field and cell, and what to answer again."""
    faults = [f"{spec.name}: {fault}" for spec in specs for fault in _faults(values[spec.name])]
    names = ", ".join(spec.name for spec in specs)
    return f"These parts could not be used: {'; '.join(faults)[:SAID]}. Answer again for {names} only."


def _faults(found: FieldFound) -> list[str]:
    cells = [
        f"row {number}, {name}: {fault}" for number, row in enumerate(found.evidence, 1) for name, fault in row.errors.items()
    ]
    return [found.error] if found.error else cells


def worth_another_pass(spec: FieldSpec, found: FieldFound) -> bool:
    """Whether a further pass could add something: nothing was reported, or a group may have more rows."""
    return not found.error and (spec.kind == "group" or is_nothing(spec, found.value))


def recovery_words(specs: Specs, values: Mapping[str, FieldFound]) -> str:
    """The question of a further pass: look once more for what was not found, and for rows that are missing."""
    blank = [spec.name for spec in specs if is_nothing(spec, values[spec.name].value)]
    told = (
        [f"An earlier reading found nothing for {', '.join(blank)}; look once more in text, tables and notes."] if blank else []
    )
    for spec in specs:
        if spec.kind == "group" and spec.name not in blank:
            rows = "; ".join(_row_key(spec, row) for row in values[spec.name].value)[:SAID]
            told.append(f"For {spec.name} an earlier reading found these rows: {rows}. Give only rows that are missing.")
    return " ".join([*told, "Where the report does not state it, say so again.", only(specs)])


def _row_key(spec: FieldSpec, row: Mapping[str, Any]) -> str:
    return " / ".join(str(row.get(field.name))[:60] for field in spec.keys[:4])
