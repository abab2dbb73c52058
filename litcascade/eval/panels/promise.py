"""What a labelled split can show about a rule's recall: the misses allowed, in the long run or on the records still unread."""

from functools import lru_cache

import numpy as np
from scipy import stats

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate
from litcascade.eval.guarantees import certificate
from litcascade.eval.intervals import most_in_population
from litcascade.schemas import Frozen


class Allowed(Frozen):
    """How many labelled includes a rule may miss and still be shown to reach `target`; None: not even 0 shows it."""

    target: float
    includes: int
    misses: int | None
    note: str


@lru_cache(maxsize=1024)
def allowed_misses(
    includes: int, target: float, alpha: float = 0.05, *, sample: int | None = None, population: int | None = None
) -> Allowed:
    """The most misses among `includes` labelled includes with which recall >= target is shown at 1 - alpha.

    Without `population`: the rule's recall on endless records like these, by the exact binomial test (the same as the
    one-sided Clopper-Pearson bound clearing the target). With it: the recall on the population - sample records still
    unread, of which the `sample` labelled ones were drawn at random. Let M be the includes of the population and
    T = floor((1 - target)(M - includes)); the rule fails if the population holds more than T misses, and
    P(X <= misses | M, T + 1, includes), hypergeometric, is at most 0.8 alpha for every M that the sample allows at
    1 - 0.2 alpha. Both hold for rules tested in an order fixed beforehand, down to the first that fails.
    """
    if not 0 < target <= 1 or not 0 < alpha < 1:
        raise InputError(f"a promise needs a target in (0, 1] and alpha in (0, 1) (got {target:g} and {alpha:g})")
    if not includes:
        return Allowed(target=target, includes=0, misses=None, note="no labelled include, so nothing can be shown")
    if target == 1:
        low = certificate(includes, includes, alpha).low or 0.0
        note = f"a recall of 1 can be met but not shown: {includes} of {includes} shows {low:.3f}"
        return Allowed(target=target, includes=includes, misses=None, note=note)
    if population is None or sample is None:
        misses = int((stats.binom.cdf(np.arange(includes + 1), includes, 1 - target) <= alpha).sum()) - 1
        return _allowed(target, includes, misses, "too few includes are labelled")
    fewest, most = includes_of_population(includes, sample, population, alpha / 5)
    if most == includes:
        return _allowed(target, includes, includes, "")
    sizes = np.arange(max(fewest, includes + 1), most + 1)
    tolerated = np.floor((1 - target) * (sizes - includes) + 1e-9)
    fatal = np.minimum(tolerated + 1, sizes)
    misses = -1
    while misses < includes and np.max(stats.hypergeom.cdf(misses + 1, sizes, fatal, includes)) <= 0.8 * alpha:
        misses += 1
    return _allowed(target, includes, misses, f"the rest may hold as few as {sizes[0] - includes} includes")


def _allowed(target: float, includes: int, misses: int, why: str) -> Allowed:
    if misses < 0:
        note = f"{target:g} cannot be shown with {includes} labelled includes: {why}"
        return Allowed(target=target, includes=includes, misses=None, note=note)
    return Allowed(target=target, includes=includes, misses=misses, note=f"{target:g} is shown with at most {misses} missed")


def includes_of_population(includes: int, sample: int, population: int, alpha: float) -> tuple[int, int]:
    """The fewest and the most includes a population may hold, given those in a random sample: exact, alpha / 2 each side."""
    most = most_in_population(includes, sample, population, alpha / 2)
    fewest = population - most_in_population(sample - includes, sample, population, alpha / 2)
    return fewest, most


def shown(found: int, includes: int, allowed: Allowed, alpha: float = 0.05) -> tuple[bool, Estimate]:
    """Whether the target is shown by `found` of the labelled includes, and the recall with its exact one-sided bound."""
    kept = allowed.misses is not None and includes - found <= allowed.misses
    return kept, certificate(found, includes, alpha)
