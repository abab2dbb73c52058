"""What de-duplication knows of a record, read once into a light structure."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from litcascade.corpora.dedup.fold import fold
from litcascade.corpora.dedup.ids import doi_stem, normal_doi, normal_pmcid, normal_pmid, trial_ids
from litcascade.corpora.dedup.names import Name, read_names
from litcascade.corpora.dedup.status import publication_status
from litcascade.corpora.dedup.titles import Title, read_title
from litcascade.corpora.dedup.words import DATABASES
from litcascade.schemas import PublicationStatus, Record

_RANGE = re.compile(r"([a-z]{0,4}\d+[a-z]?\d*)(?:[-–—]+([a-z]{0,4}\d+[a-z]?\d*))?")
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\b", re.IGNORECASE)
_REGISTERS = ("CT", "DRKS", "UMIN", "NTR", "nct0")  # one of these letters stands in the name of every register
_PREPRINT_DOI = re.compile(r"10\.(?:1101/(?:\d{6}|\d{4}\.)|21203/rs|2139/ssrn|48550/|20944/preprints|31234/osf|31219/osf|26434/)")
_PREPRINT_PLACE = re.compile(r"rxiv|research square|preprint|\bssrn\b")
_MEETING = re.compile(
    r"\b(?:conferences?|symposi\w+|workshops?|congress|annual meeting|proc\.? .*conf|meeting abstracts?|lecture notes)\b",
    re.IGNORECASE,
)
_REGISTER = re.compile(r"clinicaltrials\.gov|\bisrctn\b|\btrials? regist(?:ry|er)\b|\bictrp\b", re.IGNORECASE)
_PROTOCOL = re.compile(r"\bprotocol\b|\brationale and (?:study )?design\b|\bdesign and rationale\b|\bstudy design and\b")
ABSTRACT_HEAD = 400


@dataclass(slots=True)
class Facts:
    """One record ready to compare; every field is None or empty where the record does not say."""

    place: int
    record_id: str
    title: Title
    names: tuple[Name, ...]
    year: int | None
    journal: str
    volume: str | None
    first_page: str | None
    last_page: str | None
    pages: tuple[tuple[int, int], ...]
    doi: str | None
    pmid: str | None
    pmcid: str | None
    trials: frozenset[str]
    status: PublicationStatus | None
    role: str
    raw_abstract: str
    filled: int
    _abstract: str | None = field(default=None)

    @property
    def abstract(self) -> str:
        """The folded head of the abstract without headings; empty where there is none."""
        if self._abstract is None:
            self._abstract = fold(_HEADING.sub(" ", self.raw_abstract[: ABSTRACT_HEAD + 200]))[:ABSTRACT_HEAD]
        return self._abstract

    def ids(self) -> tuple[tuple[str, str | None], ...]:
        """DOI, PMID and PMCID by their names."""
        return ("DOI", self.doi), ("PMID", self.pmid), ("PMCID", self.pmcid)

    def stem(self) -> str | None:
        """The DOI without its version."""
        return doi_stem(self.doi) if self.doi else None


_HEADING = re.compile(
    r"\b(?:BACKGROUND|INTRODUCTION|OBJECTIVES?|AIMS?|PURPOSE|METHODS?|RESULTS?|CONCLUSIONS?|DESIGN|SETTING|PATIENTS)\b(?:\s*(?:AND|/)\s*[A-Z]+)*\s*:|"
    r"^\s*(?:abstract|summary|background|objectives?|aims?|purpose|introduction)\b\s*[:.]?",
    re.IGNORECASE,
)


def read_facts(record: Record, place: int) -> Facts:
    """Everything that is compared, from the fields of a record, or from its raw source where a field is empty."""
    title = read_title(record.title)
    volume = _volume(record.volume or from_source(record, ("volume", "vl", "vi", "volume number")))
    pages = record.pages or _source_pages(record)
    ranges = _ranges(pages)
    first, last = _ends(ranges, volume)
    doi = normal_doi(record.doi) or normal_doi(from_source(record, ("doi",)))
    kind = record.kind or from_source(record, ("pub_types", "type", "publication types")) or ""
    journal = record.journal or from_source(record, ("venue", "booktitle")) or ""
    journal = "" if journal.casefold() in DATABASES else journal
    abstract = record.abstract or ""
    return Facts(
        place,
        record.record_id,
        title,
        read_names(record.authors),
        record.year,
        journal,
        volume,
        first,
        last,
        tuple((int(a), int(b)) for a, b in ranges if a.isdigit() and b.isdigit()),
        doi,
        normal_pmid(record.pmid),
        normal_pmcid(record.pmcid or from_source(record, ("pmcid", "pmc"))),
        _trials(record, abstract),
        record.status or publication_status(record.title, kind),
        _role(title, kind, journal, doi),
        abstract[: ABSTRACT_HEAD + 200],
        _filled(record),
    )


def from_source(record: Record, names: Sequence[str]) -> str | None:
    """The first raw field of one of these names, case aside; None where none is filled."""
    source: Mapping[str, Any] = record.source
    for name in names:
        for key in (name, name.upper(), name.capitalize()):
            value = source.get(key)
            if isinstance(value, (list, tuple)):
                value = next((item for item in value if item), None)
            if value:
                return str(value)
    return None


def _source_pages(record: Record) -> str | None:
    whole = from_source(record, ("pages", "pg", "article number", "ar"))
    start = from_source(record, ("sp", "page start", "Page start", "bp"))
    end = from_source(record, ("ep", "page end", "Page end"))
    return whole or (f"{start}-{end}" if start and end and "-" not in start else start)


def _volume(value: str | None) -> str | None:
    """The first run of digits in a volume (`4 (1) (no pagination)` is 4), else its letters."""
    if not value:
        return None
    match = re.search(r"\d+", value)
    return match.group(0).lstrip("0") or None if match else fold(value).replace(" ", "") or None


def _ranges(value: str | None) -> list[tuple[str, str]]:
    """Every range of pages as (first, last): `221-8` ends on 228; a `p` for page is dropped, a lone page is a range of one.

    `08-Aug` is what a spreadsheet made of `8-8`, and no page.
    """
    found: list[tuple[str, str]] = []
    if _MONTH.search(value or ""):
        return found
    for match in _RANGE.finditer((value or "").casefold().replace(" ", "")):
        first = match.group(1).lstrip("p").lstrip("0")
        last = (match.group(2) or "").lstrip("p").lstrip("0") or first
        if not first:
            continue
        if len(last) < len(first) and first.isdigit() and last.isdigit():
            last = first[: len(first) - len(last)] + last
        found.append((first, last))
    return found[:4]


def _ends(ranges: list[tuple[str, str]], volume: str | None) -> tuple[str | None, str | None]:
    """The first and the last page of the first range; pages from 1 without a volume are those of a proof, and none."""
    if not ranges or (ranges[0][0] == "1" and not volume):
        return None, None
    first, last = ranges[0]
    return first, last if last != first else None


def _trials(record: Record, abstract: str) -> frozenset[str]:
    texts = [
        part for part in (record.title, abstract, record.url, record.doi) if part and any(name in part for name in _REGISTERS)
    ]
    return trial_ids(" ".join(texts)) if texts else frozenset()


def _role(title: Title, kind: str, journal: str, doi: str | None) -> str:
    """What kind of report it is, where the record tells: preprint, meeting, protocol, register, reply; else `paper`."""
    if title.reply:
        return "reply"
    place = _role_of_place(kind.casefold(), journal.casefold())
    if place == "preprint" or title.preprint or (doi and _PREPRINT_DOI.match(doi)):
        return "preprint"
    if place != "register" and _PROTOCOL.search(title.words):
        return "protocol"
    return place


@lru_cache(maxsize=65536)
def _role_of_place(kind: str, journal: str) -> str:
    """The same from the publication type and the journal alone."""
    if "preprint" in kind or _PREPRINT_PLACE.search(journal):
        return "preprint"
    if _REGISTER.search(journal) or "registry" in kind:
        return "register"
    meeting = any(word in kind for word in ("inproceedings", "conference", "cpaper", "meeting")) or kind == "conf"
    return "meeting" if meeting or _MEETING.search(journal) else "paper"


def _filled(record: Record) -> int:
    fields = (record.title, record.authors, record.year, record.journal, record.doi, record.pmid, record.pmcid, record.volume)
    return sum(bool(value) for value in (*fields, record.issue, record.pages, record.url, record.kind, record.abstract))
