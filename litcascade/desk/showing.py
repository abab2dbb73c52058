"""Citations and full texts as screens show them: in parts, with terms, quotes and warnings marked, flags in words."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from litcascade.desk.marking import Part, Span, marked, quote_spans, term_spans, warn_spans
from litcascade.schemas import AbstractStatus, Document, Flag, Record
from litcascade.schemas.document import GAP
from litcascade.schemas.steering import clean, steering_flags
from litcascade.store.views import NEEDS_TEXT

ABSTRACTS = {
    AbstractStatus.MISSING: "There is no abstract.",
    AbstractStatus.TRUNCATED: "The abstract is cut short.",
    AbstractStatus.OTHER_LANGUAGE: "The abstract is in another language.",
}


@dataclass(frozen=True)
class Shown:
    """A part of a full text: heading with its level, marked text, the page it begins on."""

    heading: str | None
    level: int
    parts: list[Part]
    page: int | None


@dataclass(frozen=True)
class Card:
    """A citation as every screen shows it: marked title and abstract, facts as (name, value), flags as (kind, words)."""

    record_id: str
    title: list[Part]
    abstract: list[Part]
    abstract_note: str | None
    facts: list[tuple[str, str]]
    flags: list[tuple[str, str]]


def card_of(record: Record, terms: Sequence[str], quotes: Iterable[str | None] = (), document: Document | None = None) -> Card:
    """The citation with the words of `terms` and the `quotes` marked, and what to know of its texts."""
    wanted = [quote for quote in quotes if quote]
    title, abstract = record.title or "", record.abstract or ""
    text = f"{title}\n{abstract}"
    flags = [*clean(text)[1], *steering_flags(text), *(document.flags if document else ())]
    return Card(
        record.record_id, marked(title, _marks(title, terms, wanted)) or [Part("(no title)")],
        marked(abstract, _marks(abstract, terms, wanted)), ABSTRACTS.get(record.abstract_status), _facts(record),
        [(flag.kind.value, _flag_words(flag)) for flag in flags],
    )  # fmt: skip


def _marks(text: str, terms: Sequence[str], quotes: Sequence[str]) -> list[Span]:
    return [*term_spans(text, terms), *quote_spans(text, quotes), *warn_spans(text)] if text else []


def pieces_of(document: Document | None, spans: Sequence[Span], terms: Sequence[str]) -> list[Shown]:
    """The pieces of a text; `spans` are offsets in `Document.text()`."""
    shown: list[Shown] = []
    start = 0
    for piece in document.pieces() if document else ():
        whole = piece.shown()
        begins = start + len(whole) - len(piece.text)
        here = [
            Span(max(0, span.start - begins), span.end - begins, span.kind, span.name)
            for span in spans
            if span.end > begins and span.start < begins + len(piece.text)
        ]
        cut = [Span(span.start, min(span.end, len(piece.text)), span.kind, span.name) for span in here]
        parts = marked(piece.text, [*term_spans(piece.text, terms), *cut, *warn_spans(piece.text)])
        shown.append(Shown(piece.heading, min(6, piece.level + 2), parts, piece.page))
        start += len(whole) + len(GAP)
    return shown


def plain(value: Any) -> str:
    """A value of a citation as text; blank for none."""
    return "; ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)


def _facts(record: Record) -> list[tuple[str, str]]:
    """What a citation says beside title and abstract."""
    authors = "; ".join(record.authors[:6]) + (" …" if len(record.authors) > 6 else "")
    pairs = [("id", record.record_id), ("authors", authors)]
    pairs += [(name, plain(getattr(record, name))) for name in ("year", "journal", "doi", "pmid", "kind")]
    pairs += [("status", record.status.value if record.status else "")]
    return [(name, value) for name, value in pairs if value]


def _flag_words(flag: Flag) -> str:
    quote = f": “{flag.quote}”" if flag.quote else ""
    return flag.detail + quote + (f" (page {flag.page})" if flag.page is not None else "")


def note_of(document: Document | None, stage: str) -> str | None:
    """What a person should know where the stage needs a full text that is missing or cannot be read."""
    if stage not in NEEDS_TEXT:
        return None
    if document is None:
        return "There is no full text of this record."
    return None if document.readable else f"The full text cannot be read: {document.state.value}. {document.note or ''}"
