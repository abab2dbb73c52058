"""The face of binary evaluation: the matrix, and the metrics most callers need by name."""

from litcascade.eval.confusion import POSITIVE_STATES, Confusion, confusion_of, join_by_id
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics import METRICS, Measure, parse_measure
from litcascade.eval.metrics.lost_evidence import lost_evidence
from litcascade.eval.metrics.mcc import mcc
from litcascade.eval.metrics.recall import recall
from litcascade.eval.metrics.wmcc import wmcc, wmcc_array

__all__ = [
    "METRICS",
    "POSITIVE_STATES",
    "Confusion",
    "Measure",
    "confusion_of",
    "join_by_id",
    "lost_evidence",
    "mcc",
    "metrics_of",
    "parse_measure",
    "recall",
    "wmcc",
    "wmcc_array",
]


def metrics_of(c: Confusion, weight: float, *, raters: bool = False) -> list[Estimate]:
    """All metrics of a matrix, in the order of their names; those with a weight take this one.

    Measures for two fallible raters (Cohen's kappa) are left out unless `raters`: against gold they mislead.
    """
    specs = [spec for _, spec in METRICS if spec.kind == "confusion" and (raters or not spec.raters_only)]
    measures = [Measure(spec, spec.parameter[1] if spec.parameter else None) for spec in specs]
    return [Measure(m.spec, weight)(c) if m.spec.parameter and m.spec.parameter[0] == "w" else m(c) for m in measures]
