"""A page as plain data: sections of tables, figures and sentences; `html` and `markdown` write it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from litcascade.report.tables import Table


@dataclass(frozen=True)
class Prose:
    """A paragraph; a `warning` stands out, what is to `copy` stands in a box of its own."""

    text: str
    kind: Literal["plain", "warning", "copy"] = "plain"


@dataclass(frozen=True)
class Points:
    """Sentences, one below the other."""

    items: Sequence[str]


@dataclass(frozen=True)
class Figure:
    """A drawing as a whole SVG element, made by this package, with the table of its data."""

    title: str
    svg: str
    data: Table
    caption: str = ""


@dataclass(frozen=True)
class Folded:
    """A long table that is opened on request; in print it stands open."""

    table: Table


@dataclass(frozen=True)
class Verbatim:
    """A text to be kept sign by sign (a protocol, a prompt), opened on request."""

    title: str
    text: str


Block = Table | Prose | Points | Figure | Folded | Verbatim


@dataclass(frozen=True)
class Section:
    """A titled part of a page."""

    title: str
    blocks: Sequence[Block]

    @property
    def anchor(self) -> str:
        """The title as an id; two titles of a page may come to the same one."""
        return re.sub(r"[^a-z0-9]+", "-", self.title.casefold()).strip("-") or "section"


@dataclass(frozen=True)
class Page:
    """A titled page; `lead` stands below the title, one sentence a line."""

    title: str
    lead: Sequence[str]
    sections: Sequence[Section]


def absent(why: str) -> Prose:
    """The sentence that stands where there is nothing to show."""
    return Prose(why)
