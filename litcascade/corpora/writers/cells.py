"""The columns that tables share (CSV, TSV, Excel, Parquet, JSON Lines): all plain fields, states and imported labels."""

from litcascade.corpora.table import join_authors
from litcascade.corpora.writers.base import LABEL_COLUMNS, TEXTS, About, Row

Cell = str | int | None
PLAIN = (*TEXTS[:3], "authors", "year", *TEXTS[3:])


def columns(about: About) -> list[str]:
    """The header: plain fields, a column a stage for its state, and one for each label that was imported."""
    return [*PLAIN, *about.stages, *LABEL_COLUMNS.values()]


def cells(row: Row, about: About) -> dict[str, Cell]:
    """A row of the table by column; authors in one cell, parted by `; `; what is missing is None."""
    record = row.record
    texts = {name: getattr(record, name) for name in TEXTS}
    plain = {**texts, "authors": join_authors(record.authors) or None, "year": record.year}
    states = {stage: row.states.get(stage) for stage in about.stages}
    labels = {column: row.record.labels.get(stage) for stage, column in LABEL_COLUMNS.items()}
    return {**plain, **states, **labels}
