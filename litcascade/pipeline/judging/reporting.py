"""The judges' report: tables for people, rows for files."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from litcascade.eval.estimate import Estimate
from litcascade.eval.judging import ScoreSummary, summarise_scores
from litcascade.judges import Rubric
from litcascade.pipeline.judging.calibrating import Calibrated, Calibration, calibrate_judges
from litcascade.pipeline.judging.verdicts import Leaning, leanings, scores
from litcascade.pipeline.review import Review
from litcascade.report import Table
from litcascade.store import Store


@dataclass(frozen=True)
class JudgeReport:
    """Everything there is to say of the judges: calibrations, what they lean to, scores on scales by (scale, field), notes."""

    done: Calibrated
    leanings: tuple[Leaning, ...]
    scales: dict[str, ScoreSummary]
    notes: tuple[str, ...]


def judge_report(
    review: Review, store: Store, *, fields: Sequence[str] = (), alpha: float = 0.05, repeats: int = 2000, seed: int = 0
) -> JudgeReport:
    """From what stands in the store now: verdicts of the judges in force, and people's labels."""
    done = calibrate_judges(review, store, fields=fields, alpha=alpha, repeats=repeats, seed=seed)
    groups = done.found.groups
    return JudgeReport(done, tuple(leanings(store, groups)), _scales(store, done), tuple(_notes(review, done)))


def _scales(store: Store, done: Calibrated) -> dict[str, ScoreSummary]:
    found = {}
    for judge in (name for name in done.judges if name.startswith("rubric ")):
        low, high = _ends(store, judge)
        for name, values in scores(store, judge, done.found.groups).items():
            found[f"{judge.removeprefix('rubric ')}: {name}"] = summarise_scores(values, low, high)
    return found


def _ends(store: Store, judge: str) -> tuple[float, float]:
    kept = store.value("select rests_on from judge_versions where judge = ? order by seq desc limit 1", [judge])
    scale = Rubric.model_validate(json.loads(kept)[-1])
    return scale.low, scale.high


def _notes(review: Review, done: Calibrated) -> list[str]:
    notes = [f"{name}: {told['model']} (reader {told['reader']})" for name, told in done.judges.items()]
    extraction = review.protocol.stages.extraction
    readers = [review.protocol.readers[name].model for name in extraction.readers] if extraction else []
    families = {review.protocol.models[name].family for name in readers if name} - {""}
    shared = sorted({name for name, told in done.judges.items() if told["family"] in families})
    if shared:
        notes.append(f"{' and '.join(shared)}: the judge is of the extracting model's own family; such judges lean to their own")
    for name, count in done.found.not_extracted.items():
        notes.append(f"{name}: {count} record(s) with gold are not extracted and stand in none of these shares")
    invalid = sum(group.invalid for group in done.found.groups)
    if invalid:
        notes.append(f"{invalid} field(s) could not be read from the extraction; people's items there count as not found")
    return notes


def tables_of(report: JudgeReport) -> list[Table]:
    """For people: shares with their support, the judges against people, the alternatives, leanings, scales."""
    made = report.done.calibrations
    tables = [_shares(made, report.notes), _rates(made), _beside(made)]
    if report.leanings:
        tables.append(_leanings(report.leanings))
    if report.scales:
        tables.append(_scores(report.scales))
    return tables


def _shares(made: Sequence[Calibration], notes: Sequence[str]) -> Table:
    rows = [
        [
            one.field, one.measure, one.items, one.how.get("exact", 0), sum(one.missing.values()), one.raw.value,
            one.share.estimate.value, one.share.estimate.low, one.share.estimate.high, one.share.support,
            one.share.estimate.note or "",
        ]
        for one in made
    ]  # fmt: skip
    told = [
        "recall: people's items found by the extraction; precision: the extraction's items that people or the report bear out"
    ]
    for one in made:
        if one.missing:
            why = "; ".join(f"{count} {reason}" for reason, count in one.missing.items())
            end = "" if one.complete else "; result incomplete"
            bounds = f"the raw share is {one.worst:.3f} to {one.best:.3f}" if one.worst is not None else "no item"
            told.append(f"{one.field}, {one.measure}: without a verdict: {why}; {bounds} with them as no and as yes{end}")
    header = ["field", "measure", "items", "exact", "missing", "raw", "calibrated", "low", "high", "support", "note"]
    return Table("Extraction by judges, corrected for their errors", header, rows, [*told, *notes])


