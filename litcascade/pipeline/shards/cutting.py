"""Cutting a job: what is pending at one stage, with all that a worker needs, as files."""

import json
import shutil
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from litcascade import __version__
from litcascade.errors import InputError
from litcascade.pipeline.binding import Bound, bind
from litcascade.pipeline.review import PROTOCOL_NAME, Review
from litcascade.pipeline.run import require_amendment, store_protocol, store_versions
from litcascade.pipeline.shards.files import sha256, write_whole
from litcascade.pipeline.shards.job import JOBS, Job, JobFolder, ShardFile, unmerged
from litcascade.pipeline.shards.parts import SCHEMA, parquet, part_row
from litcascade.pipeline.sinks import REPLY_COLUMNS
from litcascade.pipeline.subjects import load_subjects, pending
from litcascade.registry import nearest
from litcascade.schemas import ModelRef, Shot
from litcascade.store import Store, now
from litcascade.store.views import NEEDS_TEXT

RECORDS, REPORTS = 2000, 100  # records a shard, where nothing else is asked: by abstracts, by reports
MOST_SHARDS = 10_000


@dataclass(frozen=True)
class Cut:
    """How to cut: which stage (the first with something pending), into how many shards or records a shard, under which name.

    A run that cuts for itself says what works the job (`by`), and its rows are stored under its own `run_id`.
    """

    stage: str | None = None
    shards: int | None = None
    per_shard: int | None = None
    name: str | None = None
    again: bool = False
    by: str = ""
    run_id: str | None = None


@dataclass(frozen=True)
class Planned:
    """What a cut would make: the stage among all, and the records of each shard."""

    stages: list[Bound]
    bound: Bound
    shards: list[list[str]]

    @property
    def records(self) -> int:
        """All records."""
        return sum(map(len, self.shards))


class _Undo(Exception):
    """Takes back what a plan alone has put into the store."""


def plan(review: Review, store: Store, models: Mapping[str, ModelRef], cut: Cut) -> Planned:
    """What a cut would make; nothing is written."""
    planned: Planned | None = None
    try:
        with store.transaction():
            planned = _plan(review, store, models, cut, "plan")
            raise _Undo
    except _Undo:
        assert planned is not None
        return planned


def cut_job(review: Review, store: Store, models: Mapping[str, ModelRef], cut: Cut) -> JobFolder:
    """Cut a job into a folder of its own under `jobs`; it is there whole or not at all.

    Raises `InputError` where nothing is pending, the name is taken, or a job of the stage waits to be merged (unless `again`).
    """
    mark = uuid.uuid4().hex[:12]
    run_id = cut.run_id or f"job-{mark}"
    with store.transaction():
        store_protocol(review, store)
        planned = _plan(review, store, models, cut, run_id)
        stage = planned.bound.stage.name
        name = cut.name or f"{stage}-{now()[:10]}-{mark[:4]}"
        target = review.folder / JOBS / name
        if target.exists():
            raise InputError(f"{target}: is there already; name the job otherwise with --name")
        if Path(name).name != name or name.startswith("."):
            raise InputError(f"'{name}' cannot be the name of a job; give a plain word")
        working = JobFolder(target.with_name(f".{name}.{mark}.tmp"))
        described = json.dumps({key: model.model_dump() for key, model in models.items()})
        run = {"run_id": run_id, "at_time": now(), "protocol_hash": review.protocol.hash(), "models": described}
        if cut.run_id is None:
            store.append("runs", [{**run, "code_version": f"litcascade {__version__}, job {name}"}])
        try:
            shards = _write_files(working, review, store, planned)
            job = Job(
                litcascade=__version__, name=name, run_id=run_id, at=now(), review=str(review.folder.resolve()), stage=stage,
                fingerprint=planned.bound.fingerprint, criteria_hash=planned.bound.criteria_hash,
                protocol_hash=review.protocol.hash(),
                protocol_sha256=sha256(review.text.encode()), models=dict(models), shots=_shots(planned.stages),
                records=planned.records, cut_at=store.value("select nextval('rows')"), shards=tuple(shards),
                by=cut.by,
            )  # fmt: skip
            working.write(job)
        except BaseException:
            shutil.rmtree(working.path, ignore_errors=True)
            raise
    working.path.rename(target)
    return JobFolder(target)


