"""The order of reading on a page: that of the file where it makes sense, else told from where the lines stand."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from litcascade.corpora.texts.pdf.lines import Line, parted

_LONG = 15
_FULL = 0.75
_WRONG_SHARE = 0.12
_BIN = 2.0


@dataclass(frozen=True)
class Block:
    """Lines that follow one another downwards in one column."""

    lines: tuple[Line, ...]

    @property
    def x0(self) -> float:
        """Left edge."""
        return min(line.x0 for line in self.lines)

    @property
    def x1(self) -> float:
        """Right edge."""
        return max(line.x1 for line in self.lines)

    @property
    def top(self) -> float:
        """Upper edge."""
        return max(line.top for line in self.lines)

    @property
    def bottom(self) -> float:
        """Lower edge."""
        return min(line.bottom for line in self.lines)

    @property
    def weight(self) -> int:
        """Characters."""
        return sum(len(line.text) for line in self.lines)


def in_order(lines: Sequence[Line]) -> list[Line]:
    """The lines of a page in the order of reading; turned ones stay behind the others."""
    upright = [line for line in lines if line.turn == (lines[0].turn if lines else 0)]
    rest = [line for line in lines if line.turn != (lines[0].turn if lines else 0)]
    gutter = _woven(upright)
    if gutter is not None:
        upright = [part for line in upright for part in parted(line, gutter)]
    rising = _rises(upright)
    blocks = [Block((line,)) for line in upright] if rising else _tucked_in(blocks_of(upright))
    if rising or gutter is not None or _wrong_share(blocks) > _WRONG_SHARE:
        blocks = _by_place(blocks)
    return [line for block in _edges_out(blocks) for line in block.lines] + rest


def blocks_of(lines: Iterable[Line]) -> list[Block]:
    """Neighbours in the file that also stand below one another."""
    blocks: list[list[Line]] = []
    for line in lines:
        if blocks and _follows(blocks[-1][-1], line):
            blocks[-1].append(line)
        else:
            blocks.append([line])
    return [Block(tuple(block)) for block in blocks]


def _rises(lines: Sequence[Line]) -> bool:
    """Whether the file goes upwards from line to line, as pdfium has it where a page is turned."""
    steps = [line.y - before.y for before, line in pairwise(lines) if abs(line.y - before.y) <= 3 * line.size]
    return len(steps) >= 2 and sum(step > 0.5 * lines[0].size for step in steps) > 0.6 * len(steps)


def _tucked_in(blocks: list[Block]) -> list[Block]:
    """Lines that the file writes after a column although they belong between two of its lines put back there."""
    found: list[Block] = []
    for block in blocks:
        at = next((at for at in range(len(found) - 1, max(len(found) - 4, -1), -1) if _gap_for(block, found[at])), None)
        if at is None:
            found.append(block)
        else:
            found[at] = Block(tuple(sorted((*found[at].lines, *block.lines), key=lambda line: -line.y)))
    return found


def _gap_for(block: Block, column: Block) -> bool:
    """Whether a column has a gap of just these lines' height, with its left edge, where they stand."""
    if len(block.lines) > 2 or len(column.lines) < 4:
        return False
    line = block.lines[0]
    above = [one for one in column.lines if one.y > line.y]
    below = [one for one in column.lines if one.y < block.lines[-1].y]
    if not above or not below or len(above) + len(below) < len(column.lines):
        return False
    upper, lower = min(above, key=lambda one: one.y), max(below, key=lambda one: one.y)
    near = upper.y - line.y <= 1.6 * line.size and block.lines[-1].y - lower.y <= 1.6 * line.size
    return near and abs(upper.size - line.size) < 0.3 and abs(line.x0 - min(upper.x0, lower.x0)) <= 2 * line.size


def _follows(before: Line, line: Line) -> bool:
    size = max(before.size, line.size)
    together = min(before.x1, line.x1) - max(before.x0, line.x0)
    return -0.6 * size <= before.y - line.y <= 3 * size and together > -size


