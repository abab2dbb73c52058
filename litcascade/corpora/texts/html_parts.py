"""The elements of a web page and what each is in an article."""

import re
from collections.abc import Sequence

from lxml import etree

from litcascade.corpora.texts.flow import Flow
from litcascade.corpora.texts.formula import tex_text
from litcascade.corpora.texts.headings import kind_of, level_of, split_label
from litcascade.corpora.texts.html_page import ABSTRACT, NOT_READ, REFERENCES, leaves_out
from litcascade.corpora.texts.markup import DEPTH_LIMIT, Walker, names
from litcascade.corpora.texts.xml import flat
from litcascade.schemas import Figure, Table
from litcascade.schemas.document import SectionKind

_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")
_HOLDERS = ("section", "div", "article", "blockquote", "p", "aside")
_ABSTRACT_NAME = re.compile(r"(?:[a-z]+[-_]+)*abstracts?(?:[-_]?(?:content|section|text|group|full|infull))?\d*", re.IGNORECASE)
_REFERENCES_NAME = re.compile(
    r"(?:[a-z]+[-_]+)*(?:ref(?:erence)?s?[-_]?list|references|bibliography|biblist|citation[-_]list)(?:[-_]?(?:content|section|list))?",
    re.IGNORECASE,
)
_FOOTNOTES_NAME = re.compile(r"(?:[a-z]+[-_]+)*(?:footnotes?|endnotes?|fn[-_]?(?:group|list))", re.IGNORECASE)
_ENTRY_WORDS = 8
_SHORT_ENTRY = 4
_PLACES = (
    "pub ?med(?: central| ?/ ?ncbi)?(?: abstract)?|cross-? ?ref(?: full text)?|google scholar|isi|medline|web of science|cas"
    "|scopus|ads|(?:view|open|find|download) (?:this |the )?(?:article|url|citation|in article)(?: online)?|(?:free )?full text"
    "|publisher full text|return to ref(?: \\d+)? in article|article|pdf|link|order article via infotrieve"
)
_LINKS = re.compile(rf"(?:^|(?<=[\s.|)\[\]]))(?:{_PLACES})\b(?:\W+(?:{_PLACES})\b)*\W*$", re.IGNORECASE)
_LINKS_LENGTH = 300
_NOTES = re.compile(r"\W*(?:(?:article |foot|end)?notes?)?\W*", re.IGNORECASE)
_MATH_CLASS = ("math", "tex", "equation", "formula")


