"""Lines put together to paragraphs: where one ends, where one goes on over columns and pages, and hyphens at line ends."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from litcascade.corpora.texts.pdf.lines import Line
from litcascade.corpora.texts.pdf.names import is_name
from litcascade.corpora.texts.pdf.order import Block, blocks_of, usual_leading
from litcascade.corpora.texts.pdf.spans import HYPHEN, Face

ParagraphKind = Literal["text", "rows", "caption", "heading", "footnote"]
_ENDS = re.compile(r"[.!?:;][\"'”’)\]]*[\d,–\-\s*†‡]*$")
_ITEM = re.compile(r"(?:[•▪■●○◦‣–—*-]|\(?[a-z\d]{1,3}[.)]|\[\d{1,3}\])\s")
_LOWER = re.compile(r"[\"'“‘(\[]?[a-zà-ÿ]")
_PARTED = re.compile(r"(\w[\w’']*)([-‐\u2011" + HYPHEN + r"])$")
_COMPOUND = frozenset(
    {"non", "self", "well", "double", "single", "high", "low", "long", "short", "cross", "follow", "meta", "quasi", "semi"}
)
_RUN_IN = re.compile(r"(?:abstract|key ?words|index terms)\s*[.:–—-]", re.IGNORECASE)
_BETWEEN = frozenset({"and", "or", "versus", "und", "oder", "et", "ou", "y", "o"})
_COMPOUNDED = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_PLAIN = Face()


@dataclass(frozen=True)
class Style:
    """What most of a document's lines look like; `leading` is the distance of baselines in units of size."""

    size: float = 10.0
    face: Face = _PLAIN
    leading: float = 1.2

    def is_body(self, line: Line) -> bool:
        """Whether a line looks like running text: its size, and not bold where that is not."""
        return abs(line.size - self.size) <= 0.45 and (self.face.bold or not line.bold)


@dataclass(frozen=True)
class Paragraph:
    """Lines that belong together; `indented` where its first line is set in from its column."""

    lines: tuple[Line, ...]
    kind: ParagraphKind = "text"
    indented: bool = False

    @property
    def first(self) -> Line:
        """Its first line."""
        return self.lines[0]

    @property
    def last(self) -> Line:
        """Its last line."""
        return self.lines[-1]


def ends(text: str) -> bool:
    """Whether a line ends a sentence, marks of notes behind its stop apart."""
    return bool(_ENDS.search(text[-30:]))


def style_of(lines: Iterable[Line]) -> Style:
    """The usual size, font and leading, by characters of lines long enough to be prose."""
    lines = list(lines)
    weights: Counter[tuple[float, Face]] = Counter()
    for line in lines:
        weights[(round(line.size, 1), line.face)] += len(line.text) if len(line.text) >= 30 else 0
    if not weights:
        return Style()
    (size, face), _ = weights.most_common(1)[0]
    return Style(size, face, usual_leading([line for line in lines if abs(line.size - size) < 0.3]))


def paragraphs(pages: Sequence[Sequence[Line]], style: Style) -> list[Paragraph]:
    """The lines of all pages, each in one paragraph, columns and pages apart."""
    return [part for lines in pages for block in blocks_of(lines) for part in _of_block(block, style)]


def _of_block(block: Block, style: Style) -> list[Paragraph]:
    found: list[list[Line]] = []
    indents: list[bool] = []
    left, right = _edges(block)
    for line in block.lines:
        if found and not _breaks(found[-1], line, left, right, style):
            found[-1].append(line)
        else:
            found.append([line])
            indents.append(line.x0 > left + 0.7 * line.size)
    return [Paragraph(tuple(lines), indented=indent) for lines, indent in zip(found, indents, strict=True)]


def _edges(block: Block) -> tuple[float, float]:
    """Where most lines of a block begin, and where its full lines end."""
    begins = Counter(round(line.x0) for line in block.lines)
    ends = sorted(line.x1 for line in block.lines)
    most = max(begins.values())
    return min(x for x, count in begins.items() if count >= 0.5 * most), ends[int(0.8 * (len(ends) - 1))]


def _breaks(lines: list[Line], line: Line, left: float, right: float, style: Style) -> bool:
    before = lines[-1]
    if abs(before.size - line.size) > 0.6 or before.bold != line.bold or len(before.cells) > 2 or len(line.cells) > 2:
        return True
    if _stands_alone(lines, line, left, right) or _RUN_IN.match(line.text):
        return True
    step = before.y - line.y
    if step > 1.3 * style.leading * max(line.size, before.size) or step < 0.4 * line.size:
        return True
    if not ends(before.text) or before.text.endswith(HYPHEN):
        return False
    short = before.x1 < right - 0.15 * (right - left)
    set_in = line.x0 > left + 0.7 * line.size and line.x0 > before.x0 + 0.3 * line.size
    set_out = len(lines) > 1 and line.x0 < before.x0 - 0.7 * line.size
    return short or set_in or set_out or bool(_ITEM.match(line.text))


