"""Raw extraction reports of a sample: every paper once, everything stored, stoppable anywhere and gone on with later."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from litcascade.backends import Backend
from litcascade.pipeline.asking import asking
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.observing import Observer
from litcascade.pipeline.recorder import Recorder, Row
from litcascade.pipeline.review import Review
from litcascade.pipeline.schema_drafting.binding import fingerprint, model_of, read_goals, schema_reader
from litcascade.pipeline.schema_drafting.sampling import draw
from litcascade.pipeline.subjects import CHUNK_TEXTS, load_records
from litcascade.pipeline.texts import load_documents
from litcascade.schemas import Reader, Verdict
from litcascade.stages import Subject
from litcascade.stages.schema_drafting import DraftAnswer, DraftStage, DraftVerdict
from litcascade.store import Store, now

_CANDIDATE = (
    "candidate_id", "record_id", "window", "name", "kind", "definition", "example", "quote", "quote_found", "remark",
)  # fmt: skip


@dataclass(frozen=True)
class DraftOutcome:
    """How it ended: a status of `pipeline.run.EXIT` with its words, and what the store now holds of this sample.

    `failed` counts papers without a report by reason, `partly` papers of which a part could not be read, `unfound` candidates
    whose quote does not stand in their paper, `flagged` papers whose text may steer a reader.
    """

    run_id: str
    status: str
    words: str
    sample: int
    drawn: int
    pool: int
    reports: int
    failed: dict[str, int]
    partly: int
    candidates: int
    names: int
    unfound: int
    flagged: tuple[str, ...]
    spent: Spent


class DraftRecorder(Recorder):
    """Writes raw reports and their candidates; a paper without a report has a code and no candidates."""

    def verdict(self, verdict: Verdict, fingerprint: str) -> None:
        """Record what came of a paper; what is no report's outcome is left pending."""
        if not isinstance(verdict, DraftVerdict):
            return
        outcome, seen = verdict.outcome, verdict.seen
        common: Row = {"run_id": self.run_id, "fingerprint": fingerprint, "document_id": verdict.document_id}
        row = {**common, "at_time": now(), "record_id": verdict.record_id, "flags": list(verdict.flags), "seen": seen}
        row["calls"] = [key for reading in verdict.readings for key in reading.calls]
        if not isinstance(outcome, DraftAnswer):
            told = {"code": outcome.code.value, "detail": outcome.detail or None}
            nothing: Row = {"candidates": 0, "windows": None, "unread": [], "faults": []}
            self._add("schema_reports", {**row, **nothing, **told})
            return
        kept: Row = {"candidates": len(outcome.candidates), "windows": outcome.windows, "code": None, "detail": None}
        self._add("schema_reports", {**row, **kept, "unread": list(outcome.unread), "faults": list(outcome.faults)})
        for one in outcome.candidates:
            plain = {name: getattr(one, name) for name in _CANDIDATE}
            self._add("schema_candidates", {**common, **plain, "flags": list(one.flags)})

    def _append(self, rows: Mapping[str, list[Row]]) -> None:
        with self.store.transaction():
            for table in ("calls", "failures", "schema_reports", "schema_candidates"):
                self.store.append(table, rows.get(table, []))


async def run_draft(
    review: Review, store: Store, reader: str, goals: str, *, sample: int = 10, seed: int = 0,
    observer: Observer | None = None, backends: Mapping[str, Backend] | None = None, probed: bool = True,
) -> DraftOutcome:  # fmt: skip
    """Ask one reader for a raw report of every paper of the sample that has none yet.

    `goals` is a text or the name of a file with it. `backends` replaces the protocol's (tests). Raises `InputError` where there
    is nothing to read or the reader cannot be asked, `BackendError` where the model cannot be reached or fails its check.
    """
    model = model_of(review, reader)
    wanted = read_goals(goals)
    async with asking(review, store, model, "draft", observer, backends, probed=probed, wants_json=True) as (run, ref):
        drawn = draw(review, store, sample, seed)
        asked = schema_reader(review, reader, ref, "report")
        key = fingerprint("draft", review, asked, wanted, DraftStage.version)
        _begin(store, run.run_id, key, asked, wanted)
        pending = _pending(store, key, drawn.ids)
        run.events.write("schema draft started", run=run.run_id, papers=len(pending))
        async with run.stoppable():
            recorder = DraftRecorder(store, run.run_id)
            stage = DraftStage(review.protocol, asked, wanted)
            await run.put("schema draft", len(pending), stage, key, recorder, _chunks(store, pending))
        left = len(_pending(store, key, drawn.ids))
        run.events.write("schema draft ended", run=run.run_id, calls=run.spent.calls, stopped=run.stop.status)
        status, words = run.ending(left, left > 0, "every paper of the sample has a report, or the reason why it has none")
        told = _counted(store, key, drawn.ids)
        return DraftOutcome(
            run.run_id, status, words, len(drawn.ids), drawn.new, drawn.pool, *told, spent=run.spent
        )  # fmt: skip


def _begin(store: Store, run_id: str, key: str, reader: Reader, goals: str) -> None:
    """Put this draft in force, where it is not already: proposals are made of the reports for the newest goals."""
    if store.value("select fingerprint from schema_drafts order by seq desc limit 1") == key:
        return
    assert reader.model is not None
    model = {"model": reader.model.name, "revision": reader.model.revision, "engine": reader.model.engine}
    row = {"at_time": now(), "run_id": run_id, "fingerprint": key, "reader": reader.name, "goals": goals, **model}
    store.append("schema_drafts", [row])


def _pending(store: Store, key: str, ids: Sequence[str]) -> list[str]:
    done = store.rows(
        "select distinct r.record_id from schema_reports r join current_documents d "
        "on d.record_id = r.record_id and d.document_id is not distinct from r.document_id where r.fingerprint = ?",
        [key],
    )
    have = {row[0] for row in done}
    return [name for name in ids if name not in have]


def _chunks(store: Store, ids: Sequence[str]) -> Iterator[list[Subject]]:
    for start in range(0, len(ids), CHUNK_TEXTS):
        part = ids[start : start + CHUNK_TEXTS]
        records = {record.record_id: record for record in load_records(store, part)}
        documents = load_documents(store, part)
        yield [Subject(record=records[name], document=documents.get(name)) for name in part]


def _counted(
    store: Store, key: str, ids: Sequence[str]
) -> tuple[int, dict[str, int], int, int, int, int, tuple[str, ...]]:  # fmt: skip
    newest = (
        "(select * from schema_reports where fingerprint = $1 and record_id in (select unnest($2::text[])) "
        "qualify row_number() over (partition by record_id order by seq desc) = 1)"
    )
    rows = store.rows(f"select record_id, code, unread, flags from {newest} order by record_id", [key, list(ids)])
    failed: dict[str, int] = {}
    for _, code, _, _ in rows:
        if code:
            failed[code] = failed.get(code, 0) + 1
    reports = sum(code is None for _, code, _, _ in rows)
    partly = sum(code is None and bool(unread) for _, code, unread, _ in rows)
    flagged = tuple(name for name, _, _, flags in rows if flags)
    counts = store.rows(
        "select count(*), count(distinct name), count(*) filter (not quote_found) from schema_candidates c "
        f"join {newest} r on r.run_id = c.run_id and r.fingerprint = c.fingerprint and r.record_id = c.record_id",
        [key, list(ids)],
    )[0]
    return reports, failed, partly, counts[0], counts[1], counts[2], flagged
