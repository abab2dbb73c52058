"""The collaborator pass over all raw reports, and the file of proposals that a person decides."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litcascade.backends import Backend
from litcascade.errors import InputError
from litcascade.pipeline.asking import Asking, asking
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.observing import Observer
from litcascade.pipeline.recorder import Recorder, Row
from litcascade.pipeline.review import Review
from litcascade.pipeline.schema_drafting.binding import FOLDER, fingerprint, model_of, schema_reader
from litcascade.schemas import FieldSpec, Reader, Record, Verdict
from litcascade.schemas.fields import schema_hash
from litcascade.schemas.fields.writing import schema_toml
from litcascade.stages.schema_drafting import (
    Batch,
    BatchSubject,
    Candidate,
    Group,
    ProposalsFile,
    ProposeAnswer,
    ProposeStage,
    ProposeVerdict,
    batches,
    collate,
    joined,
    proposals_toml,
)
from litcascade.stages.schema_drafting.files import Made
from litcascade.store import Store, now

FILE = "proposals.toml"
CHUNK = 16


@dataclass(frozen=True)
class ProposeOutcome:
    """How it ended; `held` is what was written to `file`, None where not every batch has been answered or none could be read."""

    run_id: str
    status: str
    words: str
    candidates: int
    names: int
    batches: int
    file: Path | None
    held: ProposalsFile | None
    spent: Spent


class ProposeRecorder(Recorder):
    """Stores the calls, and keeps what came of each batch until all are there."""

    def __init__(self, store: Store, run_id: str) -> None:
        super().__init__(store, run_id)
        self.came: dict[int, ProposeVerdict] = {}

    def verdict(self, verdict: Verdict, fingerprint: str) -> None:
        """Keep a batch's outcome."""
        if isinstance(verdict, ProposeVerdict):
            self.came[verdict.batch.number] = verdict

    def _append(self, rows: Mapping[str, list[Row]]) -> None:
        with self.store.transaction():
            for table in ("calls", "failures"):
                self.store.append(table, rows.get(table, []))


async def run_propose(
    review: Review, store: Store, reader: str, *, base: Sequence[FieldSpec] = (), force: bool = False,
    observer: Observer | None = None, backends: Mapping[str, Backend] | None = None, probed: bool = True,
) -> ProposeOutcome:  # fmt: skip
    """Ask one reader for proposals about the candidates of all raw reports, in batches, beside the schema so far.

    The file is written once every batch is answered; answers that are in the store already are not asked for again. A file that
    is no longer as it was written is kept, and that is an `InputError` unless `force`; so is having no candidates.
    """
    model = model_of(review, reader)
    path = review.folder / FOLDER / FILE
    require_untouched(store, path, force)
    goals, candidates = load_candidates(store)
    groups = collate(candidates)
    async with asking(review, store, model, "propose", observer, backends, probed=probed, wants_json=True) as (run, ref):
        asked = schema_reader(review, reader, ref, "collaborator")
        stage = ProposeStage(review.protocol, asked, goals, base)
        dealt = batches(groups, stage.room(asked))
        recorder = ProposeRecorder(store, run.run_id)
        key = fingerprint("propose", review, asked, goals, ProposeStage.version, base)
        run.events.write("schema proposals started", run=run.run_id, batches=len(dealt))
        async with run.stoppable():
            await run.put("schema propose", len(dealt), stage, key, recorder, _chunks(dealt))
        run.events.write("schema proposals ended", run=run.run_id, calls=run.spent.calls, stopped=run.stop.status)
        left = len(dealt) - len(recorder.came)
        status, words = run.ending(left, left > 0, "every batch of candidates has been answered")
        held = None if left else _gathered(run, asked, groups, recorder.came, base)
        if held is not None and len(held.unread) == len(dealt):
            status, words, held = "incomplete", f"no answer could be read: {held.unread[0]}", None
        if held is not None:
            _keep(store, run, asked, goals, len(candidates), base, path, held)
        counts = (len(candidates), len(groups), len(dealt))
        return ProposeOutcome(run.run_id, status, words, *counts, path if held else None, held, run.spent)


