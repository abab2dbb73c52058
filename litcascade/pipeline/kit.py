"""The reporting kit: the minimum table, a checklist filled from the store, and the leakage statement."""

import json
from typing import Any

import polars as pl

from litcascade.eval import Confusion, confusion_of
from litcascade.eval.binary import mcc, recall, wmcc
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import Scores, StageScore
from litcascade.pipeline.states import SCORED, stage_frame
from litcascade.report import Table
from litcascade.schemas import Protocol
from litcascade.store import Store

OPEN = "open: fill in"
_HEADER = [
    "stage", "model", "prompt", "review", "TP", "FP", "FN", "TN", "recall", "recall, 95 %", "Lost Evidence", "MCC", "WMCC",
    "WMCC, 95 %", "null %", "w", "why this w",
]  # fmt: skip


def kit_tables(review: Review, store: Store, scores: Scores) -> list[Table]:
    """All parts of the kit."""
    return [
        minimum_table(review, scores),
        *[deployment_table(score) for score in scores.stages],
        *leakage_tables(review, store, scores),
        checklist(review, store, scores),
    ]


def minimum_table(review: Review, scores: Scores) -> Table:
    """One row a screening stage: the least that a benchmark must report for others to recompute it."""
    point = review.protocol.operating_point
    rows = []
    for score in scores.stages:
        c, found = score.confusion, {e.metric: e for e in score.metrics}
        shown, weighted = found["recall"], found[f"wmcc@{point.weight:g}"]
        models, prompts = _who(review.protocol, score.stage)
        rows.append([
            score.stage, models, prompts, review.protocol.review.title, int(c.tp), int(c.fp), int(c.fn), int(c.tn),
            shown.value, _bounds(shown.low, shown.high), found["lost_evidence"].value, found["mcc"].value, weighted.value,
            _bounds(weighted.low, weighted.high), 100 * score.referred / c.n if c.n else None, point.weight,
            point.justification or OPEN,
        ])  # fmt: skip
    notes = ["null % are records referred to people; they count as positive"]
    notes += [f"{score.stage}: of the null, {count} {why}" for score in scores.stages for why, count in score.null_causes.items()]
    notes += [
        f"{score.stage}: {e.metric} is undefined: {e.note}" for score in scores.stages for e in score.metrics if e.value is None
    ]
    return Table("Minimum table", _HEADER, rows, notes)


def _who(protocol: Protocol, stage: str) -> tuple[str, str]:
    spec = dict(protocol.stages.items())[stage]  # type: ignore[index]  # a stage of this protocol
    readers = [protocol.readers[name] for name in spec.readers]
    models = [protocol.models[str(reader.model)].model if reader.model else "a person" for reader in readers]
    return " + ".join(dict.fromkeys(models)), " + ".join(dict.fromkeys(reader.prompt or "default" for reader in readers))


def _bounds(low: float | None, high: float | None) -> str | None:
    return None if low is None or high is None else f"{low:.3f} to {high:.3f}"


def deployment_table(score: StageScore) -> Table:
    """The deployment variant: who clears the recall fixed beforehand, and who is chosen."""
    rows: list[list[Any]] = [
        [c.name, c.recall.value, c.recall.low, c.mcc.value, c.mcc.low, c.wmcc.value, "yes" if c.passes else "no", c.why]
        for c in score.deployment.candidates
    ]
    header = ["process", "recall", "recall at least", "MCC", "MCC at least", "WMCC", "passes", "why"]
    return Table(f"Deployment at {score.stage}", header, rows, [score.deployment.note])


def leakage_tables(review: Review, store: Store, scores: Scores) -> list[Table]:
    """Scores apart for records from before and after each model's training cut-off, by publication year."""
    tables = []
    for score in scores.stages:
        spec = dict(review.protocol.stages.items())[score.stage]  # type: ignore[index]  # a stage of this protocol
        cutoffs = {
            name: review.protocol.models[name].cutoff
            for reader in spec.readers
            if (name := review.protocol.readers[reader].model) is not None
        }
        frame = stage_frame(store, score.stage).filter(pl.col("state").is_in(SCORED))
        years = store.frame("select record_id, year from records", {"record_id": pl.String, "year": pl.Int64})
        dated = frame.join(years, on="record_id", how="left")
        rows: list[list[Any]] = []
        for name, cutoff in cutoffs.items():
            rows += _strata(name, cutoff.year, dated) if cutoff else [[name, OPEN, *[None] * 5]]
        header = ["model", "stratum", "n", "includes", "recall", "MCC", "WMCC(10)"]
        notes = [
            "a model may have seen records from before its cut-off; equal scores in both strata do not prove that it had not"
        ]
        tables.append(Table(f"Leakage at {score.stage}", header, rows, notes))
    return tables


