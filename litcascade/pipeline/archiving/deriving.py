"""Verdicts derived again from stored replies: the stages' own steps, with nobody to ask."""

import json
from collections.abc import AsyncGenerator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from litcascade.backends.base import Came
from litcascade.errors import BackendError
from litcascade.pipeline.archiving.rebuilding import scan
from litcascade.pipeline.archiving.tables import Tell
from litcascade.pipeline.binding import Bound
from litcascade.pipeline.calm import calm_collector
from litcascade.pipeline.executor import Executor, Spent, Stop
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.sinks import StoreSink
from litcascade.pipeline.subjects import CHUNK, CHUNK_TEXTS, load_records
from litcascade.schemas import Decision, Document, Reply, Request
from litcascade.schemas.protocol import Budget
from litcascade.stages import Subject
from litcascade.store import Store
from litcascade.store.views import NEEDS_TEXT

_JUDGED = """with judged as (
    select asked.*, began.version from (
        select unnest($ids::text[]) as id, unnest($documents::text[]) as document, unnest($seqs::bigint[]) as at) asked
    asof left join (
        select version, seq from clusters qualify version is distinct from lag(version) over (order by seq)) began
    on asked.at > began.seq
), own as (
    select judged.*, id as record_id, true as itself from judged
    union all
    select judged.*, clusters.record_id, false from judged join clusters
    on clusters.version = judged.version and clusters.kept_id = judged.id and clusters.record_id <> judged.id
) """  # each verdict with the records that stood for it when it was made: clusters found later do not count
_DOCUMENT = ("document_id", "path", "format", "parser", "note", "title", "doi", "abstract")
NOT_KEPT = "no stored reply answers this question"


class Nobody:
    """A backend behind which nobody is: every question that no stored reply answers stays without one."""

    async def engine(self) -> str:
        """None."""
        return ""

    async def revision(self) -> str:
        """None."""
        return ""

    async def ask(self, requests: Sequence[Request]) -> AsyncGenerator[Came, None]:
        """No reply to any."""
        for request in requests:
            yield request.key, BackendError(NOT_KEPT)

    async def count(self, texts: Sequence[str]) -> list[int] | None:
        """Nobody counts."""
        return None

    def hold(self) -> None:
        """Nothing is on its way."""

    async def close(self) -> None:
        """Nothing to close."""


class DerivedSink:
    """The rebuilt store as a sink: verdicts and what they rest on are kept, questions without a reply are told apart.

    `unanswered` counts these questions by (stage, record).
    """

    def __init__(self, store: Store) -> None:
        self._sink = StoreSink(store)
        self.unanswered: dict[tuple[str, str], int] = {}

    def transaction(self) -> AbstractContextManager[None]:
        """A transaction of the store."""
        return self._sink.transaction()

    def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
        """Append to a table of the store; failures are counted instead."""
        if table != "failures":
            return self._sink.append(table, rows)
        for row in rows:
            key = (row["stage"], row["record_id"])
            self.unanswered[key] = self.unanswered.get(key, 0) + 1
        return len(rows)

    def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
        """Replies of the archive."""
        return self._sink.replies(keys)

    def token_counts(self, model: str, revision: str, keys: Sequence[str]) -> dict[str, int]:
        """Counts of the archive."""
        return self._sink.token_counts(model, revision, keys)


async def derive(item: Bound, fingerprint: str, expected: Path, store: Store, sink: DerivedSink, run_id: str, tell: Tell) -> None:
    """Derive a stage's expected verdicts under the fingerprint they are archived with; those it cannot derive are not stored."""
    stage = item.stage.name
    wanted = store.rows(
        f"select record_id, document_id, seq from {scan([expected])} where stage = ? "
        "and record_id in (select record_id from records) order by seq",
        [stage],
    )
    done = 0

    def tick(count: int) -> None:
        nonlocal done
        done += count
        tell(stage, done, len(wanted))

    backends = {reader.via: Nobody() for reader in item.stage.readers.values() if reader.model is not None}
    executor = Executor(
        item.stage, fingerprint, backends, Recorder(sink, run_id), spent=Spent(), stop=Stop(), budget=Budget(), on_tick=tick
    )
    with calm_collector():
        await executor.run(_chunks(store, stage, item.criteria_hash, wanted))


def _chunks(store: Store, stage: str, criteria: str, wanted: Sequence[tuple[str, str | None, int]]) -> Iterator[list[Subject]]:
    step = CHUNK_TEXTS if stage in NEEDS_TEXT else CHUNK
    for start in range(0, len(wanted), step):
        yield _subjects(store, stage, criteria, wanted[start : start + step])


def _subjects(store: Store, stage: str, criteria: str, wanted: Sequence[tuple[str, str | None, int]]) -> list[Subject]:
    """Records as the stage saw them when it judged: the text that was there, the people who had been heard."""
    ids, documents, seqs = (list(column) for column in zip(*wanted, strict=True))
    records = {record.record_id: record for record in load_records(store, ids)}
    texts = _documents(store, ids, documents, seqs) if stage in NEEDS_TEXT else {}
    people: dict[str, dict[str, Decision]] = {}
    for record_id, who, decision in store.rows(
        f"{_JUDGED} select own.id, who, decision from person_readings "
        "join own on own.record_id = person_readings.record_id and person_readings.seq < own.at "
        "where stage = $stage and criteria_hash = $criteria "
        "qualify row_number() over (partition by own.id, who order by person_readings.seq desc) = 1",
        {"ids": ids, "documents": documents, "seqs": seqs, "stage": stage, "criteria": criteria},
    ):
        if decision:
            people.setdefault(record_id, {})[who] = decision
    return [
        Subject(record=records[record_id], document=texts.get(record_id), people=people.get(record_id, {})) for record_id in ids
    ]


def _documents(store: Store, ids: Sequence[str], documents: Sequence[str | None], seqs: Sequence[int]) -> dict[str, Document]:
    """The text each verdict rests on, as it had been read last before the verdict."""
    rows = store.rows(
        f"{_JUDGED} select own.id, state, sections, content, "
        f"{', '.join(f'documents.{name}' for name in _DOCUMENT)} from documents "
        "join own on own.record_id = documents.record_id and own.document = documents.document_id and documents.seq < own.at "
        "qualify row_number() over (partition by own.id order by itself desc, documents.seq desc) = 1",
        {"ids": list(ids), "documents": list(documents), "seqs": list(seqs)},
    )
    found = {}
    for record_id, state, sections, content, *plain in rows:
        named = {name: value for name, value in zip(_DOCUMENT, plain, strict=True) if value is not None}
        found[record_id] = Document.model_validate(
            {
                **named, "record_id": record_id, "state": state, "sections": json.loads(sections or "[]"),
                **json.loads(content or "{}"),
            }
        )  # fmt: skip
    return found