class PageWalker(Walker):
    """Sections by headings, whatever they are wrapped in; `abstract` and `cited` (the list of references) stand apart."""

    blocks = names(
        "p div section article main header aside ul ol dl dd blockquote pre address center fieldset details summary figcaption "
        "hr footer body legend tr"
    )
    skipped = NOT_READ - {"script"}

    def __init__(self, title: str) -> None:
        super().__init__()
        self.cited: list[str] = []
        self.abstracts: list[str] = []
        self.runs_in = True
        self._title = _plain(title)
        self._levels: list[tuple[int, SectionKind]] = []
        self._mode: tuple[str, int] | None = None
        self._items: list[str] | None = None
        self.handlers |= dict.fromkeys(_HEADINGS, self.heading) | {
            "ul": self.list,
            "ol": self.list,
            "li": self.loose_item,
            "table": self.table,
            "figure": self.figure,
            "br": self.new_line,
            "img": self.image,
            "script": self.script,
            "dt": self.term,
            "dd": self.meaning,
        }

    def read(self, page: etree._Element) -> None:
        """All of the page's main part."""
        self.walk(page, 1)
        self._finish()

    def meet(self, node: etree._Element, depth: int) -> None:
        """One element, unless it belongs to the page around; parts that say what they are go where they belong."""
        if isinstance(node.tag, str) and node.tag not in ("script", "math") and leaves_out(node):
            return
        part = None if self.capturing or depth > DEPTH_LIMIT or not isinstance(node.tag, str) else part_of(node)
        if part == "abstract":
            self.abstracts.append(self.captured(lambda: self.walk(node, depth)))
        elif part:
            before, self._items = self._items, []
            text = self.captured(lambda: super(PageWalker, self).meet(node, depth))
            if part == "references":
                self.cited += cited_works(self._items, text)
            else:
                self.footnotes += [*self._items, *(line for line in text.split("\n") if not _NOTES.fullmatch(line))]
            self._items = before
        else:
            super().meet(node, depth)

    def heading(self, node: etree._Element, depth: int) -> None:
        """A heading opens a section, the abstract or the list of references; inside those it is part of the text."""
        words = self.line(node, depth)
        rank = _HEADINGS.index(str(node.tag)) + 1
        if self._mode and len(self._captured) == 1 and rank <= self._mode[1]:
            self._finish()
        if self.capturing:
            if not ABSTRACT.fullmatch(words) and not REFERENCES.fullmatch(words):
                self.inline_heading(words)
        elif words and _plain(words) != self._title:
            what = "abstract" if ABSTRACT.fullmatch(words) else "references" if REFERENCES.fullmatch(words) else None
            self._enter(what, rank) if what else self._open(words, rank)

    def _open(self, words: str, rank: int) -> None:
        while self._levels and self._levels[-1][0] >= rank:
            self._levels.pop()
        around: SectionKind = self._levels[-1][1] if self._levels else "body"
        kind = kind_of(words) if around == "body" else around
        self._levels.append((rank, kind))
        self.outline.start(words, max(len(self._levels), level_of(None, words) or 1), kind)

    def _enter(self, what: str, rank: int) -> None:
        self._mode = (what, rank)
        self._items = [] if what == "references" else None
        self._captured.append(Flow())

    def _finish(self) -> None:
        """Give what stood under the heading of abstract or references to where it belongs."""
        if self._mode:
            text = self._captured.pop().text()
            if self._mode[0] == "abstract":
                self.abstracts.append(text)
            else:
                self.cited += cited_works(self._items or [], text)
            self._mode = self._items = None
            self._levels.clear()
            self.outline.start(None, 1)

    def list(self, node: etree._Element, depth: int) -> None:
        """A list, an item a line behind its number or a dash; in a list of references the items alone."""
        self.flow.end_line()
        self.add(node.text)
        number = 0
        for child in node:
            if child.tag == "li":
                number += 1
                self._item(child, depth + 1, f"{number}." if node.tag == "ol" else "-")
            else:
                self.meet(child, depth + 1)
            self.add(child.tail)
        self.flow.end_line()

    def loose_item(self, node: etree._Element, depth: int) -> None:
        """An item without a list around it."""
        self._item(node, depth, "-")

    def _item(self, node: etree._Element, depth: int, mark: str) -> None:
        if self._items is not None:
            items, self._items = self._items, None
            items.append(self.line(node, depth))
            self._items = items
        elif next(node.iter(*_HEADINGS), None) is not None:
            self.block(node, depth)
        else:
            self.item(node, depth, mark)

    def figure(self, node: etree._Element, depth: int) -> None:
        """A figure, or a table in one; words in it that are no caption are a table's notes."""
        tables = [table for table in node.iter("table") if next(table.iterancestors("figure", "td", "th")) is node]
        rows = tuple(row for table in tables for row in self.rows(table, depth + 1))
        captions = [found for name in ("figcaption", "caption") for found in node.iter(name) if _own(found, node)]
        told = " ".join(filter(None, (self.line(caption, depth + 1) for caption in captions)))
        leave = [*captions, *tables]
        rest = self.captured(lambda: self._without(node, depth, leave))
        label, caption = split_label(told)
        if rows:
            self.tables.append(Table(label=label, caption=caption or None, rows=rows, notes=rest or None))
        elif told or rest:
            more = " ".join(part for part in (caption, rest.replace("\n", " ")) if part)
            self.figures.append(Figure(label=label, caption=more or None))

    def _without(self, node: etree._Element, depth: int, leave: Sequence[etree._Element]) -> None:
        before, self._taken = self._taken, leave
        self.walk(node, depth)
        self._taken = before

    def table(self, node: etree._Element, depth: int) -> None:
        """A table of data; one that only arranges the page is walked through."""
        if arranges(node):
            for child in node.iter("td", "th", "caption"):
                if next(child.iterancestors("table"), None) is node:
                    self.block(child, depth + 3)
            return
        caption = node.find("caption")
        label, words = split_label(self.line(caption, depth))
        rows = self.rows(node, depth)
        if rows or words:
            self.tables.append(Table(label=label, caption=words or None, rows=rows))

    def new_line(self, node: etree._Element, depth: int) -> None:
        """A break of the line."""
        self.flow.end_line()

    def image(self, node: etree._Element, depth: int) -> None:
        """The words for a formula that is shown as a picture."""
        named, words = (node.get("class") or "").lower(), node.get("alt") or ""
        if words.startswith(("$", "\\")) or any(part in named for part in _MATH_CLASS):
            self.add(tex_text(words))

    def script(self, node: etree._Element, depth: int) -> None:
        """A formula that a script would draw."""
        if "tex" in (node.get("type") or ""):
            self.add(tex_text(node.text or ""))
        elif "mml" in (node.get("type") or ""):
            self.add(" ".join(re.sub(r"<[^<>]*>", " ", node.text or "").split()))

    def term(self, node: etree._Element, depth: int) -> None:
        """A term goes before what it means."""
        self.flow.run_in(self.line(node, depth))

    def meaning(self, node: etree._Element, depth: int) -> None:
        """What a term means."""
        self.walk(node, depth)
        self.flow.end_line()


