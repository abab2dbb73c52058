"""The SQL that folds one shard's parts into the store: each call once, each record's verdict once, and only whole ones."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.errors import InputError
from litcascade.pipeline.recorder import TABLES
from litcascade.pipeline.shards.job import Job
from litcascade.store import Store

ONCE = {
    "calls": "here.key = there.key",
    "failures": "here.run_id = there.run_id and here.record_id = there.record_id and here.key = there.key "
    "and here.at_time = there.at_time",
    "token_counts": "here.model = there.model and here.revision = there.revision and here.text_key = there.text_key",
}
SAME = {"calls": "key", "failures": "run_id, record_id, key, at_time", "token_counts": "model, revision, text_key"}
MERGED = "merged before"
WITH_VERDICT = tuple(table for table in TABLES if table not in ONCE)


@dataclass
class Folded:
    """What one shard added, by table; and why verdicts were left out, by reason: their records stay pending or stand already."""

    added: dict[str, int] = field(default_factory=dict)
    left_out: dict[str, int] = field(default_factory=dict)


def fold(store: Store, job: Job, parts: Sequence[Path]) -> Folded:
    """Fold parts in, all together or not at all; folded a second time they add nothing.

    A verdict is added where all replies it rests on are in the store as it had them, its record is known, no verdict was added
    for it since the job was cut, and no person who is a reader spoke since. Of several verdicts for a record one counts.
    """
    folded = Folded()
    with store.transaction():
        _read(store, parts)
        columns = _columns(store)
        _require_known(store, columns)
        for table in ONCE:
            folded.added[table] = _add(store, table, columns[table], _fresh(table, columns[table]))
        folded.left_out = _choose(store, job)
        for table in WITH_VERDICT:
            chosen = (
                f"select unnest({_typed(columns[table])}) from shard_rows join chosen using (batch, record_id) "
                f"where of_table = '{table}' order by shard_rows.rowid"
            )
            folded.added[table] = _add(store, table, columns[table], chosen)
        store.rows("drop table chosen")
        store.rows("drop table shard_rows")
    return folded


def _read(store: Store, parts: Sequence[Path]) -> None:
    """Make the table `shard_rows`. A worker that was killed between joining its parts and dropping the old ones left rows in two
    files: where a batch stands in several, what goes with its verdicts is taken from the first."""
    paths = {"parts": [str(path) for path in parts]}
    homes = "from read_parquet($parts, filename = true) group by batch"
    twice = store.rows(f"select 1 {homes} having count(distinct filename) > 1 limit 1", paths)
    once = (
        f"""where "table" not in {WITH_VERDICT} or (batch, filename) in (select (batch, min(filename)) {homes}) """
        "order by filename, file_row_number"
    )
    store.rows(
        'create or replace temp table shard_rows as select batch, "table" as of_table, record_id, key, "row" as said '
        f"from read_parquet($parts, filename = true, file_row_number = true) {once if twice else ''}",
        paths,
    )


def _columns(store: Store) -> dict[str, dict[str, str]]:
    rows = store.rows(
        "select table_name, column_name, data_type from information_schema.columns "
        "where column_name <> 'seq' and table_name in (select unnest(?::text[]))",
        [[*ONCE, *WITH_VERDICT]],
    )
    columns: dict[str, dict[str, str]] = {}
    for table, name, kind in rows:
        columns.setdefault(table, {})[name] = kind
    return columns


def _require_known(store: Store, columns: dict[str, dict[str, str]]) -> None:
    """Refuse rows that the store has no place for: nothing may be dropped in silence."""
    for table, keys in store.rows(
        "select of_table, list(distinct name) from (select of_table, unnest(json_keys(said)) as name from shard_rows) group by 1"
    ):
        extra = sorted(set(keys) - columns.get(table, {}).keys())
        if extra:
            raise InputError(
                f"a part holds '{table}.{extra[0]}', which this store does not know; update litcascade here and merge again"
            )


def _typed(columns: dict[str, str]) -> str:
    """SQL that reads a row's JSON as a struct of text and plain types; the insert casts times and JSON."""
    plain = {name: ["VARCHAR"] if kind.endswith("[]") else _read_as(kind) for name, kind in columns.items()}
    return f"json_transform(said, '{json.dumps(plain)}')"


