"""JSON Lines: an object a line with the columns of the tables; what is missing is null."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from litcascade.corpora.writers.base import WRITERS, About, Cleaner, Row, Written
from litcascade.corpora.writers.cells import cells, columns


@WRITERS.register("jsonl")
def write_jsonl(path: Path, rows: Iterable[Row], about: About) -> Written:
    """Write JSON Lines, one record after the other, in UTF-8."""
    clean = Cleaner()
    return Written(write_objects(path, columns(about), (cells(row, about) for row in clean.rows(rows))), clean.notes())


def write_objects(path: Path, names: Iterable[str], objects: Iterable[Mapping[str, object]]) -> int:
    """Objects with these keys in this order, one a line; returns how many."""
    keys, count = list(names), 0
    with path.open("w", encoding="utf-8", newline="") as out:
        for value in objects:
            out.write(json.dumps({key: value.get(key) for key in keys}, ensure_ascii=False) + "\n")
            count += 1
    return count
