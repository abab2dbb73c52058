"""Parts: Parquet files of rows, each whole under a name that holds its own checksum.

A row of a part is a row of one of the store's tables, as JSON, with what is looked up beside it. `batch` marks rows that were
recorded together: a verdict and its readings have the same one, also after parts were joined into one.
"""

import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from litcascade.errors import StoreError
from litcascade.pipeline.shards.files import sha256, write_whole

SCHEMA = {
    "batch": pl.String, "table": pl.String, "record_id": pl.String, "key": pl.String, "prompt_tokens": pl.Int64,
    "completion_tokens": pl.Int64, "row": pl.String,
}  # fmt: skip
LOOKED_UP = tuple(name for name in SCHEMA if name != "row")
MARK = 16  # digits of the checksum in a part's name
PartRow = tuple[str, str, str | None, str | None, int | None, int | None, str]


def part_row(batch: str, table: str, row: Mapping[str, Any]) -> PartRow:
    """A row of the store as a row of a part; raises UnicodeError where it cannot be written as UTF-8."""
    text = json.dumps(row, ensure_ascii=False)
    text.encode()
    is_call = table == "calls"
    tokens = (row["prompt_tokens"], row["completion_tokens"]) if is_call else (None, None)
    return (batch, table, row.get("record_id"), row.get("key"), *tokens, text)


def parquet(frame: pl.DataFrame, about: Mapping[str, str]) -> bytes:
    """A frame as Parquet, with what it is about as its metadata."""
    out = io.BytesIO()
    frame.write_parquet(out, compression="zstd", compression_level=3, metadata=dict(about))
    return out.getvalue()


def write_part(folder: Path, stem: str, frame: pl.DataFrame, about: Mapping[str, str]) -> Path:
    """Write a part as `STEM-CHECKSUM.parquet`; a disk that refuses it is a `StoreError`."""
    content = parquet(frame, about)
    path = folder / f"{stem}-{sha256(content)[:MARK]}.parquet"
    try:
        write_whole(path, content)
    except OSError as error:
        raise StoreError(
            f"{path}: cannot be written ({error.strerror or error}); what was written before is safe: see to the disk and work "
            "the shard again"
        ) from error
    return path


def part_files(folder: Path) -> list[Path]:
    """The parts of a shard, in the order of their names."""
    return sorted(folder.glob("part-*.parquet"))


def verified(path: Path) -> bytes | None:
    """The bytes of a part whose checksum is the one in its name, else None."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    return content if sha256(content)[:MARK] == path.stem.rpartition("-")[2] else None


@dataclass
class Held:
    """What the parts of a shard hold on the disk.

    `calls` maps request keys to their part, `decided` are records whose verdict rests on replies that are all here, or known
    from before.
    """

    calls: dict[str, Path] = field(default_factory=dict)
    decided: set[str] = field(default_factory=set)
    failures: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    sums: dict[str, str] = field(default_factory=dict)
    set_aside: list[str] = field(default_factory=list)
    token_rows: list[dict[str, Any]] = field(default_factory=list)


def read_back(folder: Path, known: Iterable[str]) -> Held:
    """Read what is on the disk; a part that is not whole is renamed to `….unreadable`, and what it held is asked again."""
    held = Held()
    verdicts: set[tuple[str, str]] = set()
    rests_on: list[tuple[str, str, list[str]]] = []
    for path in part_files(folder):
        content = verified(path)
        if content is None:
            path.rename(path.with_name(f"{path.name}.unreadable"))
            continue
        held.sums[path.name] = sha256(content)
        for batch, table, record_id, key, prompt, completion, row in _rows(content):
            if table == "calls" and key not in held.calls:
                held.calls[key] = path
                held.prompt_tokens += prompt or 0
                held.completion_tokens += completion or 0
            elif table == "verdicts":
                verdicts.add((batch, record_id))
            elif table == "readings":
                rests_on.append((batch, record_id, json.loads(row)["calls"]))
            elif table == "token_counts":
                held.token_rows.append(json.loads(row))
            held.failures += table == "failures"
    held.set_aside = sorted(path.name for path in folder.glob("*.unreadable"))
    keys = held.calls.keys() | set(known)
    torn = {(batch, record_id) for batch, record_id, calls in rests_on if not keys.issuperset(calls)}
    held.decided = {record_id for _, record_id in verdicts - torn}
    return held


def _rows(content: bytes) -> Iterator[Any]:
    """Rows of a part; the text of those that hold large replies is left out."""
    frame = pl.read_parquet(io.BytesIO(content))
    small = pl.col("table").is_in(["readings", "token_counts"])
    return frame.with_columns(pl.when(small).then("row").alias("row")).iter_rows()


def call_rows(path: Path, keys: Sequence[str]) -> list[dict[str, Any]]:
    """The rows of these calls in a part or in a shard's file of replies; of a file that is gone or damaged, none."""
    wanted = pl.col("key").is_in(list(keys)) & (pl.col("table") == "calls")
    try:
        frame = pl.read_parquet(path, columns=["table", "key", "row"]).filter(wanted)
    except (OSError, pl.exceptions.PolarsError):
        return []
    return [json.loads(row) for row in frame["row"]]


def join_parts(folder: Path, stem: str, about: Mapping[str, str]) -> None:
    """Join all parts of a shard into one, so that a long job leaves few files; the old ones go when the new one is safe."""
    old = part_files(folder)
    if len(old) < 2:
        return
    contents = [verified(path) for path in old]
    whole = [content for content in contents if content is not None]
    if len(whole) < len(old):
        return  # the next reading sets the damaged one aside
    frame = pl.concat([pl.read_parquet(io.BytesIO(content)) for content in whole])
    new = write_part(folder, stem, frame, about)
    for path in old:
        if path != new:
            path.unlink(missing_ok=True)
