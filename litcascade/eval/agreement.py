"""How far two readings of the same records agree: two runs of a model, two people, one person twice."""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.intervals import wilson
from litcascade.eval.metrics.kappa import kappa_of
from litcascade.eval.metrics.pabak import pabak_of
from litcascade.schemas import Frozen

SCREENING_LABELS = ("include", "exclude")
NO_PAIR = "no record was labelled twice"
SHOWN = 5


class Agreement(Frozen):
    """All figures of agreement for one pair of readings; positive and negative are by the first label."""

    percent: Estimate
    kappa: Estimate
    pabak: Estimate
    positive: Estimate
    negative: Estimate


class RaterPair(Frozen):
    """Two people, over the records that both labelled; `only_one` counts the records that just one of them labelled."""

    first: str
    second: str
    only_one: int
    agreement: Agreement


class Flips(Frozen):
    """The share of verdicts that differ between two runs, and the ids of those records."""

    share: Estimate
    ids: tuple[str, ...]


class Stratum(Frozen):
    """One stratum of a sample: its size, how many were drawn, and a note where it has fewer than its even share."""

    values: tuple[str, ...]
    size: int
    drawn: int
    note: str | None = None


class Sample(NamedTuple):
    """The rows drawn, in the order of their ids, and how each stratum fared."""

    frame: pl.DataFrame
    strata: tuple[Stratum, ...]


def pair_up(
    first: pl.DataFrame,
    second: pl.DataFrame,
    labels: Sequence[str] | None = None,
    column: str = "label",
    key: str = "record_id",
) -> pl.DataFrame:
    """Join two readings by `key`: columns `key`, `first`, `second`, in the order of the ids.

    Repeated ids, empty cells, labels outside `labels`, and ids that stand in one table only are an `InputError`.
    """
    for frame in (first, second):
        _check(frame, [column], key)
        _known(frame, labels, column)
    if first.height and second.height and (first[key].dtype != second[key].dtype or first[column].dtype != second[column].dtype):
        raise InputError(f"the columns '{key}' and '{column}' hold different types in the two tables")
    for one, other, place in ((first, second, "first"), (second, first, "second")):
        lone = set(one[key].to_list()) - set(other[key].to_list())
        if lone:
            raise InputError(f"{len(lone)} id(s) stand only in the {place} table: {_listed(lone)}")
    if not first.height:
        return pl.DataFrame(schema={key: pl.String, "first": pl.String, "second": pl.String})
    left, right = first.select(key, first=pl.col(column)), second.select(key, second=pl.col(column))
    return left.join(right, on=key, validate="1:1").sort(key)


def flips(first: pl.DataFrame, second: pl.DataFrame, column: str = "verdict", alpha: float = 0.05) -> Flips:
    """The share of records whose verdict differs between two identical runs, in [0, 1], with Wilson's interval.

    The runs are joined by `record_id`; an id that only one run has is an `InputError`. Undefined without records.
    """
    pairs = pair_up(first, second, column=column)
    differ = pairs.filter(pl.col("first") != pl.col("second"))
    share = _share("flip_share", differ.height, pairs.height, alpha)
    return Flips(share=share, ids=tuple(str(name) for name in differ["record_id"]))


def percent_agreement(pairs: pl.DataFrame, alpha: float = 0.05) -> Estimate:
    """The share of records with the same label twice, in [0, 1], with Wilson's interval; undefined without records."""
    return _share("percent_agreement", _same(pairs), pairs.height, alpha)


def cohens_kappa(pairs: pl.DataFrame) -> Estimate:
    """(p_o - p_e) / (1 - p_e), in [-1, 1] (Cohen 1960); undefined where the expected agreement p_e is 1.

    For two fallible raters only. Never report it as accuracy against gold: it moves with the shares of the labels.
    """
    one, two = (dict(pairs[side].value_counts().iter_rows()) for side in ("first", "second"))
    chance = sum(count * two.get(label, 0) for label, count in one.items())
    return kappa_of(_same(pairs), chance, pairs.height).model_copy(update={"metric": "cohens_kappa"})


def pabak(pairs: pl.DataFrame, labels: Sequence[str] = SCREENING_LABELS) -> Estimate:
    """(K p_o - 1) / (K - 1) for K possible labels, in [-1/(K-1), 1]; with two labels 2 p_o - 1 (Byrt et al. 1993).

    Undefined without records.
    """
    k = len(set(labels))
    if k < 2:
        raise InputError("agreement needs at least two possible labels")
    return pabak_of(_same(pairs), pairs.height, k)


def positive_agreement(pairs: pl.DataFrame, label: str = "include") -> Estimate:
    """2a / (2a + b + c): agreement on `label`, in [0, 1] (Cicchetti, Feinstein 1990); undefined where nobody used it."""
    a, odd, _ = _cells(pairs, label)
    return ratio("positive_agreement", 2 * a, 2 * a + odd, f"nobody used the label '{label}'", pairs.height)


def negative_agreement(pairs: pl.DataFrame, label: str = "include") -> Estimate:
    """2d / (2d + b + c): agreement that it is not `label`, in [0, 1]; undefined where all labels are `label`."""
    _, odd, d = _cells(pairs, label)
    return ratio("negative_agreement", 2 * d, 2 * d + odd, f"nobody used a label other than '{label}'", pairs.height)


def agreement(pairs: pl.DataFrame, labels: Sequence[str] = SCREENING_LABELS, alpha: float = 0.05) -> Agreement:
    """All figures of a frame from `pair_up`; the first of `labels` is the positive one."""
    return Agreement(
        percent=percent_agreement(pairs, alpha),
        kappa=cohens_kappa(pairs),
        pabak=pabak(pairs, labels),
        positive=positive_agreement(pairs, labels[0]),
        negative=negative_agreement(pairs, labels[0]),
    )


