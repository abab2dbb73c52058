"""Text put together line by line with the places where pages begin, and sections made of such text."""

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from litcascade.schemas import Section
from litcascade.schemas.document import SectionKind

_UNSEEN = dict.fromkeys(map(ord, "\u00ad\u200b\u2060\u2061\u2062\u2063\ufeff"))
_DIGITS = str.maketrans("0123456789+=()−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁼⁽⁾⁻")
_MARKS = dict(zip("abcdefghijklmnoprstuvwxyz", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ", strict=True))
_MARK = re.compile(r"(?<![^\W\d_])[a-pr-z](?![^\W\d_])")
_SIGN = re.compile(r"(?:^|(?<=⁽))[-–](?=[⁰¹²³⁴⁵⁶⁷⁸⁹.]|$)")


def raised(words: str) -> str:
    """Digits, signs and single letters as raised characters, so that ten to the third is no 103; words stay as they are."""
    return _SIGN.sub("⁻", _MARK.sub(lambda found: _MARKS[found.group()], words).translate(_DIGITS))


class Flow:
    """Text as it is met: blanks folded to one, nothing at the ends of lines; soft hyphens and other unseen signs left out."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._due = 0
        self._gap = False
        self._line = False
        self._held = False
        self.length = 0
        self.pages: list[tuple[int, int]] = []

    def add(self, words: str | None) -> None:
        """Add words to the line; blanks at either end of them count."""
        if not words:
            return
        if not words.isascii():
            words = words.translate(_UNSEEN)
        folded = " ".join(words.split())
        if not folded:
            self._gap = self._gap or bool(words)
            return
        between = "\n" if self._line else " " if self._gap or words[0].isspace() else ""
        between = between if self.length else ""
        if self._due:
            self._mark(self.length + len(between), self._due)
            self._due = 0
        self._parts.append(between + folded)
        self._starts.append(self.length)
        self.length += len(between) + len(folded)
        self._line, self._held, self._gap = False, False, words[-1].isspace()

    def end_line(self) -> None:
        """What comes next begins a line."""
        if not self._held:
            self._line, self._gap = True, False

    def run_in(self, heading: str) -> None:
        """A heading at the start of a line that goes on with what comes next, whatever that is."""
        self.end_line()
        self.add(heading if heading[-1:] in ".:?!" else f"{heading}:")
        self._held = self._gap = True

    def part_after(self, signs: str) -> None:
        """A blank before what comes next where the text so far ends with one of these signs."""
        self._gap = self._gap or (bool(self._parts) and self._parts[-1][-1] in signs)

    def turn(self, page: int) -> None:
        """What comes next stands on that page."""
        self._due = page

    def guess_turn(self, offset: int, page: int) -> None:
        """Note that a page begins near an offset of the text there is: at the next word, unless an earlier place is known."""
        if (self.pages and self.pages[-1][1] >= page) or not 0 <= offset < self.length:
            return
        at = bisect_right(self._starts, offset) - 1
        start, part = self._starts[at], self._parts[at]
        blank = part.find(" ", offset - start)
        turn = start + (blank if blank >= 0 else len(part)) + 1
        if turn < self.length:
            self._mark(turn, page)

    def text(self) -> str:
        """All lines."""
        return "".join(self._parts)

    def _mark(self, offset: int, page: int) -> None:
        at = bisect_right(self.pages, (offset, page))
        if at == 0 or self.pages[at - 1][1] < page:
            self.pages.insert(at, (offset, page))


@dataclass
class _Draft:
    heading: str | None
    level: int
    kind: SectionKind
    flow: Flow = field(default_factory=Flow)
    page: int | None = None

    def sealed(self) -> Section | None:
        """The section, or None where it holds neither heading nor text."""
        text = self.flow.text()
        if not text and not self.heading:
            return None
        pages, page = list(self.flow.pages), self.page
        if pages and (pages[0][0] == 0 or page == pages[0][1]):
            page = page or pages[0][1]
            pages = [turn for turn in pages if turn[1] > page]
        return Section(heading=self.heading, text=text, page=page, level=self.level, kind=self.kind, pages=tuple(pages))


class Outline:
    """Sections in the order of reading; text that follows a deeper section goes on without a heading of its own."""

    def __init__(self) -> None:
        self._done: list[Section] = []
        self._open = _Draft(None, 1, "body")

    @property
    def flow(self) -> Flow:
        """The text of the section that is open."""
        return self._open.flow

    @property
    def place(self) -> tuple[int, SectionKind]:
        """Level and kind of the section that is open."""
        return self._open.level, self._open.kind

    @property
    def begun(self) -> bool:
        """Whether there is any text yet."""
        return bool(self._done) or self._open.flow.length > 0

    def start(self, heading: str | None, level: int, kind: SectionKind = "body", page: int | None = None) -> None:
        """Begin a section; level 1 is the highest."""
        self._seal()
        self._open = _Draft(heading or None, max(1, level), kind, page=page)

    def finish(self) -> tuple[Section, ...]:
        """All sections; one without a page of its own has that of its neighbours where both are the same."""
        self._seal()
        self._open = _Draft(None, 1, "body")
        return tuple(_paged(self._done))

    def _seal(self) -> None:
        section = self._open.sealed()
        if section:
            self._done.append(section)


def _paged(sections: list[Section]) -> list[Section]:
    """Sections with their page filled in where the last page known before and the first one known after are the same."""
    after: list[int | None] = []
    coming: int | None = None
    for section in reversed(sections):
        first = section.page or (section.pages[0][1] if section.pages else None)
        coming = first or coming
        after.append(coming)
    last: int | None = 1
    filled = []
    for section, following in zip(sections, reversed(after), strict=True):
        if section.page is None and following is not None and following == last:
            kept = tuple(turn for turn in section.pages if turn[1] > following)
            section = section.model_copy(update={"page": following, "pages": kept})
        filled.append(section)
        last = section.pages[-1][1] if section.pages else section.page or last
    return filled
