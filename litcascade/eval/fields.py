"""Extraction: each field against gold. An invalid field scores 0; one that gold does not cover is not scored."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import polars as pl
from pydantic import Field

from litcascade.errors import InputError
from litcascade.eval.estimate import Estimate, ratio
from litcascade.eval.field_rows import Cell, Outcome, compare_rows
from litcascade.schemas import FieldSpec, Frozen
from litcascade.schemas.fields import SameText, is_nothing, same_number, same_value

__all__ = [
    "EXACT",
    "FieldCounts",
    "LabelScore",
    "MultilabelScores",
    "Outcome",
    "Pair",
    "SameText",
    "Tolerance",
    "WholeRecords",
    "cells_share",
    "count_field",
    "error_class",
    "jaccard",
    "label_set",
    "multilabel_scores",
    "outcome_of",
    "require_once",
    "right_of",
    "same_number",
    "score_field",
    "whole_records",
]
ErrorClass = Literal["omission", "fabrication", "wrong value", "invalid"]
_CLASSES: dict[Outcome, ErrorClass] = {
    "missing": "omission", "spurious": "fabrication", "wrong": "wrong value", "invalid": "invalid",
}  # fmt: skip


class Pair(Frozen):
    """Gold and the extracted value of one field of one record; `invalid` where the extraction was an error.

    `wrong_cells` are the cells of a group that were errors: (row of the value from 0, sub-field). `support` says what the
    quote is worth for the value, None where none was looked up; of a group `doubts` hold the cells that it does not hold up, as
    (row, sub-field, status), and `support` is None where no cell was looked at.
    """

    record_id: str
    gold: Any
    value: Any = None
    invalid: bool = False
    wrong_cells: tuple[tuple[int, str], ...] = ()
    support: str | None = None
    doubts: tuple[tuple[int, str, str], ...] = ()


class Tolerance(Frozen):
    """How far two numbers may lie apart, and the factor that turns the extracted unit into gold's; see `same_number`."""

    relative: float = 0.0
    absolute: float = 0.0
    factor: float = 1.0


EXACT = Tolerance()


class FieldCounts(Frozen):
    """How the pairs of one field came out; they sum to `n`.

    correct: both sides have a value, and it is the same. wrong: both have one, and they differ. missing: only gold has
    one. spurious: only the extraction has one. both_empty: neither has. invalid: the extraction was an error;
    `invalid_on_gold` counts those of them where gold has a value.
    """

    correct: int = Field(default=0, ge=0)
    missing: int = Field(default=0, ge=0)
    spurious: int = Field(default=0, ge=0)
    wrong: int = Field(default=0, ge=0)
    invalid: int = Field(default=0, ge=0)
    both_empty: int = Field(default=0, ge=0)
    invalid_on_gold: int = Field(default=0, ge=0)

    @property
    def n(self) -> int:
        """How many pairs were counted."""
        return self.correct + self.missing + self.spurious + self.wrong + self.invalid + self.both_empty

    @property
    def accuracy(self) -> Estimate:
        """(correct + both empty) / n, in [0, 1]; an invalid field is not right. Undefined without pairs."""
        return ratio("accuracy", self.correct + self.both_empty, self.n, "no gold for this field", self.n)

    @property
    def recall(self) -> Estimate:
        """Correct / gold values, in [0, 1]; an invalid field misses its gold value. Undefined where gold has no value."""
        return ratio("recall", self.correct, self._gold, "gold has no value for this field", self._gold)

    @property
    def precision(self) -> Estimate:
        """Correct / usable extracted values, in [0, 1]; invalid ones are not usable. Undefined where there is none."""
        whole = self.correct + self.wrong + self.spurious
        return ratio("precision", self.correct, whole, "no usable value was extracted for this field", whole)

    @property
    def omission(self) -> Estimate:
        """Gold values for which nothing was extracted / gold values, in [0, 1]. Undefined where gold has no value."""
        return ratio("omission", self.missing, self._gold, "gold has no value for this field", self._gold)

    @property
    def wrong_value(self) -> Estimate:
        """Gold values for which another value was extracted / gold values, in [0, 1]. Undefined where gold has no value."""
        return ratio("wrong_value", self.wrong, self._gold, "gold has no value for this field", self._gold)

    @property
    def fabrication(self) -> Estimate:
        """Values extracted where gold has none / places where gold has none, in [0, 1]. Undefined where there is none."""
        blank = self.n - self._gold
        return ratio("fabrication", self.spurious, blank, "gold has a value everywhere for this field", blank)

    @property
    def _gold(self) -> int:
        return self.correct + self.wrong + self.missing + self.invalid_on_gold