def inter_rater(table: pl.DataFrame, labels: Sequence[str] = SCREENING_LABELS) -> tuple[RaterPair, ...]:
    """Agreement of each two people, from a table with `record_id`, `rater`, `label`; one row a record and person.

    People need not have labelled the same records: each pair rests on those that both labelled.
    """
    _check(table, ["rater", "label"], None)
    if table.select("record_id", "rater").is_duplicated().any():
        raise InputError("a person labelled a record twice in the table; use intra_rater for a re-annotation")
    by_rater = {str(name): table.filter(pl.col("rater") == name) for name in table["rater"].unique().sort()}
    if len(by_rater) < 2:
        raise InputError(f"agreement between people needs two of them (the table has {len(by_rater)})")
    rows = []
    for (one, left), (two, right) in combinations(by_rater.items(), 2):
        pairs = pair_up(left.join(right, on="record_id", how="semi"), right.join(left, on="record_id", how="semi"), labels=labels)
        lone = left.height + right.height - 2 * pairs.height
        rows.append(RaterPair(first=one, second=two, only_one=lone, agreement=agreement(pairs, labels)))
    return tuple(rows)


def intra_rater(first: pl.DataFrame, again: pl.DataFrame, labels: Sequence[str] = SCREENING_LABELS) -> Agreement:
    """Agreement of one person with themselves: `again` re-labels some of the records of `first`.

    An id of `again` that `first` does not have is an `InputError`. All figures are undefined where nothing was re-labelled.
    """
    _check(first, ["label"], "record_id")
    ids = again["record_id"].to_list() if "record_id" in again.columns else []
    return agreement(pair_up(first.filter(pl.col("record_id").is_in(ids)), again, labels=labels), labels)


def stratified_sample(
    frame: pl.DataFrame, strata: str | Sequence[str], n: int, rng: np.random.Generator, key: str = "record_id"
) -> Sample:
    """Draw n rows without replacement, as equally over the strata as their sizes allow; what is left over falls by lot.

    `strata` names one or more columns. The draw does not depend on the order of the rows. A stratum with fewer rows
    than its even share is taken whole and says so; the others then give more. More than all rows is an `InputError`.
    """
    names = [strata] if isinstance(strata, str) else list(strata)
    _check(frame, names, key)
    if not 0 <= n <= frame.height:
        raise InputError(f"{n} rows cannot be drawn from {frame.height}")
    parts = list(frame.sort(key).partition_by(names, as_dict=True, maintain_order=True).items())
    parts.sort(key=lambda part: tuple(map(str, part[0])))
    sizes = np.array([part.height for _, part in parts], dtype=np.int_)
    taken = _even(sizes, n, rng)
    rows = [frame.head(0)]
    told = []
    for (values, part), drawn in zip(parts, taken.tolist(), strict=True):
        rows.append(part[rng.choice(part.height, drawn, replace=False).tolist()])
        share = n // len(parts)
        note = f"too small: {part.height} row(s), {share} wanted" if part.height < share else None
        told.append(Stratum(values=tuple(map(str, values)), size=part.height, drawn=drawn, note=note))
    return Sample(pl.concat(rows).sort(key), tuple(told))


def _even(sizes: NDArray[np.int_], n: int, rng: np.random.Generator) -> NDArray[np.int_]:
    taken = np.zeros_like(sizes)
    while (left := n - int(taken.sum())) > 0:
        open_ = np.flatnonzero(taken < sizes)
        if left < len(open_):
            taken[rng.choice(open_, left, replace=False)] += 1
        else:
            taken[open_] += np.minimum(left // len(open_), sizes[open_] - taken[open_])
    return taken


def _share(metric: str, part: int, n: int, alpha: float) -> Estimate:
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1 (got {alpha:g})")
    if not n:
        return Estimate(metric=metric, value=None, n=0, note=NO_PAIR)
    low, high = wilson(part, n, alpha)
    return Estimate(metric=metric, value=part / n, n=n, low=low, high=high)


def _same(pairs: pl.DataFrame) -> int:
    return int((pairs["first"] == pairs["second"]).sum())


def _cells(pairs: pl.DataFrame, label: str) -> tuple[int, int, int]:
    one, two = pairs["first"] == label, pairs["second"] == label
    return int((one & two).sum()), int((one ^ two).sum()), int((~one & ~two).sum())


def _check(frame: pl.DataFrame, columns: Sequence[str], key: str | None) -> None:
    wanted = [*columns, key or "record_id"]
    for name in wanted:
        if name not in frame.columns:
            raise InputError(f"the table has no column '{name}'")
        if frame[name].null_count() or frame[name].dtype.is_float():
            raise InputError(f"column '{name}' has an empty cell or numbers where a label or id belongs")
    if key is not None and frame[key].is_duplicated().any():
        twice = frame.filter(pl.col(key).is_duplicated())[key].unique().to_list()
        raise InputError(f"{len(twice)} id(s) stand twice in a table: {_listed(twice)}")


def _known(frame: pl.DataFrame, labels: Sequence[str] | None, column: str) -> None:
    odd = set() if labels is None else set(frame[column].unique().to_list()) - set(labels)
    if odd:
        raise InputError(f"unknown label(s) in column '{column}': {_listed(odd)}")


def _listed(names: Sequence[object] | set[object]) -> str:
    known = sorted(map(str, names))
    more = f" and {len(known) - SHOWN} more" if len(known) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in known[:SHOWN]) + more
