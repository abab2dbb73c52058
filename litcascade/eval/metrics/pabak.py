"""Prevalence- and bias-adjusted kappa."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.metrics.base import metric


@metric(
    "pabak",
    "confusion",
    formula="2 (TP + TN) / N - 1",
    source="Byrt, Bishop, Carlin 1993; cautioned in Madeyski, Kitchenham, Shepperd, arXiv 2511.12635",
    low=-1,
    high=1,
    undefined="for an empty table",
    caution="accuracy in other dress: misleading where classes are unequal",
)
def pabak(c: Confusion) -> Estimate:
    """2 accuracy - 1, in [-1, 1]; undefined for an empty table. Misleading where classes are unequal."""
    return pabak_of(c.tp + c.tn, c.n)


def pabak_of(same: float, n: int, labels: int = 2) -> Estimate:
    """(K p_o - 1) / (K - 1) for K possible labels, from how many of n records got the same label twice."""
    return ratio("pabak", labels * same - n, (labels - 1) * n, "there are no records", n)
