"""Parquet: the columns of the tables, text as strings, the year as an integer."""

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from litcascade.corpora.writers.base import WRITERS, About, Cleaner, Row, Written
from litcascade.corpora.writers.cells import cells, columns
from litcascade.corpora.writers.jsonl import write_objects

_BATCH, _ROW_GROUP = 2_000, 10_000  # rows
WHOLE_NUMBERS = frozenset({"year", "label"})


@WRITERS.register("parquet")
def write_parquet(path: Path, rows: Iterable[Row], about: About) -> Written:
    """Write Parquet; memory does not grow with the rows."""
    clean = Cleaner()
    return Written(write_frame(path, columns(about), (cells(row, about) for row in clean.rows(rows))), clean.notes())


def write_frame(path: Path, names: Iterable[str], objects: Iterable[Mapping[str, object]]) -> int:
    """Objects with these keys as a table; returns how many.

    They pass through a temporary file beside `path`: polars asks for its batches from a thread of its own, and what gives the
    objects may be bound to this one.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    schema = {name: pl.Int64() if name in WHOLE_NUMBERS else pl.String() for name in names}
    with TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
        lines = Path(folder) / "rows.jsonl"
        count = write_objects(lines, schema, objects)

        def batches(*_: object) -> Iterator[pl.DataFrame]:
            with lines.open(encoding="utf-8") as held:
                while batch := [json.loads(line) for line in islice(held, _BATCH)]:
                    yield pl.DataFrame(batch, schema=schema)

        register_io_source(batches, schema=schema).sink_parquet(path, row_group_size=_ROW_GROUP)
    return count
