"""The full text of one report: what every reader of full texts makes of its file, with the place of every part."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Literal

from litcascade.schemas.keys import Frozen


class DocumentState(StrEnum):
    """What reading a full-text file came to; only `parsed` and `parsed with warnings` are put to a model."""

    PARSED = "parsed"
    WARNED = "parsed with warnings"
    EMPTY = "empty"
    BROKEN = "broken"
    ENCRYPTED = "encrypted"
    SCANNED = "scanned"
    WRONG_PAPER = "wrong paper"
    TOO_LONG = "too long"


READABLE = (DocumentState.PARSED, DocumentState.WARNED)


class FlagKind(StrEnum):
    """What a person should know of a text. The last two keep a model from deciding alone."""

    GUESSED = "sections guessed"
    SHORT = "little text"
    LIGATURES = "lost ligatures"
    SIGNS = "lost minus or comparison signs"
    GLUED = "glued words"
    ENCODING = "garbled encoding"
    LANGUAGE = "other language"
    CUT = "part of the file left out"
    HEADER = "header names another title or DOI"
    IDENTITY = "may be another paper"
    MENTION = "words of an instruction, told of or quoted"
    HIDDEN = "hidden text"
    INSTRUCTIONS = "text like an instruction"


STEERING = (FlagKind.HIDDEN, FlagKind.INSTRUCTIONS)


class Flag(Frozen):
    """One thing to know of a document: what, in words, how often, and the first place of it (a short quote, a page)."""

    kind: FlagKind
    detail: str
    count: int = 1
    quote: str | None = None
    page: int | None = None


SectionKind = Literal["body", "appendix", "acknowledgement"]
PieceKind = Literal["abstract", "body", "table", "figure", "footnote", "appendix", "acknowledgement", "references"]


class Section(Frozen):
    """A heading of a level (1: highest) and the text directly below it, a paragraph a line; deeper sections stand apart.

    `page` is the page it begins on, where the file has pages; `pages` are (offset in `text`, page) wherever a later page begins.
    """

    heading: str | None
    text: str
    page: int | None = None
    level: int = 1
    kind: SectionKind = "body"
    pages: tuple[tuple[int, int], ...] = ()


class Table(Frozen):
    """A table as rows of cells, spanning cells repeated in every place they span; `label` is what the text calls it."""

    label: str | None = None
    caption: str | None = None
    rows: tuple[tuple[str, ...], ...] = ()
    notes: str | None = None
    page: int | None = None

    def text(self) -> str:
        """Label and caption on a line, then the rows with ` | ` between cells, then the notes."""
        head = " ".join(part for part in (self.label, self.caption) if part)
        rows = [" | ".join(cells) for cells in self.rows]
        return "\n".join(part for part in [head, *rows, self.notes or ""] if part)


class Figure(Frozen):
    """A figure's label and caption; the picture itself is not read."""

    label: str | None = None
    caption: str | None = None
    page: int | None = None

    def text(self) -> str:
        """Label and caption on one line."""
        return " ".join(part for part in (self.label, self.caption) if part)


class Reference(Frozen):
    """One cited work, as far as the file says."""

    title: str | None = None
    doi: str | None = None
    year: int | None = None
    text: str | None = None


class Piece(Frozen):
    """A part of a document in the order of reading, with where it begins in `Document.text()` and on which page."""

    kind: PieceKind
    heading: str | None
    text: str
    level: int = 1
    page: int | None = None
    pages: tuple[tuple[int, int], ...] = ()

    def shown(self) -> str:
        """Heading on a line of its own, then the text."""
        return f"{self.heading}\n{self.text}" if self.heading else self.text


class Place(Frozen):
    """Where a span of `Document.text()` stands: its part, and its page where the file has pages."""

    kind: PieceKind
    heading: str | None
    page: int | None


GAP = "\n\n"


class Document(Frozen):
    """The full text of one report; `document_id` is the digest of the file's bytes.

    `note` says what is wrong where the text cannot be put to a model; `parser` names what read it, with its version.
    """

    document_id: str
    record_id: str
    path: str
    format: str
    parser: str = ""
    state: DocumentState = DocumentState.PARSED
    note: str | None = None
    title: str | None = None
    doi: str | None = None
    abstract: str | None = None
    sections: tuple[Section, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    footnotes: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    flags: tuple[Flag, ...] = ()

    @property
    def readable(self) -> bool:
        """Whether there is text that a model can be asked about."""
        return self.state in READABLE and any(piece.text.strip() for piece in self.pieces())

    @property
    def steering(self) -> tuple[Flag, ...]:
        """The flags that keep a model from deciding alone."""
        return tuple(flag for flag in self.flags if flag.kind in STEERING)

    def pieces(self) -> Iterator[Piece]:
        """All parts but the references in the order of reading: abstract, body, tables, figures, footnotes, the rest."""
        if self.abstract:
            yield Piece(kind="abstract", heading="Abstract", text=self.abstract)
        yield from (_of(section) for section in self.sections if section.kind == "body")
        yield from (Piece(kind="table", heading=None, text=table.text(), page=table.page) for table in self.tables)
        yield from (Piece(kind="figure", heading=None, text=figure.text(), page=figure.page) for figure in self.figures)
        yield from (Piece(kind="footnote", heading=None, text=note) for note in self.footnotes)
        yield from (_of(section) for section in self.sections if section.kind != "body")

    def text(self) -> str:
        """All pieces one behind the other, an empty line between two; references are left out."""
        return GAP.join(piece.shown() for piece in self.pieces())

    def place(self, offset: int) -> Place:
        """Where an offset of `text()` stands; an offset outside the text is a `ValueError`."""
        start = 0
        for piece in self.pieces():
            shown = piece.shown()
            if start <= offset < start + len(shown) + len(GAP):
                within = offset - start - (len(shown) - len(piece.text))
                later = [page for begins, page in piece.pages if begins <= within]
                return Place(kind=piece.kind, heading=piece.heading, page=later[-1] if later else piece.page)
            start += len(shown) + len(GAP)
        raise ValueError(f"offset {offset} lies outside the text of document {self.document_id}")


def _of(section: Section) -> Piece:
    same = ("kind", "heading", "text", "level", "page", "pages")
    return Piece(**{name: getattr(section, name) for name in same})
