"""`submit`, `work`, `merge`: what they call and print."""

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from litcascade.cli.progress import ProgressLine
from litcascade.cli.show import print_json, print_tables, warn_of_disk
from litcascade.errors import BackendError, InputError
from litcascade.pipeline.binding import identify, make_backends
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.shards.binding import endpoints_given, named_pairs
from litcascade.pipeline.shards.cutting import Cut, Planned, cut_job, plan
from litcascade.pipeline.shards.job import Job, JobFolder, ShardFile, find_job, jobs_of
from litcascade.pipeline.shards.merging import Merged, as_json, merge_job
from litcascade.pipeline.shards.slurm import ranges, render, unfinished
from litcascade.pipeline.shards.slurm import submit as hand_over
from litcascade.pipeline.shards.worker import Worked, work_shard
from litcascade.report import Table
from litcascade.schemas import ModelRef


@dataclass(frozen=True)
class Submission:
    """The options of `submit`."""

    stage: str | None = None
    shards: int | None = None
    per_shard: int | None = None
    name: str | None = None
    slurm: bool = False
    template: Path | None = None
    engines: tuple[str, ...] = ()
    resume: str | None = None
    again: bool = False
    dry_run: bool = False


def submit_and_print(folder: Path, what: Submission, json_out: bool) -> None:
    """Cut a job, or take one up again, and hand it to Slurm where asked to; say how to go on."""
    if what.template is not None and not what.slurm and not what.dry_run:
        raise InputError("--template goes with --slurm")
    if what.resume is not None:
        job_folder = find_job(folder, what.resume)
        _hand_over(job_folder, job_folder.read(), unfinished(job_folder, job_folder.read()), what, json_out)
        return
    review = open_review(folder)
    cut = Cut(what.stage, what.shards, what.per_shard, what.name, what.again)
    models = asyncio.run(_models(review, what.engines))
    with review.open() as store:
        if what.dry_run:
            _show_plan(plan(review, store, models, cut), review, models, what, json_out)
            return
        if what.template is not None:
            render(JobFolder(folder), _example(review, models), [0], what.template)  # a faulty template before anything is cut
        job_folder = cut_job(review, store, models, cut)
    job = job_folder.read()
    _hand_over(job_folder, job, list(range(len(job.shards))), what, json_out)


async def _models(review: Review, engines: Sequence[str]) -> dict[str, ModelRef]:
    """Every model of the protocol's stages with revision and engine: as told by `--engine`, else as the engines say."""
    told = named_pairs(engines, "engine")
    backends = make_backends(review)
    try:
        unknown = [name for name in told if name not in backends]
        if unknown:
            raise InputError(f"--engine names '{unknown[0]}', but no stage asks a model of that name")
        models = {}
        for name, said in told.items():
            declared = review.protocol.models[name]
            engine, _, revision = said.partition("@")
            revision = revision.strip() or declared.revision.removeprefix("sha256:")
            models[name] = ModelRef(name=declared.model, revision=revision, engine=engine.strip())
        asked = {name: backend for name, backend in backends.items() if name not in told}
        return models | await identify(review.protocol, asked)
    except BackendError as error:
        raise BackendError(f"{error}; or, where the nodes start their own, name it: --engine MODEL='vllm 0.32.0'") from None
    finally:
        for backend in backends.values():
            await backend.close()


def _show_plan(planned: Planned, review: Review, models: dict[str, ModelRef], what: Submission, json_out: bool) -> None:
    sizes = [len(shard) for shard in planned.shards]
    stage = planned.bound.stage.name
    example = _example(review, models, what.name or f"{stage}-…", stage, sizes)
    script = (
        render(JobFolder(review.folder / "jobs" / example.name), example, range(len(sizes)), what.template) if what.slurm else ""
    )
    if json_out:
        print_json({"stage": stage, "records": planned.records, "shards": sizes, "script": script or None})
        return
    typer.echo(
        f"would cut {planned.records} record(s) pending at {stage} into {len(sizes)} shard(s) of {min(sizes)} to {max(sizes)}; "
        "nothing was written"
    )
    if script:
        typer.echo(f"and hand this to sbatch:\n\n{script}", nl=False)


