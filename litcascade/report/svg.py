"""What all drawings share: the frame with its description, wrapped text, axes, colours with dashes and marks beside them."""

import math
import re
import textwrap
from collections.abc import Sequence
from html import escape

from litcascade.report.dots import COLOURS, mark_shape
from litcascade.report.tables import inert

INK = (COLOURS[0], COLOURS[1], COLOURS[2], COLOURS[3], "#000000", COLOURS[5], COLOURS[4])  # yellow is too pale for a line
DASHES = ("", "7 4", "2 4", "9 4 2 4", "12 4", "4 2", "1 3")
MARKS = ("circle", "square", "triangle", "diamond")
FONT = 14  # of 800 units: not below 11 pixels where a drawing is 640 wide


def text_of(words: object) -> str:
    """Words as text of an SVG."""
    return escape(inert(str(words)), quote=True)


def id_of(title: str) -> str:
    """A title as the beginning of ids inside a drawing; two drawings of one page have different titles."""
    return "d-" + re.sub(r"[^a-z0-9]+", "-", title.casefold()).strip("-")


def drawing(width: int, height: float, title: str, description: str, parts: Sequence[str]) -> str:
    """A whole SVG element with title and description for those who do not see it; it can stand in a page or be a file."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" font-family="system-ui, sans-serif" '
        f'font-size="{FONT}" role="img" aria-label="{text_of(title)}">'
    )
    told = f"<title>{text_of(title)}</title><desc>{text_of(description)}</desc>"
    return "\n".join([head, told, f'<rect width="{width}" height="{height:.0f}" fill="#fff"/>', *parts, "</svg>"])


def label(x: float, y: float, words: object, anchor: str = "start", more: str = "") -> str:
    """One line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{" " + more if more else ""}>{text_of(words)}</text>'


def wrapped(words: str, width: float, *, bold: bool = False) -> list[str]:
    """Lines that fit `width` units, at a little over half the size of the type a letter; no word is lost."""
    letters = int(width / (FONT * (0.62 if bold else 0.56)))
    held = inert(words).replace("(n = ", "(n\u00a0=\u00a0")
    return textwrap.wrap(held, max(8, letters)) or [""]


def ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round places from `low` to `high`."""
    span = high - low
    if span <= 0:
        return [low]
    step = 10 ** math.floor(math.log10(span / most))
    step = next(step * k for k in (1, 2, 5, 10) if span / (step * k) <= most)
    first = math.ceil(low / step - 1e-9)
    return [round(step * k, 10) for k in range(first, math.floor(high / step + 1e-9) + 1)]


def log_ticks(low: float, high: float) -> list[float]:
    """Places at 1, 2 and 5 of each power of ten from `low` to `high`."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [k * 10.0**p for p in powers for k in (1, 2, 5) if low * 0.999 <= k * 10.0**p <= high * 1.001]


def mark(number: int, x: float, y: float, size: float = 5) -> str:
    """The mark of the series with this number, in its colour."""
    return f'<g fill="{INK[number % len(INK)]}">{mark_shape(MARKS[number % len(MARKS)], x, y, size)}</g>'


def stroke(number: int) -> str:
    """Colour and dashes of the series with this number."""
    dashes = DASHES[number % len(DASHES)]
    return f'stroke="{INK[number % len(INK)]}" stroke-width="2" fill="none"' + (f' stroke-dasharray="{dashes}"' if dashes else "")
