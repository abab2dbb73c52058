"""Labels from tables: people's decisions, gold labels and gold fields. Only known forms become labels."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.columns import ALIASES
from litcascade.corpora.source import open_text
from litcascade.corpora.table import read_rows
from litcascade.errors import InputError
from litcascade.schemas import Decision, FieldSpec
from litcascade.schemas.fields import LISTED, NOT_REPORTED, check_value, nothing_of

_FORMS: dict[str, Decision] = {
    "include": "include", "included": "include", "yes": "include", "1": "include", "relevant": "include",
    "exclude": "exclude", "excluded": "exclude", "no": "exclude", "0": "exclude", "irrelevant": "exclude",
}  # fmt: skip
_COLUMNS = {
    "title_abstract": ("title_abstract", "label_title_abstract", "label_abstract", "abstract_label"),
    "full_text": ("full_text", "label_full_text", "label_included", "final_label"),
}
_REASONS = ("full_text_reason", "full_text_exclusion_reason", "exclusion_reason", "reason")


@dataclass(frozen=True)
class Label:
    """A person's label of a record at a stage."""

    record_id: str
    stage: str
    decision: Decision
    reason: str | None = None


@dataclass(frozen=True)
class FieldLabel:
    """A person's value of one extraction field."""

    record_id: str
    field: str
    value: Any


@dataclass(frozen=True)
class Choice:
    """A person's decision on a queued record; `unsure` keeps it queued."""

    record_id: str
    stage: str
    decision: Decision | None
    unsure: bool
    who: str | None
    criterion: str | None
    note: str | None
    criteria: str | None = None


def read_decision(cell: str) -> Decision | None:
    """A known label form, case aside; blank and -1 are no label; anything else raises ValueError."""
    word = cell.strip().casefold()
    if nothing(word) or word in ("-1", "unlabelled", "unlabeled"):
        return None
    word = word.removesuffix(".0")
    if word not in _FORMS:
        raise ValueError(f"'{cell}' is not a known label")
    return _FORMS[word]


def read_table(path: Path) -> tuple[list[str], list[tuple[int, dict[str, str]]]]:
    """(Column names with underscores, rows by name with their lines) of a small table; a torn row is an `InputError`."""
    header, rows, aside = read_rows(open_text(path))
    if aside:
        raise InputError(f"{path}: line {aside[0].line} {aside[0].reason}; mend the row, nothing was imported")
    names = [re.sub(r"\s+", "_", name.strip().casefold()) for name in header]
    return names, [(line, dict(zip(names, row, strict=True))) for line, row in rows]


def _id_column(names: list[str], path: Path) -> str:
    for alias in ALIASES["record_id"]:
        if alias.replace(" ", "_") in names:
            return alias.replace(" ", "_")
    raise InputError(f"{path}: no column holds record ids; the columns are: {', '.join(names)}. Name one 'record_id'")


def is_field_table(path: Path) -> bool:
    """Whether a gold table is in the long form record_id, field, value."""
    names, _ = read_table(path)
    return {"field", "value"} <= set(names)


def read_labels(path: Path) -> list[Label]:
    """Gold labels from a table with one row a record and a column per stage."""
    names, rows = read_table(path)
    id_column = _id_column(names, path)
    columns = {
        stage: next(name for name in aliases if name in names) for stage, aliases in _COLUMNS.items() if set(aliases) & set(names)
    }
    if not columns:
        raise InputError(f"{path}: no label column; name one 'title_abstract' or 'full_text' (found: {', '.join(names)})")
    reason_column = next((name for name in _REASONS if name in names), None)
    labels: list[Label] = []
    for line, row in rows:
        for stage, column in columns.items():
            try:
                decision = read_decision(row[column])
            except ValueError as error:
                raise InputError(f"{path}: line {line}: {error}; use include, exclude or blank") from None
            if decision:
                reason = row[reason_column] or None if reason_column and stage == "full_text" else None
                labels.append(Label(row[id_column].strip(), stage, decision, reason))
    _refuse_contradictions(path, {}, labels)
    return labels


