"""A plot of many configurations as SVG: recall against precision, a colour and a shape a group, every point with its words."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 800, 560, 64, 64, 240, 56
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")  # Okabe and Ito's
SHAPES = ("circle", "square", "triangle", "diamond")


@dataclass(frozen=True)
class Dot:
    """One configuration: its place in [0, 1] x [0, 1], what its colour and its shape stand for, and its words."""

    x: float
    y: float
    colour: str
    shape: str
    words: str


def dots_svg(dots: Sequence[Dot], title: str, x_name: str, y_name: str, left_out: int = 0) -> str:
    """The plot as a whole SVG file; `left_out` counts configurations without a place, said below the title."""
    colours = {name: COLOURS[i % len(COLOURS)] for i, name in enumerate(dict.fromkeys(dot.colour for dot in dots))}
    shapes = {name: SHAPES[i % len(SHAPES)] for i, name in enumerate(dict.fromkeys(dot.shape for dot in dots))}
    subtitle = f"{len(dots)} configurations" + (f"; {left_out} without precision, not drawn" if left_out else "")
    low = HEIGHT - BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" '
        f'role="img" aria-label="{escape(title)}">',
        f'<title>{escape(title)}</title><rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="26" font-size="16" font-weight="600">{escape(title)}</text>',
        f'<text x="{LEFT}" y="46">{escape(subtitle)}</text>',
        *_axes(x_name, y_name, low),
        *(_mark(dot, colours[dot.colour], shapes[dot.shape]) for dot in dots),
        *_legend(colours, shapes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _place(x: float, y: float) -> tuple[float, float]:
    return LEFT + x * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y * (HEIGHT - TOP - BOTTOM)


def _axes(x_name: str, y_name: str, low: int) -> list[str]:
    right = WIDTH - RIGHT
    parts = [f'<rect x="{LEFT}" y="{TOP}" width="{right - LEFT}" height="{low - TOP}" fill="none" stroke="#767676"/>']
    for step in range(6):
        x, y = _place(step / 5, step / 5)
        parts.append(f'<path d="M{x:.1f} {TOP}V{low}M{LEFT} {y:.1f}H{right}" stroke="#ddd" fill="none"/>')
        parts.append(f'<text x="{x:.1f}" y="{low + 18}" text-anchor="middle">{step / 5:.1f}</text>')
        parts.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{step / 5:.1f}</text>')
    middle = (LEFT + right) / 2
    parts.append(f'<text x="{middle:.0f}" y="{low + 42}" text-anchor="middle">{escape(x_name)}</text>')
    upright = (TOP + low) / 2
    parts.append(f'<text transform="translate(20 {upright:.0f}) rotate(-90)" text-anchor="middle">{escape(y_name)}</text>')
    return parts


def _mark(dot: Dot, colour: str, shape: str) -> str:
    x, y = _place(dot.x, dot.y)
    look = f'fill="{colour}" fill-opacity="0.75" stroke="{colour}"'
    return f"<g {look}><title>{escape(dot.words)}</title>{mark_shape(shape, x, y)}</g>"


def mark_shape(shape: str, x: float, y: float, r: float = 6) -> str:
    """A mark of about `r` units around (x, y): circle, square, triangle or diamond; colours come from the group around it."""
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}"/>'
    corners = {
        "square": ((-1, -1), (1, -1), (1, 1), (-1, 1)),
        "triangle": ((0, -1.2), (1.1, 0.9), (-1.1, 0.9)),
        "diamond": ((0, -1.3), (1.1, 0), (0, 1.3), (-1.1, 0)),
    }[shape]
    return f'<polygon points="{" ".join(f"{x + a * r:.1f},{y + b * r:.1f}" for a, b in corners)}"/>'


def _legend(colours: dict[str, str], shapes: dict[str, str]) -> list[str]:
    parts, x, y = [], WIDTH - RIGHT + 20, TOP + 12
    for name, colour in colours.items():
        parts.append(
            f'<g fill="{colour}">{mark_shape("circle", x, y - 4)}</g><text x="{x + 14}" y="{y}">{escape(name[:30])}</text>'
        )
        y += 22
    y += 10
    for name, shape in shapes.items():
        parts.append(f'<g fill="#555">{mark_shape(shape, x, y - 4)}</g><text x="{x + 14}" y="{y}">{escape(name[:30])}</text>')
        y += 22
    return parts
