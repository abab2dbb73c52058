"""Unpaywall: open copies by DOI; asks for the caller's e-mail address."""

import urllib.parse
from collections.abc import Iterator
from typing import Any

from litcascade.corpora.texts.retrieval.asking import Asker
from litcascade.corpora.texts.retrieval.places import places_of
from litcascade.corpora.texts.retrieval.wanted import NoCopyError, Place, Wanted
from litcascade.errors import InputError
from litcascade.web import DownloadError


class Unpaywall:
    """`https://api.unpaywall.org/v2/DOI?email=…`; the best location first, then the others."""

    name = "unpaywall"

    def __init__(self, base: str, email: str) -> None:
        self._base, self._email = base.rstrip("/"), email

    def places(self, wanted: Wanted, asker: Asker) -> Iterator[Place]:
        """PDF addresses of all open locations; one that names only a landing page comes last."""
        if not wanted.doi:
            raise NoCopyError("unknown", "the record has no DOI")
        doi = urllib.parse.quote(wanted.doi, safe="/")
        try:
            found = asker.json(f"{self._base}/{doi}?{urllib.parse.urlencode({'email': self._email})}")
        except DownloadError as error:
            if error.status == 404:
                raise NoCopyError("unknown", "Unpaywall does not know the DOI") from None
            if error.status == 422:
                raise InputError(f"Unpaywall refuses the e-mail address '{self._email}'; give your own") from None
            raise
        if not isinstance(found, dict) or "is_oa" not in found:
            raise DownloadError("Unpaywall: the answer is not about a work")
        if not found["is_oa"]:
            raise NoCopyError("not open", "Unpaywall knows no open copy")
        yield from places_of([found.get("best_oa_location"), *_list(found.get("oa_locations"))], "url_for_pdf", "url")


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
