"""Gold labels that a screening tool left in its export: told by the readers, matched to the review's records."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.corpora import Export, read_records
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


def is_table_of_labels(path: Path) -> bool:
    """Whether a file of labels is a plain table (read by its columns) and not an export of records."""
    return Export(path).format == "csv"


def import_found_labels(store: Store, path: Path) -> FoundLabels:
    """Import include and exclude labels from an export; `maybe`, conflicts and records that match none are counted, listed."""
    parsed, _ = read_records(path)
    match = _Matcher(store)
    found = FoundLabels()
    rows: list[dict[str, object]] = []
    for record in parsed.records:
        decided = {stage: label for stage, label in record.labels.items() if label in ("include", "exclude")}
        known = match.find(record)
        if not record.labels:
            found.unlabelled += 1
        elif not decided:
            found.undecided += 1
        elif known is None:
            found.unmatched.append(record.title or record.record_id)
        else:
            rows += [_row(known, stage, label, path) for stage, label in decided.items()]
    if not rows:
        raise InputError(
            f"{path}: no label in it belongs to a record of the review ({found.unlabelled} without label, "
            f"{found.undecided} undecided, {len(found.unmatched)} not matched); nothing was imported"
        )
    store.append("gold", rows)
    found.labels = len(rows)
    found.by_stage = dict(Counter(f"{row['stage']} {row['decision']}" for row in rows))
    return found


def _row(record_id: str, stage: str, decision: str, path: Path) -> dict[str, object]:
    stage = STAGE_OF_SCREENING if stage == "screening" else stage
    return {"record_id": record_id, "stage": stage, "decision": decision, "reason": None, "at_time": now(), "source": path.name}


class _Matcher:
    """By id, else by an identifier that one record of the review alone has."""

    def __init__(self, store: Store) -> None:
        rows = store.rows("select record_id, doi, pmid, lower(title), year from records")
        self._ids = {row[0] for row in rows}
        self._by = [_alone([(row[place], row[0]) for row in rows]) for place in (1, 2)]
        self._by.append(_alone([(f"{row[3]} {row[4]}" if row[3] else None, row[0]) for row in rows]))

    def find(self, record: Record) -> str | None:
        """The id in the review, or None."""
        if record.record_id in self._ids:
            return record.record_id
        titled = f"{record.title.lower()} {record.year}" if record.title else None
        keys = (record.doi, record.pmid, titled)
        return next((by[key] for by, key in zip(self._by, keys, strict=True) if key and key in by), None)


def _alone(pairs: list[tuple[str | None, str]]) -> dict[str, str]:
    counts = Counter(key for key, _ in pairs if key)
    return {key: record_id for key, record_id in pairs if key and counts[key] == 1}
