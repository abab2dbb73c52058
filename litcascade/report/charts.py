"""Charts as SVG: lines and points with intervals, histograms by group, and estimates with their intervals."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from litcascade.report.dots import mark_shape
from litcascade.report.svg import INK, drawing, id_of, label, log_ticks, mark, stroke, text_of, ticks, wrapped

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 800, 420, 70, 20, 215, 58


@dataclass(frozen=True)
class Line:
    """A series: points in the order of `x`; `low` and `high` are bars around `y`. `steps` draws stairs, `dots` marks points."""

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    high: Sequence[float] = ()
    steps: bool = False
    dots: bool = False
    joined: bool = True


@dataclass(frozen=True)
class Axis:
    """An axis; without `low` and `high` it spans the data."""

    name: str
    low: float
    high: float
    log: bool = False

    def share(self, value: float) -> float:
        """Where a value stands, from 0 to 1."""
        if self.high == self.low:
            return 0.5
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def places(self) -> list[float]:
        """Where its ticks stand."""
        return log_ticks(self.low, self.high) if self.log else ticks(self.low, self.high)


def line_chart(lines: Sequence[Line], x: Axis, y: Axis, title: str, description: str) -> str:
    """Lines and points; each has a colour, dashes and a mark of its own, and stands in the legend."""
    parts = _frame(x, y)
    for number, line in enumerate(lines):
        parts.append(_series(line, number, x, y))
    return drawing(WIDTH, HEIGHT, title, description, [*parts, *_legend([line.name for line in lines], lines)])


def _at(x: Axis, y: Axis, a: float, b: float) -> tuple[float, float]:
    return LEFT + x.share(a) * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y.share(b) * (HEIGHT - TOP - BOTTOM)


def _frame(x: Axis, y: Axis) -> list[str]:
    right, low = WIDTH - RIGHT, HEIGHT - BOTTOM
    parts = []
    for value in x.places():
        place, _ = _at(x, y, value, y.low)
        parts.append(f'<path d="M{place:.1f} {TOP}V{low}" stroke="#e2e2e2"/>')
        parts.append(label(place, low + 20, f"{value:g}", "middle"))
    for value in y.places():
        _, place = _at(x, y, x.low, value)
        parts.append(f'<path d="M{LEFT} {place:.1f}H{right}" stroke="#e2e2e2"/>')
        parts.append(label(LEFT - 8, place + 5, f"{value:g}", "end"))
    parts.append(f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{low - TOP}" fill="none" stroke="#767676"/>')
    parts.append(label((LEFT + right) / 2, low + 44, x.name, "middle"))
    middle = (TOP + low) / 2
    parts.append(f'<text transform="translate(20 {middle:.0f}) rotate(-90)" text-anchor="middle">{text_of(y.name)}</text>')
    return parts


def _series(line: Line, number: int, x: Axis, y: Axis) -> str:
    places = [_at(x, y, a, b) for a, b in zip(line.x, line.y, strict=True)]
    parts = []
    for a, low, high in zip(line.x, line.low, line.high, strict=False):
        (place, under), (_, over) = _at(x, y, a, low), _at(x, y, a, high)
        bar = f"M{place:.1f} {under:.1f}V{over:.1f}M{place - 5:.1f} {under:.1f}h10M{place - 5:.1f} {over:.1f}h10"
        parts.append(f'<path d="{bar}" stroke="{INK[number % len(INK)]}" stroke-width="1.5" fill="none"/>')
    if line.joined and len(places) > 1:
        parts.append(f'<path d="{_path(places, line.steps)}" {stroke(number)}/>')
    if line.dots or len(places) == 1:
        parts += [mark(number, *place) for place in places]
    return f"<g><title>{text_of(line.name)}</title>{''.join(parts)}</g>"


def _path(places: Sequence[tuple[float, float]], steps: bool) -> str:
    first, *rest = places
    drawn = [f"M{first[0]:.1f} {first[1]:.1f}"]
    for a, b in rest:
        drawn.append(f"H{a:.1f}V{b:.1f}" if steps else f"L{a:.1f} {b:.1f}")
    return "".join(drawn)


def _legend(names: Sequence[str], lines: Sequence[Line]) -> list[str]:
    parts, x, y = [], WIDTH - RIGHT + 16, TOP + 14.0
    for number, (name, line) in enumerate(zip(names, lines, strict=True)):
        if line.joined and len(line.x) > 1:
            parts.append(f'<path d="M{x} {y - 5:.1f}h28" {stroke(number)}/>')
        if line.dots or len(line.x) == 1:
            parts.append(mark(number, x + 14, y - 5))
        for words in wrapped(name, RIGHT - 62):
            parts.append(label(x + 36, y, words))
            y += 18
        y += 6
    return parts


def histogram(edges: Sequence[float], groups: Mapping[str, Sequence[int]], x_name: str, title: str, description: str) -> str:
    """Counts by bin, the groups side by side; each has a colour and a hatching of its own. `edges` are one more than bins."""
    key = id_of(title)
    most = max((count for counts in groups.values() for count in counts), default=0)
    x, y = Axis(x_name, edges[0], edges[-1]), Axis("records", 0, max(1, most) * 1.05)
    parts = [_hatches(len(groups), key), *_frame(x, y)]
    for number, (name, counts) in enumerate(groups.items()):
        for left, right, count in zip(edges, edges[1:], counts, strict=False):
            (x0, base), (x1, _) = _at(x, y, left, 0), _at(x, y, right, 0)
            width = (x1 - x0) * 0.9 / len(groups)
            start = x0 + (x1 - x0) * 0.05 + number * width
            _, top = _at(x, y, left, count)
            words = text_of(f"{name}, {left:g} to {right:g}: {count}")
            parts.append(
                f'<rect x="{start:.1f}" y="{top:.1f}" width="{width:.1f}" height="{base - top:.1f}" fill="url(#{key}-{number})" '
                f'stroke="{INK[number % len(INK)]}"><title>{words}</title></rect>'
            )
    place = TOP + 6
    for number, name in enumerate(groups):
        colour = INK[number % len(INK)]
        parts.append(
            f'<rect x="{WIDTH - RIGHT + 16}" y="{place}" width="22" height="14" fill="url(#{key}-{number})" stroke="{colour}"/>'
        )
        for words in wrapped(name, RIGHT - 62):
            parts.append(label(WIDTH - RIGHT + 46, place + 12, words))
            place += 18
        place += 6
    return drawing(WIDTH, HEIGHT, title, description, parts)


def _hatches(count: int, key: str) -> str:
    """Fills that differ without colour: whole, slanted, dotted, crossed."""
    made, blank = [], '<rect width="8" height="8" fill="#fff"/>'
    for number in range(count):
        colour = INK[number % len(INK)]
        inside = (
            f'<rect width="8" height="8" fill="{colour}"/>',
            f'{blank}<path d="M0 8L8 0M-2 2L2 -2M6 10L10 6" stroke="{colour}" stroke-width="2"/>',
            f'{blank}<circle cx="4" cy="4" r="2" fill="{colour}"/>',
            f'{blank}<path d="M0 4H8M4 0V8" stroke="{colour}" stroke-width="1.5"/>',
        )[number % 4]
        made.append(f'<pattern id="{key}-{number}" width="8" height="8" patternUnits="userSpaceOnUse">{inside}</pattern>')
    return f"<defs>{''.join(made)}</defs>"


@dataclass(frozen=True)
class Shown:
    """An estimate in a row of its own; `value` None is drawn as the word undefined."""

    name: str
    value: float | None
    low: float | None = None
    high: float | None = None


def interval_chart(rows: Sequence[Shown], x: Axis, title: str, description: str) -> str:
    """One row an estimate: a point, and a bar for its interval."""
    row, left, right = 34, 250, 40
    height = len(rows) * row + 70

    def place(value: float) -> float:
        return left + x.share(min(max(value, x.low), x.high)) * (WIDTH - left - right)

    parts = []
    for value in x.places():
        parts.append(f'<path d="M{place(value):.1f} 10V{height - 52}" stroke="#e2e2e2"/>')
        parts.append(label(place(value), height - 34, f"{value:g}", "middle"))
    for number, shown in enumerate(rows):
        y = 10 + row * (number + 0.5)
        parts.append(label(left - 12, y + 5, shown.name if len(shown.name) <= 32 else shown.name[:31] + "…", "end"))
        if shown.value is None:
            parts.append(label(left + 6, y + 5, "undefined", more='font-style="italic"'))
            continue
        if shown.low is not None and shown.high is not None:
            bar = f"M{place(shown.low):.1f} {y:.1f}H{place(shown.high):.1f}"
            ends = "".join(f"M{place(end):.1f} {y - 6:.1f}v12" for end in (shown.low, shown.high))
            parts.append(f'<path d="{bar}{ends}" stroke="{INK[0]}" stroke-width="2" fill="none"/>')
        parts.append(f'<g fill="{INK[0]}">{mark_shape("circle", place(shown.value), y, 5)}</g>')
    parts.append(label((left + WIDTH - right) / 2, height - 10, x.name, "middle"))
    return drawing(WIDTH, height, title, description, parts)
