"""Imports: records, full texts, gold labels, people's decisions; each whole or not at all."""

import hashlib
import json
import uuid
from collections import Counter
from dataclasses import asdict, dataclass, field
from pathlib import Path

from litcascade.corpora import Receipt, read_records
from litcascade.corpora.labels import is_field_table, read_choices, read_field_labels, read_labels
from litcascade.corpora.texts import Known, Matcher, find_files, read_document
from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.schemas import Document, Record
from litcascade.store import Store, now


def import_records(store: Store, path: Path) -> Receipt:
    """Import an export file of records with its receipt; ids that are in the review already are refused."""
    parsed, receipt = read_records(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    earlier = store.rows("select at_time, path from imports where sha256 = ?", [digest])
    if earlier:
        raise InputError(f"{path}: the same file was imported on {str(earlier[0][0])[:16]} (as {earlier[0][1]}); nothing was added")
    ids = [record.record_id for record in parsed.records]
    taken = store.rows("select record_id from records where record_id in (select unnest(?::text[])) order by 1", [ids])
    if taken:
        raise InputError(
            f"{path}: {len(taken)} id(s) are in the review already, such as '{taken[0][0]}'; "
            "give the new records other ids, or remove them to have them made"
        )
    import_id = f"import-{digest[:12]}"
    with store.transaction():
        store.insert(
            "imports",
            {"import_id": [import_id], "at_time": [now()], "path": [path.name], "sha256": [digest],
             "format": [receipt.format], "encoding": [receipt.encoding], "receipt": [json.dumps(asdict(receipt) | {"path": path.name})]},
        )  # fmt: skip
        _insert_records(store, import_id, parsed.records)
        aside = parsed.set_aside
        store.insert(
            "set_aside",
            {"import_id": [import_id] * len(aside), "line": [item.line for item in aside],
             "reason": [item.reason for item in aside], "raw": [item.raw for item in aside],
             "is_record": [item.is_record for item in aside]},
        )  # fmt: skip
    return receipt


def _insert_records(store: Store, import_id: str, records: list[Record], batch: int = 5000) -> None:
    plain = ("record_id", "title", "abstract", "year", "journal", "doi", "pmid", "url", "kind", "position")
    for start in range(0, len(records), batch):
        part = records[start : start + batch]
        columns: dict[str, list[object]] = {name: [getattr(record, name) for record in part] for name in plain}
        columns["import_id"] = [import_id] * len(part)
        columns["abstract_status"] = [record.abstract_status.value for record in part]
        columns["authors"] = [list(record.authors) for record in part]
        columns["source"] = [json.dumps(record.source, ensure_ascii=False) for record in part]
        store.insert("records", columns)


@dataclass
class TextsReceipt:
    """What an import of full texts came to; every file is in exactly one of the counts."""

    files: int = 0
    matched: int = 0
    already_here: int = 0
    states: dict[str, int] = field(default_factory=dict)
    unmatched: list[tuple[str, str]] = field(default_factory=list)
    clashes: list[tuple[str, str]] = field(default_factory=list)


def import_texts(store: Store, folder: Path) -> TextsReceipt:
    """Import full texts from a folder; two files for one record are a clash that a person resolves."""
    if not store.value("select count(*) from records"):
        raise InputError("import the records first, so that full texts can be matched to them")
    matcher = Matcher(Known(record_id, doi) for record_id, doi in store.rows("select record_id, doi from records"))
    files = find_files(folder)
    receipt = TextsReceipt(files=len(files))
    here = {row for row in store.rows("select record_id, document_id from documents")}
    found: dict[str, tuple[Document, str]] = {}
    for path in files:
        document = read_document(path)
        record_id, how = matcher.match(document, path)
        if record_id is None:
            receipt.unmatched.append((path.name, how))
        elif (record_id, document.document_id) in here:
            receipt.already_here += 1
        elif record_id in found:
            receipt.clashes.append((path.name, f"record {record_id} has {found[record_id][0].path} already"))
        else:
            found[record_id] = (document.model_copy(update={"record_id": record_id}), how)
    receipt.matched = len(found)
    receipt.states = dict(Counter(document.state.value for document, _ in found.values()))
    _insert_documents(store, list(found.values()))
    return receipt


def _insert_documents(store: Store, found: list[tuple[Document, str]]) -> None:
    plain = ("document_id", "record_id", "path", "format", "note", "title", "doi", "abstract", "references")
    columns: dict[str, list[object]] = {name: [getattr(document, name) for document, _ in found] for name in plain}
    columns["at_time"] = [now()] * len(found)
    columns["state"] = [document.state.value for document, _ in found]
    columns["sections"] = [json.dumps([s.model_dump() for s in document.sections], ensure_ascii=False) for document, _ in found]
    columns["matched_by"] = [how for _, how in found]
    with store.transaction():
        store.insert("documents", columns)


@dataclass
class LabelsReceipt:
    """What an import of labels or decisions came to."""

    labels: int = 0
    by_stage: dict[str, int] = field(default_factory=dict)


def import_gold(review: Review, store: Store, path: Path) -> LabelsReceipt:
    """Import gold labels (a column a stage) or gold fields (record_id, field, value); unknown ids are refused, listed."""
    if is_field_table(path):
        fields = read_field_labels(path, review.protocol.fields)
        _require_known(store, path, {item.record_id for item in fields})
        store.insert(
            "gold_fields",
            {"at_time": [now()] * len(fields), "record_id": [item.record_id for item in fields],
             "field": [item.field for item in fields], "value": [json.dumps(item.value, ensure_ascii=False) for item in fields],
             "source": [path.name] * len(fields)},
        )  # fmt: skip
        return LabelsReceipt(len(fields), dict(Counter(item.field for item in fields)))
    labels = read_labels(path)
    _require_known(store, path, {label.record_id for label in labels})
    store.insert(
        "gold",
        {"at_time": [now()] * len(labels), "record_id": [label.record_id for label in labels],
         "stage": [label.stage for label in labels], "decision": [label.decision for label in labels],
         "reason": [label.reason for label in labels], "source": [path.name] * len(labels)},
    )  # fmt: skip
    return LabelsReceipt(len(labels), dict(Counter(f"{label.stage} {label.decision}" for label in labels)))


def import_decisions(review: Review, store: Store, path: Path, by: str | None) -> LabelsReceipt:
    """Import people's decisions from a filled-in queue; each is kept with the version of the criteria in force.

    A decision of a person who is a reader of that stage is that reader's reading; anyone else's settles the record.
    """
    choices = read_choices(path)
    _require_known(store, path, {choice.record_id for choice in choices})
    stages = dict(review.protocol.stages.items())
    adjudications: list[dict[str, object]] = []
    readings: list[dict[str, object]] = []
    for choice in choices:
        who = choice.who or by
        if choice.stage not in stages or choice.stage == "extraction":
            raise InputError(f"{path}: record {choice.record_id}: '{choice.stage}' is no screening stage of this review")
        if not who:
            raise InputError(f"{path}: record {choice.record_id}: nobody is named; fill in the column who, or add --by NAME")
        known = {criterion.id for criterion in review.protocol.criteria_for(choice.stage)}
        if choice.criterion and choice.criterion not in known:
            raise InputError(f"{path}: record {choice.record_id}: there is no criterion '{choice.criterion}' at {choice.stage}")
        common = {"at_time": now(), "record_id": choice.record_id, "stage": choice.stage, "who": who,
                  "decision": choice.decision, "criteria_hash": review.protocol.criteria_hash(choice.stage)}  # fmt: skip
        reader = review.protocol.readers.get(who)
        if reader and reader.person and who in stages[choice.stage].readers and choice.decision:
            readings.append(common)
        else:
            adjudications.append({**common, "adjudication_id": uuid.uuid4().hex, "unsure": choice.unsure,
                                  "criterion": choice.criterion, "note": choice.note})  # fmt: skip
    with store.transaction():
        for table, rows in (("adjudications", adjudications), ("person_readings", readings)):
            if rows:
                store.insert(table, {name: [row[name] for row in rows] for name in rows[0]})
    return LabelsReceipt(len(choices), dict(Counter(choice.stage for choice in choices)))


def _require_known(store: Store, path: Path, ids: set[str]) -> None:
    known = {row[0] for row in store.rows("select record_id from records where record_id in (select unnest(?::text[]))", [list(ids)])}
    unknown = sorted(ids - known)
    if unknown:
        shown = ", ".join(unknown[:5]) + (", …" if len(unknown) > 5 else "")
        raise InputError(f"{path}: {len(unknown)} id(s) are not in the review: {shown}; nothing was imported")
