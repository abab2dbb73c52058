"""ASReview projects (.asreview, versions 1 to 3): records whole, and the labels that were given in them.

A project is a zip archive. Version 3 keeps records and decisions in `results.db`; version 2 records in `data_store.db` and
decisions in `reviews/ID/results.db`; version 1 records in the imported file under `data/` and decisions in
`reviews/ID/results.sql`. In each, a record is known by its row in the imported file. That file has fields and ids that the
tables lack, so it is read too, where its rows and titles are those of the table.
"""

import json
import re
import shutil
import sqlite3
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from litcascade.corpora.build import build
from litcascade.corpora.readers import FILE_READERS, Export
from litcascade.corpora.receipt import Item, Repair, SetAside
from litcascade.errors import InputError
from litcascade.schemas import Record

_SIZE_LIMIT = 8 * 2**30  # bytes of one unpacked file
_RESULTS = re.compile(r"reviews/[^/]+/results\.(?:db|sql)")
_ENDING = re.compile(r"\.[A-Za-z0-9]{1,8}$")
_LABELS = {0: "exclude", 1: "include"}
_NONE = (None, -1)  # no decision yet
_DAMAGED = (zipfile.BadZipFile, zlib.error, sqlite3.Error, EOFError, NotImplementedError, UnicodeDecodeError)
_FIELDS = ("title", "abstract", "year", "journal", "doi", "pmid", "pmcid", "volume", "issue", "pages", "url", "kind")
_TEXTS = ("title", "abstract", "doi", "url")
_EXPORT = "open the project in ASReview, export its records as CSV or RIS, and import that"


@FILE_READERS.register("asreview")
def read_project(path: Path, columns: Mapping[str, str]) -> Iterator[Item]:
    """Read a project: every record once, with the label of `screening` that was given in it, none where none was.

    Where several reviews in one project label a record differently, its label is `conflict`. A damaged project, one of another
    layout, and one whose decisions cannot be bound to records is an `InputError`.
    """
    try:
        with zipfile.ZipFile(path) as archive, TemporaryDirectory() as folder:
            yield from _Project(path, archive, Path(folder), columns).items()
    except _DAMAGED as error:
        raise InputError(f"{path}: is a damaged ASReview project ({str(error)[:120]}); export it from ASReview again") from None


@dataclass
class _Decision:
    """What reviews said of one record: labels, and the rows they stand in."""

    labels: set[str] = field(default_factory=set)
    rows: list[dict[str, Any]] = field(default_factory=list)


