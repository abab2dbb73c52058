"""Published results: counts rebuilt from rates, whether a ranking outlives the rounding, and what is usual in the field."""

from collections.abc import Callable
from math import floor, isfinite
from typing import Literal, NamedTuple

from litcascade.errors import InputError
from litcascade.eval.binary import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.registry import nearest
from litcascade.schemas import Frozen

REFERENCE_YEAR = 2025
REFERENCE_SIZE = 183

Band = Literal["lower", "middle", "upper"]
BANDS: tuple[Band, Band, Band] = ("lower", "middle", "upper")


class Terciles(Frozen):
    """Two cuts that part the reference configurations in thirds, and the median of each third."""

    cuts: tuple[float, float]
    medians: tuple[float, float, float]


class Tercile(Frozen):
    """In which third of the reference configurations a value lies; `text` is the sentence with date and size."""

    metric: str
    value: float
    band: Band
    text: str


class Survival(NamedTuple):
    """In how many of the pairs of neighbouring matrices the order of two classifiers holds."""

    survives: int
    of: int


TERCILES = {
    "mcc": Terciles(cuts=(0.21, 0.38), medians=(0.09, 0.31, 0.46)),
    "wmcc@10": Terciles(cuts=(0.19, 0.42), medians=(0.07, 0.30, 0.56)),
}


def rebuild(recall: float, specificity: float, positives: int, negatives: int) -> Confusion:
    """The confusion matrix behind two published rates: TP = recall * positives, TN = specificity * negatives, rounded.

    Halves are rounded up. Rates outside [0, 1] and counts below 0 are an `InputError`. With no positives (or negatives)
    that row is empty, and the metrics of the matrix say that they are undefined.
    """
    for name, rate in (("recall", recall), ("specificity", specificity)):
        if not 0 <= rate <= 1:
            raise InputError(f"{name} must lie in [0, 1] (got {rate:g})")
    for name, count in (("positives", positives), ("negatives", negatives)):
        if count < 0 or count != floor(count):
            raise InputError(f"{name} must be a whole number of at least 0 (got {count})")
    tp, tn = floor(recall * positives + 0.5), floor(specificity * negatives + 0.5)
    return Confusion(tp=tp, fp=negatives - tn, fn=positives - tp, tn=tn)


def neighbourhood(c: Confusion) -> tuple[Confusion, ...]:
    """The matrices with TP and TN each one less, the same or one more, at fixed row sums: up to 9, valid ones only.

    They stand for what the rounding of the published rates may have hidden; `c` itself is among them.
    """
    found = []
    for right in (-1, 0, 1):
        for left_out in (-1, 0, 1):
            cells = {"tp": c.tp + right, "fn": c.fn - right, "tn": c.tn + left_out, "fp": c.fp - left_out}
            if min(cells.values()) >= 0:
                found.append(Confusion(**cells))
    return tuple(found)


def ranking_survives(a: Confusion, b: Confusion, metric: Callable[[Confusion], Estimate]) -> Survival:
    """In how many pairs of neighbours of `a` and `b` the order by `metric` is the order of `a` and `b`: (survives, of).

    A pair with an undefined value or a tie does not survive. Where `a` and `b` themselves are tied or undefined there
    is no order to check, which is an `InputError`.
    """
    order = _order(metric(a), metric(b))
    if order is None:
        raise InputError(f"'{metric(a).metric}' gives the two classifiers no order: it is tied or undefined")
    left, right = ([metric(c) for c in neighbourhood(middle)] for middle in (a, b))
    held = sum(_order(one, two) == order for one in left for two in right)
    return Survival(held, len(left) * len(right))


def tercile(metric: str, value: float) -> Tercile:
    """The third of 183 configurations published up to 2025 that a value of `mcc` or `wmcc@10` lies in.

    Source: Madeyski, Kitchenham, Shepperd (arXiv 2511.12635). A value on a cut belongs to the third below it. An unknown
    metric, and a value outside [-1, 1], are an `InputError`. The reference is dated: it ages as models improve.
    """
    if metric not in TERCILES:
        raise InputError(f"there are no reference terciles for '{metric}'{nearest(metric, TERCILES)}")
    if not isfinite(value) or not -1 <= value <= 1:
        raise InputError(f"a value of '{metric}' must lie in [-1, 1] (got {value:g})")
    reference = TERCILES[metric]
    place = sum(value > cut for cut in reference.cuts)
    low, high = reference.cuts
    reach = (f"up to {low:.2f}", f"above {low:.2f}, up to {high:.2f}", f"above {high:.2f}")[place]
    text = (
        f"{BANDS[place]} third of {REFERENCE_SIZE} configurations ({REFERENCE_YEAR}): {metric} {reach}, "
        f"median of that third {reference.medians[place]:.2f}"
    )
    return Tercile(metric=metric, value=value, band=BANDS[place], text=text)


def _order(one: Estimate, two: Estimate) -> int | None:
    if one.value is None or two.value is None or one.value == two.value:
        return None
    return 1 if one.value > two.value else -1
