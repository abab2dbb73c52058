"""People's labels of sampled items: imported whole or not at all, and what they come to where several people labelled."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from litcascade.corpora.labels import read_table
from litcascade.errors import InputError
from litcascade.eval.agreement import RaterPair, inter_rater
from litcascade.store import Store, now

_FORMS = {"yes": True, "y": True, "true": True, "1": True, "no": False, "n": False, "false": False, "0": False}
_LABELS = ("yes", "no")


@dataclass(frozen=True)
class LabelsImport:
    """How many labels came in, by judge and field, and how many rows of the file have none yet."""

    labels: int
    blank: int
    by_field: dict[str, int]


@dataclass(frozen=True)
class Labels:
    """Labels of one judge and field: `settled` by item, and the items on which people do not agree."""

    settled: dict[str, bool]
    disagreed: tuple[str, ...]
    people: tuple[str, ...]


def import_labels(store: Store, path: Path, by: str | None) -> LabelsImport:
    """Import a filled-in table of `judge plan`; blank labels wait.

    An item that was never drawn, a word that is neither yes nor no, two different labels of one person on one item, and a
    label that nobody signs are an `InputError`; nothing is imported then.
    """
    names, rows = read_table(path)
    if missing := [name for name in ("item_id", "label") if name not in names]:
        raise InputError(f"{path}: has no column '{missing[0]}'; fill in the table that `litcascade judge plan` wrote")
    return record_labels(store, rows, by, path)


def record_labels(store: Store, rows: Sequence[tuple[int, dict[str, str]]], by: str | None, path: Path | str) -> LabelsImport:
    """Append labels given as (line, cells by column: item_id, label, maybe who and note), whole or not at all."""
    drawn = {row[0]: row[1:] for row in store.rows("select item_id, judge, field, record_id from judge_samples")}
    told: dict[tuple[str, str], bool] = {}
    kept = []
    blank = 0
    for line, row in rows:
        word, item_id = row["label"].strip().casefold().removesuffix(".0"), row["item_id"].strip()
        if not word:
            blank += 1
            continue
        where = f"{path}: line {line}"
        if item_id not in drawn:
            raise InputError(f"{where}: item '{item_id}' was not drawn in this review; fill in the table as it was written")
        if word not in _FORMS:
            raise InputError(f"{where}: '{row['label'].strip()[:40]}' is no label; write yes or no, or leave it blank")
        who = row.get("who", "").strip() or (by or "").strip()
        if not who:
            raise InputError(f"{where}: nobody is named; fill in the column who, or add --by NAME")
        if told.get((item_id, who), _FORMS[word]) != _FORMS[word]:
            raise InputError(f"{where}: {who} labels item '{item_id}' both yes and no; keep one row")
        if (item_id, who) not in told:
            judge, field, record_id = drawn[item_id]
            kept.append(
                {
                    "at_time": now(), "judge": judge, "field": field, "item_id": item_id, "record_id": record_id,
                    "label": _FORMS[word], "who": who, "note": row.get("note", "").strip() or None,
                }
            )  # fmt: skip
        told[(item_id, who)] = _FORMS[word]
    store.append("judge_labels", kept)
    return LabelsImport(len(kept), blank, dict(Counter(f"{row['judge']} {row['field']}" for row in kept)))


def labels_of(store: Store, judge: str, field: str) -> Labels:
    """The newest label of each person on each item; one on which people differ is not settled until they agree."""
    rows = _newest(store, judge, field)
    said: dict[str, set[bool]] = {}
    for item_id, _, label in rows:
        said.setdefault(item_id, set()).add(label)
    settled = {item_id: next(iter(labels)) for item_id, labels in said.items() if len(labels) == 1}
    disagreed = tuple(item_id for item_id, labels in said.items() if len(labels) > 1)
    return Labels(settled, disagreed, tuple(sorted({who for _, who, _ in rows})))


def people_agree(store: Store, judge: str, field: str) -> tuple[RaterPair, ...]:
    """Agreement of each two people who labelled items of this judge and field; none where one person did."""
    rows = _newest(store, judge, field)
    if len({who for _, who, _ in rows}) < 2:
        return ()
    table = pl.DataFrame(
        {
            "record_id": [row[0] for row in rows],
            "rater": [row[1] for row in rows],
            "label": [_LABELS[not row[2]] for row in rows],
        }
    )
    return inter_rater(table, labels=_LABELS)


def _newest(store: Store, judge: str, field: str) -> Sequence[tuple[str, str, bool]]:
    found: list[tuple[str, str, bool]] = [
        (row[0], row[1], row[2])
        for row in store.rows(
            "select item_id, who, label from judge_labels where judge = ? and field = ? "
            "and seq not in (select of_seq from withdrawn) "
            "qualify row_number() over (partition by item_id, who order by seq desc) = 1 order by item_id, who",
            [judge, field],
        )
    ]
    return found
