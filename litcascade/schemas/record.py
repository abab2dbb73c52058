"""What is screened: a citation as imported."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from litcascade.schemas.keys import Frozen


class AbstractStatus(StrEnum):
    """Whether the abstract can be screened as if whole."""

    OK = "ok"
    OTHER_LANGUAGE = "ok_other_language"
    MISSING = "missing"
    TRUNCATED = "truncated"


class PublicationStatus(StrEnum):
    """What later happened to a publication, or what notice it is; an ordinary one has none."""

    RETRACTED = "retracted"
    RETRACTION_NOTICE = "retraction notice"
    ERRATUM = "erratum"
    CONCERN = "expression of concern"


class Record(Frozen):
    """One citation as imported.

    A missing abstract is None, never an empty or placeholder text; an unknown or implausible year is None with
    the raw text kept in `source`. `source` holds every raw field as read. `labels` maps a stage (`title_abstract`,
    `full_text`, or `screening` where the file does not say which) to the label that the file itself carries:
    `include`, `exclude`, `maybe` or `conflict`. `year_note` says why a person should look at the date, None where it is clear.
    """

    record_id: str
    title: str | None = None
    abstract: str | None = None
    abstract_status: AbstractStatus = AbstractStatus.MISSING
    authors: tuple[str, ...] = ()
    year: int | None = None
    year_note: str | None = None
    journal: str | None = None
    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    volume: str | None = None
    issue: str | None = None
    pages: str | None = None
    url: str | None = None
    kind: str | None = None
    status: PublicationStatus | None = None
    labels: dict[str, str] = Field(default_factory=dict)
    import_id: str = ""
    position: int = 0
    source: dict[str, Any] = Field(default_factory=dict)
