"""Groups against gold: rows aligned by their key, then every sub-field counted over all rows of all records."""

from collections import Counter
from collections.abc import Iterable, Sequence

from pydantic import Field

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.field_rows import LEAST_KEY, Cell, compare_rows
from litcascade.eval.fields import FieldCounts, Pair, cells_share, require_once
from litcascade.schemas import FieldSpec, Frozen
from litcascade.schemas.fields import SameText


class GroupScores(Frozen):
    """A group against gold.

    `rows` counts rows: correct where gold and extraction both have the row (whatever stands in its cells), missing, spurious,
    invalid (of records whose whole group was an error). `rows_right` of the aligned rows are right in every cell. `cells` counts
    by sub-field, a row that is missing or spurious with each of its values. `mean` is the mean over records of correct cells /
    cells with a value on either side, in [0, 1]; both sides without rows score 1. `whole` is the share of records with every
    row and cell right.
    """

    rows: FieldCounts
    rows_right: int = Field(ge=0)
    cells: dict[str, FieldCounts]
    mean: Estimate
    whole: Estimate

    @property
    def all_cells(self) -> FieldCounts:
        """The counts of all sub-fields together."""
        return FieldCounts(**{name: sum(getattr(c, name) for c in self.cells.values()) for name in FieldCounts.model_fields})


def score_groups(
    spec: FieldSpec, pairs: Sequence[Pair], same_text: SameText | None = None, *, least_key: float = LEAST_KEY
) -> GroupScores:
    """Score one group over its records; a field that is no group, or a record that stands twice, is an `InputError`."""
    if spec.kind != "group":
        raise InputError(f"field '{spec.name}' is {spec.kind} and holds no rows")
    require_once(spec, pairs)
    cells: list[Cell] = []
    rows = Counter[str]()
    right, whole, shares = 0, 0, []
    for pair in pairs:
        gold = pair.gold or []
        if pair.invalid:
            rows["invalid"] += len(gold) or 1
            rows["invalid_on_gold"] += len(gold)
            lost = compare_rows(spec, gold, [], same_text=same_text).cells
            cells += [Cell(cell.field, "invalid", on_gold=True) for cell in lost]
            shares.append(0.0)
            continue
        found = compare_rows(spec, gold, pair.value or [], frozenset(pair.wrong_cells), same_text, least_key=least_key)
        rows.update("missing" if j is None else "spurious" if i is None else "correct" for i, j in found.pairs)
        cells += found.cells
        right += found.rows_right
        whole += found.rows_right == len(found.pairs)
        shares.append(cells_share(found.cells))
    mean = ratio("mean_cells_right", sum(shares), len(pairs), "no gold for this field", len(pairs))
    return GroupScores(
        rows=FieldCounts(**rows),
        rows_right=right,
        cells={field.name: _counts(cell for cell in cells if cell.field == field.name) for field in spec.fields},
        mean=mean,
        whole=ratio("whole_groups", whole, len(pairs), "no gold for this field", len(pairs)),
    )


def _counts(cells: Iterable[Cell]) -> FieldCounts:
    kept = list(cells)
    found = Counter(cell.outcome for cell in kept)
    on_gold = sum(cell.outcome == "invalid" and cell.on_gold for cell in kept)
    return FieldCounts(**{str(outcome): count for outcome, count in found.items()}, invalid_on_gold=on_gold)
