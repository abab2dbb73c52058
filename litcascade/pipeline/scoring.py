"""Verdicts joined to gold by id, handed down to `eval` as frames."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from litcascade.eval import Confusion, Estimate, confusion_of, metrics_of, parse_measure, ranking_of
from litcascade.eval.guarantees import Deployment, choose_deployment
from litcascade.eval.intervals import recall_interval, wmcc_interval
from litcascade.pipeline.cascade_scores import CascadeScores, score_cascade
from litcascade.pipeline.field_scores import FieldScores, score_fields
from litcascade.pipeline.review import Review
from litcascade.pipeline.states import SCORED, has_gold, model_states, stage_frame
from litcascade.schemas.protocol import OperatingPoint
from litcascade.store import Store, now

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
    cascade: CascadeScores | None
    fields: FieldScores


def score_review(review: Review, store: Store) -> Scores:
    """Score what models decided (people's decisions aside) against gold; the estimates are stored."""
    screening: list[str] = [name for name, _ in review.protocol.stages.items() if name != "extraction"]
    point = review.protocol.operating_point
    stages = [_score_stage(store, name, point) for name in screening if has_gold(store, name)]
    fields = score_fields(review, store)
    cascade = score_cascade(store, screening, fields, SEED) if stages else None
    scores = Scores(stages, cascade, fields)
    _store(store, scores)
    return scores


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
    judged = store.value(f"select count(*) from ({model_states(stage)}) where state in {SCORED}")
    population = max(int(judged), confusion.n)
    null_causes = _null_causes(store, stage, scored)
    return StageScore(
        stage=stage,
        confusion=confusion,
        metrics=_with_intervals(metrics_of(confusion, point.weight), confusion, population, point.weight),
        population=population,
        ranking=_ranking(scored),
        deployment=_deployment(store, stage, scored, confusion, population, point),
        referred=scored.filter(pl.col("state") == "referred").height,
        null_causes=null_causes,
        reliability=_reliability(store, stage),
        left_out=left_out,
    )


def _null_causes(store: Store, stage: str, scored: pl.DataFrame) -> dict[str, int]:
    """Why the models referred the scored records, whatever people decided since."""
    ids = scored.filter(pl.col("state") == "referred")["record_id"].to_list()
    rows = store.rows(
        "select coalesce(code, 'no reason kept') from verdicts join current_stages using (stage, fingerprint) "
        "where stage = ? and record_id in (select unnest(?::text[])) "
        "qualify row_number() over (partition by record_id order by seq desc) = 1",
        [stage, ids],
    )
    return dict(Counter(row[0] for row in rows))


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


def _store(store: Store, scores: Scores) -> None:
    run_id = store.value("select run_id from runs order by seq desc limit 1")
    rows = [
        (stage.stage, estimate) for stage in scores.stages for estimate in [*stage.metrics, *stage.ranking, stage.reliability]
    ]
    if scores.cascade:
        rows.append(("cascade", scores.cascade.loss.end_to_end))
        rows += [(f"cascade {item.stage}", item.loss) for item in scores.cascade.loss.stages]
        if scores.cascade.extraction:
            rows += [("cascade", scores.cascade.extraction.extraction_yield), ("cascade", scores.cascade.extraction.complete)]
    rows += [(f"field {name}", estimate) for name, estimate in scores.fields.scores.items()]
    common = {"at_time": now(), "run_id": run_id}
    store.append("estimates", [{**common, "scope": scope, **estimate.model_dump()} for scope, estimate in rows])
