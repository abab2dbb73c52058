"""Verdicts joined to gold by id, handed down to `eval` as frames."""

import json
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from litcascade.eval import (
    CascadeLoss,
    Confusion,
    Estimate,
    Pair,
    cascade_loss,
    confusion_of,
    metrics_of,
    parse_measure,
    ranking_of,
    score_field,
)
from litcascade.eval.guarantees import Deployment, choose_deployment
from litcascade.eval.intervals import recall_interval, wmcc_interval
from litcascade.judges import normalised_match
from litcascade.pipeline.review import Review
from litcascade.schemas.protocol import OperatingPoint
from litcascade.store import Store, now

SCORED = ("included", "referred", "excluded")
KEPT = ("included", "referred", "decided by a person")
RANKED = ("auc", "average_precision", "wss@0.95", "tnr@0.95", "np@0.95", "last_relevant", "recall_at@100", "ndcg@10")
SEED = 20261130  # of half-samples: the same store gives the same intervals
_TEXT = pl.String


@dataclass(frozen=True)
class StageScore:
    """A screening stage against gold: the matrix, its metrics, and what could not be scored with the reason."""

    stage: str
    confusion: Confusion
    metrics: list[Estimate]
    population: int
    ranking: list[Estimate]
    deployment: Deployment
    referred: int
    null_causes: dict[str, int]
    reliability: Estimate
    left_out: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Scores:
    """All scores of a review, as far as there is gold."""

    stages: list[StageScore]
    cascade: CascadeLoss | None
    fields: dict[str, Estimate]
    quotes: dict[str, int]


def score_review(review: Review, store: Store) -> Scores:
    """Score what models decided (people's decisions aside) against gold; the estimates are stored."""
    screening: list[str] = [name for name, _ in review.protocol.stages.items() if name != "extraction"]
    point = review.protocol.operating_point
    stages = [_score_stage(store, name, point) for name in screening if _has_gold(store, name)]
    cascade = _score_cascade(store, screening) if stages else None
    fields = _score_fields(review, store)
    quotes = dict(
        store.rows(
            "select case when error is not null then 'invalid' when quote_found then 'quote found' "
            "when quote_found is null then 'not reported' else 'quote not found' end, count(*) from extracted group by 1"
        )
    )
    scores = Scores(stages, cascade, fields, quotes)
    _store(store, scores)
    return scores


def _has_gold(store: Store, stage: str) -> bool:
    return bool(store.value("select count(*) from gold where stage = ?", [stage]))


def _model_states(stage: str) -> str:
    """What the models said at a stage, before any person: record_id, state."""
    return (
        f"select {stage}.record_id, coalesce(v.state, "
        f"case when decided_by <> 'model' then 'decided by a person' end, {stage}.state) as state from {stage} left join ("
        "select verdicts.record_id, verdicts.state from verdicts join current_stages "
        "on current_stages.stage = verdicts.stage and current_stages.fingerprint = verdicts.fingerprint "
        f"where verdicts.stage = '{stage}' "
        "qualify row_number() over (partition by record_id order by verdicts.seq desc) = 1) v "
        f"on v.record_id = {stage}.record_id and {stage}.state <> 'pending'"
    )


