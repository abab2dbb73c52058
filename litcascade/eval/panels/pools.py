"""Who sits in a panel: each reader scored by itself, and the strong and the lenient pool chosen by a declared order."""

from collections.abc import Callable, Mapping, Sequence

from litcascade.errors import InputError
from litcascade.eval.confusion import Confusion
from litcascade.eval.estimate import Estimate
from litcascade.eval.metrics.f import f_beta
from litcascade.eval.metrics.precision import precision
from litcascade.eval.metrics.recall import recall
from litcascade.eval.panels.votes import Labelled
from litcascade.schemas import Frozen

BY_F2 = "by F2; ties by recall, then precision, then name"
BY_RECALL = "by recall among precision >= {least:g}; ties by precision, then F2, then name"


class ReaderScore(Frozen):
    """One reader on the labelled records, its failed readings counted as include (they go to a person)."""

    reader: str
    confusion: Confusion
    f2: Estimate
    recall: Estimate
    precision: Estimate


class Pools(Frozen):
    """Frozen membership of both pools, best first, the order each was chosen by, and what was tied with the last seat."""

    strong: tuple[str, ...]
    lenient: tuple[str, ...]
    strong_by: str = BY_F2
    lenient_by: str = ""
    tied: tuple[str, ...] = ()


def score_readers(labelled: Labelled) -> tuple[ReaderScore, ...]:
    """Every reader of the votes with its matrix, F2, recall and precision; a split without includes is an `InputError`."""
    require_positives(labelled, "score readers")
    counts = labelled.count(labelled.votes.could.T)
    return tuple(_scored(name, counts.confusion(column)) for column, name in enumerate(labelled.votes.readers))


def require_positives(labelled: Labelled, purpose: str) -> None:
    """Refuse a split without an include by gold: nothing can be chosen on it."""
    if not labelled.positives:
        raise InputError(
            f"the split of {len(labelled.gold)} record(s) to {purpose} on has no include by gold; label more records"
        )


def _scored(name: str, c: Confusion) -> ReaderScore:
    return ReaderScore(reader=name, confusion=c, f2=f_beta(c, 2.0), recall=recall(c), precision=precision(c))


def top(figures: Mapping[str, Sequence[float | None]], size: int, what: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The `size` names with the highest figures, compared one after the other, then by name; and who tied with the last.

    A name whose first figure is undefined cannot be chosen. Fewer names than `size` is an `InputError`.
    """
    if size < 1:
        raise InputError(f"the {what} needs at least 1 reader (got {size})")
    able = {name: tuple(-1.0 if x is None else x for x in row) for name, row in figures.items() if row[0] is not None}
    if len(able) < size:
        undefined = len(figures) - len(able)
        note = f", and {undefined} more whose figure is undefined" if undefined else ""
        raise InputError(f"a {what} of {size} needs {size} readers; there are {len(able)} to choose from{note}")
    order = sorted(able, key=lambda name: (*(-x for x in able[name]), name))
    last = able[order[size - 1]]
    return tuple(order[:size]), tuple(name for name in order[size:] if able[name] == last)


def strong_pool(scores: Sequence[ReaderScore], size: int = 5) -> tuple[str, ...]:
    """The `size` readers with the highest F2, best first."""
    return top(_figures(scores, lambda s: (s.f2, s.recall, s.precision)), size, "strong pool")[0]


def lenient_pool(
    scores: Sequence[ReaderScore], size: int = 10, least_precision: float = 0.2, without: Sequence[str] = ()
) -> tuple[str, ...]:
    """The `size` readers with the highest recall among those of at least this precision that are not in `without`."""
    return _lenient(scores, size, least_precision, without)[0]


def choose_pools(labelled: Labelled, strong: int = 5, lenient: int = 10, least_precision: float = 0.2) -> Pools:
    """Both pools of SciLitBench's combined rule, chosen on this split. A pool larger than the readers is an `InputError`."""
    scores = score_readers(labelled)
    first, tied = top(_figures(scores, lambda s: (s.f2, s.recall, s.precision)), strong, "strong pool")
    second, also = _lenient(scores, lenient, least_precision, first)
    return Pools(
        strong=first, lenient=second, lenient_by=BY_RECALL.format(least=least_precision), tied=tuple(dict.fromkeys(tied + also))
    )


def _lenient(
    scores: Sequence[ReaderScore], size: int, least: float, without: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    able = [s for s in scores if s.reader not in without and s.precision.value is not None and s.precision.value >= least]
    what = f"lenient pool (precision >= {least:g}, not in the strong pool)"
    return top(_figures(able, lambda s: (s.recall, s.precision, s.f2)), size, what)


def _figures(
    scores: Sequence[ReaderScore], order: Callable[[ReaderScore], tuple[Estimate, ...]]
) -> dict[str, tuple[float | None, ...]]:
    return {s.reader: tuple(figure.value for figure in order(s)) for s in scores}
