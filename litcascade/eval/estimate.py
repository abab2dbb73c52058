"""A metric's value, or why it has none."""

from litcascade.schemas import Frozen


class Estimate(Frozen):
    """One number with what it rests on.

    `value` None means undefined, and `note` says why; it is never 0 instead. `n` is how many records it rests on.
    """

    metric: str
    value: float | None
    n: int
    low: float | None = None
    high: float | None = None
    note: str | None = None


def ratio(metric: str, part: float, whole: float, empty: str, n: int) -> Estimate:
    """part / whole, or undefined with the reason `empty` where `whole` is zero."""
    if whole == 0:
        return Estimate(metric=metric, value=None, n=n, note=empty)
    return Estimate(metric=metric, value=part / whole, n=n)