def _stands_alone(lines: list[Line], line: Line, left: float, right: float) -> bool:
    """Whether the line before, or this one, is a heading of the size of what is around it."""
    before = lines[-1]
    if is_name(line.text) and (ends(before.text) or before.x1 < right - 0.3 * (right - left)):
        return True
    if len(lines) > 1 or line.text[:1].islower():
        return False
    uniform = len({span.face for span in before.spans}) == 1
    other = uniform and before.face not in {span.face for span in line.spans} and len(before.text) < 80
    return is_name(before.text) or (other and before.x1 < right - 0.25 * (right - left))


def goes_on(before: Paragraph, after: Paragraph) -> bool:
    """Whether a paragraph is the rest of another that a column, a page or a float cuts in two."""
    one, other = before.last, after.first
    if abs(one.size - other.size) > 0.3 or one.bold != other.bold or _RUN_IN.match(other.text):
        return False
    if _PARTED.search(one.text, max(len(one.text) - 2, 0)):
        return True
    return not ends(one.text) and (bool(_LOWER.match(other.text)) or not after.indented) and len(one.text) > 25


class Hyphens:
    """Mends words parted at line ends by the words of the document itself."""

    def __init__(self, lines: Iterable[Line]) -> None:
        inner = (line.text.partition(" ")[2] for line in lines)
        whole = (text.rpartition(" ")[0] if _PARTED.search(text, max(len(text) - 2, 0)) else text for text in inner)
        text = re.sub("[‐\u2011]", "-", " ".join(whole).casefold())
        self.known: Counter[str] = Counter(_COMPOUNDED.findall(text))

    def joined(self, before: str, after: str) -> str:
        """Two lines as one: a blank between, or the parted word whole, its hyphen kept where it belongs to the word."""
        parted = _PARTED.search(before, max(len(before) - 60, 0))
        if not parted or not after[:1].isalnum():
            return f"{before.removesuffix(HYPHEN) + ('-' if before.endswith(HYPHEN) else '')} {after}".strip()
        stem, rest = before[: parted.start(2)], _COMPOUNDED.match(after)
        one, other = parted[1].casefold().rpartition("-")[2], rest[0].casefold() if rest else ""
        if self.known[one + other]:
            return stem + after
        if other in _BETWEEN:
            return f"{stem}- {after}"
        return stem + ("-" if self._keeps(one, other, parted[1], after) else "") + after

    def _keeps(self, one: str, other: str, written: str, after: str) -> bool:
        if not after[0].isalpha() or after[0].isupper() or not written[-1].isalpha() or written[-2:].isupper():
            return True
        if self.known[f"{one}-{other}"] or one in _COMPOUND or "-" in other:
            return True
        return self.known[one] > 1 and self.known[other] > 1 and len(one) > 2 and len(other) > 3


def text_of(lines: Sequence[Line], hyphens: Hyphens) -> tuple[str, list[tuple[int, int]]]:
    """The lines as one line of text, and (offset, page) where each later page begins in it."""
    text, pages, page = "", [], lines[0].page
    for line in lines:
        joined = hyphens.joined(text, line.text) if text else line.text
        if line.page != page:
            page = line.page
            pages.append((len(joined) - len(line.text), page))
        text = joined
    return _ended(text), pages


def rows_text(line: Line) -> str:
    """A row of a table: its cells with ` | ` between."""
    return _ended(" | ".join(text for text, _, _ in line.cells))


def _ended(text: str) -> str:
    return text.removesuffix(HYPHEN) + "-" if text.endswith(HYPHEN) else text


def joined(found: Sequence[Paragraph]) -> list[Paragraph]:
    """Paragraphs cut in two by a column, a page, or floats and notes between put together; those between come behind."""
    done: list[Paragraph] = []
    for part in found:
        at = _unfinished(done, part) if part.kind == "text" else None
        if at is None:
            done.append(part)
        else:
            done[at] = replace(done[at], lines=done[at].lines + part.lines)
    return done


def _unfinished(done: Sequence[Paragraph], part: Paragraph) -> int | None:
    """Place of the paragraph that this one goes on with: the last one of its size and font.

    Past headings (those of a box) only where the rest begins in the middle of a sentence.
    """
    boxed = False
    for at in range(len(done) - 1, max(len(done) - 25, -1), -1):
        before = done[at]
        boxed = boxed or before.kind == "heading"
        if before.kind != "text" or (len(before.lines) == 1 and len(before.first.text) < 25):
            continue
        if before.last.face == part.first.face and abs(before.last.size - part.first.size) <= 0.3:
            return at if goes_on(before, part) and (not boxed or _LOWER.match(part.first.text)) else None
    return None