def _refuse_contradictions(path: Path, seen: dict[tuple[str, str], set[str]], labels: Sequence[Label]) -> None:
    for label in labels:
        told = seen.setdefault((label.record_id, label.stage), set())
        told.add(label.decision)
        if len(told) > 1:
            raise InputError(
                f"{path}: record {label.record_id} is both {' and '.join(sorted(told))} at {label.stage}; keep one row"
            )


def read_field_labels(path: Path, specs: tuple[FieldSpec, ...]) -> list[FieldLabel]:
    """Gold fields from a table record_id, field, value; several values of a multi-label field are parted by `|`.

    Rows of a group stand in the further columns `row` and `subfield`, one line a cell (`row` is any name that tells rows of one
    record apart), or whole as JSON in `value`; an empty value without a row says that the report has none.
    """
    names, rows = read_table(path)
    id_column = _id_column(names, path)
    by_name = {spec.name: spec for spec in specs}
    labels: list[FieldLabel] = []
    groups: dict[tuple[str, str], dict[str, dict[str, Any]]] = {}
    for line, row in rows:
        spec = by_name.get(row["field"].strip())
        if spec is None:
            raise InputError(f"{path}: line {line}: field '{row['field']}' is not in the protocol ({', '.join(by_name)})")
        key = row[id_column].strip()
        place, part = row.get("row", "").strip(), row.get("subfield", "").strip()
        try:
            if place or part:
                _add_cell(spec, groups.setdefault((key, spec.name), {}), place, part, row["value"])
                continue
            value, fault = check_value(spec, read_value(spec, row["value"]))
            if fault:
                raise ValueError(f"field '{spec.name}': {fault}")
            labels.append(FieldLabel(key, spec.name, value))
        except ValueError as error:
            raise InputError(f"{path}: line {line}: {error}") from None
    _refuse_both_forms(path, labels, groups)
    return [*labels, *(_group_label(path, by_name[name], key, cells) for (key, name), cells in groups.items())]


def _add_cell(spec: FieldSpec, rows: dict[str, dict[str, Any]], place: str, part: str, cell: str) -> None:
    """One cell of a group, from a line with row and subfield."""
    if spec.kind != "group":
        raise ValueError(f"field '{spec.name}' is {spec.kind} and has no rows; leave row and subfield blank")
    if not (place and part):
        raise ValueError(f"a cell of the group '{spec.name}' needs both row and subfield")
    field = next((field for field in spec.fields if field.name == part), None)
    if field is None:
        raise ValueError(f"group '{spec.name}' has no sub-field '{part}' ({', '.join(one.name for one in spec.fields)})")
    cells = rows.setdefault(place, {})
    if part in cells:
        raise ValueError(f"row '{place}' of '{spec.name}' has the sub-field '{part}' twice; keep one line")
    cells[part], fault = check_value(field, read_value(field, cell))
    if fault:
        raise ValueError(f"field '{spec.name}', row '{place}', {part}: {fault}")


def _group_label(path: Path, spec: FieldSpec, record_id: str, rows: dict[str, dict[str, Any]]) -> FieldLabel:
    value, fault = check_value(spec, list(rows.values()))
    if fault:
        raise InputError(f"{path}: record {record_id}, field '{spec.name}': {fault}")
    return FieldLabel(record_id, spec.name, value)


def _refuse_both_forms(
    path: Path, labels: Sequence[FieldLabel], groups: dict[tuple[str, str], dict[str, dict[str, Any]]]
) -> None:
    both = next((label for label in labels if (label.record_id, label.field) in groups), None)
    if both:
        raise InputError(f"{path}: record {both.record_id} has '{both.field}' both whole and row by row; keep one form")


