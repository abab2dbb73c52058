"""Where the jobs of a review stand, from their receipts alone: the store need not be opened."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.shards.job import Job, JobFolder, Receipt, jobs_of
from litcascade.report import Table
from litcascade.store import now

QUIET = 120.0  # seconds without a sign after which a working shard is shown as silent
SHOWN = 12


@dataclass(frozen=True)
class ShardState:
    """Where one shard stands: complete, incomplete, working, silent (working, without a sign for long), not begun, unreadable."""

    shard: int
    state: str
    records: int
    decided: int
    detail: str = ""


@dataclass(frozen=True)
class JobState:
    """Where a job stands; `merged` is when all of it was merged, None before; `fault` where it cannot be read."""

    name: str
    stage: str
    records: int
    merged: str | None
    slurm: tuple[str, ...]
    shards: tuple[ShardState, ...]
    fault: str | None = None

    @property
    def decided(self) -> int:
        """Records with a verdict, by the receipts."""
        return sum(shard.decided for shard in self.shards)

    def counts(self) -> dict[str, int]:
        """Shards by state."""
        found: dict[str, int] = {}
        for shard in self.shards:
            found[shard.state] = found.get(shard.state, 0) + 1
        return found


def job_state(folder: JobFolder) -> JobState:
    """Where one job stands."""
    try:
        job = folder.read()
    except InputError as error:
        return JobState(folder.path.name, "", 0, None, (), (), str(error))
    shards = tuple(_shard_state(folder, job, number) for number in range(len(job.shards)))
    return JobState(job.name, job.stage, job.records, job.merged, tuple(array.slurm_id for array in job.arrays), shards)


def job_states(review: Path) -> list[JobState]:
    """Where all jobs of a review stand."""
    return [job_state(folder) for folder in jobs_of(review)]


def _shard_state(folder: JobFolder, job: Job, number: int) -> ShardState:
    records = job.shards[number].records
    try:
        receipt = folder.read_receipt(number)
    except InputError:
        return ShardState(number, "unreadable", records, 0, "its receipt cannot be read")
    if receipt is None:
        return ShardState(number, "not begun", records, 0)
    return ShardState(number, _state(receipt), records, receipt.decided, _detail(receipt))


def _state(receipt: Receipt) -> str:
    return "silent" if receipt.status == "working" and _quiet_for(receipt) > QUIET else receipt.status


def _quiet_for(receipt: Receipt) -> float:
    return (datetime.fromisoformat(now()) - datetime.fromisoformat(receipt.at)).total_seconds()


def _detail(receipt: Receipt) -> str:
    where = f"on {receipt.host}" + (f", Slurm {receipt.slurm}" if receipt.slurm else "")
    told = receipt.detail or (f"last sign {receipt.at[:19]}" if receipt.status == "working" else "")
    aside = f"; set aside: {', '.join(receipt.set_aside)}" if receipt.set_aside else ""
    return f"{told} ({where}){aside}" if told else where + aside


def job_tables(states: list[JobState]) -> list[Table]:
    """One row a job, and the shards of jobs not merged that need a look."""
    if not states:
        return []
    rows = []
    for state in states:
        counts = ", ".join(f"{count} {name}" for name, count in state.counts().items())
        stands = state.fault or ("merged" if state.merged else counts)
        rows.append([state.name, state.stage, state.records, state.decided, len(state.shards), stands, ", ".join(state.slurm)])
    tables = [Table("Jobs", ["job", "stage", "records", "decided", "shards", "stands", "Slurm"], rows, [])]
    looked = [
        [state.name, shard.shard, shard.state, f"{shard.decided}/{shard.records}", shard.detail]
        for state in states
        if state.merged is None
        for shard in state.shards
        if shard.state not in ("complete", "not begun")
    ]
    if looked:
        more = [f"and {len(looked) - SHOWN} more (--json shows all)"] if len(looked) > SHOWN else []
        tables.append(Table("Shards under way", ["job", "shard", "state", "decided", "detail"], looked[:SHOWN], more))
    return tables
