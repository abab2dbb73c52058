"""Titles and abstracts for sets that publish identifiers only: a local copy, or what OpenAlex gave."""

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from litcascade.corpora.build import build, read_digits, read_doi
from litcascade.corpora.sets.draft import Draft, examples
from litcascade.corpora.sets.tables import Row, filled, read_sheet, tables_in
from litcascade.errors import InputError
from litcascade.schemas import Record

_NAMES = {
    "openalex_id": "openalex", "openalex": "openalex", "id": "openalex", "doi": "doi", "pmid": "pmid", "pubmed_id": "pmid",
    "pubmedid": "pmid", "title": "title", "abstract": "abstract", "year": "year", "publication_year": "year",
    "journal": "journal", "authors": "authors", "type": "kind", "kind": "kind", "asked": "asked", "absent": "absent",
}  # fmt: skip
_KINDS = ("openalex", "doi", "pmid")
_CARRIED = ("title", "abstract", "year", "journal", "kind")


def openalex_id(value: str | None) -> str | None:
    """The identifier of an OpenAlex work as `W` and its number; None where there is none."""
    match = re.search(r"\b[Ww](\d+)\b", value or "")
    return f"W{match.group(1)}" if match else None


def keys_of(fields: Mapping[str, str | None]) -> list[str]:
    """The keys under which a text may be found, the surest first: `W123`, `doi:10.…`, `pmid:123`."""
    work, doi, pmid = openalex_id(fields.get("openalex")), read_doi(fields.get("doi")), read_digits(fields.get("pmid"))
    named = [work, f"doi:{doi}" if doi else None, f"pmid:{pmid}" if pmid else None]
    return [key for key in named if key]


class Texts:
    """Texts by identifier. `path` is a table, or a folder of tables; None gives no text to anything."""

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._by_key: dict[str, Row] = {}
        self._absent: set[str] = set()
        self._without: list[str] = []
        self._asked = 0
        for file in self._files():
            self._read(file)

    def _files(self) -> list[Path]:
        if self.path is None:
            return []
        if not self.path.is_dir():
            return [self.path]
        files = tables_in(self.path)
        if not files:
            raise InputError(f"{self.path}: holds no table of titles and abstracts (CSV, TSV, JSON lines or Excel)")
        return files

    def _read(self, file: Path) -> None:
        sheet = read_sheet(file)
        names = {column: _NAMES[_folded(column)] for column in sheet.header if _folded(column) in _NAMES}
        if "title" not in names.values() or not {"asked", *_KINDS} & set(names.values()):
            raise InputError(
                f"{file}: needs a column 'title' and one of openalex_id, doi, pmid; its columns are: {', '.join(sheet.header)}"
            )
        for _, row in sheet.rows:
            fields = {field: row[column] for column, field in names.items()}
            if fields.get("absent") in ("true", "1"):
                self._absent.add(fields.get("asked", ""))
                continue
            asked = filled(fields.get("asked"))
            for key in [asked, *keys_of(fields)] if asked else keys_of(fields):
                self._by_key.setdefault(key, fields)

    def has(self, keys: Iterable[str]) -> bool:
        """Whether there is a text under one of these keys."""
        return any(key in self._by_key for key in keys)

    def record(self, record_id: str, ids: Mapping[str, str | None], row: int, source: Mapping[str, Any]) -> Record:
        """The record of these identifiers, with its text where there is one; `row` counts from 1 with the header."""
        found: Row = next((self._by_key[key] for key in keys_of(ids) if key in self._by_key), {})
        self._asked += 1
        if not found:
            self._without.append(record_id)
        fields: dict[str, str | None] = {name: found.get(name) for name in _CARRIED}
        for kind in ("doi", "pmid"):
            fields[kind] = ids.get(kind) or found.get(kind)
        authors = re.split(r"\s*;\s*", found.get("authors", ""))
        return build(record_id, fields, authors, row - 1, {key: cell for key, cell in source.items() if cell})

    def note(self, draft: Draft) -> None:
        """Say how many records are without text, and why."""
        if self.path is None and self._asked:
            draft.notes.append(
                f"all {self._asked} records are identifiers without title and abstract; name a local copy as texts"
            )
        elif self._without:
            draft.notes.append(f"{len(self._without)} of {self._asked} record(s) found no text: {examples(self._without)}")


def _folded(name: str) -> str:
    return re.sub(r"\s+", "_", name.strip().casefold())
