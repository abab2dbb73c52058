"""`run`, `score`, `report`, `demo`."""

import asyncio
import contextlib
from pathlib import Path

import typer

from litcascade.cli.progress import ProgressLine, pull_with_progress
from litcascade.cli.show import print_json, print_tables, warn_of_disk
from litcascade.errors import InputError
from litcascade.pipeline.ledger import ledger_table, reasons_table
from litcascade.pipeline.on_ray.cluster import RayOptions, joined
from litcascade.pipeline.review import PROTOCOL_NAME, Review, open_review
from litcascade.pipeline.run import Outcome, run_review
from litcascade.report import Table
from litcascade.report.page import Page


def spread_over(
    executor: str,
    address: str | None,
    shards: int | None,
    workers: int | None,
    cpus: float | None,
    gpus: float | None,
) -> RayOptions | None:
    """What `run` is told about a Ray cluster; None where it works in this process."""
    if executor == "ray":
        return RayOptions(address, shards, workers, 1.0 if cpus is None else cpus, gpus)
    if executor != "here":
        raise InputError(f"there is no executor '{executor}'; give --executor here or --executor ray")
    given = {
        "--ray-address": address, "--shards": shards, "--workers": workers, "--worker-cpus": cpus, "--worker-gpus": gpus,
    }  # fmt: skip
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{name} goes with --executor ray")
    return None


def run_and_print(review: Review, *, probed: bool, json_out: bool, over: RayOptions | None = None) -> int:
    """Run, here or over a Ray cluster, print how it ended, and return the exit code."""
    outcome = _run(review, probed=probed, over=over)
    if json_out:
        print_json(_plain(outcome))
    else:
        reasons = reasons_table(outcome.ledger)
        print_tables([ledger_table(outcome.ledger), *([reasons] if reasons else [])])
        spent = outcome.spent
        typer.echo(
            f"{outcome.status}: {outcome.words}\n{spent.calls} call(s), {spent.from_store} answer(s) from the store, "
            f"{spent.prompt_tokens:,} prompt tokens ({spent.cached_tokens:,} cached), {spent.completion_tokens:,} answer tokens"
            + (f"\n{outcome.engine}" if outcome.engine else "")
        )
    return outcome.exit_code


def _run(review: Review, *, probed: bool = True, over: RayOptions | None = None) -> Outcome:
    warn_of_disk(review.folder)
    with review.open() as store, contextlib.ExitStack() as stack:
        spread = None
        if over is not None:
            from litcascade.pipeline.on_ray.stage import RaySpread

            spread = RaySpread(stack.enter_context(joined(over.address)), over)
        progress = stack.enter_context(ProgressLine())
        return asyncio.run(run_review(review, store, observer=progress, probed=probed, spread=spread))


def _plain(outcome: Outcome) -> dict[str, object]:
    spent = {name: value for name, value in vars(outcome.spent).items() if name != "started"}
    return {
        "run": outcome.run_id,
        "status": outcome.status,
        "detail": outcome.words,
        "ledger": outcome.ledger,
        "spent": spent,
        "engine": outcome.engine or None,
    }


def show_report(review: Review, json_out: bool, *, scores_only: bool = False) -> None:
    """Ledger and scores, or the scores alone."""
    from litcascade.pipeline.reporting import report_tables, score_tables
    from litcascade.pipeline.scoring import score_review

    with review.open() as store:
        if scores_only:
            scores = score_review(review, store)
            tables, ledger = score_tables(scores), None
        else:
            tables, ledger, scores = report_tables(review, store)
    if json_out:
        print_json({"ledger": ledger, "scores": scores} if ledger is not None else {"scores": scores})
    elif tables:
        print_tables(tables)
    else:
        typer.echo("nothing to score: import gold labels with `litcascade import FILE --as gold`")


def show_baselines(review: Review, names: list[str], json_out: bool) -> None:
    """Run and print the baselines."""
    from litcascade.pipeline.baselines import score_baselines

    with review.open() as store:
        tables = score_baselines(review, store, names, lambda words: typer.echo(words, err=True))
    if json_out:
        print_json([{"table": table.title, "header": table.header, "rows": table.rows, "notes": table.notes} for table in tables])
    else:
        print_tables(tables)


