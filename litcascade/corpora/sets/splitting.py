"""Splits inside reviews and between reviews, by a hash of stable ids and a seed: no order of rows or records matters."""

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from litcascade.corpora.sets.corpus import GoldLabel
from litcascade.errors import InputError


@dataclass(frozen=True)
class Split:
    """Members of each part, in order of id. `counts` is part to decision (or `reviews`) to number; `notes` say what is odd."""

    parts: Mapping[str, tuple[str, ...]]
    counts: Mapping[str, Mapping[str, int]]
    seed: int
    exact: bool
    notes: tuple[str, ...] = ()


def unit(name: str, seed: int) -> float:
    """A number in [0, 1) that depends on `name` and `seed` alone: the first 53 bits of a SHA-256."""
    digest = hashlib.sha256(f"{seed}\0{name}".encode("utf-8", "surrogatepass")).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def split_within(
    labels: Iterable[GoldLabel],
    fractions: Mapping[str, float],
    seed: int,
    *,
    exact: bool = False,
    groups: Mapping[str, str] | None = None,
) -> Split:
    """Split the labelled records of one stage into parts of these fractions (above 0, summing to 1), kept apart by decision.

    By default a record's part depends on its id, the seed and the fractions alone: records that are added later move no
    other, and the sizes come out near the fractions (each decision varies by about √(n·f·(1−f))). With `exact`, each
    decision is cut at the fractions in order of the hash (sizes right to one record); adding records may then move those
    that lie next to a cut. `groups` maps a record id to a group, such as its duplicates: a group stays in one part.
    """
    _check(fractions)
    decision_of = _decisions(labels)
    group_of = {record_id: (groups or {}).get(record_id, record_id) for record_id in decision_of}
    strata: dict[str, str] = {}
    for record_id, decision in decision_of.items():
        group = group_of[record_id]
        strata[group] = "include" if "include" in (decision, strata.get(group)) else "exclude"
    part_of = _by_rank(strata, fractions, seed) if exact else {group: _by_threshold(group, fractions, seed) for group in strata}
    parts = {name: tuple(sorted(r for r in decision_of if part_of[group_of[r]] == name)) for name in fractions}
    counts = {name: dict(Counter(decision_of[record_id] for record_id in ids)) for name, ids in parts.items()}
    bare = [name for name in fractions if not counts[name].get("include")]
    notes = [f"part '{name}' has no included record: recall is undefined there" for name in bare]
    return Split(parts, counts, seed, exact, tuple(notes))


def split_between(reviews: Iterable[str], fractions: Mapping[str, float], seed: int, *, exact: bool = True) -> Split:
    """Split whole reviews into parts of these fractions (above 0, summing to 1), so that no review stands in two.

    `exact` (the default, for reviews are few) cuts them at the fractions in order of the hash: sizes are right to one
    review, and adding a review may move those next to a cut. Without it a review's part depends on its name alone.
    """
    _check(fractions)
    names = dict.fromkeys(reviews, "review")
    if not names:
        raise InputError("there are no reviews to split; load a set that has some")
    part_of = _by_rank(names, fractions, seed) if exact else {name: _by_threshold(name, fractions, seed) for name in names}
    parts = {part: tuple(sorted(name for name in names if part_of[name] == part)) for part in fractions}
    notes = [f"part '{part}' has no review" for part, found in parts.items() if not found]
    return Split(parts, {part: {"reviews": len(found)} for part, found in parts.items()}, seed, exact, tuple(notes))


def _check(fractions: Mapping[str, float]) -> None:
    if not fractions or any(not 0 < share <= 1 for share in fractions.values()) or not math.isclose(sum(fractions.values()), 1):
        told = ", ".join(f"{name} {share}" for name, share in fractions.items())
        raise InputError(f"the fractions of a split must be above 0 and sum to 1 (given: {told})")


def _decisions(labels: Iterable[GoldLabel]) -> dict[str, str]:
    found: dict[str, str] = {}
    stages = set()
    for label in labels:
        stages.add(label.stage)
        if found.setdefault(label.record_id, label.decision) != label.decision:
            raise InputError(f"record {label.record_id} is both include and exclude; give the labels of one stage and source")
    if len(stages) > 1:
        raise InputError(f"the labels are of several stages ({', '.join(sorted(stages))}); give those of one")
    if not found:
        raise InputError("there are no labelled records to split; choose a stage that has labels")
    return found


def _by_threshold(name: str, fractions: Mapping[str, float], seed: int) -> str:
    place, edge = unit(name, seed), 0.0
    for part, share in fractions.items():
        edge += share
        if place < edge:
            return part
    return list(fractions)[-1]


def _by_rank(strata: Mapping[str, str], fractions: Mapping[str, float], seed: int) -> dict[str, str]:
    """Each stratum cut at the fractions in order of the hash; sizes by largest remainder."""
    members: dict[str, list[str]] = defaultdict(list)
    for name, stratum in strata.items():
        members[stratum].append(name)
    part_of: dict[str, str] = {}
    for names in members.values():
        ranked = sorted(names, key=lambda name: (unit(name, seed), name))
        start = 0
        for part, size in zip(fractions, _sizes(len(ranked), list(fractions.values())), strict=True):
            part_of |= dict.fromkeys(ranked[start : start + size], part)
            start += size
    return part_of


def _sizes(total: int, shares: Sequence[float]) -> list[int]:
    sizes = [math.floor(total * share + 1e-9) for share in shares]
    order = sorted(range(len(shares)), key=lambda index: (sizes[index] - total * shares[index], index))
    for index in order[: total - sum(sizes)]:
        sizes[index] += 1
    return sizes
