"""Imports: records, full texts, gold labels, people's decisions; each whole or not at all."""

import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import islice
from pathlib import Path

from pydantic_core import to_json

from litcascade.corpora import Export, Item, Receipt, Repair, SetAside, Tally
from litcascade.corpora.ids import number
from litcascade.corpora.labels import Choice, FieldLabel, is_field_table, read_choices, read_field_labels, read_labels
from litcascade.corpora.readers import require_records
from litcascade.errors import InputError
from litcascade.pipeline.calm import calm_collector
from litcascade.pipeline.review import Review
from litcascade.schemas import Record
from litcascade.store import Store, now

_BATCH = 2_000
_PLAIN = (
    "record_id", "title", "abstract", "year", "year_note", "journal", "volume", "issue", "pages", "doi", "pmid", "pmcid", "url",
    "kind", "position",
)  # fmt: skip


def import_records(
    store: Store, path: Path, columns: Mapping[str, str] | None = None, tick: Callable[[int], None] = lambda _: None
) -> Receipt:
    """Import an export file of records with its receipt, as it is read: memory does not grow with the file.

    A record keeps the file's own id where no other record has it, in the file or in the review; else one is made.
    `tick` is told how many records were read so far.
    """
    export = Export(path, columns)
    digest = _digest(path)
    earlier = store.rows("select at_time, path from imports where sha256 = ?", [digest])
    if earlier:
        raise InputError(
            f"{path}: the same file was imported on {str(earlier[0][0])[:16]} (as {earlier[0][1]}); nothing was added"
        )
    import_id = f"import-{digest[:12]}"
    tally = Tally()
    with calm_collector(), store.transaction():
        given = _stage_items(store, import_id, _counted(export.items(), tally, tick))
        require_records(path, tally)
        taken = {row[0] for row in store.rows("select record_id from records")}
        ids, notes = number(given, export.stem, taken)
        store.move_staged("records", ids)
        tally.repairs += notes
        receipt = tally.receipt(str(path), export.format, export.encoding)
        kept = json.dumps({**asdict(receipt), "path": path.name})
        row = {"import_id": import_id, "at_time": now(), "path": path.name, "sha256": digest, "receipt": kept}
        store.append("imports", [{**row, "format": receipt.format, "encoding": receipt.encoding}])
    return receipt


def _digest(path: Path) -> str:
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def _counted(items: Iterator[Item], tally: Tally, tick: Callable[[int], None]) -> Iterator[Record | SetAside]:
    for item in items:
        tally.add(item)
        if not isinstance(item, Repair):
            yield item
        if tally.read % _BATCH == 0:
            tick(tally.read)


def _stage_items(store: Store, import_id: str, items: Iterator[Record | SetAside]) -> list[str]:
    """Stage the records and store what was set aside, batch by batch; returns the file's own ids (blank: none) in order."""
    staged = store.staging("records")
    given: list[str] = []
    while batch := list(islice(items, _BATCH)):
        records = [item for item in batch if isinstance(item, Record)]
        given += [record.record_id for record in records]
        store.append(staged, [record_row(record, import_id) for record in records])
        store.append("set_aside", [{"import_id": import_id, **vars(item)} for item in batch if isinstance(item, SetAside)])
    return given


def record_row(record: Record, import_id: str) -> dict[str, object]:
    """A record as a row of the store."""
    return {
        **{name: getattr(record, name) for name in _PLAIN},
        "import_id": import_id,
        "abstract_status": record.abstract_status.value,
        "authors": list(record.authors),
        "status": record.status.value if record.status else None,
        "labels": json.dumps(record.labels) if record.labels else None,
        "source": to_json(record.source).decode(),
    }


@dataclass
class LabelsReceipt:
    """What an import of labels or decisions came to."""

    labels: int = 0
    by_stage: dict[str, int] = field(default_factory=dict)


def import_gold(review: Review, store: Store, path: Path) -> LabelsReceipt:
    """Import gold labels (a column a stage) or gold fields (record_id, field, value); unknown ids are refused, listed."""
    if is_field_table(path):
        fields = read_field_labels(path, review.protocol.fields)
        require_known(store, path, {item.record_id for item in fields})
        kept = [{**vars(item), "value": json.dumps(item.value, ensure_ascii=False)} for item in fields]
        store.append("gold_fields", [{**row, "at_time": now(), "source": path.name} for row in kept])
        return LabelsReceipt(len(fields), dict(Counter(item.field for item in fields)))
    labels = read_labels(path)
    require_known(store, path, {label.record_id for label in labels})
    store.append("gold", [{**vars(label), "at_time": now(), "source": path.name} for label in labels])
    return LabelsReceipt(len(labels), dict(Counter(f"{label.stage} {label.decision}" for label in labels)))


def import_decisions(review: Review, store: Store, path: Path, by: str | None) -> LabelsReceipt:
    """Import people's decisions from a filled-in queue; each is kept with the version of the criteria in force.

    A decision of a person who is a reader of that stage is that reader's reading; anyone else's settles the record. What is
    said of a duplicate counts for the record that is kept, as long as the two are joined.
    """
    if is_field_table(path):
        return record_values(review, store, read_field_labels(path, review.protocol.fields), by, path)
    return record_choices(review, store, read_choices(path), by, path)


