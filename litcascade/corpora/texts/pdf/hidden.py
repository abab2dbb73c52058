"""Which runs of a PDF page a reader cannot see: told from how they are drawn, and where that is not sure by drawing the page."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from litcascade.corpora.texts.pdf import objects as pdf_objects
from litcascade.corpora.texts.pdf import raw as pdf_raw
from litcascade.corpora.texts.pdf.drawing import Drawing, Picture
from litcascade.corpora.texts.pdf.objects import PATH, TEXT, Thing
from litcascade.corpora.texts.pdf.raw import Box
from litcascade.corpora.texts.pdf.spans import Runs, Span

INVISIBLE = "invisible by its rendering mode"
UNSEEN = "without contrast to what it stands on, covered, clipped or on a layer that is off"
TINY = "smaller than 1.5 points"
OUTSIDE = "outside the page"
CROWDED = "longer than what is drawn in its place"
VEILED = (INVISIBLE, UNSEEN)
SMALLEST = 1.5
_NARROWEST = 0.13
_LONGEST_WORD = 24
_NEAR = 64
_WHITE = (255, 255, 255)
Colour = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class _Ink:
    """How one text object is drawn: where it stands in the order of drawing, and whether that alone makes it doubtful."""

    colour: Colour | None
    order: int
    doubtful: bool
    clip: Box | None


class Scan:
    """Looks through one open page; `things` is None where it holds too many objects to go through."""

    def __init__(self, page: Any, runs: Runs, things: list[Thing] | None, box: Box, layers: bool) -> None:
        self.page, self.runs, self.things, self.box, self.layers = page, runs, things, box, layers
        self.places = {thing.item: thing for thing in things or ()}
        self.grounds = [(thing, _fill(thing)) for thing in things or () if pdf_objects.is_area(thing)]
        self.inks: dict[int, _Ink] = {}

    def sorted_out(self, spans: list[Span]) -> list[Span]:
        """The spans in their order, those that cannot be seen with the reason; one seen in part is parted by its words."""
        found = [part for span in spans for part in self._told(span)]
        doubtful = [index for index, span in enumerate(found) if not span.why and self._is_doubtful(span)]
        if not doubtful:
            return found
        parted = dict(zip(doubtful, self._looked_at([found[index] for index in doubtful]), strict=True))
        return _without_doubles([part for index, span in enumerate(found) for part in parted.get(index, [span])])

    def _told(self, span: Span) -> list[Span]:
        """What needs no drawing: rendering mode, size, place."""
        if pdf_objects.text_mode(span.item) in (3, 7):
            return [replace(span, why=INVISIBLE)]
        if span.size < SMALLEST:
            return [replace(span, why=TINY)]
        if _crowded(span, span.box) and _crowded(span, _around([box for _, _, box, _ in self._words(span)])):
            return [replace(span, why=CROWDED)]
        if _inside(span.box, self.box):
            return [span]
        if not _meets(span.box, self.box):
            return [replace(span, why=OUTSIDE)]
        return list(self._parted(span, lambda box: _meets(box, self.box), OUTSIDE))

    def _is_doubtful(self, span: Span) -> bool:
        ink = self.inks.get(span.item) or self._ink(span)
        if ink.doubtful or self.things is None or (ink.clip and not _inside(span.box, ink.clip, 2.0)):
            return True
        for ground, colour in self.grounds:
            if _meets(span.box, ground.box) and (
                ground.order > ink.order or colour is None or ink.colour is None or _near(colour, ink.colour)
            ):
                return True
        return False

    def _ink(self, span: Span) -> _Ink:
        item, thing = span.item, self.places.get(span.item)
        fill = pdf_objects.fill_colour(item)
        left, bottom, right, top = span.box
        doubtful = (
            thing is None
            or thing.nested
            or fill is None
            or fill[3] < 200
            or _near(fill[:3], _WHITE)
            or pdf_objects.text_mode(item) not in (0, 2)
            or pdf_objects.is_transparent(item)
            or not span.face.name
            or (right - left < 0.05 or top - bottom < 0.05)
            or (self.layers and "OC" in pdf_objects.mark_names(item))
        )
        clip = None if doubtful else pdf_objects.clip_box(item)
        self.inks[item] = _Ink(fill[:3] if fill else None, thing.order if thing else 0, doubtful, clip)
        return self.inks[item]

    def _looked_at(self, spans: list[Span]) -> list[list[Span]]:
        """Each span in its seen and unseen parts.

        A word is seen where the page around it, drawn with and without all text of its colour, differs, and where it has not the
        colour of the ground that is left without any text (white on white also hides the words it is laid over).
        """
        drawing = Drawing.around(self.page, [span.box for span in spans])
        whole, ground = drawing.draw(), self._drawn_without(drawing, lambda _: True)
        looks: dict[Colour | None, Callable[[Box], bool]] = {}
        found = []
        for span in spans:
            colour = self.inks[span.item].colour
            if colour not in looks:
                without = self._drawn_without(drawing, lambda other, own=colour: other == own)  # type: ignore[misc]
                looks[colour] = drawing.seen(whole, without, ground, colour)
            found.append(list(self._parted(span, looks[colour], UNSEEN)))
        return found

    def _drawn_without(self, drawing: Drawing, which: Callable[[Colour | None], bool]) -> Picture:
        items = [item for item, ink in self.inks.items() if which(ink.colour)]
        items += [thing.item for thing in self.things or () if thing.kind == TEXT and which(_fill(thing))]
        for item in items:
            pdf_objects.set_active(item, False)
        try:
            return drawing.draw()
        finally:
            for item in items:
                pdf_objects.set_active(item, True)

    def _parted(self, span: Span, seen: Callable[[Box], bool], why: str) -> Iterator[Span]:
        """A span parted where its words go from seen to unseen; signs alone go with the word before them."""
        words = list(self._words(span))
        states: list[bool] = []
        for _, _, box, is_word in words:
            states.append(seen(box) if is_word or not states else states[-1])
        begin = 0
        for index in range(1, len(words) + 1):
            if index == len(words) or states[index] != states[begin]:
                first, last = words[begin][0], words[index - 1][1]
                part = span if last - first == span.last - span.first else self.runs.span(first, last, begin > 0 or span.blank)
                if part:
                    yield part if states[begin] else replace(part, why=why)
                begin = index

    def _words(self, span: Span) -> Iterator[tuple[int, int, Box, bool]]:
        """(First character, one behind the last, box, whether it holds letters or digits) of every word, long ones in pieces."""
        signs, begin = self.runs.signs, span.first
        while begin < span.last:
            end = begin
            while end < min(span.last, begin + _LONGEST_WORD) and not signs[end].isspace():
                end += 1
            if end > begin:
                boxes = [pdf_raw.char_box(self.runs.text_page, index) for index in range(begin, end)]
                yield begin, end, _around(boxes), any(sign.isalnum() for sign in signs[begin:end])
            begin = max(end, begin + 1)


def _around(boxes: Sequence[Box]) -> Box:
    lefts, bottoms, rights, tops = zip(*boxes, strict=True)
    return min(lefts), min(bottoms), max(rights), max(tops)


def _crowded(span: Span, box: Box) -> bool:
    """Whether words are far longer than their place, so that something else must be drawn there, or they squeezed to a line."""
    left, bottom, right, top = box
    drawn = top - bottom if span.turn in (1, 3) else right - left
    words = len(span.text) >= 8 and len(set(span.text)) >= 5 and span.turn != 4
    return words and drawn < _NARROWEST * span.size * len(span.text)


def _without_doubles(spans: list[Span]) -> list[Span]:
    """The spans without those that are covered by the same words: letters drawn twice to look bold."""
    unseen = [span for span in spans if span.why == UNSEEN]
    if not unseen:
        return spans
    seen = [span for span in spans if not span.why]
    doubles = {id(span) for span in unseen if any(_same_words(span, other) for other in seen)}
    return [span for span in spans if id(span) not in doubles]


def _same_words(span: Span, other: Span) -> bool:
    return _inside(span.box, other.box, 0.3 * span.size) and span.text.strip() in other.text


def _fill(thing: Thing) -> Colour | None:
    if thing.kind not in (PATH, TEXT):
        return None
    colour = pdf_objects.fill_colour(thing.item)
    return colour[:3] if colour else None


@lru_cache(maxsize=1024)
def _near(one: Colour, other: Colour) -> bool:
    return max(abs(a - b) for a, b in zip(one, other, strict=True)) < _NEAR


def _meets(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _inside(one: Box, other: Box, slack: float = 0.0) -> bool:
    left, bottom, right, top = one
    return left >= other[0] - slack and bottom >= other[1] - slack and right <= other[2] + slack and top <= other[3] + slack
