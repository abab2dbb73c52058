"""RIS and CSV out, ids intact: reading a file back gives the same records."""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence

from litcascade.schemas import Record

_PLAIN = ("title", "year", "journal", "doi", "pmid", "url", "kind", "abstract")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def write_ris(rows: Iterable[tuple[Record, Mapping[str, str]]]) -> str:
    """RIS text; what a stage decided stands in N1 lines (`title_abstract: included`)."""
    lines: list[str] = []
    for record, states in rows:
        kind = record.kind if record.kind and len(record.kind) == 4 and record.kind.isupper() else "JOUR"
        lines += [f"TY  - {kind}", f"ID  - {record.record_id}"]
        pairs = [("TI", record.title), ("AB", record.abstract), ("PY", record.year), ("JO", record.journal)]
        pairs += [("DO", record.doi), ("UR", record.url), *(("AU", author) for author in record.authors)]
        if record.pmid:
            pairs += [("AN", record.pmid), ("DB", "PubMed")]
        pairs += [("N1", f"{stage}: {state}") for stage, state in states.items()]
        lines += [f"{tag}  - {_one_line(value)}" for tag, value in pairs if value is not None]
        lines += ["ER  - ", ""]
    return "\n".join(lines)


def write_csv(rows: Iterable[tuple[Record, Mapping[str, str]]], stages: Sequence[str]) -> str:
    """CSV text with the plain fields and a column a stage; authors are parted by `; `."""
    table = [
        {
            "record_id": record.record_id,
            "authors": "; ".join(record.authors),
            **{name: getattr(record, name) for name in _PLAIN},
            **{stage: states.get(stage, "") for stage in stages},
        }
        for record, states in rows
    ]
    return write_table(["record_id", "authors", *_PLAIN, *stages], table)


def write_table(header: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """A CSV table; None is blank; a cell that a spreadsheet would run as a formula is given a leading apostrophe."""
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, fieldnames=list(header), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(row.get(name)) for name in header})
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str) and value.startswith(_FORMULA) and not value.lstrip("+-").replace(".", "", 1).isdigit():
        return f"'{value}"
    return "" if value is None else value


def _one_line(value: object) -> str:
    return " ".join(str(value).split())
