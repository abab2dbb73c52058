"""Asking for the labels or the comparisons of every item of a field; stoppable anywhere, nothing asked twice."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from litcascade.errors import InputError
from litcascade.pipeline.asking import asking
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.harmonising.binding import Backends, begin, bound_reader, chunks, model_of, require_items
from litcascade.pipeline.harmonising.items import FieldItems
from litcascade.pipeline.harmonising.label_sets import load_frozen
from litcascade.pipeline.harmonising.recording import HarmoniseRecorder
from litcascade.pipeline.judging.units import steering
from litcascade.pipeline.observing import Observer
from litcascade.pipeline.review import Review
from litcascade.schemas import Record, digest
from litcascade.stages.harmonising import AskingStage, Compare, Item, ItemSubject, LabelSet, Map, Step, by_name
from litcascade.store import Store


@dataclass(frozen=True)
class Mappings:
    """How it ended: a status with its words, and the field's items by how they were mapped and by why people must look."""

    run_id: str
    status: str
    words: str
    version: int | None
    items: int
    unread: int
    by: dict[str, int]
    flags: dict[str, int]
    spent: Spent = field(default_factory=Spent)


async def map_items(
    review: Review, store: Store, name: str, reader: str, *, version: int | None = None, comparisons: bool = False,
    observer: Observer | None = None, backends: Backends = None, probed: bool = True,
) -> Mappings:  # fmt: skip
    """Give every item of a field its labels under a frozen version (the newest), or, with `comparisons`, take its tuples out.

    What an earlier run settled under the same fingerprint is not asked again. Raises `InputError` where there are no items or
    no frozen labels, `BackendError` where the model cannot be reached.
    """
    if comparisons and version is not None:
        raise InputError("--comparisons needs no labels; leave --version out")
    found = require_items(review, store, name)
    frozen = None if comparisons else load_frozen(store, name, version)
    labels = frozen.labels if frozen else None
    step: Step = "compare" if comparisons else "map"
    model = model_of(review, reader)
    async with asking(review, store, model, "harmonise", observer, backends, probed=probed, wants_json=True) as (run, ref):
        bound = bound_reader(review, reader, ref)
        stage: AskingStage = Map(bound, name, found.definition, labels) if labels else Compare(bound, name, found.definition)
        number = frozen.version if frozen else None
        begin(run, stage, step, name, snapshot=_snapshot(store, run.run_id, step, found), version=number)
        recorder = HarmoniseRecorder(store, run.run_id, name, number)
        units = _units(found.items, step)
        done = _settled(store, stage.fingerprint)
        open_units = {unit: item for unit, item in units.items() if unit not in done}
        if labels:
            _map_exactly(store, recorder, stage.fingerprint, open_units, labels)
        asked = [_subject(item, step) for unit, item in open_units.items() if unit not in _settled(store, stage.fingerprint)]
        async with run.stoppable():
            title = f"comparisons of {name}" if comparisons else f"labels of {name}"
            await run.put(title, len(asked), stage, stage.fingerprint, recorder, chunks(asked))
        left = len(units.keys() - _settled(store, stage.fingerprint))
        status, words = run.ending(left, bool(left), "every item has its labels, or the reason why people must look")
        by, flags = counts(store, name, step)
        return Mappings(run.run_id, status, words, number, len(found.items), found.unread, by, flags, run.spent)


def counts(store: Store, name: str, step: str) -> tuple[dict[str, int], dict[str, int]]:
    """The field's items by how they were mapped, and those that people must look at by the reason; an item counts once."""
    rows = store.rows(
        "select item_id, any_value(how), min(flag) from harmonised where field = ? and step = ? group by item_id", [name, step]
    )
    by = Counter(how for _, how, flag in rows if flag is None)
    flags = Counter(flag for _, _, flag in rows if flag is not None)
    return dict(sorted(by.items())), dict(sorted(flags.items()))


def _units(items: Sequence[Item], step: Step) -> dict[str, Item]:
    """Each question once, shown in the dress that comes first in the alphabet."""
    units: dict[str, Item] = {}
    for item in sorted(items, key=lambda one: (one.text, one.record_id, one.row or 0)):
        units.setdefault(item.unit_id(step), item)
    return units


def _subject(item: Item, step: Step) -> ItemSubject:
    shown = (item.text, item.quote or "") if step == "compare" else (item.text,)
    return ItemSubject(record=Record(record_id=item.record_id), item=item, hindrance=steering(*shown))


def _map_exactly(
    store: Store, recorder: HarmoniseRecorder, fingerprint: str, units: Mapping[str, Item], labels: LabelSet
) -> None:
    equal = [(item, by_name(item, labels)) for item in units.values()]
    rows = [recorder.mapping(item, told, fingerprint, "map", [], how="exact") for item, told in equal if told is not None]
    store.append("mappings", rows)


def _settled(store: Store, fingerprint: str) -> set[str]:
    return {row[0] for row in store.rows("select unit_id from mappings where fingerprint = ?", [fingerprint])}


def _snapshot(store: Store, run_id: str, step: Step, found: FieldItems) -> str:
    """Keep the items as they stand, raw text and quote beside, where they are not kept yet; returns that state's name."""
    content = [[item.item_id, item.quote, item.quote_found, item.reader] for item in found.items]
    snapshot = digest([step, found.field, content])[:24]
    if not store.value("select count(*) from harmonised_items where snapshot = ?", [snapshot]):
        rows = [
            {
                "run_id": run_id, "snapshot": snapshot, "step": step, "field": found.field, "item_id": item.item_id,
                "unit_id": item.unit_id(step), "record_id": item.record_id, "row": item.row, "reader": item.reader,
                "raw": item.text, "quote": item.quote, "quote_found": item.quote_found,
            }
            for item in found.items
        ]  # fmt: skip
        store.append("harmonised_items", rows)
    return snapshot
