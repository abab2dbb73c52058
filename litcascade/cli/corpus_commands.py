"""Commands of `litcascade corpus`."""

from pathlib import Path
from typing import Annotated

import typer

from litcascade.cli.options import HERE, JsonOption

corpus_app = typer.Typer(help="Benchmark sets of reviews with labels.", no_args_is_help=True)

SetArgument = Annotated[str, typer.Argument(help="A name that `litcascade corpus list` shows.")]
FolderOption = Annotated[Path, typer.Option("--from", help="Folder that holds the set's files.")]
PartOption = Annotated[str | None, typer.Option("--part", help="One review of the set.")]
TextsOption = Annotated[Path | None, typer.Option("--texts", help="Local copy of titles and abstracts, for sets of ids.")]


@corpus_app.command("list")
def corpus_list(json_out: JsonOption = False) -> None:
    """Show the benchmark sets that can be loaded."""
    from litcascade.cli.corpora import list_sets

    list_sets(json_out)


@corpus_app.command("show")
def corpus_show(
    name: SetArgument,
    folder: FolderOption = HERE,
    part: PartOption = None,
    texts: TextsOption = None,
    map_: Annotated[Path | None, typer.Option("--map", help="Draw the records as a map to this .svg file.")] = None,
    json_out: JsonOption = False,
) -> None:
    """Describe a set: size, labels, years, lengths, what is missing; with --map, where its records lie."""
    from litcascade.cli.corpora import show_set

    show_set(name, folder, part, texts, map_, json_out)


@corpus_app.command("load")
def corpus_load(
    name: SetArgument,
    folder: FolderOption = HERE,
    part: PartOption = None,
    texts: TextsOption = None,
    review: Annotated[Path, typer.Option("--review", help="Folder of the review to make.")] = HERE,
    json_out: JsonOption = False,
) -> None:
    """Make a review of a set: protocol, records, labels, full texts, gold values."""
    from litcascade.cli.corpora import load_set

    load_set(name, folder, part, texts, review, json_out)


@corpus_app.command("fetch")
def corpus_fetch(
    name: SetArgument,
    into: Annotated[Path, typer.Option("--into", help="Folder to bring the files to.")] = HERE,
    part: PartOption = None,
    mailto: Annotated[str | None, typer.Option("--mailto", help="Your address, as OpenAlex asks for.")] = None,
    json_out: JsonOption = False,
) -> None:
    """Bring the files of a set; what is there already is not asked for again."""
    from litcascade.cli.corpora import fetch_set

    fetch_set(name, into, part, mailto, json_out)
