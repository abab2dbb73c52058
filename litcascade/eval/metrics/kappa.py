"""Cohen's kappa."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric


@metric(
    "kappa",
    "confusion",
    formula="(p_o - p_e) / (1 - p_e)",
    source="Cohen 1960",
    low=-1,
    high=1,
    undefined="for an empty table, or where both use one class only",
    caution="for two fallible raters only; against gold use MCC or WMCC",
)
def kappa(c: Confusion) -> Estimate:
    """(observed - expected agreement) / (1 - expected), in [-1, 1]; for two fallible raters, never against gold.

    Undefined for an empty table, and where chance alone would agree always.
    """
    if not c.n:
        return Estimate(metric="kappa", value=None, n=0, note="there are no records")
    observed = (c.tp + c.tn) / c.n
    expected = (c.positives * (c.tp + c.fp) + c.negatives * (c.tn + c.fn)) / (float(c.n) * c.n)
    if expected >= 1:
        return Estimate(metric="kappa", value=None, n=c.n, note="both raters use one class only")
    return Estimate(metric="kappa", value=(observed - expected) / (1 - expected), n=c.n)