def _rates(made: Sequence[Calibration]) -> Table:
    rows = [
        [
            one.judge, one.field, one.rates.m1, one.sensitivity.value, _bounds(one.sensitivity), one.rates.m0,
            one.specificity.value, _bounds(one.specificity), one.share.signal,
        ]
        for one in made
    ]  # fmt: skip
    notes = [f"{one.judge}, {one.field}: {count} label(s) left out: {why}" for one in made for why, count in one.left_out.items()]
    for one in made:
        for kappa in one.kappa:
            shown = "undefined" if kappa.value is None else f"{kappa.value:.3f}"
            notes.append(f"{one.judge}, {one.field}: kappa of two people {shown} on {kappa.n} item(s)")
    header = ["judge", "field", "correct", "sensitivity", "95 %", "incorrect", "specificity", "95 %", "above chance"]
    return Table("Judges against people's labels", header, rows, notes)


def _beside(made: Sequence[Calibration]) -> Table:
    rows = [
        [
            one.field, one.measure, _told(one.share.estimate), _told(one.by_papers.estimate), _told(one.ppi), _told(one.labels),
            one.tightness.text,
        ]
        for one in made
    ]  # fmt: skip
    notes = [
        f"{one.field}, {one.measure}, by papers: {one.by_papers.support}: {one.by_papers.estimate.note}"
        for one in made
        if one.by_papers.estimate.note and one.by_papers.estimate.note != one.share.estimate.note
    ]
    header = ["field", "measure", "calibrated", "papers resampled", "PPI++", "labels alone", "which is tighter"]
    return Table("Beside it, from the same labels", header, rows, notes)


def _leanings(rows: Sequence[Leaning]) -> Table:
    told = [
        [
            one.field, one.pairs, one.failed, one.flips.value, one.gold_first.value, one.model_first.value, one.longer.value,
            one.shorter.value,
        ]
        for one in rows
    ]  # fmt: skip
    header = ["field", "pairs", "failed", "flips", "yes, person's first", "yes, model's first", "yes, longer", "yes, shorter"]
    return Table("What the judge of pairs leans to", header, told, ["a flip (yes in one order, no in the other) is no match"])


def _scores(scales: Mapping[str, ScoreSummary]) -> Table:
    rows = [[name, one.n, one.n_failed, one.mean.value, one.worst, one.best, one.headline] for name, one in scales.items()]
    return Table("Scores", ["scale and field", "items", "failed", "mean", "worst", "best", "in words"], rows)


def _bounds(one: Estimate) -> str | None:
    return None if one.low is None or one.high is None else f"{one.low:.3f} to {one.high:.3f}"


def _told(one: Estimate) -> str:
    if one.value is None:
        return "–"
    bounds = _bounds(one)
    return f"{one.value:.3f} ({bounds})" if bounds else f"{one.value:.3f}"


def rows_of(report: JudgeReport) -> list[dict[str, Any]]:
    """One row a judge and field, for files."""
    found = []
    for one in report.done.calibrations:
        row: dict[str, Any] = {
            "judge": one.judge, "field": one.field, "measure": one.measure, "items": one.items,
            "exact": one.how.get("exact", 0), "meaning": one.how.get("meaning", 0), "stated": one.how.get("stated", 0),
            "missing": sum(one.missing.values()), "complete": one.complete, "worst": one.worst, "best": one.best,
            "m1": one.rates.m1, "m0": one.rates.m0, "support": one.share.support, "signal": one.share.signal,
            "support_by_papers": one.by_papers.support,
        }  # fmt: skip
        figures = {
            "raw": one.raw, "sensitivity": one.sensitivity, "specificity": one.specificity, "calibrated": one.share.estimate,
            "by_papers": one.by_papers.estimate, "ppi": one.ppi, "labels": one.labels,
        }  # fmt: skip
        for name, figure in figures.items():
            row |= {name: figure.value, f"{name}_low": figure.low, f"{name}_high": figure.high, f"{name}_note": figure.note}
        found.append(row)
    return found
