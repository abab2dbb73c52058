"""The audit of silver exclusions: a frozen random sample of what models excluded, re-read by people, and what it shows."""

import uuid
from dataclasses import dataclass
from pathlib import Path

from litcascade.corpora.writers import write_table
from litcascade.errors import InputError
from litcascade.eval.guarantees import Elusion, elusion, plan_elusion
from litcascade.eval.panels.splits import rank_by_hash
from litcascade.pipeline.review import Review
from litcascade.report import Table
from litcascade.schemas import SCREENING
from litcascade.store import Store, now

SILVER = "state = 'excluded' and decided_by = 'model'"
_HEADER = ("record_id", "stage", "decision", "criterion", "who", "note", "why", "title", "abstract", "criteria")


@dataclass(frozen=True)
class Audit:
    """A drawn sample: `population` silver exclusions at the time, of which `sample` are to be re-read."""

    audit_id: str
    stage: str
    population: int
    sample: int
    fresh: bool


@dataclass(frozen=True)
class AuditResult:
    """Where an audit stands: how many are decided, how many of these are relevant, and the bound once all are."""

    stage: str
    population: int
    sample: int
    decided: int
    relevant: int
    found: int
    shown: Elusion | None
    note: str | None


def confirmed(store: Store, stage: str, but: str | None = None) -> int:
    """Records included at a stage and confirmed by a person or by gold, those found by an audit apart."""
    return int(
        store.value(
            f"select count(*) from {stage} s left join current_gold g on g.record_id = s.record_id and g.stage = '{stage}' "
            "where s.state = 'included' and (g.decision = 'include' or s.decided_by <> 'model') "
            "and s.record_id not in (select record_id from audits where audit_id = ?)",
            [but],
        )
    )


def draw_audit(
    review: Review, store: Store, path: Path, *, stage: str | None, size: int | None, target: float, alpha: float, seed: int
) -> Audit:
    """Draw the sample and write it as a table to fill in; an audit that is drawn already is written out again, unchanged.

    Without `size` it is what the planner wants for a recall of `target` with no relevant record found.
    """
    where = _stage(review, stage)
    _, fingerprint = _in_force(store, where)
    kept = store.rows(
        "select audit_id, population, count(*) from audits where stage = ? and fingerprint = ? group by 1, 2 "
        "order by max(seq) desc",
        [where, fingerprint],
    )
    if kept:
        audit_id, population, sample = kept[0]
        if size is not None and size != sample:
            raise InputError(
                f"an audit of {sample} record(s) is drawn at {where} already, and its size was fixed before anyone read; "
                "leave out --size to write it out again"
            )
        _write(store, audit_id, path)
        return Audit(audit_id, where, population, sample, fresh=False)
    ids = [row[0] for row in store.rows(f"select record_id from {where} where {SILVER} order by record_id")]
    if not ids:
        raise InputError(f"models excluded nothing at {where}, so there is nothing to audit")
    wanted = size if size is not None else _planned(store, where, len(ids), target, alpha)
    if not 0 < wanted <= len(ids):
        raise InputError(f"an audit of {wanted} record(s) cannot be drawn from {len(ids)} exclusions")
    audit_id = f"audit-{uuid.uuid4().hex[:8]}"
    stamp = {"at_time": now(), "audit_id": audit_id, "stage": where, "fingerprint": fingerprint, "population": len(ids)}
    drawn = [ids[i] for i in rank_by_hash(ids, seed)[:wanted]]
    store.append("audits", [{**stamp, "record_id": record_id, "seed": seed} for record_id in drawn])
    _write(store, audit_id, path)
    return Audit(audit_id, where, len(ids), wanted, fresh=True)


def _stage(review: Review, stage: str | None) -> str:
    declared = [name for name, _ in review.protocol.stages.items() if name in SCREENING]
    if stage is not None and stage not in declared:
        raise InputError(f"'{stage}' is no screening stage of this review; it has: {', '.join(declared)}")
    return stage or declared[0]


def _in_force(store: Store, stage: str) -> tuple[str, str]:
    found = store.rows("select stage, fingerprint from current_stages where stage = ?", [stage])
    if not found:
        raise InputError(f"nothing was run at {stage} yet; run first")
    return found[0][0], found[0][1]


def _planned(store: Store, stage: str, excluded: int, target: float, alpha: float) -> int:
    found = confirmed(store, stage)
    if not found:
        raise InputError(
            "no included record is confirmed by a person or by gold yet, so the size cannot be planned; decide on the queue "
            "first, or give --size"
        )
    row = plan_elusion(excluded, found, target, alpha=alpha, most_allowed=0)[0]
    if row.sample is None:
        raise InputError(f"not even re-reading all {excluded} exclusions would show a recall of {target:g}; lower --recall")
    return row.sample


def _write(store: Store, audit_id: str, path: Path) -> None:
    """The sample in random order, without scores or reasons of models, so that nobody reads with their eyes."""
    rows = store.rows(
        "select a.record_id, a.stage, '', '', '', '', 'audit of what models excluded', title, abstract, criteria_hash "
        "from audits a join records using (record_id) left join current_stages using (stage) where audit_id = ? "
        "order by hash(a.record_id)",
        [audit_id],
    )
    path.write_text(write_table(_HEADER, (dict(zip(_HEADER, row, strict=True)) for row in rows)), encoding="utf-8", newline="")


def audit_results(store: Store, alpha: float = 0.05) -> list[AuditResult]:
    """The newest audit of every stage, if it is of the verdicts in force; a bound only where every record is decided."""
    rows = store.rows(
        "with drawn as (select audit_id, stage, population, count(*) as sample, max(seq) as seq from audits "
        "join current_stages using (stage, fingerprint) group by 1, 2, 3) select audit_id, stage, population, sample from drawn "
        "qualify row_number() over (partition by stage order by seq desc) = 1 order by stage"
    )
    return [_result(store, audit_id, stage, population, sample, alpha) for audit_id, stage, population, sample in rows]


def _result(store: Store, audit_id: str, stage: str, population: int, sample: int, alpha: float) -> AuditResult:
    decided, relevant = store.rows(
        f"select count(*) filter (decided_by <> 'model' and state in ('included', 'excluded')), "
        f"count(*) filter (decided_by <> 'model' and state = 'included') from audits join {stage} using (record_id) "
        "where audit_id = ?",
        [audit_id],
    )[0]
    found = confirmed(store, stage, audit_id)
    if decided < sample:
        note = f"{sample - decided} of {sample} still wait for a decision; nothing is shown before all are read"
        return AuditResult(stage, population, sample, decided, relevant, found, None, note)
    shown = elusion(population, sample, relevant, found, alpha)
    return AuditResult(stage, population, sample, decided, relevant, found, shown, shown.note)


def audit_table(store: Store) -> Table | None:
    """What the audits show, for people."""
    results = audit_results(store)
    if not results:
        return None
    rows = [
        [r.stage, r.population, r.sample, r.decided, r.relevant, r.shown.most_missed if r.shown else None, r.found,
         r.shown.recall_low if r.shown else None]
        for r in results
    ]  # fmt: skip
    header = ["stage", "excluded", "sample", "decided", "relevant", "missed at most", "found", "recall at least"]
    notes = ["exact, at 95 %; relevant records of the sample are included now, the bound is for the models' exclusions"]
    return Table("Audit of silver exclusions", header, rows, [*notes, *(f"{r.stage}: {r.note}" for r in results if r.note)])
