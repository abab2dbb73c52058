"""One-to-one matching of a person's items and a model's items: what is equal but for dress first, then what a judge says."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from litcascade.judges.match import plain
from litcascade.schemas import Frozen

Status = Literal["matched", "unmatched", "missing"]
Place = tuple[int, int]


class Matching(Frozen):
    """Who is matched with whom, as places in the two lists; `exact` are the pairs that no model was asked about.

    An item is `missing` where it has no partner and a failed judgement could have given it one (or, along a chain of
    judged pairs, freed one for it). Blank items are no items: they are `unmatched`, and not to be counted.
    """

    pairs: tuple[Place, ...]
    exact: tuple[Place, ...]
    gold: tuple[Status, ...]
    found: tuple[Status, ...]


def exact_pairs(gold: Sequence[str], found: Sequence[str]) -> tuple[Place, ...]:
    """Pairs that are equal but for case, accents, blanks and punctuation, each item in one pair at most."""
    free: dict[str, list[int]] = {}
    for place, text in enumerate(found):
        if _key(text):
            free.setdefault(_key(text), []).append(place)
    return tuple((place, free[_key(text)].pop(0)) for place, text in enumerate(gold) if free.get(_key(text)))


def open_pairs(gold: Sequence[str], found: Sequence[str]) -> tuple[Place, ...]:
    """Pairs that a judge must be asked about: neither item is blank or has an equal already."""
    taken = exact_pairs(gold, found)
    left, right = {pair[0] for pair in taken}, {pair[1] for pair in taken}
    mine = [place for place, text in enumerate(gold) if place not in left and text.strip()]
    theirs = [place for place, text in enumerate(found) if place not in right and text.strip()]
    return tuple((one, other) for one in mine for other in theirs)


def match(gold: Sequence[str], found: Sequence[str], verdicts: Mapping[Place, bool | None]) -> Matching:
    """As many pairs as the verdicts allow (optimal assignment); a pair without a verdict, or with None, is unjudged.

    Verdicts of pairs outside `open_pairs` are not looked at.
    """
    exact = exact_pairs(gold, found)
    asked = open_pairs(gold, found)
    said = np.zeros((len(gold), len(found)))
    unknown = np.zeros_like(said)
    for pair in asked:
        verdict = verdicts.get(pair)
        said[pair] = verdict is True
        unknown[pair] = verdict is None
    chosen = _assigned(said)
    left, right = {pair[0] for pair in (*exact, *chosen)}, {pair[1] for pair in (*exact, *chosen)}
    doubt_gold, doubt_found = _in_doubt(said, unknown)
    return Matching(
        pairs=tuple(sorted((*exact, *chosen))),
        exact=exact,
        gold=tuple(_status(place in left, place in doubt_gold) for place in range(len(gold))),
        found=tuple(_status(place in right, place in doubt_found) for place in range(len(found))),
    )


def _assigned(allowed: NDArray[np.float64]) -> list[Place]:
    if not allowed.size:
        return []
    rows, columns = linear_sum_assignment(allowed, maximize=True)
    return [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if allowed[row, column]]


def _in_doubt(said: NDArray[np.float64], unknown: NDArray[np.float64]) -> tuple[set[int], set[int]]:
    """Items in a group where more pairs would stand if every failed judgement had been a yes."""
    rows = len(said)
    if not unknown.any():
        return set(), set()
    possible = np.maximum(said, unknown)
    size = sum(said.shape)
    joined = np.zeros((size, size))
    joined[:rows, rows:] = possible
    _, groups = connected_components(csr_array(joined), directed=False)
    gold: set[int] = set()
    found: set[int] = set()
    for group in set(groups.tolist()):
        mine = [place for place in range(rows) if groups[place] == group]
        theirs = [place - rows for place in range(rows, size) if groups[place] == group]
        part = np.ix_(mine, theirs)
        if len(_assigned(possible[part])) > len(_assigned(said[part])):
            gold.update(mine)
            found.update(theirs)
    return gold, found


def _status(matched: bool, in_doubt: bool) -> Status:
    return "matched" if matched else "missing" if in_doubt else "unmatched"


def _key(text: str) -> str:
    return plain(text) or text.strip()
