"""Matthews correlation."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.base import metric
from litcascade.eval.metrics.wmcc import wmcc


@metric(
    "mcc",
    "confusion",
    formula="(TP TN - FP FN) / sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN))",
    source="Matthews 1975; Chicco, Jurman 2020",
    low=-1,
    high=1,
    undefined="where a row or column of the matrix is empty",
)
def mcc(c: Confusion) -> Estimate:
    """Matthews correlation, in [-1, 1]: WMCC at w = 1, so that the formula stands once."""
    return wmcc(c, 1.0).model_copy(update={"metric": "mcc"})
