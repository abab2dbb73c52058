"""Rows of a group against gold: which row is which, by optimal matching on the key, and how every cell came out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from litcascade.schemas import FieldSpec
from litcascade.schemas.fields import SameText, is_nothing, same_value

Row = Mapping[str, Any]
Outcome = Literal["correct", "missing", "spurious", "wrong", "invalid", "both_empty"]
LEAST_KEY = 0.5  # of the key's sub-fields must be the same for two rows to be taken for one


@dataclass(frozen=True)
class Cell:
    """One cell that was compared: sub-field, outcome, whether gold has a value there, and its row in the extraction (from 0)."""

    field: str
    outcome: Outcome
    on_gold: bool
    row: int | None = None


@dataclass(frozen=True)
class Aligned:
    """The rows of one record: pairs (place in gold, place in the extraction), None on the side that lacks the row."""

    pairs: tuple[tuple[int | None, int | None], ...]
    cells: tuple[Cell, ...]
    rows_right: int


def align_rows(
    spec: FieldSpec,
    gold: Sequence[Row],
    found: Sequence[Row],
    same_text: SameText | None = None,
    *,
    least_key: float = LEAST_KEY,
) -> list[tuple[int | None, int | None]]:
    """Pairs (gold row, extracted row) in gold's order, then the extracted rows that gold lacks; None where there is no partner.

    Of all one-to-one pairings the one with the most key sub-fields the same is taken, and among those the one with the most
    other sub-fields the same (linear assignment). Two rows are one only where at least `least_key` of the key sub-fields agree,
    those that are nothing on both sides left out, and at least one of them does. Nothing agrees with nothing only in a tie.
    """
    weights = np.zeros((len(gold), len(found)))
    keys = spec.keys
    others = [field for field in spec.fields if field not in keys]
    for i, mine in enumerate(gold):
        for j, theirs in enumerate(found):
            weights[i, j] = _likeness(keys, others, mine, theirs, same_text, least_key)
    partner: dict[int, int] = {}
    if weights.size:
        from scipy.optimize import linear_sum_assignment

        places = zip(*linear_sum_assignment(-weights), strict=True)
        partner = {int(i): int(j) for i, j in places if weights[i, j] > 0}
    rest = [j for j in range(len(found)) if j not in set(partner.values())]
    return [*((i, partner.get(i)) for i in range(len(gold))), *((None, j) for j in rest)]


def _likeness(
    keys: Sequence[FieldSpec],
    others: Sequence[FieldSpec],
    mine: Row,
    theirs: Row,
    same_text: SameText | None,
    least_key: float,
) -> float:
    """0 where two rows are not one; else the share of the key that agrees, then of the other cells, in whole steps."""
    told = [field for field in keys if not (_nothing(field, mine) and _nothing(field, theirs))]
    agree = sum(same_value(field, mine.get(field.name), theirs.get(field.name), same_text) for field in told)
    if told and (agree == 0 or agree < least_key * len(told)):
        return 0.0
    same = sum(same_value(field, mine.get(field.name), theirs.get(field.name), same_text) for field in others)
    blank, step = len(keys) - len(told), len(keys) + len(others) + 1
    return 1.0 + agree * step**2 + blank * step + same


def _nothing(field: FieldSpec, row: Row) -> bool:
    return is_nothing(field, row.get(field.name))


def compare_rows(
    spec: FieldSpec,
    gold: Sequence[Row],
    found: Sequence[Row],
    wrong: frozenset[tuple[int, str]] = frozenset(),
    same_text: SameText | None = None,
    *,
    least_key: float = LEAST_KEY,
) -> Aligned:
    """Align the rows of one record and compare them cell by cell; `wrong` are cells (row from 0, sub-field) that were errors.

    A row that only gold has misses each of its values; one that only the extraction has adds each of its own. Cells that are
    nothing on both sides count as both empty in aligned rows alone.
    """
    pairs = align_rows(spec, gold, found, same_text, least_key=least_key)
    cells: list[Cell] = []
    right = 0
    for i, j in pairs:
        mine = gold[i] if i is not None else {}
        theirs = found[j] if j is not None else {}
        told = [
            Cell(
                field.name,
                _outcome(field, mine.get(field.name), theirs.get(field.name), (j, field.name) in wrong, same_text),
                not is_nothing(field, mine.get(field.name)),
                j,
            )
            for field in spec.fields
        ]
        whole = i is not None and j is not None
        right += whole and all(cell.outcome in ("correct", "both_empty") for cell in told)
        cells += told if whole else [cell for cell in told if cell.outcome != "both_empty"]
    return Aligned(tuple(pairs), tuple(cells), right)


def _outcome(spec: FieldSpec, gold: Any, value: Any, wrong: bool, same_text: SameText | None) -> Outcome:
    if wrong:
        return "invalid"
    told, found = not is_nothing(spec, gold), not is_nothing(spec, value)
    if told and found:
        return "correct" if same_value(spec, gold, value, same_text) else "wrong"
    return "missing" if told else "spurious" if found else "both_empty"
