"""The label set of a field: what a person may write in its file, and what is refused."""

import tomllib

from pydantic import Field, ValidationError, field_validator, model_validator

from litcascade.errors import InputError
from litcascade.schemas import Frozen, digest
from litcascade.schemas.toml_lines import line_of
from litcascade.stages.harmonising.items import folded

NONE_FITS = "none fits"
UNCLEAR = "unclear"
RESERVED = (NONE_FITS, UNCLEAR, "unsure")
SEVERAL = 5
_KEYS = ("name", "definition", "synonyms", "examples", "support", "items")


class Label(Frozen):
    """One label. Items that equal the name or a synonym after folding get it without a model; examples are shown to the model."""

    name: str = Field(min_length=1, max_length=80)
    definition: str = Field(min_length=1, max_length=1000)
    synonyms: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()

    @field_validator("name", "definition")
    @classmethod
    def _says_something(cls, text: str) -> str:
        told = " ".join(text.split())
        if not told:
            raise ValueError("must not be blank")
        return told

    @field_validator("name")
    @classmethod
    def _may_be_a_name(cls, name: str) -> str:
        if name.casefold() in RESERVED:
            raise ValueError(f"'{name}' is an answer of its own and cannot be a label")
        if "|" in name:
            raise ValueError("a label's name must not hold '|', which parts labels in tables")
        return name


class LabelSet(Frozen):
    """The labels of a field, two at least; `several` says whether one item may have more than one (up to five)."""

    field: str
    several: bool = False
    labels: tuple[Label, ...]

    @model_validator(mode="after")
    def _told_apart(self) -> "LabelSet":
        if len(self.labels) < 2:
            raise ValueError("there must be two labels at least, else there is nothing to tell apart")
        taken: dict[str, str] = {}
        for label in self.labels:
            for form in dict.fromkeys(map(folded, (label.name, *label.synonyms))):
                if not form:
                    raise ValueError(f"label '{label.name}' has a blank synonym")
                if form in taken:
                    raise ValueError(f"'{form}' stands for both '{taken[form]}' and '{label.name}'")
                taken[form] = label.name
        return self

    @property
    def content_hash(self) -> str:
        """32 hexadecimal digits of what a mapping rests on; support and items of the proposals are no part of it."""
        return digest(self.model_dump(mode="json"))

    def exact(self, text: str) -> str | None:
        """The label whose name or synonym the text equals after folding; None where there is none."""
        form = folded(text)
        return next((one.name for one in self.labels if form in map(folded, (one.name, *one.synonyms))), None)

    def known(self, name: str) -> str | None:
        """The label of that name, as the set writes it."""
        form = folded(name)
        return next((one.name for one in self.labels if folded(one.name) == form), None)


def parse_labels(text: str, field: str, where: str) -> LabelSet:
    """The label set of a TOML text; what does not fit is an `InputError` with file and line.

    Keys: `field`, `several`, and `[[labels]]` with name, definition, synonyms, examples. `support` and `items`, which the
    proposals write, may stay and mean nothing.
    """
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{where}: is not TOML ({error})") from None
    if content.get("field", field) != field:
        raise InputError(f"{where}: holds labels of the field '{content['field']}', not of '{field}'; name the other file")
    tables = content.get("labels", [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise InputError(f"{where}: labels are written as [[labels]] with name and definition")
    for place, one in enumerate(tables):
        odd = next((key for key in one if key not in _KEYS), None)
        if odd:
            raise InputError(
                f"{where}: line {line_of(text, ('labels', place, odd))}: unknown key '{odd}'; use {', '.join(_KEYS)}"
            )
    kept = [{key: value for key, value in one.items() if key not in ("support", "items")} for one in tables]
    try:
        return LabelSet.model_validate({**content, "field": field, "labels": kept})
    except ValidationError as error:
        raise InputError(_first(error, text, where)) from None


def _first(error: ValidationError, text: str, where: str) -> str:
    first = error.errors(include_url=False)[0]
    words = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"{where}: {words}"
    name = ".".join(str(part) for part in first["loc"] if not isinstance(part, int))
    return f"{where}: line {line_of(text, first['loc'])}: {name}: {words}"
