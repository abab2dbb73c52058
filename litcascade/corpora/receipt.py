"""What an import came to: every record in the file is read, or set aside with a reason and a line."""

from dataclasses import dataclass, field

from litcascade.schemas import AbstractStatus, Record


@dataclass(frozen=True)
class SetAside:
    """Something in the file that did not become part of a record; `is_record` where it was a whole entry."""

    line: int
    reason: str
    raw: str
    is_record: bool = False


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
    repairs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def make_receipt(path: str, format_name: str, encoding: str, parsed: Parsed) -> Receipt:
    """Count what was read and what was not."""
    refused = sum(item.is_record for item in parsed.set_aside)
    status = [record.abstract_status for record in parsed.records]
    return Receipt(
        path=path,
        format=format_name,
        encoding=encoding,
        in_file=len(parsed.records) + refused,
        read=len(parsed.records),
        refused=refused,
        lines_set_aside=sum(max(1, item.raw.count("\n") + 1) for item in parsed.set_aside),
        missing_titles=sum(record.title is None for record in parsed.records),
        missing_abstracts=status.count(AbstractStatus.MISSING),
        cut_abstracts=status.count(AbstractStatus.TRUNCATED),
        repairs=tuple(parsed.repairs),
    )
