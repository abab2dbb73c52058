"""Duplicates of a review: found, stored with the reason of every join, decided by people, undone by them."""

import uuid
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.corpora.dedup import Decided, Duplicates, Verdict, find_duplicates
from litcascade.corpora.labels import read_pairs
from litcascade.corpora.writers import write_table
from litcascade.errors import InputError
from litcascade.pipeline.exporting import EXPORTERS
from litcascade.pipeline.importing import LabelsReceipt, require_known
from litcascade.pipeline.review import Review
from litcascade.pipeline.subjects import load_records
from litcascade.store import Store, now

RULES = "rules"


@dataclass
class DedupReceipt:
    """What de-duplication came to: `records` = `kept` + `removed`; `studies` counts what the kept reports belong to."""

    records: int
    kept: int
    removed: int
    studies: int
    rules: dict[str, int]
    links: dict[str, int]
    unsure: int
    statuses: dict[str, int]
    contradictions: list[tuple[str, ...]] = field(default_factory=list)
    changed: bool = True
    notes: tuple[str, ...] = ()


def deduplicate(review: Review, store: Store) -> DedupReceipt:
    """Find duplicates anew among all records, people's words before the rules; nothing is stored where nothing changed.

    Of the records of one report the one is kept that a person included, else one that was decided, else the fullest.
    """
    records = load_records(store)
    if not records:
        raise InputError("there are no records yet; import them first (litcascade import FILE)")
    found = find_duplicates(records, _words(store))
    decisions = _decisions(review, store)
    kept = _kept(found, decisions)
    rows = [
        {
            "record_id": record_id,
            "kept_id": kept[old],
            "study_id": kept[found.clusters[found.studies[record_id]]],
            "status": status.value if (status := found.statuses.get(record_id)) else None,
        }
        for record_id, old in found.clusters.items()
    ]
    changed = _store(store, found, rows)
    members: dict[str, list[str]] = {}
    for row in rows:
        members.setdefault(str(row["kept_id"]), []).append(str(row["record_id"]))
    return DedupReceipt(
        records=len(records),
        kept=len(members),
        removed=len(records) - len(members),
        studies=len({row["study_id"] for row in rows}),
        rules=dict(Counter(pair.rule for pair in found.pairs if pair.verdict is Verdict.SAME)),
        links=dict(Counter(pair.rule for pair in found.pairs if pair.verdict is Verdict.SAME_STUDY)),
        unsure=len(found.unsure()),
        statuses=dict(Counter(status.value for status in found.statuses.values())),
        contradictions=[tuple(group) for group in members.values() if len({decisions[i] for i in group if i in decisions}) > 1],
        changed=changed,
        notes=found.notes,
    )


def _words(store: Store) -> list[Decided]:
    """What people said of pairs, the newest word on a pair alone."""
    rows = store.rows(
        f"select first_id, second_id, verdict, who from current_pairs where who <> '{RULES}' and verdict <> 'unsure'"
    )
    return [Decided(first, second, Verdict(verdict), who) for first, second, verdict, who in rows]


def _decisions(review: Review, store: Store) -> dict[str, str]:
    """People's decisions on records at the first stage that has any."""
    first = next(iter(name for name, _ in review.protocol.stages.items()), "title_abstract")
    return dict(
        store.rows(
            "select record_id, decision from adjudications where stage = ? and decision is not null "
            "qualify row_number() over (partition by record_id order by seq desc) = 1",
            [first],
        )
    )


def _kept(found: Duplicates, decisions: Mapping[str, str]) -> dict[str, str]:
    """For each record that the rules keep, the one to keep of its cluster."""
    best: dict[str, tuple[int, str]] = {}
    for record_id, old in found.clusters.items():
        decision = decisions.get(record_id)
        rank = 2 if decision == "include" else 1 if decision else 0
        if old not in best or rank > best[old][0]:
            best[old] = rank, record_id if rank else old
    return {old: record_id for old, (_, record_id) in best.items()}


def _store(store: Store, found: Duplicates, rows: list[dict[str, str | None]]) -> bool:
    """Append pairs and clusters under a new version, unless they are as they were."""
    pairs = [
        (pair.first, pair.second, pair.verdict.value, pair.rule, pair.why, pair.score)
        for pair in found.pairs
        if not pair.rule.startswith("a person")
    ]
    before = store.rows(
        "select first_id, second_id, verdict, rule, why, score from pairs "
        f"where who = '{RULES}' and version = (select arg_max(version, seq) from clusters) order by seq"
    )
    clusters = store.rows("select record_id, kept_id, study_id, status from current_clusters")
    if sorted(clusters) == sorted(tuple(row.values()) for row in rows) and before == pairs:
        return False
    stamp = {"at_time": now(), "version": uuid.uuid4().hex}
    names = ("first_id", "second_id", "verdict", "rule", "why", "score")
    with store.transaction():
        store.append("pairs", [{**stamp, **dict(zip(names, pair, strict=True)), "who": RULES} for pair in pairs])
        store.append("clusters", [{**stamp, **row} for row in rows])
    return True


@EXPORTERS.register("duplicates")
def export_pairs(_: Review, store: Store, path: Path) -> int:
    """Pairs for people, side by side: the unsure first, then joins and links, with an empty column `decision`."""
    shown = ("title", "authors", "year", "journal", "pages", "doi")
    header = ["first_id", "second_id", "decision", "who", "verdict", "rule", "why"]
    header += [f"{side}_{name}" for name in shown for side in ("first", "second")]
    columns = ", ".join(
        f"array_to_string({side}.authors, '; ')" if name == "authors" else f"{side}.{name}"
        for name in shown
        for side in ("a", "b")
    )
    rows = store.rows(
        f"select first_id, second_id, '', '', verdict, rule, why, {columns} from current_pairs "
        "join records a on a.record_id = first_id join records b on b.record_id = second_id "
        "order by verdict <> 'unsure', verdict, current_pairs.seq"
    )
    path.write_text(write_table(header, (dict(zip(header, row, strict=True)) for row in rows)), encoding="utf-8", newline="")
    return len(rows)


def import_pairs(review: Review, store: Store, path: Path, by: str | None) -> LabelsReceipt:
    """Import people's words on pairs (same, different, same study, unsure), and find duplicates anew with them."""
    words = read_pairs(path)
    require_known(store, path, {record_id for word in words for record_id in (word.first, word.second)})
    nobody = next((word for word in words if not (word.who or by)), None)
    if nobody:
        raise InputError(f"{path}: nobody is named for the pair {nobody.first}, {nobody.second}; fill in who, or add --by NAME")
    rows = [
        {
            "at_time": now(), "first_id": word.first, "second_id": word.second, "verdict": word.verdict, "rule": "a person",
            "why": word.note, "who": word.who or by,
        }
        for word in words
    ]  # fmt: skip
    store.append("pairs", rows)
    deduplicate(review, store)
    return LabelsReceipt(len(words), dict(Counter(word.verdict for word in words)))
