"""What was derived again against what is archived, row by row; then the derived rows take the places of the archived ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from litcascade.pipeline.archiving.rebuilding import KEYS, Expected, scan
from litcascade.pipeline.archiving.tables import columns_of
from litcascade.store import Store

UNLIKE = ("seq", "run_id", "at_time", "fingerprint")  # they say when a row was made, not what it says
LISTED = 1_000


@dataclass(frozen=True)
class Difference:
    """A row that is not the same: its table, stage, record, what tells it from others of the record, and what differs."""

    table: str
    stage: str
    record_id: str
    of: str
    what: str


@dataclass(frozen=True)
class Compared:
    """Rows of a table that came out the same, that differ, that could not be derived; the first `LISTED` that are not the same.

    `extra` are rows that were derived but are not archived.
    """

    table: str
    same: int
    differ: int
    missing: int
    extra: int
    differences: tuple[Difference, ...] = field(default=())

    @property
    def equal(self) -> bool:
        """Whether all came out as archived, and nothing else."""
        return not (self.differ or self.missing or self.extra)


def compare(store: Store, expected: Expected, run_id: str, unanswered: Mapping[tuple[str, str], int]) -> list[Compared]:
    """Compare every table; `run_id` is the replay's, `unanswered` the questions without a stored reply by (stage, record)."""
    return [_compare(store, table, expected, run_id, unanswered) for table in KEYS]


def _compare(store: Store, table: str, expected: Expected, run_id: str, unanswered: Mapping[tuple[str, str], int]) -> Compared:
    keys = KEYS[table]
    joined = _joined(store, table, expected, run_id)
    same, differ, missing, extra = store.rows(
        "select count(*) filter (how = 'same'), count(*) filter (how = 'differs'), count(*) filter (how = 'missing'), "
        f"count(*) filter (how = 'extra') from ({joined})"
    )[0]
    stage = "'extraction'" if table == "extractions" else "stage"
    others = [key for key in keys if key not in ("stage", "record_id")]
    of = f"concat_ws(', ', {', '.join(others)})" if others else "''"
    rows = store.rows(
        f"select {stage}, record_id, {of}, how, changed from ({joined}) where how <> 'same' order by all limit {LISTED}"
    )
    told = tuple(
        Difference(table, at, record, who, _words(how, changed, unanswered.get((at, record), 0)))
        for at, record, who, how, changed in rows
    )
    return Compared(table, same, differ, missing, extra, told)


def _words(how: str, changed: list[str], unanswered: int) -> str:
    if how == "missing":
        why = f": {unanswered} question(s) have no stored reply" if unanswered else ""
        return f"in the archive, but not derived{why}"
    return "derived, but not in the archive" if how == "extra" else "; ".join(changed)


def _joined(store: Store, table: str, expected: Expected, run_id: str) -> str:
    """SQL of keys, `how` and `changed` of every row of either side; numbers are the same to nine digits."""
    keys, source = KEYS[table], scan([expected.files[table]])
    theirs = {row[0] for row in store.rows(f"describe select * from {source}")}
    compared = {name: kind for name, kind in columns_of(store, table).items() if name in theirs and name not in (*keys, *UNLIKE)}
    changed = ", ".join(
        f"case when {_unlike(name, kind)} then '{name}: ' || {_shown('e', name)} || ' -> ' || {_shown('d', name)} end"
        for name, kind in compared.items()
    )
    on = " and ".join(f'e."{key}" is not distinct from d."{key}"' for key in keys)
    picked = ", ".join(f'coalesce(e."{key}", d."{key}") as "{key}"' for key in keys)
    return (
        "select *, case when not has_d then 'missing' when not has_e then 'extra' when len(changed) > 0 then 'differs' "
        f"else 'same' end as how from (select {picked}, e.seq is not null as has_e, d.seq is not null as has_d, "
        f"[x for x in [{changed}] if x is not null] as changed "
        f"from {source} e full join (select * from {table} where run_id = '{run_id}') d on {on})"
    )


def _unlike(name: str, kind: str) -> str:
    mine, other = f'e."{name}"', f'd."{name}"'
    if kind == "DOUBLE":
        near = (
            f"isfinite({mine}) and isfinite({other}) "
            f"and abs({mine} - {other}) <= greatest(1e-9 * greatest(abs({mine}), abs({other})), 1e-12)"
        )
        return f"({mine} is distinct from {other} and not coalesce({near}, false))"
    if kind == "JSON":
        return f"{mine}::text is distinct from {other}::text"
    return f"{mine} is distinct from {other}"


def _shown(side: str, name: str) -> str:
    return f"coalesce(left({side}.\"{name}\"::text, 80), 'nothing')"


def take_places(store: Store, expected: Expected, run_id: str) -> None:
    """Give derived rows the numbers of the archived ones, and, where they say the same, their run and time.

    The order of rows is part of what a store says: a person heard after a verdict re-opens it, one heard before does not.
    """
    with store.transaction():
        for table, keys in KEYS.items():
            names = columns_of(store, table)
            joined = _joined(store, table, expected, run_id)
            on = " and ".join(f't."{key}" is not distinct from e."{key}"' for key in keys)
            same = " and ".join(f'same."{key}" is not distinct from e."{key}"' for key in keys)
            own = [name for name in ("run_id", "at_time") if name in names]
            sets = ", ".join(["seq = e.seq", *(f"{name} = case when e.is_same then e.{name} else t.{name} end" for name in own)])
            source = (
                f"select e.*, same.how = 'same' as is_same from {scan([expected.files[table]])} e join ({joined}) same on {same}"
            )
            store.rows(f"update {table} t set {sets} from ({source}) e where t.run_id = '{run_id}' and {on}")
