"""`litcascade bench`: run the grid, show it, choose a rule, resample."""

import asyncio
from pathlib import Path
from typing import Any

import polars as pl
import typer

from litcascade.cli.progress import ProgressLine
from litcascade.cli.show import print_json, print_tables
from litcascade.errors import InputError
from litcascade.eval.panels.rules import describe
from litcascade.pipeline.bench.choosing import Chosen, Wishes, choose_rule
from litcascade.pipeline.bench.fragment import protocol_fragment
from litcascade.pipeline.bench.resampling import Plan, resample_bench
from litcascade.pipeline.bench.running import bench_of, run_bench
from litcascade.pipeline.bench.summary import summarise, tables_of
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import EXIT
from litcascade.report import Table
from litcascade.report.dots import Dot, dots_svg


def run_and_print(review: Review, *, probed: bool, redraw: bool, json_out: bool) -> int:
    """Run the grid and say how it ended; returns the exit code."""
    with review.open() as store, ProgressLine() as progress:
        done = asyncio.run(run_bench(review, store, observer=progress, probed=probed, redraw=redraw))
    spent = done.spent
    if json_out:
        used = {name: value for name, value in vars(spent).items() if name != "started"}
        print_json({"run": done.run_id, "status": done.status, "detail": done.words, "cells": done.cells,
                    "records": done.records, "spent": used})  # fmt: skip
    else:
        typer.echo(
            f"{done.status}: {done.words}\n{done.cells} cell(s) over {done.records} record(s): {spent.calls} call(s), "
            f"{spent.from_store} answer(s) from the store, {spent.prompt_tokens:,} prompt tokens "
            f"({spent.cached_tokens:,} cached), {spent.completion_tokens:,} answer tokens"
        )
    return EXIT[done.status]


def show(review: Review, split: str, csv: Path | None, plot: Path | None, json_out: bool) -> None:
    """The grid in tables, and where asked as rows in a file and as a plot."""
    bench = bench_of(review)
    with review.open() as store:
        summary = summarise(store, bench, split)
    if csv is not None:
        _write(csv, summary.cells.write_csv())
    if plot is not None:
        if plot.suffix != ".svg":
            raise InputError(f"{plot}: the plot is drawn as SVG; give a name that ends in .svg")
        _write(plot, _plot(summary.cells.to_dicts(), review.protocol.review.title))
    if json_out:
        print_json({"split": split, "cells": summary.cells.to_dicts(), "averages": summary.averages, "gains": summary.gains,
                    "incomplete": summary.incomplete})  # fmt: skip
        return
    print_tables(tables_of(summary))
    for path in (csv, plot):
        if path is not None:
            typer.echo(f"wrote {path}")


def _plot(cells: list[dict[str, Any]], title: str) -> str:
    placed = [cell for cell in cells if cell["recall"] is not None and cell["precision"] is not None]
    dots = [
        Dot(
            cell["recall"], cell["precision"], f"{cell['model']}, {cell['prompt'].removesuffix('.md')}", f"{cell['shots']} shots",
            f"{cell['reader']}: recall {cell['recall']:.3f}, precision {cell['precision']:.3f}",
        )
        for cell in placed
    ]  # fmt: skip
    return dots_svg(dots, title, "recall", "precision", len(cells) - len(placed))


def choose(review: Review, wishes: Wishes, write: Path | None, csv: Path | None, json_out: bool) -> None:
    """Choose and freeze a rule, show what it was chosen from, and write it for the protocol."""
    bench = bench_of(review)
    with review.open() as store:
        done = choose_rule(review, store, bench, wishes)
        fragment = protocol_fragment(review, store, bench, done.rule_id) if done.rule_id else None
    if csv is not None:
        _write(csv, pl.DataFrame(_frontier_rows(done), infer_schema_length=None).write_csv())
    if write is not None and fragment is not None:
        _write(write, fragment)
    if json_out:
        print_json({**{name: getattr(done, name) for name in done.__dataclass_fields__}, "protocol": fragment})
        return
    print_tables(_choice_tables(done))
    if fragment is None:
        typer.echo("nothing was frozen: no rule reaches the target; people screen, or ask better readers")
        return
    words = "its recall is shown on the evaluation split" if done.promised else "its recall is NOT shown: audit what it excludes"
    typer.echo(f"frozen as {done.rule_id} ({words}): {describe(done.rule) if done.rule else ''}")
    typer.echo(f"wrote {write}; put it into review.toml" if write else f"\nfor review.toml:\n\n{fragment}")


