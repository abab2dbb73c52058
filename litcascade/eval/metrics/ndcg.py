"""Normalised discounted cumulative gain."""

import numpy as np

from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric
from litcascade.eval.rank import Ranking


@metric(
    "ndcg",
    "ranking",
    formula="DCG@k / ideal DCG@k, gain 1 for an include",
    source="Jarvelin, Kekalainen 2002",
    low=0,
    high=1,
    undefined="without ranked includes",
    parameter=("k", 10.0),
)
def ndcg(r: Ranking, k: float = 10.0) -> Estimate:
    """Sum over the first k ranks of relevance / log2(rank + 1), over that of the best order; in [0, 1]."""
    if not r.includes:
        return Estimate(metric="ndcg", value=None, n=r.n, note="no ranked record is an include by gold")
    top = max(1, min(int(k), r.n))
    discount = 1 / np.log2(np.arange(2, top + 2))
    best = float(discount[: min(top, r.includes)].sum())
    return Estimate(metric=f"ndcg@{k:g}", value=float((r.relevant[:top] * discount).sum()) / best, n=r.n, note=r.note())
