"""Area under the precision-recall curve."""

import numpy as np

from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric
from litcascade.eval.rank import Ranking


@metric(
    "pr_auc",
    "ranking",
    formula="sum over distinct scores of (recall step) x precision",
    source="Davis, Goadrich 2006 (no linear interpolation)",
    low=0,
    high=1,
    undefined="without ranked includes",
    caution="moves with the share of includes: compare only on the same records",
)
def pr_auc(r: Ranking) -> Estimate:
    """Area under precision over recall by steps at the distinct scores, in [0, 1]; undefined without ranked includes.

    A tied group is one step: all of it is read or none.
    """
    if not r.includes:
        return Estimate(metric="pr_auc", value=None, n=r.n, note="no ranked record is an include by gold")
    ends = np.flatnonzero(np.append(r.scores[1:] != r.scores[:-1], True)) + 1
    found = np.cumsum(r.relevant)[ends - 1]
    steps = np.diff(np.concatenate([[0], found])) / r.includes
    return Estimate(metric="pr_auc", value=float((steps * found / ends).sum()), n=r.n, note=r.note())