def read_value(spec: FieldSpec, cell: str) -> Any:
    """A cell as a value of the field; blank means not reported; raises ValueError for what is not a value.

    A group, and a multi-label field if it likes, is written as JSON.
    """
    text = cell.strip()
    if spec.kind == "group" or (spec.kind == "multi" and text.startswith("[")):
        return _json_list(spec, text)
    if spec.kind == "multi":
        return [] if text == NOT_REPORTED else [part.strip() for part in text.split("|") if part.strip()]
    if not text or (text == NOT_REPORTED and spec.kind not in LISTED):
        return nothing_of(spec) if not spec.required else None
    if spec.kind == "number":
        number = json.loads(text) if re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d+)?", text) else None
        if number is None:
            raise ValueError(f"'{text}' is not a number (field '{spec.name}')")
        return number
    return text


def _json_list(spec: FieldSpec, text: str) -> Any:
    if text in ("", NOT_REPORTED):
        return []
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError(f"the value of '{spec.name}' is not valid JSON (got {text[:60]!r})") from None


def read_choices(path: Path) -> list[Choice]:
    """People's decisions from a queue that `litcascade export queue` wrote, filled in; blank decisions are left queued."""
    names, rows = read_table(path)
    id_column = _id_column(names, path)
    for needed in ("stage", "decision"):
        if needed not in names:
            raise InputError(f"{path}: no column '{needed}'; export the queue anew and fill in its decision column")
    choices = []
    for line, row in rows:
        unsure = row["decision"].strip().casefold() in ("unsure", "maybe")
        try:
            decision = None if unsure else read_decision(row["decision"])
        except ValueError as error:
            raise InputError(f"{path}: line {line}: {error}; use include, exclude, unsure or blank") from None
        if decision or unsure:
            who, criterion, note = (row.get(key, "").strip() or None for key in ("who", "criterion", "note"))
            version = row.get("criteria", "").strip() or None
            choices.append(Choice(row[id_column].strip(), row["stage"].strip(), decision, unsure, who, criterion, note, version))
    return choices


@dataclass(frozen=True)
class PairWord:
    """A person's word on two records: `same`, `different`, `same study`, or `unsure` (it stays with people)."""

    first: str
    second: str
    verdict: str
    who: str | None = None
    note: str | None = None


def read_pairs(path: Path) -> list[PairWord]:
    """People's words from the pairs that `litcascade export duplicates` wrote; blank decisions are left as they are."""
    names, rows = read_table(path)
    for needed in ("first_id", "second_id", "decision"):
        if needed not in names:
            raise InputError(f"{path}: no column '{needed}'; export the duplicates anew and fill in their decision")
    words = []
    for line, row in rows:
        verdict = " ".join(row["decision"].casefold().split())
        if not verdict:
            continue
        if verdict not in ("same", "different", "same study", "unsure"):
            raise InputError(
                f"{path}: line {line}: '{row['decision']}' is no decision; use same, different, same study or unsure"
            )
        who, note = (row.get(key, "").strip() or None for key in ("who", "note"))
        first, second = row["first_id"].strip(), row["second_id"].strip()
        if first == second:
            raise InputError(f"{path}: line {line}: the pair names record '{first}' twice; name two records")
        words.append(PairWord(first, second, verdict, who, note))
    _refuse_two_words(path, words)
    return words


def _refuse_two_words(path: Path, words: Sequence[PairWord]) -> None:
    told: dict[frozenset[str], str] = {}
    for word in words:
        if told.setdefault(frozenset((word.first, word.second)), word.verdict) != word.verdict:
            raise InputError(f"{path}: the pair {word.first}, {word.second} is decided in two ways; keep one row")


def read_causes(path: Path) -> list[dict[str, str]]:
    """Causes of errors: record_id, stage and cause; rows without a cause are left out."""
    names, rows = read_table(path)
    id_column = _id_column(names, path)
    for needed in ("stage", "cause"):
        if needed not in names:
            raise InputError(f"{path}: no column '{needed}'; export the errors anew and fill in their cause")
    kept = [row for _, row in rows if row["cause"].strip()]
    return [{"record_id": row[id_column].strip(), "stage": row["stage"].strip(), "cause": row["cause"].strip()} for row in kept]
