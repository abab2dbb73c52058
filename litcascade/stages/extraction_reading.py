"""One field of an answer: checked against its declaration, its quotes looked up in the text, nothing mapped in silence."""

import json
from collections.abc import Mapping
from typing import Any

from litcascade.schemas.fields import RAW_LIMIT, FieldFound, FieldSpec, RowEvidence, check_cells, check_value, folded, is_nothing
from litcascade.schemas.keys import scrubbed
from litcascade.stages.grounding import Status, TextIndex

SHOWN = 300  # characters of what was given, where it is kept beside the value
QUOTE_KEPT = 2000


def verify_value(spec: FieldSpec, value: Any, quote: str | None, index: TextIndex) -> bool | None:
    """Whether the quote that a value rests on holds; None where the value needs none (nothing is reported).

    For a row of a group `spec` is the group and `value` its cells by sub-field. Whether the quote also holds the value up is said
    by `extraction_support`, once the whole answer is known.
    """
    if spec.kind != "group" and is_nothing(spec, value):
        return None
    return bool(quote and index.find(quote))


def read_field(spec: FieldSpec, found: Mapping[str, Any], index: TextIndex, purpose: str = "ask") -> FieldFound:
    """One field of the answer, checked against its declaration and its quote looked up in the text.

    What is wrong is the field's `error`, with what was given in `raw`; a wrong cell of a group is an error of that cell alone.
    """
    entry = found.get(spec.name)
    if not isinstance(entry, dict) or "value" not in entry:
        return _unusable(spec, entry, found, purpose)
    notes = _text(entry.get("notes"), SHOWN)
    given = scrubbed(entry["value"])
    if spec.kind == "group":
        return _read_rows(spec, given, index, notes, purpose)
    value, error = check_value(spec, given)
    quote = _text(entry.get("quote"), QUOTE_KEPT)
    common: dict[str, Any] = {"field": spec.name, "notes": notes, "purpose": purpose}
    if error:
        return FieldFound(**common, quote=quote, error=error, raw=_shown(given))
    raw = _raw_of(spec, entry, given, value)
    if is_nothing(spec, value):
        return FieldFound(**common, value=value, raw=raw)
    return FieldFound(**common, value=value, quote=quote, quote_found=verify_value(spec, value, quote, index), raw=raw)


def faults_of(found: FieldFound) -> int:
    """How many parts of a field are wrong: the field itself, or cells of its rows."""
    return int(bool(found.error)) + sum(len(row.errors) for row in found.evidence)


def escalated(spec: FieldSpec, found: FieldFound, damage: str | None = None) -> FieldFound:
    """The value with the reason why a person should look at it, by the field's own threshold; an earlier reason stays.

    `damage` says what is wrong with the text, where its numbers may not be used without a person's look.
    """
    return found.model_copy(update={"escalated": None if spec.escalate == "never" else _why(spec, found, damage)})


def _why(spec: FieldSpec, found: FieldFound, damage: str | None) -> str | None:
    if found.error:
        return f"invalid: {found.error}"[:SHOWN]
    wrong = [
        f"row {number}, {name}: {fault}" for number, row in enumerate(found.evidence, 1) for name, fault in row.errors.items()
    ]
    if wrong:
        return f"invalid: {'; '.join(wrong)}"[:SHOWN]
    if found.escalated:
        return found.escalated
    if found.support not in (None, Status.SUPPORTED):
        return _unheld(found)
    if found.quote_found is False:
        rows = ", ".join(str(number) for number, row in enumerate(found.evidence, 1) if row.quote_found is False)
        return "the quote does not stand in the report" + (f" (row {rows})" if rows else "")
    if damage and _has_number(spec, found.value):
        return damage
    return "every value of this field is looked at" if spec.escalate == "always" else None


