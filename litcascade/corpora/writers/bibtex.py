"""BibTeX in UTF-8: what LaTeX would take for a command is escaped, one line a field, blanks folded."""

import re
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

from litcascade.corpora.bibtex import CARET
from litcascade.corpora.writers.base import LABEL_COLUMNS, WRITERS, About, Cleaner, Row, Written

_SAFE_KEY = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+/-]*")
_ENTRY_TYPE = re.compile(r"(?!(?:string|preamble|comment)$)[a-z]+")
_TYPES = {
    "JOUR": "article", "EJOUR": "article", "MGZN": "article", "NEWS": "article", "journal article": "article", "BOOK": "book",
    "CHAP": "incollection", "CONF": "inproceedings", "CPAPER": "inproceedings", "THES": "phdthesis", "RPRT": "techreport",
    "UNPB": "unpublished",
}  # fmt: skip
_ESCAPES = {
    "\\": "\\textbackslash{}", "{": "\\{", "}": "\\}", "$": "\\$", "%": "\\%", "&": "\\&", "#": "\\#", "_": "\\_",
    "~": "{\\textasciitilde}", "^": CARET,
}  # fmt: skip
_SPECIAL = re.compile(r"[\\{}$%&#_~^]|-(?=-)|`(?=`)|'(?=')")
_UNLIKE_A_LINK = re.compile(r"[\s\\]")
_AND = re.compile(r"(?i)(?:^|\s)and(?:\s|$)|^others$")


@WRITERS.register("bibtex")
def write_bibtex(path: Path, rows: Iterable[Row], _: About) -> Written:
    """Write BibTeX, one entry after the other; an id that is no citation key stands in the field `litcascade_id`."""
    clean, count = Cleaner(), 0
    with path.open("w", encoding="utf-8", newline="") as out:
        for row in clean.rows(rows):
            out.write(entry(row))
            count += 1
    return Written(count, clean.notes())


def entry(row: Row) -> str:
    """One entry and a blank line."""
    kind = row.record.kind or ""
    entry_type = kind if _ENTRY_TYPE.fullmatch(kind) else _TYPES.get(kind, "misc")
    fields = [f"  {name} = {{{value}}}" for name, value in _fields(row, entry_type) if value is not None]
    return ",\n".join([f"@{entry_type}{{{citation_key(row.record.record_id)}", *fields]) + "\n}\n\n"


def citation_key(record_id: str) -> str:
    """The id itself where every BibTeX program takes it, else its safe characters and eight digits of its SHA-256."""
    if _SAFE_KEY.fullmatch(record_id):
        return record_id
    plain = re.sub(r"[^A-Za-z0-9]+", "-", record_id).strip("-")[:40]
    return f"{plain or 'record'}-{sha256(record_id.encode()).hexdigest()[:8]}"


def escape(text: str) -> str:
    """Text as it stands in a field: `litcascade.corpora.latex.plain` gives it back, its blanks folded."""
    return _SPECIAL.sub(lambda match: _ESCAPES.get(match.group(), match.group() + "{}"), " ".join(text.split()))


def _fields(row: Row, entry_type: str) -> Iterator[tuple[str, str | None]]:
    record = row.record

    def text(value: str | int | None) -> str | None:
        return None if value is None else escape(str(value))

    yield "litcascade_id", None if citation_key(record.record_id) == record.record_id else escape(record.record_id)
    yield "title", text(record.title)
    yield "author", " and ".join(map(_name, record.authors)) or None
    yield from ((name, text(getattr(record, name))) for name in ("abstract", "year", "journal", "volume"))
    yield from (("number", text(record.issue)), ("pages", text(record.pages)))
    yield from (("doi", _link(record.doi)), ("url", _link(record.url)))
    yield "litcascade_url", text(record.url) if record.url and _UNLIKE_A_LINK.search(record.url) else None
    yield from (("pmid", text(record.pmid)), ("pmcid", text(record.pmcid)))
    yield "litcascade_kind", text(record.kind) if record.kind != entry_type else None
    yield from row.states.items()
    yield from ((LABEL_COLUMNS.get(stage, stage), label) for stage, label in record.labels.items())


def _name(author: str) -> str:
    """A name; one that BibTeX would part or leave out stands in braces of its own."""
    return f"{{{escape(author)}}}" if _AND.search(author) else escape(author)


def _link(link: str | None) -> str | None:
    """A link as it is but for what would break the entry; a blank or a backslash is percent-encoded (see `litcascade_url`)."""
    if link is None:
        return None
    plain = re.sub(r"\s+", "%20", link).replace("\\", "%5C")
    return re.sub(r"[{}%&$#_]", r"\\\g<0>", plain)
