"""Records as named values: JSON Lines, JSON arrays (CSL and others), Parquet."""

import json
import re
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
from litcascade.registry import nearest
from litcascade.schemas import Record
from litcascade.schemas.keys import scrubbed

_BATCH = 2_000
_DECODER = json.JSONDecoder()
_GAP = re.compile(r"[\s,\[\]]*")


@READERS.register("json")
def read_json(source: Source) -> Iterator[Item]:
    """Read JSON lines, arrays of objects, or objects one after the other; what is no such object is set aside."""
    declared = tuple(sorted(source.columns.items()))
    position = 0
    keys: dict[str, None] = {}
    told = False
    for line, value, raw in _of_lines(source) if _is_lines(source) else _of_stream(source):
        record = _tried(value, position + 1, declared)
        if isinstance(record, str):
            yield SetAside(line, str(value) if raw is not None else record, raw or _shown(value), is_record=True)
            continue
        position += 1
        told = told or bool({"title", "abstract"} & set(_layout(tuple(map(str, value)), declared).columns))
        keys |= dict.fromkeys(str(key) for key in value)
        yield record
    _refuse_blank(source, position, told, keys)


def _refuse_blank(source: Source, records: int, told: bool, keys: Mapping[str, None]) -> None:
    """Refuse a file whose objects hold no titles or abstracts, or lack a declared key."""
    for field, name in source.columns.items():
        if records and name not in keys:
            raise InputError(f"{source.name}: no object has a key '{name}' for {field}{nearest(name, keys)}")
    if records and not told:
        raise InputError(
            f"{source.name}: no object holds titles or abstracts; their keys are: {', '.join(keys)[:200] or 'none'}. "
            "Rename one of them to 'title', or say which it is (--columns title=NAME)"
        )


def _tried(value: Any, position: int, declared: tuple[tuple[str, str], ...]) -> Record | str:
    """The record of an object, or why there is none."""
    if not isinstance(value, dict):
        return "is no JSON object"
    try:
        return _record(scrubbed(value), position, declared)
    except RecursionError:
        return "is nested too deep to read"


def _shown(value: Any) -> str:
    try:
        return json.dumps(value)[:2000]
    except RecursionError:
        return "(nested too deep to show)"


def _is_lines(source: Source) -> bool:
    """Whether the first line is a whole JSON value by itself."""
    first = next((line for line in source.lines() if line.strip()), "")
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _of_lines(source: Source) -> Iterator[tuple[int, Any, str | None]]:
    for number, line in enumerate(source.lines(), start=1):
        if line.strip():
            try:
                value = json.loads(line)
                yield from ((number, item, None) for item in (value if isinstance(value, list) else [value]))
            except (ValueError, RecursionError) as error:
                yield number, f"is not JSON ({str(error)[:80]})", line


def _of_stream(source: Source) -> Iterator[tuple[int, Any, str | None]]:
    """Values one after the other, in arrays or not; where one cannot be read, the rest is set aside.

    No one knows where the next one begins behind a broken one.
    """
    pieces = source.pieces()
    held, at, line = next(pieces, ""), 0, 1
    while True:
        begin = _GAP.match(held, at).end()  # type: ignore[union-attr]  # it matches nothing at all, too
        line += held.count("\n", at, begin)
        at = begin
        try:
            value, end = _DECODER.raw_decode(held, at)
            if end == len(held) and not isinstance(value, dict):
                raise ValueError("may go on")
            yield line, value, None
            line += held.count("\n", at, end)
            at = end
        except (ValueError, RecursionError) as error:
            more = next(pieces, None)
            if more is None or len(held) - at > LINE_LIMIT:
                yield from _rest(held[at:], pieces, line, str(error))
                return
            held, at = held[at:] + more, 0


def _rest(text: str, pieces: Iterator[str], line: int, why: str) -> Iterator[tuple[int, Any, str | None]]:
    if text.strip() or any(piece.strip() for piece in pieces):
        yield line, f"is not JSON ({why[:80]}); the file was not read further", text.strip()[:LINE_LIMIT] or "…"


@FILE_READERS.register("parquet")
def read_parquet(path: Path, columns: Mapping[str, str]) -> Iterator[Item]:
    """Read a Parquet table in slices."""
    import polars as pl

    try:
        frame = pl.scan_parquet(path)
        count = frame.select(pl.len()).collect().item()
        names = frame.collect_schema().names()
        lacking = next(((field, name) for field, name in columns.items() if name not in names), None)
        if lacking:
            raise InputError(f"{path}: there is no column '{lacking[1]}' for {lacking[0]}{nearest(lacking[1], names)}")
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
