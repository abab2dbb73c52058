"""K classes: the confusion matrix as a value, and the K-class correlation in its plain, weighted and graded forms.

All forms are one ratio, R_D, over a cost D between classes. With S = -D/2, shares P = C/s and margins tau (true) and
pi (predicted): R_D = sum S_kl (P_kl - tau_k pi_l) / sqrt(V(tau) V(pi)), V(tau) = sum S_kl (delta_kl tau_k - tau_k tau_l).
The cost D = 1 - I gives R_K. Source: Gorodkin 2004 (10.1016/j.compbiolchem.2004.09.006).
"""

import math
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray
from pydantic import model_validator

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate
from litcascade.schemas import Frozen

Matrix = NDArray[np.float64]
RANK_TOLERANCE = 1e-9
COST_TOLERANCE = 1e-9


class KConfusion(Frozen):
    """Counts by true class (rows) and predicted class (columns).

    The columns are `classes` and then `extra`: classes that can be predicted but never are true, such as "referred".
    """

    classes: tuple[str, ...]
    counts: tuple[tuple[float, ...], ...]
    extra: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _counts_fit_the_classes(self) -> "KConfusion":
        if not self.classes:
            raise InputError("a confusion matrix needs at least one class")
        if len(set(self.columns)) != len(self.columns):
            raise InputError(f"a class is named twice among {', '.join(self.columns)}")
        if len(self.counts) != len(self.classes) or any(len(row) != len(self.columns) for row in self.counts):
            raise InputError(
                f"the counts must have {len(self.classes)} rows (true classes) and {len(self.columns)} columns (predicted)"
            )
        if not all(math.isfinite(count) and count >= 0 for row in self.counts for count in row):
            raise InputError("a count in the confusion matrix is negative or not a number")
        return self

    @property
    def columns(self) -> tuple[str, ...]:
        """The classes that can be predicted, in the order of the columns."""
        return (*self.classes, *self.extra)

    @property
    def n(self) -> int:
        """How many records were counted."""
        return round(math.fsum(count for row in self.counts for count in row))


def kconfusion_of(frame: pl.DataFrame, classes: Sequence[str], extra: Sequence[str] = ()) -> KConfusion:
    """Count a frame with columns `record_id`, `gold` (of `classes`) and `predicted` (of `classes` or `extra`).

    One row a record. An undeclared or missing label and a missing or repeated id are an `InputError`. An empty frame
    gives an empty matrix, for which every metric is undefined.
    """
    absent = [name for name in ("record_id", "gold", "predicted") if name not in frame.columns]
    if absent:
        raise InputError(f"the table has no column '{absent[0]}'")
    table = frame.select(pl.col("record_id", "gold", "predicted").cast(pl.String))
    if table["record_id"].has_nulls():
        raise InputError("a row of the table to score has no record_id")
    twice = table.filter(pl.col("record_id").is_duplicated())
    if twice.height:
        raise InputError(f"record '{twice['record_id'][0]}' stands twice in the table to score")
    for column, allowed in (("gold", [*classes]), ("predicted", [*classes, *extra])):
        odd = table.filter(~pl.col(column).is_in(allowed).fill_null(False))
        if odd.height:
            row = odd.row(0, named=True)
            label = "no label" if row[column] is None else f"the label '{row[column]}'"
            raise InputError(
                f"record '{row['record_id']}' has {label} in column '{column}', which is none of: {', '.join(allowed)}"
            )
    cells = {(gold, said): float(count) for gold, said, count in table.group_by("gold", "predicted").len().rows()}
    counts = tuple(tuple(cells.get((gold, said), 0.0) for said in (*classes, *extra)) for gold in classes)
    return KConfusion(classes=tuple(classes), counts=counts, extra=tuple(extra))


def zero_one_cost(k: int) -> Matrix:
    """D = 1 - I for k classes: every confusion costs the same. With it R_D is R_K."""
    return 1.0 - np.eye(_whole(k))


def absolute_cost(k: int) -> Matrix:
    """D = |i - j| for k classes in order: the cost grows with the distance."""
    place = np.arange(_whole(k), dtype=np.float64)
    return np.abs(place[:, None] - place[None, :])


def squared_cost(k: int) -> Matrix:
    """D = (i - j)^2 for k classes in order. With it R_D is Pearson's r of the integer codes."""
    return absolute_cost(k) ** 2


def r_k(c: KConfusion) -> Estimate:
    """R_K = (c s - sum t_k p_k) / (sqrt(s^2 - sum p_k^2) sqrt(s^2 - sum t_k^2)), in [-1, 1]; chance scores 0.

    s is the sum and c the trace of the matrix, t the row and p the column sums. For two classes it is MCC. Source:
    Gorodkin 2004. Undefined without records, and where only one class is true or only one is predicted.
    """
    return _correlation("r_k", c, _square(c), zero_one_cost(len(c.columns)))


def r_k_weighted(c: KConfusion, weights: Sequence[float]) -> Estimate:
    """R_K of diag(a) C, in [-1, 1]; chance scores 0. a_k > 0 is the cost of missing true class k.

    `weights` stand in the order of `c.classes`. Two classes with a = (w, 1) give WMCC. Undefined as R_K is.
    """
    rows = _rows(c, weights)
    return _correlation(_named("r_k", weights), c, _square(c, rows), zero_one_cost(len(c.columns)))


