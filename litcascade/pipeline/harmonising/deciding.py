"""People's decisions on harmonised items: imported whole or not at all; they go before what a model or a synonym said."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litcascade.corpora.labels import read_table
from litcascade.errors import InputError
from litcascade.pipeline.harmonising.label_sets import load_frozen
from litcascade.registry import nearest
from litcascade.stages.harmonising import DIRECTIONS, NONE_FITS, LabelSet, Step, folded
from litcascade.store import Store, now

UNSURE = ("unsure", "unclear")
_TUPLE = ("first_system", "second_system", "basis", "direction", "evidence")
Row = dict[str, Any]


@dataclass(frozen=True)
class Decisions:
    """How many items were decided, how many stay with people as unsure, and how many rows are still blank."""

    decided: int
    unsure: int
    blank: int


@dataclass(frozen=True)
class _Known:
    """An item of the last mapping: where it stands and which question it belongs to."""

    item_id: str
    unit_id: str
    record_id: str
    form: str


def decide(store: Store, path: Path, *, field: str | None = None, by: str | None = None) -> Decisions:
    """Import the table that `export harmonised_to_check` wrote, or any with `item` and `label` (and `record_id`, `field`, `who`).

    `label` holds labels of the field's newest version parted by `|`, "none fits", or "unsure"; blank waits. For comparisons it
    holds yes (the tuple as the row gives it) or no (drop it), and all rows of an item are decided together. Without `record_id`
    a label holds for every record with that item. What names no item or no label, or two things for one item, is an `InputError`.
    """
    names, rows = read_table(path)
    column = next((name for name in ("label", "labels", "decision") if name in names), None)
    if column is None or "item" not in names:
        raise InputError(f"{path}: needs the columns item and label; fill in what `litcascade export harmonised_to_check` wrote")
    told = [(line, {**row, "label": row[column]}) for line, row in rows]
    return decide_rows(store, told, field=field, by=by, where=path)


def decide_rows(
    store: Store, rows: Iterable[tuple[int, Mapping[str, str]]], *, field: str | None, by: str | None, where: Path | str
) -> Decisions:
    """Append people's decisions from numbered rows as `decide` reads them, whole or not at all; `where` names their origin."""
    reading = _Reading(store, where, by)
    blank = 0
    for line, row in rows:
        name = row.get("field", "").strip() or (field or "")
        if not name:
            raise InputError(f"{where}: line {line}: no field is named; fill in the column field, or add --field NAME")
        step: Step = "compare" if row.get("step", "").strip() == "compare" else "map"
        word = " ".join(row["label"].split())
        if step == "map" and not word:
            blank += 1
            continue
        reading.add(line, name, step, row, word)
    found = reading.finished()
    with store.transaction():
        store.append("comparisons", found.tuples)
        store.append("mapping_decisions", found.decisions)
    unsure = sum(bool(one["unsure"]) for one in found.decisions)
    return Decisions(len(found.decisions) - unsure, unsure, blank + found.blank)


@dataclass(frozen=True)
class _Found:
    decisions: list[Row]
    tuples: list[Row]
    blank: int