def _woven(lines: Sequence[Line]) -> float | None:
    """The gutter between two columns of prose that the file writes line by line across both; None where there is none."""
    pairs = [
        (one, other)
        for line in lines
        for one, other in pairwise(line.cells)
        if len(line.cells) == 2 and len(one[0]) >= _LONG and len(other[0]) >= _LONG
    ]
    if len(pairs) < 6 or len(pairs) < 0.3 * len(lines):
        return None
    left, right = max(one[2] for one, _ in pairs), min(other[1] for _, other in pairs)
    if left >= right:
        return None
    widths = (left - min(one[1] for one, _ in pairs), max(other[2] for _, other in pairs) - right)
    full = sum((one[2] - one[1]) >= _FULL * widths[0] and (other[2] - other[1]) >= _FULL * widths[1] for one, other in pairs)
    return (left + right) / 2 if full >= 0.6 * len(pairs) else None


def _wrong_share(blocks: Sequence[Block]) -> float:
    """Share of the page's characters that stand, in the file, behind something they should be read before."""
    whole = sum(block.weight for block in blocks)
    pairs = [(before, block) for before, block in pairwise(blocks) if _reversed(before, block)]
    wrong = sum(min(before.weight, block.weight) for before, block in pairs)
    return wrong / whole if whole else 0.0


def _reversed(before: Block, block: Block) -> bool:
    if min(len(before.lines), len(block.lines)) < 2:
        return False
    beside = min(before.x1, block.x1) - max(before.x0, block.x0)
    level = min(before.top, block.top) - max(before.bottom, block.bottom)
    above = block.bottom >= before.top - 2 and beside > 0.5 * min(before.x1 - before.x0, block.x1 - block.x0)
    left = block.x1 <= before.x0 and level > 0.5 * min(before.top - before.bottom, block.top - block.bottom)
    return above or left


def _by_place(blocks: Sequence[Block]) -> list[Block]:
    """Columns from left to right, between blocks that go across all of them from top to bottom."""
    if len(blocks) < 2:
        return list(blocks)
    cut = _gutter(blocks)
    if cut is not None:
        left = [block for block in blocks if (block.x0 + block.x1) / 2 < cut]
        right = [block for block in blocks if (block.x0 + block.x1) / 2 >= cut]
        return _by_place(left) + _by_place(right)
    width = max(block.x1 for block in blocks) - min(block.x0 for block in blocks)
    ordered = sorted(blocks, key=lambda block: -block.top)
    bands: list[list[Block]] = [[]]
    for block in ordered:
        across = block.x1 - block.x0 > 0.55 * width
        if across and bands[-1]:
            bands.append([])
        bands[-1].append(block)
        if across:
            bands.append([])
    bands = [band for band in bands if band]
    return ordered if len(bands) < 2 else [block for band in bands for block in _by_place(band)]


def _gutter(blocks: Sequence[Block]) -> float | None:
    """The middle of the widest strip from top to bottom that no block stands in, with blocks beside one another around it."""
    edges = sorted((block.x0, block.x1) for block in blocks)
    best, reach = None, edges[0][1]
    widest = 3.0
    for x0, x1 in edges[1:]:
        if x0 - reach > widest:
            widest, best = x0 - reach, (x0 + reach) / 2
        reach = max(reach, x1)
    if best is None:
        return None
    left = [block for block in blocks if block.x1 <= best]
    right = [block for block in blocks if block.x0 >= best]
    level = min(max(block.top for block in left), max(block.top for block in right)) - max(
        min(block.bottom for block in left), min(block.bottom for block in right)
    )
    return best if level > 0 else None


def _edges_out(blocks: Sequence[Block]) -> list[Block]:
    """Small blocks above or below all others (running heads, page numbers, imprint) put first and last."""
    if len(blocks) < 2:
        return list(blocks)
    small = [block for block in blocks if len(block.lines) <= 3]
    large = [block for block in blocks if len(block.lines) > 3] or list(blocks)
    top, bottom = max(block.top for block in large), min(block.bottom for block in large)
    above = [block for block in small if block.bottom >= top - 1]
    below = [block for block in small if block.top <= bottom + 1]
    middle = [block for block in blocks if block not in above and block not in below]
    return sorted(above, key=_downwards) + middle + sorted(below, key=_downwards)


def _downwards(block: Block) -> tuple[float, float]:
    return -round(block.top), block.x0


def usual_leading(lines: Sequence[Line]) -> float:
    """The usual distance of baselines in units of font size; 1.2 where nothing can be told."""
    steps = [
        (before.y - line.y) / line.size
        for before, line in pairwise(lines)
        if before.page == line.page
        and abs(before.size - line.size) < 0.2
        and 0.8 * line.size <= before.y - line.y <= 2.6 * line.size
    ]
    return median(steps) if steps else 1.2
