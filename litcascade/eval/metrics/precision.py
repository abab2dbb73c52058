"""Precision."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.metrics.base import metric


@metric(
    "precision",
    "confusion",
    formula="TP / (TP + FP)",
    source="standard",
    low=0,
    high=1,
    undefined="where nothing was included or referred",
)
def precision(c: Confusion) -> Estimate:
    """TP / (TP + FP), in [0, 1]; undefined where nothing was included or referred."""
    return ratio("precision", c.tp, c.tp + c.fp, "nothing was included or referred", c.n)
