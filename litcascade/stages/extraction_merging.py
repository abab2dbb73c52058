"""One value from several: the windows of a long report by the field's declared rule, and what a further pass adds."""

from collections.abc import Callable, Sequence
from typing import Any

from litcascade.schemas.fields import FieldFound, FieldSpec, RowEvidence, Supported, is_nothing, same_value
from litcascade.stages.extraction_reading import escalated
from litcascade.stages.extraction_support import worst
from litcascade.stages.grounding import Status

_DIFFER = "the parts of the report give different values"
_EVIDENCE = ("quote", "quote_found", *Supported.model_fields)
Merger = Callable[[FieldSpec, Sequence[FieldFound]], FieldFound]


def merge_values(spec: FieldSpec, values: Sequence[FieldFound]) -> FieldFound:
    """One field over windows, by the field's `merge`; see `_contenders` for the values that are looked at.

    Nothing found anywhere stays nothing; where a window could not be read for this field and none gave a value, the field is
    that error, and where others gave one, a person is told.
    """
    given = [value for value in values if not value.error and not is_nothing(spec, value.value)]
    told = _contenders(spec, given)
    failed = [value for value in values if value.error]
    if not told:
        return escalated(spec, failed[0] if failed else values[0])
    made = _RULES[spec.merging](spec, told)
    if failed and not made.error:
        made = made.model_copy(update={"escalated": f"a part of the report could not be read for this field: {failed[0].error}"})
    return escalated(spec, made)


def _contenders(spec: FieldSpec, given: Sequence[FieldFound]) -> list[FieldFound]:
    """The values that the rule looks at: all for a union; for a conflict all with a quote in the text, so that none of them is
    passed over in silence; else those with the best evidence there is."""
    if spec.merging == "union":
        return list(given)
    if spec.merging == "conflict":
        return [value for value in given if value.quote_found] or list(given)
    most = max(map(_held, given), default=0)
    return [value for value in given if _held(value) == most]


def _held(value: FieldFound) -> int:
    """2 where the quote holds the value up, 1 where it only stands in the text, 0 where it does not."""
    return 2 if value.support == Status.SUPPORTED else int(bool(value.quote_found))


def _first(_: FieldSpec, told: Sequence[FieldFound]) -> FieldFound:
    return told[0]


def _conflict(spec: FieldSpec, told: Sequence[FieldFound]) -> FieldFound:
    if all(same_value(spec, told[0].value, value.value) for value in told[1:]):
        return max(told, key=_held)
    shown = "; ".join(str(value.value)[:60] for value in told[:4])
    error = f"{_DIFFER}: {shown}"
    return FieldFound(field=spec.name, quote=told[0].quote, error=error, raw=shown, purpose=told[0].purpose)


def _most_frequent(spec: FieldSpec, told: Sequence[FieldFound]) -> FieldFound:
    times = [sum(same_value(spec, one.value, other.value) for other in told) for one in told]
    best = [value for value, count in zip(told, times, strict=True) if count == max(times)]
    return _conflict(spec, best)


def _union(spec: FieldSpec, told: Sequence[FieldFound]) -> FieldFound:
    reason = next((value.escalated for value in told if value.escalated and value.support in (None, Status.SUPPORTED)), None)
    if spec.kind == "group":
        return union_rows(spec, told).model_copy(update={"escalated": reason})  # what their quotes say is told anew, by row
    joined = list(dict.fromkeys(item for value in told for item in value.value))
    gravest = worst(value.support for value in told)
    because = next((value.because for value in told if value.support == gravest), None)
    kept: dict[str, Any] = {
        "value": joined,
        "quote_found": all(value.quote_found for value in told),
        "escalated": reason,
        "support": gravest,
        "because": because,
    }
    if len(told) > 1:  # each window's labels rest on its own quote
        kept["evidence"] = tuple(RowEvidence(**{name: getattr(value, name) for name in _EVIDENCE}) for value in told)
    return told[0].model_copy(update=kept)


_RULES: dict[str, Merger] = {"first": _first, "conflict": _conflict, "most_frequent": _most_frequent, "union": _union}


