"""How a person declares an extraction field: kind, values, what counts as the same, and when a value goes to a person."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from litcascade.schemas.keys import Frozen

NOT_REPORTED = "not reported"
QUOTE_LIMIT = 400
NOTES_LIMIT = 200
RAW_LIMIT = 60
TEXT_LIMIT = 300
ROWS = 30  # of a group, where it names no number of its own

Kind = Literal["closed", "multi", "ordinal", "number", "date", "open", "group"]
LISTED = ("closed", "multi", "ordinal")  # kinds with a list of values
Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$", max_length=60)]


class Same(Frozen):
    """What counts as the same value.

    `exact`: letter by letter. `normalised`: case, blanks and punctuation folded; dates at the precision that both have.
    `tolerance`: numbers with |gold - value| <= max(relative * |gold|, absolute). `judge`: a judge of texts says so.
    """

    rule: Literal["exact", "normalised", "tolerance", "judge"]
    absolute: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    relative: float = Field(default=0.0, ge=0, allow_inf_nan=False)


_EXACT, _NORMALISED = Same(rule="exact"), Same(rule="normalised")


def _as_same(value: Any) -> Any:
    """A rule's name alone, or a table of tolerances, as the whole declaration."""
    if isinstance(value, str):
        return {"rule": value}
    if isinstance(value, Mapping) and "rule" not in value:
        return {"rule": "tolerance", **value}
    return value


def _as_pairs(value: Any) -> Any:
    """A table of synonyms as pairs, which can be hashed."""
    return tuple(value.items()) if isinstance(value, Mapping) else value


def _as_texts(value: Any) -> Any:
    """One sentence as a list of one."""
    return (value,) if isinstance(value, str) else value


# Keys of the first release: they always stand in the declaration's hash; later ones only where they are given, so that a
# review made before them keeps the version of its criteria.
_FIRST = frozenset({"name", "kind", "definition", "values", "required", "unit", "minimum", "maximum"})


