"""Commands of `litcascade bench`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from litcascade.cli.options import HERE, JsonOption, ReviewOption

bench_app = typer.Typer(help="Compare models, prompts and examples on labelled records, and choose a rule.", no_args_is_help=True)

Unit = Literal["read", "hours", "tokens", "gpu_seconds", "money"]
GapsOption = Annotated[
    Literal["refuse", "common", "referred"], typer.Option("--gaps", help="What to do where readers answered different records.")
]
CsvOption = Annotated[Path | None, typer.Option("--csv", help="Also write the rows to this file.")]


@bench_app.command("run")
def bench_run(
    redraw: Annotated[bool, typer.Option("--redraw", help="Draw the splits anew.")] = False,
    no_check: Annotated[bool, typer.Option("--no-check", help="Do not probe the models first.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Run the grid of [bench] on the labelled records. Stop it anywhere and run it again: nothing is asked twice."""
    from litcascade.cli.bench import run_and_print
    from litcascade.pipeline.review import open_review

    raise typer.Exit(run_and_print(open_review(review), probed=not no_check, redraw=redraw, json_out=json_out))


@bench_app.command("show")
def bench_show(
    csv: CsvOption = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Draw every cell to this .svg file.")] = None,
    split: Annotated[Literal["evaluation", "development"], typer.Option("--split", help="Of which records.")] = "evaluation",
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Show every cell, averages by prompt, shots, model family and size, gains with intervals, and reliability."""
    from litcascade.cli.bench import show
    from litcascade.pipeline.review import open_review

    show(open_review(review), split, csv, plot, json_out)


@bench_app.command("choose")
def bench_choose(
    target: Annotated[float | None, typer.Option("--target", help="Recall to keep (default: the protocol's).")] = None,
    strong: Annotated[int, typer.Option("--strong", help="Readers of the strong pool (top by F2).")] = 3,
    lenient: Annotated[int, typer.Option("--lenient", help="Readers of the lenient pool (top by recall).")] = 5,
    precision: Annotated[float, typer.Option("--precision", help="Least precision of the lenient pool.")] = 0.0,
    bins: Annotated[int, typer.Option("--bins", help="Bins of length for routing; 0: none.")] = 4,
    minimise: Annotated[Unit | None, typer.Option("--minimise", help="What should cost least at the target.")] = None,
    gaps: GapsOption = "refuse",
    write: Annotated[Path | None, typer.Option("--write", help="Write the rule for the protocol to this .toml file.")] = None,
    csv: CsvOption = None,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Choose a rule on the development split, report it on the evaluation split with what is shown, and freeze it."""
    from litcascade.cli.bench import choose
    from litcascade.pipeline.bench.choosing import Wishes
    from litcascade.pipeline.review import open_review

    wishes = Wishes(
        target=target, strong=strong, lenient=lenient, least_precision=precision, bins=bins, minimise=minimise, gaps=gaps
    )
    choose(open_review(review), wishes, write, csv, json_out)


@bench_app.command("resample")
def bench_resample(
    repeats: Annotated[int, typer.Option("--repeats", help="Random pools and splits.")] = 300,
    smallest: Annotated[int, typer.Option("--smallest", help="Readers of the smallest pool.")] = 2,
    largest: Annotated[int, typer.Option("--largest", help="Readers of the largest pool.")] = 10,
    train: Annotated[float, typer.Option("--train", help="Share of the records to choose on.")] = 0.7,
    bins: Annotated[list[int] | None, typer.Option("--bins", help="Bins of length for routing (may be repeated).")] = None,
    measure: Annotated[str, typer.Option("--measure", help="f@2, mcc or wmcc@w.")] = "f@2",
    seed: Annotated[int, typer.Option("--seed", help="Of pools and splits.")] = 0,
    gaps: GapsOption = "refuse",
    csv: CsvOption = None,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Ask how much panels and routing gain on records they were not chosen on, over random pools and splits."""
    from litcascade.cli.bench import resample
    from litcascade.pipeline.bench.resampling import Plan
    from litcascade.pipeline.review import open_review

    plan = Plan(
        repeats=repeats, pool=(smallest, largest), train=train, bins=tuple(bins or (4,)), measure=measure, seed=seed, gaps=gaps
    )
    resample(open_review(review), plan, csv, json_out)
