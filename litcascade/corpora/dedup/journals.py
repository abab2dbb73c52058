"""Whether two journal names are one journal: abbreviations, subtitles, places and parallel titles are seen through."""

import re
from enum import Enum
from functools import lru_cache

from litcascade.corpora.dedup.fold import decode, fold
from litcascade.corpora.dedup.words import JOURNAL_SMALL

_CUT = re.compile(r"\s*[:=(\[/;].*$|\.\s+[A-Z].*$|,?\s+official (?:journal|publication).*$", re.IGNORECASE)
_ELISION = re.compile(r"\b[ldLD]['’](?=\w)")
_PLACE = re.compile(r"\([^()]*[,:\d][^()]*\)|\(\w+\)")
_PARTS = re.compile(r"[:=/;()\[\]]|\.\s+(?=[A-Z])|-(?=[A-Z])|\s-\s")


class Journals(Enum):
    """How two journal names agree."""

    SAME = "same"
    UNCLEAR = "unclear"
    OTHER = "other"
    UNKNOWN = "unknown"


@lru_cache(maxsize=65536)
def journal_words(name: str) -> tuple[str, ...]:
    """The words of the name that carry it, folded; its subtitle, place and parallel title cut off."""
    plain = _ELISION.sub("", decode(name))
    cut = _CUT.sub("", plain)
    return _telling(cut) or _telling(plain)


def _telling(text: str) -> tuple[str, ...]:
    return tuple(word for word in fold(text).split() if word not in JOURNAL_SMALL)


@lru_cache(maxsize=65536)
def _segments(name: str) -> tuple[tuple[str, ...], ...]:
    """The name, and each of its parallel titles of two words or more; places in brackets are none."""
    plain = _ELISION.sub("", _PLACE.sub(" ", decode(name)))
    parts = [_telling(part) for part in _PARTS.split(plain)]
    return (_telling(plain), *dict.fromkeys(part for part in parts if len(part) >= 2 and len("".join(part)) >= 9))


@lru_cache(maxsize=65536)
def compare_journals(a: str, b: str) -> Journals:
    """Compare two names as printed; `other` only where neither can be read as a short form of the other."""
    if not a or not b:
        return Journals.UNKNOWN
    one, other = journal_words(a), journal_words(b)
    if not one or not other:
        return Journals.UNKNOWN
    if _same(one, other) or any(_same(x, y) for x in _segments(a) for y in _segments(b)):
        return Journals.SAME
    short, long = sorted((one, other), key=lambda words: (sum(map(len, words)), words))
    glued = len(short) == 1 and len(long) >= 3 and short[0][0] == long[0][0]
    return Journals.UNCLEAR if glued or _contained(a, b) or _starts(short, long) or _starts(long, short) else Journals.OTHER


def _same(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether two lists of words are one name: the same, word by word abbreviated, or an acronym."""
    if not a or not b:
        return False
    if a == b or "".join(a) == "".join(b):
        return True
    short, long = sorted((a, b), key=lambda words: (sum(map(len, words)), words))
    return (len(short) == len(long) and _aligned(short, long)) or (len(short) == 1 and _is_acronym(short[0], long))


def _aligned(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    return all(_abbreviates(s, w) or _abbreviates(w, s) for s, w in zip(short, long, strict=True))


def _abbreviates(short: str, long: str) -> bool:
    """`surg` of `surgery`, `natl` of `national`: the same first letter, then letters in order."""
    if long.startswith(short):
        return True
    if short[0] != long[0] or len(short) > len(long):
        return False
    letters = iter(long)
    return len(short) <= 5 and all(letter in letters for letter in short)


def _is_acronym(short: str, long: tuple[str, ...]) -> bool:
    initials = "".join(word[0] for word in long)
    return len(short) >= 2 and short == initials


def _starts(short: tuple[str, ...], long: tuple[str, ...]) -> bool:
    """The short name's words, two or more, open the long one."""
    return 2 <= len(short) <= len(long) and _aligned(short, long[: len(short)])


@lru_cache(maxsize=65536)
def _whole(name: str) -> str:
    return f" {fold(name)} "


def _contained(a: str, b: str) -> bool:
    """One name, all its words, stands inside the other: a parallel title, or an acronym beside the full name."""
    one, other = sorted((_whole(a), _whole(b)), key=len)
    inside = " ".join(journal_words(a)) in other or " ".join(journal_words(b)) in other
    return one in other or (inside and len(one) > 8)
