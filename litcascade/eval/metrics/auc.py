"""Area under the ROC curve."""

import numpy as np

from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric
from litcascade.eval.rank import Ranking


@metric(
    "auc",
    "ranking",
    formula="Mann-Whitney U / (P N), ties one half",
    source="Hanley, McNeil 1982",
    low=0,
    high=1,
    undefined="without both classes",
    caution="averages over cut-offs nobody would use; it does not say what is lost at the operating point",
)
def auc(r: Ranking) -> Estimate:
    """Probability that an include outscores an exclude, ties one half, in [0, 1]; undefined without both classes."""
    excludes = r.n - r.includes
    if not r.includes or not excludes:
        return Estimate(metric="auc", value=None, n=r.n, note="includes and excludes are both needed")
    _, group, sizes = np.unique(r.scores, return_inverse=True, return_counts=True)
    ends = np.cumsum(sizes)
    midranks = ends - (sizes - 1) / 2
    total = float(midranks[group][r.relevant].sum())
    value = (total - r.includes * (r.includes + 1) / 2) / (float(r.includes) * excludes)
    left = f"{r.left_out} record(s) without a score are left out" if r.left_out else None
    return Estimate(metric="auc", value=value, n=r.n, note=left)
