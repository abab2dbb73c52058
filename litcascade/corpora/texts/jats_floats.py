"""Tables, figures and formulae of JATS."""

from lxml import etree

from litcascade.corpora.texts.markup import Walker
from litcascade.corpora.texts.xml import flat
from litcascade.schemas import Figure, Table


class FloatsWalker(Walker):
    """What stands apart from the text with a label of its own."""

    def __init__(self) -> None:
        super().__init__()
        self._own_notes = False
        self.handlers |= {
            "table-wrap": self.table_wrap,
            "table-wrap-group": self.group,
            "fig-group": self.group,
            "fig": self.figure,
            "table": self.table,
            "array": self.array,
            "alternatives": self.alternatives,
            "inline-formula": self.formula,
            "disp-formula": self.formula,
        }

    def table_wrap(self, node: etree._Element, depth: int) -> None:
        """A table with label, caption and notes; all text in it that is neither belongs to the notes."""
        tables = [table for table in node.iter("table") if next(table.iterancestors("table-wrap", "td", "th")) is node]
        tables = [table for table in tables if not _second(table)]
        rows = tuple(row for table in tables for row in self.rows(table, depth + 2))
        before, self._own_notes, self._taken = (self._own_notes, self._taken), True, tables
        label, caption, notes = self._legend(node, depth)
        self._own_notes, self._taken = before
        self.bare_tables += not rows and next(node.iter("graphic", "inline-graphic"), None) is not None
        if label or caption or rows or notes:
            self.tables.append(Table(label=label, caption=caption, rows=rows, notes=notes))

    def figure(self, node: etree._Element, depth: int) -> None:
        """A figure; all text in it belongs to the caption."""
        label, caption, rest = self._legend(node, depth)
        more = "" if not rest or rest in (caption or "") else rest.replace("\n", " ")
        caption = " ".join(part for part in (caption, more) if part) or None
        if label or caption:
            self.figures.append(Figure(label=label, caption=caption))

    def _legend(self, node: etree._Element, depth: int) -> tuple[str | None, str | None, str | None]:
        """Label, caption on one line, and the rest of the text of a figure or table."""
        label, caption = node.find("label"), node.find("caption")
        title = None if caption is None else caption.find("title")
        head = self.line(title, depth + 2)
        text = "" if caption is None else self.lines(caption, depth + 1, [] if title is None else [title]).replace("\n", " ")
        head = f"{head}." if head and text and head[-1].isalnum() else head
        leave = [found for found in (label, caption) if found is not None]
        rest = self.lines(node, depth, leave)
        return self.line(label, depth) or None, f"{head} {text}".strip() or None, rest or None

    def group(self, node: etree._Element, depth: int) -> None:
        """Figures or tables under one label, which the first without its own takes; a caption of the group is a figure's."""
        label = self.line(node.find("label"), depth) or None
        caption = self.line(node.find("caption"), depth) or None
        first = len(self.tables)
        self.walk(node, depth, [found for name in ("label", "caption") if (found := node.find(name)) is not None])
        bare = next((at for at in range(first, len(self.tables)) if self.tables[at].label is None), None)
        if bare is not None and label:
            joined = " ".join(part for part in (caption, self.tables[bare].caption) if part) or None
            self.tables[bare] = self.tables[bare].model_copy(update={"label": label, "caption": joined})
        elif label or caption:
            self.figures.append(Figure(label=label, caption=caption))

    def table(self, node: etree._Element, depth: int) -> None:
        """A table without a frame around it, unless it has been read already."""
        rows = self.rows(node, depth)
        if rows:
            self.tables.append(Table(rows=rows))

    def array(self, node: etree._Element, depth: int) -> None:
        """Rows that stand in the text."""
        self.put("\n".join(" | ".join(row) for row in self.rows(node, depth)))

    def alternatives(self, node: etree._Element, depth: int) -> None:
        """The same thing in several forms: a table or text before a formula in MathML, TeX last."""
        told = [child for child in node if isinstance(child.tag, str) and child.tag not in self.skipped]
        for child in sorted(told, key=lambda child: ("math", "tex-math").index(child.tag) + 1 if "math" in str(child.tag) else 0):
            if any(child is taken for taken in self._taken):
                return
            before = self.flow.length, len(self.tables)
            self.meet(child, depth + 1)
            if (self.flow.length, len(self.tables)) != before:
                return

    def formula(self, node: etree._Element, depth: int) -> None:
        """A formula on one line with its number; one that is only a picture is counted."""
        told = next((flat(found) for found in node.iter("math") if flat(found)), "")
        leave = [child for child in node if child.tag == "tex-math"] if told else []
        label = node.find("label")
        words = self.lines(node, depth, [*leave, *([] if label is None else [label])]).replace("\n", " ")
        self.bare_formulae += not words and next(node.iter("graphic", "inline-graphic"), None) is not None
        if node.tag == "disp-formula":
            self.put(f"{words} {self.line(label, depth)}".strip())
        else:
            self.add(words)


def _second(table: etree._Element) -> bool:
    """Whether a table is another form of one before it; parts of a table, which some files give so too, differ in words."""
    parent = table.getparent()
    if parent is None or parent.tag != "alternatives":
        return False
    words = set(flat(table).split())
    return any(words <= set(flat(before).split()) for before in table.itersiblings("table", preceding=True))
