"""Normalised precision at a recall."""

from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric
from litcascade.eval.rank import Ranking


@metric(
    "np",
    "ranking",
    formula="TP TN / ((FP + TN)(TP + FP)) at the first cut-off with recall >= r",
    source="Kusa et al. 2023 (as in CSMeD)",
    low=0,
    high=1,
    undefined="without both classes",
    parameter=("r", 0.95),
)
def normalised_precision(r: Ranking, target: float = 0.95) -> Estimate:
    """TP TN / ((FP + TN)(TP + FP)) at the first cut-off with recall >= r, in [0, 1]; undefined without both classes."""
    cut = r.cut_at_recall(target)
    excludes = r.n - r.includes
    if cut is None or not excludes:
        return Estimate(metric=f"np@{target:g}", value=None, n=r.n, note="includes and excludes are both needed")
    tp = float(r.relevant[:cut].sum())
    tn = float((~r.relevant[cut:]).sum())
    return Estimate(metric=f"np@{target:g}", value=tp * tn / (excludes * float(cut)), n=r.n, note=r.note())
