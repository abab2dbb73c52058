"""A corpus while it is being read: every row of every file is used or set aside, and contradictions are listed."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from litcascade.corpora.abstracts import nothing
from litcascade.corpora.sets.corpus import (
    STAGES,
    AsideRow,
    Card,
    Corpus,
    GoldField,
    GoldLabel,
    Review,
    Stage,
    Table,
)
from litcascade.corpora.sets.tables import Sheet, read_sheet
from litcascade.errors import InputError
from litcascade.registry import nearest
from litcascade.schemas import Decision, Document, Record

BINARY: Mapping[str, Decision] = {"1": "include", "0": "exclude"}
WORDS: Mapping[str, Decision] = {
    "include": "include", "included": "include", "exclude": "exclude", "excluded": "exclude",
}  # fmt: skip
_SHOWN = 5


def choose(parts: Sequence[str], part: str | None, where: Path) -> list[str]:
    """All parts, or the one asked for; a part that is not there is an `InputError` with the nearest right one."""
    if not parts:
        raise InputError(f"{where}: holds no file of this set; see the set's card for the files it needs")
    if part is None:
        return list(parts)
    if part not in parts:
        raise InputError(f"{where}: holds no part '{part}'{nearest(part, parts)}")
    return [part]


def examples(names: Sequence[object]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(str(name) for name in names[:_SHOWN])
    return shown + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


class Draft:
    """Gathers what a loader finds; `finish` closes the counts and freezes it."""

    def __init__(self, card: Card, folder: Path) -> None:
        self.card, self.folder = card, folder
        self.records: dict[str, Record] = {}
        self.documents: list[Document] = []
        self.fields: list[GoldField] = []
        self.reviews: dict[str, Review] = {}
        self.review_of: dict[str, str] = {}
        self.splits: dict[str, dict[str, None]] = {}
        self.duplicates: list[tuple[str, str]] = []
        self.notes: list[str] = []
        self._labels: dict[tuple[str, str, str], GoldLabel] = {}
        self._contradicted: dict[tuple[str, str, str], None] = {}
        self._odd: list[str] = []
        self._first_row: dict[str, str] = {}
        self._sheet_of: dict[str, str] = {}
        self._aside: list[AsideRow] = []
        self._rows: dict[str, int] = {}
        self._used: Counter[str] = Counter()
        self._sums: dict[str, str] = {}

    def sheet(self, path: Path, header: Sequence[str] | None = None, need: Sequence[str] = ()) -> Sheet:
        """Read a table of the set: its rows are counted, and torn rows set aside."""
        sheet = read_sheet(path, header)
        sheet.need(*need)
        return self.counted(sheet)

    def counted(self, sheet: Sheet) -> Sheet:
        """Count the rows of a table that was read elsewhere."""
        self._rows[sheet.name] = len(sheet.rows) + len(sheet.torn)
        self._sums[sheet.name] = sheet.sha256
        for number, reason in sheet.torn:
            self.aside(sheet, number, reason)
        return sheet

    def saw(self, name: str, sha256: str, rows: int = 0) -> None:
        """Note a file that is no table, with its checksum."""
        self._rows[name], self._sums[name] = rows, sha256
        self._used[name] = rows

    def saw_bytes(self, path: Path, raw: bytes) -> None:
        """Note a file that is no table by its content."""
        self.saw(str(path), hashlib.sha256(raw).hexdigest())

    def used(self, sheet: Sheet) -> None:
        """Count a row as used."""
        self._used[sheet.name] += 1

    def aside(self, sheet: Sheet, row: int, reason: str) -> None:
        """Set a row aside."""
        self._aside.append(AsideRow(self.short(sheet.name), row, reason))

    def record(self, sheet: Sheet, row: int, record: Record, review: str) -> bool:
        """Add a record; one whose id is taken is set aside with the row that has it, and False comes back."""
        taken = self._first_row.setdefault(record.record_id, f"row {row} of {self.short(sheet.name)}")
        if record.record_id in self.records:
            self.aside(sheet, row, f"its id '{record.record_id}' is used before, in {taken}")
            return False
        self.records[record.record_id] = record
        self.review_of[record.record_id] = review
        self._sheet_of[record.record_id] = sheet.name
        self.used(sheet)
        return True

    def sheet_of(self, record_id: str) -> str | None:
        """The table that brought a record; None where there is no such record."""
        return self._sheet_of.get(record_id)

    def read_label(
        self, record_id: str, stage: Stage, cell: str | None, forms: Mapping[str, Decision], where: str = ""
    ) -> Decision | None:
        """A cell as a decision: blank is none; a form that is not in `forms` is listed, never guessed."""
        word = (cell or "").strip()
        if nothing(word):
            return None
        decision = forms.get(word.casefold().removesuffix(".0"))
        if decision is None:
            self._odd.append(f"'{word[:30]}' for {record_id} at {stage}{where}")
        return decision

    def label(self, label: GoldLabel) -> None:
        """Add a label; two that contradict each other are both withdrawn and listed."""
        key = (label.record_id, label.stage, label.source)
        before = self._labels.setdefault(key, label)
        if before.decision != label.decision:
            self._contradicted[key] = None

    def decision(self, record_id: str, stage: Stage) -> Decision | None:
        """The gold label of a record at a stage so far."""
        label = self._labels.get((record_id, stage, "gold"))
        return label.decision if label else None

    def included(self, stage: Stage) -> set[str]:
        """The records labelled `include` at a stage so far."""
        return {label.record_id for label in self._labels.values() if (label.stage, label.decision) == (stage, "include")}

    def into_split(self, name: str, record_id: str) -> None:
        """Add a record to one of the set's own splits."""
        self.splits.setdefault(name, {})[record_id] = None

    def disagreeing(self, stage: str, told: Mapping[str, Decision | None]) -> list[str]:
        """The records whose gold label at a stage is another than `told`; those without a label on either side agree."""
        labels = {key[0]: label.decision for key, label in self._labels.items() if key[1:] == (stage, "gold")}
        return [name for name, decision in told.items() if decision and name in labels and labels[name] != decision]

    def review(self, name: str, review: Review | None) -> None:
        """Add a review with its texts, or by name alone where the set has none for it."""
        self.reviews[name] = review or Review(name)

    def short(self, name: str) -> str:
        """A file's name below the folder."""
        return name.removeprefix(str(self.folder)).lstrip("/\\")

    def finish(self) -> Corpus:
        """Freeze; a row that was neither used nor set aside is a fault of the loader and raises ValueError."""
        tables = self._tables()
        labels = tuple(label for key, label in self._labels.items() if key not in self._contradicted)
        self._note_labels(labels)
        self._note_files(tables)
        self._note_published(labels)
        return Corpus(
            name=self.card.name,
            card=self.card,
            records=tuple(self.records.values()),
            labels=labels,
            documents=tuple(self.documents),
            fields=tuple(self.fields),
            reviews=tuple(self.reviews.values()),
            review_of=self.review_of,
            splits={name: tuple(ids) for name, ids in self.splits.items()},
            duplicates=tuple(self.duplicates),
            tables=tables,
            set_aside=tuple(self._aside),
            notes=tuple(self.notes),
        )

    def _tables(self) -> tuple[Table, ...]:
        aside = Counter(item.file for item in self._aside)
        tables = []
        for name, rows in self._rows.items():
            short = self.short(name)
            if rows != self._used[name] + aside[short]:
                raise ValueError(f"{name}: {rows} rows, {self._used[name]} used, {aside[short]} set aside")
            tables.append(Table(short, rows, self._used[name], aside[short], self._sums[name]))
        return tuple(tables)

    def _note_labels(self, labels: Sequence[GoldLabel]) -> None:
        if self._odd:
            self.notes.append(f"{len(self._odd)} label(s) are none of the known forms and were left out: {examples(self._odd)}")
        if self._contradicted:
            names = [f"{record_id} at {stage}" for record_id, stage, _ in self._contradicted]
            self.notes.append(f"{len(names)} record(s) have contradicting labels, which were withdrawn: {examples(names)}")
        unknown = [label.record_id for label in labels if label.record_id not in self.records]
        if unknown:
            self.notes.append(f"{len(unknown)} label(s) belong to no record: {examples(unknown)}")
        decided = {(label.record_id, label.stage): label.decision for label in labels if label.source == "gold"}
        odd = [
            record_id
            for (record_id, stage), decision in decided.items()
            if (stage, decision) == ("full_text", "include") and decided.get((record_id, "title_abstract")) == "exclude"
        ]
        if odd:
            self.notes.append(f"{len(odd)} record(s) are included at full text but excluded before it: {examples(odd)}")

    def _note_files(self, tables: Sequence[Table]) -> None:
        known = {file.path: file.sha256 for file in self.card.files if file.sha256}
        for table in tables:
            pinned = known.get(table.file.removesuffix(".gz"))
            if pinned and pinned != table.sha256:
                self.notes.append(f"{table.file}: is not the file that the card was written against (SHA-256 differs)")

    def _note_published(self, labels: Sequence[GoldLabel]) -> None:
        members: dict[str, set[str]] = {name: set(ids) for name, ids in self.splits.items()}
        for record_id, review in self.review_of.items():
            members.setdefault(review, set()).add(record_id)
        included = {stage: {i.record_id for i in labels if (i.stage, i.decision) == (stage, "include")} for stage in STAGES}
        for told in self.card.published:
            if told.part not in members:
                continue
            ids = members[told.part]
            found = (len(ids), *(len(ids & included[stage]) for stage in STAGES))
            stated = (told.records, told.title_abstract, told.full_text)
            if any(told_count not in (None, count) for told_count, count in zip(stated, found, strict=True)):
                words = "/".join("–" if count is None else str(count) for count in stated)
                self.notes.append(
                    f"{told.part}: published are {words} records/abstract/final, loaded {'/'.join(map(str, found))}"
                )
