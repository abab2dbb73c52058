"""Harmonised items as tables: everything with its raw text and evidence, and what people should look at."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from litcascade.corpora.writers import Written
from litcascade.errors import InputError
from litcascade.pipeline.exporting import EXPORTERS
from litcascade.pipeline.field_tables import FieldTable, write_tables
from litcascade.pipeline.harmonising.items import load_items, open_names
from litcascade.pipeline.review import Review
from litcascade.schemas.keys import digest
from litcascade.stages.harmonising import NONE_FITS
from litcascade.store import Store

_TUPLE = ("first_system", "second_system", "basis", "direction", "evidence")
_COLUMNS = (
    "record_id", "field", "row", "step", "raw", "quote", "quote_found", "labels", "how", "flag", "detail", "words", "version",
    *_TUPLE, "decided_by", "reader", "item_id", "unit_id",
)  # fmt: skip
ALL = (*_COLUMNS[:-1], "title")
TO_CHECK = (
    "field", "step", "records", "item", "quote", "label", "who", "note", "why", "detail", *_TUPLE, "record_id", "item_id",
    "title",
)  # fmt: skip
Row = dict[str, Any]


def harmonised_rows(review: Review, store: Store) -> tuple[list[Row], tuple[str, ...]]:
    """A row an item (a comparison, where it has several) as it stands now, and what a person should know of them.

    Items that were extracted since the last `map` are flagged as not asked yet; those that are extracted no more are left out.
    """
    names = ", ".join(f'h."{name}"' for name in _COLUMNS)
    found = store.rows(
        f"select {names}, r.title from harmonised h left join records r using (record_id) order by h.seq, h.number"
    )
    rows = [dict(zip((*_COLUMNS, "title"), row, strict=True)) for row in found]
    if not rows:
        raise InputError("nothing is harmonised yet; litcascade harmonise map --field NAME --reader NAME")
    steps = dict.fromkeys((row["field"], row["step"]) for row in rows)
    kept: list[Row] = []
    gone = 0
    titles: dict[str, str | None] = dict(store.rows("select record_id, title from records"))
    for name, step in steps:
        items = load_items(review, store, name).items if name in open_names(review) else ()
        mine: dict[str, list[Row]] = {}
        for row in rows:
            if (row["field"], row["step"]) == (name, step):
                mine.setdefault(row["item_id"], []).append(row)
        for item in items:
            fresh = dict.fromkeys((*_COLUMNS, "title")) | {
                "record_id": item.record_id, "field": name, "row": item.row, "step": step, "raw": item.text, "quote": item.quote,
                "quote_found": item.quote_found, "flag": "not asked yet", "reader": item.reader, "item_id": item.item_id,
                "unit_id": item.unit_id(step), "title": titles.get(item.record_id),
            }  # fmt: skip
            kept += mine.pop(item.item_id, [fresh])
        gone += len(mine)
    notes = [f"{gone} item(s) are extracted no more and were left out"] if gone else []
    waiting = Counter(row["flag"] for row in kept if row["flag"])
    notes += [f"{count} row(s) for people: {why}" for why, count in sorted(waiting.items())]
    return kept, tuple(notes)


@EXPORTERS.register("harmonised")
def export_harmonised(review: Review, store: Store, path: Path) -> Written:
    """Every item of every field that was mapped: raw text and quote, its labels or comparison, how it got them, and its flag."""
    rows, notes = harmonised_rows(review, store)
    told = [{**row, "labels": _labels(row)} for row in rows]
    written = write_tables(path, [FieldTable("harmonised", ALL, told, numbers=frozenset({"row", "version"}))])
    return Written(written.rows, (*written.notes, *notes))


@EXPORTERS.register("harmonised_to_check")
def export_harmonised_to_check(review: Review, store: Store, path: Path) -> Written:
    """What people should look at, with an empty column `label` to fill in for `litcascade harmonise decide`.

    Equal items that await a label are one row; of comparisons every row of a flagged item stands here, since they are decided
    together.
    """
    rows, _ = harmonised_rows(review, store)
    flagged = {row["item_id"] for row in rows if row["flag"]}
    told: dict[str, Row] = {}
    for row in rows:
        if row["item_id"] not in flagged or (row["step"] == "map" and not row["flag"]):
            continue
        if row["step"] == "map":
            key = digest([row["unit_id"], row["flag"], row["detail"]])
            one = told.setdefault(key, {**_to_check(row), "records": []})
            one["records"].append(row["record_id"])
            one |= {"record_id": None, "item_id": None, "title": None}
        else:
            told[digest([row["item_id"], len(told)])] = {**_to_check(row), "records": [row["record_id"]]}
    lines = [{**one, "records": " | ".join(dict.fromkeys(one["records"]))} for one in told.values()]
    return write_tables(path, [FieldTable("to check", TO_CHECK, lines)])


def _to_check(row: Row) -> Row:
    told = {name: row[name] for name in TO_CHECK if name in row}
    quote = row["quote"] if row["step"] == "compare" else row["words"] or row["quote"]
    return {**told, "item": row["raw"], "quote": quote, "why": row["flag"]}


def _labels(row: Row) -> str | None:
    labels: Sequence[str] | None = row["labels"]
    if row["step"] == "map" and row["how"] == "person" and labels is not None and not labels:
        return NONE_FITS
    return " | ".join(labels) if labels else None
