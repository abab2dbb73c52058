"""Parquet: the columns of the tables, text as strings, the year as an integer."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from litcascade.corpora.writers.base import WRITERS, About, Cleaner, Row, Written
from litcascade.corpora.writers.cells import cells, columns
from litcascade.corpora.writers.jsonl import write_objects

WHOLE_NUMBERS = frozenset({"year", "label"})


@WRITERS.register("parquet")
def write_parquet(path: Path, rows: Iterable[Row], about: About) -> Written:
    """Write Parquet; memory does not grow with the rows."""
    clean = Cleaner()
    return Written(write_frame(path, columns(about), (cells(row, about) for row in clean.rows(rows))), clean.notes())


def write_frame(path: Path, names: Iterable[str], objects: Iterable[Mapping[str, object]]) -> int:
    """Objects with these keys as a table; returns how many. They pass through a temporary file of JSON Lines beside `path`."""
    import polars as pl

    schema = {name: pl.Int64 if name in WHOLE_NUMBERS else pl.String for name in names}
    with TemporaryDirectory(dir=path.parent, prefix=".writing-") as folder:
        lines = Path(folder) / "rows.jsonl"
        count = write_objects(lines, schema, objects)
        if count:
            pl.scan_ndjson(lines, schema=schema).sink_parquet(path)
        else:
            pl.DataFrame(schema=schema).write_parquet(path)
    return count
