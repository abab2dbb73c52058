"""Average precision."""

import numpy as np

from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric
from litcascade.eval.rank import Ranking


@metric(
    "average_precision",
    "ranking",
    formula="mean over includes of precision at their rank",
    source="standard (MAP over topics is its mean)",
    low=0,
    high=1,
    undefined="without ranked includes",
    caution="moves with the share of includes: compare only on the same records",
)
def average_precision(r: Ranking) -> Estimate:
    """Mean of precision at the rank of each include, in [0, 1]; undefined without ranked includes."""
    if not r.includes:
        return Estimate(metric="average_precision", value=None, n=r.n, note="no ranked record is an include by gold")
    ranks = np.flatnonzero(r.relevant) + 1
    value = float(np.mean(np.arange(1, r.includes + 1) / ranks))
    return Estimate(metric="average_precision", value=value, n=r.n, note=r.note())