def load_candidates(store: Store) -> tuple[str, list[Candidate]]:
    """The newest goals, and the candidates of every reader's newest report of each paper for these goals."""
    goals = store.value("select goals from schema_drafts order by seq desc limit 1")
    rows = store.rows(
        "with drafts as (select fingerprint from schema_drafts where goals = ?), "
        "newest as (select * from schema_reports where fingerprint in (from drafts) "
        "qualify row_number() over (partition by fingerprint, record_id order by seq desc) = 1) "
        'select c.candidate_id, c.record_id, c."window", c.name, c.kind, c.definition, c.example, c.quote, c.quote_found, '
        "c.remark, c.flags from schema_candidates c join newest n "
        "on n.run_id = c.run_id and n.fingerprint = c.fingerprint and n.record_id = c.record_id "
        "where n.code is null order by c.seq",
        [goals],
    )
    names = (
        "candidate_id", "record_id", "window", "name", "kind", "definition", "example", "quote", "quote_found", "remark", "flags",
    )  # fmt: skip
    found = [Candidate.model_validate(dict(zip(names, row, strict=True))) for row in rows]
    if not found:
        raise InputError("there are no candidates to make proposals of; run `litcascade schema draft` first")
    return goals, list({one.candidate_id: one for one in found}.values())


def require_untouched(store: Store, path: Path, force: bool) -> None:
    """Refuse to write over a file that is not, byte for byte, as one of the passes wrote it."""
    if force or not path.exists():
        return
    here = hashlib.sha256(path.read_bytes()).hexdigest()
    if not store.value("select count(*) from schema_passes where sha256 = ?", [here]):
        raise InputError(f"{path}: somebody has worked in it, perhaps filled in decisions; freeze or move it, or give --force")


def _chunks(dealt: Sequence[Batch]) -> Iterator[list[BatchSubject]]:
    for start in range(0, len(dealt), CHUNK):
        part = dealt[start : start + CHUNK]
        yield [BatchSubject(record=Record(record_id=f"schema batch {one.number} of {one.of}"), batch=one) for one in part]


def _gathered(
    run: Asking, reader: Reader, groups: Sequence[Group], came: Mapping[int, ProposeVerdict], base: Sequence[FieldSpec]
) -> ProposalsFile:
    outcomes = [came[number] for number in sorted(came)]
    read = [one.outcome for one in outcomes if isinstance(one.outcome, ProposeAnswer)]
    unread = tuple(
        f"batch {one.batch.number} of {one.batch.of}: {one.outcome.code.value}: {one.outcome.detail}"[:300]
        for one in outcomes
        if not isinstance(one.outcome, ProposeAnswer)
    )
    proposals = joined([one for answer in read for one in answer.proposals])
    used = {item.name for one in proposals for item in one.evidence} | {name for one in proposals for name in one.names}
    used |= {field.name for one in proposals for field in one.fields} | {spec.name for spec in base}
    return ProposalsFile(
        made=Made(run=run.run_id, reader=reader.name, model=str(reader.model), base=schema_hash(tuple(base)) if base else ""),
        not_proposed=tuple(f"{group.name} ({group.papers} paper(s))" for group in groups if group.name not in used),
        unread=unread, proposals=proposals, invalid=tuple(one for answer in read for one in answer.invalid),
    )  # fmt: skip


def _keep(
    store: Store, run: Asking, reader: Reader, goals: str, candidates: int, base: Sequence[FieldSpec], path: Path,
    held: ProposalsFile,
) -> None:  # fmt: skip
    """Store the pass and its proposals, then write the file."""
    assert reader.model is not None
    content = proposals_toml(held).encode()
    rows: list[Row] = [
        {"run_id": run.run_id, "proposal_id": one.id, "kind": one.kind, "content": one.content,
         "proposal": one.model_dump_json(), "fault": None}
        for one in held.proposals
    ]  # fmt: skip
    rows += [
        {"run_id": run.run_id, "proposal_id": None, "kind": one.kind or None, "content": None,
         "proposal": json.dumps(one.model_dump()), "fault": one.fault}
        for one in held.invalid
    ]  # fmt: skip
    row = {
        "run_id": run.run_id, "at_time": now(), "reader": reader.name, "model": reader.model.name,
        "revision": reader.model.revision, "engine": reader.model.engine, "goals": goals, "candidates": candidates,
        "base_hash": held.made.base or None, "base": schema_toml(base), "file": str(path),
        "sha256": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip
    with store.transaction():
        store.append("schema_passes", [row])
        store.append("schema_proposals", rows)
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