def union_rows(spec: FieldSpec, told: Sequence[FieldFound]) -> FieldFound:
    """The rows of all, those with the same key joined cell by cell; two different cells are an error of that cell."""
    rows: list[dict[str, Any]] = []
    evidence: list[RowEvidence] = []
    for value in told:
        for row, shown in zip(value.value, value.evidence, strict=True):
            place = next((n for n, kept in enumerate(rows) if _same_key(spec, kept, row, evidence[n], shown)), None)
            if place is None:
                rows.append(dict(row))
                evidence.append(shown)
            else:
                rows[place], evidence[place] = _join(spec, rows[place], row, evidence[place], shown)
    found_all = all(row.quote_found for row in evidence) if evidence else None
    gravest = worst(row.support for row in evidence)
    because = next((row.because for row in evidence if row.support == gravest), None)
    kept = {"value": rows, "evidence": tuple(evidence), "quote_found": found_all, "support": gravest, "because": because}
    return told[0].model_copy(update=kept)


def _same_key(spec: FieldSpec, one: dict[str, Any], other: dict[str, Any], mine: RowEvidence, theirs: RowEvidence) -> bool:
    """Whether two rows are about the same thing; a key that could not be read makes a row one of its own."""
    if any(field.name in mine.errors or field.name in theirs.errors for field in spec.keys):
        return False
    return all(same_value(field, one.get(field.name), other.get(field.name)) for field in spec.keys)


def _join(
    spec: FieldSpec, one: dict[str, Any], other: dict[str, Any], mine: RowEvidence, theirs: RowEvidence
) -> tuple[dict[str, Any], RowEvidence]:
    """One row of two with the same key: what the first lacks comes from the second; the first quote that holds is kept."""
    cells, errors, raw = dict(one), dict(mine.errors), {**theirs.raw, **mine.raw}
    for field in spec.fields:
        old, new = one.get(field.name), other.get(field.name)
        contested = mine.errors.get(field.name, "").startswith(_DIFFER)
        if contested or field.name in theirs.errors or is_nothing(field, new):
            continue
        if is_nothing(field, old):
            cells[field.name] = new
            errors.pop(field.name, None)
        elif not same_value(field, old, new):
            shown = f"{str(old)[:60]}; {str(new)[:60]}"
            cells[field.name], raw[field.name] = None, shown
            errors[field.name] = f"{_DIFFER}: {shown}"
    better, second = (theirs, mine) if theirs.quote_found and not mine.quote_found else (mine, theirs)
    doubts = {
        name: doubt
        for name, old in cells.items()
        for doubt in [(mine if one.get(name) == old else theirs).doubts.get(name)]
        if doubt and name not in errors
    }
    told = {"errors": errors, "raw": raw, "doubts": doubts, "others": tuple(dict.fromkeys([*better.others, *_quotes(second)]))}
    support = worst([doubt.split(": ")[0] for doubt in doubts.values()] or [better.support])
    because = next((f"{name}: {doubt.partition(': ')[2]}" for name, doubt in doubts.items()), None)
    return cells, better.model_copy(update={**told, "support": support, "because": because})


def _quotes(row: RowEvidence) -> tuple[str, ...]:
    return (*([row.quote] if row.quote else []), *row.others)


def recovered(spec: FieldSpec, old: FieldFound, new: FieldFound) -> FieldFound:
    """A field after one more pass: a value where there was none, or rows that were missing, if a quote in the text holds it up.

    What the further pass gives without such a quote is not taken; a person is told of it.
    """
    if new.error or is_nothing(spec, new.value):
        return old
    if spec.kind == "group":
        held = [n for n, row in enumerate(new.evidence) if row.quote_found]
        kept = {"value": [new.value[n] for n in held], "evidence": tuple(new.evidence[n] for n in held)}
        joined = union_rows(spec, [old, new.model_copy(update=kept)])
        more = len(joined.value) > len(old.value)
        told = _unsupported(len(new.evidence) - len(held), "row(s)") if len(held) < len(new.evidence) else old.escalated
        return joined.model_copy(update={"purpose": new.purpose if more else old.purpose, "escalated": told})
    if not is_nothing(spec, old.value):
        return old
    if new.quote_found:
        return new
    return old.model_copy(update={"escalated": _unsupported(1, f"value ({str(new.value)[:80]})")})


def _unsupported(count: int, what: str) -> str:
    return f"a further pass gave {count} {what} with no quote that stands in the report; not taken"
