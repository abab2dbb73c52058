"""Commands of `litcascade model`."""

from typing import Annotated

import typer

from litcascade.cli.options import JsonOption

model_app = typer.Typer(help="Weights for the embedded engine.", no_args_is_help=True)


@model_app.command("list")
def model_list(json_out: JsonOption = False) -> None:
    """Show the weights that can be pulled, and which are here."""
    from litcascade.backends.models import KNOWN, folder
    from litcascade.cli.show import print_json, print_tables
    from litcascade.report import Table

    rows = [[w.name, f"{w.size / 1e6:,.0f} MB", (folder() / w.file).exists(), w.licence, w.about] for w in KNOWN.values()]
    if json_out:
        print_json([{"name": r[0], "size": r[1], "here": r[2], "licence": r[3], "about": r[4]} for r in rows])
    else:
        print_tables([Table(f"Weights (kept in {folder()})", ["name", "size", "here", "licence", "about"], rows)])


@model_app.command("pull")
def model_pull(name: Annotated[str, typer.Argument(help="A name that `litcascade model list` shows.")]) -> None:
    """Bring weights and check their hash."""
    from litcascade.cli.progress import pull_with_progress

    typer.echo(f"{pull_with_progress(name)}: here, hash checked")
