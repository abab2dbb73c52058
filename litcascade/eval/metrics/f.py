"""F-measure."""

import numpy as np
import numpy.typing as npt

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric


def f_array(tp: npt.ArrayLike, fp: npt.ArrayLike, positives: npt.ArrayLike, beta: float = 2.0) -> npt.NDArray[np.float64]:
    """The F-measure over arrays of counts that broadcast together, in [0, 1]; NaN where no include was found."""
    tp, fp, positives = (np.asarray(part, dtype=float) for part in (tp, fp, positives))
    b2 = beta * beta
    whole = np.where(tp > 0, b2 * positives + tp + fp, np.nan)
    return np.asarray((1 + b2) * tp / whole)


@metric(
    "f",
    "confusion",
    formula="(1 + b^2) P R / (b^2 P + R)",
    source="van Rijsbergen; b = 2 as SciLitBench uses it",
    low=0,
    high=1,
    undefined="where no include was found",
    parameter=("b", 2.0),
)
def f_beta(c: Confusion, beta: float = 2.0) -> Estimate:
    """(1 + b^2) P R / (b^2 P + R), in [0, 1]; for b = 2 this is 5PR / (4P + R).

    Undefined where no include was found: precision and recall are then both 0 or undefined, and the quotient is 0 / 0.
    """
    if not c.tp:
        return Estimate(metric=f"f@{beta:g}", value=None, n=c.n, note="no include was found, so P and R are 0 or undefined")
    return Estimate(metric=f"f@{beta:g}", value=float(f_array(c.tp, c.fp, c.tp + c.fn, beta)), n=c.n)
