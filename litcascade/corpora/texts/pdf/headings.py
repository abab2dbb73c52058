"""Headings in a PDF, told by size, weight, number and well-known names, and their levels."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import replace

from litcascade.corpora.texts.pdf.lines import Line
from litcascade.corpora.texts.pdf.names import depth_of, known_name, unnumbered
from litcascade.corpora.texts.pdf.paragraphs import Paragraph, Style

_LONGEST, _MOST_WORDS = 140, 18
_NO_HEADING = re.compile(r"[,;]$|\b[nN] ?= ?\d|[.:]\d|[@=]")
_Looks = tuple[float, bool, bool, bool, str]


def with_headings(parts: Sequence[Paragraph], style: Style) -> list[Paragraph]:
    """The paragraphs with those that are headings marked; a heading stands before prose, or before another heading."""
    likely = [part.kind == "text" and _looks_like_one(part, style) for part in parts]
    found: list[Paragraph] = []
    for index, part in enumerate(parts):
        mark = likely[index] and (known_name(part.first.text) is not None or _heads_something(parts, likely, index, style))
        found.append(replace(part, kind="heading") if mark else part)
    return found


def _looks_like_one(part: Paragraph, style: Style) -> bool:
    text = " ".join(line.text for line in part.lines)
    bare = unnumbered(text)
    if known_name(text) and len(part.lines) == 1:
        return True
    if (
        len(part.lines) > 3
        or len(text) > _LONGEST
        or len(text.split()) > _MOST_WORDS
        or any(len(line.cells) > 1 for line in part.lines)
    ):
        return False
    letters = sum(sign.isalpha() for sign in bare)
    if letters < max(3, 0.5 * len(bare.replace(" ", ""))) or _NO_HEADING.search(bare):
        return False
    if bare.endswith(".") and not (part.first.bold and not style.face.bold and len(part.lines) == 1):
        return False
    return not bare[0].islower() and _stands_out(part, style, text != bare)


def _stands_out(part: Paragraph, style: Style, numbered: bool) -> bool:
    line = part.first
    if line.size < 0.92 * style.size:
        return False
    larger = line.size >= style.size + 0.5
    bold = line.bold and not style.face.bold
    other = line.face != style.face and abs(line.size - style.size) <= 1.2 and line.face not in _faces(part, style)
    capitals = line.text.isupper() and len(line.text) > 4
    return larger or bold or capitals or (other and (numbered or line.italic or len(part.lines) == 1))


def _faces(part: Paragraph, style: Style) -> set[object]:
    return {style.face} if len({span.face for span in part.first.spans}) > 1 else set()


def _heads_something(parts: Sequence[Paragraph], likely: Sequence[bool], index: int, style: Style) -> bool:
    """Whether the next paragraph that is no heading, float or note is prose."""
    for later, part in enumerate(parts[index + 1 : index + 8], start=index + 1):
        if part.kind == "rows":
            return False
        if part.kind in ("caption", "footnote"):
            continue
        if not likely[later]:
            prose = len(part.lines) > 1 or len(part.first.text) > 40
            return prose and (style.is_body(part.first) or abs(part.first.size - style.size) < 2.5)
    return False


def level_numbers(parts: Sequence[Paragraph]) -> dict[int, int]:
    """Level (1: highest) of every heading by its place among the paragraphs: its number's depth, else its looks' rank."""
    headings = [(index, part) for index, part in enumerate(parts) if part.kind == "heading"]
    looks: dict[int, _Looks] = {index: _looks(part.first) for index, part in headings}
    mains = Counter(looks[index] for index, part in headings if known_name(part.first.text))
    numbered: dict[object, Counter[int]] = defaultdict(Counter)
    levels: dict[int, int] = {}
    for index, part in headings:
        depth = depth_of(part.first.text)
        if depth:
            levels[index] = depth
            numbered[looks[index]][depth] += 1
    ranks = _ranked(set(looks.values()), mains.most_common(1)[0][0] if mains else None)
    for index, part in headings:
        if index not in levels:
            usual = numbered.get(looks[index])
            rank = usual.most_common(1)[0][0] if usual else ranks[looks[index]]
            levels[index] = 1 if known_name(part.first.text) in _TOP else rank
    return levels


_TOP = frozenset(
    {"abstract", "introduction", "references", "acknowledgements", "acknowledgments", "discussion", "methods", "results"}
)


def _looks(line: Line) -> _Looks:
    return round(line.size * 2) / 2, line.bold, line.text.isupper(), not line.italic, line.face.name


def _ranked(looks: set[_Looks], main: _Looks | None) -> dict[_Looks, int]:
    """Rank of every look, the largest and boldest first; looks above that of the main headings share its rank."""
    ordered = sorted(looks, key=lambda look: (look[:4], look == main, look[4]), reverse=True)
    first = ordered.index(main) if main else 0
    return {look: max(1, place - first + 1) for place, look in enumerate(ordered)}
