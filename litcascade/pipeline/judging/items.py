"""What there is to judge: the items of people and of the extraction, for every open-text field that has gold."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from litcascade.errors import InputError
from litcascade.pipeline.review import Review
from litcascade.registry import nearest
from litcascade.schemas import FieldSpec, digest
from litcascade.schemas.fields import NOT_REPORTED
from litcascade.store import Store


@dataclass(frozen=True)
class Group:
    """One open field of one extracted record: people's items and the extraction's; `invalid` where it could not be read."""

    record_id: str
    field: str
    definition: str
    gold: tuple[str, ...]
    found: tuple[str, ...]
    document_id: str | None
    invalid: bool = False

    def gold_ids(self) -> tuple[str, ...]:
        """An id for each of people's items; it rests on what the extraction found, which the label is about too."""
        return tuple(
            digest(["gold", self.record_id, self.field, text, nth, sorted(self.found)])[:16] for text, nth in _nth(self.gold)
        )

    def found_ids(self) -> tuple[str, ...]:
        """An id for each item of the extraction; it rests on the report it was taken from."""
        return tuple(
            digest(["found", self.record_id, self.field, text, nth, self.document_id])[:16] for text, nth in _nth(self.found)
        )


@dataclass(frozen=True)
class Judgeable:
    """All groups, and for each field how many records with gold are not extracted and so cannot be judged."""

    groups: tuple[Group, ...]
    not_extracted: dict[str, int] = field(default_factory=dict)


def open_fields(review: Review, only: Sequence[str] = ()) -> tuple[FieldSpec, ...]:
    """The fields that hold free text; an unknown name, or no such field, is an `InputError`.

    Of a group these are its open sub-fields with `same = "judge"`, named `group.subfield`: the texts of its rows are the items.
    """
    found = tuple(
        one
        for spec in review.protocol.fields
        for one in ([spec] if spec.kind == "open" else [_named(spec, part) for part in spec.fields if part.rule.rule == "judge"])
    )
    if review.protocol.stages.extraction is None or not found:
        raise InputError(
            f"{review.folder / 'review.toml'}: has no extraction stage with an open field; only free text needs a judge"
        )
    names = [spec.name for spec in found]
    for name in only:
        if name not in names:
            raise InputError(f"there is no free-text field '{name}'{nearest(name, names)}")
    return tuple(spec for spec in found if not only or spec.name in only)


def _named(group: FieldSpec, part: FieldSpec) -> FieldSpec:
    words = " ".join(text for text in (group.definition.strip(), part.definition.strip()) if text)
    return part.model_copy(update={"name": f"{group.name}.{part.name}", "definition": words})


def load_groups(review: Review, store: Store, only: Sequence[str] = ()) -> Judgeable:
    """Every open field (or sub-field) with gold, in the order of fields and records.

    The value judged is a person's where a person took the extraction's place, else the first reader's.
    """
    specs = open_fields(review, only)
    extraction = review.protocol.stages.extraction
    assert extraction is not None
    groups: list[Group] = []
    absent: Counter[str] = Counter()
    for spec in specs:
        name, _, part = spec.name.partition(".")
        for record_id, gold, value, there, invalid, document_id in _rows(store, name, extraction.readers[0]):
            if not there:
                absent[spec.name] += 1
                continue
            found = () if invalid else items_of(value, part)
            groups.append(Group(record_id, spec.name, spec.definition, items_of(gold, part), found, document_id, bool(invalid)))
    return Judgeable(tuple(groups), dict(absent))


def _rows(store: Store, name: str, reader: str) -> list[tuple[Any, ...]]:
    return store.rows(
        "select g.record_id, g.value, e.value, s.state = 'extracted' and e.record_id is not null, e.error is not null, "
        "s.document_id from current_gold_fields g left join extraction s on s.record_id = g.record_id "
        "left join (select * from extracted where reader = ? or fingerprint = 'person' "
        "  qualify row_number() over (partition by record_id, field order by fingerprint = 'person' desc, seq desc) = 1) e "
        "on e.record_id = g.record_id and e.field = g.field where g.field = ? order by g.record_id",
        [reader, name],
    )


def items_of(value: str | None, part: str = "") -> tuple[str, ...]:
    """The items of a field's JSON value: one of a text, several of a list; none where nothing is reported.

    Of the rows of a group they are the texts of the sub-field `part`.
    """
    content = json.loads(value) if value is not None else None
    parts = content if isinstance(content, list) else [content]
    parts = [one.get(part) if part and isinstance(one, dict) else one for one in parts]
    texts = [part if isinstance(part, str) else json.dumps(part, ensure_ascii=False) for part in parts if part is not None]
    return tuple(text.strip() for text in texts if text.strip() and text.strip().casefold() != NOT_REPORTED)


def _nth(texts: Sequence[str]) -> list[tuple[str, int]]:
    """Each text with how many equal ones stand before it."""
    seen: Counter[str] = Counter()
    told = []
    for text in texts:
        told.append((text, seen[text]))
        seen[text] += 1
    return told
