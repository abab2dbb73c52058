"""The ledger, the scores and the history of a review as tables."""

import json
from typing import Any

from litcascade.eval import Estimate
from litcascade.eval.metrics import caution_of
from litcascade.pipeline.auditing import audit_table
from litcascade.pipeline.cascade_scores import CascadeScores
from litcascade.pipeline.errors_found import causes_table
from litcascade.pipeline.field_score_tables import field_tables
from litcascade.pipeline.ledger import StageLedger, ledger_table, read_ledger, reasons_table
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import Scores, StageScore, score_review
from litcascade.report import Table
from litcascade.store import Store


def score_tables(scores: Scores) -> list[Table]:
    """Per stage the matrix and the metrics; the cascade; the fields."""
    tables = [table for stage in scores.stages for table in _stage_tables(stage)]
    if scores.cascade:
        tables.append(_cascade_table(scores.cascade))
    return [*tables, *field_tables(scores.fields)]


def _cascade_table(cascade: CascadeScores) -> Table:
    loss = cascade.loss
    rows: list[list[Any]] = [
        [
            item.stage,
            item.recall.value,
            _bounds(item.recall),
            item.loss.value,
            cascade.with_gold_at[item.stage].value,
            item.recall.n,
        ]
        for item in loss.stages
    ]
    rows.append(["end to end", loss.end_to_end.value, _bounds(loss.end_to_end), None, None, loss.end_to_end.n])
    notes = ["recall among gold includes that the models judged at the stage; a record that waits for a person is kept there"]
    notes += [loss.end_to_end.note] if loss.end_to_end.note else []
    if cascade.extraction:
        found = cascade.extraction
        for name, estimate in (
            ("yield of extraction", found.extraction_yield), ("coverage", found.coverage), ("correctness", found.correctness),
            ("papers right in every field", found.complete),
        ):  # fmt: skip
            rows.append([name, estimate.value, _bounds(estimate), None, None, estimate.n])
        notes.append("yield = end to end x coverage x correctness, of papers with gold fields")
    header = ["stage", "recall", "95 %", "share lost here", "end to end with gold here", "n"]
    return Table("Cascade", header, rows, notes)


def _stage_tables(score: StageScore) -> list[Table]:
    c = score.confusion
    rows: list[list[Any]] = [[name.upper(), int(getattr(c, name)), None, None] for name in ("tp", "fp", "fn", "tn")]
    shown = [*score.metrics, *score.ranking, score.reliability]
    rows += [[e.metric, e.value, _bounds(e), e.note or caution_of(e.metric)] for e in shown]
    notes = [f"{score.referred} referred record(s) count as positive"]
    notes += [f"of these {count}: {why}" for why, count in sorted(score.null_causes.items())]
    notes += [f"not scored: {count} record(s), {why}" for why, count in sorted(score.left_out.items())]
    if score.population > c.n:
        notes.append(f"intervals treat the {c.n} labelled records as a random sample of {score.population} judged ones")
    notes.append(f"deployment rule: {score.deployment.note}" + _faults(score))
    title = f"Scores at {score.stage} (models against gold, n = {c.n})"
    return [Table(title, ["metric", "value", "95 %", "note"], rows, notes)]


def _faults(score: StageScore) -> str:
    return "".join(f"; {c.name}: {c.why}" for c in score.deployment.candidates if not c.passes)


def _bounds(estimate: Estimate) -> str | None:
    return None if estimate.low is None or estimate.high is None else f"{estimate.low:.3f} to {estimate.high:.3f}"


def history_tables(store: Store) -> list[Table]:
    """Amendments, and what the runs spent."""
    tables = []
    amendments = store.rows("select at_time, author, reason, changes from amendments order by seq")
    if amendments:
        rows = [
            [str(at)[:10], author, "; ".join(f"{c['what']} {c['how']}" for c in json.loads(changes)), reason]
            for at, author, reason, changes in amendments
        ]
        tables.append(Table("Amendments", ["date", "author", "what", "reason"], rows))
    spent = store.rows(
        "select model, engine, count(*), sum(prompt_tokens)::bigint, sum(cached_tokens)::bigint, sum(completion_tokens)::bigint, "
        "round(sum(seconds), 1) from calls group by model, engine order by 1"
    )
    if spent:
        header = ["model", "calls", "prompt tokens", "of these cached", "answer tokens", "engine seconds", "engine"]
        rows = [[row[0], *row[2:], row[1]] for row in spent]
        tables.append(Table("Calls stored", header, rows))
    return tables


def report_tables(review: Review, store: Store) -> tuple[list[Table], list[StageLedger], Scores]:
    """Everything `litcascade report` shows."""
    from litcascade.pipeline.baselines import workload_table  # imported here: `status` needs none of it

    ledger = read_ledger(store, review.protocol)
    scores = score_review(review, store)
    reasons = reasons_table(ledger)
    tables = [ledger_table(ledger), *([reasons] if reasons else []), *score_tables(scores)]
    if scores.stages and (workload := workload_table(review, store, scores.stages)):
        tables.append(workload)
    if audit := audit_table(store):
        tables.append(audit)
    causes = causes_table(review, store)
    if causes:
        tables.append(Table("Errors", ["stage", "error", "cause", "records"], [list(row) for row in causes]))
    tables += history_tables(store)
    return tables, ledger, scores
