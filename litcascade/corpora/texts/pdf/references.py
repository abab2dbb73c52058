"""The list of cited works in a PDF: where it begins and ends, and its items."""

import re
from collections.abc import Sequence

from litcascade.corpora.texts.headings import kind_of
from litcascade.corpora.texts.pdf.lines import Line
from litcascade.corpora.texts.pdf.names import known_name
from litcascade.corpora.texts.pdf.order import blocks_of
from litcascade.corpora.texts.pdf.paragraphs import Hyphens, Paragraph, ends, text_of
from litcascade.corpora.texts.references import line_reference
from litcascade.schemas import Reference

NAMES = ("references", "reference", "bibliography", "literature cited", "works cited", "reference list")
_NUMBER = re.compile(r"\[?(\d{1,3})(?:\]|[.)])?\s+(?=\S)")
_CITES = re.compile(r"(?<!\d)(?:18|19|20)\d\d(?!\d)|\bdoi\b|https?://|\bin press\b|\bet al\b", re.IGNORECASE)


def find_list(parts: Sequence[Paragraph]) -> tuple[int, int, int] | None:
    """(Place of the heading, first paragraph, one behind the last) of the list; None where there is none.

    Where no heading names it, a list at the end that numbers its items from 1 and gives a year in nearly all is one.
    """
    named = [index for index, part in enumerate(parts) if part.kind == "heading" and known_name(part.first.text) in NAMES]
    if named:
        start = named[-1]
        return start, start + 1, _end(parts, start + 1)
    first = _unnamed(parts)
    return None if first is None else (first, first, _end(parts, first))


def _end(parts: Sequence[Paragraph], start: int) -> int:
    """One behind the last paragraph of the list: before a heading of the document, or what is no list of works."""
    looks = {(round(part.first.size, 1), part.first.face) for part in parts[:start] if part.kind == "heading"}
    size = parts[start].first.size if start < len(parts) else 0.0
    end = last = start
    while end < len(parts):
        part = parts[end]
        text = part.first.text
        if part.kind == "heading" and (
            known_name(text) or kind_of(text) != "body" or (round(part.first.size, 1), part.first.face) in looks
        ):
            break
        end += 1
        if belongs(part, size) and any(_CITES.search(line.text) for line in part.lines):
            last = end
    return last


def belongs(part: Paragraph, size: float) -> bool:
    """Whether a paragraph inside the list is of the list: text of its size, no caption and no rows."""
    return part.kind in ("text", "footnote", "heading") and abs(part.first.size - size) <= 0.6


def _unnamed(parts: Sequence[Paragraph]) -> int | None:
    for index in range(len(parts) // 2, len(parts)):
        found = _NUMBER.match(parts[index].first.text)
        if found and found[1] == "1" and parts[index].kind == "text":
            lines = [line for part in parts[index:] if belongs(part, parts[index].first.size) for line in part.lines]
            items = _numbered(lines)
            if len(items) >= 8 and sum(any(_CITES.search(line.text) for line in item) for item in items) >= 0.8 * len(items):
                return index
    return None


def references_of(parts: Sequence[Paragraph], hyphens: Hyphens) -> tuple[Reference, ...]:
    """The items of the list, each with its words, and DOI and year where they are in them."""
    lines = [line for part in parts for line in part.lines]
    items = _numbered(lines) or _hanging(lines) or [list(part.lines) for part in parts]
    return tuple(line_reference(text_of(item, hyphens)[0]) for item in items)


def _numbered(lines: Sequence[Line]) -> list[list[Line]]:
    """Items by their numbers, which go up by one; nothing where they are not numbered."""
    items: list[list[Line]] = []
    expected: int | None = None
    for line in lines:
        found = _NUMBER.match(line.text)
        number = int(found[1]) if found else None
        starts = number is not None and (number == expected or (expected is None and number <= 2))
        if starts and number is not None:
            expected = number + 1
            items.append([line])
        elif items:
            items[-1].append(line)
        else:
            return []
    return items if len(items) >= max(3, len(lines) // 14) else []


def _hanging(lines: Sequence[Line]) -> list[list[Line]]:
    """Items whose first lines stand out to the left of the others; nothing where lines are not set so."""
    outs: dict[int, bool] = {}
    for block in blocks_of(lines):
        left = min(line.x0 for line in block.lines)
        outs.update({id(line): line.x0 <= left + 2.5 for line in block.lines})
    inner = sum(not out for out in outs.values())
    if not 0.25 * len(lines) <= inner <= 0.9 * len(lines):
        return []
    items: list[list[Line]] = []
    for line in lines:
        if items and (not outs[id(line)] or not ends(items[-1][-1].text)):
            items[-1].append(line)
        else:
            items.append([line])
    return items
