"""Commands of `litcascade`. Everything heavy is imported inside the command that needs it."""

import sys
from asyncio import CancelledError
from pathlib import Path
from typing import Annotated

import typer

from litcascade import __version__
from litcascade.cli.archive_commands import archive, replay
from litcascade.cli.batch_commands import batch_app
from litcascade.cli.bench_commands import bench_app
from litcascade.cli.corpus_commands import corpus_app
from litcascade.cli.harmonise_commands import harmonise_app
from litcascade.cli.judge_commands import judge_app
from litcascade.cli.model_commands import model_app
from litcascade.cli.options import HERE, JsonOption, ReviewOption
from litcascade.cli.schema_commands import schema_app
from litcascade.cli.serve_commands import serve
from litcascade.cli.shard_commands import merge, submit, work
from litcascade.errors import InputError, LitcascadeError

app = typer.Typer(
    name="litcascade",
    help="Screen and extract a systematic review with open-weight language models; no record is lost in silence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(model_app, name="model")
app.add_typer(corpus_app, name="corpus")
app.add_typer(bench_app, name="bench")
app.add_typer(batch_app, name="batch")
app.add_typer(judge_app, name="judge")
app.add_typer(schema_app, name="schema")
app.add_typer(harmonise_app, name="harmonise")


def main() -> None:
    """Run the command line; a known error is one line on stderr and an exit code that scripts can use."""
    try:
        code = app(standalone_mode=False)
    except LitcascadeError as error:
        _fail(" ".join(str(error).split()), error.exit_code)
    except typer.Abort:
        _fail("stopped", 130)
    except (KeyboardInterrupt, CancelledError):
        _fail("stopped; run the command again to go on", 130)
    except BrokenPipeError:
        sys.exit(0)
    except OSError as error:
        _fail(f"{error.filename or 'a file'}: {error.strerror or error}", 2)
    except Exception as error:
        show = getattr(error, "show", None)
        if show is None:
            raise
        show()
        sys.exit(getattr(error, "exit_code", 2))
    sys.exit(code if isinstance(code, int) else 0)


def _fail(words: str, code: int) -> None:
    print(f"error: {words}", file=sys.stderr)  # noqa: T201  (the command line prints)
    sys.exit(code)


def _say(words: str) -> None:
    typer.echo(words)


@app.callback(invoke_without_command=True)
def _options(version: Annotated[bool, typer.Option("--version", help="Show the version.")] = False) -> None:
    if version:
        _say(f"litcascade {__version__}")
        raise typer.Exit


@app.command()
def init(folder: Annotated[Path, typer.Argument(help="Folder of the new review.")] = HERE) -> None:
    """Write a commented protocol (review.toml) to fill in."""
    from importlib import resources

    from litcascade.pipeline.review import PROTOCOL_NAME

    target = folder / PROTOCOL_NAME
    if target.exists():
        raise InputError(f"{target}: is there already; edit it, or name another folder")
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file; name a folder")
    folder.mkdir(parents=True, exist_ok=True)
    target.write_text((resources.files("litcascade.cli") / "review_template.toml").read_text(encoding="utf-8"), encoding="utf-8")
    _say(f"wrote {target}; fill in question and criteria, then: litcascade check --review {folder}")


@app.command()
def check(
    review: ReviewOption = HERE,
    no_models: Annotated[bool, typer.Option("--no-models", help="Validate the protocol only.")] = False,
    json_out: JsonOption = False,
) -> None:
    """Validate the protocol and probe its models: constraint, reasoning field, chat template, cut prompts."""
    from litcascade.cli.checking import check_models
    from litcascade.cli.show import print_json, print_tables, warn_of_disk
    from litcascade.pipeline.review import open_review

    opened = open_review(review)
    warn_of_disk(opened.folder)
    tables, findings, failed = ([], [], False) if no_models else check_models(opened)
    if json_out:
        print_json({"protocol": "valid", "models": findings})
    else:
        _say(f"{opened.folder / 'review.toml'}: valid ({len(opened.protocol.criteria)} criteria, "
             f"stages {', '.join(name for name, _ in opened.protocol.stages.items())})")  # fmt: skip
        print_tables(tables)
    if failed:
        raise typer.Exit(3)


@app.command()
def amend(
    author: Annotated[str, typer.Option("--author", help="Who changed the criteria.")],
    reason: Annotated[str, typer.Option("--reason", help="Why.")],
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Record that question, criteria or fields changed; people's decisions that the change touches are queued again."""
    from dataclasses import asdict

    from litcascade.cli.show import print_json
    from litcascade.pipeline.amending import amend as record
    from litcascade.pipeline.review import open_review

    if not author.strip() or not reason.strip():
        raise InputError("an amendment needs an author and a reason")
    opened = open_review(review)
    with opened.open() as store:
        done = record(opened, store, author.strip(), reason.strip())
    if json_out:
        print_json(asdict(done))
        return
    for change in done.changes:
        _say(f"{change.what}: {change.how} (at {', '.join(change.stages)})")
    _say(f"recorded; {done.requeued} decision(s) of people are queued again, models are asked anew by the next run")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="An export of records, a folder of full texts, or a table of labels.")],
    as_: Annotated[
        str,
        typer.Option("--as", help="records, texts, gold, decisions, rationales, duplicates or causes (default: by the path)."),
    ] = "",
    by: Annotated[str | None, typer.Option("--by", help="Who made the decisions.")] = None,
    columns: Annotated[list[str] | None, typer.Option("--columns", help="What a table calls a field: title=Heading.")] = None,
    grobid: Annotated[str | None, typer.Option("--grobid", help="Address of a GROBID server that reads the PDFs.")] = None,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Import records, full texts, gold labels, people's decisions, rationales or causes of errors, with a receipt."""
    from litcascade.cli.importing import import_any

    import_any(review, path, as_, by, columns or [], json_out, grobid)


