"""`litcascade harmonise`: have labels proposed, freeze them, map the items, take people's decisions in."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from litcascade.cli.progress import ProgressLine
from litcascade.cli.show import print_json, print_tables
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.harmonising import deciding, label_sets
from litcascade.pipeline.harmonising.mapping import map_items
from litcascade.pipeline.harmonising.proposing import propose as ask_for_labels
from litcascade.pipeline.review import Review
from litcascade.pipeline.run import EXIT
from litcascade.report import Table


@dataclass(frozen=True)
class Draw:
    """How the subsets are drawn."""

    samples: int
    size: int
    seed: int


def propose(
    review: Review, field: str, reader: str, into: Path | None, draw: Draw, force: bool, probed: bool, json_out: bool
) -> int:
    """Ask for labels, write the file, and say how it ended; returns the exit code."""
    path = into or review.folder / "labels" / f"{field}.toml"
    with review.open() as store, ProgressLine() as progress:
        done = asyncio.run(
            ask_for_labels(
                review, store, field, reader, path, samples=draw.samples, size=draw.size, seed=draw.seed, force=force,
                observer=progress, probed=probed,
            )
        )  # fmt: skip
    if json_out:
        told = {name: value for name, value in vars(done).items() if name not in ("spent", "run_id")}
        print_json({"run": done.run_id, **told, "spent": _used(done.spent)})
        return EXIT[done.status]
    rows: list[list[Any]] = [
        ["distinct items", done.items], ["subsets", done.subsets], ["labels proposed", done.labels],
        ["items in no subset", done.never_shown], ["items that may steer, not shown", done.steering],
        ["values that could not be read", done.unread],
    ]  # fmt: skip
    rows += [[f"subset failed: {why}", count] for why, count in done.failures.items()]
    print_tables([Table(f"Labels of {field}", ["", "count"], rows, [])])
    typer.echo(f"{done.status}: {done.words}; {_words(done.spent)}")
    if done.file is not None:
        typer.echo(f"wrote {done.file}; edit it, then: litcascade harmonise freeze {done.file} --field {field} --author NAME")
    return EXIT[done.status]


def freeze(review: Review, field: str, path: Path, author: str, json_out: bool) -> None:
    """Store a label file as a version."""
    with review.open() as store:
        done = label_sets.freeze(review, store, field, path, author)
    if json_out:
        told = {"field": field, "version": done.version, "hash": done.hash, "author": done.author, "new": done.fresh}
        print_json({**told, "labels": [label.name for label in done.labels.labels]})
        return
    count = len(done.labels.labels)
    if done.fresh:
        typer.echo(f"froze version {done.version} of the labels of {field}: {count} labels, by {done.author}")
    else:
        typer.echo(f"nothing changed: version {done.version} of the labels of {field}, by {done.author}, has this content")


def map_and_print(
    review: Review, field: str, reader: str, version: int | None, comparisons: bool, probed: bool, json_out: bool
) -> int:
    """Map the items and say what came of them; returns the exit code."""
    with review.open() as store, ProgressLine() as progress:
        done = asyncio.run(
            map_items(review, store, field, reader, version=version, comparisons=comparisons, observer=progress, probed=probed)
        )
    if json_out:
        told = {name: value for name, value in vars(done).items() if name not in ("spent", "run_id")}
        print_json({"run": done.run_id, **told, "spent": _used(done.spent)})
        return EXIT[done.status]
    rows: list[list[Any]] = [["items", done.items], ["values that could not be read, no items", done.unread]]
    rows += [[f"settled by: {how}", count] for how, count in done.by.items()]
    rows += [[f"for people: {why}", count] for why, count in done.flags.items()]
    title = f"Comparisons of {field}" if comparisons else f"Labels of {field}, version {done.version}"
    notes = ["people's part: litcascade export harmonised_to_check FILE.csv"] if done.flags else []
    print_tables([Table(title, ["", "items"], rows, notes)])
    typer.echo(f"{done.status}: {done.words}; {_words(done.spent)}")
    return EXIT[done.status]


def decide(review: Review, path: Path, field: str | None, by: str | None, json_out: bool) -> None:
    """Import people's decisions."""
    with review.open() as store:
        done = deciding.decide(store, path, field=field, by=by)
    if json_out:
        print_json(vars(done))
        return
    typer.echo(f"{done.decided} decision(s) imported, {done.unsure} unsure (they stay with people), {done.blank} row(s) blank")


def _used(spent: Spent) -> Mapping[str, Any]:
    return {name: value for name, value in vars(spent).items() if name != "started"}


def _words(spent: Spent) -> str:
    return (
        f"{spent.calls} call(s), {spent.from_store} answer(s) from the store, {spent.prompt_tokens:,} prompt tokens, "
        f"{spent.completion_tokens:,} answer tokens"
    )
