"""The review's one DuckDB file: connection, migrations, column batches."""

import contextlib
import threading
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib import resources
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from litcascade.errors import StoreError
from litcascade.store.views import view_sql

FILE_NAME = "review.duckdb"
MEMORY = "512MB"  # of DuckDB itself: what does not fit goes to disk, so that memory does not grow with the review


class Store:
    """One open DuckDB file. Safe to call from several threads: one connection writes, one reads beside it.

    `append` takes rows, `insert` whole columns; `rows` and `frame` read what is committed, or, inside a transaction of
    the same thread, what it wrote so far. What DuckDB cannot do (a full disk, a damaged file, a value it will not hold) is
    a `StoreError`, and what was committed before stays. Use as a context manager.
    """

    def __init__(self, path: Path, *, create: bool = False, read_only: bool = False) -> None:
        if not create and not path.exists():
            raise StoreError(f"{path}: there is no review store yet; import records first (litcascade import FILE)")
        self.path = path
        self.read_only = read_only
        self._lock = threading.RLock()
        self._reading = threading.Lock()
        self._owner: int | None = None
        try:
            self._connection = duckdb.connect(str(path), read_only=read_only)
            self._connection.execute(f"set memory_limit = '{MEMORY}'").fetchall()
            self._reader = self._connection.cursor()
            for connection in (self._connection, self._reader):  # else DuckDB draws a bar among what commands print
                connection.execute("set enable_progress_bar = false").fetchall()
        except duckdb.Error as error:
            raise StoreError(_explain(error, path)) from None
        try:
            self._migrate(read_only)
            self._types = self._read_types()
        except BaseException:
            self._connection.close()
            raise

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was inserted is safe before this already."""
        with self._lock, self._reading:
            self._reader.close()
            self._connection.close()

    def insert(self, table: str, columns: Mapping[str, Sequence[Any]]) -> int:
        """Append rows given as columns of equal length, in one statement; returns how many. JSON columns take text."""
        names = list(columns)
        count = len(columns[names[0]]) if names else 0
        if count == 0:
            return 0
        picked = ", ".join(f"unnest(${i}::{self._types[table][name]}[])" for i, name in enumerate(names, start=1))
        quoted = ", ".join(f'"{name}"' for name in names)
        with self._lock, self._told():
            self._connection.execute(
                f"insert into {table} ({quoted}) select {picked}", [list(columns[name]) for name in names]
            ).fetchall()
        return count

    def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Append rows given as mappings with the same keys, in one statement; returns how many."""
        return self.insert(table, {name: [row[name] for row in rows] for name in rows[0]}) if rows else 0

    def staging(self, table: str) -> str:
        """The name of an empty table of this connection with the columns of `table`, for rows that wait to be moved there."""
        name = f"staged_{table}"
        self._run(f"create or replace temp table {name} as select * exclude (seq) from {table} limit 0")
        self._types[name] = {column: kind for column, kind in self._types[table].items() if column != "seq"}
        return name

    def move_staged(self, table: str, ids: Sequence[str], batch: int = 5000) -> None:
        """Move staged rows, told apart by `position` from 1, in that order and under these record ids; the staging ends."""
        staged = f"staged_{table}"
        names = ", ".join(f'"{name}"' for name in self._types[staged] if name != "record_id")
        for start in range(0, len(ids), batch):
            chunk = list(ids[start : start + batch])
            self._write(
                f"insert into {table} (record_id, {names}) select given.id, {names} from {staged} join "
                "(select unnest($1::text[]) as id, unnest($2::integer[]) as place) given on place = position order by position",
                [chunk, list(range(start + 1, start + len(chunk) + 1))],
            )
        self._run(f"drop table {staged}")
        del self._types[staged]

    def rows(self, sql: str, parameters: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        if self._owner == threading.get_ident():
            with self._told():
                return self._connection.execute(sql, parameters or None).fetchall()
        with self._reading, self._told():
            return self._reader.execute(sql, parameters or None).fetchall()

    def value(self, sql: str, parameters: Sequence[Any] = ()) -> Any:
        """The first column of the first row, or None."""
        found = self.rows(sql, parameters)
        return found[0][0] if found else None

    def frame(self, sql: str, schema: Mapping[str, Any], parameters: Sequence[Any] = ()) -> pl.DataFrame:
        """A query as a polars frame with the named columns and types."""
        return pl.DataFrame(self.rows(sql, parameters), schema=dict(schema), orient="row")

    def transaction(self) -> "_Transaction":
        """A context in which all inserts stand or fall together; one inside another is part of it."""
        return _Transaction(self)

    def set_stages(self, stages: Sequence[str]) -> None:
        """Make the views for the stages of the protocol, where they are not made yet."""
        sql = view_sql(stages)
        if self.meta("views") == sql:
            return
        if self.read_only:
            self._run(sql.replace("create or replace view", "create or replace temp view"), self._reader)
        else:
            with self.transaction():
                self._run(sql)
                self.set_meta("views", sql)

    def meta(self, key: str) -> str | None:
        """A note the store keeps about itself."""
        found: str | None = self.value("select value from meta where key = ?", [key])
        return found

    def set_meta(self, key: str, value: str) -> None:
        """Set such a note (the one table that is not append-only: it holds nothing of the review)."""
        self._write("insert or replace into meta values (?, ?)", [key, value])

    def _write(self, sql: str, parameters: Sequence[Any]) -> None:
        with self._lock, self._told():
            self._connection.execute(sql, parameters).fetchall()

    def _run(self, sql: str, connection: duckdb.DuckDBPyConnection | None = None) -> None:
        with self._lock, self._told():
            for statement in duckdb.extract_statements(sql):
                (connection or self._connection).execute(statement).fetchall()

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            raise StoreError(
                f"{self.path}: the store could not be read or written ({str(error).splitlines()[0][:200]}); "
                "what was stored before is safe: see to the disk and run the command again"
            ) from error

    def _migrate(self, read_only: bool) -> None:
        files = sorted(
            (item for item in (resources.files("litcascade.store") / "migrations").iterdir() if item.name.endswith(".sql")),
            key=lambda item: item.name,
        )
        known = [item.name.removesuffix(".sql") for item in files]
        has_meta = self.value("select count(*) from information_schema.tables where table_name = 'meta'")
        done = self.rows("select name from migrations order by name") if has_meta else []
        unknown = [name for (name,) in done if name not in known]
        if unknown:
            raise StoreError(f"{self.path}: was written by a newer litcascade (has '{unknown[0]}'); update the program")
        todo = [item for item in files if item.name.removesuffix(".sql") not in {name for (name,) in done}]
        if not todo:
            return
        if read_only:
            raise StoreError(f"{self.path}: was written by an older litcascade; run any writing command once to update it")
        with self.transaction():
            if not has_meta:
                self._run("create table meta (key text primary key, value text);"
                          "create table migrations (name text primary key, at_time timestamptz);")  # fmt: skip
            for item in todo:
                self._run(item.read_text(encoding="utf-8"))
                self._write("insert into migrations values (?, ?)", [item.name.removesuffix(".sql"), now()])
            self._run(view_sql(("title_abstract", "full_text", "extraction")))
            self._run("delete from meta where key = 'views'")  # else the protocol's own would be taken to be in force

    def _read_types(self) -> dict[str, dict[str, str]]:
        types: dict[str, dict[str, str]] = {}
        for table, column, kind in self.rows("select table_name, column_name, data_type from information_schema.columns"):
            types.setdefault(table, {})[column] = kind
        return types


class _Transaction:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._inner = False

    def __enter__(self) -> None:
        if self._store._owner == threading.get_ident():
            self._inner = True  # part of the one that is open: they stand or fall together
            return
        self._store._lock.acquire()
        try:
            with self._store._told():
                self._store._connection.begin()
        except BaseException:
            self._store._lock.release()  # else whoever closes the store would wait for ever
            raise
        self._store._owner = threading.get_ident()

    def __exit__(self, kind: object, *_: object) -> None:
        if self._inner:
            return
        try:
            if kind is None:
                with self._store._told():
                    self._store._connection.commit()
            else:
                with contextlib.suppress(duckdb.Error):  # DuckDB may have ended it already
                    self._store._connection.rollback()
        finally:
            self._store._owner = None
            self._store._lock.release()


def now() -> str:
    """The time now, as the store writes it."""
    return datetime.now(UTC).isoformat()


def _explain(error: Exception, path: Path) -> str:
    text = str(error)
    if "could not set lock" in text.lower() or "conflicting lock" in text.lower():
        return f"{path}: another process holds the review (a run or the desk); wait for it, or use `litcascade status`"
    if "not a valid DuckDB" in text or "magic bytes" in text:
        return f"{path}: is not a DuckDB file; name another --review folder"
    return f"{path}: the review store cannot be opened: {text.splitlines()[0][:200]}"
