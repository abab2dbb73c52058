"""Specificity."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.metrics.base import metric


@metric(
    "specificity",
    "confusion",
    formula="TN / (TN + FP)",
    source="standard",
    low=0,
    high=1,
    undefined="without gold excludes",
)
def specificity(c: Confusion) -> Estimate:
    """TN / (TN + FP), in [0, 1]; undefined without gold excludes."""
    return ratio("specificity", c.tn, c.negatives, "no record is an exclude by gold", c.n)
