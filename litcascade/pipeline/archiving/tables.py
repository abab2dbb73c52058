"""The tables of the store as Parquet files, part by part, so that memory does not grow with the review."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from litcascade.errors import StoreError
from litcascade.pipeline.archiving.choosing import Choice
from litcascade.pipeline.archiving.masking import Mask, forms, quoted
from litcascade.store import Store

PART_BYTES = 48 * 2**20
EVIDENCE: Mapping[str, frozenset[str]] = {
    "records": frozenset({"title", "abstract", "source", "url"}),
    "gold_fields": frozenset({"value"}),
    "extractions": frozenset({"value", "raw", "quote", "notes", "evidence", "near"}),
    "criterion_answers": frozenset({"quote"}),
    "readings": frozenset({"reason"}),
    "documents": frozenset({"title", "abstract", "sections", "content"}),
    "calls": frozenset({"request", "text", "reasoning", "logprobs"}),
    "set_aside": frozenset({"raw"}),
}
ASKED: Mapping[str, frozenset[str]] = {
    "records": frozenset({"title", "abstract"}),
    "documents": frozenset({"sections", "content"}),
    "calls": frozenset({"request", "text"}),
}  # evidence that a replay reads: where it was masked, a question may be another one
DERIVED: Mapping[str, frozenset[str]] = {
    "calls": frozenset({"refused"}),
    "readings": frozenset({"detail"}),
    "verdicts": frozenset({"reason"}),
    "extractions": frozenset({"error", "because"}),
}  # words that are derived again from one another, so that they are masked alike
Tell = Callable[[str, int, int], None]


def silent(what: str, done: int, total: int) -> None:
    """Tells nobody of progress (what is being done, how much is, of how much)."""


@dataclass(frozen=True)
class Part:
    """A Parquet file of so many rows of a table."""

    table: str
    path: Path
    rows: int


def tables_of(store: Store) -> dict[str, int]:
    """Every table of the store with its rows."""
    names = store.rows(
        "select table_name from information_schema.tables where table_type = 'BASE TABLE' and table_schema = 'main' order by 1"
    )
    return {name: int(store.value(f'select count(*) from "{name}"')) for (name,) in names if not name.startswith("staged_")}


def columns_of(store: Store, table: str) -> dict[str, str]:
    """Columns of a table with their types, in order."""
    return dict(
        store.rows(
            "select column_name, data_type from information_schema.columns where table_schema = 'main' and table_name = ? "
            "order by ordinal_position",
            [table],
        )
    )


class TableWriter:
    """Writes tables into a folder, masked and with the columns left empty that a choice leaves out.

    `keymap` is a Parquet file of (old, new) keys of calls, for models whose name is masked.
    """

    def __init__(self, store: Store, folder: Path, choice: Choice, mask: Mask, keymap: Path | None = None) -> None:
        self.store = store
        self.folder = folder
        self.choice = choice
        self.mask = mask
        self.keymap = keymap
        self.masked: dict[str, str] = {}

    def write(self, table: str, rows: int, tell: Tell) -> Iterator[Part]:
        """The table's parts in the order of its rows, each as it is written."""
        columns = columns_of(self.store, table)
        picked = ", ".join(self._column(table, name, kind, columns) for name, kind in columns.items())
        order = "seq" if "seq" in columns else "all"
        done = 0
        for number, (low, high) in enumerate(self._bounds(table, columns), start=1):
            path = self.folder / f"{table}-{number:04d}.parquet"
            where = f"where seq between {low} and {high}" if low is not None else ""
            sql = f'select {picked} from "{table}" t {where} order by {order}'
            written = self.store.value(
                f"copy ({sql}) to {quoted(str(path))} (format parquet, compression zstd, row_group_size 20480)"
            )
            done += int(written)
            tell(table, done, rows)
            yield Part(table, path, int(written))
        if done != rows:
            raise StoreError(f"of {rows:,} rows of the table {table} {done:,} could be written; run `litcascade archive` again")
        self._count_masked(table, columns)

    def _protocols(self) -> Path:
        """A Parquet file of (old, new) texts of the protocols that the review had."""
        texts = [row[0] for row in self.store.rows("select distinct text from protocols where text is not null")]
        path = self.folder / "protocols"
        pairs = [(text, self.mask.protocol(text)) for text in texts]
        pl.DataFrame(pairs, schema={"old": pl.String, "new": pl.String}, orient="row").write_parquet(path)
        return path

    def _bounds(self, table: str, columns: Mapping[str, str]) -> list[tuple[int | None, int | None]]:
        """First and last `seq` of each part, of about `PART_BYTES` of text; a table without rows has one empty part."""
        if "seq" not in columns:
            return [(None, None)]
        texts = [f'coalesce(strlen("{name}"::text), 0)' for name, kind in columns.items() if kind in ("VARCHAR", "JSON")]
        weight = " + ".join([*texts, "64"])
        found = self.store.rows(
            f"select min(seq), max(seq) from (select seq, (sum({weight}) over (order by seq) - 1) // {PART_BYTES} as part "
            f'from "{table}") group by part order by part'
        )
        return [(low, high) for low, high in found] or [(None, None)]

    def _column(self, table: str, name: str, kind: str, columns: Mapping[str, str]) -> str:
        value = f't."{name}"'
        if kind in ("VARCHAR", "JSON"):
            text = f"{value}::text" if kind == "JSON" else value  # any program reads JSON as text; not all know the type
            of_evidence = name in EVIDENCE.get(table, ())
            value = self.mask.sql(text, evidence=of_evidence, addresses=name not in DERIVED.get(table, ()))
            if table == "protocols" and name == "text":
                told = f"read_parquet({quoted(str(self._protocols()))})"
                value = f"coalesce((select k.new from {told} k where k.old = {text}), {value})"
        if self.keymap is not None:
            value = self._rekeyed(table, name, kind, value)
        blank = self.choice.blanks(table).get(name)
        if blank and name in columns:
            value = f"case when {blank} then null else {value} end"
        return f'{value} as "{name}"'

    def _rekeyed(self, table: str, name: str, kind: str, value: str) -> str:
        keys = f"read_parquet({quoted(str(self.keymap))})"
        if name == "calls" and kind == "VARCHAR[]":
            return (
                f"case when {value} is null then null else (select coalesce(list(coalesce(k.new, u.old) order by u.place), "
                f"[]::text[]) from (select unnest({value}) as old, generate_subscripts({value}, 1) as place) u "
                f"left join {keys} k on k.old = u.old) end"
            )
        if name == "key" and table in ("calls", "failures"):
            return f"coalesce((select k.new from {keys} k where k.old = {value}), {value})"
        return value

    def _count_masked(self, table: str, columns: Mapping[str, str]) -> None:
        for variable, secret in self.mask.secrets.items():
            for name, kind in columns.items():
                if kind not in ("VARCHAR", "JSON"):
                    continue
                found = " or ".join(f'contains("{name}"::text, {quoted(form)})' for form in dict.fromkeys(forms(secret)))
                count = self.store.value(f'select count(*) from "{table}" where {found}')
                if count:
                    what = variable if variable.startswith("(") else f"the value of the environment variable {variable}"
                    before = f"{self.masked[where]}; " if (where := f"{table}.{name}") in self.masked else ""
                    self.masked[where] = f"{before}{what}, in {count} row(s)"
