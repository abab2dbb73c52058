"""`litcascade judge`: draw items to label, ask the judges, calibrate them, report."""

import asyncio
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import typer
from pydantic import ValidationError

from litcascade.cli.progress import ProgressLine
from litcascade.cli.show import print_json, print_tables
from litcascade.errors import InputError
from litcascade.eval.judge_calibration import z_of
from litcascade.judges import Rubric
from litcascade.pipeline.judging.calibrating import store_calibrations
from litcascade.pipeline.judging.labels import import_labels
from litcascade.pipeline.judging.reporting import JudgeReport, judge_report, rows_of, tables_of
from litcascade.pipeline.judging.running import run_judges
from litcascade.pipeline.judging.sampling import Round, Wishes, plan_labels
from litcascade.pipeline.judging.verdicts import NAMES
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import EXIT
from litcascade.registry import nearest
from litcascade.report import Table


def plan(
    review: Review, path: Path, wishes: Wishes, judges: Sequence[str], fields: Sequence[str], force: bool, json_out: bool
) -> None:
    """Draw and write the table to fill in."""
    if path.exists() and not force:
        raise InputError(f"{path}: is there already, perhaps with labels in it; import it first, or give --force")
    for name in judges:
        if name not in NAMES:
            raise InputError(f"there is no judge '{name}' whose items people label{nearest(name, NAMES)}")
    with review.open() as store:
        wanted = [name for name in NAMES if name in judges] or NAMES
        rounds = plan_labels(review, store, path, wishes, fields=fields, judges=wanted)
    if json_out:
        print_json({"file": path, "rounds": rounds})
        return
    print_tables([_rounds(rounds)])
    typer.echo(f"wrote {path}; fill in the column label, then: litcascade judge calibrate {path} --by NAME")


def _rounds(rounds: Sequence[Round]) -> Table:
    rows = [
        [
            one.judge, one.field, one.number, one.population, one.drawn, one.waiting, f"{one.have.m1} and {one.have.m0}",
            f"{one.wanted.m1} and {one.wanted.m0}" if one.wanted else None, one.note or "",
        ]
        for one in rounds
    ]  # fmt: skip
    header = ["judge", "field", "round", "items", "drawn", "waiting", "labelled", "wanted", "note"]
    return Table("Items for people to label", header, rows, ["labelled and wanted: truly correct and truly incorrect items"])


def run_and_print(
    review: Review, reader: str, rubric: Path | None, fields: Sequence[str], support: bool, probed: bool, json_out: bool
) -> int:
    """Ask the judges and say how it ended; returns the exit code."""
    scale = read_rubric(rubric) if rubric else None
    with review.open() as store, ProgressLine() as progress:
        done = asyncio.run(
            run_judges(review, store, reader, fields=fields, rubric=scale, support=support, observer=progress, probed=probed)
        )
    spent = done.spent
    if json_out:
        used = {name: value for name, value in vars(spent).items() if name != "started"}
        print_json({"run": done.run_id, "status": done.status, "detail": done.words, "judged": done.judged,
                    "failed": done.failed, "not_extracted": done.not_extracted, "spent": used})  # fmt: skip
        return EXIT[done.status]
    judged = ", ".join(f"{name} {count} ({done.failed.get(name, 0)} failed)" for name, count in done.judged.items())
    typer.echo(
        f"{done.status}: {done.words}\njudgements: {judged or 'none'}; {spent.calls} call(s), {spent.from_store} answer(s) from "
        f"the store, {spent.prompt_tokens:,} prompt tokens, {spent.completion_tokens:,} answer tokens"
    )
    return EXIT[done.status]


def read_rubric(path: Path) -> Rubric:
    """A scale from a .toml file with name, text, low and high; what does not fit is an `InputError`."""
    if not path.is_file():
        raise InputError(f"{path}: there is no such file; a scale needs name, text, low and high")
    try:
        return Rubric.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not TOML ({error})") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise InputError(f"{path}: {f'{where}: ' if where else ''}{first['msg']}; a scale has name, text, low, high") from None


def calibrate(review: Review, path: Path, by: str | None, fields: Sequence[str], alpha: float, seed: int, json_out: bool) -> None:
    """Import the labels, keep the calibrations, and show them."""
    z_of(alpha)
    with review.open() as store:
        came = import_labels(store, path, by)
        found = judge_report(review, store, fields=fields, alpha=alpha, seed=seed)
        calibration_id = store_calibrations(store, found.done)
    if json_out:
        print_json({"labels": came, "calibration": calibration_id, **_content(found)})
        return
    typer.echo(f"{came.labels} label(s) imported, {came.blank} row(s) without one; kept as {calibration_id}\n")
    print_tables(tables_of(found))


def report(review: Review, csv: Path | None, fields: Sequence[str], alpha: float, seed: int, json_out: bool) -> None:
    """Show what stands in the store, and write it as rows where asked."""
    z_of(alpha)
    with review.open() as store:
        found = judge_report(review, store, fields=fields, alpha=alpha, seed=seed)
    if csv is not None:
        if not csv.parent.is_dir():
            raise InputError(f"{csv}: there is no folder {csv.parent}; make it first")
        csv.write_text(pl.DataFrame(rows_of(found), infer_schema_length=None).write_csv(), encoding="utf-8")
    if json_out:
        print_json(_content(found))
        return
    print_tables(tables_of(found))
    if csv is not None:
        typer.echo(f"wrote {csv}")


def _content(found: JudgeReport) -> dict[str, Any]:
    return {"calibrations": found.done.calibrations, "judges": found.done.judges, "leanings": found.leanings,
            "scales": found.scales, "notes": found.notes, "not_extracted": found.done.found.not_extracted}  # fmt: skip