def _example(
    review: Review, models: dict[str, ModelRef], name: str = "example", stage: str = "", sizes: Sequence[int] = (1,)
) -> Job:
    """A job as it would be, for what is shown before one is cut."""
    return Job(
        litcascade="", name=name, run_id="", at="", review=str(review.folder), stage=stage, fingerprint="", criteria_hash="",
        protocol_hash="", protocol_sha256="", models=models, records=sum(sizes), cut_at=0,
        shards=tuple(ShardFile(records=size, sha256="") for size in sizes),
    )  # fmt: skip


def _hand_over(folder: JobFolder, job: Job, shards: Sequence[int], what: Submission, json_out: bool) -> None:
    if not shards:
        raise InputError(f"every shard of '{job.name}' is complete; merge it with `litcascade merge {job.name}`")
    if what.dry_run:
        typer.echo(render(folder, job, shards, what.template), nl=False)
        return
    number = hand_over(folder, shards, what.template) if what.slurm else None
    told = {"job": job.name, "folder": str(folder.path), "stage": job.stage, "records": job.records, "shards": list(shards)}
    if json_out:
        print_json({**told, "slurm": number})
        return
    typer.echo(f"job '{job.name}': {job.records} record(s) of {job.stage}, shard(s) {ranges(shards)}, in {folder.path}")
    if number:
        typer.echo(f"Slurm took it as {number}; see `litcascade status`, and when shards are done: litcascade merge {job.name}")
    else:
        typer.echo(f"work each shard on any machine that sees this folder:\n  litcascade work {folder.path} {shards[0]}")
        typer.echo(f"then fold in what is done: litcascade merge {job.name}")


def work_and_print(
    review: Path, job: str, shard: int, endpoints: Sequence[str], probed: bool, any_version: bool, json_out: bool
) -> int:
    """Work a shard and print how it stands; returns the exit code."""
    with ProgressLine() as progress:
        worked = asyncio.run(
            work_shard(
                find_job(review, job), shard, endpoints=endpoints_given(endpoints), probed=probed, any_version=any_version,
                observer=progress,
            )
        )  # fmt: skip
    if json_out:
        print_json({"status": worked.status, "detail": worked.words, "receipt": worked.receipt})
    else:
        typer.echo(f"shard {shard}: {worked.status}: {worked.words}{_costs(worked)}")
    return worked.exit_code


def _costs(worked: Worked) -> str:
    receipt = worked.receipt
    if receipt is None:
        return ""
    aside = f"; set aside as unreadable: {', '.join(receipt.set_aside)}" if receipt.set_aside else ""
    return f"; {receipt.calls} call(s), {receipt.prompt_tokens:,} prompt tokens{aside}"


def merge_and_print(review: Review, names: Sequence[str], any_version: bool, json_out: bool) -> int:
    """Merge jobs and print what came of it; returns 0, or 3 where something was refused."""
    warn_of_disk(review.folder)
    folders = [find_job(review.folder, name) for name in names] or [
        folder for folder in jobs_of(review.folder) if folder.read().merged is None
    ]
    if not folders:
        raise InputError("there is no job to merge; cut one with `litcascade submit`")
    done = []
    with review.open() as store:
        for folder in folders:
            done.append(merge_job(review, store, folder, any_version=any_version))
    if json_out:
        print_json([as_json(merged) for merged in done])
    else:
        print_tables([table for merged in done for table in merge_tables(merged)])
    if any(merged.refused for merged in done):
        print("some files were refused; the rest was merged, and what they hold stays pending", file=sys.stderr)  # noqa: T201
        return 3
    return 0


def merge_tables(merged: Merged) -> list[Table]:
    """What a merge came to: shards, rows, what was left out and why, what was refused and why."""
    rows: list[tuple[str, int]] = [(f"shards {state}", count) for state, count in merged.shards.items() if count]
    rows += [(f"{table} added", count) for table, count in merged.added.items() if count or table == "verdicts"]
    rows += [(f"verdicts left out: {why}", count) for why, count in merged.left_out.items()]
    rows.append((f"records pending at {merged.stage}", merged.pending))
    tables = [Table(f"Job {merged.job}", ["what", "count"], rows, [])]
    if merged.refused:
        tables.append(Table("Refused", ["file", "why"], merged.refused, ["its records stay pending; nothing else is lost"]))
    return tables
