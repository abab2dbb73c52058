"""What a benchmark set holds once loaded, and the table of sets. Everything is joined by record id."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from litcascade.errors import InputError
from litcascade.registry import Registry
from litcascade.schemas import Decision, Document, Record

Stage = Literal["title_abstract", "full_text"]
Source = Literal["gold", "silver"]
STAGES: tuple[Stage, ...] = ("title_abstract", "full_text")


@dataclass(frozen=True)
class CardFile:
    """A file of a set: its path below the folder, the SHA-256 of its (unpacked) content, and where it is downloaded."""

    path: str
    sha256: str | None = None
    url: str | None = None


@dataclass(frozen=True)
class Published:
    """Counts as published: of records, and of includes at each level; None where the level is not labelled."""

    part: str
    records: int
    title_abstract: int | None
    full_text: int | None


@dataclass(frozen=True)
class Card:
    """What a set is, where it comes from, and what its labels mean.

    `labels` maps a level (`title_abstract`, `full_text`, `extraction`) to the meaning of its labels. `files` are those
    that the card was written against, and those that can be downloaded.
    """

    name: str
    title: str
    source: str
    licence: str
    labels: Mapping[str, str]
    files: tuple[CardFile, ...] = ()
    published: tuple[Published, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class GoldLabel:
    """A decision on a record at a stage as the set gives it.

    `source` is `gold` (a person's) or `silver` (made by machine or by rule). `quote` and `rationale` are the passage and
    the sentence that explain it, where the set has them.
    """

    record_id: str
    stage: Stage
    decision: Decision
    reason: str | None = None
    source: Source = "gold"
    quote: str | None = None
    rationale: str | None = None


@dataclass(frozen=True)
class GoldField:
    """One extracted value of a record, in long form.

    `item` tells several things of one record apart (an outbreak, a comparison), None where a record has one. `value`
    None: the set says that it is not reported. `annotator` is set where several people gave a value each.
    """

    record_id: str
    field: str
    value: str | float | bool | None
    item: str | None = None
    quote: str | None = None
    rationale: str | None = None
    annotator: str | None = None


@dataclass(frozen=True)
class Review:
    """One review of a set, and the texts that screening rests on; None where the set lacks them.

    `abstract` is that of the finished review: it tells results, so a reader who sees it sees more than screeners did.
    `fields` is the schema of extraction fields, as the set has it.
    """

    name: str
    title: str | None = None
    question: str | None = None
    criteria: str | None = None
    protocol: str | None = None
    query: str | None = None
    abstract: str | None = None
    fields: str | None = None


@dataclass(frozen=True)
class AsideRow:
    """A row of a file that did not become part of the corpus, with the reason."""

    file: str
    row: int
    reason: str


@dataclass(frozen=True)
class Table:
    """The counts of one file: `rows` = `used` + `aside`. `sha256` is that of its unpacked content."""

    file: str
    rows: int
    used: int
    aside: int
    sha256: str


@dataclass(frozen=True)
class Corpus:
    """A loaded set. `review_of` maps every record id to the name of its review; `splits` are the set's own.

    `duplicates` are pairs (record id, id of the record it repeats) as the set marks them. `notes` say what is missing,
    what contradicts itself, and which file is not the one the card was written against.
    """

    name: str
    card: Card
    records: tuple[Record, ...]
    labels: tuple[GoldLabel, ...] = ()
    documents: tuple[Document, ...] = ()
    fields: tuple[GoldField, ...] = ()
    reviews: tuple[Review, ...] = ()
    review_of: Mapping[str, str] = field(default_factory=dict)
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    duplicates: tuple[tuple[str, str], ...] = ()
    tables: tuple[Table, ...] = ()
    set_aside: tuple[AsideRow, ...] = ()
    notes: tuple[str, ...] = ()

    def decisions(self, stage: str, source: Source = "gold") -> dict[str, Decision]:
        """Record id to decision at a stage."""
        return {label.record_id: label.decision for label in self.labels if label.stage == stage and label.source == source}

    def stages(self) -> list[str]:
        """The screening stages that have labels, in order."""
        found = {label.stage for label in self.labels}
        return [stage for stage in STAGES if stage in found]

    def count(self, stage: str, source: Source = "gold") -> Counter[str]:
        """How many records have each decision at a stage."""
        return Counter(self.decisions(stage, source).values())


Loader = Callable[[Path, str | None, Path | None], Corpus]


@dataclass(frozen=True)
class BenchmarkSet:
    """A set's card with its loader.

    `part` names one review of the set (see `parts`). `texts` is a file or folder with titles and abstracts for the sets
    that publish identifiers only (`needs_texts`); the others refuse it.
    """

    card: Card
    list_parts: Callable[[Path], list[str]]
    loader: Loader
    needs_texts: bool = False

    def parts(self, folder: Path) -> list[str]:
        """The reviews (topics, subsets) that the folder holds, in order of name."""
        _require_folder(folder, self.card.name)
        return self.list_parts(folder)

    def load(self, folder: Path, part: str | None = None, texts: Path | None = None) -> Corpus:
        """Load the set, or one part of it, from a local folder; what is wrong with a row goes to `set_aside` or `notes`.

        A folder, file, column or part that is not there is an `InputError`; a checksum that differs is a note.
        """
        _require_folder(folder, self.card.name)
        if texts is not None and not self.needs_texts:
            raise InputError(f"the set '{self.card.name}' brings its own texts; leave out {texts}")
        if texts is not None and not texts.exists():
            raise InputError(f"{texts}: there is no such file or folder with titles and abstracts")
        return self.loader(folder, part, texts)


def _require_folder(folder: Path, name: str) -> None:
    if not folder.is_dir():
        raise InputError(f"{folder}: there is no such folder; download the set '{name}' or name the folder that holds it")


SETS: Registry[BenchmarkSet] = Registry("benchmark set")
