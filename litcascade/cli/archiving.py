"""`archive`, `replay`: what they call and print."""

import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from litcascade.cli.show import print_json, print_tables
from litcascade.pipeline.archiving.choosing import Asked
from litcascade.pipeline.archiving.replaying import Replayed, replay_archive
from litcascade.pipeline.archiving.writing import Archived, archive_review
from litcascade.pipeline.review import Review
from litcascade.report import Table

SHOWN = 50
_EVERY = 5.0
_WORDS = {
    "verdicts": "verdicts",
    "readings": "readings of single readers",
    "criterion_answers": "answers to criteria",
    "extractions": "extracted values",
}


class _Telling:
    """A line on stderr every few seconds for what takes long; nothing for what does not."""

    def __init__(self) -> None:
        self._last = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        if time.monotonic() - self._last >= _EVERY:
            self._last = time.monotonic()
            typer.echo(f"{what}: {done:,} of {total:,}", err=True)


def archive_and_print(review: Review, file: Path | None, asked: Asked, force: bool, json_out: bool) -> None:
    """Write an archive, and say what is in it and what is not."""
    target = file or Path(f"{review.folder.resolve().name}-{datetime.now(UTC):%Y-%m-%d}.zip")
    with review.open() as store:
        done = archive_review(review, store, target, asked, force=force, tell=_Telling())
    if json_out:
        print_json({"file": str(done.path), "bytes": done.bytes, "manifest": done.manifest})
        return
    print_tables(_archive_tables(done))
    for note in done.manifest.notes:
        typer.echo(f"note: {note}", err=True)
    typer.echo(f"wrote {done.path} ({done.bytes / 1e6:,.1f} MB); check it with: litcascade replay {done.path}")


def _archive_tables(done: Archived) -> list[Table]:
    manifest = done.manifest
    rows = [[table, rows] for table, rows in manifest.tables.items() if rows]
    out = [[what, why] for what, why in {**manifest.left_out, **manifest.blank}.items()]
    tables = [Table("In the archive", ["table", "rows"], rows), Table("Left out", ["what", "why"], out)]
    masked = [[where, what] for where, what in manifest.masked.items()]
    return [*tables, *([Table("Masked", ["where", "what"], masked)] if masked else [])]


def replay_and_print(file: Path, into: Path | None, json_out: bool) -> int:
    """Replay an archive, print what came out the same and what did not; returns 0, or 1 where something differs."""
    done = replay_archive(file, into, tell=_Telling())
    if json_out:
        print_json(_plain(done))
    else:
        print_tables(_replay_tables(done))
        for words in (*done.cannot, *done.notes):
            typer.echo(words)
        typer.echo(summary(done))
        if done.folder is not None:
            typer.echo(f"the review stands in {done.folder}")
    return 0 if done.same else 1


def summary(done: Replayed) -> str:
    """How it ended, in one sentence."""
    verdicts = done.tables[0]
    off = verdicts.differ + verdicts.missing + verdicts.extra
    numbers = "all numbers are the same" if not done.numbers else f"{len(done.numbers)} of {done.numbers_compared} numbers differ"
    others = sum(table.differ + table.missing + table.extra for table in done.tables[1:])
    beside = f", {others} row(s) under them differ" if others else ""
    if done.same and not verdicts.same:
        return f"nothing was derived again, so no verdict is checked; of what is archived {numbers}"
    return f"{'the same' if done.same else 'NOT THE SAME'}: {verdicts.same} verdict(s) the same, {off} differ{beside}; {numbers}"


def _replay_tables(done: Replayed) -> list[Table]:
    rows = [[_WORDS[one.table], one.same, one.differ, one.missing, one.extra] for one in done.tables]
    pending = [f"{count} record(s) of {stage} have no verdict in the archive and stay pending"
               for stage, count in done.pending.items() if count]  # fmt: skip
    tables = [
        Table(
            f"Derived again from raw replies (archived by litcascade {done.manifest.litcascade}, {done.manifest.created[:10]})",
            ["what", "the same", "differ", "not derived", "not archived"], rows, pending,
        )
    ]  # fmt: skip
    told = [[one.table, one.stage, one.record_id, one.of, one.what] for table in done.tables for one in table.differences]
    if told:
        more = [f"and more: --json lists up to 1,000 a table, here are {SHOWN}"] if len(told) > SHOWN else []
        tables.append(Table("Differences", ["table", "stage", "record", "of", "what (archived -> derived)"], told[:SHOWN], more))
    if done.numbers:
        numbers = [[where, before, after] for where, before, after in done.numbers[:SHOWN]]
        more = [f"and {len(done.numbers) - SHOWN} more (--json lists all)"] if len(done.numbers) > SHOWN else []
        tables.append(Table("Numbers that differ", ["number", "archived", "computed"], numbers, more))
    if done.carried:
        tables.append(Table("Taken as they stand, not derived", ["what", "rows"], [list(item) for item in done.carried.items()]))
    return tables


def _plain(done: Replayed) -> dict[str, Any]:
    return {
        "same": done.same,
        "summary": summary(done),
        "litcascade": done.manifest.litcascade,
        "tables": [asdict(table) for table in done.tables],
        "numbers_compared": done.numbers_compared,
        "numbers_that_differ": [{"number": where, "archived": old, "computed": new} for where, old, new in done.numbers],
        "carried": done.carried,
        "pending": done.pending,
        "cannot": done.cannot,
        "notes": done.notes,
        "folder": None if done.folder is None else str(done.folder),
    }