def _plan(review: Review, store: Store, models: Mapping[str, ModelRef], cut: Cut, run_id: str) -> Planned:
    if not store.value("select count(*) from records"):
        raise InputError("the review holds no records yet; import some with `litcascade import FILE`")
    require_amendment(review, store)
    bound = {item.stage.name: item for item in bind(review, models, store)}
    store_versions(store, run_id, list(bound.values()))
    if cut.stage is not None and cut.stage not in bound:
        raise InputError(f"the protocol has no stage '{cut.stage}'{nearest(cut.stage, bound)}")
    for name, item in bound.items():
        ids = pending(store, name) if cut.stage in (None, name) else []
        if ids:
            waiting = [] if cut.again else unmerged(review.folder, name)
            if waiting:
                raise InputError(
                    f"the job '{waiting[0].name}' of {name} is not merged yet, and another would ask the same twice; merge it "
                    f"with `litcascade merge {waiting[0].name}`, or submit with --again"
                )
            return Planned(list(bound.values()), item, _shards(store, item, ids, cut))
    where = cut.stage or "any stage"
    raise InputError(f"nothing is pending at {where}: there is nothing to submit (see `litcascade status`)")


def _shards(store: Store, item: Bound, ids: Sequence[str], cut: Cut) -> list[list[str]]:
    """Ids in shards, in the order given; records that read alike stand in one shard, so that no question is put twice."""
    if cut.shards is not None and cut.per_shard is not None:
        raise InputError("give either --shards or --records-per-shard")
    usual = REPORTS if item.stage.name in NEEDS_TEXT else RECORDS
    count = cut.shards if cut.shards is not None else -(-len(ids) // (cut.per_shard or usual))
    if not 1 <= count <= MOST_SHARDS or (cut.per_shard is not None and cut.per_shard < 1):
        raise InputError(f"a job has 1 to {MOST_SHARDS:,} shards with at least one record each, not {count:,}")
    count = min(count, len(ids))
    alike = dict(
        store.rows(
            "select records.record_id, md5(concat_ws(chr(0), records.title, records.abstract, document_id)) from records "
            "left join current_documents using (record_id)"
        )
    )
    shards: list[list[str]] = [[] for _ in range(count)]
    places: dict[str, int] = {}
    for position, record_id in enumerate(ids):
        shards[places.setdefault(alike[record_id], position * count // len(ids))].append(record_id)
    return [shard for shard in shards if shard]


def _write_files(working: JobFolder, review: Review, store: Store, planned: Planned) -> list[ShardFile]:
    for path in (working.protocol, working.logs, working.shard(0).parent, working.receipt(0).parent):
        path.mkdir(parents=True)
    _write_protocol(working, review)
    return [_write_shard(working, store, planned.bound, number, ids) for number, ids in enumerate(planned.shards)]


def _write_protocol(working: JobFolder, review: Review) -> None:
    """The protocol with the files that it names beside it: prompts and recorded replies; weights stay where they are."""
    write_whole(working.protocol / PROTOCOL_NAME, review.text.encode())
    named = {reader.prompt for reader in review.protocol.readers.values() if reader.prompt and reader.prompt.endswith(".md")}
    named |= {model.file for model in review.protocol.models.values() if model.file}
    for name in sorted(named):
        source, target = review.folder / name, working.protocol / name
        if not source.is_file():
            continue  # of a reader that no stage uses
        if not target.resolve().is_relative_to(working.protocol.resolve()):
            raise InputError(
                f"{source}: stands outside the review's folder; put it beside review.toml, so that a job can hold it"
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _write_shard(working: JobFolder, store: Store, item: Bound, number: int, ids: Sequence[str]) -> ShardFile:
    name = item.stage.name
    subjects = load_subjects(store, name, ids)
    frame = pl.DataFrame({"record_id": list(ids), "subject": [subject.model_dump_json() for subject in subjects]})
    content = parquet(frame, {"stage": name})
    write_whole(working.shard(number), content)
    return ShardFile(records=len(ids), sha256=sha256(content), replies=_write_replies(working, store, item, number, ids))


def _write_replies(working: JobFolder, store: Store, item: Bound, number: int, ids: Sequence[str]) -> str | None:
    """Replies that the store has of these records from the models that are asked, so that nothing is asked twice."""
    asked = {reader.model for reader in item.stage.readers.values() if reader.model}
    rows = store.rows(
        f"select {', '.join(REPLY_COLUMNS)}, record_id, model, revision, engine from calls "
        "where stage = ? and record_id in (select unnest(?::text[]))",
        [item.stage.name, list(ids)],
    )
    width = len(REPLY_COLUMNS)
    kept = [
        part_row("known", "calls", {**dict(zip(REPLY_COLUMNS, row[:width], strict=True)), "record_id": row[width]})
        for row in rows
        if ModelRef(name=row[width + 1], revision=row[width + 2], engine=row[width + 3]) in asked
    ]
    if not kept:
        return None
    content = parquet(pl.DataFrame(kept, schema=SCHEMA, orient="row"), {"stage": item.stage.name})
    write_whole(working.replies(number), content)
    return sha256(content)


def _shots(stages: Sequence[Bound]) -> dict[str, dict[str, tuple[Shot, ...]]]:
    """The worked examples of every reader that has some, by stage."""
    return {
        item.stage.name: {name: reader.shots for name, reader in item.stage.readers.items() if reader.shots} for item in stages
    }
