"""Texts with marks: split at offsets, so that everything stays text and templates escape every part of it."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from litcascade.schemas.steering.findings import steering_findings
from litcascade.stages.extraction_support import index_of

Kind = Literal["plain", "term", "quote", "warn"]
_RANK: dict[Kind, int] = {"plain": 0, "term": 1, "quote": 2, "warn": 3}
TERM_LENGTH = 5
_WORD = re.compile(r"[^\W\d_][\w-]*")
_COMMON = frozenset(
    _WORD.findall(
        "about above after again against among analysis another because before being below between compared comparison could "
        "criteria criterion data does during either every exclude excluded excluding first from given having include included "
        "includes including least might more most none other outcome outcomes over paper papers people record records report "
        "reported reports review reviews same shall should since some studies study such than that their them then there these "
        "they this those through title under until using were what when where whether which while will with within without would "
        "years"
    )
)


@dataclass(frozen=True)
class Span:
    """A stretch of a text, `start` to before `end`, and what it is; `name` is an anchor a page can jump to."""

    start: int
    end: int
    kind: Kind
    name: str | None = None


@dataclass(frozen=True)
class Part:
    """A part of a text and how it is shown."""

    text: str
    kind: Kind = "plain"
    name: str | None = None


def marked(text: str, spans: Iterable[Span]) -> list[Part]:
    """The text in parts, joined the text itself; where spans overlap the graver kind is shown, anchors at their first part."""
    inside = [span for span in spans if 0 <= span.start < span.end <= len(text)]
    cuts = sorted({0, len(text), *(place for span in inside for place in (span.start, span.end))})
    parts: list[Part] = []
    named: set[str] = set()
    for start, end in pairwise(cuts):
        over = [span for span in inside if span.start <= start and span.end >= end]
        top = max(over, key=lambda span: _RANK[span.kind], default=None)
        name = next((span.name for span in over if span.name and span.name not in named), None)
        if name:
            named.add(name)
        kind: Kind = top.kind if top else "plain"
        if parts and parts[-1].kind == kind and not name:
            parts[-1] = Part(parts[-1].text + text[start:end], kind, parts[-1].name)
        else:
            parts.append(Part(text[start:end], kind, name))
    return parts


@lru_cache(maxsize=8)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str] | None:
    stems = sorted({stem for text in words for word in _WORD.findall(text) if (stem := _stem(word))}, key=lambda s: (-len(s), s))
    return re.compile(r"\b(?:" + "|".join(map(re.escape, stems)) + r")\w*", re.IGNORECASE) if stems else None


def _stem(word: str) -> str | None:
    """What a term begins with in all its forms; None for short and common words."""
    low = word.casefold()
    if len(low) < TERM_LENGTH or low in _COMMON:
        return None
    for ending in ("ies", "es", "s"):
        if low.endswith(ending) and len(low) - len(ending) >= TERM_LENGTH - 1:
            return low[: -len(ending)]
    return low


def term_spans(text: str, sources: Sequence[str]) -> list[Span]:
    """The words of `sources` (question, criteria) in a text, whatever their case and number."""
    pattern = _pattern(tuple(sources))
    return [Span(*match.span(), "term") for match in pattern.finditer(text)] if pattern else []


def quote_spans(text: str, quotes: Iterable[str | None]) -> list[Span]:
    """The first place of every quote that stands in the text."""
    wanted = dict.fromkeys(quote for quote in quotes if quote)
    if not wanted:
        return []
    index = index_of(text)
    found = [next(iter(index.find(quote)), None) for quote in wanted]
    return [Span(span.start, span.end, "quote") for span in found if span]


def warn_spans(text: str) -> list[Span]:
    """Passages that speak to the reader like an instruction."""
    return [Span(one.start, min(len(text), one.start + max(1, len(one.quote))), "warn") for one in steering_findings(text)]
