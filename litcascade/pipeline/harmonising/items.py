"""The items of a field as the extraction left them: values of an open field, or of an open sub-field of a group."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from litcascade.errors import InputError
from litcascade.pipeline.exporting_fields import Stored, stored_values
from litcascade.pipeline.review import Review
from litcascade.registry import nearest
from litcascade.schemas.fields import NOT_REPORTED
from litcascade.stages.harmonising import Item
from litcascade.store import Store


@dataclass(frozen=True)
class FieldItems:
    """A field's items by record and place, and how many of its values could not be read and so hold none."""

    field: str
    definition: str
    items: tuple[Item, ...]
    unread: int


def open_names(review: Review) -> dict[str, str]:
    """Fields that hold free text with their definitions; a sub-field of a group is called `group.subfield`."""
    found = {}
    for spec in review.protocol.fields:
        if spec.kind == "open":
            found[spec.name] = spec.definition
        found.update({f"{spec.name}.{part.name}": part.definition for part in spec.fields if part.kind == "open"})
    return found


def require_open(review: Review, field: str) -> str:
    """The definition of an open field; an unknown or other field is an `InputError`."""
    names = open_names(review)
    if review.protocol.stages.extraction is None or not names:
        raise InputError(
            f"{review.folder / 'review.toml'}: has no extraction stage with an open field; only free text is harmonised"
        )
    if field not in names:
        raise InputError(f"there is no free-text field '{field}'{nearest(field, names)}")
    return names[field]


def load_items(review: Review, store: Store, field: str) -> FieldItems:
    """All items of a field: a person's value where there is one, else the first reader's. Not reported is no item."""
    definition = require_open(review, field)
    extraction = review.protocol.stages.extraction
    assert extraction is not None
    others = set(extraction.readers[1:])
    name, _, part = field.partition(".")
    items: list[Item] = []
    unread = 0
    for one in stored_values(store):
        if one.name != name or one.reader in others:
            continue
        unread += _unread(one, part)
        items += _items(one, field, part)
    return FieldItems(field, definition, tuple(items), unread)


def _items(one: Stored, field: str, part: str) -> Iterator[Item]:
    seen: Counter[tuple[int | None, str]] = Counter()
    for row, text, quote, found in _texts(one, part):
        nth = seen[row, text]
        seen[row, text] += 1
        yield Item(
            record_id=one.record_id, field=field, text=text, row=row, nth=nth, reader=one.reader, quote=quote or None,
            quote_found=found,
        )  # fmt: skip


def _texts(one: Stored, part: str) -> Iterator[tuple[int | None, str, str | None, bool | None]]:
    if one.error is not None:
        return
    if not part:
        yield from ((None, text, one.quote, one.quote_found) for text in _pieces(one.value))
        return
    for number, cells in enumerate(one.value or [], start=1):
        shown = one.evidence[number - 1] if len(one.evidence) == len(one.value) else {}
        for text in _pieces(cells.get(part)):
            yield number, text, shown.get("quote"), shown.get("quote_found")


def _pieces(value: Any) -> list[str]:
    """The texts of a value: one of a text, several of a list; none where nothing is reported."""
    parts = value if isinstance(value, list) else [value]
    texts = [str(part).strip() for part in parts if part is not None]
    return [text for text in texts if text and text.casefold() != NOT_REPORTED]


def _unread(one: Stored, part: str) -> int:
    if one.error is not None:
        return 1
    return sum(part in shown.get("errors", {}) for shown in one.evidence) if part else 0
