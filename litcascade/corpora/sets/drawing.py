"""A map of records as one self-contained SVG: shape and colour both tell the label, and the counts stand in the legend."""

from collections import defaultdict
from collections.abc import Sequence
from html import escape

from litcascade.corpora.sets.placing import MapPoint, RecordMap
from litcascade.corpora.sets.splitting import unit
from litcascade.schemas.keys import digest, scrubbed

WIDTH, HEIGHT = 900, 640
LEFT, TOP, RIGHT, BOTTOM = 60, 70, 20, 60
DRAWN = 6_000
CELL = 12
TITLE = 88
_ORDER = ("unlabelled", "exclude", "include")
_LOOKS = {  # vermilion and blue of Okabe and Ito's palette, told apart with every kind of colour vision
    "include": 'fill="#D55E00" stroke="#000" stroke-width="0.6"',
    "exclude": 'fill="#0072B2" fill-opacity="0.7"',
    "unlabelled": 'fill="none" stroke="#595959" stroke-width="0.7" stroke-opacity="0.55"',
}
_WORDS = {"include": "included", "exclude": "excluded", "unlabelled": "no label"}
_SHAPES = {
    "include": "M{x} {t}l5 9h-10z",
    "exclude": "M{x} {y}m-2.4 0a2.4 2.4 0 1 0 4.8 0a2.4 2.4 0 1 0-4.8 0",
    "unlabelled": "M{l} {u}h4v4h-4z",
}


def map_svg(points: RecordMap, *, drawn: int = DRAWN) -> str:
    """The map as an SVG text, readable without colour and by a screen reader.

    Included records are all drawn. Where there are more than `drawn` others, they are thinned by place: of each cell of
    12 × 12 pixels as many are drawn as keep the total near `drawn`, but at least one; which ones is set by a hash of
    their ids. The legend says how many of how many.
    """
    places = _scaled(points.points)
    shown, thinned = _thin(points, places, drawn)
    key = digest(scrubbed([points.title, points.stage, points.method, points.seed, len(points.points)]))[:8]
    counts = {label: sum(point.label == label for point in points.points) for label in _ORDER}
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-labelledby="title-{key} desc-{key}" font-family="system-ui, sans-serif" font-size="13">',
        f'<title id="title-{key}">{_safe(points.title)}: map of {len(points.points)} records</title>',
        f'<desc id="desc-{key}">{_safe(_description(points, counts, thinned))}</desc>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        *_frame(points),
        *(_marks(label, [points.points[i] for i in shown[label]], [places[i] for i in shown[label]]) for label in _ORDER),
        *_legend(counts, {label: len(shown[label]) for label in _ORDER}),
        "</svg>",
    ]
    return "\n".join(part for part in parts if part) + "\n"


def _safe(text: str) -> str:
    """Text for XML: signs escaped, characters that XML cannot hold left out."""
    kept = "".join(
        sign for sign in text if sign in "\t\n" or " " <= sign < "\ud800" or "\ue000" <= sign <= "\ufffd" or sign > "\uffff"
    )
    return escape(kept)


def _short(title: str) -> str:
    return title if len(title) <= TITLE else title[: TITLE - 1].rstrip() + "…"


def _scaled(points: Sequence[MapPoint]) -> list[tuple[float, float]]:
    """Places in pixels, y upwards; a map without extent stands in the middle."""
    if not points:
        return []
    xs, ys = [point.x for point in points], [point.y for point in points]
    across, up = (max(xs) - min(xs)) or 0.0, (max(ys) - min(ys)) or 0.0
    wide, high = WIDTH - LEFT - RIGHT - 20, HEIGHT - TOP - BOTTOM - 20
    left, foot = min(xs), min(ys)
    return [
        (
            LEFT + 10 + wide * ((x - left) / across if across else 0.5),
            TOP + 10 + high * (1 - ((y - foot) / up if up else 0.5)),
        )
        for x, y in zip(xs, ys, strict=True)
    ]


