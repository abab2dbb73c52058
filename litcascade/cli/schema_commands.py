"""Commands of `litcascade schema`."""

from pathlib import Path
from typing import Annotated

import typer

from litcascade.cli.options import HERE, JsonOption, ReviewOption

schema_app = typer.Typer(
    help="Develop the extraction schema from goals and papers; people decide every change.", no_args_is_help=True
)

ReaderOption = Annotated[str, typer.Option("--reader", help="The reader of the protocol whose model is asked.")]
NoCheckOption = Annotated[bool, typer.Option("--no-check", help="Do not probe the model first.")]


@schema_app.command("draft")
def schema_draft(
    reader: ReaderOption,
    goals: Annotated[str, typer.Option("--goals", help="What you want to learn from the papers: a text, or a file with it.")],
    sample: Annotated[int, typer.Option("--sample", help="Papers to read; a larger number only adds.")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="Of the drawing.")] = 0,
    no_check: NoCheckOption = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Read a sample of papers for the data items that your goals call for, each with its quote."""
    from litcascade.cli.schema import draft
    from litcascade.pipeline.review import open_review

    raise typer.Exit(draft(open_review(review), reader, goals, sample, seed, not no_check, json_out))


@schema_app.command("propose")
def schema_propose(
    reader: ReaderOption,
    from_: Annotated[str | None, typer.Option("--from", help="The schema so far: a version, a TOML file, or review.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file of proposals in which somebody worked.")] = False,
    no_check: NoCheckOption = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Ask for new fields, merges, splits, edge cases and exceptions, with their evidence; writes a file for you to decide in."""
    from litcascade.cli.schema import propose
    from litcascade.pipeline.review import open_review

    raise typer.Exit(propose(open_review(review), reader, from_, force, not no_check, json_out))


@schema_app.command("freeze")
def schema_freeze(
    author: Annotated[str, typer.Option("--author", help="Who decided.")],
    proposals: Annotated[
        Path | None, typer.Option("--proposals", help="The file with decisions (default: the review's).")
    ] = None,
    base: Annotated[
        str | None, typer.Option("--base", help="The schema to change, or to freeze as it is: a version, a TOML file, or review.")
    ] = None,
    out: Annotated[Path | None, typer.Option("--out", help="File to write (default: schema/vN.toml in the review).")] = None,
    leave_undecided: Annotated[bool, typer.Option("--leave-undecided", help="Leave what is not decided for later.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Apply what you decided and keep the schema as a version, with its hash. The same fields again are no new version."""
    from litcascade.cli.schema import freeze_and_print
    from litcascade.pipeline.review import open_review

    freeze_and_print(open_review(review), author, proposals, base, out, leave_undecided, json_out)


@schema_app.command("diff")
def schema_diff(
    before: Annotated[str, typer.Argument(help="A version, a shipped schema, a TOML file, or review (review.toml).")],
    after: Annotated[str, typer.Argument(help="The same.")],
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Compare two schemas: fields added, removed, renamed, and changed key by key."""
    from litcascade.cli.schema import diff

    diff(review, before, after, json_out)