class LabelScore(Frozen):
    """One label over all records; `n` of each estimate is its denominator."""

    label: str
    precision: Estimate
    recall: Estimate
    jaccard: Estimate


class MultilabelScores(Frozen):
    """A multi-label field against gold; records with both sides empty score 1 in the mean and are counted here."""

    mean_jaccard: Estimate
    micro_jaccard: Estimate
    labels: tuple[LabelScore, ...]
    n_both_empty: int
    n_invalid: int


class WholeRecords(Frozen):
    """The share of records with every field right, and how many records could not be told (a field was not scored)."""

    share: Estimate
    n_unscored: int


def jaccard(predicted: Iterable[str], gold: Iterable[str], *, fold: bool = False) -> float:
    """|P and G| / |P or G|, in [0, 1]; 1 where both are empty. With `fold`, labels are trimmed and case is ignored."""
    mine, theirs = label_set(predicted, fold=fold), label_set(gold, fold=fold)
    return len(mine & theirs) / len(mine | theirs) if mine | theirs else 1.0


def label_set(labels: Iterable[str], *, fold: bool = False) -> set[str]:
    """The labels without repeats; with `fold`, blanks at both ends are cut and case is ignored."""
    return {label.strip().casefold() for label in labels} if fold else set(labels)


def error_class(outcome: Outcome) -> ErrorClass | None:
    """The kind of error that an outcome is; None where it is none."""
    return _CLASSES.get(outcome)


def score_field(spec: FieldSpec, pairs: list[Pair], same_text: SameText) -> Estimate:
    """The mean over records: Jaccard for multi-label fields, correct cells / cells with a value for groups, else right values.

    What counts as the same is the field's own rule; `same_text` judges open texts. Undefined without gold. The note counts
    invalid fields, and the records of a multi-label field or group where both sides are empty.
    """
    several = spec.kind in ("multi", "group")
    metric = {"multi": "jaccard", "group": "cells_right"}.get(spec.kind, "accuracy")
    if not pairs:
        return Estimate(metric=metric, value=None, n=0, note="no gold for this field among the extracted records")
    scores = [0.0 if pair.invalid else _score(spec, pair, same_text) for pair in pairs]
    empty = several and sum(not pair.gold and not pair.value and not pair.invalid for pair in pairs)
    note = _remarks(sum(pair.invalid for pair in pairs), int(empty))
    return Estimate(metric=metric, value=sum(scores) / len(scores), n=len(pairs), note=note)


def outcome_of(spec: FieldSpec, pair: Pair, same_text: SameText, *, tolerance: Tolerance = EXACT, fold: bool = False) -> Outcome:
    """How one pair came out. No value means null, "not reported", or an empty list.

    Values are compared by the field's own rule, open texts by `same_text`, label lists as sets, groups by their aligned rows
    (correct where every row and cell is). A `tolerance` other than exact goes before the field's; with `fold`, listed values
    are compared trimmed and without case.
    """
    if pair.invalid:
        return "invalid"
    told, found = not _empty(spec, pair.gold), not _empty(spec, pair.value)
    if not (told and found):
        return "missing" if told else "spurious" if found else "both_empty"
    return "correct" if _same(spec, pair, same_text, tolerance, fold) else "wrong"


def _same(spec: FieldSpec, pair: Pair, same_text: SameText, tolerance: Tolerance, fold: bool) -> bool:
    match spec.kind:
        case "number":
            return _same_number(spec, pair, tolerance)
        case "closed" | "ordinal" if fold:
            return label_set([str(pair.gold)], fold=True) == label_set([str(pair.value)], fold=True)
        case "multi":
            fold = fold or spec.rule.rule == "normalised"
            return _labels(spec, pair, pair.gold, fold) == _labels(spec, pair, pair.value, fold)
        case "group":
            rows = compare_rows(spec, pair.gold, pair.value, frozenset(pair.wrong_cells), same_text)
            return rows.rows_right == len(rows.pairs)
        case _:
            return same_value(spec, pair.gold, pair.value, same_text)


