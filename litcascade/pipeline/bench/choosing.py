"""Choosing a rule: on the development split, tested and reported on the evaluation split, then frozen in the store."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import polars as pl

from litcascade.errors import InputError
from litcascade.eval.panels import (
    Candidates,
    Certified,
    DawidSkene,
    Labelled,
    LengthFit,
    OperatingPoint,
    Point,
    Pools,
    Prices,
    certified_point,
    choose_pools,
    dawid_skene,
    escalation_bands,
    fit_length_routing,
    fixed,
    frontier,
    majority,
    operating_points,
    parse_rule,
    score_steps,
    singles,
    union_steps,
    vote_steps,
    weighted_rule,
)
from litcascade.eval.panels.operating import TARGETS
from litcascade.eval.panels.prices import Unit
from litcascade.eval.panels.rules import Rule
from litcascade.eval.panels.votes import Gaps
from litcascade.pipeline.bench.readings import current_cells, labelled_of, lengths_of, prices_of
from litcascade.pipeline.review import Review
from litcascade.schemas import digest
from litcascade.schemas.bench import BenchSpec
from litcascade.store import Store, now


@dataclass(frozen=True)
class Wishes:
    """What the person who chooses wants; `target` None takes the protocol's operating point."""

    target: float | None = None
    strong: int = 3
    lenient: int = 5
    least_precision: float = 0.0
    bins: int = 4
    minimise: Unit | None = None
    gaps: Gaps = "refuse"


@dataclass(frozen=True)
class Chosen:
    """The frozen rule with all that it was chosen from; `rule` is None where no rule can even be chosen.

    `promised` says whether the recall target is shown on the evaluation split by the certified choice.
    """

    rule_id: str | None
    rule: Rule | None
    promised: bool
    certified: Certified
    points: tuple[OperatingPoint, ...]
    frontier: tuple[Point, ...]
    pools: Pools
    split: dict[str, tuple[int, int]]
    notes: tuple[str, ...] = field(default=())


def choose_rule(review: Review, store: Store, bench: BenchSpec, wishes: Wishes) -> Chosen:
    """Count every family of rules on the development split, choose for the target, and freeze what was chosen.

    The certified rule is frozen where one can be promised, else the rule that reaches the target on the development split,
    marked as not promised. A pool larger than the readers there are is an `InputError`.
    """
    target = wishes.target if wishes.target is not None else review.protocol.operating_point.recall
    cells = current_cells(store, bench)
    parts = labelled_of(store, review, bench, cells, wishes.gaps)
    develop, evaluate = parts["development"], parts["evaluation"]
    prices = prices_of(store, bench, cells)
    pools = choose_pools(develop, wishes.strong, wishes.lenient, wishes.least_precision)
    families, notes = _families(develop, pools, prices, wishes, lengths_of(store, cells)[0], target)
    targets = tuple(sorted({*TARGETS, target}, reverse=True))
    points = operating_points(families, evaluate, targets, prices=prices, minimise=wishes.minimise)
    certified = certified_point(families, evaluate, target, prices=prices, by=wishes.minimise or "read")
    front = frontier(families, prices)
    at = next(point for point in points if point.target == target)
    promised = certified.chosen if certified.chosen and certified.chosen.workload_reduction.value else None
    if certified.rule is not None and promised is None:
        notes.append(f"a recall of {target:g} can be promised here only by reading every record")
    kept = promised or at.chosen
    rule = kept.rule if kept else None
    sizes = {name: (part.positives, len(part.gold)) for name, part in parts.items()}
    gaps = [str(gap) for gap in develop.votes.gaps]
    chosen = Chosen(None, rule, promised is not None, certified, points, front, pools, sizes, (*notes, *gaps))
    return _freeze(store, bench, cells, chosen, target) if rule is not None else chosen


