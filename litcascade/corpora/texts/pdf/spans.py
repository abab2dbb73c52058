"""Runs of text on a page of a PDF, with place, size and font."""

import math
import re
from dataclasses import dataclass, field

from litcascade.corpora.texts.pdf import objects as pdf_objects
from litcascade.corpora.texts.pdf import raw as pdf_raw
from litcascade.corpora.texts.pdf.raw import Box

HYPHEN = "\x02"
NAMELESS_SHARE = 0.3
_BOLD = re.compile(r"bold|black|heavy|demi|medi(um)?\b|[-,.]bd?\b|cmbx|sfbx|-b$|\.b$", re.IGNORECASE)
_ITALIC = re.compile(r"ital|obli|[-.,]it?$|cmti|sfti", re.IGNORECASE)
_ZERO_WIDTH = re.compile("[\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff\U000e0000-\U000e007f]")
_JOINERS = re.compile("(?<=[\\w])[\u200c\u200d](?=[\\w])|([\u200c\u200d])")
_SIGNS = str.maketrans(
    {
        "ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st",
        "\uf0b7": "•", "\uf0a7": "•", "\ufffe": HYPHEN,
        **dict.fromkeys("\t\r\n\x0b\x0c\xa0\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\uf020", " "),
        "\0": "\ufffd",
        **{chr(code): None for code in (1, *range(3, 9), *range(14, 32), 127)},
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Face:
    """A font of the file, as far as headings are told by it."""

    name: str = ""
    bold: bool = False
    italic: bool = False


@dataclass(frozen=True, slots=True)
class Span:
    """A run of characters of one text object; lengths in points.

    `x0`, `x1` and the baseline `y` are turned so that reading goes to the right; `box` is as the page has it.
    `blank` says whether a blank stands before it; `turn` counts quarter turns, 4 is askew; `why` says why it cannot be seen.
    """

    text: str
    blank: bool
    x0: float
    x1: float
    y: float
    size: float
    face: Face
    turn: int
    box: Box
    first: int
    last: int
    item: int
    why: str = ""


@dataclass
class Runs:
    """The characters of an open page, and the spans they make.

    `nameless` characters have no meaning in the file; they read `\ufffd`, unless nearly all are such and read well: `doubtful`.
    """

    text_page: int
    signs: list[str]
    owners: list[int]
    nameless: int = 0
    doubtful: int = 0
    faces: dict[int, Face] = field(default_factory=dict)

    @classmethod
    def of(cls, text_page: int) -> "Runs":
        """Read all characters of a page."""
        signs = pdf_raw.characters(text_page)
        owners, nameless = pdf_raw.owners(text_page, len(signs)), pdf_raw.nameless(text_page, len(signs))
        if len(nameless) > NAMELESS_SHARE * len(signs) and _reads_well([signs[index] for index in nameless]):
            return cls(text_page, signs, owners, doubtful=len(nameless))
        for index in nameless:
            signs[index] = "\0"
        return cls(text_page, signs, owners, nameless=signs.count("\0"))

    def spans(self) -> list[Span]:
        """All runs with something in them, in pdfium's order."""
        found, blank, begin, count = [], False, 0, len(self.signs)
        while begin < count:
            end, owner = begin + 1, self.owners[begin]
            while end < count and self.owners[end] == owner:
                end += 1
            span = self.span(begin, end, blank) if owner else None
            if span:
                found.append(span)
                blank = self.signs[end - 1].isspace()
            else:
                blank = True
            begin = end
        return found

    def span(self, begin: int, end: int, blank: bool) -> Span | None:
        """The span of characters `begin` to `end` (behind the last one); None where they are all blank."""
        signs = self.signs
        blank = blank or signs[begin].isspace()
        while begin < end and signs[begin].isspace():
            begin += 1
        last = end
        while last > begin and signs[last - 1].isspace():
            last -= 1
        text = clean("".join(signs[begin:last]))
        if not text:
            return None
        a, b, c, d, _, _ = pdf_raw.char_matrix(self.text_page, begin)
        left, bottom, right, top = _union(pdf_raw.char_box(self.text_page, begin), pdf_raw.char_box(self.text_page, last - 1))
        x, y = pdf_raw.origin(self.text_page, begin)
        turn = _turn(a, b)
        size = pdf_raw.font_size(self.text_page, begin) * math.hypot(c, d)
        starts = {1: (y, top, -x), 2: (-x, -left, -y), 3: (-y, -bottom, x)}
        x0, x1, base = starts.get(turn, (x, right, y))
        item = self.owners[begin]
        box = (left, bottom, right, top)
        return Span(text, blank, x0, max(x1, x0), base, size, self._face(item), turn, box, begin, last, item)

    def _face(self, item: int) -> Face:
        font = pdf_objects.font_of(item)
        if font not in self.faces:
            name = pdf_objects.font_name(font).partition("+")[2] or pdf_objects.font_name(font)
            bold = bool(_BOLD.search(name)) or pdf_objects.font_weight(font) >= 650
            self.faces[font] = Face(name, bold, bool(_ITALIC.search(name)))
        return self.faces[font]


def clean(text: str) -> str:
    """Characters as they are read: ligatures apart, blanks plain, nothing of no width; a hyphen at the end is `HYPHEN`."""
    if text.isascii() and text.isprintable():
        return text
    ends = text[-1] in (HYPHEN, "\ufffe", "\xad")
    text = _JOINERS.sub(lambda hit: "" if hit[1] else hit[0], _ZERO_WIDTH.sub("", text)).translate(_SIGNS)
    text = text.replace("\xad", "").replace(HYPHEN, "-")
    text = " ".join(text.split())
    return (text.removesuffix("-") if text else "") + HYPHEN if ends else text


def _reads_well(signs: list[str]) -> bool:
    """Whether numbers of glyphs happen to spell words: mostly letters, and as many vowels as words have."""
    letters = [sign for sign in signs if sign.isascii() and sign.isalpha()]
    vowels = sum(sign in "aeiouAEIOU" for sign in letters)
    return len(letters) >= 0.6 * len(signs) and 0.2 * len(letters) <= vowels <= 0.6 * len(letters)


def zero_width(signs: list[str]) -> int:
    """How many characters take no place: marks of direction, joiners that join nothing, tags."""
    text = "".join(signs)
    return 0 if text.isascii() else len(_ZERO_WIDTH.findall(text)) + sum(1 for hit in _JOINERS.finditer(text) if hit[1])


def _turn(a: float, b: float) -> int:
    if abs(b) <= 0.15 * abs(a):
        return 0 if a >= 0 else 2
    if abs(a) <= 0.15 * abs(b):
        return 1 if b > 0 else 3
    return 4


def _union(one: Box, other: Box) -> Box:
    return min(one[0], other[0]), min(one[1], other[1]), max(one[2], other[2]), max(one[3], other[3])