def write_kit(review: Review, path: Path, force: bool) -> None:
    """Write the reporting kit."""
    from litcascade.pipeline.exporting import require_free
    from litcascade.pipeline.kit import kit_tables
    from litcascade.pipeline.scoring import score_review
    from litcascade.report.kit import as_file

    require_free(review, path, force)
    as_file([], path.name)  # an unknown ending is told before anything is computed
    with review.open() as store:
        scores = score_review(review, store)
        if not scores.stages:
            raise InputError("nothing to report: import gold labels with `litcascade import FILE --as gold`")
        text = as_file(kit_tables(review, store, scores), path.name)
    path.write_text(text, encoding="utf-8", newline="")
    typer.echo(f"wrote {path}; what stands there as open must be filled in by a person")


def write_report(review: Review, html: Path | None, markdown: Path | None, force: bool) -> None:
    """Write the report of a review as one HTML file, as Markdown, or as both."""
    from litcascade.pipeline.exporting import require_free
    from litcascade.pipeline.report_page.assembling import report_page

    for path in (html, markdown):
        if path is not None:
            require_free(review, path, force)
    with review.open() as store:
        page = report_page(review, store)
    _write_page(page, html, markdown)


def _write_page(page: Page, html: Path | None, markdown: Path | None) -> None:
    from litcascade.report.html import page_html
    from litcascade.report.markdown import page_markdown

    for path, write in ((html, page_html), (markdown, page_markdown)):
        if path is not None:
            part = path.with_name(path.name + ".part")
            try:
                part.write_text(write(page), encoding="utf-8", newline="")
                part.replace(path)
            finally:
                part.unlink(missing_ok=True)
            typer.echo(f"wrote {path}", err=True)


def compare_and_print(
    names: list[str], review_folder: Path, html: Path | None, markdown: Path | None, force: bool, json_out: bool
) -> None:
    """Compare the first review or run with the others: tables in the terminal, JSON, or a page."""
    from litcascade.pipeline.comparing.comparing import compare_sides
    from litcascade.pipeline.comparing.sides import load_sides
    from litcascade.pipeline.comparing.telling import comparison_page, plain, tables_of
    from litcascade.pipeline.exporting import require_free

    reviews = [open_review(folder) for folder in (review_folder, *map(Path, names)) if (folder / PROTOCOL_NAME).is_file()]
    for path in (path for path in (html, markdown) if path is not None):
        for review in reviews:
            require_free(review, path, force)
    first, *others = load_sides(names, review_folder)
    done = compare_sides(first, others)
    _write_page(comparison_page(done), html, markdown)
    if json_out:
        print_json(plain(done))
    elif html is None and markdown is None:
        print_tables(tables_of(done))


def lay_out_demo(into: Path, json_out: bool) -> None:
    """Write the files of the demo review: protocol, export, full texts and gold labels."""
    from litcascade.pipeline.demo import FILES, lay_out

    review = lay_out(into)
    names = [*FILES, "texts/"]
    if json_out:
        print_json({"folder": str(review.folder), "files": names})
    else:
        typer.echo(f"wrote {review.folder}: {', '.join(names)}")


def run_demo(into: Path, json_out: bool) -> int:
    """Lay out the demo review, pull its model, run it, and print ledger, scores and where the files are."""
    from litcascade.pipeline.demo import MODEL, fill, lay_out
    from litcascade.pipeline.reporting import report_tables

    review = lay_out(into)
    fill(review)
    if not json_out:
        typer.echo(
            "The demo review: 30 invented records, 8 invented reports. Its model is small: it is for trying the program out,"
        )
        typer.echo("and its decisions are not what a larger model would give. Stop it with Ctrl-C; run it again to go on.")
    pull_with_progress(MODEL)
    outcome = _run(review)
    with review.open() as store:
        tables, ledger, scores = report_tables(review, store)
    if json_out:
        print_json({**_plain(outcome), "scores": scores, "ledger": ledger})
        return outcome.exit_code
    print_tables([*tables, _files(review)])
    typer.echo(f"{outcome.status}: {outcome.words}")
    return outcome.exit_code


def _files(review: Review) -> Table:
    rows = [
        [str(review.folder / "review.toml"), "the protocol"],
        [str(review.store_path), "everything else: open it with DuckDB, or `litcascade export`"],
        [str(review.folder / "texts"), "the full texts"],
    ]
    notes = [
        f"next: litcascade trace D03 --review {review.folder}",
        f"      litcascade export queue queue.csv --review {review.folder}",
    ]
    return Table("Files", ["file", "what it is"], rows, notes)
