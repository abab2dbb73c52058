"""Slurm: a batch script from a template, and `sbatch`, whose failures are told in one sentence each."""

import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Sequence
from importlib import resources
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.shards.files import write_whole
from litcascade.pipeline.shards.job import Array, Job, JobFolder
from litcascade.registry import nearest
from litcascade.store import now

RESTARTS = 5
PATIENCE = 120.0  # seconds that sbatch may take
NEEDED = ("ARRAY", "JOB")


def shipped_template() -> str:
    """The template that the program ships."""
    return (resources.files("litcascade.pipeline.shards") / "templates" / "slurm.sh").read_text(encoding="utf-8")


def render(folder: JobFolder, job: Job, shards: Sequence[int], template: Path | None = None) -> str:
    """The batch script for these shards of a job; an unknown or missing place of a site's template is an `InputError`."""
    if template is None:
        text, where = shipped_template(), "the shipped template"
    else:
        if not template.is_file():
            raise InputError(f"{template}: there is no such template")
        text, where = template.read_text(encoding="utf-8"), str(template)
    path = folder.path.resolve()
    places = {
        "NAME": f"litcascade-{job.name}",
        "ARRAY": ranges(shards),
        "LOGS": str(path / "logs"),
        "COMMAND": f"{shlex.quote(sys.executable)} -m litcascade",
        "JOB": shlex.quote(str(path)),
        "RESTARTS": str(RESTARTS),
    }
    used = set(re.findall(r"\{\{(\w+)\}\}", text))
    unknown = sorted(used - places.keys())
    if unknown:
        raise InputError(f"{where}: there is no place '{unknown[0]}'{nearest(unknown[0], places)}")
    missing = [name for name in NEEDED if name not in used]
    if missing:
        raise InputError(f"{where}: must hold {{{{{missing[0]}}}}}, or not every shard would be worked")
    return re.sub(r"\{\{(\w+)\}\}", lambda found: places[found[1]], text)


def ranges(numbers: Iterable[int]) -> str:
    """Numbers as Slurm writes them: `0-3,7`."""
    runs: list[list[int]] = []
    for number in sorted(set(numbers)):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join(str(low) if low == high else f"{low}-{high}" for low, high in runs)


def unfinished(folder: JobFolder, job: Job) -> list[int]:
    """Shards without a receipt that says complete; an unreadable receipt counts as none."""
    open_ones = []
    for number in range(len(job.shards)):
        try:
            receipt = folder.read_receipt(number)
        except InputError:
            receipt = None
        if receipt is None or receipt.status != "complete":
            open_ones.append(number)
    return open_ones


def submit(folder: JobFolder, shards: Sequence[int], template: Path | None = None, patience: float = PATIENCE) -> str:
    """Write the batch script into the job, hand it to `sbatch`, and keep Slurm's number in `job.json`; returns the number.

    Whatever goes wrong is an `InputError` that says how to go on: the job itself is safe.
    """
    job = folder.read()
    script = folder.path / f"slurm-{len(job.arrays)}.sh"
    write_whole(script, render(folder, job, shards, template).encode())
    again = f"the job is safe: submit it again with `litcascade submit --resume {job.name} --slurm`"
    try:
        said = subprocess.run(
            ["sbatch", "--parsable", str(script)], capture_output=True, text=True, check=False, timeout=patience, cwd=folder.path
        )
    except FileNotFoundError:
        raise InputError(f"there is no sbatch on this machine; {again} on a login node") from None
    except PermissionError:
        raise InputError(f"sbatch cannot be run on this machine; {again} on a login node") from None
    except subprocess.TimeoutExpired:
        raise InputError(
            f"sbatch gave no answer within {patience:g} s and may have taken the job or not: look with `squeue --me`; if it is "
            f"not there, {again}"
        ) from None
    if said.returncode != 0:
        words = " ".join((said.stderr or said.stdout).split())[:300] or f"exit code {said.returncode}"
        raise InputError(f"sbatch refused the job ({words}); {again}")
    lines = said.stdout.split()
    if not lines or not re.fullmatch(r"\d+(;\S+)?", lines[-1]):
        raise InputError(
            f"sbatch answered {' '.join(lines)[:80]!r} where a job number was due: look with `squeue --me`; if it is "
            f"not there, {again}"
        )
    number = lines[-1].partition(";")[0]
    folder.write(job.with_array(Array(slurm_id=number, shards=ranges(shards), at=now())))
    return number
