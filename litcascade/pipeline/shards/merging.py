"""Merging: what workers did goes into the store, by one process, as often as one likes."""

import json
from collections import Counter
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

import polars as pl

from litcascade import __version__
from litcascade.errors import InputError, StoreError
from litcascade.pipeline.events import EventLog
from litcascade.pipeline.review import Review
from litcascade.pipeline.shards.binding import bind_job
from litcascade.pipeline.shards.files import sha256
from litcascade.pipeline.shards.folding import Folded, fold
from litcascade.pipeline.shards.job import Job, JobFolder, Receipt
from litcascade.pipeline.shards.parts import part_files, verified
from litcascade.pipeline.subjects import pending
from litcascade.store import Store, now


@dataclass
class Merged:
    """What a merge of one job came to; every shard is in exactly one of `shards`: complete, incomplete, not begun, refused.

    `added` counts rows by table, `left_out` verdicts that were not added, by reason; `refused` names files with the reason.
    `pending` counts the stage's records that still wait for a verdict.
    """

    job: str
    stage: str
    shards: dict[str, int]
    added: Counter[str] = field(default_factory=Counter)
    left_out: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[str, str]] = field(default_factory=list)
    pending: int = 0


def merge_job(
    review: Review,
    store: Store,
    folder: JobFolder,
    *,
    any_version: bool = False,
    on_shard: Callable[[int], None] = lambda _: None,
    only: Collection[int] | None = None,
) -> Merged:
    """Fold a job's finished parts into the store. Idempotent; a job that still runs can be merged and merged again later.

    Raises `InputError`, and adds nothing, where the job was cut under another protocol, engine or version (unless `any_version`),
    or in another review. A part that is damaged or foreign is refused by name, and its records stay pending. With `only` no other
    shard is looked at, and neither the job's end nor its merge is written down: whoever goes on working the job does that.
    """
    job = folder.read()
    _require(review, store, job, any_version)
    merged = Merged(job.name, job.stage, dict.fromkeys(("complete", "incomplete", "not begun", "refused"), 0))
    spent: Counter[str] = Counter()
    events = EventLog(review.events_path)
    if only is None:
        events.write("merge started", run=job.run_id, job=job.name, shards=len(job.shards))
    for number in range(len(job.shards)) if only is None else sorted(only):
        state, receipt = _merge_shard(store, folder, job, number, merged, any_version)
        merged.shards[state] += 1
        spent.update(_spent(receipt))
        on_shard(number)
    merged.pending = len(pending(store, job.stage))
    if only is not None:
        return merged
    _close(store, folder, job, merged, spent)
    events.write("merge ended", run=job.run_id, job=job.name, verdicts=merged.added["verdicts"], pending=merged.pending)
    return merged


def _require(review: Review, store: Store, job: Job, any_version: bool) -> None:
    if not store.value("select count(*) from runs where run_id = ?", [job.run_id]):
        raise InputError(f"the job '{job.name}' was cut from another review ({job.review}); merge it there, with --review")
    if any_version:
        return
    told = "merge with --any-version to keep its verdicts on record under their own fingerprint"
    if job.litcascade != __version__:
        raise InputError(
            f"the job '{job.name}' was cut by litcascade {job.litcascade}, this is {__version__}; use that version, or {told}"
        )
    bound = bind_job(job, review, job.models)
    if bound is None or bound.fingerprint != job.fingerprint:
        raise InputError(f"the job '{job.name}' was cut under another protocol than review.toml now says for {job.stage}; {told}")
    in_force = store.value("select fingerprint from current_stages where stage = ?", [job.stage])
    if in_force != job.fingerprint:
        raise InputError(f"since the job '{job.name}' was cut, {job.stage} was run with other models or engines; {told}")


def _merge_shard(
    store: Store, folder: JobFolder, job: Job, number: int, merged: Merged, any_version: bool
) -> tuple[str, Receipt | None]:
    """Fold one shard; returns where it stands, and its receipt where that is sound."""
    try:
        receipt = folder.read_receipt(number)
        if receipt is not None:
            _require_receipt(folder.receipt(number), receipt, job, number, any_version)
    except InputError as error:
        merged.refused.append((str(folder.receipt(number).relative_to(folder.path)), str(error)))
        return "refused", None
    refused: list[tuple[str, str]] = []
    try:
        parts, folded = _fold_sound(store, folder, job, number, receipt, any_version, refused)
    except InputError as error:
        merged.refused.append((f"out/{number:04d}", str(error)))
        return "refused", receipt
    merged.refused += refused
    merged.added.update(folded.added)
    merged.left_out.update(folded.left_out)
    if receipt is None:
        return ("incomplete" if parts else "refused" if refused else "not begun"), None
    return ("complete" if receipt.status == "complete" and not refused else "incomplete"), receipt


