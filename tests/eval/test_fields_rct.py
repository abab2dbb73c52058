"""The shipped schema of trial outcomes holds the annotations of real trials, and scores arms that were swapped as known."""

import csv
from collections import defaultdict
from copy import deepcopy
from pathlib import Path
from typing import Any

from litcascade.eval.field_groups import score_groups
from litcascade.eval.fields import Pair
from litcascade.judges import normalised_match
from litcascade.schemas.fields import check_value, load_schema

COLUMNS = {"events": "events", "total": "group_size", "mean": "mean", "sd": "standard_deviation"}
ARMS = ("intervention", "comparator")


def read(path: Path) -> dict[str, list[dict[str, Any]]]:
    with path.open(encoding="utf-8", newline="") as opened:
        lines = list(csv.DictReader(opened))
    trials: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for line in lines:
        row: dict[str, Any] = {name: line[name].strip() for name in ("outcome", "intervention", "comparator", "outcome_type")}
        for arm in ARMS:
            for name, column in COLUMNS.items():
                cell = line[f"{arm}_{column}"].strip().replace(",", "")
                row[f"{arm}_{name}"] = float(cell) if cell else None
        trials[line["pmcid"]].append(row)
    return trials


def test_the_shipped_schema_holds_real_outcomes_and_tells_swapped_arms(corpora: Path) -> None:
    spec = next(spec for spec in load_schema("rct_outcomes") if spec.name == "outcomes")
    trials = read(corpora / "rct_numeric" / "annotations.csv")
    assert (len(trials), sum(map(len, trials.values()))) == (56, 361)
    gold = {}
    for key, rows in trials.items():
        gold[key], fault = check_value(spec, rows)
        assert fault is None, key
    itself = score_groups(
        spec, [Pair(record_id=key, gold=rows, value=rows[::-1]) for key, rows in gold.items()], normalised_match
    )
    assert (itself.rows.correct, itself.rows_right, itself.whole.value) == (361, 361, 1)

    swapped, count = deepcopy(gold), 0
    for rows in swapped.values():
        one = next((row for row in rows if None not in (row["intervention_mean"], row["comparator_mean"])), None)
        if one is not None and abs(one["intervention_mean"] - one["comparator_mean"]) > 0.01:
            one["intervention_mean"], one["comparator_mean"] = one["comparator_mean"], one["intervention_mean"]
            count += 1
    found = score_groups(
        spec, [Pair(record_id=key, gold=rows, value=swapped[key]) for key, rows in gold.items()], normalised_match
    )
    assert count > 10
    assert (found.all_cells.wrong, found.cells["intervention_mean"].wrong) == (2 * count, count)
    assert (found.rows.missing, found.rows.spurious, found.all_cells.missing) == (0, 0, 0)
