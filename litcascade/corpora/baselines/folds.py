"""Stratified folds that no duplicate cluster straddles."""

from collections.abc import Sequence

import numpy as np

from litcascade.corpora.baselines.base import Bools, Ints


def possible_folds(labels: Bools, groups: Sequence[str], wanted: int) -> tuple[int, str | None]:
    """How many folds there can be so that every fold has both classes, with the reason where it is fewer than wanted.

    0 with the reason where not even two are possible. A cluster counts as an include where one of its records is one.
    """
    yes = len({group for group, label in zip(groups, labels, strict=True) if label})
    no = len(set(groups)) - yes
    kind, fewest = ("includes", yes) if yes <= no else ("excludes", no)
    shown = f"only {fewest} of the records are {kind} (duplicates counted once)"
    if fewest < 2:
        return 0, f"{shown}; two are needed, one to learn from and one to test on"
    if fewest < wanted:
        return fewest, f"{fewest} folds instead of {wanted}: {shown}"
    return wanted, None


def stratified_folds(labels: Bools, groups: Sequence[str], folds: int, rng: np.random.Generator) -> Ints:
    """The fold (0 to `folds` - 1) of each record: clusters are shuffled and dealt out, those with an include first.

    The numbers of clusters with includes in any two folds differ by at most one, and so do those without.
    """
    names, member = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    has_include = np.zeros(len(names), dtype=bool)
    np.logical_or.at(has_include, member, labels)
    dealt = np.empty(len(names), dtype=np.int64)
    start = 0
    for of_class in (np.flatnonzero(has_include), np.flatnonzero(~has_include)):
        dealt[rng.permutation(of_class)] = (start + np.arange(len(of_class))) % folds
        start += len(of_class)
    return dealt[member]