def _unheld(found: FieldFound) -> str:
    """What speaks against the value, or against which rows of a group."""
    rows = [number for number, row in enumerate(found.evidence, 1) if row.support not in (None, Status.SUPPORTED)]
    where = f" (row {', '.join(map(str, rows))})" if rows else ""
    return f"{found.support}{where}: {found.because}"[:SHOWN]


def _has_number(spec: FieldSpec, value: Any) -> bool:
    if spec.kind == "group":
        numbers = [field.name for field in spec.fields if field.kind == "number"]
        return any(row.get(name) is not None for row in value or () for name in numbers)
    return spec.kind == "number" and value is not None


def _unusable(spec: FieldSpec, entry: Any, found: Mapping[str, Any], purpose: str) -> FieldFound:
    """A field that is not there, or not in the form asked for; what stands in its place is kept as it was given."""
    if entry is not None:
        shown = entry.get("quote") if isinstance(entry, dict) else entry
        error = 'must be an object with "value"' if spec.kind == "group" else 'must be an object with "quote" and "value"'
        return FieldFound(field=spec.name, error=error, raw=_shown(scrubbed(shown)), purpose=purpose)
    other = next((key for key in found if isinstance(key, str) and folded(key) == folded(spec.name)), None)
    if other is None:
        return FieldFound(field=spec.name, error="missing from the answer", purpose=purpose)
    given = found[other]
    value = given.get("value") if isinstance(given, dict) else given
    error = f"missing from the answer (it has '{other}' instead of '{spec.name}')"
    return FieldFound(field=spec.name, error=error, raw=_shown(scrubbed(value)), purpose=purpose)


def _raw_of(spec: FieldSpec, entry: Mapping[str, Any], given: Any, value: Any) -> str | None:
    """A number as the report writes it, or as the model gave it; any other value only where it was mapped."""
    if spec.kind == "number":
        return (_text(entry.get("raw"), RAW_LIMIT) or _shown(given)) if value is not None else None
    return _shown(given) if given != value else None


def _read_rows(spec: FieldSpec, given: Any, index: TextIndex, notes: str | None, purpose: str) -> FieldFound:
    common: dict[str, Any] = {"field": spec.name, "notes": notes, "purpose": purpose}
    rows = [] if given is None else given
    fault = _rows_fault(spec, rows)
    if fault:
        return FieldFound(**common, error=fault, raw=_shown(given))
    kept: list[dict[str, Any]] = []
    evidence: list[RowEvidence] = []
    seen: list[Any] = []
    for row in rows:
        if row in seen:
            continue  # a model that repeats itself word for word
        seen.append(row)
        cells, faults = check_cells(spec, row)
        quote = _text(row.get("quote"), QUOTE_KEPT)
        mapped = {
            field.name: _shown(row[field.name]) or ""
            for field in spec.fields
            if field.name in row and (field.name in faults or row[field.name] != cells[field.name])
        }
        kept.append(cells)
        found = verify_value(spec, cells, quote, index)
        evidence.append(RowEvidence(quote=quote, quote_found=found, errors=faults, raw=mapped))
    found_all = all(row.quote_found for row in evidence) if evidence else None
    return FieldFound(**common, value=kept, quote_found=found_all, evidence=tuple(evidence))


def _rows_fault(spec: FieldSpec, rows: Any) -> str | None:
    if not isinstance(rows, list):
        return f"must be a list of rows (got {str(rows)[:80]!r})"
    if len(rows) > spec.rows:
        return f"has {len(rows)} rows, more than the {spec.rows} that the schema allows"
    if spec.required and not rows:
        return "needs at least one row"
    odd = next((number for number, row in enumerate(rows, 1) if not isinstance(row, dict)), None)
    return f"row {odd} must be an object with the sub-fields" if odd else None


def _text(value: Any, limit: int) -> str | None:
    """A text with its blanks trimmed, cut at `limit`; None where there is none."""
    kept = scrubbed(value)
    return (kept.strip()[:limit] or None) if isinstance(kept, str) else None


def _shown(value: Any) -> str | None:
    if value is None:
        return None
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:SHOWN]
