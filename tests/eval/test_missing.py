import json
import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from litcascade.errors import InputError
from litcascade.eval.binary import mcc, recall
from litcascade.eval.estimate import Estimate
from litcascade.eval.missing import mean_defined, score_with_missing

CASE = "E02-undefined-metrics"
LABELS, STATES = {1: "include", 0: "exclude"}, {1: "included", 0: "excluded", None: None}


def case(cases: Path, name: str) -> pl.DataFrame:
    found = json.loads((cases / CASE / "cases.json").read_text(encoding="utf-8"))["mcc"]
    item: dict[str, Any] = next(item for item in found if item["id"] == name)
    return frame([(LABELS[y], STATES[p]) for y, p in zip(item["y"], item["p"], strict=True)])


def frame(rows: list[tuple[str | None, str | None]]) -> pl.DataFrame:
    table = [(str(place), *row) for place, row in enumerate(rows)]
    return pl.DataFrame(table, schema={"record_id": pl.String, "gold": pl.String, "state": pl.String}, orient="row")


def test_undefined_values_of_e02_stay_undefined(cases: Path) -> None:
    expected = json.loads((cases / CASE / "expected.json").read_text(encoding="utf-8"))["mcc"]
    for name in ("all_yes_right", "all_yes_wrong", "empty"):
        found = score_with_missing(case(cases, name), mcc)
        assert found.given.value is expected[name]["value"] is None
        assert found.given.note
        assert found.worst == found.given
    # The case gives 0 for constant predictions. Our convention, that of MATHS.md and of the published tables (which print
    # NaN there), is undefined with its reason, so that chance and "nothing was predicted" are not the same number.
    constant = score_with_missing(case(cases, "const_pred"), mcc)
    assert constant.given.value is None
    assert constant.given.note


def test_missing_predictions_of_e02_are_counted_and_bounded(cases: Path) -> None:
    expected = json.loads((cases / CASE / "expected.json").read_text(encoding="utf-8"))["mcc"]["with_none"]
    found = score_with_missing(case(cases, "with_none"), mcc)
    assert (found.n_used, found.n_missing) == (expected["n_used"], expected["n_missing"])
    assert found.given.value == pytest.approx(0.5)
    assert found.worst.value == pytest.approx(0)
    assert "1 of 4 without a prediction, left out" in (found.given.note or "")
    assert "counted as errors" in (found.worst.note or "")


def test_a_missing_prediction_of_an_include_is_a_miss_at_worst() -> None:
    table = frame([("include", "included"), ("include", None), ("exclude", None), ("exclude", "excluded")])
    found = score_with_missing(table, recall)
    assert (found.given.value, found.worst.value) == (1, 0.5)
    nothing = score_with_missing(table.with_columns(state=pl.lit(None)), mcc)
    assert nothing.given.value is None
    assert nothing.given.note == "every prediction is missing"
    assert (nothing.n_used, nothing.n_missing) == (0, 4)
    assert nothing.worst.value == pytest.approx(-1)
    full = score_with_missing(table.drop_nulls(), mcc)
    assert (full.given.value, full.worst.value, full.given.note, full.n_missing) == (1, 1, None, 0)


def test_a_table_that_cannot_be_scored_is_refused() -> None:
    table = frame([("include", "included"), ("exclude", None)])
    for bad, message in (
        (frame([(None, "included")]), "'0' has no gold label"),
        (frame([("include", "maybe")]), "maybe"),
        (frame([("perhaps", None)]), "perhaps"),
        (table.with_columns(record_id=pl.lit("1")), "twice"),
        (table.with_columns(record_id=pl.lit(None)), "no record_id"),
        (table.drop("state"), "no column 'state'"),
    ):
        with pytest.raises(InputError, match=message):
            score_with_missing(bad, mcc)


def test_an_undefined_estimate_never_enters_a_mean_as_0() -> None:
    reviews = [
        Estimate(metric="mcc", value=0.8, n=10),
        Estimate(metric="mcc", value=None, n=4, note="nothing was excluded"),
        Estimate(metric="mcc", value=0.4, n=30),
        Estimate(metric="mcc", value=None, n=5, note="nothing was excluded"),
    ]
    found = mean_defined(reviews)
    assert found.mean.value == pytest.approx(0.6)
    assert (found.n_used, found.n_undefined, found.mean.n) == (2, 2, 40)
    assert found.mean.note == "2 of 4 undefined, left out: nothing was excluded (2)"
    alone = mean_defined(reviews[1:2])
    assert (alone.mean.value, alone.n_used, alone.n_undefined) == (None, 0, 1)
    assert mean_defined([]).mean.value is None
    assert mean_defined([]).mean.note
    assert mean_defined(reviews[:1]).mean.note is None
    with pytest.raises(InputError, match="'mcc' and 'recall'"):
        mean_defined([reviews[0], Estimate(metric="recall", value=1, n=3)])
    with pytest.raises(InputError, match="not a finite number"):
        mean_defined([Estimate(metric="mcc", value=math.nan, n=3)])
