"""The queue of harmonised items that need a person: what waits, what stands on its screen, and what a decision comes to."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from litcascade.desk.history import Event, minute
from litcascade.desk.keys import split, whole_number
from litcascade.desk.marking import quote_spans
from litcascade.desk.showing import Shown, pieces_of
from litcascade.desk.users import User
from litcascade.errors import InputError
from litcascade.pipeline.harmonising.deciding import decide_rows
from litcascade.pipeline.harmonising.items import open_names
from litcascade.pipeline.harmonising.label_sets import load_frozen
from litcascade.pipeline.review import Review
from litcascade.pipeline.texts import load_documents
from litcascade.stages.harmonising import DIRECTIONS, NONE_FITS
from litcascade.store import Store

QUEUE = (
    "select step as key_one, case when step = 'map' then unit_id else item_id end as key_two, any_value(raw) as title, "
    "any_value(field) || ': ' || min(flag) || ' (' || count(distinct record_id) || ' record(s))' as why, 0.5 as loss, "
    "min(seq) as tie from harmonised where flag is not null group by all"
)
CELLS = ("first_system", "second_system", "basis", "direction", "evidence")
MOST_RECORDS = 50


@dataclass(frozen=True)
class LabelChoice:
    """A label of the newest version; `by`: which orders of the labels made the model choose it."""

    name: str
    definition: str
    by: str


@dataclass(frozen=True)
class HarmoniseScreen:
    """An item with its context, and the labels or comparisons that a person chooses among."""

    key: str
    step: str
    field: str
    definition: str
    item: str
    quote: str | None
    why: str
    detail: str | None
    labels: list[LabelChoice]
    several: bool
    label_version: int | None
    tuples: list[dict[str, str]]
    records: list[tuple[str, str]]
    document: list[Shown]
    history: list[Event]
    version: int
    directions: tuple[str, ...] = DIRECTIONS


def harmonise_screen(review: Review, store: Store, key: str, user: User) -> HarmoniseScreen:
    """The screen of an item of the last mapping; another one is an `InputError`."""
    step, _ = split(key)
    rows = _rows(store, key)
    first = rows[0]
    field = str(first["field"])
    labels, several, version = _labels(store, first) if step == "map" else ([], False, None)
    document = load_documents(store, [str(first["record_id"])]).get(str(first["record_id"]))
    spans = quote_spans(document.text(), [first["quote"], first["raw"]]) if document else []
    events, newest = _history(store, first, user)
    records = dict.fromkeys((str(row["record_id"]), str(row["title"] or "(no title)")) for row in rows)
    return HarmoniseScreen(
        key, step, field, open_names(review).get(field, ""), str(first["raw"]), first["words"] or first["quote"],
        next((str(row["flag"]) for row in rows if row["flag"]), ""), first["detail"], labels, several, version,
        [{name: row[name] or "" for name in CELLS} for row in rows] if step == "compare" else [],
        list(records)[:MOST_RECORDS], pieces_of(document, spans, ()), events, newest,
    )  # fmt: skip


def decide_item(store: Store, key: str, user: User, form: Mapping[str, str]) -> tuple[str, bool]:
    """Append a decision on an item: what it came to in words, and whether it waits no more."""
    rows = _rows(store, key)
    first = rows[0]
    _refuse_late(store, first, user, form)
    word = form.get("decision", "")
    given = {"field": str(first["field"]), "step": str(first["step"]), "item": str(first["raw"])}
    given["note"] = form.get("note", "")
    told = _compared(given, first, rows, word, form) if first["step"] == "compare" else [_mapped(given, rows, word, form)]
    decide_rows(store, list(enumerate(told, 1)), field=None, by=user.name, where="the desk")
    shown = told[0]["label"] if first["step"] == "map" else f"{sum(one['label'] == 'yes' for one in told)} comparison(s) kept"
    left = any(row["flag"] for row in _rows(store, key))
    return f"Stored: {'unsure' if word == 'unsure' else shown} for “{str(first['raw'])[:60]}”.", not left


def _mapped(given: Mapping[str, str], rows: list[dict[str, Any]], word: str, form: Mapping[str, str]) -> dict[str, str]:
    chosen = [value for name, value in form.items() if name == "label" or name.startswith("label:")]
    label = word if word in ("unsure", NONE_FITS) else " | ".join(chosen)
    if word not in ("decide", "unsure", NONE_FITS) or not label:
        raise InputError("choose a label, none fits or unsure; nothing was stored")
    record = form.get("record", "")
    if record and record not in [row["record_id"] for row in rows]:
        raise InputError(f"record '{record[:60]}' does not hold this item any more; nothing was stored")
    return {**given, "label": label, "record_id": record}


def _compared(
    given: Mapping[str, str], first: Mapping[str, Any], rows: list[dict[str, Any]], word: str, form: Mapping[str, str]
) -> list[dict[str, str]]:
    one = {**given, "item_id": str(first["item_id"])}
    if word == "unsure":
        return [{**one, "label": "unsure"}]
    if word != "decide":
        raise InputError("store the comparisons, or choose unsure; nothing was stored")
    told = []
    for place in range(len(rows) + 1):
        keep = form.get(f"keep:{place}", "")
        if keep not in ("yes", "no"):
            raise InputError("say for each comparison whether it is kept; nothing was stored")
        told.append({**one, "label": keep, **{name: form.get(f"{name}:{place}", "") for name in CELLS}})
    return told


def _rows(store: Store, key: str) -> list[dict[str, Any]]:
    step, name = split(key)
    names = ("record_id", "field", "step", "raw", "quote", "flag", "detail", "words", "item_id", "unit_id", "fingerprint", *CELLS)
    column = "unit_id" if step == "map" else "item_id"
    rows = store.rows(
        "select h.record_id, h.field, step, raw, quote, flag, detail, words, item_id, unit_id, ("
        "select fingerprint from harmonise_versions v where v.field = h.field and v.step = h.step order by v.seq desc limit 1), "
        f"{', '.join(CELLS)}, r.title from harmonised h left join records r on r.record_id = h.record_id "
        f"where step = ? and {column} = ? order by h.seq, h.number",
        [step, name],
    )
    if not rows:
        raise InputError("this item is not in the last mapping (any more); nothing was changed")
    return [dict(zip((*names, "title"), row, strict=True)) for row in rows]


def _labels(store: Store, first: Mapping[str, Any]) -> tuple[list[LabelChoice], bool, int]:
    frozen = load_frozen(store, first["field"])
    said = store.rows(
        "select first_labels, second_labels from mappings where fingerprint = ? and unit_id = ? order by seq desc limit 1",
        [first["fingerprint"], first["unit_id"]],
    )
    one, two = said[0] if said else ([], [])
    names = {
        True: {True: "the model, both ways round", False: "the model, in their order"},
        False: {True: "the model, turned round"},
    }
    choices = [
        LabelChoice(label.name, label.definition, names[label.name in (one or [])].get(label.name in (two or []), ""))
        for label in frozen.labels.labels
    ]
    return sorted(choices, key=lambda choice: not choice.by), frozen.labels.several, frozen.version


def _history(store: Store, first: Mapping[str, Any], user: User) -> tuple[list[Event], int]:
    rows = store.rows(
        "select at_time, who, labels, unsure, step, note, seq, seq in (select of_seq from withdrawn), item_id "
        "from mapping_decisions where unit_id = ? and (item_id is null or step = 'map' or item_id = ?) order by seq",
        [first["unit_id"], first["item_id"]],
    )
    events, version = [], 0
    for at, who, labels, unsure, step, note, seq, taken, item_id in rows:
        own = who.casefold() == user.name.casefold()
        word = "unsure" if unsure else " | ".join(labels) or ("comparisons" if step == "compare" else NONE_FITS)
        more = f"{' (one record alone)' if item_id and step == 'map' else ''}{f' · “{note}”' if note else ''}"
        told = f"{word}{more}{' (taken back)' if taken else ''}"
        events.append(Event(minute(at), who, told, "mapping_decisions", int(seq), own and not taken, own))
        version = version if taken else int(seq)
    return events, version


def _refuse_late(store: Store, first: Mapping[str, Any], user: User, form: Mapping[str, str]) -> None:
    seen = whole_number(form.get("version", ""))
    events, newest = _history(store, first, user)
    if seen is not None and newest > seen:
        last = next(event for event in events if event.seq == newest)
        if not last.own:
            raise InputError(f"{last.who} decided on it while you read ({last.words}); look at the history and decide again")
