"""What people's labels show of the judges: rates by field, calibrated recall and precision, and what labels alone would say."""

import json
import uuid
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from litcascade.eval.estimate import Estimate
from litcascade.eval.intervals import wilson
from litcascade.eval.judge_calibration import (
    CalibratedShare,
    ExtractionCounts,
    JudgeRates,
    calibrate_by_papers,
    calibrated_precision,
    calibrated_recall,
    judge_counts,
)
from litcascade.eval.prediction_powered import Tightness, compare_with_labels, labels_only, ppi_mean
from litcascade.pipeline.judging.items import Judgeable, load_groups
from litcascade.pipeline.judging.labels import Labels, labels_of, people_agree
from litcascade.pipeline.judging.verdicts import NAMES, Item, Name, frame_of, in_force, judged_items, reasons
from litcascade.pipeline.review import Review
from litcascade.schemas import Frozen
from litcascade.store import Store, now

MEASURE: dict[Name, str] = {"same_meaning": "recall", "support": "precision"}
MOST_MISSING = 0.1


class Calibration(Frozen):
    """One judge on one field: `measure` is recall (people's items found) or precision (the extraction's items correct).

    `how` counts what accepted items rest on (exact, meaning, stated). `raw` is the share the judges accepted of the items they
    have a verdict on; `worst` and `best` count the `missing` ones as refused and as accepted. `share` is the calibrated share,
    `by_papers` the same with an interval that resamples papers. The labels are a random draw: `labels` is their own share, `ppi`
    the prediction-powered one. `left_out` says which labels do not count.
    """

    judge: Name
    field: str
    measure: str
    items: int
    how: dict[str, int]
    missing: dict[str, int]
    complete: bool
    raw: Estimate
    worst: float | None
    best: float | None
    rates: JudgeRates
    sensitivity: Estimate
    specificity: Estimate
    share: CalibratedShare
    by_papers: CalibratedShare
    ppi: Estimate
    labels: Estimate
    tightness: Tightness
    left_out: dict[str, int]
    people: tuple[str, ...] = ()
    kappa: tuple[Estimate, ...] = ()


@dataclass(frozen=True)
class Calibrated:
    """All calibrations, and what they rest on."""

    calibrations: tuple[Calibration, ...]
    judges: dict[str, dict[str, str | None]]
    found: Judgeable


def calibrate_judges(
    review: Review, store: Store, *, fields: Sequence[str] = (), alpha: float = 0.05, repeats: int = 2000, seed: int = 0
) -> Calibrated:
    """Every judge on every open field with items, from the labels and verdicts that stand in the store. Stores nothing."""
    found = load_groups(review, store, fields)
    items = judged_items(store, found.groups)
    made = []
    for judge in NAMES:
        for name in dict.fromkeys(item.field for item in items):
            mine = [item for item in items if item.judge == judge and item.field == name]
            told = labels_of(store, judge, name)
            one = calibrate_field(judge, name, mine, told, alpha=alpha, repeats=repeats, seed=seed)
            kappa = tuple(pair.agreement.kappa for pair in people_agree(store, judge, name))
            made.append(one.model_copy(update={"kappa": kappa}))
    return Calibrated(tuple(made), in_force(store), found)


