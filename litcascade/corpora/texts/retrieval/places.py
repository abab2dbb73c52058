"""Locations as Unpaywall and OpenAlex list them, as places to try."""

import urllib.parse
from collections.abc import Iterable, Iterator
from typing import Any

from litcascade.corpora.texts.retrieval.wanted import NoCopyError, Place

MOST = 5
_ASKED_ELSEWHERE = ("www.ncbi.nlm.nih.gov", "pmc.ncbi.nlm.nih.gov", "ncbi.nlm.nih.gov")


def places_of(locations: Iterable[Any], pdf_field: str, page_field: str) -> Iterator[Place]:
    """At most five PDF addresses, each once, then a landing page to show to a person.

    PMC's web pages are left out: scripts are to use its services, which are a source of their own. Raises `NoCopyError`
    where nothing is left.
    """
    open_ones = [location for location in locations if isinstance(location, dict)]
    pdfs: dict[str, Any] = {}
    for location in open_ones:
        pdfs.setdefault(_text(location.get(pdf_field)), location.get("license"))
    usable = [url for url in pdfs if url and urllib.parse.urlsplit(url).hostname not in _ASKED_ELSEWHERE][:MOST]
    for url in usable:
        yield Place(url, "pdf", _text(pdfs[url]) or None)
    page = next((_text(location.get(page_field)) for location in open_ones if _text(location.get(page_field))), "")
    if page and not usable:
        yield Place(page, "pdf", only_page=True)
    if not page and not usable:
        raise NoCopyError("not open", "open, but without an address")


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else ""