def _fold_sound(
    store: Store,
    folder: JobFolder,
    job: Job,
    number: int,
    receipt: Receipt | None,
    any_version: bool,
    refused: list[tuple[str, str]],
) -> tuple[list[Path], Folded]:
    """Fold the parts of a shard that are sound; where its worker joins them meanwhile, they are looked for anew."""
    while True:
        refused.clear()
        found = part_files(folder.out(number))
        faults = {path: _fault(path, job, number, receipt, any_version) for path in found}
        if receipt is not None and receipt.status != "working":
            gone = receipt.parts.keys() - {path.name for path in found}
            refused += [(f"out/{number:04d}/{name}", "the receipt names it, but it is not there") for name in sorted(gone)]
        refused += [(str(path.relative_to(folder.path)), why) for path, why in faults.items() if why]
        parts = [path for path, why in faults.items() if why is None]
        if not all(path.exists() for path in found):
            continue
        try:
            return parts, fold(store, job, parts) if parts else Folded()
        except StoreError:
            if all(path.exists() for path in parts):
                raise


def _require_receipt(path: Path, receipt: Receipt, job: Job, number: int, any_version: bool) -> None:
    if receipt.run_id != job.run_id or receipt.shard != number:
        raise InputError(f"{path}: is the receipt of another job or shard; work shard {number} of '{job.name}' again")
    if receipt.fingerprint != job.fingerprint or receipt.protocol_hash != job.protocol_hash:
        raise InputError(f"{path}: is a receipt of another protocol; work shard {number} of '{job.name}' again")
    if receipt.litcascade != job.litcascade and not any_version:
        raise InputError(
            f"{path}: was worked by litcascade {receipt.litcascade}, the job cut by {job.litcascade}; work shard {number} again, "
            "or merge with --any-version"
        )


def _fault(path: Path, job: Job, number: int, receipt: Receipt | None, any_version: bool) -> str | None:
    """Why a part cannot be merged, None where it can."""
    content = verified(path)
    if content is None:
        return "is cut short or changed (its checksum does not fit); its records stay pending"
    if receipt is not None and receipt.parts.get(path.name, sha256(content)) != sha256(content):
        return "is not the file that the receipt names"
    about = pl.read_parquet_metadata(path)
    if about.get("run_id") != job.run_id or about.get("shard") != str(number):
        return "belongs to another job or shard"
    if about.get("fingerprint") != job.fingerprint:
        return "was made under another protocol"
    if about.get("litcascade") != job.litcascade and not any_version:
        return f"was made by litcascade {about.get('litcascade')}, the job by {job.litcascade}; merge with --any-version"
    return None


def _spent(receipt: Receipt | None) -> dict[str, int]:
    names = ("calls", "from_store", "prompt_tokens", "completion_tokens", "failures")
    return {name: getattr(receipt, name) for name in names} if receipt else {}


def _close(store: Store, folder: JobFolder, job: Job, merged: Merged, spent: Counter[str]) -> None:
    """Write how the job's run stands where that changed, and mark a job whose shards are all complete as merged."""
    whole = merged.shards["complete"] == len(job.shards)
    shown = ", ".join(f"{count} {state}" for state, count in merged.shards.items() if count)
    status = "complete" if whole else "incomplete"
    detail = f"job '{job.name}' of {job.stage}: of {len(job.shards)} shard(s) {shown}"
    last = store.rows("select status, detail from run_ends where run_id = ? order by seq desc limit 1", [job.run_id])
    if sum(merged.added.values()) or last != [(status, detail)]:
        row = {"run_id": job.run_id, "at_time": now(), "status": status, "detail": detail, "spent": json.dumps(dict(spent))}
        store.append("run_ends", [row])
    if whole and job.merged is None:
        folder.write(job.model_copy(update={"merged": now()}))


def as_json(merged: Merged) -> dict[str, object]:
    """For scripts."""
    return {**vars(merged), "added": dict(merged.added), "left_out": dict(merged.left_out)}
