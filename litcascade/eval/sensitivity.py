"""How a comparison depends on w, the cost of a missed include: sweep, crossovers, who is best where, rank reversals."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.metrics import parse_measure
from litcascade.eval.metrics.wmcc import wmcc, wmcc_array
from litcascade.schemas import Frozen

LOWEST, HIGHEST = 0.1, 1000.0


def sweep(confusions: Mapping[str, Confusion], weights: Sequence[float]) -> pl.DataFrame:
    """WMCC of every classifier at every w: columns `classifier`, `w`, `wmcc` (null where undefined)."""
    _check_weights(weights)
    grid = np.asarray(weights, dtype=float)
    frames = [
        pl.DataFrame({"classifier": name, "w": grid, "wmcc": wmcc_array(c.tp, c.fp, c.fn, c.tn, grid)})
        for name, c in confusions.items()
    ]
    if not frames:
        return pl.DataFrame(schema={"classifier": pl.String, "w": pl.Float64, "wmcc": pl.Float64})
    return pl.concat(frames).with_columns(pl.col("wmcc").fill_nan(None))


def crossovers(a: Confusion, b: Confusion, low: float = LOWEST, high: float = HIGHEST) -> list[float]:
    """Every w in [low, high] at which the order of a and b by WMCC changes, smallest first.

    Exact: equal WMCC means k_a w / ((p_a w + q_a)(r_a w + s_a)) = k_b w / (...), a quadratic in w. Its roots count where
    the two have the same sign and the difference truly changes sign there. Classifiers whose WMCC is undefined have none.
    """
    sides = []
    for c in (a, b):
        if not wmcc(c).value:  # undefined, or 0 at every w: the order can never change by crossing
            return []
        margin = c.tp / c.positives - c.fp / c.negatives
        sides.append((margin * margin * c.positives * c.negatives, np.array([c.tp, c.fp]), np.array([c.fn, c.tn])))
    (k_a, first_a, second_a), (k_b, first_b, second_b) = sides
    quadratic = np.polysub(k_a * np.polymul(first_b, second_b), k_b * np.polymul(first_a, second_a))
    roots = np.roots(quadratic) if np.any(quadratic) else np.array([])
    real = sorted(float(root.real) for root in roots if abs(root.imag) < 1e-9 * max(1.0, abs(root)))
    return [root for root in real if low <= root <= high and _changes(a, b, root)]


def _changes(a: Confusion, b: Confusion, w: float) -> bool:
    step = 1e-6 * w
    signs = [np.sign((wmcc(a, at).value or 0) - (wmcc(b, at).value or 0)) for at in (w - step, w + step)]
    return bool(signs[0] * signs[1] < 0)


class Span(Frozen):
    """From w = `low` up to `high` this classifier has the highest WMCC."""

    classifier: str
    low: float
    high: float


def best_by_weight(confusions: Mapping[str, Confusion], low: float = 1.0, high: float = 100.0) -> list[Span]:
    """Who has the highest WMCC at which w in [low, high]; ties go to the first named; undefined ones never lead."""
    _check_weights([low, high])
    able = {name: c for name, c in confusions.items() if wmcc(c).value is not None}
    if not able:
        return []
    spans: list[Span] = []
    at = low
    leader = _leader(able, at * (1 + 1e-6))  # two that tie at the very start are told apart just above it
    while True:
        turns = [(w, name) for name, c in able.items() if name != leader for w in crossovers(able[leader], c, at, high) if w > at]
        following = min(turns, default=None)
        if following is None:
            return [*spans, Span(classifier=leader, low=at, high=high)]
        w = following[0]
        after = _leader(able, w * (1 + 1e-6))
        if after != leader:
            spans.append(Span(classifier=leader, low=at if not spans else spans[-1].high, high=w))
            leader = after
        at = w * (1 + 1e-9)


def _leader(able: Mapping[str, Confusion], w: float) -> str:
    def value(name: str) -> float:
        found = wmcc(able[name], w).value
        return -2.0 if found is None else found  # 0 is a value, and above every negative one

    return max(able, key=value)


def rank_reversals(confusions: Mapping[str, Confusion], metrics: Sequence[str] = ("accuracy", "mcc", "wmcc@10")) -> pl.DataFrame:
    """Pairs of classifiers that two metrics order differently: columns `better_by`, `worse_by`, `first`, `second`.

    `first` is above `second` by `better_by` and below it by `worse_by`. Pairs with an undefined value are left out.
    """
    measures = {name: parse_measure(name) for name in metrics}
    values = {key: {name: measure(c).value for name, c in confusions.items()} for key, measure in measures.items()}
    rows = []
    names = list(confusions)
    for number, one in enumerate(metrics):
        for other in metrics[number + 1 :]:
            for first in names:
                for second in names:
                    up, down = _difference(values[one], first, second), _difference(values[other], first, second)
                    if up is not None and down is not None and up > 0 > down:
                        rows.append({"better_by": one, "worse_by": other, "first": first, "second": second})
    return pl.DataFrame(rows, schema={"better_by": pl.String, "worse_by": pl.String, "first": pl.String, "second": pl.String})


def _difference(values: Mapping[str, float | None], first: str, second: str) -> float | None:
    a, b = values[first], values[second]
    return None if a is None or b is None else a - b


def _check_weights(weights: Sequence[float]) -> None:
    if any(not 0 < w < float("inf") for w in weights):
        raise InputError("every weight w must be a number above 0")
