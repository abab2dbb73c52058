"""`litcascade serve`: which model, what is printed, and the watch."""

import shlex
from collections.abc import Sequence
from pathlib import Path

import typer

from litcascade.backends.attaching import Attached, attach
from litcascade.backends.serving import LOOPBACK, Serving, Watched, plan_serving
from litcascade.cli.show import print_json, print_tables
from litcascade.errors import InputError
from litcascade.registry import nearest
from litcascade.report import Table
from litcascade.schemas import ModelSpec, Protocol


def pick(protocol: Protocol, name: str | None, *, attach: bool = False) -> tuple[str, ModelSpec]:
    """The model named, or the only one that vLLM serves; anything else is an `InputError`."""
    served = {key: spec for key, spec in protocol.models.items() if spec.backend in ("http", "vllm") and spec.dialect == "vllm"}
    if name is None:
        if len(served) != 1:
            there = f"name one of them: {', '.join(served)}" if served else 'declare one with backend = "http" under [models]'
            raise InputError(f"the protocol has {len(served)} models that vLLM could serve; {there}")
        return next(iter(served.items()))
    if name not in protocol.models:
        raise InputError(f"the protocol has no model '{name}'{nearest(name, protocol.models)}")
    if name not in served and not attach:
        declared = protocol.models[name]
        raise InputError(
            f"model '{name}' runs by backend = \"{declared.backend}\" in the dialect of {declared.dialect}; vLLM serves those of "
            'backend = "http" or "vllm" in its own'
        )
    return name, protocol.models[name]


def serve_and_watch(
    folder: Path, name: str, spec: ModelSpec, port: int | None, log: Path | None, restarts: int, extra: Sequence[str], show: bool
) -> int:
    """Start the server, say how the protocol reaches it, and watch until it is stopped; returns the exit code."""
    serving = plan_serving(spec, folder, log or Path(f"vllm-{name}.log"), port=port, extra=extra)
    if show:
        typer.echo(shlex.join(serving.command))
        return 0
    _say(f"starting {shlex.join(serving.command)}")
    for line in how_to_reach(name, spec, serving):
        _say(line)
    return Watched(serving, _say, restarts=restarts).run()


def how_to_reach(name: str, spec: ModelSpec, serving: Serving) -> list[str]:
    """What to write into the protocol, where it does not name this server yet."""
    known = {url.rstrip("/").replace("localhost", LOOPBACK) for url in spec.endpoints}
    if spec.backend == "http" and serving.url in known:
        return []
    return [f'under [models.{name}] write: backend = "http", endpoints = ["{serving.url}"]']


def _say(words: str) -> None:
    typer.echo(words, err=True)


def attach_and_print(name: str, spec: ModelSpec, port: int | None, json_out: bool) -> int:
    """Check running endpoints and print what they serve; returns 0, or 3 where one does not fit."""
    urls = [f"http://{LOOPBACK}:{port}/v1"] if port else list(spec.endpoints)
    if not urls:
        raise InputError(f"model '{name}' names no endpoints; add them under [models.{name}], or name a --port of this machine")
    found = attach(spec, urls)
    if json_out:
        print_json(found)
    else:
        print_tables([attached_table(name, found)])
    return 3 if any(one.faults for one in found) else 0


def attached_table(name: str, found: Sequence[Attached]) -> Table:
    """One row an endpoint."""
    rows = [[one.url, ", ".join(one.serves) or None, one.context, one.version, "; ".join(one.faults) or "fits"] for one in found]
    return Table(f"Endpoints of {name}", ["endpoint", "serves", "context", "version", "for this protocol"], rows)
