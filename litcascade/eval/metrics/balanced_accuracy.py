"""Balanced accuracy."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric


@metric(
    "balanced_accuracy",
    "confusion",
    formula="(recall + specificity) / 2",
    source="standard",
    low=0,
    high=1,
    undefined="where a gold class is empty",
)
def balanced_accuracy(c: Confusion) -> Estimate:
    """(recall + specificity) / 2, in [0, 1]; undefined where a gold class is empty."""
    if not c.positives or not c.negatives:
        reason = "no record is an include by gold" if not c.positives else "no record is an exclude by gold"
        return Estimate(metric="balanced_accuracy", value=None, n=c.n, note=reason)
    value = (c.tp / c.positives + c.tn / c.negatives) / 2
    return Estimate(metric="balanced_accuracy", value=value, n=c.n)