def count_field(
    spec: FieldSpec, pairs: Sequence[Pair], same_text: SameText, *, tolerance: Tolerance = EXACT, fold: bool = False
) -> FieldCounts:
    """Count the outcomes of one field over its records; a record that stands twice is an `InputError`."""
    require_once(spec, pairs)
    found = Counter(outcome_of(spec, pair, same_text, tolerance=tolerance, fold=fold) for pair in pairs)
    on_gold = sum(pair.invalid and not _empty(spec, pair.gold) for pair in pairs)
    return FieldCounts(**{str(outcome): count for outcome, count in found.items()}, invalid_on_gold=on_gold)


def right_of(
    spec: FieldSpec, pairs: Sequence[Pair], same_text: SameText, *, tolerance: Tolerance = EXACT, fold: bool = False
) -> pl.DataFrame:
    """Whether each record's field is right (correct or both empty): columns `record_id`, `field`, `right`."""
    require_once(spec, pairs)
    right = [outcome_of(spec, pair, same_text, tolerance=tolerance, fold=fold) in ("correct", "both_empty") for pair in pairs]
    columns = {"record_id": [pair.record_id for pair in pairs], "field": [spec.name] * len(pairs), "right": right}
    return pl.DataFrame(columns, schema={"record_id": pl.String, "field": pl.String, "right": pl.Boolean})


def whole_records(frame: pl.DataFrame, fields: Sequence[str]) -> WholeRecords:
    """Records with all of `fields` right / records with all of them scored, in [0, 1].

    The frame has columns `record_id`, `field`, `right` (true, false, or null: not scored), as `right_of` gives them for
    each field. A record with a field that has no row or is null is counted apart. Undefined where no record has every
    field scored. A field that is not among `fields`, or that a record has twice, is an `InputError`.
    """
    absent = [name for name in ("record_id", "field", "right") if name not in frame.columns]
    if absent or not fields:
        raise InputError(f"the table has no column '{absent[0]}'" if absent else "there is no field to score")
    if frame.height and (frame["right"].dtype not in (pl.Boolean, pl.Null) or frame["record_id"].has_nulls()):
        raise InputError("every row needs a record_id, and in column 'right' true, false or nothing")
    odd = frame.filter(~pl.col("field").is_in([*fields]).fill_null(False))
    if odd.height:
        raise InputError(f"record '{odd['record_id'][0]}' has the field '{odd['field'][0]}', which is not among those to score")
    twice = frame.filter(pl.struct("record_id", "field").is_duplicated())
    if twice.height:
        raise InputError(f"record '{twice['record_id'][0]}' has the field '{twice['field'][0]}' twice")
    right = pl.col("right").cast(pl.Boolean)
    records = frame.group_by("record_id").agg(scored=right.count() == len(set(fields)), whole=right.all())
    scored = records.filter("scored")
    reason = "no record has every field scored" if records.height else "there is no record"
    share = ratio("whole_records", scored.filter("whole").height, scored.height, reason, scored.height)
    return WholeRecords(share=share, n_unscored=records.height - scored.height)


