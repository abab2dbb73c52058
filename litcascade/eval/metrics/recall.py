"""Recall."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.metrics.base import metric


@metric(
    "recall",
    "confusion",
    formula="TP / (TP + FN)",
    source="standard; Madeyski, Kitchenham, Shepperd, arXiv 2511.12635",
    low=0,
    high=1,
    undefined="without gold includes",
)
def recall(c: Confusion) -> Estimate:
    """TP / (TP + FN), in [0, 1]; undefined without gold includes."""
    return ratio("recall", c.tp, c.positives, "no record is an include by gold", c.n)
