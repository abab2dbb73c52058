"""`batch write` and `batch read`: what they call and print."""

import asyncio
import shlex
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from litcascade.cli.show import print_json, print_tables
from litcascade.errors import BackendError, InputError
from litcascade.pipeline.batches import Read, Written, models_of_last_run, read_replies, used_models, write_batch
from litcascade.pipeline.binding import identify, make_backend
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.shards.binding import named_pairs
from litcascade.report import Table
from litcascade.schemas import ModelRef
from litcascade.store import Store


def write_and_print(folder: Path, file: Path, engines: Sequence[str], force: bool, json_out: bool) -> None:
    """Write the files and say how each is run."""
    review = open_review(folder)
    with review.open() as store:
        models = _models(review, store, engines)
        done = asyncio.run(write_batch(review, store, models, file, force=force))
    if json_out:
        print_json({"files": {name: [str(path), count] for name, (path, count) in done.files.items()}, "waiting": done.waiting})
        return
    for line in _told(review, done):
        typer.echo(line)


def _told(review: Review, done: Written) -> list[str]:
    lines = [f"{count} record(s) of {stage} wait for an answer" for stage, count in done.waiting.items() if count]
    if not done.files:
        return [*lines, "nothing waits for a model: no file was written"]
    for name, (path, count) in done.files.items():
        spec = review.protocol.models[name]
        lines.append(f"wrote {count} request(s) for {name} to {path}; run it with")
        source = spec.weights or spec.model
        served = ["--served-model-name", spec.model] if source != spec.model else []
        pinned = ["--revision", spec.revision] if spec.revision and not (review.folder / source).is_dir() else []
        out = path.with_name(f"{path.stem}.replies{path.suffix}")
        command = ["vllm", "run-batch", "-i", str(path), "-o", str(out), "--model", source, *served, *pinned]
        lines.append(f"  {shlex.join([*command, '--max-model-len', str(spec.context)])}")
        lines.append(f"and read it back with: litcascade batch read {out}")
    return lines


def read_and_print(folder: Path, file: Path, engines: Sequence[str], json_out: bool) -> int:
    """Read replies back and print what came of it; returns 0, or 3 where questions still wait."""
    review = open_review(folder)
    with review.open() as store:
        models = _models(review, store, engines)
        done = asyncio.run(read_replies(review, store, models, file))
    if json_out:
        print_json({**asdict(done), "left_out": dict(done.left_out)})
    else:
        print_tables([read_table(file, done)])
        if done.still:
            typer.echo(f"{done.still} question(s) still wait; write them with `litcascade batch write FILE`")
    return 3 if done.still else 0


def read_table(file: Path, done: Read) -> Table:
    """What a file of replies came to."""
    rows: list[tuple[str, int]] = [("replies stored", done.replies), ("stored before already", done.already_here)]
    rows += [(f"left out: {kind}", count) for kind, count in done.left_out.items()]
    rows += [("verdicts", done.verdicts)]
    rows += [(f"records that wait at {stage}", count) for stage, count in done.waiting.items()]
    more = sum(done.left_out.values()) - len(done.lines)
    return Table(f"Replies of {file}", ["what", "count"], rows, [*done.lines, *([f"and {more} more"] if more > 0 else [])])


def _models(review: Review, store: Store, engines: Sequence[str]) -> dict[str, ModelRef]:
    """Each model as `--engine` says, else as the last run knew it, else as its engine tells."""
    told = named_pairs(engines, "engine")
    used = used_models(review)
    unknown = [name for name in told if name not in used]
    if unknown:
        raise InputError(f"--engine names '{unknown[0]}', but no stage asks a model of that name")
    models = models_of_last_run(review, store)
    for name, said in told.items():
        engine, _, revision = said.partition("@")
        declared = review.protocol.models[name]
        models[name] = ModelRef(
            name=declared.model, revision=revision.strip() or declared.revision.removeprefix("sha256:"), engine=engine.strip()
        )
    for name in used:
        if name not in models:
            models[name] = asyncio.run(_identified(review, name))
    return {name: models[name] for name in used}


async def _identified(review: Review, name: str) -> ModelRef:
    backend = make_backend(review, name)
    try:
        return (await identify(review.protocol, {name: backend}))[name]
    except BackendError as error:
        raise BackendError(f"{error}; or say which vLLM will run the batch: --engine {name}='vllm 0.32.0'") from None
    finally:
        await backend.close()
