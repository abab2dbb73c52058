"""Two schemas compared field by field and key by key."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from litcascade.schemas.fields.schemas import schema_hash
from litcascade.schemas.fields.spec import FieldSpec
from litcascade.schemas.fields.writing import told_keys
from litcascade.schemas.keys import Frozen


class KeyChange(Frozen):
    """A key of a field that differs; None: it has its default. Keys of sub-fields are written `fields.NAME.KEY`."""

    field: str
    key: str
    before: Any = None
    after: Any = None


class SchemaDiff(Frozen):
    """What became of the fields of one schema in another; `renamed` are fields alike in everything but their name."""

    before_hash: str
    after_hash: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()
    changed: tuple[KeyChange, ...] = Field(default=())

    @property
    def same(self) -> bool:
        """Whether both hold the same fields, in whatever order."""
        return self.before_hash == self.after_hash


def compare(before: Sequence[FieldSpec], after: Sequence[FieldSpec]) -> SchemaDiff:
    """The difference, in the order of the fields; the order itself counts for nothing."""
    old, new = ({spec.name: spec for spec in side} for side in (before, after))
    gone = [name for name in old if name not in new]
    came = [name for name in new if name not in old]
    renamed = []
    for name in gone:
        twin = next((other for other in came if _nameless(new[other]) == _nameless(old[name])), None)
        if twin is not None:
            renamed.append((name, twin))
            came.remove(twin)
    moved = {name for name, _ in renamed}
    return SchemaDiff(
        before_hash=schema_hash(tuple(before)), after_hash=schema_hash(tuple(after)), added=tuple(came),
        removed=tuple(name for name in gone if name not in moved), renamed=tuple(renamed),
        changed=tuple(change for name in old if name in new for change in _changes(name, old[name], new[name])),
    )  # fmt: skip


def _changes(name: str, old: FieldSpec, new: FieldSpec) -> list[KeyChange]:
    mine, theirs = flat(old), flat(new)
    keys = [*mine, *(key for key in theirs if key not in mine)]
    return [
        KeyChange(field=name, key=key, before=mine.get(key), after=theirs.get(key))
        for key in keys
        if mine.get(key) != theirs.get(key)
    ]


def flat(spec: FieldSpec) -> dict[str, Any]:
    """The keys that differ from their default, those of sub-fields under `fields.NAME.KEY`."""
    told = {key: value for key, value in told_keys(spec).items() if key != "name"}
    for inner in spec.fields:
        told |= {f"fields.{inner.name}.{key}": value for key, value in flat(inner).items()}
    return told


def _nameless(spec: FieldSpec) -> str:
    return schema_hash((spec.model_copy(update={"name": "x"}),))
