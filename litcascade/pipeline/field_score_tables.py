"""Extraction scores as tables: fields, groups by row and cell, ordinal fields, and what the check of quotes is worth."""

from typing import Any

from litcascade.eval.field_support import added
from litcascade.eval.fields import FieldCounts
from litcascade.pipeline.field_scores import FieldScores
from litcascade.report import Table
from litcascade.stages.extraction_support import SEVERITY

_KINDS = ("correct", "wrong", "missing", "spurious", "invalid", "both_empty")
_HEADS = [kind.replace("_", " ") for kind in _KINDS]


def field_tables(fields: FieldScores) -> list[Table]:
    """The tables of the fields; none where nothing was scored."""
    if not fields.scores:
        return []
    made = [_plain(fields), _groups(fields), _ordinal(fields), _support(fields)]
    return [table for table in made if table.rows]


def _plain(fields: FieldScores) -> Table:
    rows = [[name, e.metric, e.value, e.n, *_counts(fields.counts[name]), e.note] for name, e in fields.scores.items()]
    quotes = ", ".join(f"{count} {what}" for what, count in sorted(fields.quotes.items()))
    notes = [f"values: {quotes}"] if quotes else []
    if fields.whole and fields.whole.share.value is not None:
        notes.append(f"records right in every field: {fields.whole.share.value:.3f} of {fields.whole.share.n}")
    for what, found in (("for a person to look at", fields.to_people), ("brought by a further pass", fields.recovered)):
        if found:
            notes.append(f"{what}: {', '.join(f'{name} {count}' for name, count in found.items())}")
    return Table("Extraction", ["field", "metric", "value", "n", *_HEADS, "note"], rows, notes)


def _groups(fields: FieldScores) -> Table:
    rows: list[list[Any]] = []
    for name, scores in fields.groups.items():
        rows.append([name, "rows", scores.rows.recall.value, scores.rows.precision.value, *_counts(scores.rows)])
        rows += [
            [name, cell, counts.recall.value, counts.precision.value, *_counts(counts)] for cell, counts in scores.cells.items()
        ]
    notes = [
        f"{name}: {scores.rows_right} of {scores.rows.correct} aligned rows are right in every cell; records with every row and "
        f"cell right: {_shown(scores.whole.value)} of {scores.whole.n}"
        for name, scores in fields.groups.items()
    ]
    return Table("Groups, by row and by cell", ["group", "what", "recall", "precision", *_HEADS], rows, notes)


def _ordinal(fields: FieldScores) -> Table:
    rows = [
        [name, estimate.metric, estimate.value, estimate.n, estimate.note]
        for name, scores in fields.ordinal.items()
        for estimate in (scores.graded, scores.linear, scores.distance, scores.plain)
    ]
    return Table("Ordinal fields", ["field", "metric", "value", "n", "note"], rows)


def _support(fields: FieldScores) -> Table:
    """One row a status: how often values with it are right; then all that are supported, and all there are."""
    names = [name for name in SEVERITY if any(name in counts for counts in fields.supported.values())]
    by_status = {name: added(counts[name] for counts in fields.supported.values() if name in counts) for name in names}
    rows = [_share(name, by_status[name]) for name in reversed(names)]
    rows += [_share("all values", added(by_status.values()))] if rows else []
    notes = ["values with gold, a group's by cell; spurious: gold has no value there"]
    return Table("What the check of quotes is worth", ["quote", "values", "right", "wrong", "spurious", "precision"], rows, notes)


def _share(name: str, counts: FieldCounts) -> list[Any]:
    whole = counts.correct + counts.wrong + counts.spurious
    return [name, whole, counts.correct, counts.wrong, counts.spurious, counts.precision.value]


def _counts(counts: FieldCounts) -> list[int]:
    return [getattr(counts, kind) for kind in _KINDS]


def _shown(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"