def calibrate_field(
    judge: Name, field: str, items: Sequence[Item], told: Labels, *, alpha: float = 0.05, repeats: int = 2000, seed: int = 0
) -> Calibration:
    """One judge on one field from its items and people's labels; every figure is there, or undefined with its reason. Pure."""
    frame = frame_of(items)
    truth = pl.DataFrame(
        {"item_id": list(told.settled), "correct": list(told.settled.values())},
        schema={"item_id": pl.String, "correct": pl.Boolean},
    )
    labelled = frame.join(truth, on="item_id")
    rest = frame.join(labelled, on="item_id", how="anti")
    counts = judge_counts(frame, labelled)
    rates = counts.rates
    share = _share(judge, items, frame, rates, alpha)
    papers = calibrate_by_papers(frame, labelled, np.random.default_rng(seed), repeats, alpha)
    current = {item.item_id for item in items}
    labels = labels_only([told.settled[item_id] for item_id in told.settled if item_id in current], alpha)
    judged = labelled["judged"].cast(pl.Int8)
    ppi = ppi_mean(labelled["correct"].cast(pl.Int8), judged, rest["judged"].cast(pl.Int8), alpha).estimate
    missing = reasons(items)
    lost, n = sum(missing.values()), len(items)
    return Calibration(
        judge=judge,
        field=field,
        measure=MEASURE[judge],
        items=n,
        how=dict(Counter(item.how for item in items if item.how)),
        missing=missing,
        complete=n > 0 and lost / n <= MOST_MISSING,
        raw=_wilson("raw_share", counts.accepted, counts.n, "no item has a verdict", alpha),
        worst=counts.accepted / n if n else None,
        best=(counts.accepted + lost) / n if n else None,
        rates=rates,
        sensitivity=_wilson("sensitivity", rates.right1, rates.m1, "no truly correct item is labelled", alpha),
        specificity=_wilson("specificity", rates.right0, rates.m0, "no truly incorrect item is labelled", alpha),
        share=share,
        by_papers=papers,
        ppi=ppi,
        labels=labels,
        tightness=compare_with_labels(share.estimate, labels),
        left_out=_left_out(told.settled, told.disagreed, current, set(frame["item_id"])),
        people=told.people,
    )


def _share(judge: Name, items: Sequence[Item], frame: pl.DataFrame, rates: JudgeRates, alpha: float) -> CalibratedShare:
    """Calibrated recall of people's items, or calibrated precision of the extraction's."""
    accepted = int(frame["judged"].sum())
    matched = sum(item.how in ("exact", "meaning") for item in items)
    if judge == "same_meaning":
        counts = ExtractionCounts(
            matched_gold=accepted, gold_items=frame.height, matched_machine=0, correct_unmatched=0, machine_items=0
        )
        return calibrated_recall(counts, rates, alpha)
    counts = ExtractionCounts(
        matched_gold=0, gold_items=0, matched_machine=matched, correct_unmatched=accepted - matched, machine_items=frame.height
    )
    return calibrated_precision(counts, rates, alpha)


def _left_out(settled: dict[str, bool], disagreed: Sequence[str], current: set[str], judged: set[str]) -> dict[str, int]:
    told = {
        "people differ": len(disagreed),
        "of an earlier extraction": sum(item_id not in current for item_id in settled),
        "without a verdict of the judge": sum(item_id in current and item_id not in judged for item_id in settled),
    }
    return {why: count for why, count in told.items() if count}


def _wilson(metric: str, part: int, whole: int, empty: str, alpha: float) -> Estimate:
    if not whole:
        return Estimate(metric=metric, value=None, n=0, note=empty)
    low, high = wilson(part, whole, alpha)
    return Estimate(metric=metric, value=part / whole, n=whole, low=low, high=high)


def store_calibrations(store: Store, done: Calibrated) -> str:
    """Keep the calibrations with the fingerprints of the judges they are of; returns their id."""
    calibration_id = f"calibration-{uuid.uuid4().hex[:8]}"
    marks = json.dumps({name: told["fingerprint"] for name, told in done.judges.items() if name in NAMES})
    rows = [
        {
            "at_time": now(), "calibration_id": calibration_id, "judge": one.judge, "field": one.field, "measure": one.measure,
            "fingerprints": marks, "figures": one.model_dump_json(), "value": one.share.estimate.value,
            "low": one.share.estimate.low, "high": one.share.estimate.high, "support": one.share.support,
            "note": one.share.estimate.note,
        }
        for one in done.calibrations
    ]  # fmt: skip
    store.append("judge_calibrations", rows)
    return calibration_id
