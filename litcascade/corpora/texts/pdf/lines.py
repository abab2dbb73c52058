"""Lines of a PDF page put together from its runs of text, and parted where two columns were written into one."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from litcascade.corpora.texts.pdf.spans import HYPHEN, Face, Span

CELL_GAP = 1.4
ROW_GAP = 0.6
_FIGURE = re.compile(r"[<>=≤≥±+−–-]*\d[\d.,%/*†‡§]*(?: ?\([^()]*\)| ?± ?[\d.,]+)?")
_FIGURES = re.compile(rf"(?<!\S)(?:{_FIGURE.pattern}(?: |$)){{3,}}$")
_ACCENTS = dict(zip("´`ˆ˜¨ˇ˚˘˙˝¯", "\u0301\u0300\u0302\u0303\u0308\u030c\u030a\u0306\u0307\u030b\u0304", strict=True))
_ACCENT = re.compile(f"([{''.join(_ACCENTS)}]) ?([^\\W\\d_])")
_BLANK_GAP = 0.22
_MARKER = re.compile(r"[•▪■●○◦‣–—*-]|\(?[a-zA-Z\d]{1,3}[.)]|\d{1,2}(\.\d{1,2})*|\[\d{1,3}\]")


@dataclass(frozen=True, slots=True)
class Line:
    """Spans that stand on one baseline, from left to right; `size` and `face` are those of most of its characters.

    `cells` are the parts that wide gaps leave (one where there is none), with where each begins and ends; `bold` and `italic` say
    whether most of its letters are.
    """

    page: int
    spans: tuple[Span, ...]
    text: str
    x0: float
    x1: float
    y: float
    size: float
    face: Face
    turn: int
    cells: tuple[tuple[str, float, float], ...]
    bold: bool
    italic: bool

    @property
    def top(self) -> float:
        """Height of its highest letters."""
        return self.y + 0.75 * self.size

    @property
    def bottom(self) -> float:
        """Height of its lowest letters."""
        return self.y - 0.22 * self.size


def make_line(page: int, spans: Sequence[Span], gap: float = CELL_GAP) -> Line:
    """The line of these spans; its baseline is that of most of its characters, `gap` (in units of size) parts its cells."""
    main = _main(spans)
    size, face = round(main.size, 1), main.face
    cells = [(_joined(part), part[0].x0, part[-1].x1) for part in _cells(spans, gap * size)]
    if gap < CELL_GAP:
        cells = [single for cell in cells for single in _figures_apart(*cell)]
    text = " ".join(cell for cell, _, _ in cells)
    x1 = max(span.x1 for span in spans)
    bold, italic = _mostly(spans, "bold"), _mostly(spans, "italic")
    return Line(
        page, tuple(spans), text, min(span.x0 for span in spans), x1, main.y, size, face, main.turn, tuple(cells), bold, italic
    )


def _mostly(spans: Sequence[Span], what: str) -> bool:
    """Whether most letters (or all signs, where there are none) are of that kind; a sign in another font does not count."""
    if len(spans) == 1:
        return bool(getattr(spans[0].face, what))
    lettered = [(span, sum(map(str.isalpha, span.text))) for span in spans]
    whole = sum(count for _, count in lettered)
    if not whole:
        return all(getattr(span.face, what) for span in spans)
    return sum(count for span, count in lettered if getattr(span.face, what)) >= 0.75 * whole


def _main(spans: Sequence[Span]) -> Span:
    """The first span of the size and font that most characters have."""
    first = spans[0]
    if all(span.face is first.face and span.size == first.size for span in spans):
        return first
    weights: Counter[tuple[float, str]] = Counter()
    for span in spans:
        weights[(round(span.size, 1), span.face.name)] += len(span.text)
    most = weights.most_common(1)[0][0]
    return next(span for span in spans if (round(span.size, 1), span.face.name) == most)


def _cells(spans: Sequence[Span], gap: float) -> list[list[Span]]:
    parts = [[spans[0]]]
    for before, span in pairwise(spans):
        if span.x0 - before.x1 > gap:
            parts.append([])
        parts[-1].append(span)
    if len(parts) == 2 and _MARKER.fullmatch(_joined(parts[0])):
        return [[*parts[0], *parts[1]]]
    return parts


def _figures_apart(text: str, x0: float, x1: float) -> list[tuple[str, float, float]]:
    """A cell in which three figures or more stand one after the other as a cell for each; where each begins is estimated."""
    found = _FIGURES.search(text)
    figures = _FIGURE.findall(found[0]) if found else []
    if found is None or len(figures) < 3:
        return [(text, x0, x1)]
    parts, step = [], (x1 - x0) / len(text)
    at = found.start()
    if text[:at].strip():
        parts.append((text[:at].strip(), x0, x0 + at * step))
    for figure in figures:
        at = text.index(figure, at)
        parts.append((figure, x0 + at * step, x0 + (at + len(figure)) * step))
        at += len(figure)
    return parts


def _joined(spans: Sequence[Span]) -> str:
    """The text of neighbouring spans; a figure raised behind a digit is told from it by `^`."""
    text, before = spans[0].text, spans[0]
    for span in spans[1:]:
        text = text.removesuffix(HYPHEN) + "-" if text.endswith(HYPHEN) and span.text != HYPHEN else text
        raised = span.size < 0.85 * before.size and span.y > before.y + 0.15 * before.size
        if raised and not span.blank and text[-1:].isdigit() and re.match(r"[-−–+]?\d", span.text):
            text += "^"
        elif span.blank or span.x0 - before.x1 > _BLANK_GAP * min(span.size, before.size):
            text += " "
        text += span.text
        before = span if not raised else before
    return text if text.isascii() else with_accents(text)


def with_accents(text: str) -> str:
    """Accents that were drawn on their own set on the letter they stand before, where there is such a letter."""

    def set_on(hit: re.Match[str]) -> str:
        letter = {"ı": "i", "ȷ": "j"}.get(hit[2], hit[2])
        whole = unicodedata.normalize("NFC", letter + _ACCENTS[hit[1]])
        return whole if len(whole) == 1 else hit[0]

    return _ACCENT.sub(set_on, text)


def lines_of(page: int, spans: Iterable[Span]) -> list[Line]:
    """Lines in the order in which the file writes them; what is turned stands behind what is upright."""
    found: list[Line] = []
    turns = Counter(span.turn for span in spans for _ in span.text)
    for turn, _ in sorted(turns.items(), key=lambda item: (item[0] == 4, -item[1])):
        current: list[Span] = []
        for span in (span for span in spans if span.turn == turn):
            if current and not _goes_on(current, span):
                found.append(make_line(page, current))
                current = []
            current.append(span)
        if current:
            found.append(make_line(page, current))
    return _rejoined(found)


def _goes_on(line: list[Span], span: Span) -> bool:
    last = line[-1]
    if _is_accent(span) or _is_accent(last):
        return span.x0 > last.x0 - span.size and abs(span.y - last.y) < 0.9 * span.size
    if span.x0 < last.x1 - 0.6 * max(span.size, last.size) and not _goes_left(last, span):
        return False
    ground = max(line[-3:], key=lambda one: one.size)
    low, high = max(span.y, ground.y), min(span.y + 0.7 * span.size, ground.y + 0.7 * ground.size)
    return high - low >= 0.35 * 0.7 * min(span.size, ground.size)


def _goes_left(last: Span, span: Span) -> bool:
    """Whether a span of a script that is written to the left goes on with the one before it."""
    return span.x1 <= last.x0 + 0.6 * span.size and unicodedata.bidirectional(span.text[-1]) in ("R", "AL")


def _is_accent(span: Span) -> bool:
    return len(span.text) == 1 and span.text in _ACCENTS


def _rejoined(lines: list[Line]) -> list[Line]:
    """Neighbours on one baseline that were written out of their order, as one line."""
    found: list[Line] = []
    for line in lines:
        last = found[-1] if found else None
        if last and last.turn == line.turn and abs(last.y - line.y) < 0.2 * line.size and 0 <= last.x0 - line.x1 < 2 * line.size:
            found[-1] = make_line(line.page, (*line.spans, *last.spans))
        else:
            found.append(line)
    return found


def parted(line: Line, gutter: float) -> list[Line]:
    """The line in two where a wide gap holds the gutter, else as it is."""
    left = [span for span in line.spans if span.x1 <= gutter]
    right = [span for span in line.spans if span.x0 >= gutter]
    if not left or not right or len(left) + len(right) < len(line.spans):
        return [line]
    first = replace(right[0], blank=False)
    return [make_line(line.page, left), make_line(line.page, [first, *right[1:]])]