class _Project:
    """An open project; files in it are unpacked one at a time, under names of our own, into a temporary folder."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, folder: Path, columns: Mapping[str, str]) -> None:
        self.path, self.archive, self.folder, self.columns = path, archive, folder, columns
        self.names = set(archive.namelist())
        self.config = self._read_config()
        self.decisions: dict[int, _Decision] = {}
        self.doubts: Counter[str] = Counter()

    def items(self) -> Iterator[Item]:
        """Records in the order of the imported file, then what a person should know."""
        store = next((name for name in ("results.db", "data_store.db") if name in self.names), None)
        for name in self._results():
            self._read_decisions(name)
        if store:
            yield from self._of_table(self._unpack(store))
        else:
            yield from self._of_file()
        for words, count in self.doubts.items():
            yield Repair(f"{words}: {count}")
        if self.decisions:
            yield Repair(f"{len(self.decisions)} decision(s) of the project belong to no record in it, and were not taken")

    def _read_config(self) -> dict[str, Any]:
        try:
            config = json.loads(self._unpack("project.json").read_text(encoding="utf-8-sig"))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{self.path}: its project.json cannot be read ({str(error)[:80]}); export it again") from None
        if not isinstance(config, dict):
            raise InputError(f"{self.path}: its project.json is no ASReview configuration; export it from ASReview again")
        return config

    def _unpack(self, name: str) -> Path:
        """A temporary copy of one file in the archive; the name it had there decides nothing but its ending."""
        member = self.archive.getinfo(name)
        if member.flag_bits & 1:
            raise InputError(f"{self.path}: is encrypted; export the project without a password")
        if member.file_size > _SIZE_LIMIT:
            raise InputError(f"{self.path}: '{name}' in it unpacks to {member.file_size} bytes, more than any project; {_EXPORT}")
        ending = _ENDING.search(name)
        copy = self.folder / f"member{ending.group() if ending else ''}"
        with self.archive.open(member) as source, copy.open("wb") as out:
            shutil.copyfileobj(source, out)
        return copy

    def _results(self) -> list[str]:
        """The files with decisions, in the order in which the project lists its reviews, unlisted ones last."""
        if "results.db" in self.names:
            return ["results.db"]
        listed = self.config.get("reviews")
        ids = [str(review.get("id")) for review in listed if isinstance(review, dict)] if isinstance(listed, list) else []
        found = [(name.split("/")[1], name) for name in self.names if _RESULTS.fullmatch(name)]
        return [name for _, name in sorted(found, key=lambda pair: (ids.index(pair[0]) if pair[0] in ids else len(ids), pair))]

    def _read_decisions(self, name: str) -> None:
        for row in _rows(self._unpack(name), "results"):
            key, label = row.pop("record_id", None), row.get("label")
            if label in _NONE:
                continue
            if not isinstance(key, int) or label not in _LABELS:
                self.doubts["decisions that are neither 0 nor 1, or of no record"] += 1
                continue
            decision = self.decisions.setdefault(key, _Decision())
            decision.labels.add(_LABELS[label])
            decision.rows.append({column: value for column, value in row.items() if value is not None})

    def _of_table(self, store: Path) -> Iterator[Item]:
        """Records of the table, filled up from the imported file where that is the same rows."""
        store = store.rename(self.folder / "records.db")
        listed = self.config.get("datasets")
        name = listed[0].get("name") if isinstance(listed, list) and len(listed) == 1 and isinstance(listed[0], dict) else None
        member = f"data/{name}"
        why = "it is not in the project"
        if member in self.names:
            data = self._data(member)
            why = self._differs(store, data, member)
            if not why:
                yield from self._both(store, data)
                return
        yield Repair(f"the imported file '{name}' was not read ({why}); records have the fields of ASReview's own table only")
        for position, row in enumerate(_rows(store, "record", "dataset_row"), start=1):
            yield self._record(_of_row(row, position), row.get("record_id"), row)

    def _data(self, member: str) -> Path:
        copy = self._unpack(member)
        return copy.rename(self.folder / f"data{copy.suffix}")

    def _file_items(self, data: Path) -> Iterator[Item]:
        export = Export(data, self.columns)
        if export.format == "asreview":
            raise InputError(f"{data}: is a project inside a project")
        yield from export.items()

    def _differs(self, store: Path, data: Path, member: str) -> str:
        """Why the imported file cannot be the table's rows; blank where it can: as many rows, and every title the same."""
        try:
            entries = (item for item in self._file_items(data) if _is_row(item))
            pairs = zip_longest(_rows(store, "record", "dataset_row"), entries)
            for number, (row, item) in enumerate(pairs, start=1):
                if row is None or item is None:
                    return f"it has {'more' if row is None else 'fewer'} records than the table"
                if isinstance(item, Record) and _letters(row.get("title")) != _letters(item.title):
                    return f"record {number} has another title there"
        except InputError as error:
            return str(error).replace(str(data), member)
        return ""

    def _both(self, store: Path, data: Path) -> Iterator[Item]:
        rows = _rows(store, "record", "dataset_row")
        position = 0
        own_ids = any(isinstance(item, Record) and item.record_id for item in self._file_items(data))
        for item in self._file_items(data):
            if not _is_row(item):
                yield item
                continue
            position += 1
            row = next(rows)
            record = _of_row(row, position, with_id=not own_ids)
            yield self._record(_filled(item, record) if isinstance(item, Record) else record, row.get("record_id"), row)

    def _of_file(self) -> Iterator[Item]:
        """Records of the imported file, row by row: version 1 keeps no other table of them."""
        name = f"data/{self.config.get('dataset_path')}"
        if name not in self.names:
            raise InputError(f"{self.path}: is an ASReview project without records that can be read (no '{name}'); {_EXPORT}")
        if any(old in self.names for old in ("labeled.json", "result.json")):
            raise InputError(f"{self.path}: is a project of ASReview 0; {_EXPORT}")
        keys = self._row_keys()
        data = self._data(name)
        try:
            self._require_rows(data, name, keys)
            position = 0
            for item in self._file_items(data):
                if isinstance(item, Record):
                    yield self._record(item, keys[position] if keys else position, {})
                position += _is_row(item)
                if not isinstance(item, Record):
                    yield item
        except InputError as error:
            raise InputError(str(error).replace(str(data), f"{self.path} ({name})")) from None

    def _row_keys(self) -> list[int]:
        """ASReview's number of each row of the imported file, as the first review lists them; empty where none does."""
        for name in self._results():
            return [row["record_id"] for row in _rows(self._unpack(name), "record_table")]
        return []

    def _require_rows(self, data: Path, name: str, keys: list[int]) -> None:
        if not keys and not self.decisions:
            return
        count = sum(map(_is_row, self._file_items(data)))
        if count != len(keys):
            raise InputError(
                f"{self.path}: the project counts {len(keys)} records and '{name}' in it {count}, so its decisions cannot be "
                f"bound to records; {_EXPORT}"
            )

    def _record(self, record: Record, key: Any, row: Mapping[str, Any]) -> Record:
        """The record with its decision; the label of the imported file stands for it in a simulation only."""
        decision = self.decisions.pop(key, None) if isinstance(key, int) else None
        labels = {stage: label for stage, label in record.labels.items() if stage != "screening"}
        imported = record.labels.get("screening") or (None if record.labels else _LABELS.get(row.get("included", -1)))
        source = dict(record.source)
        if decision:
            labels["screening"] = next(iter(decision.labels)) if len(decision.labels) == 1 else "conflict"
            source["asreview_results"] = decision.rows
            if imported and imported != labels["screening"]:
                self.doubts["records labelled otherwise in the imported file (the label given in ASReview was taken)"] += 1
        elif imported and self.config.get("mode") == "simulate":
            labels["screening"] = imported
        elif imported:
            self.doubts["records with a label in the imported file that were not labelled in ASReview (none was taken)"] += 1
        return record.model_copy(update={"labels": labels, "source": source})


