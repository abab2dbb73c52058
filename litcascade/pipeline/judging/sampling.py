"""Samples for people to label: a pilot first, then what the allocation of labels still wants; drawn at random and frozen.

Items are drawn whatever the judge said of them, so that sensitivity and specificity are by true class and labels alone are a
fair sample too. A truly correct item is met with the share of correct items, so a round is as large as the rarer class needs.
"""

import json
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from litcascade.corpora.writers import write_table
from litcascade.errors import InputError
from litcascade.eval.judge_calibration import Allocation, allocate
from litcascade.eval.panels.splits import rank_by_hash
from litcascade.pipeline.judging.items import load_groups
from litcascade.pipeline.judging.labels import labels_of
from litcascade.pipeline.judging.verdicts import NAMES, Item, Name, judged_items
from litcascade.pipeline.review import Review
from litcascade.store import Store, now

HEADER = ("sample", "item_id", "question", "field", "item", "others", "label", "who", "note", "record_id", "title", "doi")
_QUESTION = {
    "same_meaning": "Is the item, which a person recorded, among the others, in whatever words?",
    "support": "Is the item, which a program recorded, stated in the report for this field?",
}


@dataclass(frozen=True)
class Wishes:
    """How many labels a field may cost for each judge, the least of each true class, and the seed of the drawing."""

    budget: int = 100
    pilot: int = 10
    seed: int = 0


@dataclass(frozen=True)
class Round:
    """What was drawn for one judge and field: `drawn` items in round `number`, or why none.

    `wanted` is the allocation that the round aims at (None for the pilot), `have` the labels there are by true class.
    """

    judge: Name
    field: str
    number: int
    population: int
    waiting: int
    drawn: int
    have: Allocation
    wanted: Allocation | None
    note: str | None = None


def plan_labels(
    review: Review, store: Store, path: Path, wishes: Wishes, *, fields: Sequence[str] = (), judges: Sequence[Name] = NAMES
) -> list[Round]:
    """Draw what is still needed, freeze it, and write all items that wait for a label as a table to fill in.

    What was drawn and has no label yet is written out again, and nothing new is drawn for that judge and field. The table
    does not say what the judge thinks. A budget under two pilots is an `InputError`, as is having nothing to label.
    """
    allocate(0.5, 0.5, 0.5, wishes.budget, wishes.pilot)
    groups = load_groups(review, store, fields).groups
    items = judged_items(store, groups)
    if not items:
        raise InputError(
            "there is nothing to label: no extracted record has gold for a free-text field; import gold fields and run first"
        )
    if not path.parent.is_dir():
        raise InputError(f"{path}: there is no folder {path.parent}; make it first")
    sample_id = f"sample-{uuid.uuid4().hex[:8]}"
    rounds, rows = [], []
    for judge in judges:
        for name in dict.fromkeys(item.field for item in items):
            mine = [item for item in items if item.judge == judge and item.field == name]
            made, drawn = _round(store, judge, name, mine, wishes)
            rounds.append(made)
            rows += [_row(sample_id, made, item, wishes) for item in drawn]
    store.append("judge_samples", rows)
    _write(store, path, [item for item in items if item.judge in judges])
    return rounds


def _round(store: Store, judge: Name, name: str, items: Sequence[Item], wishes: Wishes) -> tuple[Round, list[Item]]:
    before = store.rows("select item_id, round from judge_samples where judge = ? and field = ? order by seq", [judge, name])
    drawn_before = {row[0] for row in before}
    number = max((row[1] for row in before), default=0) + 1
    labels = labels_of(store, judge, name).settled
    have = _classes(labels, items)
    waiting = sum(item.item_id in drawn_before and item.item_id not in labels for item in items)
    left = [item for item in items if item.item_id not in drawn_before]

    def told(drawn: int, wanted: Allocation | None, note: str | None) -> Round:
        return Round(judge, name, number if drawn else number - 1, len(items), waiting, drawn, have, wanted, note)

    if waiting:
        return told(0, None, f"{waiting} drawn item(s) still wait for a label"), []
    if not have.m0 + have.m1:
        count, wanted, note = _pilot(wishes)
    else:
        count, wanted, note = _wanted(labels, items, have, wishes)
    if count and not left:
        return told(0, wanted, "every item is labelled already; there are no more" if items else "there is no item"), []
    chosen = [left[place] for place in rank_by_hash([item.item_id for item in left], wishes.seed)[:count]]
    if count > len(chosen):
        note = f"{note}; only {len(chosen)} of {count} item(s) are left" if note else f"only {len(chosen)} item(s) are left"
    return told(len(chosen), wanted, note), chosen


