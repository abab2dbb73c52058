"""Raw fields of any export to a `Record`: one place for what a blank, a year, an identifier means."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from litcascade.corpora.abstracts import LONGEST_NOTHING, nothing, read_abstract
from litcascade.corpora.dedup.ids import normal_doi
from litcascade.corpora.dedup.status import publication_status
from litcascade.schemas import PublicationStatus, Record

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_RANGE = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)[^-\u2013/\[(]*[-\u2013/][^-\u2013/\d]*(1[5-9]\d\d|20\d\d)(?!\d)")
_CLEAN_DOI = re.compile(r"10\.\d{4,9}/[a-z0-9][a-z0-9._-]*[a-z0-9]")  # nothing to mend
_NOTICE = ("retract", "withdr", "remov", "errat", "corrig", "correct", "concern", "addend")
_PMCID = re.compile(r"(?i)\bPMC\s*0*(\d+)")
_PLAIN = ("title", "journal", "volume", "issue", "pages", "url", "kind")


def text_or_none(value: str | None) -> str | None:
    """The text with its blanks folded, or None where it holds nothing."""
    if not value:
        return None
    text = " ".join(value.split())
    return None if len(text) <= LONGEST_NOTHING and nothing(text) else text


def read_year(value: str | None) -> int | None:
    """The first plausible year (1500 to 2099) in a date of any form; None where there is none."""
    if not value:
        return None
    if len(value) == 4 and value.isdecimal() and "1500" <= value < "2100":
        return int(value)
    match = _YEAR.search(value)
    return int(match.group(1)) if match else None


def year_note(value: str | None) -> str | None:
    """Why a person should look at a date: it has no year that can be read, or spans two; None where it is clear."""
    if value and len(value) == 4 and value[:2] in ("19", "20") and value.isdecimal():
        return None
    text = " ".join((value or "").split())
    if not read_year(text):
        return f"no year can be read in '{text[:40]}'" if text and not nothing(text) else "no year is given"
    span = _RANGE.search(text)
    return f"'{text[:40]}' spans two years" if span and span.group(1) != span.group(2) else None


def read_doi(value: str | None) -> str | None:
    """A DOI in one spelling (see `dedup.ids`); None where there is none."""
    if not value:
        return None
    if "10." not in value:
        return None
    return value if _CLEAN_DOI.fullmatch(value) else normal_doi(value)


def read_digits(value: str | None) -> str | None:
    """A numeric identifier such as a PMID; zero and blank mean none."""
    if not value:
        return None
    match = re.search(r"\d+", value)
    return match.group(0).lstrip("0") or None if match else None


def read_pmcid(value: str | None) -> str | None:
    """A PubMed Central identifier as `PMC` and its number; None where there is none."""
    match = _PMCID.search(value) if value else None
    return f"PMC{match.group(1)}" if match and match.group(1) != "0" else None


def join_pages(first: str | None, last: str | None) -> str | None:
    """`first-last`, or what there is of them."""
    begin, end = text_or_none(first), text_or_none(last)
    return f"{begin}-{end}" if begin and end and begin != end else begin or end


def build(
    record_id: str,
    fields: Mapping[str, str | None],
    authors: Sequence[str],
    position: int,
    source: dict[str, Any],
    labels: Mapping[str, str] | None = None,
) -> Record:
    """A record from the plain fields title, abstract, year, journal, volume, issue, pages, doi, pmid, pmcid, url, kind.

    `record_id` is the file's own id, blank where it gives none.
    """
    abstract, status = read_abstract(fields.get("abstract"))
    plain = {name: text_or_none(fields.get(name)) for name in _PLAIN}
    return Record(
        record_id=" ".join(record_id.split()),
        abstract=abstract,
        abstract_status=status,
        authors=tuple([author for name in authors if (author := text_or_none(name))]),
        year=read_year(fields.get("year")),
        year_note=year_note(fields.get("year")),
        doi=read_doi(fields.get("doi")),
        pmid=read_digits(fields.get("pmid")),
        pmcid=read_pmcid(fields.get("pmcid")),
        status=_status(plain["title"], plain["kind"]),
        labels=dict(labels or {}),
        position=position,
        source=source,
        **plain,
    )


def _status(title: str | None, kind: str | None) -> PublicationStatus | None:
    words = f"{title} {kind}".casefold()
    return publication_status(title, kind) if any(stem in words for stem in _NOTICE) else None
