"""Where sentences begin: in prose behind a full stop, in tables at every row."""

import re

from litcascade.stages.grounding.words import words_of

_END = re.compile(r"[.!?。！？][\"'”’)\]]*(?:\s+(?=[\"'“‘(\[]*(?:[^\W\d_a-zß-ÿ]|\d))|(?<=[。！？]))|\n\s*\n\s*|\n")
_ABBREVIATIONS = frozenset(
    words_of(
        "vs e.g i.e al fig figs no nos approx ca cf dr mr mrs ms prof st p pp vol ref refs eq resp incl sd se ci min max inc ltd "
        "co bzw z.b ca d.h u.a evtl nr abb tab p.ex env núm aprox"
    )
)
_HEADING = re.compile(r"(?:\d+(?:\.\d+)*\.? )?[A-Z][^.!?;:,\n]{0,40}")
_WORD_BEFORE = re.compile(r"([\w.]+)$")


def sentence_borders(text: str) -> list[int]:
    """The offsets where sentences begin, with 0 first and the length of the text last; O(n).

    An empty line is a border; a line end only where a row of a table (cells parted by ` | `) begins or ends, and behind a
    heading.
    """
    borders = [0]
    for match in _END.finditer(text):
        if match[0] == "\n":
            if not (_beside_row(text, match.start()) or _below_heading(text, match.start())):
                continue
        elif match[0][0] == "." and _abbreviated(text, match):
            continue
        if match.end() > borders[-1]:
            borders.append(match.end())
    if borders[-1] < len(text) or len(borders) == 1:
        borders.append(len(text))
    return borders


def _abbreviated(text: str, match: re.Match[str]) -> bool:
    word = _WORD_BEFORE.search(text[max(0, match.start() - 12) : match.start()])
    if word is None:
        return False
    return word[1].casefold() in _ABBREVIATIONS


def _below_heading(text: str, line_end: int) -> bool:
    """Whether the line is a short one of at most five words without an end, and the next begins with a capital."""
    begin = text.rfind("\n", max(0, line_end - 60), line_end) + 1
    line = text[begin:line_end] if begin or line_end <= 60 else ""
    after = text[line_end + 1 : line_end + 6].lstrip("\"'“‘(")[:2]
    return after[:1].isupper() and not after[1:].isupper() and bool(_HEADING.fullmatch(line)) and len(line.split()) <= 5


def _beside_row(text: str, line_end: int) -> bool:
    begin = text.rfind("\n", 0, line_end) + 1
    stop = text.find("\n", line_end + 1)
    return " | " in text[begin : len(text) if stop == -1 else stop]
