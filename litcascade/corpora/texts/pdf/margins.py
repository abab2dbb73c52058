"""Running heads and feet, page numbers and line numbers: lines that stand at the same place on page after page."""

import re
from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise

from litcascade.corpora.texts.pdf.lines import Line, make_line
from litcascade.corpora.texts.pdf.spans import Span

_ZONE = 0.12
_EDGE_LINES = 4
_SAME_PLACE = 4.0
_NUMBER = re.compile(r"\d{1,4}")
_DIGITS = re.compile(r"\d{1,9}")


def without_margins(
    pages: Sequence[Sequence[Line]], heights: Sequence[tuple[float, float]]
) -> tuple[list[list[Line]], list[Line]]:
    """(Lines of every page, the running lines taken out of them); `heights` are (lower, upper) edge of every page.

    A line runs where the same words, page numbers apart, stand at the same height near the edge of several pages. Of one with
    three cells or more, which may be the head of a long table, the first is kept.
    """
    edges = [_at_edges(lines, *height) for lines, height in zip(pages, heights, strict=True)]
    places: dict[tuple[str, bool], list[tuple[int, float, Line]]] = defaultdict(list)
    for index, found in enumerate(edges):
        for line, upper in found:
            places[(_form(line.text), upper)].append((index, line.y, line))
    needed = 2 if len(pages) <= 4 else max(3, round(0.12 * len(pages)))
    running = [line for spots in places.values() for line in _but_table_heads(_running(spots, needed))]
    gone = {id(line) for line in running}
    kept = [[line for line in lines if id(line) not in gone] for lines in pages]
    return [without_line_numbers(lines) for lines in kept], running


def _form(text: str) -> str:
    return " ".join(re.sub(r"\d+|\b[ivxlc]+\b", "#", text.casefold()).split())


def _at_edges(lines: Sequence[Line], lower: float, upper: float) -> list[tuple[Line, bool]]:
    """The outermost lines of a page that stand in its margins: (line, whether at the upper edge)."""
    upright = sorted((line for line in lines if line.turn == 0), key=lambda line: -line.y)
    if not upright:
        return []
    zone = _ZONE * (upper - lower)
    heights = sorted({round(line.y) for line in upright}, reverse=True)
    top, bottom = heights[:_EDGE_LINES][-1], heights[-_EDGE_LINES:][0]
    above = [(line, True) for line in upright if line.y >= upper - zone and round(line.y) >= top]
    below = [(line, False) for line in upright if line.y <= lower + zone and round(line.y) <= bottom]
    return above + below


def _running(spots: list[tuple[int, float, Line]], needed: int) -> list[Line]:
    """The lines among these that stand at one height on enough pages, their numbers the same or counting the pages."""
    numbers = [[int(number) for number in _DIGITS.findall(line.text)] for _, _, line in spots]
    found = []
    for (index, y, line), own in zip(spots, numbers, strict=True):
        pages = {
            other
            for (other, height, _), theirs in zip(spots, numbers, strict=True)
            if abs(height - y) <= _SAME_PLACE and all(b - a in (0, other - index) for a, b in zip(own, theirs, strict=False))
        }
        if len(pages) >= needed:
            found.append(line)
    return found


def _but_table_heads(lines: list[Line]) -> list[Line]:
    return [line for index, line in enumerate(lines) if index or len(line.cells) < 3]


def without_line_numbers(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page without numbers that count them in the left or right margin."""
    upright = [line for line in lines if line.turn == 0]
    for edge in (0, -1):
        numbers = {id(line): line.spans[edge] for line in upright if _counts_lines(line, line.spans[edge])}
        if _goes_up([int(span.text) for span in numbers.values()], len(upright)) and _in_margin(numbers, upright, edge):
            return [kept for line in lines if (kept := _without(line, numbers.get(id(line)))) is not None]
    return list(lines)


def _counts_lines(line: Line, span: Span) -> bool:
    return bool(_NUMBER.fullmatch(span.text)) and abs(span.y - line.y) < 0.1 * line.size


def _goes_up(values: list[int], lines: int) -> bool:
    """Whether these numbers go up by 1 from line to line, or by 5 every five lines, a few breaks apart."""
    steps = [after - before for before, after in pairwise(values)]
    if len(values) < 8:
        return False
    return any(steps.count(step) >= 0.9 * len(steps) and len(values) * step >= 0.7 * lines for step in (1, 5))


def _in_margin(numbers: dict[int, Span], lines: Sequence[Line], edge: int) -> bool:
    """Whether all these stand beside everything else on the page, a gap between."""
    own = {id(span) for span in numbers.values()}
    rest = sorted((span.x0, span.x1) for line in lines for span in line.spans if id(span) not in own)
    if not rest:
        return False
    if edge == 0:
        return max(span.x1 for span in numbers.values()) + 3 <= rest[len(rest) // 50][0]
    ends = sorted(x1 for _, x1 in rest)
    return min(span.x0 for span in numbers.values()) - 3 >= ends[-1 - len(ends) // 50]


def _without(line: Line, span: Span | None) -> Line | None:
    if span is None:
        return line
    rest = [other for other in line.spans if other is not span]
    return make_line(line.page, rest) if rest else None
