"""Duplicates of a review: found, stored with the reason of every join, decided by people, undone by them."""

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from litcascade.corpora.dedup import Decided, Duplicates, Verdict, find_duplicates
from litcascade.corpora.labels import PairWord, read_pairs
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
    gold_differs: int = 0
    changed: bool = True
    notes: tuple[str, ...] = ()


def deduplicate(store: Store) -> DedupReceipt:
    """Find duplicates anew among all records, people's words before the rules; nothing is stored where nothing changed.

    Of the records of one report the one is kept that a person included, else one that people decided, else one with extracted
    values, else one that has a verdict, else the fullest.
    """
    records = load_records(store)
    if not records:
        raise InputError("there are no records yet; import them first (litcascade import FILE)")
    found = find_duplicates(records, _words(store))
    decisions = _decisions(store)
    kept = _kept(found, _ranks(store, decisions))
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
        contradictions=_torn(members, decisions),
        gold_differs=_gold_differs(store),
        changed=changed,
        notes=found.notes,
    )


def _words(store: Store) -> list[Decided]:
    """What people said of pairs, the newest word on a pair alone."""
    rows = store.rows(
        f"select first_id, second_id, verdict, who from current_pairs where who <> '{RULES}' and verdict <> 'unsure'"
    )
    return [Decided(first, second, Verdict(verdict), who) for first, second, verdict, who in rows]


def _decisions(store: Store) -> dict[str, tuple[str, ...]]:
    """What people decided on each record: its decisions at the stages that have any, in the order of the stages' names."""
    rows = store.rows(
        "select record_id, list(stage || ': ' || decision order by stage) from ("
        "select * from adjudications where decision is not null and seq not in (select of_seq from withdrawn) "
        "qualify row_number() over (partition by record_id, stage order by seq desc) = 1) group by 1"
    )
    return {record_id: tuple(said) for record_id, said in rows}


def _ranks(store: Store, decisions: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """How much would be lost with a record: a person's include before any decision of people, then values, then verdicts."""
    judged = dict(
        store.rows(
            "select record_id, max(case when state = 'excluded' then 1 else 2 end) from verdicts "
            "where not starts_with(fingerprint, 'baseline:') group by 1"
        )
    )
    for (record_id,) in store.rows("select distinct record_id from extractions"):
        judged[record_id] = 3
    for record_id, said in decisions.items():
        judged[record_id] = 5 if any(not word.endswith("exclude") for word in said) else 4
    return judged


def _kept(found: Duplicates, ranks: Mapping[str, int]) -> dict[str, str]:
    """For each record that the rules keep, the one to keep of its cluster."""
    best: dict[str, tuple[int, str]] = {}
    for record_id, old in found.clusters.items():
        rank = ranks.get(record_id, 0)
        if old not in best or rank > best[old][0]:
            best[old] = rank, record_id if rank else old
    return {old: record_id for old, (_, record_id) in best.items()}


def _torn(members: Mapping[str, Sequence[str]], decisions: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Groups of one report on whose records people decided otherwise at the same stage."""
    torn = []
    for group in members.values():
        said = {word for record_id in group for word in decisions.get(record_id, ())}
        if len({word.partition(":")[0] for word in said}) < len(said):
            torn.append(tuple(group))
    return torn


def _gold_differs(store: Store) -> int:
    """Reports whose records carry different gold labels at a stage; the include holds."""
    return int(
        store.value(
            "select count(*) from (select kept_id, stage from ("
            "select * from gold qualify row_number() over (partition by record_id, stage order by seq desc) = 1) newest "
            "join current_clusters using (record_id) group by kept_id, stage having min(decision) <> max(decision))"
        )
    )


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


def import_pairs(_: Review, store: Store, path: Path, by: str | None) -> LabelsReceipt:
    """Import people's words on pairs (same, different, same study, unsure), and find duplicates anew with them."""
    words = read_pairs(path)
    with store.transaction():
        record_words(store, words, by, path)
        deduplicate(store)
    return LabelsReceipt(len(words), dict(Counter(word.verdict for word in words)))


def record_words(store: Store, words: Sequence[PairWord], by: str | None, where: Path | str) -> None:
    """Append people's words on pairs; they count from the next `deduplicate` on. `where` names their origin in errors."""
    require_known(store, where, {record_id for word in words for record_id in (word.first, word.second)})
    nobody = next((word for word in words if not (word.who or by)), None)
    if nobody:
        raise InputError(f"{where}: nobody is named for the pair {nobody.first}, {nobody.second}; fill in who, or add --by NAME")
    rows = [
        {
            "at_time": now(), "first_id": word.first, "second_id": word.second, "verdict": word.verdict, "rule": "a person",
            "why": word.note, "who": word.who or by,
        }
        for word in words
    ]  # fmt: skip
    store.append("pairs", rows)
