"""The units that a judge must be asked about: pairs, unmatched items with their report, items with a scale."""

from collections.abc import Iterator, Mapping, Sequence

from litcascade.judges import Unit, match, open_pairs
from litcascade.judges.matching import Matching, Place
from litcascade.pipeline.judging.binding import BoundJudge
from litcascade.pipeline.judging.items import Group
from litcascade.pipeline.texts import load_documents
from litcascade.schemas import Document, FlagKind, Refer, ReferCode
from litcascade.schemas.document import STEERING
from litcascade.schemas.steering import clean, steering_flags
from litcascade.stages.budget import TEMPLATE, Counter, Plan, plan, texts_to_count
from litcascade.stages.budget import key_of as text_key
from litcascade.store import Store

ANSWER = 800  # tokens, a repair included
Verdicts = Mapping[str, bool | None]


def pair_unit(group: Group, place: Place) -> Unit:
    """One of people's items against one of the extraction's."""
    gold, item = group.gold[place[0]], group.found[place[1]]
    return Unit(
        record_id=group.record_id, field=group.field, definition=group.definition, gold=gold, item=item,
        hindrance=steering(gold, item),
    )  # fmt: skip


def pair_units(groups: Sequence[Group]) -> list[Unit]:
    """Every pair that no exact match settles, each question once."""
    units = [pair_unit(group, place) for group in groups for place in open_pairs(group.gold, group.found)]
    return list({unit.unit_id: unit for unit in units}.values())


def matching_of(group: Group, verdicts: Verdicts) -> Matching:
    """The group's items matched by what the judge said; a pair that was not judged is in doubt."""
    places = open_pairs(group.gold, group.found)
    return match(group.gold, group.found, {place: verdicts.get(pair_unit(group, place).unit_id) for place in places})


def scale_unit(group: Group, place: int) -> Unit:
    """An item of the extraction with all of people's, for a scale."""
    return Unit(
        record_id=group.record_id, field=group.field, definition=group.definition, gold="\n".join(group.gold),
        item=group.found[place], hindrance=steering(*group.gold, group.found[place]),
    )  # fmt: skip


def scale_units(groups: Sequence[Group]) -> list[Unit]:
    """Every item of the extraction, each question once."""
    units = [scale_unit(group, place) for group in groups for place in range(len(group.found))]
    return list({unit.unit_id: unit for unit in units}.values())


def wanting_support(groups: Sequence[Group], verdicts: Verdicts) -> list[tuple[Group, int]]:
    """Items of the extraction without a partner, in groups whose pairs were all asked about."""
    wanted: dict[tuple[str, str, str], tuple[Group, int]] = {}
    for group in groups:
        places = open_pairs(group.gold, group.found)
        if any(pair_unit(group, place).unit_id not in verdicts for place in places):
            continue
        for place, status in enumerate(matching_of(group, verdicts).found):
            if status != "matched":
                wanted.setdefault((group.record_id, group.field, group.found[place]), (group, place))
    return list(wanted.values())


def support_units(store: Store, bound: BoundJudge, wanted: Sequence[tuple[Group, int]]) -> Iterator[list[Unit]]:
    """Those items with the windows of their reports, the items of a record together: its text is read once."""
    by_record: dict[str, list[tuple[Group, int]]] = {}
    for group, place in wanted:
        by_record.setdefault(group.record_id, []).append((group, place))
    for record_id, items in by_record.items():
        document = load_documents(store, [record_id]).get(record_id)
        counter = _counter(store, bound, document)
        yield [support_unit(bound, group, place, document, counter) for group, place in items]


def support_unit(bound: BoundJudge, group: Group, place: int, document: Document | None, count: Counter) -> Unit:
    """An item with the windows of its report; a report that a model may not be asked about is a hindrance."""
    plain, item = item_unit(group, place), group.found[place]
    if hindrance := steering(item) or unreadable(document):
        return plain.model_copy(update={"hindrance": hindrance})
    assert document is not None
    prompt = bound.judge.prompt
    around = sum(count(text) for text in (prompt.system, prompt.user, item, group.field, group.definition)) + TEMPLATE
    made = plan(document, count, bound.judge.reader.context - around - ANSWER)
    if isinstance(made, Plan):
        return plain.model_copy(update={"windows": made.windows})
    return plain.model_copy(update={"hindrance": made})


def item_unit(group: Group, place: int) -> Unit:
    """An item to look for in its report, without the report's text."""
    return Unit(
        record_id=group.record_id, field=group.field, definition=group.definition, item=group.found[place],
        document_id=group.document_id,
    )  # fmt: skip


def unreadable(document: Document | None) -> Refer | None:
    """Why no model may be asked about a report; None where it may."""
    if document is None or not document.readable:
        return Refer(code=ReferCode.NO_TEXT, detail=(document.note or document.state.value) if document else "no file")
    if document.steering:
        return Refer(code=ReferCode.STEERING, detail="; ".join(flag.detail for flag in document.steering[:3])[:300])
    other = next((flag for flag in document.flags if flag.kind is FlagKind.IDENTITY), None)
    return Refer(code=ReferCode.IDENTITY, detail=other.detail[:300]) if other else None


def steering(*texts: str) -> Refer | None:
    """Why items may not be put to a model: hidden text, or text like an instruction; None where they may."""
    for text in texts:
        flags = [flag for flag in (*clean(text)[1], *steering_flags(text)) if flag.kind in STEERING]
        if flags:
            return Refer(code=ReferCode.STEERING, detail=flags[0].detail[:300])
    return None


def _counter(store: Store, bound: BoundJudge, document: Document | None) -> Counter:
    """Tokens of the report's parts as the model's tokenizer counted them for extraction; the rest is guessed from above."""
    if document is None:
        return Counter({})
    keys = [text_key(text) for text in texts_to_count(document)]
    model = bound.judge.model
    rows = store.rows(
        "select text_key, tokens from token_counts where model = ? and revision = ? and text_key in (select unnest(?::text[]))",
        [model.name, model.revision, keys],
    )
    return Counter(dict(rows))
