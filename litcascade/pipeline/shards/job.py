"""A job: a folder with one stage's pending records cut into shards, and all that a worker needs to work them."""

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from litcascade.errors import InputError
from litcascade.pipeline.shards.files import write_json
from litcascade.schemas import ModelRef, Shot
from litcascade.schemas.keys import Frozen

FORMAT = 1
JOBS = "jobs"


class ShardFile(Frozen):
    """One shard: how many records, and the SHA-256 of its file; `replies` of the file with replies known before, if any."""

    records: int
    sha256: str
    replies: str | None = None


class Array(Frozen):
    """A job array that Slurm took: its number, the shards in it, and when."""

    slurm_id: str
    shards: str
    at: str


class Job(Frozen):
    """What `job.json` holds.

    `run_id` is the run under which all rows are stored, `cut_at` the last number of the store's sequence when the job was cut,
    `review` the folder it was cut from, `protocol_sha256` that of the protocol's text, `shots` the worked examples of the
    stages' readers. `by` names what works the job where a run cut it for itself (`ray`). `merged` is set once all is merged.
    """

    format: int = FORMAT
    litcascade: str
    name: str
    run_id: str
    at: str
    review: str
    stage: str
    fingerprint: str
    criteria_hash: str
    protocol_hash: str
    protocol_sha256: str
    models: dict[str, ModelRef]
    shots: dict[str, dict[str, tuple[Shot, ...]]] = Field(default_factory=dict)
    records: int
    cut_at: int
    shards: tuple[ShardFile, ...]
    arrays: tuple[Array, ...] = ()
    by: str = ""
    merged: str | None = None

    def with_array(self, array: Array) -> "Job":
        """The job with one more array."""
        return self.model_copy(update={"arrays": (*self.arrays, array)})


class Receipt(Frozen):
    """What a worker says of its shard: where it stands, what is on the disk, what it cost, and who asked what.

    Counts cover all workers the shard has had; `detail` says why it is incomplete; `parts` maps file names to SHA-256.
    """

    format: int = FORMAT
    litcascade: str
    run_id: str
    fingerprint: str
    protocol_hash: str
    shard: int
    status: Literal["working", "complete", "incomplete"]
    detail: str = ""
    host: str
    slurm: str | None = None
    models: dict[str, ModelRef]
    started: str
    at: str
    records: int
    decided: int
    failures: int = 0
    calls: int = 0
    from_store: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    parts: dict[str, str] = Field(default_factory=dict)
    set_aside: tuple[str, ...] = ()


class JobFolder:
    """Where the files of a job stand."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.protocol = path / "protocol"
        self.logs = path / "logs"

    def shard(self, number: int) -> Path:
        """The subjects of a shard."""
        return self.path / "shards" / f"{number:04d}.parquet"

    def replies(self, number: int) -> Path:
        """Replies of a shard's records that the store held when the job was cut."""
        return self.path / "shards" / f"{number:04d}.replies.parquet"

    def out(self, number: int) -> Path:
        """The folder of a shard's parts."""
        return self.path / "out" / f"{number:04d}"

    def receipt(self, number: int) -> Path:
        """A shard's receipt."""
        return self.path / "receipts" / f"{number:04d}.json"

    def read(self) -> Job:
        """Read `job.json`; what is no job, or one of another format, is an `InputError`."""
        path = self.path / "job.json"
        if not path.is_file():
            raise InputError(f"{self.path}: is no job (it holds no job.json); cut one with `litcascade submit`")
        content = _loaded(path)
        if content.get("format") != FORMAT:
            raise InputError(
                f"{path}: has format {content.get('format')}, this litcascade reads format {FORMAT}; use the litcascade that "
                f"cut it ({content.get('litcascade', 'unknown')})"
            )
        try:
            return Job.model_validate(content)
        except ValidationError as error:
            raise InputError(f"{path}: cannot be read ({error.errors()[0]['msg']}); cut the job again") from None

    def write(self, job: Job) -> None:
        """Write `job.json`, whole or not at all."""
        write_json(self.path / "job.json", job.model_dump(mode="json"))

    def read_receipt(self, number: int) -> Receipt | None:
        """A shard's receipt, None where there is none yet; an unreadable one is an `InputError`."""
        path = self.receipt(number)
        if not path.is_file():
            return None
        try:
            return Receipt.model_validate(_loaded(path))
        except ValidationError:
            raise InputError(f"{path}: is no receipt that this litcascade can read; work the shard again") from None


def _loaded(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise InputError(f"{path}: is not whole JSON; it was cut short or changed by hand") from None
    return content if isinstance(content, dict) else {}


def find_job(review: Path, name: str) -> JobFolder:
    """A job by its path, or by its name among the review's jobs."""
    path = Path(name)
    named = review / JOBS / name
    return JobFolder(named if not (path / "job.json").is_file() and (named / "job.json").is_file() else path)


def jobs_of(review: Path) -> list[JobFolder]:
    """The jobs of a review, in the order of their names."""
    return [JobFolder(path.parent) for path in sorted((review / JOBS).glob("[!.]*/job.json"))]


def unmerged(review: Path, stage: str) -> list[Job]:
    """Jobs of a stage that are not wholly merged; a damaged `job.json` counts for none."""
    found = []
    for folder in jobs_of(review):
        try:
            job = folder.read()
        except InputError:
            continue
        if job.stage == stage and job.merged is None:
            found.append(job)
    return found
