"""`litcascade schema`: draft, propose, freeze, diff."""

import asyncio
import json
from pathlib import Path
from typing import Any

import typer

from litcascade.cli.progress import ProgressLine
from litcascade.cli.show import print_json, print_tables
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.review import PROTOCOL_NAME, Review, open_review
from litcascade.pipeline.run import EXIT
from litcascade.pipeline.schema_drafting.drafting import run_draft
from litcascade.pipeline.schema_drafting.freezing import freeze, named_schema
from litcascade.pipeline.schema_drafting.proposing import run_propose
from litcascade.report import Table
from litcascade.schemas.fields.comparing import SchemaDiff, compare
from litcascade.stages.schema_drafting import Proposal
from litcascade.store import FILE_NAME, Store


def draft(review: Review, reader: str, goals: str, sample: int, seed: int, probed: bool, json_out: bool) -> int:
    """Read the sample and say how it ended; returns the exit code."""
    with review.open() as store, ProgressLine() as progress:
        done = asyncio.run(run_draft(review, store, reader, goals, sample=sample, seed=seed, observer=progress, probed=probed))
    if json_out:
        print_json({**vars(done), "spent": _used(done.spent)})
        return EXIT[done.status]
    failed = ", ".join(f"{count} {why}" for why, count in done.failed.items())
    typer.echo(f"{done.status}: {done.words}")
    typer.echo(f"sample: {done.sample} paper(s), {done.drawn} of them drawn now; {done.pool} could be drawn")
    typer.echo(f"reports: {done.reports} ({done.partly} with parts that could not be read); failed: {failed or 'none'}")
    typer.echo(
        f"candidates: {done.candidates} under {done.names} name(s); {done.unfound} with a quote that does not stand in its paper"
    )
    if done.flagged:
        typer.echo(f"texts that may steer a reader or be of another paper: {', '.join(done.flagged)}; look at what they gave")
    typer.echo(_spent(done.spent))
    if done.candidates:
        typer.echo(f"next: litcascade schema propose --reader {reader}")
    return EXIT[done.status]


def propose(review: Review, reader: str, base: str | None, force: bool, probed: bool, json_out: bool) -> int:
    """Make the file of proposals and say what is in it; returns the exit code."""
    with review.open() as store, ProgressLine() as progress:
        schema = named_schema(review, store, base) if base is not None else ()
        done = asyncio.run(run_propose(review, store, reader, base=schema, force=force, observer=progress, probed=probed))
    if json_out:
        print_json({**vars(done), "file": done.file and str(done.file), "spent": _used(done.spent)})
        return EXIT[done.status]
    typer.echo(f"{done.status}: {done.words}")
    typer.echo(f"{done.candidates} candidate(s) under {done.names} name(s), in {done.batches} batch(es)")
    if done.held is not None:
        held = done.held
        rows = [_row(one) for one in held.proposals]
        notes = [f"invalid: {one.kind or 'a proposal'} {', '.join(one.names)}: {one.fault}" for one in held.invalid]
        notes += [f"not read: {words}" for words in held.unread]
        notes += [f"in no proposal: {', '.join(held.not_proposed)}"] if held.not_proposed else []
        print_tables([Table("Proposals", ["id", "kind", "names", "fields", "papers", "why"], rows, notes)])
        typer.echo(f"wrote {done.file}; fill in each decision, then: litcascade schema freeze --author NAME")
    typer.echo(_spent(done.spent))
    return EXIT[done.status]


def _row(one: Proposal) -> list[Any]:
    papers, fields = len({item.record for item in one.evidence}), ", ".join(field.name for field in one.fields)
    return [one.id, one.kind, ", ".join(one.names) or fields, fields or None, papers, one.rationale]


def freeze_and_print(
    review: Review, author: str, proposals: Path | None, base: str | None, out: Path | None, leave: bool, json_out: bool
) -> None:
    """Freeze, and say what the version is and how it comes into the protocol."""
    with review.open(create=True) as store:
        done = freeze(review, store, author, proposals=proposals, base=base, out=out, leave_undecided=leave)
    if json_out:
        print_json({**vars(done), "path": str(done.path)})
        return
    state = "frozen" if done.new else "is there already: these fields were frozen before"
    typer.echo(f"version {done.version} {state}; {done.fields} field(s), hash {done.hash}")
    typer.echo("decisions: " + ", ".join(f"{name} {count}" for name, count in done.decisions.items()))
    if done.left:
        typer.echo(f"left for later: {', '.join(done.left)}")
    for note in done.notes:
        typer.echo(f"note: {note}")
    if done.since is not None and done.new:
        print_tables([_difference(done.since, "What changed")])
    typer.echo(f"wrote {done.path}")
    if done.in_protocol:
        typer.echo(f"{PROTOCOL_NAME} has these fields already")
    else:
        typer.echo(
            f"to use it, put the [[fields]] of this file into {PROTOCOL_NAME} in place of those there; where something has run "
            "already, record the change with `litcascade amend`"
        )


def diff(folder: Path, before: str, after: str, json_out: bool) -> None:
    """Show the difference of two schemas; a review is opened only where a version of it, or its protocol, is named."""
    review, store = _opened(folder, (before, after))
    try:
        found = compare(named_schema(review, store, before), named_schema(review, store, after))
    finally:
        if store is not None:
            store.close()
    if json_out:
        print_json({"same": found.same, **found.model_dump(mode="json")})
        return
    print_tables([_difference(found, f"{before} and {after}")])


def _opened(folder: Path, names: tuple[str, str]) -> tuple[Review | None, Store | None]:
    versions = any(name.removeprefix("v").isdigit() for name in names)
    if not versions and "review" not in names:
        return None, None
    review = open_review(folder)
    there = (folder / FILE_NAME).exists()
    return review, review.open() if versions and there else None


def _difference(found: SchemaDiff, title: str) -> Table:
    rows: list[list[Any]] = [["added", name, None, None, None] for name in found.added]
    rows += [["removed", name, None, None, None] for name in found.removed]
    rows += [["renamed?", name, "name", name, new] for name, new in found.renamed]
    rows += [["changed", one.field, one.key, _short(one.before), _short(one.after)] for one in found.changed]
    notes = ["the fields are the same"] if found.same else []
    notes += ["renamed?: alike in everything but the name"] if found.renamed else []
    notes += [f"hashes {found.before_hash} and {found.after_hash}"]
    return Table(title, ["what", "field", "key", "before", "after"], rows, notes)


def _short(value: Any) -> str | None:
    return None if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _used(spent: Spent) -> dict[str, Any]:
    return {name: value for name, value in vars(spent).items() if name != "started"}


def _spent(spent: Spent) -> str:
    return (
        f"{spent.calls} call(s), {spent.from_store} answer(s) from the store, {spent.failures} without a reply, "
        f"{spent.prompt_tokens:,} prompt tokens, {spent.completion_tokens:,} answer tokens"
    )
