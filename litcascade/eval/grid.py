"""Many classifiers, many weights, many subsamples at once: counts by a matrix product, WMCC in closed form."""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from litcascade.errors import InputError
from litcascade.eval.metrics.wmcc import wmcc_array

Floats = npt.NDArray[np.float64]
CHUNK = 128


def wmcc_grid(
    found: npt.NDArray[np.bool_],
    gold: npt.NDArray[np.bool_],
    weights: npt.ArrayLike,
    rng: np.random.Generator,
    *,
    size: int,
    repeats: int,
) -> Iterator[npt.NDArray[np.float32]]:
    """WMCC of C classifiers at W weights on subsamples without replacement, in chunks of subsamples.

    `found` is C x N (positive verdicts), `gold` has N. Each chunk is C x W x (up to 128 subsamples), NaN where undefined.
    The counts of a subsample are one row of a product of 0/1 matrices, so the cost does not grow with W.
    """
    if found.ndim != 2 or found.shape[1] != len(gold):
        raise InputError("found must have a row a classifier and a column a record, gold a label a record")
    if not 0 < size <= len(gold):
        raise InputError(f"a subsample of {size} cannot come from {len(gold)} records")
    w = np.asarray(weights, dtype=float)[None, :, None]
    votes = np.stack([found & gold, found & ~gold]).reshape(-1, len(gold)).astype(np.float32)
    labels = gold.astype(np.float32)
    for start in range(0, repeats, CHUNK):
        members = _members(len(gold), size, min(CHUNK, repeats - start), rng)
        counts = (votes @ members).reshape(2, len(found), -1).astype(float)
        positives = (labels @ members).astype(float)
        tp, fp = counts[0][:, None, :], counts[1][:, None, :]
        yes, no = positives[None, None, :], size - positives[None, None, :]
        yield wmcc_array(tp, fp, yes - tp, no - fp, w).astype(np.float32)


def _members(records: int, size: int, repeats: int, rng: np.random.Generator) -> npt.NDArray[np.float32]:
    """A 0/1 matrix records x repeats with `size` ones a column."""
    members = np.zeros((records, repeats), dtype=np.float32)
    for column in range(repeats):
        members[rng.choice(records, size, replace=False, shuffle=False), column] = 1.0
    return members