class FieldSpec(Frozen):
    """One field of the extraction schema, as a person declares it under `[[fields]]`.

    kind: `closed` (one of `values`), `multi` (any of them), `ordinal` (one of them, in their order from low to high), `number`
    (in `unit`, from `minimum` to `maximum`), `date` (ISO: year, year-month or year-month-day), `open` (free text), `group`
    (up to `rows` rows of the sub-fields `fields`; `key` names those that say which row is which).
    A field may be "not reported" unless `required` is true.
    edge_cases: sentences for people and models on what is hard. synonyms: words that stand for one of `values`.
    same: what counts as the same value (see `Same`; default: exact, for `open` normalised).
    escalate: when a value goes to a person (unsupported: invalid, or its quote does not hold; always; never).
    part: fields of one part are asked in one call where the stage asks part by part.
    merge: how values of several windows become one (union, first, most_frequent, conflict); default: union for `multi` and
    `group`, else conflict.
    arm, time: of a sub-field, the sub-field of its row that names the arm (or group, or system) and the time point that its value
    belongs to; the quote is then held against these too.
    """

    name: Name
    kind: Kind
    definition: str
    values: tuple[str, ...] = ()
    required: bool = False
    unit: str | None = None
    minimum: float = -1e12
    maximum: float = 1e12
    edge_cases: Annotated[tuple[str, ...], BeforeValidator(_as_texts)] = ()
    synonyms: Annotated[tuple[tuple[str, str], ...], BeforeValidator(_as_pairs)] = ()
    same: Annotated[Same | None, BeforeValidator(_as_same)] = None
    escalate: Literal["unsupported", "always", "never"] = "unsupported"
    part: str | None = None
    merge: Literal["union", "first", "most_frequent", "conflict"] | None = None
    fields: tuple["FieldSpec", ...] = ()
    key: tuple[str, ...] = ()
    rows: int = Field(default=ROWS, ge=1, le=200)
    arm: Name | None = None
    time: Name | None = None

    @model_serializer(mode="wrap")
    def _told(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        told: dict[str, Any] = handler(self)
        plain = type(self).model_fields
        return {key: value for key, value in told.items() if key in _FIRST or getattr(self, key) != plain[key].default}

    @model_validator(mode="after")
    def _values_fit_the_kind(self) -> "FieldSpec":
        if self.kind in LISTED and len(self.values) < 2:
            raise ValueError(f"field '{self.name}' is {self.kind}: give at least two values")
        if self.kind not in LISTED and self.values:
            raise ValueError(f"field '{self.name}' is {self.kind}: it takes no list of values")
        if len(set(self.values)) != len(self.values):
            raise ValueError(f"field '{self.name}' lists a value twice")
        if any(not value.strip() for value in self.values):
            raise ValueError(f"field '{self.name}' lists an empty value; take it out")
        if self.minimum > self.maximum:
            raise ValueError(f"field '{self.name}' has a minimum above its maximum")
        return self

    @model_validator(mode="after")
    def _synonyms_are_known(self) -> "FieldSpec":
        if self.synonyms and self.kind not in LISTED:
            raise ValueError(f"field '{self.name}' is {self.kind}: synonyms belong to closed, multi and ordinal fields")
        told: dict[str, str] = {folded(value): value for value in self.values}
        for word, value in self.synonyms:
            if value not in self.values and value != NOT_REPORTED:
                raise ValueError(f"field '{self.name}' has the synonym '{word}' for '{value}', which is not among its values")
            if told.setdefault(folded(word), value) != value:
                raise ValueError(f"field '{self.name}' has the synonym '{word}' for both '{told[folded(word)]}' and '{value}'")
        return self

    @model_validator(mode="after")
    def _group_is_whole(self) -> "FieldSpec":
        names = [field.name for field in self.fields]
        if (self.kind == "group") != bool(self.fields):
            raise ValueError(f"field '{self.name}': kind = \"group\" and sub-fields [[fields.fields]] belong together")
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice:
            raise ValueError(f"group '{self.name}' has two sub-fields called '{twice}'; rename one")
        nested = next((field.name for field in self.fields if field.kind == "group"), None)
        if nested:
            raise ValueError(f"group '{self.name}' holds the group '{nested}'; a sub-field must be a plain field")
        odd = next((name for name in names if name in ("quote", "notes")), None)
        if odd:
            raise ValueError(f"group '{self.name}' has a sub-field called '{odd}', which is the name of the evidence; rename it")
        unknown = next((name for name in self.key if name not in names), None)
        if unknown:
            raise ValueError(f"group '{self.name}' names the key '{unknown}', which is not one of its sub-fields")
        for field in self.fields:
            named = next((name for name in (field.arm, field.time) if name and (name not in names or name == field.name)), None)
            if named:
                raise ValueError(f"sub-field '{field.name}' of '{self.name}' belongs to '{named}', which is no other sub-field")
        return self

    @model_validator(mode="after")
    def _rules_fit_the_kind(self) -> "FieldSpec":
        if self.merge == "union" and self.kind not in ("multi", "group"):
            raise ValueError(f"field '{self.name}' is {self.kind}: merge = \"union\" belongs to multi and group fields")
        rule = self.same.rule if self.same else None
        if rule == "tolerance" and self.kind != "number":
            raise ValueError(f"field '{self.name}' is {self.kind}: a tolerance belongs to number fields")
        if rule == "judge" and self.kind != "open":
            raise ValueError(f"field '{self.name}' is {self.kind}: same = \"judge\" belongs to open fields")
        if rule == "normalised" and self.kind in ("number", "group"):
            raise ValueError(f"field '{self.name}' is {self.kind}: same = \"normalised\" belongs to texts, labels and dates")
        return self

    def choices(self) -> list[str]:
        """The closed values, with "not reported" where that is allowed."""
        extra = [] if self.required or NOT_REPORTED in self.values else [NOT_REPORTED]
        return [*self.values, *extra]

    @property
    def rule(self) -> Same:
        """What counts as the same, the default of the kind where none is declared."""
        return self.same or (_NORMALISED if self.kind == "open" else _EXACT)

    @property
    def merging(self) -> Literal["union", "first", "most_frequent", "conflict"]:
        """How windows are merged, the default of the kind where none is declared."""
        return self.merge or ("union" if self.kind in ("multi", "group") else "conflict")

    @property
    def keys(self) -> tuple["FieldSpec", ...]:
        """The sub-fields that say which row is which; all of them where none is named."""
        return tuple(field for field in self.fields if field.name in self.key) or self.fields


def folded(text: str) -> str:
    """Case and blanks folded: the dress in which a listed value is still that value."""
    return " ".join(text.split()).casefold()