def _pilot(wishes: Wishes) -> tuple[int, Allocation | None, str | None]:
    return 2 * wishes.pilot, None, "pilot"


def _classes(labels: dict[str, bool], items: Sequence[Item]) -> Allocation:
    """Labels of items that stand today, by true class."""
    told = [labels[item.item_id] for item in items if item.item_id in labels]
    return Allocation(m0=told.count(False), m1=told.count(True))


def _wanted(
    labels: dict[str, bool], items: Sequence[Item], have: Allocation, wishes: Wishes
) -> tuple[int, Allocation | None, str | None]:
    """How many items to draw so that both classes are expected to be met; rates from few labels are moved inwards."""
    told = [(item.judged, labels[item.item_id]) for item in items if item.item_id in labels and item.judged is not None]
    if not told:
        return 0, None, "the labelled items have no verdict of the judge yet; run `litcascade judge run` before the next round"
    right0 = sum(judged is False for judged, correct in told if not correct)
    right1 = sum(judged is True for judged, correct in told if correct)
    m1 = sum(correct for _, correct in told)
    p = (have.m1 + 1) / (have.m0 + have.m1 + 2)
    wanted = allocate(p, (right0 + 1) / (len(told) - m1 + 2), (right1 + 1) / (m1 + 2), wishes.budget, wishes.pilot)
    more0, more1 = max(0, wanted.m0 - have.m0), max(0, wanted.m1 - have.m1)
    if not (more0 or more1):
        return 0, wanted, "the labels wanted of both classes are there"
    count = max(ceil(more0 / (1 - p)), ceil(more1 / p))
    if count > wishes.budget:
        return wishes.budget, wanted, f"{count} item(s) would be needed for the rarer class; this round holds the budget"
    return count, wanted, None


def _row(sample_id: str, made: Round, item: Item, wishes: Wishes) -> dict[str, object]:
    declared = {"budget": wishes.budget, "pilot": wishes.pilot, "wanted": made.wanted and made.wanted.model_dump()}
    return {
        "at_time": now(), "sample_id": sample_id, "round": made.number, "judge": made.judge, "field": made.field,
        "item_id": item.item_id, "record_id": item.record_id, "item": item.text, "others": list(item.others),
        "document_id": item.document_id, "population": made.population, "seed": wishes.seed, "declared": json.dumps(declared),
    }  # fmt: skip


def _write(store: Store, path: Path, items: Sequence[Item]) -> None:
    """Items that wait for a label (or on which people differ) and still stand, in random order, without a word of the judge."""
    known = {item.item_id for item in items}
    for judge, name in {(item.judge, item.field) for item in items}:
        known -= labels_of(store, judge, name).settled.keys()
    rows = store.rows(
        "select s.sample_id, s.item_id, s.judge, s.field, s.item, s.others, s.record_id, r.title, r.doi from judge_samples s "
        "left join records r using (record_id) order by s.judge, s.field, hash(s.item_id)"
    )
    table = [
        {
            "sample": sample, "item_id": item_id, "question": _QUESTION[judge], "field": name, "item": item,
            "others": " | ".join(others or []) or "(none)" if judge == "same_meaning" else None, "record_id": record_id,
            "title": title, "doi": doi,
        }
        for sample, item_id, judge, name, item, others, record_id, title, doi in rows
        if item_id in known
    ]  # fmt: skip
    path.write_text(write_table(HEADER, table), encoding="utf-8", newline="")
