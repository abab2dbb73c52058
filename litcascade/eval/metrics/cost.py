"""Cost."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric


@metric(
    "cost",
    "confusion",
    formula="FP + w FN",
    source="Madeyski, Kitchenham, Shepperd, arXiv 2511.12635",
    low=0,
    high=None,
    undefined="for an empty table",
    parameter=("w", 10.0),
)
def cost(c: Confusion, weight: float = 10.0) -> Estimate:
    """FP + w FN, 0 or more: records read in vain plus w for each missed include; undefined for an empty table."""
    if not c.n:
        return Estimate(metric=f"cost@{weight:g}", value=None, n=0, note="there are no records")
    return Estimate(metric=f"cost@{weight:g}", value=c.fp + weight * c.fn, n=c.n)