def record_choices(review: Review, store: Store, choices: Sequence[Choice], by: str | None, where: Path | str) -> LabelsReceipt:
    """Append people's decisions, whole or not at all; `where` names their origin in errors."""
    require_known(store, where, {choice.record_id for choice in choices})
    adjudications: list[dict[str, object]] = []
    readings: list[dict[str, object]] = []
    for choice in choices:
        row, reader = _decision(review, where, choice, by)
        if reader:
            readings.append({**row, "who": reader, "criterion": choice.criterion, "note": choice.note})
        else:
            settled = {"adjudication_id": uuid.uuid4().hex, "unsure": choice.unsure}
            adjudications.append({**row, **settled, "criterion": choice.criterion, "note": choice.note})
    _refuse_two_minds(where, adjudications)
    again = [
        {"adjudication_id": row["adjudication_id"], "at_time": now(), "reason": "decided under earlier criteria"}
        for row in adjudications
        if row["criteria_hash"] != review.protocol.criteria_hash(str(row["stage"]))
    ]
    with store.transaction():
        store.append("adjudications", adjudications)
        store.append("person_readings", readings)
        store.append("requeued", again)
    return LabelsReceipt(len(choices), dict(Counter(choice.stage for choice in choices)))


def _decision(review: Review, path: Path | str, choice: Choice, by: str | None) -> tuple[dict[str, object], str | None]:
    """The row of a decision, and the reader's name where a reader of the stage made it (whatever the case of the name).

    It is kept with the version of the criteria it was made under: that of the queue it stood in, else the one in force.
    """
    stages = dict(review.protocol.stages.items())
    where = f"{path}: record {choice.record_id}"
    if choice.stage not in stages or choice.stage == "extraction":
        hint = "; give values in a table record_id, field, value" if choice.stage == "extraction" else ""
        raise InputError(f"{where}: '{choice.stage}' is no screening stage of this review{hint}")
    who = choice.who or by
    if not who:
        raise InputError(f"{where}: nobody is named; fill in the column who, or add --by NAME")
    known = {criterion.id for criterion in review.protocol.criteria_for(choice.stage)}
    if choice.criterion and choice.criterion not in known:
        raise InputError(f"{where}: there is no criterion '{choice.criterion}' at {choice.stage}")
    names = [name for name in stages[choice.stage].readers if review.protocol.readers[name].person]
    reader = next((name for name in names if name.casefold() == who.casefold()), None)
    version = choice.criteria or review.protocol.criteria_hash(choice.stage)
    row = {"at_time": now(), "record_id": choice.record_id, "stage": choice.stage, "who": who, "decision": choice.decision}
    return {**row, "criteria_hash": version}, reader


def _refuse_two_minds(where: Path | str, adjudications: list[dict[str, object]]) -> None:
    """Two different settling decisions on one record in one file: nobody can tell which one holds."""
    told: dict[tuple[object, object], object] = {}
    for row in adjudications:
        key = (row["record_id"], row["stage"])
        word = row["decision"] or "unsure"
        if told.setdefault(key, word) != word:
            raise InputError(f"{where}: record {key[0]} is both {told[key]} and {word} at {key[1]}; keep one row")


def record_values(
    review: Review, store: Store, values: Sequence[FieldLabel], by: str | None, where: Path | str, note: str | None = None
) -> LabelsReceipt:
    """A person's extraction of records: the values, and that each record counts as extracted."""
    if not by:
        raise InputError(f"{where}: nobody is named; add --by NAME")
    ids = sorted({value.record_id for value in values})
    require_known(store, where, set(ids))
    documents = dict(store.rows("select record_id, document_id from current_documents"))
    decided = {"at_time": now(), "stage": "extraction", "decision": "extracted", "who": by, "unsure": False, "note": note}
    criteria = review.protocol.criteria_hash("extraction")
    keys = {record_id: uuid.uuid4().hex for record_id in ids}
    kept = [
        {
            "record_id": value.record_id,
            "field": value.field,
            "value": json.dumps(value.value, ensure_ascii=False),
            "reader": by,
            "fingerprint": "person",
            "run_id": keys[value.record_id],
            "document_id": documents.get(value.record_id),
        }
        for value in values
    ]
    rows = [{**decided, "record_id": key, "adjudication_id": keys[key], "criteria_hash": criteria} for key in ids]
    with store.transaction():
        store.append("extractions", kept)
        store.append("adjudications", rows)
    return LabelsReceipt(len(values), {"extraction": len(ids)})


def require_known(store: Store, where: Path | str, ids: set[str]) -> None:
    """Refuse ids that are not in the review, listed."""
    known = {
        row[0] for row in store.rows("select record_id from records where record_id in (select unnest(?::text[]))", [list(ids)])
    }
    unknown = sorted(ids - known)
    if unknown:
        shown = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        raise InputError(f"{where}: {len(unknown)} id(s) are not in the review: {shown}; nothing was imported")
