"""Tables of a grid: every cell, averages, gains with intervals over models, and the reliability rate."""

import csv
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from litcascade.errors import InputError
from litcascade.eval.panels import averages, cell_table, gain, reliability
from tests.conftest import need

REFERENCE = Path(__file__).resolve().parents[3] / "shared" / "reference" / "scilitbench_title_abstract_f2.csv"


def cells() -> pl.DataFrame:
    rows = [
        ("x", "F", "1B", "basic", 0, 40, 10, 10, 40, 100, 98),
        ("x", "F", "1B", "incl", 0, 45, 10, 5, 40, 100, 100),
        ("y", "F", "8B", "basic", 0, 0, 0, 50, 50, 100, 20),
        ("y", "F", "8B", "incl", 0, 50, 50, 0, 0, 0, 0),
    ]
    names = ["model", "family", "size", "prompt", "shots", "tp", "fp", "fn", "tn", "replies", "formed"]
    return pl.DataFrame(rows, schema=names, orient="row")


def test_every_cell_has_its_measures_or_the_reason_why_not() -> None:
    found = cell_table(cells(), ["f@2", "recall", "wmcc@10"])
    assert found["f@2"].to_list() == pytest.approx([0.8, 5 * 45 / (5 * 45 + 4 * 5 + 10), None, 250 / 300])
    assert found["recall"].to_list() == [0.8, 0.9, 0.0, 1.0]
    assert found["note"][0] is None
    assert "no include was found" in found["note"][2]
    assert "nothing was included or referred" in found["note"][2]
    assert "nothing was excluded" in found["note"][3]
    assert found["reliability"].to_list() == [0.98, 1.0, 0.2, None]
    assert found["reliability_low"][0] == pytest.approx(0.9296, abs=1e-4)
    assert found["reliability_high"][1] == 1.0


def test_reliability_has_exact_bounds_and_needs_replies() -> None:
    assert reliability(0, 0).value is None
    assert reliability(0, 0).note == "no reply was asked for"
    found = reliability(9, 10)
    assert found.low == pytest.approx(0.5550, abs=1e-4)
    assert found.high == pytest.approx(0.9975, abs=1e-4)


def test_averages_leave_undefined_cells_out_and_count_them() -> None:
    found = {one.by["prompt"]: one for one in averages(cell_table(cells(), ["f@2"]), ["prompt"])}
    assert found["basic"].mean.value == pytest.approx(0.8)
    assert (found["basic"].cells, found["basic"].undefined) == (2, 1)
    assert found["incl"].mean.value == pytest.approx((225 / 255 + 250 / 300) / 2)
    assert found["incl"].mean.low is None
    assert found["incl"].mean.note == "no interval: fewer than 3 models"
    by_size = averages(cell_table(cells(), ["recall"]), ["family", "size"], "recall")
    assert [one.by for one in by_size] == [{"family": "F", "size": "1B"}, {"family": "F", "size": "8B"}]
    assert by_size[0].mean.value == pytest.approx(0.85)
    with pytest.raises(InputError, match="no column 'colour'"):
        averages(cells(), ["colour"])


def test_odd_grids_are_refused() -> None:
    with pytest.raises(InputError, match="no column 'tn'"):
        cell_table(cells().drop("tn"))
    with pytest.raises(InputError, match="stands twice in the grid: model x"):
        cell_table(pl.concat([cells(), cells().head(1)]))
    with pytest.raises(InputError, match="has no counts"):
        cell_table(cells().with_columns(tp=pl.lit(None, dtype=pl.Int64)))
    with pytest.raises(InputError, match="no figure 'f@2' where prompt is 'odd'"):
        gain(cell_table(cells()), "prompt", "basic", "odd")


def test_gains_are_paired_over_models() -> None:
    found = gain(cell_table(cells(), ["f@2"]), "prompt", "basic", "incl")
    assert found.gain.value == pytest.approx((225 / 255) / 0.8 - 1)
    assert found.left_out == 1
    assert found.gain.note == "no interval: fewer than 5 models"


def printed() -> pl.DataFrame:
    need("reference", REFERENCE.is_file(), "the reference figures are not beside this checkout (../shared/reference)")
    with REFERENCE.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    made = [{**{name: row[name] for name in ("model", "size", "shots", "prompt")}, "f@2": float(row["f2"])} for row in rows]
    return pl.DataFrame(made).with_columns(family=pl.col("model"))


def test_the_printed_gains_of_scilitbench_follow_from_its_cells() -> None:
    zero = printed().filter(pl.col("shots") == "0")
    inclusion = gain(zero, "prompt", "basic", "incl").gain
    both = gain(zero, "prompt", "basic", "incl_excl").gain
    assert inclusion.value == pytest.approx(0.170, abs=5e-4)
    assert both.value == pytest.approx(0.288, abs=5e-4)
    for one in (inclusion, both):
        assert one.low is not None
        assert one.high is not None
        assert one.n == 22
        assert 0 < one.low < (one.value or 0) < one.high < 0.8
    by_prompt = {one.by["prompt"]: one for one in averages(zero, ["prompt"])}
    assert (by_prompt["incl"].mean.value or 0) / (by_prompt["basic"].mean.value or 1) - 1 == pytest.approx(inclusion.value)


def test_the_interval_of_a_gain_covers_a_known_gain() -> None:
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(400):
        base = rng.uniform(0.1, 0.8, 22)
        after = base * 1.2 + rng.normal(0, 0.08, 22)
        rows = [(f"m{i:02d}", p, v) for p, side in (("a", base), ("b", after)) for i, v in enumerate(side)]
        found = gain(pl.DataFrame(rows, schema=["model", "prompt", "f@2"], orient="row"), "prompt", "a", "b").gain
        assert found.low is not None
        assert found.high is not None
        inside += found.low <= 0.2 <= found.high
    assert inside >= 0.93 * 400
