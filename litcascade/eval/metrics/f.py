"""F-measure."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric


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
    b2 = beta * beta
    if not c.tp:
        return Estimate(metric=f"f@{beta:g}", value=None, n=c.n, note="no include was found, so P and R are 0 or undefined")
    whole = (1 + b2) * c.tp + b2 * c.fn + c.fp
    return Estimate(metric=f"f@{beta:g}", value=(1 + b2) * c.tp / whole, n=c.n)
