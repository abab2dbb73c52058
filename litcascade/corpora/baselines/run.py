"""Run a baseline under repeated stratified cross-validation: scores and decisions that never saw the record's own label."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl

from litcascade.corpora.baselines.base import BASELINES, Baseline, Bools, Embed, Floats, Ints, LabelledSet, Material, Scorer
from litcascade.corpora.baselines.folds import possible_folds, stratified_folds
from litcascade.errors import InputError, LitcascadeError
from litcascade.eval import ranking_of


@dataclass(frozen=True)
class Settings:
    """`repeats` of `folds`-fold cross-validation, the recall that the threshold of a ranking aims at, and a seed."""

    repeats: int = 10
    folds: int = 5
    recall: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        if self.repeats < 1 or self.folds < 2 or not 0 < self.recall <= 1:
            raise InputError("baselines need at least 1 repeat, 2 folds, and a recall above 0 and at most 1")


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a baseline came to on a set; rows are repeats, columns stand in the order of `data.ids`.

    `scores` are in [0, 1], NaN where there is none: for records without text, and everywhere where the baseline could
    not learn. `included` is None where no threshold could be chosen. `note` says why, or that there were fewer folds.
    """

    baseline: str
    data: LabelledSet
    settings: Settings
    scores: Floats
    included: Bools | None
    folds: int
    note: str | None = None


def run_baseline(
    name: str,
    data: LabelledSet,
    settings: Settings | None = None,
    *,
    embed: Embed | None = None,
    material: Material | None = None,
) -> Outcome:
    """Run one baseline. Equal settings give equal outcomes, and every baseline sees the same folds.

    One that learns is undefined, with the reason, where fewer than two includes or excludes (duplicates counted once)
    are there; one that ranks then has scores and no decisions. Criteria that are needed and not given, an unknown
    name, and a library that is not installed are errors that say how to mend it. `material` shares work between runs.
    """
    settings = settings or Settings()
    chosen = BASELINES.get(name)
    if chosen.reads_criteria and not data.criteria.strip():
        raise InputError(f"baseline '{name}' ranks by the criteria, and none are given; write them in the protocol")
    places = data.with_text
    scorer = chosen.prepare(material or material_of(data, embed))
    labels, groups = data.labels[places], [data.groups[place] for place in places]
    folds, note = possible_folds(labels, groups, settings.folds)
    if not chosen.learns and chosen.cut == "half":
        folds, note = 0, None
    scores = np.full((settings.repeats, len(data.ids)), np.nan)
    included = np.zeros(scores.shape, dtype=bool)
    for repeat in range(settings.repeats):
        fold_of = stratified_folds(labels, groups, folds, _rng(settings, repeat)) if folds else None
        found = _scores(chosen, scorer, labels, fold_of, settings, repeat)
        scores[repeat, places] = found
        included[repeat, places] = _decide(chosen, found, labels, fold_of, settings.recall)
    decided = bool(folds) or (chosen.cut == "half" and not chosen.learns)
    return Outcome(name, data, settings, scores, included if decided else None, folds, note)


def run_baselines(
    data: LabelledSet, settings: Settings | None = None, *, names: Iterable[str] | None = None, embed: Embed | None = None
) -> tuple[list[Outcome], dict[str, str]]:
    """Run all baselines, or those named: the outcomes, and for each that could not run why (not installed, no criteria)."""
    material = material_of(data, embed)
    outcomes: list[Outcome] = []
    absent: dict[str, str] = {}
    for name in names if names is not None else BASELINES.names():
        try:
            outcomes.append(run_baseline(name, data, settings, material=material))
        except LitcascadeError as error:
            absent[name] = str(error)
    return outcomes, absent


def material_of(data: LabelledSet, embed: Embed | None = None) -> Material:
    """The texts that are there, with the criteria; records without text are not put to a baseline."""
    return Material(tuple(data.texts[place] for place in data.with_text), data.criteria, embed)


def _rng(settings: Settings, *path: int) -> np.random.Generator:
    return np.random.default_rng([settings.seed, *path])


def _scores(chosen: Baseline, scorer: Scorer, labels: Bools, fold_of: Ints | None, settings: Settings, repeat: int) -> Floats:
    everyone = np.arange(len(labels))
    if not chosen.learns:
        none = np.zeros(0, dtype=np.int64)
        return _checked(chosen, scorer(none, labels[none], everyone, _rng(settings, repeat, 0)), len(labels))
    found = np.full(len(labels), np.nan)
    if fold_of is None:
        return found
    for fold in range(int(fold_of.max()) + 1):
        train, held_out = everyone[fold_of != fold], everyone[fold_of == fold]
        rng = _rng(settings, repeat, fold)
        found[held_out] = _checked(chosen, scorer(train, labels[train], held_out, rng), len(held_out))
    return found


def _checked(chosen: Baseline, scores: Floats, wanted: int) -> Floats:
    if scores.shape != (wanted,) or not ((scores >= 0) & (scores <= 1)).all():
        raise InputError(f"baseline '{chosen.name}' must give {wanted} scores within [0, 1]; mend its scorer")
    return scores


def _decide(chosen: Baseline, scores: Floats, labels: Bools, fold_of: Ints | None, recall: float) -> Bools:
    """Include or not; the threshold of a fold rests on the labels of the other folds."""
    if chosen.cut == "half":
        return scores >= 0.5
    included = np.zeros(len(scores), dtype=bool)
    if fold_of is not None:
        for fold in range(int(fold_of.max()) + 1):
            here = fold_of == fold
            included[here] = scores[here] >= threshold_at_recall(scores[~here], labels[~here], recall)
    return included


def threshold_at_recall(scores: Floats, labels: Bools, recall: float) -> float:
    """The highest score at which recall reaches `recall` on these labelled records; 0 (include all) without an include."""
    frame = pl.DataFrame(
        {
            "record_id": [str(place) for place in range(len(scores))],
            "gold": np.where(labels, "include", "exclude"),
            "score": scores,
        }
    )
    ranking = ranking_of(frame)
    cut = ranking.cut_at_recall(recall)
    return float(ranking.scores[cut - 1]) if cut else 0.0