def _own(caption: etree._Element, figure: etree._Element) -> bool:
    """Whether a caption is that of a figure and not of another one or a table's cell in it."""
    return next(caption.iterancestors("figure", "td", "th")) is figure


def part_of(node: etree._Element) -> str | None:
    """Abstract, references or footnotes, where an element's role or class says that it holds those and it has words."""
    role = (node.get("role") or "").lower()
    names = [*(node.get("class") or "").split(), node.get("id") or ""]
    if role == "doc-abstract" or (node.tag in _HOLDERS and any(map(_ABSTRACT_NAME.fullmatch, names))):
        return "abstract" if len(flat(node).split()) > 15 else None
    if role == "doc-bibliography" or (node.tag in (*_HOLDERS, "ol", "ul") and any(map(_REFERENCES_NAME.fullmatch, names))):
        return "references" if sum(len(flat(item)) > 20 for item in node.iter("li")) > 0 else None
    if role in ("doc-footnote", "doc-footnotes", "doc-endnotes", "doc-endnote") or any(map(_FOOTNOTES_NAME.fullmatch, names)):
        return "footnotes" if flat(node) else None
    return None


def arranges(table: etree._Element) -> bool:
    """Whether a table holds parts of the page and no data: it says so, or has headings, tables or long texts in its cells."""
    if (table.get("role") or "").lower() in ("presentation", "none"):
        return True
    if next(table.iter(*_HEADINGS), None) is not None:
        return True
    if any(inner is not table for inner in table.iter("table")):
        return True
    return next(table.iter("th", "caption"), None) is None and any(len(flat(cell).split()) > 150 for cell in table.iter("td"))


def cited_works(items: Sequence[str], text: str) -> list[str]:
    """The entries of a list of references: its items, else its lines; lines beside items where they are long.

    Names of places to look a work up are left out, and so is what has fewer than four words.
    """
    lines = [line for line in text.split("\n") if not items or len(line.split()) >= _ENTRY_WORDS]
    cut = (f"{line[:-_LINKS_LENGTH]}{_LINKS.sub('', line[-_LINKS_LENGTH:])}".strip().rstrip(" |[-–") for line in [*items, *lines])
    return [line for line in cut if len(line.split()) >= _SHORT_ENTRY]


def _plain(words: str) -> str:
    return " ".join(re.findall(r"\w+", words.casefold()))
