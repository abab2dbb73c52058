"""Accuracy."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.metrics.base import metric


@metric(
    "accuracy",
    "confusion",
    formula="(TP + TN) / N",
    source="standard; cautioned in Madeyski, Kitchenham, Shepperd, arXiv 2511.12635",
    low=0,
    high=1,
    undefined="for an empty table",
    caution="misleading where classes are unequal: excluding everything scores the share of excludes",
)
def accuracy(c: Confusion) -> Estimate:
    """(TP + TN) / N, in [0, 1]; undefined for an empty table. Misleading where classes are unequal."""
    return ratio("accuracy", c.tp + c.tn, c.total, "there are no records", c.n)
