"""The abstract of a PDF: under its heading, or behind the word at the beginning of a paragraph."""

import re
from collections.abc import Mapping, Sequence

from litcascade.corpora.texts.pdf.names import known_name
from litcascade.corpora.texts.pdf.paragraphs import Hyphens, Paragraph, text_of

_MOST_WORDS, _FEWEST_WORDS = 900, 40
_AFTER = ("introduction", "background", "keywords", "key words", "methods", "references")
_NEVER_INSIDE = ("introduction", "keywords", "key words", "references")
_RUN_IN = re.compile(r"(?:abstract|summary)\s*[.:–—-]+\s*(?=\S)", re.IGNORECASE)
_TERMS = re.compile(r"(?:key ?words|index terms|categories and subject|general terms|ccs concepts)\b", re.IGNORECASE)


def abstract_places(parts: Sequence[Paragraph], levels: Mapping[int, int], begin: int) -> list[int]:
    """Places of the paragraphs that are the abstract, its heading with them; none where there is none, or no end to it.

    `begin` is the place of the first heading of the paper, `levels` are the levels of headings by place.
    """
    if begin < len(parts) and known_name(parts[begin].first.text) in ("abstract", "summary"):
        end = _end(parts, levels, begin)
        return [index for index in range(begin, end) if parts[index].kind in ("text", "heading")]
    start = next((index for index, part in enumerate(parts[:begin]) if _RUN_IN.match(part.first.text)), None)
    if start is None:
        return []
    end = start + 1
    while (
        end < begin
        and parts[end].kind == "text"
        and _same_size(parts[end], parts[start])
        and not _TERMS.match(parts[end].first.text)
    ):
        end += 1
    return list(range(start, end))


def _end(parts: Sequence[Paragraph], levels: Mapping[int, int], begin: int) -> int:
    """One behind the last paragraph of an abstract with a heading; `begin` itself where it has no end."""
    words, first = 0, None
    for index in range(begin + 1, len(parts)):
        part = parts[index]
        if part.kind == "heading":
            ends = known_name(part.first.text) in _AFTER or levels[index] <= levels.get(begin, 1)
            if words and ends and not _goes_on(parts, begin, index):
                return index
        elif part.kind == "text":
            first = first or part
            if words >= _FEWEST_WORDS and (not _same_size(part, first) or _TERMS.match(part.first.text)):
                return index
        words += sum(len(line.text.split()) for line in part.lines)
        if words > _MOST_WORDS:
            return begin
    return begin


def _same_size(one: Paragraph, other: Paragraph) -> bool:
    return abs(one.first.size - other.first.size) <= 0.35


def _goes_on(parts: Sequence[Paragraph], begin: int, index: int) -> bool:
    """Whether a heading such as `Results` is one of a structured abstract: an introduction is still to come."""
    own = parts[index].first
    if known_name(own.text) in _NEVER_INSIDE or own.page > parts[begin].first.page + 1:
        return False
    names = [known_name(part.first.text) for part in parts[index + 1 :] if part.kind == "heading"]
    return "introduction" in names[:12]


def abstract_text(parts: Sequence[Paragraph], places: Sequence[int], hyphens: Hyphens) -> str:
    """A paragraph a line, each behind its own heading where it has one."""
    lines: list[str] = []
    heading = ""
    for place in places:
        text = text_of(parts[place].lines, hyphens)[0]
        if parts[place].kind == "heading":
            heading = "" if place == places[0] else f"{heading} {text}".strip()
        else:
            lines.append(f"{heading}: {text}" if heading else text)
            heading = ""
    return _RUN_IN.sub("", "\n".join(lines), count=1) if lines and _RUN_IN.match(lines[0]) else "\n".join(lines)
