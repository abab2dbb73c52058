"""Commands of `litcascade judge`."""

from pathlib import Path
from typing import Annotated

import typer

from litcascade.cli.options import HERE, JsonOption, ReviewOption

judge_app = typer.Typer(help="Judge free-text extractions by a model whose errors people have measured.", no_args_is_help=True)

FieldOption = Annotated[list[str] | None, typer.Option("--field", help="Only this field (may be repeated).")]
SeedOption = Annotated[int, typer.Option("--seed", help="Of the drawing or resampling.")]
AlphaOption = Annotated[float, typer.Option("--alpha", help="How often an interval may be wrong.")]


@judge_app.command("plan")
def judge_plan(
    file: Annotated[Path, typer.Argument(help="The .csv file to write, for people to fill in.")],
    budget: Annotated[int, typer.Option("--budget", help="Labels that each judge and field may cost.")] = 100,
    pilot: Annotated[int, typer.Option("--pilot", help="Labels of each true class at the least.")] = 10,
    judge: Annotated[
        list[str] | None, typer.Option("--judge", help="Only this judge: same_meaning or support (may be repeated).")
    ] = None,
    field: FieldOption = None,
    seed: SeedOption = 0,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Draw items for people to label: a pilot first, then what both true classes still need. The draw is frozen."""
    from litcascade.cli.judge import plan
    from litcascade.pipeline.judging.sampling import Wishes
    from litcascade.pipeline.review import open_review

    wishes = Wishes(budget=budget, pilot=pilot, seed=seed)
    plan(open_review(review), file, wishes, judge or [], field or [], force, json_out)


@judge_app.command("run")
def judge_run(
    reader: Annotated[str, typer.Option("--reader", help="The reader of the protocol whose model judges.")],
    rubric: Annotated[Path | None, typer.Option("--rubric", help="Score on the scale of this .toml file instead.")] = None,
    no_support: Annotated[bool, typer.Option("--no-support", help="Do not look for unmatched items in the reports.")] = False,
    field: FieldOption = None,
    no_check: Annotated[bool, typer.Option("--no-check", help="Do not probe the model first.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Ask the judges about all free-text fields with gold. Stop it anywhere and run it again: nothing is asked twice."""
    from litcascade.cli.judge import run_and_print
    from litcascade.pipeline.review import open_review

    raise typer.Exit(run_and_print(open_review(review), reader, rubric, field or [], not no_support, not no_check, json_out))


@judge_app.command("calibrate")
def judge_calibrate(
    file: Annotated[Path, typer.Argument(help="The table of `judge plan`, filled in.")],
    by: Annotated[str | None, typer.Option("--by", help="Who labelled, where the column who is blank.")] = None,
    field: FieldOption = None,
    alpha: AlphaOption = 0.05,
    seed: SeedOption = 0,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Import people's labels; show how far each judge can be trusted, and recall and precision corrected for it."""
    from litcascade.cli.judge import calibrate
    from litcascade.pipeline.review import open_review

    calibrate(open_review(review), file, by, field or [], alpha, seed, json_out)


@judge_app.command("report")
def judge_report(
    csv: Annotated[Path | None, typer.Option("--csv", help="Also write the rows to this file.")] = None,
    field: FieldOption = None,
    alpha: AlphaOption = 0.05,
    seed: SeedOption = 0,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Show the judges' shares, corrected and raw, their errors and leanings, from what stands in the store."""
    from litcascade.cli.judge import report
    from litcascade.pipeline.review import open_review

    report(open_review(review), csv, field or [], alpha, seed, json_out)
