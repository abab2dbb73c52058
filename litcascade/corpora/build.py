"""Raw fields of any export to a `Record`: one place for what a blank, a year, an identifier means."""

import html
import re
from collections.abc import Mapping, Sequence
from typing import Any

from litcascade.corpora.abstracts import nothing, read_abstract
from litcascade.schemas import Record

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_DOI = re.compile(r"10\.\d{4,9}/\S+")


def text_or_none(value: str | None) -> str | None:
    """The text with its blanks folded, or None where it holds nothing."""
    if value is None or nothing(value):
        return None
    return re.sub(r"\s+", " ", value).strip()


def read_year(value: str | None) -> int | None:
    """The first plausible year (1500 to 2099) in a date of any form; None where there is none."""
    match = _YEAR.search(value or "")
    return int(match.group(1)) if match else None


def read_doi(value: str | None) -> str | None:
    """A DOI without its web prefix, in lower case, LaTeX escapes and a closing dot removed; None where there is none."""
    match = _DOI.search(html.unescape(value or "").replace("\\", "").replace("%2F", "/"))
    return match.group(0).rstrip(".,;)>]}\"'").casefold() if match else None


def read_digits(value: str | None) -> str | None:
    """A numeric identifier such as a PMID; zero and blank mean none."""
    match = re.search(r"\d+", value or "")
    return match.group(0).lstrip("0") or None if match else None


def build(
    record_id: str, fields: Mapping[str, str | None], authors: Sequence[str], position: int, source: dict[str, Any]
) -> Record:
    """A record from the plain fields title, abstract, year, journal, doi, pmid, url, kind."""
    abstract, status = read_abstract(fields.get("abstract"))
    return Record(
        record_id=record_id,
        title=text_or_none(fields.get("title")),
        abstract=abstract,
        abstract_status=status,
        authors=tuple(author for author in (text_or_none(name) for name in authors) if author),
        year=read_year(fields.get("year")),
        journal=text_or_none(fields.get("journal")),
        doi=read_doi(fields.get("doi")),
        pmid=read_digits(fields.get("pmid")),
        url=text_or_none(fields.get("url")),
        kind=text_or_none(fields.get("kind")),
        position=position,
        source=source,
    )


def unique_ids(given: Sequence[str | None], stem: str) -> tuple[list[str], bool]:
    """Ids for the records of a file: the file's own where every record has one, else `stem:1`, `stem:2`, …

    Returns (ids, whether they are the file's own). Repeats among the file's own are left for the caller to refuse.
    """
    if given and all(given):
        return [str(item) for item in given], True
    return [f"{stem}:{number}" for number in range(1, len(given) + 1)], False
