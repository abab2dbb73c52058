"""Records as named values: JSON Lines, JSON arrays (CSL and others), Parquet."""

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from litcascade.corpora.columns import Layout, map_columns
from litcascade.corpora.readers import FILE_READERS, READERS
from litcascade.corpora.receipt import Item, Repair, SetAside
from litcascade.corpora.source import LINE_LIMIT, Source
from litcascade.corpora.table import record_of_cells
from litcascade.errors import InputError
from litcascade.schemas import Record

_BATCH = 2_000
_DECODER = json.JSONDecoder()


@READERS.register("json")
def read_json(source: Source) -> Iterator[Item]:
    """Read JSON Lines or a JSON array of objects, one after the other; what is no such object is set aside."""
    array = source.head().lstrip().startswith("[")
    declared = tuple(sorted(source.columns.items()))
    position = 0
    keys: dict[str, None] = {}
    told = False
    for line, value, raw in _of_array(source) if array else _of_lines(source):
        if not isinstance(value, dict):
            yield SetAside(
                line, str(value) if raw is not None else "is no JSON object", raw or json.dumps(value)[:2000], is_record=True
            )
            continue
        position += 1
        record = _record(value, position, declared)
        told = told or bool(record.title or record.abstract)
        keys |= dict.fromkeys([] if told else [str(key) for key in value])
        yield record
    if position and not told:
        raise InputError(
            f"{source.name}: no object holds titles or abstracts; their keys are: {', '.join(keys)[:200] or 'none'}. "
            "Rename one of them to 'title', or say which it is (--columns title=NAME)"
        )


def _of_lines(source: Source) -> Iterator[tuple[int, Any, str | None]]:
    for number, line in enumerate(source.lines(), start=1):
        if line.strip():
            try:
                yield number, json.loads(line), None
            except (ValueError, RecursionError) as error:
                yield number, f"is not JSON ({str(error)[:80]})", line


def _of_array(source: Source) -> Iterator[tuple[int, Any, str | None]]:
    """The values of the array; where one cannot be read, the rest is set aside: no one knows where the next begins."""
    pieces = source.pieces()
    held, line, closed = next(pieces, "").lstrip()[1:], 1, False
    while not closed:
        stripped = held.lstrip(" \t\n,")
        line += held.count("\n", 0, len(held) - len(stripped))
        held = stripped
        if held.startswith("]"):
            return
        try:
            if not held:
                raise ValueError("the array is never closed")
            value, end = _DECODER.raw_decode(held)
            if end == len(held) and not isinstance(value, dict):
                raise ValueError("may go on")
            yield line, value, None
            line += held.count("\n", 0, end)
            held = held[end:]
        except (ValueError, RecursionError) as error:
            more = next(pieces, None)
            if more is None or len(held) > LINE_LIMIT:
                if held:
                    yield line, f"is not JSON ({str(error)[:80]}); the array was not read further", held
                return
            held += more


@FILE_READERS.register("parquet")
def read_parquet(path: Path, columns: Mapping[str, str]) -> Iterator[Item]:
    """Read a Parquet table in slices."""
    import polars as pl

    try:
        frame = pl.scan_parquet(path)
        count = frame.select(pl.len()).collect().item()
        names = frame.collect_schema().names()
        if not {"title", "abstract"} & set(map_columns(names, columns)):
            raise InputError(f"{path}: no column holds titles or abstracts; the columns are: {', '.join(names)[:300]}")
        for start in range(0, count, _BATCH):
            rows = frame.slice(start, _BATCH).collect().rows(named=True)
            for number, row in enumerate(rows, start=start + 1):
                yield _record(row, number, tuple(sorted(columns.items())))
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0][:120]}); write it again") from None
    if "abstract" not in map_columns(names, columns):
        yield Repair(f"no column holds abstracts; columns: {', '.join(names)[:200]}")


@lru_cache(maxsize=256)
def _layout(header: tuple[str, ...], declared: tuple[tuple[str, str], ...]) -> Layout:
    plain = [name.replace("-", " ").replace("_", " ") for name in header]
    columns = {**map_columns(plain, dict(declared)), **map_columns(header, dict(declared))}
    return Layout(header, columns)


def _record(value: Mapping[str, Any], position: int, declared: tuple[tuple[str, str], ...]) -> Record:
    """A record from named values; lists are joined, CSL's names and dates taken apart."""
    layout = _layout(tuple(str(key) for key in value), declared)
    cells = [_text(item) for item in value.values()]
    source = {
        str(key): item if isinstance(item, str) else json.loads(json.dumps(item, default=str))
        for key, item in value.items()
        if item not in (None, "", [])
    }
    return record_of_cells(layout, cells, position, source)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, list):
        return "; ".join(text for item in value if (text := _text(item)))
    if isinstance(value, dict):
        return _of_csl(value)
    return str(value)


def _of_csl(value: Mapping[str, Any]) -> str:
    """A name (`family, given`) or a date (`2020-03-01`) of CSL-JSON; any other object as JSON."""
    if "family" in value:
        return ", ".join(str(value[key]) for key in ("family", "given") if value.get(key))
    if "date-parts" in value:
        parts = value["date-parts"]
        first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
        return "-".join(str(part) for part in first)
    for key in ("literal", "name", "raw", "title", "value"):
        if isinstance(value.get(key), str):
            return str(value[key])
    return json.dumps(value, ensure_ascii=False, default=str)
