"""Where a quote stands: exact after folding, on borders of words and numbers, with places in the original text."""

import re
from bisect import bisect_left, bisect_right
from functools import cached_property
from itertools import pairwise

from litcascade.schemas import Frozen
from litcascade.stages.grounding.borders import whole
from litcascade.stages.grounding.fold import fold
from litcascade.stages.grounding.sentences import sentence_borders
from litcascade.stages.grounding.words import languages

PARTS_LIMIT = 4
WINDOW = 400
SENTENCE_LIMIT = 2000
_ELLIPSIS = re.compile(r" ?[\[(] ?\.\.\.+ ?[\])] ?| ?\.(?: ?\.){2,} ?")
_DECIMAL_COMMA = re.compile(r"(?<![\d,.])\d+,(?:\d{1,2}|\d{4,})(?![\d,]|\.\d)")
_DECIMAL_POINT = re.compile(r"(?<![\d,.])\d+\.(?:\d{1,2}|\d{4,})(?![\d.]|,\d)")


class Span(Frozen):
    """A stretch of the original text, from `start` up to but not including `end`.

    A quote with ellipses has its parts as (start, end) pairs in `parts`; for any other quote `parts` is empty.
    """

    start: int
    end: int
    parts: tuple[tuple[int, int], ...] = ()

    def pieces(self) -> tuple[tuple[int, int], ...]:
        """The quoted stretches: the parts, or the whole span."""
        return self.parts or ((self.start, self.end),)


class Found(Frozen):
    """All places where a quote stands, in the order of the text; none where it does not."""

    quote: str
    spans: tuple[Span, ...]

    def __bool__(self) -> bool:
        return bool(self.spans)


class TextIndex:
    """A text folded once, to look up many quotes in it; building is O(n), a look-up a plain search."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.folded, self.starts, self.ends = fold(text)

    def find(self, quote: str) -> tuple[Span, ...]:
        """All places of the quote, none for an empty one.

        A quote with up to three ellipses is looked up as it is, then in parts: each of two words or eight characters at
        least, in order, each beginning at most 400 folded characters behind the end of the one before.
        """
        folded = fold(quote).text
        found = [self.span(begin, end) for begin, end in self._occurrences(trimmed(folded))]
        if found:
            return tuple(found)
        parts = [trimmed(part) for part in _ELLIPSIS.split(trimmed(folded))]
        if not 2 <= len(parts) <= PARTS_LIMIT or any(len(part.split()) < 2 and len(part) < 8 for part in parts):
            return ()
        return tuple(self._chains(parts))

    def span(self, begin: int, end: int) -> Span:
        """The original place of a folded stretch that is not empty."""
        return Span(start=self.starts[begin], end=self.ends[end - 1])

    def folded_place(self, start: int, end: int) -> tuple[int, int]:
        """The folded stretch that came from the original one."""
        return bisect_left(self.starts, start), bisect_left(self.starts, end)

    def sentences(self, span: Span) -> tuple[tuple[int, int], ...]:
        """The folded stretches of the sentences that a span lies in, cut off 2,000 characters from it; a table's row is one."""
        borders = self._borders
        first = bisect_right(borders, span.start) - 1
        last = max(first + 1, bisect_left(borders, span.end))
        cuts = [bisect_left(self.starts, place) for place in borders[first : last + 1]]
        place = self.folded_place(span.start, span.end)
        cuts = [self._near(cut, place) for cut in cuts]
        return tuple((begin, end) for begin, end in pairwise(cuts) if begin < end)

    def _near(self, cut: int, place: tuple[int, int]) -> int:
        """A border, or the blank at most 2,000 characters from the place where it lies further off."""
        if place[0] - cut > SENTENCE_LIMIT:
            return self.folded.find(" ", place[0] - SENTENCE_LIMIT, place[0]) + 1 or place[0]
        if cut - place[1] > SENTENCE_LIMIT:
            return max(place[1], self.folded.rfind(" ", place[1], place[1] + SENTENCE_LIMIT))
        return cut

    @cached_property
    def decimal_comma(self) -> bool:
        """Whether the text plainly writes decimals with a comma: three times as often as with a point, and five times."""
        commas = sum(1 for _ in _DECIMAL_COMMA.finditer(self.folded))
        return commas >= 5 and commas > 3 * sum(1 for _ in _DECIMAL_POINT.finditer(self.folded))

    @cached_property
    def languages(self) -> tuple[str, ...]:
        """The languages whose negations count in the text; English is always one."""
        return languages(self.folded)

    @cached_property
    def _borders(self) -> list[int]:
        return sentence_borders(self.text)

    def _occurrences(self, wanted: str, begin: int = 0, stop: int | None = None) -> list[tuple[int, int]]:
        found = []
        place = self.folded.find(wanted, begin, stop) if wanted else -1
        while place != -1:
            if whole(self.folded, place, place + len(wanted)):
                found.append((place, place + len(wanted)))
            place = self.folded.find(wanted, place + 1, stop)
        return found

    def _chains(self, parts: list[str]) -> list[Span]:
        """The first chain of parts from every place of the first part."""
        found = []
        for first in self._occurrences(parts[0]):
            chain = self._follow([first], parts[1:])
            if chain:
                pieces = tuple((self.starts[begin], self.ends[end - 1]) for begin, end in chain)
                found.append(Span(start=pieces[0][0], end=pieces[-1][1], parts=pieces))
        return found

    def _follow(self, chain: list[tuple[int, int]], rest: list[str]) -> list[tuple[int, int]] | None:
        if not rest:
            return chain
        behind = chain[-1][1]
        for place in self._occurrences(rest[0], behind, behind + WINDOW + len(rest[0])):
            longer = self._follow([*chain, place], rest[1:])
            if longer:
                return longer
        return None


def locate(quote: str, text: str) -> Found:
    """All places of one quote in one text; for many quotes of one text build a `TextIndex` once."""
    return Found(quote=quote, spans=TextIndex(text).find(quote))


def trimmed(folded: str) -> str:
    """A folded quote without the quotation marks, points and commas around it, which are often the quoter's own."""
    core = folded.rstrip(" .,;:'").lstrip(" ,;:'")
    return core if re.match(r"\.\d", core) else core.lstrip(" .")