def _thin(points: RecordMap, places: list[tuple[float, float]], drawn: int) -> tuple[dict[str, list[int]], bool]:
    """Which points are drawn, by label; and whether some are not."""
    shown: dict[str, list[int]] = {label: [] for label in _ORDER}
    for index, point in enumerate(points.points):
        shown[point.label].append(index)
    others = shown["exclude"] + shown["unlabelled"]
    if len(others) <= drawn:
        return shown, False
    cells: dict[tuple[str, int, int], list[int]] = defaultdict(list)
    for index in others:
        x, y = places[index]
        cells[points.points[index].label, int(x // CELL), int(y // CELL)].append(index)
    share = drawn / len(others)
    kept: dict[str, list[int]] = defaultdict(list)
    for (label, _, _), members in cells.items():
        ranked = sorted(members, key=lambda index: unit(points.points[index].record_id, points.seed))
        kept[label] += ranked[: max(1, round(share * len(members)))]
    return {"include": shown["include"], **{label: sorted(kept[label]) for label in ("exclude", "unlabelled")}}, True


def _description(points: RecordMap, counts: dict[str, int], thinned: bool) -> str:
    told = ", ".join(f"{counts[label]} {_WORDS[label]}" for label in reversed(_ORDER) if counts[label])
    more = [f"Made by {points.method}, seed {points.seed}.", f"Labels at stage {points.stage or 'none'}: {told}."]
    if thinned:
        more.append("All included records are drawn; the others are thinned by place.")
    if points.unplaced:
        more.append(f"{_unplaced(points)} record(s) have neither title nor abstract and no place.")
    return " ".join(more)


def _unplaced(points: RecordMap) -> str:
    """How many records are not shown, and how many of them are included."""
    included = points.unplaced.get("include", 0)
    return f"{sum(points.unplaced.values())}" + (f" ({included} of them included)" if included else "")


def _frame(points: RecordMap) -> list[str]:
    middle, low = (LEFT + WIDTH - RIGHT) / 2, HEIGHT - BOTTOM
    upright = (TOP + low) / 2
    subtitle = f"{points.method}; labels: {points.stage.replace('_', ' ') or 'none'}"
    if points.unplaced:
        subtitle += f"; not shown, being without text: {_unplaced(points)}"
    return [
        f'<text x="{LEFT}" y="24" font-size="16" font-weight="600">{_safe(_short(points.title))}</text>',
        f'<text x="{LEFT}" y="44">{_safe(subtitle)}</text>',
        f'<rect x="{LEFT}" y="{TOP}" width="{WIDTH - LEFT - RIGHT}" height="{low - TOP}" fill="none" stroke="#767676"/>',
        f'<text x="{middle:.0f}" y="{low + 22}" text-anchor="middle">{_safe(points.axes[0])}</text>',
        f'<text transform="translate({LEFT - 18} {upright:.0f}) rotate(-90)" text-anchor="middle">{_safe(points.axes[1])}</text>',
    ]


def _marks(label: str, points: Sequence[MapPoint], places: Sequence[tuple[float, float]]) -> str:
    """One group a label; included records carry their id, so that a pointer can ask for it."""
    if not points:
        return ""
    look = _LOOKS[label]
    if label != "include":
        return f'<path class="{label}" {look} d="{"".join(_shape(label, x, y) for x, y in places)}"/>'
    marks = [
        f'<path d="{_shape(label, x, y)}"><title>{_safe(point.record_id)}</title></path>'
        for point, (x, y) in zip(points, places, strict=True)
    ]
    return f'<g class="{label}" {look}>{"".join(marks)}</g>'


def _shape(label: str, x: float, y: float) -> str:
    return _SHAPES[label].format(x=f"{x:.1f}", y=f"{y:.1f}", t=f"{y - 6:.1f}", l=f"{x - 2:.1f}", u=f"{y - 2:.1f}")


def _legend(counts: dict[str, int], shown: dict[str, int]) -> list[str]:
    parts: list[str] = []
    across, down = float(LEFT), HEIGHT - 14
    for label in reversed(_ORDER):
        if not counts[label]:
            continue
        words = f"{_WORDS[label]}: {counts[label]:,}"
        if shown[label] < counts[label]:
            words += f" ({shown[label]:,} drawn)"
        parts.append(f'<path {_LOOKS[label]} d="{_shape(label, across + 6, down - 5)}"/>')
        parts.append(f'<text x="{across + 18:.0f}" y="{down}">{words}</text>')
        across += 40 + 8 * len(words)
    return parts
