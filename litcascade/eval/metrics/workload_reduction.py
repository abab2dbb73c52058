"""Workload reduction."""

from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.metrics.base import metric


@metric(
    "workload_reduction",
    "confusion",
    formula="(TN + FN) / N",
    source="standard; net form: MATHS of this project",
    low=0,
    high=1,
    undefined="for an empty table",
)
def workload_reduction(c: Confusion) -> Estimate:
    """(TN + FN) / N: records nobody need read, of those the rule was applied to; in [0, 1].

    Undefined for an empty table. `net_workload_reduction` takes off what labelling and audit cost.
    """
    return ratio("workload_reduction", c.tn + c.fn, c.total, "there are no records", c.n)


def net_workload_reduction(c: Confusion, labelled: int, audited: int) -> Estimate:
    """(TN + FN - audited) / (N + labelled): net of the labelled sample and the audit; can be negative.

    `labelled` records were all read to choose the rule and are not among the N; `audited` are exclusions read again.
    """
    return ratio("net_workload_reduction", c.tn + c.fn - audited, c.total + labelled, "there are no records", c.n)
