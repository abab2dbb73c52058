"""Last relevant record found."""

from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric
from litcascade.eval.rank import Ranking


@metric(
    "last_relevant",
    "ranking",
    formula="rank of the last include / N",
    source="CLEF TAR",
    low=0,
    high=1,
    undefined="without ranked includes",
    caution="rests on a single record",
)
def last_relevant(r: Ranking) -> Estimate:
    """Rank of the last include, as a share of the set, in (0, 1]; undefined without ranked includes."""
    cut = r.cut_at_recall(1.0)
    if cut is None:
        return Estimate(metric="last_relevant", value=None, n=r.n, note="no ranked record is an include by gold")
    return Estimate(metric="last_relevant", value=cut / r.n, n=r.n, note=r.note())
