"""Commands `submit`, `work` and `merge`: a stage's pending records cut into shards, worked on any node, folded in."""

from pathlib import Path
from typing import Annotated

import typer

from litcascade.cli.options import HERE, JsonOption, ReviewOption

AnyVersionOption = Annotated[
    bool, typer.Option("--any-version", help="Go on although the job is of another litcascade version (merge: or protocol).")
]


def submit(
    stage: Annotated[str | None, typer.Option("--stage", help="Stage (default: the first with something pending).")] = None,
    shards: Annotated[int | None, typer.Option("--shards", help="How many shards.")] = None,
    per_shard: Annotated[int | None, typer.Option("--records-per-shard", help="Or how many records a shard.")] = None,
    name: Annotated[str | None, typer.Option("--name", help="Name of the job (default: stage, date and a mark).")] = None,
    slurm: Annotated[bool, typer.Option("--slurm", help="Hand it to Slurm as a job array.")] = False,
    template: Annotated[Path | None, typer.Option("--template", help="A batch script of your site's with its places.")] = None,
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", help="Engine the nodes will start, where none runs now: MODEL='vllm 0.32.0' (may be repeated)."),
    ] = None,
    resume: Annotated[str | None, typer.Option("--resume", help="Submit the unfinished shards of this job again.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Although a job of this stage is not merged yet.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be cut and submitted; write nothing.")] = False,
    print_template: Annotated[bool, typer.Option("--print-template", help="Print the shipped template and end.")] = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Cut what is pending at a stage into shards that any node can work; with --slurm, submit them as a job array."""
    from litcascade.cli.sharding import Submission, submit_and_print

    if print_template:
        from litcascade.pipeline.shards.slurm import shipped_template

        typer.echo(shipped_template(), nl=False)
        return
    what = Submission(stage, shards, per_shard, name, slurm, template, tuple(engine or ()), resume, again, dry_run)
    submit_and_print(review, what, json_out)


def work(
    job: Annotated[str, typer.Argument(help="Folder of the job, or its name.")],
    shard: Annotated[int, typer.Argument(help="Number of the shard, from 0.")],
    endpoint: Annotated[
        list[str] | None, typer.Option("--endpoint", help="Where a model is served here: MODEL=URL (may be repeated).")
    ] = None,
    no_check: Annotated[bool, typer.Option("--no-check", help="Do not probe the models first.")] = False,
    any_version: AnyVersionOption = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Work one shard of a job, without the store. Stop it anywhere and start it again: nothing is asked twice."""
    from litcascade.cli.sharding import work_and_print

    raise typer.Exit(work_and_print(review, job, shard, endpoint or [], not no_check, any_version, json_out))


def merge(
    job: Annotated[list[str] | None, typer.Argument(help="Jobs to merge (default: all that are not merged).")] = None,
    any_version: AnyVersionOption = False,
    review: ReviewOption = HERE,
    json_out: JsonOption = False,
) -> None:
    """Fold what workers did into the store; as often as you like, also while a job still runs."""
    from litcascade.cli.sharding import merge_and_print
    from litcascade.pipeline.review import open_review

    raise typer.Exit(merge_and_print(open_review(review), job or [], any_version, json_out))