def r_k_matrix(c: KConfusion, weights: ArrayLike) -> Estimate:
    """R_K of W o C, element by element, in [-1, 1]; W has the shape of the counts and no entry below 0.

    Source: Madeyski, Kitchenham, Shepperd (arXiv 2511.12635). The note always says whether W has rank one (its second
    singular value is at most 1e-9 of its first). If not, chance does not score 0, and the note warns and gives what an
    independent classifier with these margins scores. Undefined as R_K is.
    """
    found = _numbers("the weight matrix W", weights, (len(c.classes), len(c.columns)))
    if (found < 0).any() or not found.any():
        raise InputError("the weight matrix W may hold no entry below 0, and not only zeros")
    cost = zero_one_cost(len(c.columns))
    estimate = _correlation("r_k_matrix", c, _square(c, found), cost)
    sizes = np.linalg.svd(found, compute_uv=False)
    if len(sizes) < 2 or sizes[1] <= RANK_TOLERANCE * sizes[0]:
        remark = "W has rank one"
    else:
        counts = np.array(c.counts)
        expected = np.outer(counts.sum(axis=1), counts.sum(axis=0) / (counts.sum() or 1.0))
        chance = _correlation("r_k_matrix", c, _square(c, found, expected), cost).value
        scores = "has no score" if chance is None else f"scores {chance:.3f}"
        remark = f"warning: W is not of rank one, so chance is not 0: an independent classifier with these margins {scores}"
    return estimate.model_copy(update={"note": f"{estimate.note}; {remark}" if estimate.note else remark})


def r_d(c: KConfusion, cost: ArrayLike, weights: Sequence[float] | None = None) -> Estimate:
    """R_D with the graded cost D between classes, in [-1, 1]; chance scores 0. The formula is in the module's head.

    D goes by `c.columns`, is symmetric, has a zero diagonal, and -D is conditionally positive semidefinite (x'Dx <= 0
    for every x that sums to 0); else `InputError`. With `weights` the rows are weighted first, as in `r_k_weighted`.
    Undefined without records, and where the true or the predicted classes that occur cost nothing between each other.
    """
    size = len(c.columns)
    found = _numbers("the cost matrix D", cost, (size, size))
    slack = COST_TOLERANCE * float(np.abs(found).max())
    if np.abs(np.diagonal(found)).max() > 0 or np.abs(found - found.T).max() > slack:
        raise InputError("the cost matrix D must be symmetric with a zero diagonal")
    centre = np.eye(size) - 1.0 / size
    lowest = float(np.linalg.eigvalsh(-centre @ (found + found.T) @ centre / 2)[0])
    if lowest < -slack * size:
        raise InputError(
            f"the cost matrix D cannot be used: -D is not conditionally positive semidefinite (lowest eigenvalue {lowest:.3g})"
        )
    rows = None if weights is None else _rows(c, weights)
    return _correlation("r_d" if weights is None else _named("r_d", weights), c, _square(c, rows), np.maximum(found, 0.0))


def _correlation(metric: str, c: KConfusion, m: Matrix, cost: Matrix) -> Estimate:
    """The one formula, on a square matrix of counts that may be weighted.

    The gap s^2 (P_kl - tau_k pi_l) is taken as a 2x2 determinant of sums, and V(tau) as the sum of D_kl tau_k tau_l / 2,
    so that no large numbers are subtracted from each other.
    """
    reason = _degenerate(m, cost) if any(map(any, c.counts)) else "there is no record"
    if reason:
        return Estimate(metric=metric, value=None, n=c.n, note=reason)
    m = m / m.max()
    off = zero_one_cost(len(m))
    gap = m * (off @ m @ off) - (m @ off) * (off @ m)
    true, said = m.sum(axis=1), m.sum(axis=0)
    value = -float((cost * gap).sum()) / (math.sqrt(true @ cost @ true) * math.sqrt(said @ cost @ said))
    return Estimate(metric=metric, value=min(1.0, max(-1.0, value)), n=c.n)


def _degenerate(m: Matrix, cost: Matrix) -> str | None:
    if not m.any():
        return "no record that was counted has a weight"
    for held, single, same in (
        (m.any(axis=1), "all records are of one class by gold", "the true classes that occur cost nothing between each other"),
        (m.any(axis=0), "only one class was predicted", "the predicted classes that occur cost nothing between each other"),
    ):
        if held.sum() < 2:
            return single
        if not cost[np.ix_(held, held)].any():
            return same
    return None


def _square(c: KConfusion, weights: Matrix | None = None, counts: Matrix | None = None) -> Matrix:
    """The counts, or `counts` in their place, times the weights, with an empty row for each extra predicted class."""
    found = np.array(c.counts, dtype=np.float64) if counts is None else counts
    if weights is not None:
        found = found * (weights / weights.max())
    return np.vstack([found, np.zeros((len(c.extra), len(c.columns)))])


def _rows(c: KConfusion, weights: Sequence[float]) -> Matrix:
    found = _numbers("the list of class weights", weights, (len(c.classes),))
    if (found <= 0).any():
        raise InputError("every class weight must be above 0")
    return found[:, None]


def _named(metric: str, weights: Sequence[float]) -> str:
    return f"{metric}@{','.join(f'{weight:g}' for weight in weights)}"


def _numbers(what: str, given: ArrayLike, shape: tuple[int, ...]) -> Matrix:
    wanted = " by ".join(map(str, shape))
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must hold {wanted} numbers") from error
    if found.shape != shape or not np.isfinite(found).all():
        raise InputError(f"{what} must hold {wanted} finite numbers")
    return found


def _whole(k: int) -> int:
    if k < 1:
        raise InputError(f"a cost matrix needs at least one class (got {k})")
    return k
