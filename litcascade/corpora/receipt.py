"""What an import came to: every record in the file is read, or set aside with a reason and a line."""

from collections import Counter
from dataclasses import dataclass, field

from litcascade.schemas import AbstractStatus, Record


@dataclass(frozen=True)
class SetAside:
    """Something in the file that did not become part of a record; `is_record` where it was a whole entry."""

    line: int
    reason: str
    raw: str
    is_record: bool = False


@dataclass(frozen=True)
class Repair:
    """Something a reader mended, or that a person should know of the file."""

    words: str


Item = Record | SetAside | Repair


@dataclass
class Parsed:
    """What a reader made of a file."""

    records: list[Record] = field(default_factory=list)
    set_aside: list[SetAside] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Receipt:
    """The counts of one import; `in_file` = `read` + `refused`."""

    path: str
    format: str
    encoding: str
    in_file: int
    read: int
    refused: int
    lines_set_aside: int
    missing_titles: int
    missing_abstracts: int
    cut_abstracts: int
    unclear_years: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    labels: dict[str, int] = field(default_factory=dict)
    repairs: tuple[str, ...] = ()
    first_refused: tuple[str, ...] = ()


_SHOWN = 5


class Tally:
    """Counts the items of a file as they pass; its memory grows with the repairs only."""

    def __init__(self) -> None:
        self.read = self.refused = self.lines = self.untitled = self.unclear_years = 0
        self.abstracts: Counter[AbstractStatus] = Counter()
        self.statuses: Counter[str] = Counter()
        self.labels: Counter[str] = Counter()
        self.repairs: list[str] = []
        self.first_refused: list[str] = []

    def add(self, item: Item) -> None:
        """Count one item."""
        if isinstance(item, Record):
            self.read += 1
            self.untitled += item.title is None
            self.unclear_years += item.year_note is not None
            self.abstracts[item.abstract_status] += 1
            if item.status:
                self.statuses[item.status.value] += 1
            self.labels.update(f"{stage}: {label}" for stage, label in item.labels.items())
        elif isinstance(item, SetAside):
            self.refused += item.is_record
            if item.is_record and len(self.first_refused) < _SHOWN:
                self.first_refused.append(f"line {item.line}: {item.reason}")
            self.lines += max(1, item.raw.count("\n") + 1)
        else:
            self.repairs.append(item.words)

    def receipt(self, path: str, format_name: str, encoding: str) -> Receipt:
        """The receipt of what was counted so far."""
        return Receipt(
            path=path,
            format=format_name,
            encoding=encoding,
            in_file=self.read + self.refused,
            read=self.read,
            refused=self.refused,
            lines_set_aside=self.lines,
            missing_titles=self.untitled,
            missing_abstracts=self.abstracts[AbstractStatus.MISSING],
            cut_abstracts=self.abstracts[AbstractStatus.TRUNCATED],
            unclear_years=self.unclear_years,
            statuses=dict(self.statuses),
            labels=dict(sorted(self.labels.items())),
            repairs=tuple(self.repairs),
            first_refused=tuple(self.first_refused),
        )
