"""From a sample to a sum: values with the interval in which 95 of 100 samples would have it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

from scipy.stats import t as student


@dataclass(frozen=True)
class Span:
    """A value with its interval; all in the unit of what it is of."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> "Span":
        """Multiplied by an exact number of 0 or more."""
        return Span(self.value * factor, self.low * factor, self.high * factor)

    def by(self, other: "Span") -> "Span":
        """Multiplied by another value of 0 or more; the widest of both is taken."""
        return Span(self.value * other.value, self.low * other.low, self.high * other.high)

    def plus(self, other: "Span") -> "Span":
        """Added to another value."""
        return Span(self.value + other.value, self.low + other.low, self.high + other.high)


def of_counts(counts: Sequence[int], population: int) -> Span:
    """The sum over a population of which these were counted (all of it: exact), never below what was counted."""
    if not counts:
        return Span(0.0, 0.0, 0.0)
    around = _around([float(count) for count in counts], population)
    seen = float(sum(counts))
    total = around.times(float(population))
    return Span(total.value, max(seen, total.low), total.high)


def of_sample(values: Sequence[float], of: Span, *, whole: bool = False) -> Span:
    """The sum of a quantity over so many things, from its values at a few of them (`whole`: at all of them)."""
    around = _around(values, len(values) if whole else 10**12)
    return around.by(of)


def _around(values: Sequence[float], population: int) -> Span:
    """The mean with its interval, by Student's t with the finite population correction; one value alone spans 0 to its double."""
    mean, n = fmean(values), len(values)
    if n >= population:
        return Span(mean, mean, mean)
    if n == 1:
        return Span(mean, 0.0, 2 * mean)
    half = float(student.ppf(0.975, n - 1)) * stdev(values) / math.sqrt(n) * math.sqrt(1 - n / population)
    return Span(mean, max(0.0, mean - half), mean + half)
