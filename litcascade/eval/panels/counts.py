"""Counts of many rules on the same labelled records at once, and the measures by which rules are compared."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.metrics.base import parse_measure
from litcascade.eval.metrics.f import f_array
from litcascade.eval.metrics.wmcc import wmcc_array

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
OfCounts = Callable[[Floats, Floats, float, float], Floats]


@dataclass(frozen=True, eq=False)
class Counts:
    """True and false positives of C rules on the same records: two arrays of length C, and the two class sizes."""

    tp: Floats
    fp: Floats
    positives: int
    negatives: int

    def __len__(self) -> int:
        return len(self.tp)

    @property
    def recall(self) -> Floats:
        """TP / P of every rule; NaN without includes."""
        return share(self.tp, self.positives)

    @property
    def precision(self) -> Floats:
        """TP / (TP + FP) of every rule; NaN where a rule includes nothing."""
        return share(self.tp, self.tp + self.fp)

    def confusion(self, index: int) -> Confusion:
        """The matrix of one rule."""
        tp, fp = float(self.tp[index]), float(self.fp[index])
        return Confusion(tp=tp, fp=fp, fn=self.positives - tp, tn=self.negatives - fp)


def share(part: npt.ArrayLike, whole: npt.ArrayLike) -> Floats:
    """part / whole, NaN where whole is 0."""
    part, whole = np.broadcast_arrays(np.asarray(part, dtype=float), np.asarray(whole, dtype=float))
    found: Floats = np.divide(part, whole, out=np.full(part.shape, np.nan), where=whole != 0)
    return found


def measure_of(name: str) -> OfCounts:
    """A measure over arrays (tp, fp, positives, negatives) by its registered name: `f@2`, `wmcc@10`, `mcc`.

    NaN where the measure is undefined. Any other measure is an `InputError`.
    """
    measure = parse_measure(name)
    kind, parameter = measure.spec.name, measure.parameter
    if kind == "f":
        beta = 2.0 if parameter is None else parameter
        return lambda tp, fp, p, _: f_array(tp, fp, p, beta)
    if kind in ("wmcc", "mcc"):
        weight = 1.0 if parameter is None else parameter
        return lambda tp, fp, p, n: wmcc_array(tp, fp, p - tp, n - fp, weight)
    raise InputError(f"rules are not compared by '{name}'; use f@b, mcc or wmcc@w")


def needed(target: float, positives: int) -> int:
    """How many of the includes must be found for a recall of `target`: 47 of 47 for .98, since 46 / 47 = .979."""
    if not 0 < target <= 1:
        raise InputError(f"a target recall lies above 0 and is at most 1 (got {target:g})")
    return int(np.ceil(round(target * positives, 9)))