@app.command()
def retrieve(
    email: Annotated[str, typer.Option("--email", help="Your address: the services that are asked want one.")],
    into: Annotated[Path | None, typer.Option("--into", help="Folder for the files (default: retrieved, in the review).")] = None,
    source: Annotated[list[str] | None, typer.Option("--source", help="pmc, unpaywall, openalex (may be repeated).")] = None,
    again: Annotated[bool, typer.Option("--again", help="Ask also for what was not open before.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Bring open-access full texts of the records that wait for one, politely, and import them."""
    from litcascade.cli.retrieving import retrieve_and_import
    from litcascade.pipeline.review import open_review

    retrieve_and_import(open_review(review), email, into, source, again, json_out)


@app.command()
def dedup(review: ReviewOption = HERE, json_out: JsonOption = False) -> None:
    """Find duplicate records and reports of one study; unsure pairs go to people, every join can be undone."""
    from litcascade.cli.deduplicating import deduplicate_and_print
    from litcascade.pipeline.review import open_review

    deduplicate_and_print(open_review(review), json_out)


@app.command()
def run(
    review: ReviewOption = HERE,
    no_check: Annotated[bool, typer.Option("--no-check", help="Do not probe the models first.")] = False,
    estimate: Annotated[bool, typer.Option("--estimate", help="Only tell what it would ask and cost.")] = False,
    sample: Annotated[int, typer.Option("--sample", min=0, help="For --estimate: records to ask about, 0 for none.")] = 8,
    per_million: Annotated[float | None, typer.Option("--per-million", min=0, help="Price of a million tokens.")] = None,
    per_hour: Annotated[float | None, typer.Option("--per-hour", min=0, help="Price of an hour of a GPU.")] = None,
    replicas: Annotated[
        list[int] | None, typer.Option("--replicas", min=1, help="For --estimate: play it through on so many engines (repeat).")
    ] = None,
    records: Annotated[int | None, typer.Option("--records", min=1, help="With --replicas: so many records.")] = None,
    readers: Annotated[int | None, typer.Option("--readers", min=1, help="With --replicas: so many readers.")] = None,
    fail: Annotated[float, typer.Option("--fail", min=0, max=0.99, help="With --replicas: share of requests that fail.")] = 0.0,
    deaths: Annotated[float | None, typer.Option("--deaths", min=0, help="With --replicas: hours until an engine dies.")] = None,
    restart: Annotated[float, typer.Option("--restart", min=0, help="With --deaths: minutes until it is back.")] = 5.0,
    executor: Annotated[str, typer.Option("--executor", help="Where stages are worked: here, or ray.")] = "here",
    ray_address: Annotated[
        str | None, typer.Option("--ray-address", help="Ray cluster, HOST:PORT (default: this machine's, else one started here).")
    ] = None,
    shards: Annotated[int | None, typer.Option("--shards", min=1, help="For ray: shards a stage is cut into.")] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="For ray: how many workers at most.")] = None,
    worker_cpus: Annotated[float | None, typer.Option("--worker-cpus", min=0, help="For ray: CPUs a worker holds (1).")] = None,
    worker_gpus: Annotated[
        float | None, typer.Option("--worker-gpus", min=0, help="For ray: GPUs a worker holds (default: what its engine needs).")
    ] = None,
    json_out: JsonOption = False,
) -> None:
    """Run every stage for what is pending. Stop it anywhere (Ctrl-C) and run it again: nothing is asked twice."""
    from litcascade.cli.running import run_and_print, spread_over
    from litcascade.pipeline.review import open_review

    over = spread_over(executor, ray_address, shards, workers, worker_cpus, worker_gpus)
    if estimate:
        from litcascade.cli.estimating import estimate_and_print
        from litcascade.pipeline.foretelling.foretelling import Elsewhere

        elsewhere = Elsewhere(tuple(replicas or ()), records, readers, fail, deaths, restart)
        estimate_and_print(open_review(review), sample, per_million, per_hour, elsewhere, probed=not no_check, json_out=json_out)
        return
    raise typer.Exit(run_and_print(open_review(review), probed=not no_check, json_out=json_out, over=over))


for _command in (serve, submit, work, merge, archive, replay):
    app.command()(_command)


@app.command()
def desk(
    user: Annotated[list[str] | None, typer.Option("--user", help="NAME:ROLE (reviewer, arbiter, viewer; repeat).")] = None,
    double: Annotated[bool, typer.Option("--double", help="Two people read each record blind.")] = False,
    again_after: Annotated[float, typer.Option("--again-after", help="Days until one reads some records again.")] = 14.0,
    hours: Annotated[float, typer.Option("--hours", help="How long the links are good.")] = 12.0,
    host: Annotated[str, typer.Option("--host", help="Address to serve on.")] = "127.0.0.1",
    port: Annotated[int | None, typer.Option("--port", help="Port (default: 8765, or a free one).")] = None,
    allow_remote: Annotated[bool, typer.Option("--allow-remote", help="Serve on an address that others reach.")] = False,
    review: ReviewOption = HERE,
) -> None:
    """Open the desk: a local web page where people decide what models may not. Stop it with Ctrl-C."""
    from litcascade.cli.serving import serve_desk
    from litcascade.pipeline.review import open_review

    serve_desk(open_review(review), user or [], double, again_after, hours, host, port, allow_remote)


@app.command()
def status(
    review: ReviewOption = HERE,
    watch: Annotated[bool, typer.Option("--watch", help="Show it anew every 2 seconds until the run ends (or Ctrl-C).")] = False,
    counters: Annotated[
        bool, typer.Option("--prometheus", help="Print the last run's counters as Prometheus reads them.")
    ] = False,
    json_out: JsonOption = False,
) -> None:
    """Show where every record stands; while a run holds the review, its progress."""
    from litcascade.cli.status import show_counters, show_status, watch_status
    from litcascade.pipeline.review import open_review

    if counters:
        show_counters(open_review(review))
    elif watch:
        watch_status(open_review(review), json_out)
    else:
        show_status(open_review(review), json_out)


@app.command()
def trace(
    record: Annotated[str, typer.Argument(help="Id of a record.")],
    prompts: Annotated[bool, typer.Option("--prompts", help="Show the whole prompts.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Take one record through the stages one step at a time, and show every question and answer."""
    from litcascade.cli.tracing import show_trace
    from litcascade.pipeline.review import open_review

    raise typer.Exit(show_trace(open_review(review), record, prompts, json_out))


@app.command()
def score(
    baselines: Annotated[bool, typer.Option("--baselines", help="Score baselines without a language model instead.")] = False,
    only: Annotated[list[str] | None, typer.Option("--only", help="Of the baselines, this one (may be repeated).")] = None,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Score the models' verdicts against gold labels; with --baselines, what simple methods reach on the same gold."""
    from litcascade.cli.running import show_baselines, show_report
    from litcascade.pipeline.review import open_review

    if baselines:
        show_baselines(open_review(review), only or [], json_out)
    else:
        show_report(open_review(review), json_out, scores_only=True)


@app.command()
def report(
    kit: Annotated[Path | None, typer.Option("--kit", help="Write the reporting kit to this file (.md, .csv or .tex).")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="Write the whole report to this one HTML file.")] = None,
    markdown: Annotated[Path | None, typer.Option("--markdown", help="Write the whole report to this Markdown file.")] = None,
    compare: Annotated[bool, typer.Option("--compare", help="Compare: names folders of reviews, or runs of this one.")] = False,
    names: Annotated[list[str] | None, typer.Argument(help="With --compare: A B …", metavar="[A B …]")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Show ledger, scores, amendments and calls; write the whole report, or the tables a paper needs; compare runs."""
    from litcascade.cli.running import compare_and_print, show_report, write_kit, write_report
    from litcascade.pipeline.review import open_review

    if compare:
        if kit is not None:
            raise InputError("--kit is of one review; leave out --compare")
        compare_and_print(names or [], review, html, markdown, force, json_out)
        return
    if names:
        raise InputError(f"'{names[0]}' stands alone; to compare reviews or runs write: litcascade report --compare A B")
    if kit is not None:
        write_kit(open_review(review), kit, force)
    if html is not None or markdown is not None:
        write_report(open_review(review), html, markdown, force)
    if kit is None and html is None and markdown is None:
        show_report(open_review(review), json_out)


@app.command()
def metrics(
    counts: Annotated[list[int] | None, typer.Argument(help="TP FP FN TN", metavar="[TP FP FN TN]")] = None,
    weight: Annotated[float, typer.Option("--weight", help="w: how many false positives a missed include is worth.")] = 10.0,
    sweep: Annotated[bool, typer.Option("--sweep", help="Also WMCC over w.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="List all metrics with formula, source and range.")] = False,
    json_out: JsonOption = False,
) -> None:
    """Calculate every metric of a confusion matrix, or list them."""
    from litcascade.cli.figures import calculate, list_metrics

    if list_:
        list_metrics(json_out)
    elif counts is None or len(counts) != 4:
        raise InputError("give four counts: TP FP FN TN (or --list)")
    else:
        calculate((counts[0], counts[1], counts[2], counts[3]), weight, sweep, json_out)


@app.command()
def plan(
    recall: Annotated[float, typer.Option("--recall", help="The recall to claim.")] = 0.95,
    excluded: Annotated[int | None, typer.Option("--excluded", help="Records excluded (default: of the review).")] = None,
    found: Annotated[int | None, typer.Option("--found", help="Relevant records found (default: of the review).")] = None,
    assumed: Annotated[int, typer.Option("--assume", help="Missed ones to assume, for the chance of success.")] = 0,
    alpha: Annotated[float, typer.Option("--alpha", help="How often the claim may be wrong.")] = 0.05,
    draw: Annotated[Path | None, typer.Option("--draw", help="Draw the sample and write it to this .csv file.")] = None,
    size: Annotated[int | None, typer.Option("--size", help="Records to draw (default: as planned).")] = None,
    stage: Annotated[str | None, typer.Option("--stage", help="Stage to audit (default: the first).")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Of the drawing.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Plan an audit: how many exclusions must be re-read to claim a recall; with --draw, draw them for people to re-read."""
    from litcascade.cli.figures import draw as write
    from litcascade.cli.figures import plan as show

    if not 0 < alpha < 1:
        raise InputError("--alpha lies between 0 and 1")
    if draw is not None:
        write(review, draw, stage, size, recall, alpha, seed, force, json_out)
        return
    show(review, excluded, found, recall, alpha, assumed, json_out)


@app.command()
def export(
    what: Annotated[
        str, typer.Argument(help="records, queue, duplicates, extractions, errors, replies … (docs/commands.md has all).")
    ],
    file: Annotated[
        Path, typer.Argument(help="File to write; for records the ending (.ris, .csv, .xlsx, .bib …) is the format.")
    ],
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    review: ReviewOption = HERE,
) -> None:
    """Write records with decisions, the queue for people, extractions, errors, or the recorded replies."""
    from litcascade.pipeline import duplicates, errors_found  # noqa: F401  (importing registers their exports)
    from litcascade.pipeline.exporting import export as write
    from litcascade.pipeline.harmonising import exporting  # noqa: F401  (importing registers its exports)
    from litcascade.pipeline.review import open_review

    opened = open_review(review)
    with opened.open() as store:
        done = write(opened, store, what, file, force=force)
    _say(f"wrote {done.rows} row(s) to {file}")
    for note in done.notes:
        _say(f"  {note}")


@app.command()
def demo(
    into: Annotated[Path, typer.Option("--into", help="Folder of the demo review.")] = Path("demo-review"),
    no_run: Annotated[bool, typer.Option("--no-run", help="Only write its files, to go through it step by step.")] = False,
    json_out: JsonOption = False,
) -> None:
    """Run an invented review of 30 records end to end on a small embedded model (1.1 GB, pulled once)."""
    from litcascade.cli.running import lay_out_demo, run_demo

    if no_run:
        lay_out_demo(into, json_out)
        return
    raise typer.Exit(run_demo(into, json_out))
