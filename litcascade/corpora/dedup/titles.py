"""Titles ready to compare, and titles that say nothing."""

import re
from dataclasses import dataclass

from litcascade.corpora.dedup import words as known
from litcascade.corpora.dedup.fold import decode, fold
from litcascade.corpora.dedup.status import title_status

MAX_WORDS = 80
_NOTE = re.compile(
    rf"\s*[\[(](?:{'|'.join(known.NOTES)})\b[^\[\]()]*(?:\[[^\[\]]*\][^\[\]()]*)*[\])]*\s*\.?$|\s*\]?\s*LA: \w+$", re.IGNORECASE
)
_PREPRINT = re.compile(r"[\[(]\s*preprint\s*[\])]\s*\.?$", re.IGNORECASE)
_REPLY = re.compile(
    r"^[\W_]*(?:re|(?:author'?s?'?\s+)?(?:reply|response|rejoinder)|comments?|commentary|invited commentary|in reply"
    r"|editorial comment)(?:\s+(?:to|on|of|by))?\s*:\s*|^[\W_]*(?:comments? on|reply to|response to)\s+[\"“‘']",
    re.IGNORECASE,
)
_RUBRIC = re.compile(
    r"^[\W_]*(?:letter|editorial|proceedings|discussion|case report|short report|original article|review)\s*:\s*", re.IGNORECASE
)
_GENERIC = re.compile(rf"(?:the )?(?:{'|'.join(known.HEADINGS)})(?: (?:\d+|and|of|to|the|reply|comment|editor|issue|volume|no))*")


@dataclass(frozen=True, slots=True)
class Title:
    """A title ready to compare. `words` are parted by blanks, `solid` has none; `reply` marks a comment or reply."""

    words: str = ""
    solid: str = ""
    generic: bool = True
    reply: bool = False
    preprint: bool = False


def read_title(text: str | None) -> Title:
    """The title without status prefix, reply prefix and database notes, folded, with counted numbers in digits."""
    plain = title_status(decode(text or ""))[1]
    closes = plain.rstrip(". ")[-1:] in (")", "]") or " LA: " in plain
    preprint = closes and bool(_PREPRINT.search(plain))
    for _ in range(3 if closes else 0):
        shorter = _NOTE.sub("", plain)
        if shorter == plain or not shorter.strip(" [(."):
            break
        plain = shorter
    match = _REPLY.match(plain)
    rest = plain[match.end() :] if match else _RUBRIC.sub("", plain)
    words = _counted(fold(rest).split()[:MAX_WORDS])
    key = " ".join(words)
    if key in ("unknown", "none", "na", "nan", "n a", "null", "untitled"):
        return Title()
    return Title(key, key.replace(" ", ""), not key or _is_generic(key), match is not None, preprint)


def _is_generic(key: str) -> bool:
    return len(key) < 70 and _GENERIC.fullmatch(key) is not None


def _counted(words: list[str]) -> list[str]:
    """Roman numerals and number words as digits, where they count something."""
    out = []
    for place, word in enumerate(words):
        before = words[place - 1] if place else ""
        if word in known.ROMAN and (before in known.COUNTED or word not in known.AMBIGUOUS_ROMAN):
            word = known.ROMAN[word]
        elif word in known.COUNT:
            word = known.COUNT[word]
        out.append(word)
    return out
