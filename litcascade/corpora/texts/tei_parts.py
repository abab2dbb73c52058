"""The elements of TEI and what each is in a document."""

from collections.abc import Iterable
from itertools import pairwise

from lxml import etree

from litcascade.corpora.texts.headings import kind_of, level_of, split_label
from litcascade.corpora.texts.markup import Walker, names
from litcascade.corpora.texts.xml import flat
from litcascade.schemas import Figure, Table
from litcascade.schemas.document import SectionKind

_THANKS = frozenset({"acknowledgement", "acknowledgment", "funding", "availability", "conflict", "contribution", "ethics", "coi"})
_RAISED = ("sup", "superscript")
_STOPS = " .:|–—-"
_LABEL_LENGTH = 30


class TeiWalker(Walker):
    """Sections by `div` and `head`, pages by `pb` and `coords`."""

    blocks = names("p ab list item quote cit lg l sp speaker stage epigraph byline opener closer salute signed")
    skipped = frozenset({"listBibl", "listOrg", "graphic", "teiHeader", "fw", "standOff", "facsimile", "sourceDoc"})

    def __init__(self) -> None:
        super().__init__()
        self.front_abstract = ""
        self._level = 0
        self._kind: SectionKind = "body"
        self._around: SectionKind = "body"
        self._own_notes = False
        self._page = 0
        self.handlers |= {
            "front": self.part,
            "body": self.part,
            "div": self.division,
            "head": self.head,
            "p": self.paragraph,
            "s": self.sentence,
            "figure": self.figure,
            "table": self.table,
            "note": self.note,
            "formula": self.formula,
            "list": self.list,
            "hi": self.highlighted,
            "pb": self.page_break,
            "lb": self.gap,
            "choice": self.choice,
            "ref": self.placed,
            "rs": self.placed,
        } | {f"div{number}": self.division for number in range(8)}

    def abstract(self, nodes: Iterable[etree._Element]) -> str:
        """Abstracts with the headings of their parts inline, a paragraph a line."""
        self.runs_in = True
        texts = [self.lines(node, 1) for node in nodes]
        self.runs_in = False
        return "\n".join(dict.fromkeys(text for text in texts if text))

    def back(self, node: etree._Element, depth: int) -> None:
        """The parts behind the text: acknowledgements by their type or heading, all others appendices."""
        for child in node:
            self._kind = self._around = "acknowledgement" if child.get("type") in _THANKS else "appendix"
            self.outline.start(None, 1, self._kind, page=self._broken())
            self.meet(child, depth + 1)
            self.add(child.tail)
        self._kind = self._around = "body"

    def part(self, node: etree._Element, depth: int) -> None:
        """Front or body: text directly in it is a section too."""
        self.outline.start(None, 1, self._kind, page=self._broken())
        self.walk(node, depth)

    def division(self, node: etree._Element, depth: int) -> None:
        """A section, or a frame around others; the text goes on behind it at the level around it."""
        if self.capturing:
            self.block(node, depth)
        elif node.get("type") == "abstract":
            self.front_abstract = "\n".join(filter(None, (self.front_abstract, self.abstract([node]))))
        elif node.get("type") in ("references", "bibliography"):
            heads = [child for child in node if child.tag == "head"]
            self.put(self.lines(node, depth, heads))
        else:
            before = self._level, self._kind, self._around
            self._around = self._kind
            self._level += any(child.tag == "head" for child in node)
            self.outline.start(None, max(1, self._level), self._kind, page=self._broken())
            self.walk(node, depth)
            self._level, self._kind, self._around = before
            self.outline.start(None, max(1, self._level), self._kind, page=self._broken())

    def head(self, node: etree._Element, depth: int) -> None:
        """A heading opens a section; in an abstract it goes before its text."""
        words = self.line(node, depth)
        if self.capturing:
            self.inline_heading(words)
            return
        number = str(node.get("n") or "").strip()
        heading = words if not number or words.startswith(number.rstrip(".")) else f"{number} {words}".strip()
        self._level = level_of(number, words) or max(1, self._level)
        own = kind_of(words)
        self._kind = own if own != "body" and self._around != "acknowledgement" else self._around
        boxes = boxes_of(node)
        self.outline.start(heading, self._level, self._kind, page=boxes[0][0] if boxes else self._broken())

    def paragraph(self, node: etree._Element, depth: int) -> None:
        """A paragraph; where its boxes stand on two pages the turn is reckoned from their widths."""
        self.flow.end_line()
        self._boxed(node, depth)
        self.flow.end_line()

    def sentence(self, node: etree._Element, depth: int) -> None:
        """A sentence; a blank parts it from the next."""
        self._boxed(node, depth)
        self.flow.add(" ")

    def _boxed(self, node: etree._Element, depth: int) -> None:
        boxes, flow, start = boxes_of(node), self.flow, self.flow.length
        if boxes:
            flow.turn(boxes[0][0])
        self.walk(node, depth)
        whole, passed = sum(width for _, width in boxes), 0.0
        for (page, width), (following, _) in pairwise(boxes):
            passed += width
            if following > page and whole > 0:
                flow.guess_turn(start + int((flow.length - start) * passed / whole), following)

    def placed(self, node: etree._Element, depth: int) -> None:
        """A part of a line that may say on which page it stands; GROBID sets citations close that follow each other."""
        boxes = boxes_of(node)
        if node.tag == "ref":
            self.flow.part_after(";,")
        if boxes:
            self.flow.turn(boxes[0][0])
        self.walk(node, depth)

    def page_break(self, node: etree._Element, depth: int) -> None:
        """A new page: the number it has, else one more than before; the first of all stands before page one."""
        number = str(node.get("n") or "").strip()
        begun = self._page or self.outline.begun
        self._page = int(number) if number.isascii() and number.isdigit() and 0 < len(number) < 7 else (self._page or begun) + 1
        self.flow.turn(self._page)
        self.flow.add(" ")

    def _broken(self) -> int | None:
        return self._page or None

    def figure(self, node: etree._Element, depth: int) -> None:
        """A figure or table; words in it that are neither label nor caption are notes of a table, more caption of a figure."""
        tables = [table for table in node.iter("table") if next(table.iterancestors("figure", "cell")) is node]
        rows = tuple(row for table in tables for row in self.rows(table, depth + 1))
        parts = {name: node.find(name) for name in ("head", "label", "figDesc")}
        taken = [found for found in parts.values() if found is not None]
        is_table = bool(tables) or node.get("type") == "table"
        before, self._own_notes, self._taken = (self._own_notes, self._taken), True, tables
        head, number, said = (self.line(parts[name], depth + 1) for name in ("head", "label", "figDesc"))
        rest = self.lines(node, depth, taken)
        self._own_notes, self._taken = before
        label, caption = legend(head, said, number, "Table" if is_table else "Figure")
        boxes = boxes_of(node)
        page = boxes[0][0] if boxes else self._broken()
        if is_table:
            self.bare_tables += not rows
            self.tables.append(Table(label=label, caption=caption, rows=rows, notes=rest or None, page=page))
        elif label or caption or rest:
            more = " ".join(part for part in (caption, rest.replace("\n", " ")) if part)
            self.figures.append(Figure(label=label, caption=more or None, page=page))

    def table(self, node: etree._Element, depth: int) -> None:
        """A table without a figure around it."""
        label, caption = legend(self.line(node.find("head"), depth), "", "", "Table")
        self.tables.append(Table(label=label, caption=caption, rows=self.rows(node, depth), page=self._broken()))

    def note(self, node: etree._Element, depth: int) -> None:
        """A footnote behind its number, apart from the text; one of a table is a line of the table's notes."""
        text = " ".join(part for part in (str(node.get("n") or ""), self.line(node, depth)) if part)
        if self._own_notes:
            self.put(text)
        elif flat(node):
            self.footnotes.append(text)

    def formula(self, node: etree._Element, depth: int) -> None:
        """A formula with its number: on a line of its own unless it stands inside a paragraph."""
        parent = node.getparent()
        if parent is not None and parent.tag in ("p", "s", "item", "cell", "head", "figDesc"):
            self.placed(node, depth)
            return
        self.flow.end_line()
        self.placed(node, depth)
        self.flow.end_line()

    def list(self, node: etree._Element, depth: int) -> None:
        """A list, an item a line behind its label, number or a dash."""
        ordered = str(node.get("rend") or node.get("type") or "") in ("ordered", "numbered")
        number, labelled = 0, False
        self.flow.end_line()
        self.add(node.text)
        for child in node:
            self.flow.end_line()
            if child.tag == "item":
                number += 1
                self.add("" if labelled else f"{number}. " if ordered else "- ")
                self.walk(child, depth + 1)
            elif child.tag == "head":
                self.walk(child, depth + 1)
            else:
                self.meet(child, depth + 1)
                self.add(" ")
            labelled = child.tag == "label"
            self.add(child.tail)
        self.flow.end_line()

    def highlighted(self, node: etree._Element, depth: int) -> None:
        """Raised letters, where it says so."""
        (self.high if str(node.get("rend") or "").lower() in _RAISED else self.walk)(node, depth)

    def choice(self, node: etree._Element, depth: int) -> None:
        """Of two readings the first, which is as it was printed."""
        for child in list(node)[:1]:
            self.meet(child, depth + 1)

    def gap(self, node: etree._Element, depth: int) -> None:
        """A new line of the print is a blank."""
        self.flow.add(" ")


def boxes_of(node: etree._Element) -> list[tuple[int, float]]:
    """(Page, width) of each box of `coords="page,x,y,width,height;..."`, in order; what is not written so is left out."""
    boxes = []
    for box in str(node.get("coords") or "").split(";"):
        parts = box.split(",")
        try:
            page, width = int(parts[0]), float(parts[3])
        except (ValueError, IndexError):
            continue
        if 0 < page < 1_000_000 and 0 <= width < 1e6:
            boxes.append((page, width))
    return boxes


def legend(head: str, said: str, number: str, word: str) -> tuple[str | None, str | None]:
    """Label and caption out of heading, description and number of a figure or table; the label is not said twice."""
    label, title = split_label(head)
    inside, rest = split_label(said)
    if label is None and head and len(head) <= _LABEL_LENGTH:
        label, title = head.strip(_STOPS) or None, ""
    if inside is not None and (label is None or inside.casefold() == label.casefold()):
        label, said = label or inside, rest
    if label is None and not head and number:
        label = f"{word} {number}"
    return label, " ".join(part for part in (title, said) if part) or None
