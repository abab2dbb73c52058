"""Which record a full text belongs to."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from litcascade.corpora.build import read_doi
from litcascade.corpora.dedup.fold import fold
from litcascade.corpora.texts.files import plain_name
from litcascade.schemas import Document

LEAST_TITLE = 20  # characters: shorter ones ("Editorial") are no name


@dataclass(frozen=True)
class Known:
    """What is needed of a record to match a file to it."""

    record_id: str
    doi: str | None
    title: str | None = None


class Matcher:
    """Matches documents to records: by file name = record id, by DOI in the header, by DOI as file name, by title."""

    def __init__(self, records: Iterable[Known]) -> None:
        records = list(records)
        self._exact = {known.record_id for known in records}
        self._ids = _alone((file_form(known.record_id), known.record_id) for known in records)
        self._dois = _alone((known.doi, known.record_id) for known in records if known.doi)
        self._titles = _alone((fold(known.title), known.record_id) for known in records if known.title)
        self._doi_names = _alone((file_form(doi), record_id) for doi, record_id in self._dois.items())

    def match(self, document: Document, path: Path) -> tuple[str | None, str]:
        """Return (record id or None, how it was matched, or why it was not).

        A name that fits two records, or none once it is folded, matches nothing: a text on the wrong record is worse.
        """
        stem = plain_name(path).name
        stem = re.sub(r"(\.tei|\.jats)?\.(xml|nxml|html?|txt|md|pdf)$", "", stem, flags=re.IGNORECASE)
        if stem in self._exact:
            return stem, "file name = record id"
        form = file_form(stem)
        if form in self._ids:
            return self._ids[form], "file name = record id"
        doi = read_doi(document.doi)
        if doi and doi in self._dois:
            return self._dois[doi], "DOI in the document"
        if form in self._doi_names:
            return self._doi_names[form], "DOI as file name"
        title = fold(document.title or "")
        if len(title) >= LEAST_TITLE and title in self._titles:
            return self._titles[title], "title in the document"
        return None, f"no record (or more than one) with id '{stem}'" + (f" or DOI {doi}" if doi else "")


def _alone(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Only the keys that are not blank and belong to one record."""
    found: dict[str, list[str]] = {}
    for key, record_id in pairs:
        found.setdefault(key, []).append(record_id)
    return {key: ids[0] for key, ids in found.items() if key and len(ids) == 1}


def file_form(name: str) -> str:
    """An id or DOI as it may stand in a file name: case folded, runs of signs one underscore, letters of all scripts kept."""
    return re.sub(r"[^\w.]+", "_", name.casefold()).strip("_.")