def stage_frame(store: Store, stage: str) -> pl.DataFrame:
    """Gold joined by id to what the models said: `record_id`, `gold`, `state`, `score`; all records with gold."""
    rows = store.rows(
        f"select g.record_id, g.decision, coalesce(s.state, 'did not reach this stage'), v.score "
        f"from (select * from current_gold where stage = '{stage}') g left join ({_model_states(stage)}) s using (record_id) "
        f"left join {stage} v using (record_id)"
    )
    schema = {"record_id": _TEXT, "gold": _TEXT, "state": _TEXT, "score": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _score_stage(store: Store, stage: str, point: OperatingPoint) -> StageScore:
    frame = stage_frame(store, stage)
    scored = frame.filter(pl.col("state").is_in(SCORED))
    left_out = dict(frame.filter(~pl.col("state").is_in(SCORED)).group_by("state").len().rows())
    without = store.value(
        f"select count(*) from {stage} where record_id not in (select record_id from current_gold where stage = '{stage}')"
    )
    if without:
        left_out["without a gold label"] = without
    confusion = confusion_of(scored)
    judged = store.value(f"select count(*) from ({_model_states(stage)}) where state in {SCORED}")
    population = max(int(judged), confusion.n)
    null_causes = dict(
        store.rows(
            f"select coalesce(code, 'no reason kept'), count(*) from {stage} join (select record_id from current_gold "
            f"where stage = '{stage}') using (record_id) where state = 'referred' group by 1"
        )
    )
    return StageScore(
        stage=stage,
        confusion=confusion,
        metrics=_with_intervals(metrics_of(confusion, point.weight), confusion, population, point.weight),
        population=population,
        ranking=_ranking(scored),
        deployment=_deployment(store, stage, frame, confusion, population, point),
        referred=scored.filter(pl.col("state") == "referred").height,
        null_causes=null_causes,
        reliability=_reliability(store, stage),
        left_out=left_out,
    )


def _with_intervals(estimates: list[Estimate], c: Confusion, population: int, weight: float) -> list[Estimate]:
    """Exact bounds of recall and Lost Evidence, half-sample bounds of MCC and WMCC; the rest stays as it is."""
    sample = population if population > c.n else None
    shown = recall_interval(c, sample)
    mine = {
        "recall": shown,
        "mcc": wmcc_interval(c, np.random.default_rng(SEED), weight=1.0, population=sample),
        f"wmcc@{weight:g}": wmcc_interval(c, np.random.default_rng(SEED), weight=weight, population=sample),
    }
    if shown.low is not None and shown.high is not None:
        mine["lost_evidence"] = shown.model_copy(update={"low": 1 - shown.high, "high": 1 - shown.low})
    bounds = {name: {"low": e.low, "high": e.high, "note": e.note} for name, e in mine.items()}
    return [e.model_copy(update=bounds.get(e.metric, {})) for e in estimates]


def _ranking(scored: pl.DataFrame) -> list[Estimate]:
    """Ranking measures, where at least one record has a score."""
    if scored["score"].drop_nulls().is_empty():
        return []
    ranking = ranking_of(scored.select("record_id", "gold", "score"))
    return [parse_measure(name)(ranking) for name in RANKED]


def _deployment(
    store: Store, stage: str, frame: pl.DataFrame, whole: Confusion, population: int, point: OperatingPoint
) -> Deployment:
    """The deployment rule over the stage as it ran and, where there are several, each of its readers alone."""
    candidates = {"this stage": whole}
    rows = store.rows(
        "select record_id, reader, case when decision = 'exclude' then 'excluded' when decision = 'include' then 'included' "
        "else 'referred' end from readings join current_stages using (stage, fingerprint) where stage = ? "
        "qualify row_number() over (partition by record_id, reader order by seq desc) = 1",
        [stage],
    )
    readings = pl.DataFrame(rows, schema={"record_id": _TEXT, "reader": _TEXT, "state": _TEXT}, orient="row")
    names = sorted(readings["reader"].unique())
    for name in names if len(names) > 1 else []:
        mine = readings.filter(pl.col("reader") == name).select("record_id", "state")
        candidates[name] = confusion_of(frame.select("record_id", "gold").join(mine, on="record_id"))
    sample = population if population > whole.n else None
    return choose_deployment(candidates, point.recall, np.random.default_rng(SEED), weight=point.weight, population=sample)


def _reliability(store: Store, stage: str) -> Estimate:
    """Share of readings whose first reply was in the form asked for."""
    orderly, total = store.rows(
        "select count(*) filter (orderly), count(*) from readings join current_stages using (stage, fingerprint) "
        "where stage = ? and len(calls) > 0",
        [stage],
    )[0]
    if not total:
        return Estimate(metric="reliability_rate", value=None, n=0, note="no model was asked")
    return Estimate(metric="reliability_rate", value=orderly / total, n=total)


def _score_cascade(store: Store, screening: list[str]) -> CascadeLoss | None:
    """Loss by stage among the records that gold includes at the last screening stage with gold."""
    last = [name for name in screening if _has_gold(store, name)][-1]
    upto = screening[: screening.index(last) + 1]
    ids = [row[0] for row in store.rows("select record_id from current_gold where stage = ? and decision = 'include'", [last])]
    columns: dict[str, list[bool]] = {}
    names: list[str] = []
    held: set[str] = set()
    for stage in upto:
        states = dict(store.rows(_model_states(stage)))
        if any(states.get(record_id) == "pending" for record_id in ids):
            return None
        if stage == "full_text":
            names.append("retrieval")
            columns["retrieval"] = [(key in held and key not in states) or states.get(key) != "not retrieved" for key in ids]
        names.append(stage)
        # a record that waits for a person at an earlier stage never reached this one: it is kept, not lost
        columns[stage] = [(key in held and key not in states) or states.get(key) in KEPT for key in ids]
        held |= {key for key in ids if states.get(key) == "referred"}
    schema = {"record_id": _TEXT, **dict.fromkeys(columns, pl.Boolean)}
    frame = pl.DataFrame({"record_id": ids, **columns}, schema=schema)
    return cascade_loss(frame, names)


def _score_fields(review: Review, store: Store) -> dict[str, Estimate]:
    if not review.protocol.stages.extraction:
        return {}
    readers = review.protocol.stages.extraction.readers
    scores = {}
    for spec in review.protocol.fields:
        rows = store.rows(
            "select g.record_id, g.value, e.value, e.error is not null from current_gold_fields g "
            "join extracted e on e.record_id = g.record_id and e.field = g.field and e.reader = ? where g.field = ?",
            [readers[0], spec.name],
        )
        pairs = [
            Pair(
                record_id=row[0],
                gold=json.loads(row[1]),
                value=json.loads(row[2]) if row[2] is not None else None,
                invalid=row[3],
            )
            for row in rows
        ]
        scores[spec.name] = score_field(spec, pairs, normalised_match)
    return scores


def _store(store: Store, scores: Scores) -> None:
    run_id = store.value("select run_id from runs order by seq desc limit 1")
    rows = [
        (stage.stage, estimate) for stage in scores.stages for estimate in [*stage.metrics, *stage.ranking, stage.reliability]
    ]
    if scores.cascade:
        rows.append(("cascade", scores.cascade.end_to_end))
        rows += [(f"cascade {item.stage}", item.loss) for item in scores.cascade.stages]
    rows += [(f"field {name}", estimate) for name, estimate in scores.fields.items()]
    common = {"at_time": now(), "run_id": run_id}
    store.append("estimates", [{**common, "scope": scope, **estimate.model_dump()} for scope, estimate in rows])
