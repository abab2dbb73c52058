"""Work saved over sampling."""

from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric
from litcascade.eval.rank import Ranking


@metric(
    "wss",
    "ranking",
    formula="(TN + FN) / N - (1 - r) at the first cut-off with recall >= r",
    source="Cohen et al. 2006",
    low=-1,
    high=1,
    undefined="without ranked includes",
    parameter=("r", 0.95),
    caution="its range depends on the share of includes; on few includes it swings between seeds",
)
def wss(r: Ranking, target: float = 0.95) -> Estimate:
    """(TN + FN) / N - (1 - r) at the first cut-off with recall >= r; at most r; undefined without ranked includes."""
    cut = r.cut_at_recall(target)
    if cut is None:
        return Estimate(metric=f"wss@{target:g}", value=None, n=r.n, note="no ranked record is an include by gold")
    return Estimate(metric=f"wss@{target:g}", value=(r.n - cut) / r.n - (1 - target), n=r.n, note=r.note())
