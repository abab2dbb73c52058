"""The parts of a PDF put in their places: title, abstract, sections, tables, figures, notes, references."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from litcascade.corpora.texts.base import Body
from litcascade.corpora.texts.headings import kind_of, split_label
from litcascade.corpora.texts.pdf.abstract import abstract_places, abstract_text
from litcascade.corpora.texts.pdf.front import find_doi, find_title, front_end
from litcascade.corpora.texts.pdf.headings import level_numbers, with_headings
from litcascade.corpora.texts.pdf.lines import Line, lines_of
from litcascade.corpora.texts.pdf.margins import without_margins
from litcascade.corpora.texts.pdf.order import in_order
from litcascade.corpora.texts.pdf.pages import PageText
from litcascade.corpora.texts.pdf.paragraphs import Hyphens, Paragraph, joined, rows_text, style_of, text_of
from litcascade.corpora.texts.pdf.references import belongs, find_list, references_of
from litcascade.corpora.texts.pdf.regions import parts_of
from litcascade.corpora.texts.pdf.spans import HYPHEN
from litcascade.corpora.texts.pdf.tables import columns_of, notes_apart
from litcascade.schemas import Figure, Section, Table
from litcascade.schemas.document import SectionKind

_FOOT = 0.4
_NOTE = re.compile(r"[*†‡§¶#∗]")


@dataclass
class _Draft:
    heading: str | None
    level: int
    kind: SectionKind
    page: int
    lines: list[tuple[str, int, list[tuple[int, int]]]] = field(default_factory=list)

    def section(self) -> Section:
        """The section with the offsets at which pages begin in it."""
        pages, last, offset = [], self.page, 0
        for line, first, later in self.lines:
            for begins, page in [(0, first), *later]:
                if page > last:
                    pages.append((offset + begins, page))
                    last = page
            offset += len(line) + 1
        text = "\n".join(line for line, _, _ in self.lines)
        return Section(heading=self.heading, text=text, page=self.page, level=self.level, kind=self.kind, pages=tuple(pages))


def body_of(pages: Sequence[PageText], named: str | None = None, dois: Iterable[str] = ()) -> Body:
    """Everything but state and flags; `named` and `dois` are the title and the DOIs of the file's own description."""
    ordered = [in_order(lines_of(page.number, page.seen)) for page in pages]
    kept, running = without_margins(ordered, [(page.box[1], page.box[3]) for page in pages])
    style = style_of(line for lines in kept for line in lines)
    hyphens = Hyphens(line for lines in kept for line in lines)
    parts = [
        part
        for page, lines in zip(pages, kept, strict=True)
        for part in parts_of(lines, style, page.box[1] + _FOOT * (page.box[3] - page.box[1]))
    ]
    parts = joined(with_headings(parts, style))
    begin = front_end(parts)
    title, titled = find_title(parts, begin, style, hyphens, named)
    parts = [replace(part, kind="text") if index < begin and part.kind == "heading" else part for index, part in enumerate(parts)]
    assembly = _Assembly(parts, hyphens, set(titled))
    assembly.run(begin)
    first = ordered[0] if ordered else []
    return Body(
        title=" ".join(title.split()) if title else None,
        doi=find_doi(_on_their_own(first), running, dois),
        abstract=assembly.abstract or None,
        sections=tuple(draft.section() for draft in assembly.drafts if draft.lines or draft.heading),
        tables=tuple(assembly.tables),
        figures=tuple(assembly.figures),
        footnotes=tuple(assembly.footnotes),
        references=assembly.references,
    )


def by_page(pages: Sequence[PageText]) -> Body:
    """One section a page, its words as the file has them."""
    texts = [(page.number, " ".join(span.text.replace(HYPHEN, "-") for span in page.seen)) for page in pages]
    return Body(sections=tuple(Section(heading=None, text=text, page=number) for number, text in texts if text))


def _notes(lines: Sequence[Line]) -> list[list[Line]]:
    """The notes below a table, each begun by a mark or after a line that ends a sentence."""
    notes: list[list[Line]] = []
    for line in lines:
        if notes and not (_NOTE.match(line.text) or notes[-1][-1].text.endswith(".")):
            notes[-1].append(line)
        else:
            notes.append([line])
    return notes


def _on_their_own(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if line.turn == lines[0].turn]


class _Assembly:
    """Goes through the paragraphs once and puts each where it belongs."""

    def __init__(self, parts: Sequence[Paragraph], hyphens: Hyphens, titled: set[int]) -> None:
        self.parts, self.hyphens = parts, hyphens
        self.levels = level_numbers(parts)
        self.drafts: list[_Draft] = [_Draft(None, 1, "body", parts[0].first.page if parts else 1)]
        self.tables: list[Table] = []
        self.figures: list[Figure] = []
        self.footnotes: list[str] = []
        self.abstract = ""
        found = find_list(parts)
        heading, start, end = found or (len(parts), len(parts), len(parts))
        size = parts[start].first.size if start < len(parts) else 0.0
        self.cited = {index for index in range(start, end) if belongs(parts[index], size)}
        self.skipped = self.cited | ({heading} if self.cited else set()) | titled
        self.references = references_of([parts[index] for index in sorted(self.cited)], hyphens) if self.cited else ()

    def run(self, begin: int) -> None:
        """Place everything; the paragraphs before `begin` are the front."""
        abstract = abstract_places(self.parts, self.levels, begin)
        self.abstract = abstract_text(self.parts, abstract, self.hyphens)
        self.skipped |= set(abstract)
        for index, part in enumerate(self.parts):
            if index not in self.skipped:
                self._place(index, part)

    def _place(self, index: int, part: Paragraph) -> None:
        text, pages = text_of(part.lines, self.hyphens)
        if part.kind == "heading":
            self._start(index, part, text)
        elif part.kind == "footnote":
            self.footnotes.append(text)
        elif part.kind == "caption":
            self._caption(index, part, text)
        elif part.kind == "rows":
            self.drafts[-1].lines += [(rows_text(line), line.page, []) for line in part.lines]
        else:
            self.drafts[-1].lines.append((text, part.first.page, pages))

    def _start(self, index: int, part: Paragraph, text: str) -> None:
        level, kind = self.levels[index], kind_of(text)
        if kind == "body" and level > 1 and self.drafts[-1].kind != "body":
            kind = self.drafts[-1].kind
        self.drafts.append(_Draft(text, level, kind, part.first.page))

    def _caption(self, index: int, part: Paragraph, text: str) -> None:
        label, caption = split_label(text)
        page = part.first.page
        if "tab" not in (label or "").casefold():
            self.figures.append(Figure(label=label, caption=caption or None, page=page))
            return
        after = self.parts[index + 1] if index + 1 < len(self.parts) and index + 1 not in self.skipped else None
        rows, notes = notes_apart(after.lines) if after and after.kind == "rows" and after.first.page == page else ([], [])
        columns = columns_of(rows)
        if columns:
            self.skipped.add(index + 1)
        said = "\n".join(text_of(lines, self.hyphens)[0] for lines in _notes(notes)) if columns else ""
        self.tables.append(Table(label=label, caption=caption or None, rows=columns, notes=said or None, page=page))
