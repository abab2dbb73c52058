"""What the check of quotes is worth: how often values are right, by what their quotes were found to be worth."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from litcascade.eval.field_rows import compare_rows
from litcascade.eval.fields import FieldCounts, Outcome, Pair, outcome_of
from litcascade.schemas import FieldSpec
from litcascade.schemas.fields import SameText

SUPPORTED = "supported"
_GIVEN = ("correct", "wrong", "spurious")


def counts_by_support(spec: FieldSpec, pairs: Sequence[Pair], same_text: SameText) -> dict[str, FieldCounts]:
    """How the values that were extracted came out, by their support; values without one are left out.

    A value is correct, wrong, or spurious (gold has none); `precision` of the counts is the share that is right. A group counts
    by cell, its rows aligned with gold's.
    """
    found: dict[str, Counter[Outcome]] = {}
    for pair in pairs:
        told = _cells(spec, pair, same_text) if spec.kind == "group" else _value(spec, pair, same_text)
        for support, outcome in told:
            if outcome in _GIVEN:
                found.setdefault(support, Counter())[outcome] += 1
    return {support: FieldCounts(**{str(name): n for name, n in counts.items()}) for support, counts in found.items()}


def added(counts: Iterable[FieldCounts]) -> FieldCounts:
    """The sum of some counts."""
    kept = list(counts)
    return FieldCounts(**{name: sum(getattr(one, name) for one in kept) for name in FieldCounts.model_fields})


def _value(spec: FieldSpec, pair: Pair, same_text: SameText) -> Iterator[tuple[str, Outcome]]:
    if pair.support is not None:
        yield pair.support, outcome_of(spec, pair, same_text)


def _cells(spec: FieldSpec, pair: Pair, same_text: SameText) -> Iterator[tuple[str, Outcome]]:
    if pair.support is None or pair.invalid:
        return
    doubts = {(row, name): status for row, name, status in pair.doubts}
    found = compare_rows(spec, pair.gold or [], pair.value or [], frozenset(pair.wrong_cells), same_text)
    for cell in found.cells:
        if cell.row is not None:
            yield doubts.get((cell.row, cell.field), SUPPORTED), cell.outcome