def _families(
    develop: Labelled, pools: Pools, prices: Prices, wishes: Wishes, tokens_of: str, target: float
) -> tuple[list[Candidates], list[str]]:
    """Every family that the readings allow; what they do not allow is said."""
    seated = (*pools.strong, *pools.lenient)
    found = [singles(develop), vote_steps(develop, pools.strong), union_steps(develop, pools)]
    found += [vote_steps(develop, seated)] if len(seated) > len(pools.strong) else []
    found.append(fixed(develop, [majority(develop.votes.readers)], "majority of all"))
    notes: list[str] = []
    scored = [name for name in seated if _scores(develop, name)]
    found += [score_steps(develop, [name]) for name in scored]
    found += [score_steps(develop, pools.strong)] if len(pools.strong) > 1 and set(pools.strong) <= set(scored) else []
    cheap = _cheapest(seated, prices)
    for strong in pools.strong:
        if cheap and strong != cheap:
            found.append(escalation_bands(develop, cheap, strong, "score" if cheap in scored else "vote"))
    for made in (_weighted(develop, seated, notes), _routed(develop, seated, wishes, tokens_of, target, notes)):
        found += [made] if made else []
    return found, notes


def _scores(develop: Labelled, reader: str) -> bool:
    column = develop.votes.columns([reader])[0]
    return not bool(np.isnan(develop.votes.scores[:, column]).all())


def _cheapest(readers: Sequence[str], prices: Prices) -> str | None:
    """The reader with the fewest seconds of the engine, else the fewest tokens, for one record."""
    for unit in ("gpu_seconds", "tokens"):
        known = {name: getattr(prices.readers[name], unit) for name in readers if name in prices.readers}
        if known and all(value is not None for value in known.values()):
            return min(known, key=lambda name: (known[name], name))
    return None


def _weighted(develop: Labelled, readers: Sequence[str], notes: list[str]) -> Candidates | None:
    try:
        fit: DawidSkene = dawid_skene(develop.votes.of(readers))
    except InputError as error:
        notes.append(f"no weighted votes: {error}")
        return None
    return fixed(develop, [weighted_rule(fit)], "weighted (Dawid-Skene, without gold)")


def _routed(
    develop: Labelled, readers: Sequence[str], wishes: Wishes, tokens_of: str, target: float, notes: list[str]
) -> Candidates | None:
    if wishes.bins < 1:
        return None
    try:
        fit: LengthFit = fit_length_routing(develop, readers, bins=wishes.bins, target=target, tokens_of=tokens_of)
    except InputError as error:
        notes.append(f"no routing by length: {error}")
        return None
    return fixed(develop, [fit.rule], "routed by length")


def _freeze(store: Store, bench: BenchSpec, cells: pl.DataFrame, chosen: Chosen, target: float) -> Chosen:
    """Store rule, pools, readers and certificate; the same choice again is the same row."""
    assert chosen.rule is not None
    version = cells["split_version"][0]
    names = readers_of(chosen.rule)
    readers = {row["reader"]: row["fingerprint"] for row in cells.iter_rows(named=True) if row["reader"] in names}
    rule_id = f"rule-{digest([chosen.rule.model_dump(mode='json'), readers, version, target, chosen.promised])[:12]}"
    certificate = chosen.certified.report or next((p.report for p in chosen.points if p.target == target), None)
    if not store.value("select count(*) from panel_rules where rule_id = ?", [rule_id]):
        row = {
            "rule_id": rule_id, "at_time": now(), "stage": bench.stage, "target": target, "family": _family(chosen, target),
            "rule": chosen.rule.model_dump_json(), "pools": chosen.pools.model_dump_json(), "readers": json.dumps(readers),
            "split_version": version, "chosen_on": "development", "certified_on": "evaluation",
            "certificate": certificate.model_dump_json() if certificate else None, "promised": chosen.promised,
        }  # fmt: skip
        store.append("panel_rules", [row])
    return replace(chosen, rule_id=rule_id)


def _family(chosen: Chosen, target: float) -> str:
    point = chosen.certified.chosen or next((p.chosen for p in chosen.points if p.target == target), None)
    return point.family if point else ""


def readers_of(rule: Rule) -> tuple[str, ...]:
    """Whom a rule may ask, and whose tokens it measures by."""
    measure = getattr(rule, "tokens_of", "")
    return tuple(dict.fromkeys([*rule.readers, *([measure] if measure else [])]))


def stored_rule(store: Store, rule_id: str) -> Rule:
    """A frozen rule by its id."""
    found = store.value("select rule from panel_rules where rule_id = ?", [rule_id])
    if found is None:
        raise InputError(f"there is no frozen rule '{rule_id}'; `litcascade bench choose` prints the id of what it freezes")
    return parse_rule(json.loads(found))
