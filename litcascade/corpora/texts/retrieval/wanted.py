"""What is wanted, where it may lie, and what came of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from litcascade.corpora.texts.retrieval.asking import Asker

OutcomeState = Literal["retrieved", "not open", "unknown", "failed"]


@dataclass(frozen=True)
class Wanted:
    """A record whose full text is wanted, by whatever identifiers it has."""

    record_id: str
    doi: str | None = None
    pmcid: str | None = None
    pmid: str | None = None

    def ids(self) -> str:
        """All identifiers in one line, as the manifest keeps them; empty where there is none."""
        named = (("doi", self.doi), ("pmcid", self.pmcid), ("pmid", self.pmid))
        return " ".join(f"{name}:{value}" for name, value in named if value)


@dataclass(frozen=True)
class Outcome:
    """What came of one record.

    `retrieved`: a checked file lies at `path`; `not open`: known, but no source has an open copy; `unknown`: no source
    knows it, or it has no identifier; `failed`: there is an open copy, or may be, that could not be brought. `why` names
    each source with its reason; `url` is where the file came from, or where a person may look.
    """

    record_id: str
    state: OutcomeState
    path: Path | None = None
    source: str | None = None
    url: str | None = None
    why: str = ""
    licence: str | None = None


@dataclass(frozen=True)
class Place:
    """An address that a source names as an open copy; `kind` is what must come from there."""

    url: str
    kind: Literal["pdf", "jats"]
    licence: str | None = None
    only_page: bool = False


class NoCopyError(Exception):
    """A source's answer that it has no open copy: it does not know the work, or knows it as not open."""

    def __init__(self, state: Literal["not open", "unknown"], why: str) -> None:
        super().__init__(why)
        self.state, self.why = state, why


class Source(Protocol):
    """A service that says where open copies lie."""

    name: str

    def places(self, wanted: Wanted, asker: Asker) -> Iterator[Place]:
        """Places to try, best first, for identifiers in one spelling (DOI in small letters, PMCID with PMC).

        Raises `NoCopyError`, or `DownloadError` where the service does not answer.
        """
