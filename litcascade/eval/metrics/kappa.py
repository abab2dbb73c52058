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
    raters_only=True,
    caution="for two fallible raters only; against gold use MCC or WMCC",
)
def kappa(c: Confusion) -> Estimate:
    """(observed - expected agreement) / (1 - expected), in [-1, 1]; for two fallible raters, never against gold.

    Undefined for an empty table, and where chance alone would agree always.
    """
    chance = c.positives * (c.tp + c.fp) + c.negatives * (c.tn + c.fn)
    return kappa_of(c.tp + c.tn, chance, c.n)


def kappa_of(same: float, chance: float, n: int) -> Estimate:
    """Kappa from how many of n records got the same label twice, and `chance`, the sum over labels of products of margins."""
    if not n:
        return Estimate(metric="kappa", value=None, n=0, note="there are no records")
    if chance >= float(n) * n:
        return Estimate(metric="kappa", value=None, n=n, note="both used one label only, so chance agreement is 1")
    return Estimate(metric="kappa", value=(same * n - chance) / (float(n) * n - chance), n=n)
