"""The first side held against each other one: protocol keys, joint states, flips, paired tests on gold, agreement."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from litcascade.eval.agreement import Agreement, agreement, pair_up
from litcascade.eval.paired import Comparison, compare, holm, pairs_of
from litcascade.pipeline.comparing.sides import Side
from litcascade.pipeline.report_page.repeat import without_secrets
from litcascade.pipeline.scoring import SEED
from litcascade.pipeline.states import SCORED
from litcascade.schemas import Protocol

NOT_HERE = "did not reach this stage"
DECIDED = ("included", "excluded")
JUDGED = (*DECIDED, "referred")
_LONG = 200


@dataclass(frozen=True)
class Change:
    """A key of the protocol, a prompt or a model that differs; None where a side does not have it."""

    key: str
    first: str | None
    second: str | None


@dataclass(frozen=True)
class Flip:
    """A record that stands otherwise; `gold` is None where nobody labelled it."""

    stage: str
    record_id: str
    title: str | None
    first: str
    second: str
    gold: str | None


@dataclass(frozen=True)
class StageCompared:
    """One screening stage of both sides: counts of joint states over the records that both have, and what rests on them.

    `paired` is undefined (None) where no gold record was judged by the models of both sides; `why` then says so.
    """

    stage: str
    joint: dict[tuple[str, str], int]
    flips: tuple[Flip, ...]
    agreement: Agreement
    paired: Comparison | None
    why: str | None
    gold: int
    gold_differs: int
    adjusted: dict[str, float]


@dataclass(frozen=True)
class Compared:
    """The first side and another. `only_first` and `only_second` count records by their state at the first stage."""

    first: str
    second: str
    changes: tuple[Change, ...]
    records: int
    only_first: dict[str, int]
    only_second: dict[str, int]
    strangers: tuple[str, ...]
    stages: tuple[StageCompared, ...]
    missing: tuple[str, ...]


def compare_sides(first: Side, others: list[Side]) -> list[Compared]:
    """The first against each other; p-values are also corrected for all that are made here (Holm)."""
    made = [_compare(first, other) for other in others]
    p = {
        f"{i} {stage.stage} {name}": value
        for i, one in enumerate(made)
        for stage in one.stages
        if stage.paired
        for name, value in (("recall", stage.paired.p_recall), ("accuracy", stage.paired.p_accuracy))
        if value is not None
    }
    adjusted = holm(p)
    return [_with(one, i, adjusted) for i, one in enumerate(made)]


def _with(one: Compared, number: int, adjusted: Mapping[str, float]) -> Compared:
    stages = []
    for stage in one.stages:
        keys = {name: f"{number} {stage.stage} {name}" for name in ("recall", "accuracy")}
        mine = {name: adjusted[key] for name, key in keys.items() if key in adjusted}
        stages.append(StageCompared(**{**vars(stage), "adjusted": mine}))
    return Compared(**{**vars(one), "stages": tuple(stages)})


def _compare(a: Side, b: Side) -> Compared:
    shared = sorted(a.titles.keys() & b.titles.keys())
    strangers = tuple(key for key in shared if _plain(a.titles[key]) != _plain(b.titles[key]))
    ids = [key for key in shared if key not in set(strangers)]
    common = [stage for stage in a.states if stage in b.states]
    missing = tuple(stage for stage in [*a.states, *b.states] if stage not in common)
    return Compared(
        first=a.name,
        second=b.name,
        changes=tuple(_changes(a, b)),
        records=len(ids),
        only_first=_alone(a, b),
        only_second=_alone(b, a),
        strangers=strangers,
        stages=tuple(_stage(a, b, stage, ids) for stage in common),
        missing=missing,
    )


def _plain(title: str | None) -> str:
    return " ".join((title or "").casefold().split())


def _alone(side: Side, other: Side) -> dict[str, int]:
    """Records of this side alone, by state at its first stage."""
    first = next(iter(side.states.values()), {})
    return dict(Counter(first.get(key, NOT_HERE) for key in side.titles if key not in other.titles))


def _changes(a: Side, b: Side) -> list[Change]:
    one, two = ({**_flat(side.protocol), **side.judged_by} for side in (a, b))
    keys = [key for key in dict.fromkeys([*one, *two]) if one.get(key) != two.get(key)]
    if a.is_run or b.is_run:  # prompt files are known of the folder alone
        keys = [key for key in keys if not key.startswith("prompt of ")]
    return [Change(key, one.get(key), two.get(key)) for key in keys]


def _flat(protocol: Protocol) -> dict[str, str]:
    found: dict[str, str] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, dict) and value:
            for key, inner in value.items():
                walk(inner, f"{path}.{key}" if path else key)
        elif isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            for place, item in enumerate(value):
                walk(item, f"{path}[{item.get('id') or item.get('name') or item.get('source') or place}]")
        else:
            told = without_secrets(json.dumps(value, ensure_ascii=False))
            found[path] = told if len(told) <= _LONG else told[: _LONG - 1] + "…"

    walk(protocol.model_dump(mode="json"), "")
    return found


def _stage(a: Side, b: Side, stage: str, ids: list[str]) -> StageCompared:
    one, two = a.states[stage], b.states[stage]
    here = [key for key in ids if key in one or key in two]
    joint = Counter((one.get(key, NOT_HERE), two.get(key, NOT_HERE)) for key in here)
    gold = {**b.gold.get(stage, {}), **a.gold.get(stage, {})}
    differs = {key for key, label in b.gold.get(stage, {}).items() if a.gold.get(stage, {}).get(key, label) != label}
    labels = {key: label for key, label in gold.items() if key not in differs}
    moved = sorted(
        (key for key in here if key in one and key in two and one[key] != two[key]), key=lambda key: _weight(labels.get(key))
    )
    flips = tuple(Flip(stage, key, a.titles[key], one[key], two[key], labels.get(key)) for key in moved)
    paired, why, n = _paired(a, b, stage, [key for key in ids if key in labels], labels)
    return StageCompared(stage, dict(joint), flips, _agree(one, two, here), paired, why, n, len(differs), {})


def _weight(gold: str | None) -> int:
    """Gold includes first: they are what may be lost."""
    return {"include": 0, "exclude": 1}.get(gold or "", 2)


def _agree(one: Mapping[str, str], two: Mapping[str, str], ids: list[str]) -> Agreement:
    """Over the records that both sides included or excluded."""
    both = [key for key in ids if one.get(key) in DECIDED and two.get(key) in DECIDED]
    left, right = (
        pl.DataFrame(
            {"record_id": both, "label": [side[key] for key in both]}, schema={"record_id": pl.String, "label": pl.String}
        )
        for side in (one, two)
    )
    return agreement(pair_up(left, right), labels=DECIDED)


def _paired(
    a: Side, b: Side, stage: str, labelled: list[str], gold: Mapping[str, str]
) -> tuple[Comparison | None, str | None, int]:
    """The models of both sides on the gold records that both judged; what people decided since stays out."""
    one, two = a.models[stage], b.models[stage]
    both = [key for key in labelled if one.get(key) in SCORED and two.get(key) in SCORED]
    if not both:
        return None, "no record with a gold label was judged by the models of both sides", 0
    frame = pl.DataFrame(
        {
            "record_id": both,
            "gold": [gold[key] for key in both],
            "state_a": [one[key] for key in both],
            "state_b": [two[key] for key in both],
        }
    )
    judged = sum(one.get(key) in SCORED and two.get(key) in SCORED for key in a.titles)
    population = judged if judged > len(both) else None
    weight = a.protocol.operating_point.weight
    made = compare(pairs_of(frame), np.random.default_rng(SEED), weight=weight, population=population)
    return made, None, len(both)
