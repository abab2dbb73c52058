"""A part of a PDF page drawn as a picture, and whether a word on it can be seen."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from litcascade.corpora.texts.pdf import raw as pdf_raw
from litcascade.corpora.texts.pdf.raw import Box

Picture = NDArray[np.uint8]
_CONTRAST, _GROUND_SHARE = 16, 0.2
_SCALE, _PIXELS = 2.0, 4e6
_FINE = 64


@dataclass(frozen=True)
class Drawing:
    """How a part of a page is drawn: `cut` are the pixels left out on the left, below, on the right and above.

    `turn` gives the pixel (across, down) of a point of the page as `x0 + a*x + c*y`, `y0 + b*x + d*y`, so that a page that is
    turned or cropped needs no further thought.
    """

    page: Any
    scale: float
    cut: tuple[int, int, int, int]
    turn: tuple[float, float, float, float, float, float]

    @classmethod
    def around(cls, page: Any, boxes: Sequence[Box]) -> "Drawing":
        """The smallest drawing that holds all these boxes, as fine as the limit of pixels allows."""
        width, height = page.get_size()
        across, down = _turn(page, width, height, 1.0).spread(boxes, width, height)
        scale = min(_SCALE, (_PIXELS / max((across[1] - across[0]) * (down[1] - down[0]), 1.0)) ** 0.5)
        drawing = _turn(page, width, height, scale)
        wide, high = np.ceil(width * scale), np.ceil(height * scale)
        across, down = drawing.spread(boxes, wide, high)
        cut = (int(across[0]), int(high - down[1]), int(wide - across[1]), int(down[0]))
        return cls(page, scale, cut, drawing.turn)

    def draw(self) -> Picture:
        """Draw it without notes and fields, as rows of pixels of four bytes."""
        cut = tuple(max(side - 0.5, 0.0) / self.scale for side in self.cut)
        drawn = self.page.render(scale=self.scale, crop=cut, may_draw_forms=False, draw_annots=False, prefer_bgrx=True)
        return np.array(drawn.to_numpy(), dtype=np.uint8, copy=True)

    def seen(
        self, whole: Picture, without: Picture, ground: Picture, colour: tuple[int, int, int] | None
    ) -> Callable[[Box], bool]:
        """Whether text of a colour can be seen inside a box of the page, by drawings with it, without it, without any."""
        ink = None if colour is None else np.array([*colour[::-1], 255], dtype=np.uint8)

        def is_seen(box: Box) -> bool:
            left, top, right, bottom = self._pixels(box)
            rows = slice(max(top - self.cut[3], 0), max(bottom - self.cut[3], 0))
            columns = slice(max(left - self.cut[0], 0), max(right - self.cut[0], 0))
            if not _differ(whole[rows, columns], without[rows, columns]).any():
                return False
            return ink is None or bool(_differ(ground[rows, columns], ink).mean() >= _GROUND_SHARE)

        return is_seen

    def _pixels(self, box: Box) -> tuple[int, int, int, int]:
        x0, y0, a, b, c, d = self.turn
        corners = [(x0 + a * x + c * y, y0 + b * x + d * y) for x in box[::2] for y in box[1::2]]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        return int(min(xs)), int(min(ys)), int(max(xs)) + 1, int(max(ys)) + 1

    def spread(self, boxes: Sequence[Box], wide: float, high: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """(Least and greatest pixel across, the same down) of all boxes with a margin, within the page."""
        pixels = [self._pixels(box) for box in boxes]
        left, right = min(box[0] for box in pixels) - 2, max(box[2] for box in pixels) + 2
        top, bottom = min(box[1] for box in pixels) - 2, max(box[3] for box in pixels) + 2
        across = (min(max(left, 0), wide - 1), max(min(right, wide), 1))
        return across, (min(max(top, 0), high - 1), max(min(bottom, high), 1))


def _differ(one: Picture, other: Picture) -> NDArray[np.bool_]:
    """Which pixels differ in any of blue, green and red."""
    one, other = one[..., :3], other[..., :3]
    return np.asarray((np.maximum(one, other) - np.minimum(one, other) > _CONTRAST).any(axis=-1))


def _turn(page: Any, width: float, height: float, scale: float) -> Drawing:
    size = round(np.ceil(width * scale)) * _FINE, round(np.ceil(height * scale)) * _FINE
    points = [pdf_raw.api().page_to_device(page, *size, x, y) for x, y in ((0, 0), (1000, 0), (0, 1000))]
    (x0, y0), (x1, y1), (x2, y2) = [(x / _FINE, y / _FINE) for x, y in points]
    return Drawing(page, scale, (0, 0, 0, 0), (x0, y0, (x1 - x0) / 1000, (y1 - y0) / 1000, (x2 - x0) / 1000, (y2 - y0) / 1000))
