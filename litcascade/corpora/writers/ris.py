"""RIS: one line a value, blanks folded, so that no text can look like a tag; what a stage decided stands in notes (N1)."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from litcascade.corpora.build import join_pages
from litcascade.corpora.ris import KIND_NOTE
from litcascade.corpora.writers.base import LABEL_COLUMNS, WRITERS, About, Cleaner, Row, Written
from litcascade.schemas import Record

_RIS_KIND = re.compile(r"[A-Z][A-Z0-9]{2,5}")
_KINDS = {
    "article": "JOUR", "journal article": "JOUR", "book": "BOOK", "incollection": "CHAP", "inbook": "CHAP",
    "book chapter": "CHAP", "inproceedings": "CPAPER", "conference paper": "CPAPER", "phdthesis": "THES",
    "mastersthesis": "THES", "thesis": "THES", "dissertation": "THES", "techreport": "RPRT", "report": "RPRT",
    "dataset": "DATA", "unpublished": "UNPB", "preprint": "UNPB",
}  # fmt: skip
_ASREVIEW = {"include": "ASReview_relevant", "exclude": "ASReview_irrelevant"}


@WRITERS.register("ris")
def write_ris_file(path: Path, rows: Iterable[Row], _: About) -> Written:
    """Write RIS, one record after the other, in UTF-8."""
    clean, count = Cleaner(), 0
    with path.open("w", encoding="utf-8", newline="") as out:
        for row in clean.rows(rows):
            out.write(entry(row))
            count += 1
    return Written(count, clean.notes())


def write_ris(rows: Iterable[tuple[Record, Mapping[str, str]]]) -> str:
    """RIS text of records with their states, for small sets."""
    return "".join(map(entry, Cleaner().rows(Row(record, states) for record, states in rows)))


def entry(row: Row) -> str:
    """One record, its end tag and a blank line."""
    lines = (f"{tag}  - {' '.join(str(value).split())}" for tag, value in _tags(row) if value is not None)
    return "\n".join([*lines, "ER  - ", "", ""])


def _tags(row: Row) -> Iterator[tuple[str, str | int | None]]:
    record = row.record
    kind = _ris_kind(record)
    first, last = _split_pages(record.pages)
    yield from [("TY", kind), ("ID", record.record_id), ("TI", record.title), ("AB", record.abstract), ("PY", record.year)]
    yield from [("AU", author) for author in record.authors]
    yield from [("JO", record.journal), ("VL", record.volume), ("IS", record.issue), ("SP", first), ("EP", last)]
    yield from [("DO", record.doi), ("UR", record.url), ("C2", record.pmcid)]
    if record.pmid:
        yield from [("AN", record.pmid), ("DB", "PubMed")]
    if record.kind and record.kind != kind:
        yield "N1", f"{KIND_NOTE}{record.kind}"
    yield from [("N1", f"{stage}: {state}") for stage, state in row.states.items()]
    yield from [("N1", _label_note(stage, label)) for stage, label in record.labels.items()]


def _label_note(stage: str, label: str) -> str:
    """A label as the reader knows it; one of `screening` as ASReview writes it, where ASReview has a word for it."""
    if stage == "screening" and label in _ASREVIEW:
        return _ASREVIEW[label]
    return f"{'label_screening' if stage == 'screening' else LABEL_COLUMNS.get(stage, stage)}: {label}"


def _ris_kind(record: Record) -> str:
    if record.kind and _RIS_KIND.fullmatch(record.kind):
        return record.kind
    return _KINDS.get((record.kind or "").casefold(), "JOUR" if record.journal else "GEN")


def _split_pages(pages: str | None) -> tuple[str | None, str | None]:
    """(First, last) page where both can be told so that they are joined to the same again, else the whole as first."""
    first, dash, last = (pages or "").partition("-")
    if dash and "-" not in last and join_pages(first, last) == pages:
        return first, last
    return pages, None
