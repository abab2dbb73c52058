"""The extraction gold of a real review as a schema with repeated groups: gold against itself, changed in known ways."""

import csv
import re
from collections import defaultdict
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from litcascade.eval.field_groups import GroupScores, score_groups
from litcascade.eval.fields import Pair, right_of, score_field, whole_records
from litcascade.judges import normalised_match
from litcascade.schemas import FieldSpec
from litcascade.schemas.fields import check_value, fields_from_model, guide, json_schema, model_from_fields

Rows = dict[str, list[dict[str, Any]]]
NUMBER = re.compile(r"-?\d+(\.\d+)?([eE][+-]?\d+)?")
KEYS = {
    "parameters": ("parameter_type", "population_country", "population_location"),
    "outbreaks": ("outbreak_country", "outbreak_location", "outbreak_start_year"),
    "models": ("model_type",),
}
NUMBERS = {"parameters": "parameter_value", "outbreaks": "cases_confirmed", "models": None}
IDS = {"id", "covidence_id", "model_data_id", "outbreak_data_id", "parameter_data_id"}


def read(path: Path, name: str) -> tuple[FieldSpec, Rows]:
    """The group of one table, its kinds as its cells show them, and its rows by article."""
    with path.open(encoding="utf-8", newline="") as opened:
        lines = list(csv.DictReader(opened))
    fields = [part for part in (_field(column, lines) for column in lines[0] if column not in IDS) if part]
    spec = FieldSpec(name=name, kind="group", definition="d", rows=40, key=KEYS[name], fields=tuple(fields))
    gold: Rows = defaultdict(list)
    for line in lines:
        gold[line["covidence_id"]].append({field.name: _cell(field, line[field.name]) for field in fields})
    return spec, dict(gold)


def _field(column: str, lines: list[dict[str, str]]) -> FieldSpec | None:
    told = {line[column].strip() for line in lines} - {"NA", ""}
    if not told or any(len(value) > 300 for value in told):
        return None
    if all(NUMBER.fullmatch(value) for value in told):
        return FieldSpec(name=column, kind="number", definition="d", same={"relative": 0.001})
    if 2 <= len(told) <= 60:
        return FieldSpec(name=column, kind="closed", definition="d", values=tuple(sorted(told)))
    return FieldSpec(name=column, kind="open", definition="d")


def _cell(field: FieldSpec, cell: str) -> Any:
    text = cell.strip()
    if text in ("NA", ""):
        return "not reported" if field.kind == "closed" else None
    return float(text) if field.kind == "number" else text


def scored(spec: FieldSpec, gold: Rows, found: Rows) -> GroupScores:
    return score_groups(spec, pairs(gold, found), normalised_match)


def pairs(gold: Rows, found: Rows) -> list[Pair]:
    return [Pair(record_id=key, gold=rows, value=found.get(key, [])) for key, rows in gold.items()]


@pytest.mark.parametrize(("name", "rows", "articles"), [("parameters", 440, 147), ("outbreaks", 30, 26), ("models", 52, 52)])
def test_gold_changed_in_known_ways_scores_as_known(corpora: Path, name: str, rows: int, articles: int) -> None:
    spec, gold = read(corpora / "lassa" / "extraction_gold" / f"lassa_{name}.csv", name)
    assert (sum(map(len, gold.values())), len(gold)) == (rows, articles)
    assert all(check_value(spec, told)[1] is None for told in gold.values())
    assert name in guide((spec,))
    assert list(json_schema((spec,))["properties"]) == [name]
    assert fields_from_model(model_from_fields((spec,))) == (spec,)

    itself = scored(spec, gold, {key: told[::-1] for key, told in deepcopy(gold).items()})
    assert (itself.rows.correct, itself.rows.missing, itself.rows.spurious, itself.rows_right) == (rows, 0, 0, rows)
    assert itself.mean.value == itself.whole.value == 1
    assert (itself.all_cells.wrong, itself.all_cells.missing, itself.all_cells.spurious) == (0, 0, 0)

    dropped = deepcopy(gold)
    several = [key for key, told in gold.items() if len(told) > 1][:10] or list(gold)[:10]
    lost = [dropped[key].pop() for key in several]
    found = scored(spec, gold, dropped)
    values = sum(cell not in (None, "not reported") for row in lost for cell in row.values())
    assert (found.rows.missing, found.rows.spurious, found.rows_right) == (len(several), 0, rows - len(several))
    assert (found.all_cells.missing, found.all_cells.wrong, found.all_cells.spurious) == (values, 0, 0)
    assert found.whole.value == pytest.approx((articles - len(several)) / articles)

    added = deepcopy(gold)
    other = {field.name: 987654.0 if field.kind == "number" else "nowhere at all" for field in spec.keys}
    extra: dict[str, Any] = dict.fromkeys([field.name for field in spec.fields]) | other
    for key in several:
        added[key] = [dict(extra), *added[key]]
    found = scored(spec, gold, added)
    assert (found.rows.spurious, found.rows.missing, found.rows_right) == (len(several), 0, rows)
    assert found.all_cells.spurious == len(several) * len(spec.key)

    column = NUMBERS[name]
    if column is not None:
        changed, count = deepcopy(gold), 0
        for told in list(changed.values())[::3]:
            place = next((row for row in told if row[column] is not None), None)
            if place is not None:
                place[column], count = place[column] + 987654, count + 1
        assert count
        found = scored(spec, gold, changed)
        assert (found.cells[column].wrong, found.all_cells.wrong, found.rows.missing) == (count, count, 0)
        near = {key: [row | {column: row[column] and row[column] * 1.0005} for row in told] for key, told in gold.items()}
        assert scored(spec, gold, near).cells[column].wrong == 0
        share = score_field(spec, pairs(gold, changed), normalised_match).value
        assert share == found.mean.value
        whole = whole_records(right_of(spec, pairs(gold, changed), normalised_match), [name]).share.value
        assert whole == found.whole.value == pytest.approx((articles - count) / articles)
