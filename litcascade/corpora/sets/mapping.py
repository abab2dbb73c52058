"""The mapping of a SciLitBench-style release: which file and column holds what, in a small TOML. See docs/corpora.md."""

import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError, model_validator

from litcascade.errors import InputError
from litcascade.schemas.keys import Frozen

Kind = Literal["screening", "extraction", "texts"]
_LABELLED = frozenset({"label"})


class Columns(Frozen):
    """Column names of a table; blank means that the table has no such column."""

    record_id: str
    title: str = ""
    abstract: str = ""
    authors: str = ""
    year: str = ""
    journal: str = ""
    doi: str = ""
    pmid: str = ""
    text: str = ""
    label: str = ""
    reason: str = ""
    quote: str = ""
    rationale: str = ""
    split: str = ""
    source: str = ""
    item: str = ""
    field: str = ""
    value: str = ""
    annotator: str = ""


class TableMap(Frozen):
    """One table of the release.

    kind `screening`: a row a record with its label at `stage`. `extraction`: a row a value (columns field and value), or a
    row a record with a column for each of `fields`. `texts`: a row a full text (column text). `split` and `source` hold for
    the whole table where no column says them.
    """

    file: str
    kind: Kind
    stage: Literal["title_abstract", "full_text"] = "title_abstract"
    split: str = ""
    source: Literal["gold", "silver"] = "gold"
    include: tuple[str, ...] = ("1", "include", "included", "yes")
    exclude: tuple[str, ...] = ("0", "exclude", "excluded", "no")
    gold: tuple[str, ...] = ("gold", "human", "expert")
    silver: tuple[str, ...] = ("silver", "model", "machine")
    fields: dict[str, str] = Field(default_factory=dict)
    columns: Columns

    @model_validator(mode="after")
    def _columns_fit_the_kind(self) -> "TableMap":
        if self.kind == "screening" and not self.columns.label:
            raise ValueError("a screening table needs columns.label")
        if self.kind == "texts" and not self.columns.text:
            raise ValueError("a table of texts needs columns.text")
        if self.kind == "extraction" and not self.fields and not (self.columns.field and self.columns.value):
            raise ValueError("an extraction table needs columns.field and columns.value, or [tables.fields]")
        return self


class ReleaseMap(Frozen):
    """The whole mapping. `texts` is a folder of full texts named by record id; `field_schema` a JSON file with the fields."""

    review: str = "scilitbench"
    question: str = ""
    criteria: str = ""
    texts: str = ""
    field_schema: str = ""
    tables: Annotated[tuple[TableMap, ...], Field(min_length=1)]


def read_mapping(path: Path) -> ReleaseMap:
    """Read a mapping; what it says wrong is an `InputError` that names the key."""
    try:
        told: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read ({error}); write the mapping as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: is not readable TOML ({error})") from None
    try:
        return ReleaseMap.model_validate(told)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(place) for place in first["loc"])
        raise InputError(f"{path}: {where or 'the mapping'}: {first['msg'].removeprefix('Value error, ')}") from None
