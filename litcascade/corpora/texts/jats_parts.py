"""The elements of JATS and what each is in a document."""

from lxml import etree

from litcascade.corpora.texts.headings import kind_of
from litcascade.corpora.texts.jats_floats import FloatsWalker
from litcascade.corpora.texts.markup import names
from litcascade.schemas.document import SectionKind

_THANKS = frozenset({"coi-statement", "coi", "data-availability", "funding", "funding-information", "author-contributions"})
_UNTOLD = ("", "abstract", "summary", "footnotes", "footnote", "notes")
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class JatsWalker(FloatsWalker):
    """Sections by their nesting; boxes, lists and quotations are paragraphs where they stand."""

    blocks = names(
        "p title disp-formula-group disp-quote preformat code verse-group verse-line speech question answer explanation def-list "
        "attrib caption alt-text long-desc chem-struct-wrap chem-struct address subtitle"
    )
    skipped = names("ref-list object-id permissions graphic inline-graphic sec-meta kwd-group contrib-group sub-article response")

    def __init__(self) -> None:
        super().__init__()
        self._level = 0
        self._kind: SectionKind = "body"
        self.handlers |= {
            "sec": self.section,
            "app": self.appendix,
            "glossary": self.appendix,
            "ack": self.matter,
            "notes": self.matter,
            "bio": self.matter,
            "fn-group": self.notes,
            "fn": self.footnote,
            "list": self.list,
            "def-item": self.definition,
            "label": self.label,
            "break": self.gap,
        } | dict.fromkeys(("boxed-text", "statement", "supplementary-material", "media", "table-wrap-foot"), self.box)

    def heading_of(self, article: etree._Element) -> str:
        """Title and subtitle of an article or part of one, without the marks of footnotes."""
        paths = ("front/article-meta/title-group", "front-stub/title-group")
        group = next((found for path in paths if (found := article.find(path)) is not None), None)
        nodes = [] if group is None else [node for node in group if node.tag in ("article-title", "subtitle")]
        marks = ("xref", "fn")
        titles = [self.captured(lambda node=node: self.walk(node, 1, list(node.iter(*marks)))) for node in nodes]  # type: ignore[misc]
        return ": ".join(title.replace("\n", " ") for title in titles if title)

    def abstract(self, node: etree._Element) -> str:
        """An abstract with the headings of its parts inline, a paragraph a line."""
        titles = [found for found in node if found.tag in ("title", "label")]
        heading = " ".join(filter(None, map(self.line, titles)))
        self.runs_in = True
        text = self.lines(node, 1, titles)
        self.runs_in = False
        return text if heading.strip(" .:").casefold() in _UNTOLD else f"{heading}\n{text}".strip()

    def section(self, node: etree._Element, depth: int) -> None:
        """A section; inside a box or an abstract its heading is part of the text."""
        heading, taken = self._heading(node)
        if self.capturing:
            self.inline_heading(heading)
            self.walk(node, depth, taken)
            self.flow.end_line()
            return
        self._part(node, depth, heading, taken, self._kind_of(node, heading) if self._kind == "body" else self._kind)

    def _kind_of(self, node: etree._Element, heading: str) -> SectionKind:
        if str(node.get("sec-type") or node.get("notes-type") or "").lower() in _THANKS:
            return "acknowledgement"
        return kind_of(heading)

    def _heading(self, node: etree._Element) -> tuple[str, list[etree._Element]]:
        """Label and title of a part, and their elements."""
        taken = [found for name in ("label", "title") if (found := node.find(name)) is not None]
        return " ".join(part for part in map(self.line, taken) if part), taken

    def _part(self, node: etree._Element, depth: int, heading: str, taken: list[etree._Element], kind: SectionKind) -> None:
        """A section one level below the one around it, if it has a heading; the text of that goes on behind it."""
        before = self._level, self._kind
        self._level, self._kind = self._level + bool(heading), kind
        self.outline.start(heading, self._level, kind)
        self.walk(node, depth, taken)
        self._level, self._kind = before
        self.outline.start(None, self._level, self._kind)

    def back(self, node: etree._Element, depth: int) -> None:
        """The parts behind the text; what is no acknowledgement there is an appendix."""
        for child in node:
            if child.tag == "sec":
                heading, taken = self._heading(child)
                kind = self._kind_of(child, heading)
                self._part(child, depth + 1, heading, taken, "appendix" if kind == "body" else kind)
            elif child.tag == "app-group" or child.tag not in self.handlers:
                self._part(child, depth + 1, *self._heading(child), "appendix") if child.tag not in self.skipped else None
            else:
                self.meet(child, depth + 1)
            self.add(child.tail)
        self.outline.start(None, 1, "body")

    def matter(self, node: etree._Element, depth: int) -> None:
        """Acknowledgements, notes and lives of authors."""
        self._set_apart(node, depth, "acknowledgement")

    def appendix(self, node: etree._Element, depth: int) -> None:
        """An appendix or a glossary."""
        self._set_apart(node, depth, "appendix")

    def other(self, node: etree._Element, depth: int) -> None:
        """A part with a front of its own: a review, a reply, a translation."""
        self._level, self._kind = 1, "appendix"
        self.outline.start(self.heading_of(node) or str(node.get("article-type") or node.tag), 1, "appendix")
        for abstract in node.iterfind("front-stub/abstract"):
            self.put(self.abstract(abstract))
        for part in node:
            if part.tag in ("body", "back", "floats-group"):
                self.walk(part, depth + 1)
            elif part.tag in ("sub-article", "response") and depth < 20:
                self.other(part, depth + 1)

    def _set_apart(self, node: etree._Element, depth: int, kind: SectionKind) -> None:
        if self.capturing:
            self.block(node, depth)
        else:
            self._part(node, depth, *self._heading(node), kind)

    def notes(self, node: etree._Element, depth: int) -> None:
        """A group of footnotes; its heading goes with the first."""
        heading, taken = self._heading(node)
        first = len(self.footnotes)
        self.walk(node, depth, taken)
        if heading.strip(" .:").casefold() not in _UNTOLD and len(self.footnotes) > first:
            self.footnotes[first] = f"{heading.rstrip(' .:')}: {self.footnotes[first]}"

    def footnote(self, node: etree._Element, depth: int) -> None:
        """A footnote, apart from the text it belongs to; one of a table is a line of the table's notes."""
        text = self.line(node, depth)
        if self._own_notes:
            self.put(text)
        elif text:
            self.footnotes.append(text)

    def list(self, node: etree._Element, depth: int) -> None:
        """A list, an item a line behind its label, number or letter, or a dash."""
        self.flow.end_line()
        self.add(node.text)
        kind, number = str(node.get("list-type") or ""), 0
        for child in node:
            if child.tag != "list-item":
                self.meet(child, depth + 1)
                self.add(child.tail)
                continue
            number += 1
            label = child.find("label")
            mark = self.line(label, depth) or _mark(kind, number)
            self.item(child, depth + 1, mark, [] if label is None else [label])
            self.add(child.tail)

    def definition(self, node: etree._Element, depth: int) -> None:
        """`Term: what it means`."""
        term = node.find("term")
        heading = self.line(term, depth)
        self.put(f"{heading}: {self.lines(node, depth, [] if term is None else [term])}".strip(": "))

    def label(self, node: etree._Element, depth: int) -> None:
        """A label goes before what it labels."""
        self.flow.end_line()
        self.walk(node, depth)
        self.flow.add(" ")

    def box(self, node: etree._Element, depth: int) -> None:
        """Text with a label of its own, on lines of its own; sections in it are paragraphs."""
        label = node.find("label")
        text = self.lines(node, depth, [] if label is None else [label])
        self.put(f"{self.line(label, depth)} {text}".strip())

    def gap(self, node: etree._Element, depth: int) -> None:
        """A break inside a title or cell."""
        self.flow.add(" ")


def _mark(kind: str, number: int) -> str:
    if kind == "order":
        return f"{number}."
    if kind in ("alpha-lower", "alpha-upper") and number <= len(_LETTERS):
        letter = _LETTERS[number - 1]
        return f"{letter if kind == 'alpha-lower' else letter.upper()}."
    return "-"
