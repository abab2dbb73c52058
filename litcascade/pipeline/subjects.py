"""What is pending at a stage, and its records and texts, chunk by chunk."""

import json
from collections.abc import Iterator, Sequence

from litcascade.pipeline.texts import load_documents
from litcascade.schemas import AbstractStatus, Decision, PublicationStatus, Record
from litcascade.stages import Subject
from litcascade.store import Store
from litcascade.store.views import NEEDS_TEXT

CHUNK = 512
CHUNK_TEXTS = 16
OVERLAP = 2
MOST_OVERLAP = 64  # reports of a thousand records at most are held at once
_PLAIN = (
    "record_id", "title", "abstract", "year", "year_note", "journal", "volume", "issue", "pages", "doi", "pmid", "pmcid", "url",
    "kind",
)  # fmt: skip


def pending(store: Store, stage: str) -> list[str]:
    """Ids of the records that wait for a verdict at a stage, in the order of import."""
    rows = store.rows(
        f"select {stage}.record_id from {stage} join records using (record_id) where state = 'pending' order by records.seq"
    )
    return [row[0] for row in rows]


def chunks(store: Store, stage: str, ids: Sequence[str], size: int | None = None) -> Iterator[list[Subject]]:
    """Subjects in chunks, loaded as they are needed."""
    step = size or chunk_size(stage in NEEDS_TEXT)
    for start in range(0, len(ids), step):
        yield load_subjects(store, stage, ids[start : start + step])


def chunk_size(needs_text: bool) -> int:
    """Records in a chunk."""
    return CHUNK_TEXTS if needs_text else CHUNK


def overlap(concurrency: int, needs_text: bool) -> int:
    """How many chunks to work at once, so that they hold about twice the questions that may be in flight."""
    return min(MOST_OVERLAP, max(OVERLAP, -(-2 * concurrency // chunk_size(needs_text))))


def load_subjects(store: Store, stage: str, ids: Sequence[str]) -> list[Subject]:
    """The subjects of these records, in the order of `ids`."""
    records = {record.record_id: record for record in load_records(store, ids)}
    documents = load_documents(store, ids) if stage in NEEDS_TEXT else {}
    people: dict[str, dict[str, Decision]] = {}
    for record_id, who, decision in store.rows(
        "select coalesce(kept_id, record_id) as id, who, decision from person_readings "
        "left join current_clusters using (record_id) where stage = ? and id in (select unnest(?::text[])) "
        "and criteria_hash = (select criteria_hash from current_stages where stage = ?) "
        "qualify row_number() over (partition by id, who order by seq desc) = 1",
        [stage, list(ids), stage],
    ):
        if decision:  # a reader who is unsure is still waited for
            people.setdefault(record_id, {})[who] = decision
    return [
        Subject(record=records[record_id], document=documents.get(record_id), people=people.get(record_id, {}))
        for record_id in ids
    ]


def load_records(store: Store, ids: Sequence[str] | None = None) -> list[Record]:
    """Records by id (all, in the order of import, where none are named); raw fields are left in the store."""
    where, parameters = ("where record_id in (select unnest(?::text[]))", [list(ids)]) if ids is not None else ("", [])
    rows = store.rows(
        f"select abstract_status, authors, status, labels, import_id, position, {', '.join(_PLAIN)} "
        f"from records {where} order by seq",
        parameters,
    )
    return [
        Record(
            abstract_status=AbstractStatus(row[0]),
            authors=tuple(row[1] or ()),
            status=PublicationStatus(row[2]) if row[2] else None,
            labels=json.loads(row[3]) if row[3] else {},
            import_id=row[4] or "",
            position=row[5] or 0,
            **dict(zip(_PLAIN, row[6:], strict=True)),
        )
        for row in rows
    ]
