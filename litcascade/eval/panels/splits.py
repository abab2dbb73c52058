"""Frozen splits of labelled records, stratified and seeded, by stable ids; and the refusal of leaks between them."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import numpy as np
import polars as pl

from litcascade.errors import InputError
from litcascade.eval.confusion import as_text, require_ids
from litcascade.eval.panels.counts import Ints

SPLITS = ("development", "few_shot", "evaluation")
Method = Literal["exact", "stable"]


def hash_of(record_id: str, seed: int) -> float:
    """A number in [0, 1) that depends on seed and id alone, the same on every machine (53 bits of SHA-256)."""
    digest = hashlib.sha256(f"{seed}|{record_id}".encode("utf-8", "surrogatepass")).digest()
    return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def rank_by_hash(record_ids: Sequence[str], seed: int) -> Ints:
    """The order of the ids by the hash of seed and id, as row numbers."""
    keys = [(hash_of(name, seed), name) for name in record_ids]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)


def split(
    gold: pl.DataFrame, sizes: Mapping[str, float], seed: int, method: Method = "exact", strata: Sequence[str] = ("gold",)
) -> pl.DataFrame:
    """Assign each record to a split: `record_id`, `split` (null: in none), in the order of the ids.

    `gold` has `record_id` and the columns named in `strata`. `sizes` are numbers of records (all whole and at least 1) or
    shares (all below 1); what is left over is in no split.

    `exact`: in each stratum the records in the order of the hash of seed and id, cut at exact sizes; the sizes of strata are
    shared out by largest remainders. Records added later can move others across the cuts: store the result and freeze it.
    `stable`: a record's split is a function of seed, id and shares alone, so that records added later move nobody; sizes
    and strata are met on average only. It needs shares.
    """
    frame = as_text(gold, ("record_id", *strata)).sort("record_id")
    require_ids(frame)
    shares = _shares(sizes, frame.height, method)
    if method == "stable":
        edges = np.cumsum(list(shares.values()))
        place = np.searchsorted(edges, [hash_of(name, seed) for name in frame["record_id"]], side="right")
        names = [*shares, None]
        return frame.select("record_id").with_columns(split=pl.Series([names[i] for i in place], dtype=pl.String))
    assigned: dict[str, str] = {}
    groups = frame.group_by(list(strata), maintain_order=True)
    members = [group["record_id"].to_list() for _, group in sorted(groups, key=lambda item: tuple(map(str, item[0])))]
    counts = _allocation([len(one) for one in members], {name: round(s * frame.height) for name, s in shares.items()})
    for ids, wanted in zip(members, counts, strict=True):
        order = [ids[i] for i in rank_by_hash(ids, seed)]
        for name, count in wanted.items():
            assigned.update(dict.fromkeys(order[:count], name))
            order = order[count:]
    return frame.select("record_id").with_columns(
        split=pl.Series([assigned.get(name) for name in frame["record_id"]], dtype=pl.String)
    )


def _shares(sizes: Mapping[str, float], records: int, method: Method) -> dict[str, float]:
    if not sizes or any(not size > 0 for size in sizes.values()):
        raise InputError("every split needs a size above 0")
    if all(size < 1 for size in sizes.values()):
        if sum(sizes.values()) > 1 + 1e-9:
            raise InputError(f"the shares of the splits add up to {sum(sizes.values()):g}, more than 1")
        return dict(sizes)
    if method == "stable":
        raise InputError("a stable split needs shares below 1; exact numbers of records need the method 'exact'")
    if any(size != int(size) for size in sizes.values()):
        raise InputError("sizes of splits are all shares below 1 or all whole numbers of records")
    if sum(sizes.values()) > records:
        raise InputError(f"the splits need {sum(sizes.values()):g} records; {records} are labelled")
    return {name: size / records for name, size in sizes.items()}


def _allocation(strata: Sequence[int], totals: Mapping[str, int]) -> list[dict[str, int]]:
    """How many of each stratum go to each split: proportional, by largest remainders, never more than are left."""
    left = list(strata)
    records = sum(strata)
    found: list[dict[str, int]] = [{} for _ in strata]
    for name, total in totals.items():
        total = min(total, sum(left))
        exact = [total * size / records for size in strata]
        counts = [min(int(x), free) for x, free in zip(exact, left, strict=True)]
        order = sorted(range(len(strata)), key=lambda i: (-(exact[i] - int(exact[i])), i))
        while sum(counts) < total:
            for i in order:
                if sum(counts) < total and counts[i] < left[i]:
                    counts[i] += 1
        for i, count in enumerate(counts):
            found[i][name] = count
            left[i] -= count
    return found


def refuse_leaks(
    examples: Collection[str], splits: pl.DataFrame, allowed: Collection[str] = ("few_shot",),
    same: Mapping[str, str] | None = None, unsplit: bool = False,
) -> None:  # fmt: skip
    """Refuse few-shot examples that are not from the allowed splits, least of all from the evaluation split.

    `splits` has `record_id` and `split`. `same` names the study (or cluster of duplicates) of a record: an example whose
    study also stands in a split that is not allowed leaks as well. An example in no split at all is refused too, unless
    `unsplit` lets it through.
    """
    frame = as_text(splits, ("record_id", "split"))
    require_ids(frame)
    of: dict[str, str | None] = dict(frame.select("record_id", "split").iter_rows())
    for name in sorted(examples):
        where = of.get(name)
        if where not in allowed and not (unsplit and where is None):
            place = f"belongs to the split '{where}'" if where else "stands in no split"
            raise InputError(f"example '{name}' {place}; few-shot examples come from: {', '.join(allowed)}")
    if same is None:
        return
    kin = {same[name]: name for name in examples if name in same}
    for record_id, where in of.items():
        study = same.get(record_id)
        if where is not None and where not in allowed and study in kin:
            raise InputError(f"example '{kin[study]}' is of the same study as record '{record_id}' of the split '{where}'")
