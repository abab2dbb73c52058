"""Lost Evidence."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.metrics.base import metric


@metric(
    "lost_evidence",
    "confusion",
    formula="FN / (TP + FN) = 1 - recall",
    source="Madeyski, Kitchenham, Shepperd, arXiv 2511.12635",
    low=0,
    high=1,
    undefined="without gold includes",
)
def lost_evidence(c: Confusion) -> Estimate:
    """FN / (TP + FN) = 1 - recall, in [0, 1]; undefined without gold includes."""
    return ratio("lost_evidence", c.fn, c.positives, "no record is an include by gold", c.n)