def multilabel_scores(spec: FieldSpec, pairs: Sequence[Pair], *, fold: bool = False) -> MultilabelScores:
    """Score a multi-label field against gold: mean over records, micro (all labels pooled), and by label, each in [0, 1].

    An invalid extraction scores 0 in the mean, and elsewhere misses all of its gold labels. With `fold`, labels are
    compared trimmed and without case. A label that the field does not list is an `InputError`, as is a record that
    stands twice. The mean is undefined without records, the micro score where no label occurs at all.
    """
    require_once(spec, pairs)
    if spec.kind != "multi":
        raise InputError(f"field '{spec.name}' is {spec.kind} and holds no list of labels")
    known = {label.strip().casefold() if fold else label: label for label in spec.values}
    if len(known) < len(spec.values):
        raise InputError(f"field '{spec.name}' lists two labels that differ in case or blanks only")
    both, extra, lost = Counter[str](), Counter[str](), Counter[str]()
    scores = []
    empty = 0
    for pair in pairs:
        theirs = _labels(spec, pair, pair.gold, fold)
        mine = set() if pair.invalid else _labels(spec, pair, pair.value, fold)
        if odd := sorted((mine | theirs) - known.keys()):
            raise InputError(f"record '{pair.record_id}' has the label '{odd[0]}', which field '{spec.name}' does not list")
        scores.append(0.0 if pair.invalid else jaccard(mine, theirs))
        empty += not (mine or theirs or pair.invalid)
        both.update(mine & theirs)
        extra.update(mine - theirs)
        lost.update(theirs - mine)
    invalid = sum(pair.invalid for pair in pairs)
    mean = ratio("mean_jaccard", math.fsum(scores), len(pairs), "no gold for this field", len(pairs))
    totals = (both.total(), extra.total(), lost.total())
    return MultilabelScores(
        mean_jaccard=mean.model_copy(update={"note": mean.note or _remarks(invalid, empty)}),
        micro_jaccard=ratio("micro_jaccard", totals[0], sum(totals), "no label occurs on either side", len(pairs)),
        labels=tuple(_label_score(label, both[key], extra[key], lost[key]) for key, label in known.items()),
        n_both_empty=empty,
        n_invalid=invalid,
    )


def _label_score(label: str, both: int, extra: int, lost: int) -> LabelScore:
    said, true, either = both + extra, both + lost, both + extra + lost
    return LabelScore(
        label=label,
        precision=ratio("precision", both, said, "no extraction has this label", said),
        recall=ratio("recall", both, true, "no record has this label by gold", true),
        jaccard=ratio("jaccard", both, either, "the label occurs on neither side", either),
    )


def _remarks(invalid: int, empty: int) -> str | None:
    remarks = ((invalid, "invalid, scored 0"), (empty, "with both sides empty, scored 1"))
    return "; ".join(f"{count} {remark}" for count, remark in remarks if count) or None


def require_once(spec: FieldSpec, pairs: Sequence[Pair]) -> None:
    """Refuse a record that stands twice under a field."""
    record_id, times = next(iter(Counter(pair.record_id for pair in pairs).most_common(1)), ("", 0))
    if times > 1:
        raise InputError(f"record '{record_id}' stands {times} times under field '{spec.name}'")


def _empty(spec: FieldSpec, value: Any) -> bool:
    return is_nothing(spec, value) or (spec.kind in ("multi", "group") and not value)


def _labels(spec: FieldSpec, pair: Pair, value: Any, fold: bool) -> set[str]:
    """The labels of one side of a pair; a bare text, which would fall apart into letters, is refused."""
    if _empty(spec, value):
        return set()
    if not isinstance(value, list | tuple | set | frozenset) or not all(isinstance(label, str) for label in value):
        raise InputError(f"record '{pair.record_id}' has {value!r} under field '{spec.name}', which is no list of labels")
    return label_set(value, fold=fold)


def _same_number(spec: FieldSpec, pair: Pair, tolerance: Tolerance) -> bool:
    try:
        if tolerance == EXACT:
            return same_value(spec, pair.gold, pair.value)
        return same_number(pair.gold, pair.value, **tolerance.model_dump())
    except InputError as error:
        raise InputError(f"record '{pair.record_id}', field '{spec.name}': {error}") from error


def _score(spec: FieldSpec, pair: Pair, same_text: SameText) -> float:
    gold, value = (None if _empty(spec, side) else side for side in (pair.gold, pair.value))
    if spec.kind == "multi":
        return jaccard(value or [], gold or [], fold=spec.rule.rule == "normalised")
    if spec.kind == "group":
        return cells_share(compare_rows(spec, gold or [], value or [], frozenset(pair.wrong_cells), same_text).cells)
    if gold is None or value is None:
        return float(gold is None and value is None)
    return float(_same(spec, pair, same_text, EXACT, fold=False))


def cells_share(cells: Sequence[Cell]) -> float:
    """Correct cells / cells with a value on either side (or an error), in [0, 1]; 1 where there is none."""
    told = [cell for cell in cells if cell.outcome != "both_empty"]
    return sum(cell.outcome == "correct" for cell in told) / len(told) if told else 1.0
