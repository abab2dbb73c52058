"""Commands of `litcascade harmonise`."""

from pathlib import Path
from typing import Annotated

import typer

from litcascade.cli.options import HERE, JsonOption, ReviewOption

harmonise_app = typer.Typer(
    help="Turn extracted free text into analysis-ready labels: propose, edit and freeze, map.", no_args_is_help=True
)

FieldOption = Annotated[str, typer.Option("--field", help="The open field, or group.subfield.")]
ReaderOption = Annotated[str, typer.Option("--reader", help="The reader of the protocol whose model is asked.")]
NoCheckOption = Annotated[bool, typer.Option("--no-check", help="Do not probe the model first.")]


@harmonise_app.command("propose")
def harmonise_propose(
    field: FieldOption,
    reader: ReaderOption,
    samples: Annotated[int, typer.Option("--samples", help="Shuffled subsets to ask about.")] = 5,
    size: Annotated[int, typer.Option("--size", help="Distinct items in each.")] = 40,
    seed: Annotated[int, typer.Option("--seed", help="Of the shuffling.")] = 0,
    into: Annotated[Path | None, typer.Option("--into", help="File to write (default: labels/FIELD.toml of the review).")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that has been edited.")] = False,
    no_check: NoCheckOption = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Have labels proposed over shuffled subsets of a field's items, with their support, in a file for you to edit."""
    from litcascade.cli.harmonise import Draw, propose
    from litcascade.pipeline.review import open_review

    raise typer.Exit(propose(open_review(review), field, reader, into, Draw(samples, size, seed), force, not no_check, json_out))


@harmonise_app.command("freeze")
def harmonise_freeze(
    file: Annotated[Path, typer.Argument(help="The labels, as you edited them.")],
    field: FieldOption,
    author: Annotated[str, typer.Option("--author", help="Who stands for these labels.")],
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Check a label file and store it as the field's next version; the same content again is no new one."""
    from litcascade.cli.harmonise import freeze
    from litcascade.pipeline.review import open_review

    freeze(open_review(review), field, file, author, json_out)


@harmonise_app.command("map")
def harmonise_map(
    field: FieldOption,
    reader: ReaderOption,
    version: Annotated[int | None, typer.Option("--version", help="Version of the labels (default: the newest).")] = None,
    comparisons: Annotated[
        bool, typer.Option("--comparisons", help="Take comparisons (two systems, basis, direction, evidence) out instead.")
    ] = False,
    no_check: NoCheckOption = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Give every item its label under the frozen set; what is in doubt is flagged for people. Nothing is asked twice."""
    from litcascade.cli.harmonise import map_and_print
    from litcascade.pipeline.review import open_review

    raise typer.Exit(map_and_print(open_review(review), field, reader, version, comparisons, not no_check, json_out))


@harmonise_app.command("decide")
def harmonise_decide(
    file: Annotated[Path, typer.Argument(help="What `export harmonised_to_check` wrote, with label filled in.")],
    field: Annotated[str | None, typer.Option("--field", help="Field of rows that name none.")] = None,
    by: Annotated[str | None, typer.Option("--by", help="Who decided, where the column who is blank.")] = None,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Import people's decisions on flagged items; they go before whatever a model said."""
    from litcascade.cli.harmonise import decide
    from litcascade.pipeline.review import open_review

    decide(open_review(review), file, field, by, json_out)
