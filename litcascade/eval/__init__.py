"""Pure evaluation: frames and counts in, `Estimate`s out. No file, no clock, no hidden randomness."""

from litcascade.eval.binary import METRICS, Confusion, confusion_of, join_by_id, metrics_of, parse_measure
from litcascade.eval.cascade import CascadeLoss, StageLoss, cascade_loss
from litcascade.eval.estimate import Estimate
from litcascade.eval.fields import Pair, jaccard, score_field
from litcascade.eval.rank import Ranking, ranking_of

__all__ = [
    "METRICS",
    "CascadeLoss",
    "Confusion",
    "Estimate",
    "Pair",
    "Ranking",
    "StageLoss",
    "cascade_loss",
    "confusion_of",
    "jaccard",
    "join_by_id",
    "metrics_of",
    "parse_measure",
    "ranking_of",
    "score_field",
]
