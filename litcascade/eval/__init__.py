"""Pure evaluation: frames and counts in, `Estimate`s out. No file, no clock, no hidden randomness."""

from litcascade.eval.binary import METRICS, Confusion, confusion_of, metrics_of
from litcascade.eval.cascade import CascadeLoss, StageLoss, cascade_loss
from litcascade.eval.estimate import Estimate
from litcascade.eval.fields import Pair, jaccard, score_field
from litcascade.eval.ranking import auc

__all__ = [
    "METRICS",
    "CascadeLoss",
    "Confusion",
    "Estimate",
    "Pair",
    "StageLoss",
    "auc",
    "cascade_loss",
    "confusion_of",
    "jaccard",
    "metrics_of",
    "score_field",
]
