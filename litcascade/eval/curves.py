"""Curves over the cut-off: what is lost against what need not be read, and net benefit."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from litcascade.errors import InputError
from litcascade.eval.rank import Ranking


def loss_workload_curve(r: Ranking) -> pl.DataFrame:
    """One row a distinct score, highest first: reading all records from there up.

    Columns `threshold`, `read`, `lost_evidence` (share of includes not read), `workload_reduction` (share not read),
    `precision`. A frame without rows where there are no includes.
    """
    if not r.includes:
        return pl.DataFrame(
            schema=dict.fromkeys(("threshold", "read", "lost_evidence", "workload_reduction", "precision"), pl.Float64)
        )
    ends = np.flatnonzero(np.append(r.scores[1:] != r.scores[:-1], True)) + 1
    found = np.cumsum(r.relevant)[ends - 1].astype(float)
    return pl.DataFrame(
        {
            "threshold": r.scores[ends - 1],
            "read": ends.astype(float),
            "lost_evidence": 1 - found / r.includes,
            "workload_reduction": 1 - ends / r.n,
            "precision": found / ends,
        }
    )


def decision_curve(r: Ranking, thresholds: Sequence[float]) -> pl.DataFrame:
    """Net benefit TP/n - FP/n * t / (1 - t) of reading what scores t or more, beside reading all and none.

    Source: Vickers, Elkin 2006. Scores must be calibrated probabilities for this to mean anything. Columns `threshold`,
    `model`, `all`, `none`.
    """
    if any(not 0 <= t < 1 for t in thresholds):
        raise InputError("thresholds of a decision curve lie in [0, 1)")
    if not r.n:
        raise InputError("there are no ranked records")
    rows = []
    for t in thresholds:
        read = r.scores >= t
        odds = t / (1 - t)
        tp, fp = float((r.relevant & read).sum()), float((~r.relevant & read).sum())
        rows.append((t, (tp - fp * odds) / r.n, (r.includes - (r.n - r.includes) * odds) / r.n, 0.0))
    return pl.DataFrame(rows, schema=["threshold", "model", "all", "none"], orient="row")