class _Reading:
    def __init__(self, store: Store, path: Path | str, by: str | None) -> None:
        self.store = store
        self.path = path
        self.by = (by or "").strip()
        self.decisions: dict[tuple[str, str | None], Row] = {}
        self.compared: dict[str, list[tuple[int, str, Row]]] = {}
        self.items: dict[tuple[str, Step], list[_Known]] = {}
        self.sets: dict[str, LabelSet] = {}
        self.tuples: list[Row] = []
        self.blank = 0

    def add(self, line: int, name: str, step: Step, row: Mapping[str, str], word: str) -> None:
        """Take one row in."""
        where = f"{self.path}: line {line}"
        known = self._items_named(where, name, step, row)
        who = row.get("who", "").strip() or self.by
        if not who and word:
            raise InputError(f"{where}: nobody is named; fill in the column who, or add --by NAME")
        own = row.get("item_id", "").strip() or row.get("record_id", "").strip()
        base = {"step": step, "field": name, "who": who, "note": row.get("note", "").strip() or None}
        if step == "compare":
            if len({one.item_id for one in known}) > 1:
                raise InputError(f"{where}: several records hold this item; name one in the column record_id")
            told = {**base, "unit_id": known[0].unit_id, "item_id": known[0].item_id, **{key: row.get(key, "") for key in _TUPLE}}
            self.compared.setdefault(known[0].item_id, []).append((line, word, told))
            return
        labels, unsure = self._labels(where, name, word)
        for one in known if own else known[:1]:
            item_id = one.item_id if own else None
            decision = {**base, "unit_id": one.unit_id, "item_id": item_id, "labels": labels, "unsure": unsure}
            before = self.decisions.setdefault((one.unit_id, item_id), decision)
            if (before["labels"], before["unsure"]) != (labels, unsure):
                raise InputError(f"{where}: this item is decided in two ways; keep one row")

    def finished(self) -> _Found:
        """All decisions as rows; the comparisons of an item together."""
        for rows in self.compared.values():
            self._compare(rows)
        common = {"at_time": now()}
        general_first = sorted(self.decisions.values(), key=lambda one: one["item_id"] is not None)
        decisions = [
            {**common, "decision_id": one.pop("decision_id", f"decision-{uuid.uuid4().hex[:16]}"), **one} for one in general_first
        ]
        return _Found(decisions, self.tuples, self.blank)

    def _compare(self, rows: Sequence[tuple[int, str, Row]]) -> None:
        words = [word.casefold() for _, word, _ in rows]
        if not any(words):
            self.blank += len(rows)
            return
        line, _, told = rows[0]
        where = f"{self.path}: line {line}"
        if not all(words):
            raise InputError(f"{where}: the comparisons of an item are decided together; fill in label in each of its rows")
        odd = next((word for word in words if word not in ("yes", "no", *UNSURE, NONE_FITS)), None)
        if odd is not None:
            raise InputError(f"{where}: '{odd[:40]}' is no decision on a comparison; use yes, no or unsure")
        unsure = any(word in UNSURE for word in words)
        decision_id = f"decision-{uuid.uuid4().hex[:16]}"
        kept = [one for (_, _, one), word in zip(rows, words, strict=True) if word == "yes"]
        for number, one in enumerate([] if unsure else kept, start=1):
            cells = {key: " ".join(one[key].split()) for key in _TUPLE}
            if not (cells["first_system"] and cells["second_system"]) or cells["direction"] not in DIRECTIONS:
                raise InputError(f"{where}: a comparison needs two systems and a direction ({', '.join(DIRECTIONS)})")
            self.tuples.append({"run_id": None, "fingerprint": decision_id, "unit_id": one["unit_id"], "number": number, **cells,
                                "flag": None})  # fmt: skip
        decision = {key: told[key] for key in ("step", "field", "who", "note", "unit_id", "item_id")}
        key = (told["unit_id"], told["item_id"])
        self.decisions[key] = {**decision, "labels": [], "unsure": unsure, "decision_id": decision_id}

    def _labels(self, where: str, name: str, word: str) -> tuple[list[str], bool]:
        if word.casefold() in UNSURE:
            return [], True
        if word.casefold() == NONE_FITS:
            return [], False
        if name not in self.sets:
            self.sets[name] = load_frozen(self.store, name).labels
        labels = self.sets[name]
        parts = [part.strip() for part in word.split("|") if part.strip()]
        found = [(part, labels.known(part)) for part in parts]
        names = [one.name for one in labels.labels]
        odd = next((part for part, known in found if known is None), None)
        if odd is not None or not found:
            raise InputError(f"{where}: '{(odd or word)[:60]}' is no label of '{name}'{nearest(odd or word, names)}")
        given = {known for _, known in found}
        if len(given) > 1 and not labels.several:
            raise InputError(f"{where}: several labels are given, but the labels of '{name}' do not say several = true")
        return [one for one in names if one in given], False

    def _items_named(self, where: str, name: str, step: Step, row: Mapping[str, str]) -> list[_Known]:
        if (name, step) not in self.items:
            found = self.store.rows(
                "select distinct item_id, unit_id, record_id, raw from harmonised where field = ? and step = ? order by all",
                [name, step],
            )
            self.items[name, step] = [_Known(item, unit, record, folded(raw)) for item, unit, record, raw in found]
        item_id, record, form = (row.get(key, "").strip() for key in ("item_id", "record_id", "item"))
        mine = [
            one
            for one in self.items[name, step]
            if (one.item_id == item_id if item_id else one.form == folded(form) and (not record or one.record_id == record))
        ]
        if not mine:
            raise InputError(f"{where}: '{form[:60]}' is no item of '{name}' in the last mapping; export it anew")
        return mine
