"""The grid in tables: every cell, averages by what was varied, gains, reliability; kept as estimates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.confusion import confusion_of
from litcascade.eval.panels.summaries import Average, Gain, averages, cell_table, gain
from litcascade.pipeline.bench.readings import current_cells, readings_of
from litcascade.report import Table
from litcascade.schemas.bench import BenchSpec
from litcascade.store import Store, now

VARIED = ("model", "family", "size", "prompt", "shots", "positives", "rationales")
MEASURES = ("recall", "precision", "f@2", "wmcc@10", "workload_reduction")
PLAIN = ("reader", "model", "family", "size", "prompt", "shots", "positives", "rationales", "repeat")


@dataclass(frozen=True)
class Summary:
    """Every cell with its measures on one split, the averages and gains, and cells that are not complete."""

    split: str
    cells: pl.DataFrame
    averages: tuple[Average, ...]
    gains: tuple[Gain, ...]
    incomplete: dict[str, int]


def summarise(store: Store, bench: BenchSpec, split: str) -> Summary:
    """Score every cell on a split; a cell that has not read all of it is left out and counted."""
    cells = current_cells(store, bench)
    gold = store.frame(
        "select s.record_id, g.decision from splits s join current_gold g on g.record_id = s.record_id and g.stage = s.stage "
        "where s.version = ? and s.split = ?",
        {"record_id": pl.String, "gold": pl.String}, [cells["split_version"][0], split],
    )  # fmt: skip
    readings = readings_of(store, cells).join(gold, on="record_id")
    orderly = dict(
        store.rows(
            "select fingerprint, count(*) filter (orderly) from readings where fingerprint in (select unnest($f::text[])) "
            "and record_id in (select unnest($r::text[])) group by 1",
            {"f": cells["fingerprint"].to_list(), "r": gold["record_id"].to_list()},
        )
    )
    rows, incomplete = [], {}
    for cell in cells.iter_rows(named=True):
        mine = readings.filter(pl.col("reader") == cell["reader"])
        if mine.height < gold.height:
            incomplete[cell["reader"]] = gold.height - mine.height
            continue
        state = pl.col("decision").replace_strict(_STATES, default="referred", return_dtype=pl.String)
        c = confusion_of(mine.with_columns(state=state.fill_null("referred")))
        counts = {name: int(getattr(c, name)) for name in ("tp", "fp", "fn", "tn")}
        formed = {"replies": mine.height, "formed": orderly.get(cell["fingerprint"], 0)}
        referred = mine["decision"].null_count()
        rows.append({**{name: cell[name] for name in PLAIN}, **counts, "referred": referred, **formed})
    if not rows:
        raise InputError(f"no cell has read the whole {split} split yet; run `litcascade bench run` to its end")
    table = cell_table(pl.DataFrame(rows, infer_schema_length=None), MEASURES)
    summary = Summary(split, table, _averages(table), _gains(table, bench), incomplete)
    _store(store, summary)
    return summary


_STATES = {"include": "included", "exclude": "excluded"}


def _varied(table: pl.DataFrame) -> list[str]:
    return [name for name in VARIED if name in table.columns and table[name].drop_nulls().n_unique() > 1]


def _averages(table: pl.DataFrame) -> tuple[Average, ...]:
    return tuple(one for name in _varied(table) for one in averages(table.filter(pl.col(name).is_not_null()), [name]))


def _gains(table: pl.DataFrame, bench: BenchSpec) -> tuple[Gain, ...]:
    """From the first declared level of prompt, shots, positives and rationales to each other one."""
    found = []
    levels: dict[str, Sequence[object]] = {
        "prompt": bench.prompts, "shots": bench.shots, "positives": bench.positives, "rationales": bench.rationales,
    }  # fmt: skip
    for factor, declared in levels.items():
        here = table.filter(pl.col("shots") > 0) if factor in ("positives", "rationales") else table
        for later in declared[1:]:
            try:
                found.append(gain(here, factor, _text(declared[0]), _text(later)))
            except InputError:
                continue  # one of the levels has no figure: the averages say so
    return tuple(found)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _store(store: Store, summary: Summary) -> None:
    rows = []
    for row in summary.cells.iter_rows(named=True):
        scope = f"bench {summary.split} {row['reader']}"
        n = int(row["tp"] + row["fp"] + row["fn"] + row["tn"])
        figures = {name: (row[name], None, None, row["note"]) for name in MEASURES}
        figures["reliability"] = (row["reliability"], row["reliability_low"], row["reliability_high"], None)
        rows += [
            {"at_time": now(), "run_id": None, "scope": scope, "metric": name, "value": value, "low": low, "high": high,
             "n": n, "note": note if value is None else None}
            for name, (value, low, high, note) in figures.items()
        ]  # fmt: skip
    store.append("estimates", rows)


def tables_of(summary: Summary) -> list[Table]:
    """For people: cells, averages, gains."""
    shown = ("tp", "fp", "fn", "tn", "referred", *MEASURES, "reliability")
    cells = [[row["reader"], *(row[name] for name in shown)] for row in summary.cells.iter_rows(named=True)]
    notes = ["a failed reading counts as positive: a person reads that record"]
    notes += [f"{row['reader']}: {row['note']}" for row in summary.cells.iter_rows(named=True) if row["note"]][:6]
    notes += [f"{name} has not read {count} record(s) and is left out" for name, count in summary.incomplete.items()]
    means = [
        [
            *(f"{key} {value}" for key, value in one.by.items()),
            one.mean.value,
            one.mean.low,
            one.mean.high,
            one.cells,
            one.undefined,
        ]
        for one in summary.averages
    ]
    gains = [
        [
            f"{one.factor} {one.before} to {one.after}",
            one.gain.value,
            one.gain.low,
            one.gain.high,
            one.gain.n,
            one.gain.note or "",
        ]
        for one in summary.gains
    ]
    found = [Table(f"Cells on the {summary.split} split", ["cell", *shown], cells, notes)]
    found += [Table("Mean F2", ["over", "mean", "low", "high", "cells", "undefined"], means)] if means else []
    found += [Table("Relative gain in F2", ["from", "gain", "low", "high", "models", "note"], gains)] if gains else []
    return found


def _words(by: Mapping[str, str]) -> str:
    return ", ".join(f"{key} {value}" for key, value in by.items())
