"""Outcomes as verdicts and as estimates: the same types and the same scoring as readers have."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from litcascade.corpora.baselines.base import BASELINES
from litcascade.corpora.baselines.run import Outcome
from litcascade.eval import Confusion, Estimate, Ranking, confusion_of, parse_measure, ranking_of
from litcascade.schemas import Answer, Decision, Reading, Refer, ReferCode, State, Verdict

MEASURES = ("mcc", "wmcc@10", "wss@0.95", "tnr@0.95", "last_relevant")


def verdicts(outcome: Outcome, stage: str) -> list[Verdict]:
    """One verdict a record: the mean score of the repeats, and included where at least half of the repeats include it.

    A record that no machine may exclude (no text, no abstract, a cut one) is referred with its score. Where the
    baseline could not score or decide, every record is referred with the reason: none is excluded for want of a model.
    """
    return [_verdict(outcome, place, stage) for place in range(len(outcome.data.ids))]


def _verdict(outcome: Outcome, place: int, stage: str) -> Verdict:
    record_id, guard = outcome.data.ids[place], outcome.data.guards[place]
    column = outcome.scores[:, place]
    score = None if np.isnan(column).any() else float(column.mean())
    policy = policy_of(outcome)
    reader = f"baseline:{outcome.baseline}"
    if outcome.included is None or score is None:
        code = guard or ReferCode.NO_SCORE
        refer = Refer(code=code, detail=outcome.note or "")
        readings: tuple[Reading, ...] = (Reading(reader=reader, outcome=refer),)
        return Verdict(record_id=record_id, stage=stage, state=State.REFERRED, score=score, code=code,
                       reason=outcome.note, policy=policy, readings=readings)  # fmt: skip
    times, repeats = int(outcome.included[:, place].sum()), len(column)
    decision: Decision = "include" if 2 * times >= repeats else "exclude"
    reason = f"included in {times} of {repeats} repeats"
    readings = (Reading(reader=reader, outcome=Answer(decision=decision, score=score, reason=reason)),)
    state = State.REFERRED if guard else State.INCLUDED if decision == "include" else State.EXCLUDED
    return Verdict(record_id=record_id, stage=stage, state=state, score=score, code=guard, reason=reason, policy=policy,
                   readings=readings)  # fmt: skip


def policy_of(outcome: Outcome) -> str:
    """How the verdicts came about, in words that name every setting that matters."""
    chosen, settings = BASELINES.get(outcome.baseline), outcome.settings
    cut = "score >= 0.5" if chosen.cut == "half" else f"recall {settings.recall:g} on the training folds"
    return f"baseline {outcome.baseline}: {cut}, {outcome.folds} folds x {settings.repeats} repeats, seed {settings.seed}"


def repeat_frame(outcome: Outcome, repeat: int, *, guarded: bool = True) -> pl.DataFrame:
    """One repeat as a table `record_id`, `gold`, `state`, `score`; without `guarded` only records without score are referred."""
    data = outcome.data
    scores = outcome.scores[repeat]
    included = np.zeros(len(data.ids), dtype=bool) if outcome.included is None else outcome.included[repeat]
    referred = np.isnan(scores) | (outcome.included is None)
    if guarded:
        referred |= np.array([guard is not None for guard in data.guards], dtype=bool)
    states = np.where(referred, State.REFERRED, np.where(included, State.INCLUDED, State.EXCLUDED))
    columns = {
        "record_id": list(data.ids),
        "gold": np.where(data.labels, "include", "exclude"),
        "state": [str(state) for state in states],
    }
    return pl.DataFrame(columns).with_columns(pl.Series("score", scores, dtype=pl.Float64).fill_nan(None))


def figures(outcome: Outcome, measures: Sequence[str] = MEASURES, *, guarded: bool = True) -> list[Estimate]:
    """Each measure as its mean over the repeats, with the lowest and highest repeat as `low` and `high`.

    With `guarded`, records without a whole abstract are referred, and so positive, as for every reader; without it the
    baseline's own decisions are scored. A measure of an outcome without scores or decisions is undefined with its note;
    fewer folds are noted too.
    """
    frames = [repeat_frame(outcome, repeat, guarded=guarded) for repeat in range(len(outcome.scores))]
    found = []
    for name in measures:
        measure = parse_measure(name)
        ranks = measure.spec.kind == "ranking"
        if (ranks and np.isnan(outcome.scores).all()) or (not ranks and outcome.included is None):
            note = outcome.note or "no record has a score"
            found.append(Estimate(metric=str(measure), value=None, n=len(outcome.data.ids), note=note))
            continue
        of: list[Confusion | Ranking] = [ranking_of(frame) if ranks else confusion_of(frame) for frame in frames]
        estimate = over_repeats([measure(one) for one in of])
        found.append(estimate.model_copy(update={"note": "; ".join(filter(None, (outcome.note, estimate.note))) or None}))
    return found


def over_repeats(estimates: Sequence[Estimate]) -> Estimate:
    """The mean of one measure over repeats or seeds, with the lowest and the highest: a range, not an interval.

    Undefined with the first reason where no repeat has a value; where some have none the note counts them.
    """
    values = [one.value for one in estimates if one.value is not None]
    first = next((one.note for one in estimates if one.value is None), None)
    if not values:
        return estimates[0].model_copy(update={"note": first})
    notes = [f"range of {len(values)} repeats, not an interval"] if len(values) > 1 else []
    if len(values) < len(estimates):
        notes.append(f"undefined in {len(estimates) - len(values)} of {len(estimates)}: {first}")
    notes += [estimates[0].note] if estimates[0].note and len(values) == len(estimates) else []
    span = {"low": min(values), "high": max(values)} if len(values) > 1 else {}
    return estimates[0].model_copy(update={"value": float(np.mean(values)), **span, "note": "; ".join(notes) or None})