def _rows(database: Path, table: str, order: str = "rowid") -> Iterator[dict[str, Any]]:
    """The rows of a table by column; none where there is no such table."""
    with closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        if not connection.execute("select 1 from sqlite_master where type = 'table' and name = ?", [table]).fetchone():
            return
        cursor = connection.execute(f"select * from {table} order by {order}")
        names = [column[0] for column in cursor.description]
        for values in cursor:
            yield dict(zip(names, values, strict=True))


def _is_row(item: Item) -> bool:
    """Whether an item of the imported file was a row of it for ASReview: a record, or what we set aside as one."""
    return isinstance(item, Record) or (isinstance(item, SetAside) and item.is_record)


def _letters(text: Any) -> str:
    return "".join(character for character in str(text or "").casefold() if character.isalnum())


def _of_row(row: Mapping[str, Any], position: int, *, with_id: bool = True) -> Record:
    """A record of ASReview's own table."""
    fields = {name: str(row[name]) for name in (*_TEXTS, "year") if row.get(name) is not None}
    source = {name: value for name, value in row.items() if value not in (None, "", "[]")}
    key = row.get("record_id")
    return build(str(key) if with_id and key is not None else "", fields, _names(row.get("authors")), position, source)


def _names(cell: Any) -> list[str]:
    try:
        names = json.loads(cell or "[]")
    except (TypeError, ValueError):
        return [str(cell)]
    return [str(name) for name in names] if isinstance(names, list) else [str(names)]


def _filled(record: Record, table: Record) -> Record:
    """The record of the imported file; what it lacks is taken from the table's."""
    lacking = {name: getattr(table, name) for name in _FIELDS if getattr(record, name) is None}
    if record.abstract is None:
        lacking["abstract_status"] = table.abstract_status
    if record.year is None and table.year is not None:
        lacking["year_note"] = table.year_note
    update = {"record_id": record.record_id or table.record_id, "authors": record.authors or table.authors, **lacking}
    return record.model_copy(update={**update, "position": table.position, "source": {**table.source, **record.source}})
