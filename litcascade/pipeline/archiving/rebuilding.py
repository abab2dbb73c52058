"""The store of an archive built anew: all that was put in, but for the verdicts that are derived again."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import duckdb

from litcascade.errors import InputError, StoreError
from litcascade.pipeline.archiving.masking import quoted
from litcascade.pipeline.archiving.reading import Unpacked
from litcascade.pipeline.archiving.tables import Tell, columns_of
from litcascade.schemas import Protocol
from litcascade.store import Store

KEYS = {
    "verdicts": ("stage", "record_id"),
    "readings": ("stage", "record_id", "reader"),
    "criterion_answers": ("stage", "record_id", "reader", "criterion"),
    "extractions": ("record_id", "reader", "field"),
}
NEEDED = ("records", "calls", *KEYS)  # tables whose columns an archive always has, also without rows
_ADDED = re.compile(r"(?im)^\s*alter table (\w+) add column \"?(\w+)")
MOST_ROWS = 2_000_000_000


@dataclass(frozen=True)
class Expected:
    """What the archive says of the verdicts that are derived again, a Parquet file a table; and the rows carried over.

    `carried` maps a table to its rows that are not derived again: of earlier criteria, baselines, cells of a grid, people.
    """

    files: dict[str, Path]
    counts: dict[str, int]
    carried: dict[str, int]


def fill(store: Store, unpacked: Unpacked, protocol: Protocol, tell: Tell) -> Expected:
    """Fill an empty store from the tables. Raises `InputError` where a table is not one that this program knows."""
    store.set_stages([name for name, _ in protocol.stages.items()])
    _require_known(store, unpacked)
    tables = list(unpacked.manifest.tables)
    expected: Expected | None = None
    try:
        for number, table in enumerate(sorted(tables, key=lambda table: table in KEYS), start=1):
            if table in KEYS and expected is None:
                expected = _expect(store, unpacked)
            for part in unpacked.parts(table):
                with store.transaction():
                    _load(store, table, part, expected)
            tell("tables", number, len(tables))
        _advance(store, unpacked)
    except (StoreError, duckdb.Error) as error:
        raise InputError(f"the archive's tables cannot be read into a store ({' '.join(str(error).split())[:200]})") from None
    assert expected is not None
    carried = {table: int(store.value(f"select count(*) from {table}")) for table in KEYS}
    return Expected(expected.files, expected.counts, carried)


def _require_known(store: Store, unpacked: Unpacked) -> None:
    known = {row[0] for row in store.rows("select name from migrations")}
    newer = sorted(set(unpacked.manifest.migrations) - known)
    if newer:
        raise InputError(
            f"the archive's store was written by a newer litcascade ({unpacked.manifest.litcascade}: it has '{newer[0]}'); "
            "update the program"
        )
    later = _later_columns(set(unpacked.manifest.migrations))
    for table in unpacked.manifest.tables:
        mine = columns_of(store, table)
        if not mine:
            raise InputError(f"the archive holds a table '{table[:40]}', which this litcascade does not know")
        for part in unpacked.parts(table):
            theirs = [row[0] for row in store.rows(f"describe select * from read_parquet({quoted(str(part))})")]
            odd = [name for name in theirs if name not in mine]
            if odd:
                raise InputError(f"the archive's '{part.name}' has a column '{odd[0][:40]}', which this litcascade does not know")
            gone = [name for name in mine if name not in theirs and (table, name) not in later]
            if gone:
                raise InputError(f"the archive's '{part.name}' lacks the column '{gone[0]}'; get it again from where it came")
    missing = [table for table in NEEDED if not unpacked.parts(table)]
    if missing:
        raise InputError(f"the archive holds no table '{missing[0]}'")


def _later_columns(migrations: set[str]) -> set[tuple[str, str]]:
    """(Table, column) of what was added by migrations that the archive's store had not had."""
    found: set[tuple[str, str]] = set()
    for name, sql in _migrations().items():
        if name not in migrations:
            found |= {(table, column) for table, column in _ADDED.findall(sql)}
    return found


def _migrations() -> dict[str, str]:
    """The store's migrations as this program has them, name to SQL."""
    files = (resources.files("litcascade.store") / "migrations").iterdir()
    return {one.name.removesuffix(".sql"): one.read_text(encoding="utf-8") for one in files if one.name.endswith(".sql")}


def scan(parts: Sequence[Path]) -> str:
    """SQL that reads Parquet files as one table."""
    return f"read_parquet([{', '.join(quoted(str(part)) for part in parts)}])"


def _expect(store: Store, unpacked: Unpacked) -> Expected:
    """Write down what is derived again: under a fingerprint in force at a stage that can be, the newest verdict of a record."""
    files = {table: unpacked.folder / f"expected-{table}.parquet" for table in KEYS}
    stages = ", ".join(
        f"({quoted(item.stage)}, {quoted(item.fingerprint)})"
        for item in unpacked.binding.stages
        if item.stage in unpacked.manifest.derivable
    )
    in_force = f"(stage, fingerprint) in ({stages})" if stages else "false"
    chosen = scan([files["verdicts"]])
    counts = {}
    for table, keys in KEYS.items():
        parts = scan(unpacked.parts(table))
        if table == "verdicts":
            where = in_force
        else:
            stage = "'extraction'" if table == "extractions" else "t.stage"
            where = (
                f"exists (select 1 from {chosen} v where v.stage = {stage} and v.record_id = t.record_id and v.run_id = t.run_id "
                "and v.fingerprint = t.fingerprint)"
            )
        sql = (
            f"select * from {parts} t where {where} "
            f"qualify row_number() over (partition by {', '.join(f't.{key}' for key in keys)} order by t.seq desc) = 1"
        )
        counts[table] = int(store.value(f"copy ({sql}) to {quoted(str(files[table]))} (format parquet, row_group_size 20480)"))
    return Expected(files, counts, {})


def _load(store: Store, table: str, part: Path, expected: Expected | None) -> None:
    """Insert a part; rows that are derived again stay out, as do older rows of the same verdict's run."""
    rows = f"select * from read_parquet({quoted(str(part))}) t"
    if table in KEYS and expected is not None:
        rows += f" where t.seq not in (select seq from {scan([expected.files[table]])})"
    store.rows(f"insert into {table} by name {rows}")


def _advance(store: Store, unpacked: Unpacked) -> None:
    """Set the store's sequence behind the last row of all tables, those that are derived again included."""
    tables = [name for name in unpacked.manifest.tables if unpacked.parts(name)]
    parts = [scan(unpacked.parts(name)) for name in tables if "seq" in columns_of(store, name)]
    newest = max([0, *(int(store.value(f"select coalesce(max(seq), 0) from {part}")) for part in parts)])
    if newest > MOST_ROWS:
        raise InputError(f"the archive numbers a row {newest:,}, which no review reaches; it is not read")
    with store.transaction():
        store.rows(f"select max(nextval('rows')) from range({newest + 1})")
