"""The walk through marked-up text that the readers of JATS, TEI and HTML share."""

from collections.abc import Callable, Collection, Sequence

from lxml import etree

from litcascade.corpora.texts.flow import Flow, Outline, raised
from litcascade.corpora.texts.formula import math_text, tex_text
from litcascade.corpora.texts.tables import rows_of
from litcascade.schemas import Figure, Flag, FlagKind, Table

DEPTH_LIMIT = 100
Handler = Callable[[etree._Element, int], None]


def names(words: str) -> frozenset[str]:
    """A set of names written with blanks between them."""
    return frozenset(words.split())


class Walker:
    """Walks elements in the order of reading and sorts what it meets into sections, tables, figures and footnotes.

    An element is read by the handler of its name; `blocks` stand on lines of their own, `skipped` are not read, all others
    are part of the line. Below a depth of 100 elements all text is taken as it comes. `bare_tables` and `bare_formulae` count
    those of which the file has a picture or nothing.
    """

    blocks: frozenset[str] = frozenset()
    skipped: frozenset[str] = frozenset()

    def __init__(self) -> None:
        self.outline = Outline()
        self.tables: list[Table] = []
        self.figures: list[Figure] = []
        self.footnotes: list[str] = []
        self.bare_tables = 0
        self.bare_formulae = 0
        self.runs_in = False
        self.handlers: dict[str, Handler] = {"sup": self.high, "math": self.math, "tex-math": self.tex}
        self._captured: list[Flow] = []
        self._taken: Sequence[etree._Element] = ()
        self._high = False

    @property
    def flow(self) -> Flow:
        """Where words go: the text that is being captured, or that of the open section."""
        return self._captured[-1] if self._captured else self.outline.flow

    @property
    def capturing(self) -> bool:
        """Whether words go into a part of their own, so that no section can begin."""
        return bool(self._captured)

    def cuts(self) -> list[Flag]:
        """What the file has without its words."""
        what = (("table", "cells", self.bare_tables), ("formula", "words", self.bare_formulae))
        return [
            Flag(kind=FlagKind.CUT, detail=f"a {name} stands in the file without {part}", count=n) for name, part, n in what if n
        ]

    def add(self, words: str | None) -> None:
        """Words at the place where the walk is."""
        if words:
            self.flow.add(raised(words) if self._high else words)

    def walk(self, node: etree._Element, depth: int, leave: Collection[etree._Element] = ()) -> None:
        """All that is in an element, in order, but the children to be left; the text behind those is read."""
        self.add(node.text)
        for child in node:
            if child not in leave:
                self.meet(child, depth + 1)
            self.add(child.tail)

    def meet(self, node: etree._Element, depth: int) -> None:
        """One element by its name, without the text behind it."""
        name = node.tag
        if not isinstance(name, str) or name in self.skipped or any(node is taken for taken in self._taken):
            return
        if depth > DEPTH_LIMIT:
            self.add(" ".join(str(part) for part in node.itertext()))
        elif handler := self.handlers.get(name):
            handler(node, depth)
        elif name in self.blocks:
            self.block(node, depth)
        else:
            self.walk(node, depth)

    def block(self, node: etree._Element, depth: int) -> None:
        """An element on lines of its own."""
        self.flow.end_line()
        self.walk(node, depth)
        self.flow.end_line()

    def lines(self, node: etree._Element | None, depth: int = 0, leave: Collection[etree._Element] = ()) -> str:
        """The text of an element apart from the text around it; tables, figures and notes in it go where they belong."""
        if node is None:
            return ""
        return self.captured(lambda: self.walk(node, depth, leave))

    def captured(self, read: Callable[[], None]) -> str:
        """The text of what is read, apart from the text around it."""
        flow, high = Flow(), self._high
        self._captured.append(flow)
        self._high = False
        try:
            read()
        finally:
            self._captured.pop()
            self._high = high
        return flow.text()

    def line(self, node: etree._Element | None, depth: int = 0) -> str:
        """The same on one line."""
        return self.lines(node, depth).replace("\n", " ")

    def rows(self, table: etree._Element, depth: int) -> tuple[tuple[str, ...], ...]:
        """The rows of a table; tables inside its cells are text of the cell."""
        kept = len(self.tables)
        rows = rows_of(table, lambda cell: self.lines(cell, depth + 3))
        inner, self.tables[kept:] = self.tables[kept:], []
        return rows + tuple((line,) for found in inner for line in found.text().split("\n") if line)

    def high(self, node: etree._Element, depth: int) -> None:
        """A raised part of a line."""
        before, self._high = self._high, True
        self.walk(node, depth)
        self._high = before

    def math(self, node: etree._Element, depth: int) -> None:
        """A formula in MathML."""
        self.add(math_text(node) or node.get("alttext"))

    def tex(self, node: etree._Element, depth: int) -> None:
        """A formula in TeX."""
        self.add(tex_text("".join(str(part) for part in node.itertext())))

    def inline_heading(self, words: str) -> None:
        """A heading inside a part that is captured: before its text where headings run in, else on a line of its own."""
        if words and self.runs_in:
            self.flow.run_in(words)
        elif words:
            self.flow.end_line()
            self.flow.add(words)
            self.flow.end_line()

    def put(self, text: str) -> None:
        """Finished lines."""
        for line in text.split("\n"):
            self.flow.end_line()
            self.flow.add(line)
        self.flow.end_line()

    def item(self, node: etree._Element, depth: int, mark: str, leave: Collection[etree._Element] = ()) -> None:
        """An item of a list on lines of its own, behind its mark."""
        if words := self.lines(node, depth, leave):
            self.put(f"{mark} {words}")