def _frontier_rows(done: Chosen) -> list[dict[str, Any]]:
    return [
        {
            "family": point.family, "rule": describe(point.rule), "recall": point.recall.value,
            "precision": point.precision.value, **{name: getattr(point.costs, name).value for name in _COSTS},
        }
        for point in done.frontier
    ]  # fmt: skip


_COSTS = ("read", "hours", "tokens", "gpu_seconds", "money")
_SHOWN = 12


def _choice_tables(done: Chosen) -> list[Table]:
    rows = _frontier_rows(done)
    thin = rows if len(rows) <= _SHOWN else [rows[round(i * (len(rows) - 1) / (_SHOWN - 1))] for i in range(_SHOWN)]
    sizes = "; ".join(f"{name}: {includes} includes of {n}" for name, (includes, n) in done.split.items())
    seats = [f"strong pool: {', '.join(done.pools.strong)}", f"lenient pool: {', '.join(done.pools.lenient)}"]
    points = [
        [f"{p.target:g}", _of(p.chosen, "family"), _rate(p.report, "recall"), p.report.recall.low if p.report else None,
         _rate(p.report, "precision"), _rate(p.report, "workload_reduction"), p.note]
        for p in done.points
    ]  # fmt: skip
    certified = done.certified
    promise = [f"certified for {certified.target:g}: {certified.note} ({certified.tested} rule(s) tested in a fixed order)"]
    more = [f"{len(rows)} points in all; --csv writes them"] if len(rows) > _SHOWN else []
    return [
        Table(
            "Frontier on the development split", ["recall", "precision", "read", "hours", "tokens", "family", "rule"],
            [[r["recall"], r["precision"], r["read"], r["hours"], r["tokens"], r["family"], r["rule"]] for r in thin],
            [sizes, *seats, *more, *done.notes],
        ),
        Table(
            "Chosen on development, reported on evaluation",
            ["target", "family", "recall", "shown", "precision", "work saved", "note"], points, promise,
        ),
    ]  # fmt: skip


def _of(point: Any, name: str) -> Any:
    return getattr(point, name) if point is not None else None


def _rate(report: Any, name: str) -> float | None:
    return getattr(report, name).value if report is not None else None


def resample(review: Review, plan: Plan, csv: Path | None, json_out: bool) -> None:
    """Random pools and splits many times: means with intervals, and contrasts of methods."""
    with review.open() as store:
        found, analysis = resample_bench(review, store, bench_of(review), plan)
    if csv is not None:
        _write(csv, found.frame.write_csv())
    if json_out:
        print_json({"plan": plan, "analysis": analysis})
        return
    means = [[name, e.value, e.low, e.high, e.n, e.note or ""] for name, e in analysis.means.items()]
    contrasts = [
        [f"{c.first} - {c.second}", c.difference.value, c.difference.low, c.difference.high, c.won, c.lost, c.p_holm]
        for c in analysis.contrasts
    ]
    title = f"{analysis.measure} on validation, {analysis.repeats} random pools of {plan.pool[0]} to {plan.pool[1]} readers"
    notes = ["intervals and p of the corrected resampled t-test (Nadeau, Bengio 2003), p corrected by Holm"]
    print_tables([
        Table(title, ["method", "mean", "low", "high", "repeats", "note"], means),
        Table("Differences", ["of", "mean", "low", "high", "won", "lost", "p"], contrasts, notes),
    ])  # fmt: skip


def _write(path: Path, text: str) -> None:
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first")
    path.write_text(text, encoding="utf-8")
