"""What a reader of full texts gives back, and the register of such readers."""

from collections.abc import Callable
from dataclasses import dataclass

from litcascade.registry import Registry
from litcascade.schemas import DocumentState, Figure, Flag, Reference, Section, Table


@dataclass(frozen=True)
class Body:
    """What a reader of full texts found in the bytes; the fields are those of `Document`."""

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
    parser: str = ""


TextReader = Callable[[bytes], Body]
TEXT_READERS: Registry[TextReader] = Registry("reader of full texts")