def _strata(name: str, year: int, dated: pl.DataFrame) -> list[list[Any]]:
    rows = []
    for label, part in (
        (f"published up to {year}", dated.filter(pl.col("year") <= year)),
        (f"published after {year}", dated.filter(pl.col("year") > year)),
        ("year unknown", dated.filter(pl.col("year").is_null())),
    ):
        c = confusion_of(part) if part.height else Confusion(tp=0, fp=0, fn=0, tn=0)
        rows.append([name, label, part.height, int(c.positives), recall(c).value, mcc(c).value, wmcc(c).value])
    return rows


def _imports(store: Store) -> list[str]:
    """Each import with how many records it brought."""
    rows = store.rows(
        "select path, count(records.record_id) from imports left join records using (import_id) "
        "group by import_id, path, imports.seq order by imports.seq"
    )
    return [f"{path}: {count}" for path, count in rows]


def _clusters(store: Store) -> str | None:
    """What de-duplication came to; None where it was not run."""
    removed, studies, retracted, reports = store.rows(
        "select count(*) filter (record_id <> kept_id), count(distinct study_id), count(distinct kept_id) filter (status = "
        "'retracted'), count(distinct kept_id) from current_clusters"
    )[0]
    if not reports:
        return None
    return f"{removed} duplicates removed; {reports} reports of {studies} studies; {retracted} flagged as retracted"


def checklist(review: Review, store: Store, scores: Scores) -> Table:
    """What a report must say, filled from the store; what cannot be known from it is left open."""
    protocol = review.protocol
    run = store.rows("select at_time, code_version, models from runs order by seq desc limit 1")
    models = json.loads(run[0][2]) if run else {}
    calls, tokens = store.rows("select count(*), sum(prompt_tokens + completion_tokens)::bigint from calls")[0]
    amendments = store.value("select count(*) from amendments")
    known: dict[str, Any] = {
        "Review question": protocol.review.question,
        "Criteria": f"{len(protocol.criteria)} ({', '.join(c.id for c in protocol.criteria)}); {amendments} amendment(s)",
        "Searches": "; ".join(f"{s.source} {s.date}" for s in protocol.search) or None,
        "Records imported": "; ".join(_imports(store)) or None,
        "Duplicates, studies, retractions": _clusters(store),
        "Records with gold labels": "; ".join(f"{s.stage}: {s.confusion.n} of {s.population} judged" for s in scores.stages)
        or None,
        "How the labelled sample was drawn": None,
        "Who labelled, and their agreement": None,
        "Models, revisions, engines": "; ".join(f"{m['name']} @ {m['revision'] or OPEN}, {m['engine']}" for m in models.values())
        or None,
        "Prompts": "; ".join(f"{stage}: {_who(protocol, stage)[1]}" for stage, _ in protocol.stages.items()),
        "Decoding": "; ".join(
            f"{n}: temperature {r.temperature:g}, seed {r.seed}" for n, r in protocol.readers.items() if not r.person
        ),
        "Unusable replies": "referred to people and counted positive; kept with their raw text",
        "Recall aimed at, fixed beforehand": protocol.operating_point.recall,
        "w of WMCC, and why": f"{protocol.operating_point.weight:g}: {protocol.operating_point.justification or OPEN}",
        "How the threshold was chosen, on which split": None,
        "Training cut-offs": "; ".join(f"{n}: {m.cutoff}" for n, m in protocol.models.items() if m.cutoff) or None,
        "Program and date": f"{run[0][1]}, {str(run[0][0])[:10]}" if run else None,
        "Cost": f"{calls} calls, {tokens or 0:,} tokens",
        "Hours people spent": None,
        "Where protocol, prompts and replies can be had": None,
    }
    return Table(
        "Checklist", ["item", "from the store"], [[item, OPEN if value is None else value] for item, value in known.items()]
    )
