"""Commands of `litcascade batch`: the questions that wait as files for `vllm run-batch`, and its replies read back."""

from pathlib import Path
from typing import Annotated

import typer

from litcascade.cli.options import HERE, JsonOption, ReviewOption

batch_app = typer.Typer(help="Batch files for sites that only run batch jobs (vllm run-batch).", no_args_is_help=True)
EngineOption = Annotated[
    list[str] | None,
    typer.Option("--engine", help="vLLM that will run it (default: of the last run): MODEL='vllm 0.32.0' (may be repeated)."),
]


@batch_app.command("write")
def write(
    file: Annotated[Path, typer.Argument(help="File of requests to write (.jsonl).")],
    engine: EngineOption = None,
    force: Annotated[bool, typer.Option("--force", help="Write over a file that is there.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Write every question that waits, first ones and repairs alike; each keeps its key as custom_id."""
    from litcascade.cli.batching import write_and_print

    write_and_print(review, file, engine or [], force, json_out)


@batch_app.command("read")
def read(
    file: Annotated[Path, typer.Argument(help="File of replies that `vllm run-batch` wrote.")],
    engine: EngineOption = None,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Store replies and the verdicts that follow; what is torn, failed, foreign or said twice is named and stays pending."""
    from litcascade.cli.batching import read_and_print

    raise typer.Exit(read_and_print(review, file, engine or [], json_out))
