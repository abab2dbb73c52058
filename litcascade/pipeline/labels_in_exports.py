"""Gold labels that a screening tool left in its export: told by the readers, matched to the review's records."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.corpora import Export
from litcascade.corpora.dedup.fold import fold
from litcascade.corpora.found_labels import COLUMNS
from litcascade.corpora.source import open_text
from litcascade.corpora.table import titled_columns
from litcascade.errors import InputError
from litcascade.schemas import Record
from litcascade.store import Store, now

STAGE_OF_SCREENING = "title_abstract"  # of a label whose file does not say which stage it belongs to


@dataclass
class FoundLabels:
    """What an import of labels out of an export came to; every record of the file is in exactly one of the counts."""

    labels: int = 0
    by_stage: dict[str, int] = field(default_factory=dict)
    unlabelled: int = 0
    undecided: int = 0
    unmatched: list[str] = field(default_factory=list)
    contradicted: list[str] = field(default_factory=list)


def is_table_of_labels(path: Path) -> bool:
    """Whether a file of labels is a plain table (ids and a column a stage) and not an export with titles of its own."""
    if Export(path).format != "csv":
        return False
    names = titled_columns(open_text(path))
    stages = {name for stage in ("title_abstract", "full_text") for name in COLUMNS[stage]}
    return names is None or bool(stages & names) or {"field", "value"} <= names


def import_found_labels(store: Store, path: Path) -> FoundLabels:
    """Import include and exclude labels from an export, each under the record of the review that is the same one.

    `maybe`, differing screeners, records that match none, and labels of one record that contradict each other are counted
    and listed; none of these is imported.
    """
    export = Export(path)
    match = _Matcher(store)
    found = FoundLabels()
    said: dict[tuple[str, str], set[str]] = {}
    for record in (item for item in export.items() if isinstance(item, Record)):
        decided = {stage: label for stage, label in record.labels.items() if label in ("include", "exclude")}
        known = match.find(record) if decided else None
        if not record.labels:
            found.unlabelled += 1
        elif not decided:
            found.undecided += 1
        elif known is None:
            found.unmatched.append(record.title or record.record_id)
        else:
            for stage, label in decided.items():
                said.setdefault((known, STAGE_OF_SCREENING if stage == "screening" else stage), set()).add(label)
    found.contradicted = sorted(record_id for (record_id, _), labels in said.items() if len(labels) > 1)
    rows: list[dict[str, object]] = [
        {
            "record_id": key[0],
            "stage": key[1],
            "decision": next(iter(labels)),
            "reason": None,
            "at_time": now(),
            "source": path.name,
        }
        for key, labels in said.items()
        if len(labels) == 1
    ]
    if not rows:
        raise InputError(
            f"{path}: no label in it belongs to a record of the review ({found.unlabelled} without label, {found.undecided} "
            f"undecided, {len(found.unmatched)} not matched, {len(found.contradicted)} contradicted); nothing was imported"
        )
    store.append("gold", rows)
    found.labels = len(rows)
    found.by_stage = dict(Counter(f"{row['stage']} {row['decision']}" for row in rows))
    return found


class _Matcher:
    """By an identifier or a title and year that one record of the review alone has; by the file's own id where these agree.

    An id alone is not trusted: row numbers, and ids made of a file's name, stand for other records in other files.
    """

    def __init__(self, store: Store) -> None:
        rows = store.rows("select record_id, doi, pmid, title, year from records")
        self._own = {row[0]: (row[1], row[2], _folded(row[3])) for row in rows}
        self._by = [_alone([(row[place], row[0]) for row in rows]) for place in (1, 2)]
        self._by.append(_alone([(f"{_folded(row[3])} {row[4]}" if row[3] else None, row[0]) for row in rows]))

    def find(self, record: Record) -> str | None:
        """The id in the review, or None."""
        title = _folded(record.title)
        keys = (record.doi, record.pmid, title)
        own = self._own.get(record.record_id) if record.record_id else None
        told = [a == b for a, b in zip(own, keys, strict=True) if a and b] if own else []
        if told and all(told):
            return record.record_id
        whole = (record.doi, record.pmid, f"{title} {record.year}" if title else None)
        return next((by[key] for by, key in zip(self._by, whole, strict=True) if key and key in by), None)


def _folded(title: str | None) -> str | None:
    return fold(title) or None if title else None


def _alone(pairs: list[tuple[str | None, str]]) -> dict[str, str]:
    counts = Counter(key for key, _ in pairs if key)
    return {key: record_id for key, record_id in pairs if key and counts[key] == 1}
