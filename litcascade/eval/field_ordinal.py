"""Ordinal fields against gold: a confusion of neighbours costs less than one of the ends of the scale."""

from collections.abc import Sequence

import polars as pl

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.fields import Pair, require_once
from litcascade.eval.multiclass import KConfusion, absolute_cost, kconfusion_of, r_d, r_k, r_k_weighted, squared_cost
from litcascade.schemas import FieldSpec, Frozen
from litcascade.schemas.fields import is_nothing

NO_VALUE, INVALID = "(no value)", "(invalid)"


class OrdinalScores(Frozen):
    """An ordinal field against gold.

    `graded`: R_D with the squared distance between the values (Pearson's r of their places), over records with a value on both
    sides; `linear`: the same with the distance itself; `distance`: the mean number of steps apart, 0 or more. `plain`: R_K of the
    whole matrix, an extraction without value or an invalid one being a class of its own, with the weights of the true classes
    where they were given. `n_left_out`: records that are not in `graded`, `linear` and `distance`. Undefined ones say why.
    """

    confusion: KConfusion
    graded: Estimate
    linear: Estimate
    distance: Estimate
    plain: Estimate
    n_left_out: int


def ordinal_scores(spec: FieldSpec, pairs: Sequence[Pair], weights: Sequence[float] | None = None) -> OrdinalScores:
    """Score an ordinal field; `weights` are the costs of missing each true value, in the order of `spec.values`.

    Records whose gold says nothing are left out of all figures but `n_left_out`. A field of another kind, a value that is not on
    the scale, or a record that stands twice is an `InputError`.
    """
    if spec.kind != "ordinal":
        raise InputError(f"field '{spec.name}' is {spec.kind}; only ordinal fields have values in an order")
    require_once(spec, pairs)
    told = [pair for pair in pairs if not is_nothing(spec, pair.gold)]
    both = [pair for pair in told if not pair.invalid and not is_nothing(spec, pair.value)]
    confusion = _matrix(spec, told)
    square = _matrix(spec, both, extra=False)
    k = len(spec.values)
    place = {value: number for number, value in enumerate(spec.values)}
    steps = sum(abs(place[str(pair.gold)] - place[str(pair.value)]) for pair in both)
    return OrdinalScores(
        confusion=confusion,
        graded=r_d(square, squared_cost(k), weights),
        linear=r_d(square, absolute_cost(k), weights),
        distance=ratio("mean_distance", steps, len(both), "no record has a value on both sides", len(both)),
        plain=r_k_weighted(confusion, weights) if weights is not None else r_k(confusion),
        n_left_out=len(pairs) - len(both),
    )


def _matrix(spec: FieldSpec, pairs: Sequence[Pair], *, extra: bool = True) -> KConfusion:
    said = [
        INVALID if pair.invalid else NO_VALUE if is_nothing(spec, pair.value) else str(pair.value)
        for pair in pairs
    ]  # fmt: skip
    columns = {"record_id": [pair.record_id for pair in pairs], "gold": [str(pair.gold) for pair in pairs], "predicted": said}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    return kconfusion_of(frame, spec.values, (NO_VALUE, INVALID) if extra else ())
