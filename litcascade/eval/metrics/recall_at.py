"""Recall at k."""

from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.metrics.base import metric
from litcascade.eval.rank import Ranking


@metric(
    "recall_at",
    "ranking",
    formula="includes in the first k / includes",
    source="standard",
    low=0,
    high=1,
    undefined="without ranked includes",
    parameter=("k", 100.0),
)
def recall_at(r: Ranking, k: float = 100.0) -> Estimate:
    """Share of the includes among the first k records, in [0, 1]; undefined without ranked includes."""
    found = int(r.relevant[: int(k)].sum())
    share = ratio(f"recall_at@{k:g}", found, r.includes, "no ranked record is an include by gold", r.n)
    return share if share.value is None else share.model_copy(update={"note": r.note()})
