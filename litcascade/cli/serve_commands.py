"""Command `serve`: vLLM for a model of the protocol, started and watched, or looked at where it runs already."""

from pathlib import Path
from typing import Annotated

import typer

from litcascade.cli.options import HERE, JsonOption, ReviewOption


def serve(
    model: Annotated[str | None, typer.Argument(help="Name under [models] (default: the only one that can be served).")] = None,
    options: Annotated[list[str] | None, typer.Argument(help="After --: further options for `vllm serve`.")] = None,
    port: Annotated[int | None, typer.Option("--port", min=1, max=65535, help="Port (default: its endpoint's, or 8000).")] = None,
    log: Annotated[Path | None, typer.Option("--log", help="File for vllm's output (default: vllm-MODEL.log, here).")] = None,
    restarts: Annotated[int, typer.Option("--restarts", min=0, help="How often it is started again after a crash.")] = 3,
    attach: Annotated[bool, typer.Option("--attach", help="Start nothing; check the endpoints that run.")] = False,
    show: Annotated[bool, typer.Option("--show", help="Print the command that would be run, and end.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Start `vllm serve` with what the protocol needs and watch over it; Ctrl-C ends it. --attach checks running endpoints."""
    from litcascade.cli.vllm_serving import attach_and_print, pick, serve_and_watch
    from litcascade.pipeline.review import open_review

    extra = list(options or [])
    if model is not None and model.startswith("-"):
        extra.insert(0, model)
        model = None
    opened = open_review(review)
    name, spec = pick(opened.protocol, model, attach=attach)
    if attach:
        raise typer.Exit(attach_and_print(name, spec, port, json_out))
    raise typer.Exit(serve_and_watch(opened.folder, name, spec, port, log, restarts, extra, show))
