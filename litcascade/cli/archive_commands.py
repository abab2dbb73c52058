"""Commands `archive` and `replay`: a run as one file, and that file run again without a model."""

from pathlib import Path
from typing import Annotated

import typer

from litcascade.cli.options import HERE, JsonOption, ReviewOption


def archive(
    file: Annotated[Path | None, typer.Argument(help="File to write (default: NAME-DATE.zip here, after the folder).")] = None,
    gold: Annotated[
        bool | None, typer.Option("--gold/--no-gold", help="Gold labels (default: in, unless a set's licence says otherwise).")
    ] = None,
    texts: Annotated[bool | None, typer.Option("--texts/--no-texts", help="Full texts (default: as for gold labels).")] = None,
    abstracts: Annotated[
        bool | None, typer.Option("--abstracts/--no-abstracts", help="Abstracts (default: as for gold labels).")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Write a run as one file: protocol, prompts, raw replies, verdicts, people's decisions, numbers, environment, checksums."""
    from litcascade.cli.archiving import archive_and_print
    from litcascade.pipeline.archiving.choosing import Asked
    from litcascade.pipeline.review import open_review

    archive_and_print(open_review(review), file, Asked(gold, texts, abstracts), force, json_out)


def replay(
    file: Annotated[Path, typer.Argument(help="An archive that `litcascade archive` wrote.")],
    into: Annotated[Path | None, typer.Option("--into", help="Keep the rebuilt review in this new folder.")] = None,
    json_out: JsonOption = False,
) -> None:
    """Check an archive and run it again with no model: verdicts from raw replies, numbers compared (exit code 1: they differ)."""
    from litcascade.cli.archiving import replay_and_print

    raise typer.Exit(replay_and_print(file, into, json_out))
