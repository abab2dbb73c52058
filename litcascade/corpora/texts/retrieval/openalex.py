"""OpenAlex: open copies by DOI, PMID or PMCID; single works are free of charge, with a key or without."""

import urllib.parse
from collections.abc import Iterator
from typing import Any

from litcascade.corpora.texts.retrieval.asking import Asker
from litcascade.corpora.texts.retrieval.places import places_of
from litcascade.corpora.texts.retrieval.wanted import NoCopyError, Place, Wanted
from litcascade.web import DownloadError

_SELECT = "id,doi,ids,open_access,best_oa_location,locations"


class OpenAlex:
    """`https://api.openalex.org/works/doi:…?mailto=…`; the best open location first, then the other open ones."""

    name = "openalex"

    def __init__(self, base: str, email: str, key: str | None) -> None:
        self._base = base.rstrip("/")
        self._query = {"select": _SELECT, "mailto": email} | ({"api_key": key} if key else {})

    def places(self, wanted: Wanted, asker: Asker) -> Iterator[Place]:
        """PDF addresses of all open locations; one that names only a landing page comes last."""
        work = self._work(wanted, asker)
        access = work.get("open_access")
        best = work.get("best_oa_location")
        if not isinstance(best, dict) and not (isinstance(access, dict) and access.get("is_oa")):
            raise NoCopyError("not open", "OpenAlex knows no open copy")
        others = work.get("locations")
        open_ones = (
            [place for place in others if isinstance(place, dict) and place.get("is_oa")] if isinstance(others, list) else []
        )
        address = access.get("oa_url") if isinstance(access, dict) else None
        yield from places_of([best, *open_ones, {"landing_page_url": address}], "pdf_url", "landing_page_url")

    def _work(self, wanted: Wanted, asker: Asker) -> dict[str, Any]:
        keys = _keys(wanted)
        if not keys:
            raise NoCopyError("unknown", "the record has no identifier")
        for key in keys:
            url = f"{self._base}/works/{urllib.parse.quote(key, safe='/:')}?{urllib.parse.urlencode(self._query)}"
            try:
                work = asker.json(url)
            except DownloadError as error:
                if error.status == 404:
                    continue
                raise
            if not isinstance(work, dict) or "open_access" not in work:
                raise DownloadError("OpenAlex: the answer is not about a work")
            return work
        raise NoCopyError("unknown", f"OpenAlex does not know {keys[0]}")


def _keys(wanted: Wanted) -> list[str]:
    """What to ask by, DOI first; a PMCID with and without its letters, for the service has taken either."""
    pmcid = wanted.pmcid or ""
    named = (("doi", wanted.doi), ("pmid", wanted.pmid), ("pmcid", pmcid), ("pmcid", pmcid.removeprefix("PMC")))
    return [f"{name}:{value}" for name, value in named if value]
