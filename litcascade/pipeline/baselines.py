"""Baselines of a review: scored beside its readers on the same gold, and the workload of active learning that a report shows."""

from collections.abc import Callable

from litcascade.corpora.baselines import (
    BASELINES,
    LabelledSet,
    Outcome,
    Settings,
    figures,
    labelled_set,
    order_figures,
    run_baseline,
    simulate,
    verdicts,
)
from litcascade.errors import InputError, MissingExtraError
from litcascade.eval import Estimate
from litcascade.pipeline.review import Review
from litcascade.pipeline.scoring import StageScore
from litcascade.pipeline.states import has_gold
from litcascade.pipeline.subjects import load_records
from litcascade.report import Table
from litcascade.schemas import SCREENING, digest
from litcascade.store import Store, now

SHOWN = ("mcc", "wmcc", "wss@0.95", "tnr@0.95", "last_relevant")
_WORK = 5_000  # records that the simulations of one stage may read in all: small sets are simulated more often
_SEEDS = 5


def score_baselines(review: Review, store: Store, names: list[str], say: Callable[[str], None]) -> list[Table]:
    """Run baselines on every stage with gold; their verdicts and estimates are stored, and no record changes its state."""
    for name in names:
        BASELINES.get(name)
    stages = [stage for stage, _ in review.protocol.stages.items() if stage in SCREENING and has_gold(store, stage)]
    if not stages:
        raise InputError("there is no gold to learn from; import labels with `litcascade import FILE --as gold`")
    tables = []
    for stage in stages:
        data = _data(review, store, stage)
        rows = []
        for name in names or BASELINES.names():
            say(f"{stage}: {name}")
            try:
                outcome = run_baseline(name, data, Settings())
            except (InputError, MissingExtraError) as error:
                rows.append([name, *[None] * len(SHOWN), str(error)])
                continue
            estimates = figures(outcome, _measures(review))
            _store(store, stage, outcome, estimates)
            rows.append([name, *(_shown(e) for e in estimates), outcome.note])
        notes = [f"{len(data.ids)} records with gold, {int(data.labels.sum())} included; mean over repeats, lowest to highest"]
        notes.append("trained baselines score each record by models that did not see it; duplicates never straddle folds")
        tables.append(Table(f"Baselines at {stage} (no language model)", ["baseline", *_measures(review), "note"], rows, notes))
    return tables


def _measures(review: Review) -> list[str]:
    return [f"wmcc@{review.protocol.operating_point.weight:g}" if name == "wmcc" else name for name in SHOWN]


def _shown(estimate: Estimate) -> str | None:
    if estimate.value is None:
        return None
    span = "" if estimate.low is None or estimate.high is None else f" ({estimate.low:.3f} to {estimate.high:.3f})"
    return f"{estimate.value:.3f}{span}"


def _data(review: Review, store: Store, stage: str) -> LabelledSet:
    gold = dict(store.rows("select record_id, decision from current_gold where stage = ?", [stage]))
    records = load_records(store, list(gold))
    groups = dict(store.rows("select record_id, kept_id from current_clusters"))
    criteria = "\n".join(criterion.text for criterion in review.protocol.criteria_for(stage))
    return labelled_set(records, gold, criteria=f"{review.protocol.review.question}\n{criteria}", groups=groups)


def _store(store: Store, stage: str, outcome: Outcome, estimates: list[Estimate]) -> None:
    """Verdicts stand under a fingerprint of their own, so that they are never taken for the review's."""
    stamp = {"at_time": now(), "run_id": None}
    mark = f"baseline:{outcome.baseline}"
    rows = [
        {
            **stamp, "stage": stage, "fingerprint": mark, "record_id": v.record_id, "document_id": None, "state": v.state.value,
            "score": v.score, "code": v.code.value if v.code else None, "reason": v.reason, "policy": v.policy,
        }
        for v in verdicts(outcome, stage)
    ]  # fmt: skip
    with store.transaction():
        store.append("verdicts", rows)
        store.append("estimates", [{**stamp, "scope": f"{stage} {mark}", **e.model_dump()} for e in estimates])


def workload_table(review: Review, store: Store, scores: list[StageScore]) -> Table | None:
    """How much reading active learning would have taken, beside the models' ranking, for every stage with gold."""
    measures = ("wss@0.95", "tnr@0.95", "last_relevant")
    rows: list[list[object]] = []
    notes = ["simulated: TF-IDF and a linear SVM choose what a person reads next, from one include and one exclude on"]
    for score in scores:
        try:
            simulated = _workload(review, store, score.stage)
        except (InputError, MissingExtraError) as error:
            notes.append(f"{score.stage}: not simulated: {error}")
            continue
        mine = {e.metric: e for e in score.ranking}
        rows.append([score.stage, "active learning", *(_shown(simulated[name]) for name in measures)])
        if mine:
            rows.append([score.stage, "this review's models", *(_shown(mine[name]) for name in measures)])
        notes += [f"{score.stage}: {e.note}" for e in simulated.values() if e.note and e.value is None][:1]
    return Table("Workload (last_relevant: share read until the last include)", ["stage", "order by", *measures], rows, notes)


def _workload(review: Review, store: Store, stage: str) -> dict[str, Estimate]:
    """The figures of the simulation; computed once for the same gold and kept as estimates."""
    data = _data(review, store, stage)
    key = f"labels:{digest([sorted(zip(data.ids, data.labels.tolist(), data.texts, strict=True)), _SEEDS, _WORK])}"
    kept = store.rows(
        "select metric, value, n, low, high, note from estimates where scope = ? and run_id = ?",
        [f"{stage} active learning", key],
    )
    if kept:
        return {row[0]: Estimate(metric=row[0], value=row[1], n=row[2], low=row[3], high=row[4], note=row[5]) for row in kept}
    seeds = range(max(1, min(_SEEDS, _WORK // max(1, len(data.ids)))))
    found = order_figures([simulate(data, seed=seed) for seed in seeds])
    stamp = {"at_time": now(), "run_id": key, "scope": f"{stage} active learning"}
    store.append("estimates", [{**stamp, **estimate.model_dump()} for estimate in found])
    return {estimate.metric: estimate for estimate in found}