def _read_as(kind: str) -> str:
    return "VARCHAR" if kind == "JSON" or kind.startswith("TIMESTAMP") else kind


def _fresh(table: str, columns: dict[str, str]) -> str:
    return (
        f"select here.* from (select unnest({_typed(columns)}) from shard_rows where of_table = '{table}' "
        f"qualify row_number() over (partition by {_keys_of(table)} order by batch) = 1) here "
        f"where not exists (select 1 from {table} there where {ONCE[table]})"
    )


def _keys_of(table: str) -> str:
    return ", ".join(f"said->>'{name.strip()}'" for name in SAME[table].split(","))


def _add(store: Store, table: str, columns: dict[str, str], rows: str) -> int:
    names = ", ".join(f'"{name}"' for name in columns)
    return int(store.rows(f"insert into {table} ({names}) select {names} from ({rows})")[0][0])


def _choose(store: Store, job: Job) -> dict[str, int]:
    """Make the table `chosen` of (batch, record) whose rows are added; returns why others are not."""
    store.rows(
        "create or replace temp table chosen as "
        "with other as ("  # replies that stand in the store otherwise than a worker had them
        "    select distinct key from (select key, said from shard_rows where of_table = 'calls') shard join calls using (key) "
        "    where (said->>'text') is distinct from calls.text or (said->>'refused') is distinct from calls.refused "
        "    or (said->>'logprobs') is distinct from calls.logprobs::text"
        "), rests as ("
        "    select batch, record_id, unnest(from_json(said->'calls', '[\"VARCHAR\"]')) as key from shard_rows "
        "    where of_table = 'readings'"
        "), bad as ("
        "    select batch, record_id, bool_or(rests.key in (select key from other)) as differs from rests "
        "    where rests.key in (select key from other) or rests.key not in (select key from calls) group by all"
        ") "
        "select distinct shard.batch, shard.record_id, shard.said->>'document_id' as document_id, case "
        "    when shard.record_id not in (select record_id from records) then 'the record is not in this review' "
        f"    when stands.ours then '{MERGED}' "
        "    when stands.record_id is not null then 'the record has a verdict since the job was cut' "
        "    when heard.record_id is not null then 'a person who is a reader spoke since the job was cut' "
        "    when bad.differs then 'another reply to the same question stands in the store' "
        "    when bad.record_id is not null then 'replies that the verdict rests on are missing' end as why "
        "from shard_rows shard left join bad on bad.batch = shard.batch and bad.record_id = shard.record_id "
        "left join (select record_id, document_id, bool_or(run_id = $run_id) as ours from verdicts where stage = $stage "
        "    and fingerprint = $fingerprint and seq > $cut_at group by all) stands on stands.record_id = shard.record_id "
        "    and stands.document_id is not distinct from shard.said->>'document_id' "
        "left join (select distinct coalesce(kept_id, person_readings.record_id) as record_id from person_readings "
        "    left join current_clusters using (record_id) where stage = $stage and seq > $cut_at) heard "
        "    on heard.record_id = shard.record_id "
        "where shard.of_table = 'verdicts'",
        {"stage": job.stage, "fingerprint": job.fingerprint, "cut_at": job.cut_at, "run_id": job.run_id},
    )
    store.rows(
        "delete from chosen where (batch, record_id) not in ("
        "select (min(batch), record_id) from chosen where why is null group by record_id) and why is null"
    )
    left_out = store.rows(
        "select why, count(distinct record_id) from chosen where why is not null "
        "and record_id not in (select record_id from chosen where why is null) group by 1 order by 1"
    )
    store.rows("delete from chosen where why is not null")
    return {why: count for why, count in left_out if why != MERGED}
