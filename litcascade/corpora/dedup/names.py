"""Authors by surname and first initial, whatever the order and the dress of the names."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache

from rapidfuzz.distance import OSA

from litcascade.corpora.dedup.fold import fold
from litcascade.corpora.dedup.words import PARTICLES

LIMIT = 12
_NOBODY = re.compile(
    r"\W*(?:anonymous|anon|unknown|no authors?(?: listed)?|not available|n/?a|none|null|et al)\W*", re.IGNORECASE
)
_GLUED = re.compile(r"(?<=[A-Z]\.)(?=[A-Z][a-z'’])")
_PUBMED_NAME = re.compile(r"[^\d,;]*\w{2,}[^\d,;]*\s[A-Z]{1,3}(?:\s(?:Jr|Sr|2nd|3rd))?\.?")
_SUFFIX = {"jr", "sr", "ii", "iii", "2nd", "3rd", "null"}


@dataclass(frozen=True, slots=True)
class Name:
    """The words that may be the surname, the likeliest first, and the initials where they are known.

    `sure` says that every word is of the surname; else one of them is the given name.
    """

    words: tuple[str, ...]
    initials: str = ""
    sure: bool = True


class Authors(Enum):
    """How two lists of authors agree."""

    SAME = "same"  # the first authors agree, or half of the shorter list
    SOME = "some"  # at least one name in common
    NONE = "none"  # no name in common
    UNKNOWN = "unknown"  # one list is empty


def read_names(authors: Sequence[str]) -> tuple[Name, ...]:
    """The first twelve names that are names; lists run together in one text are parted."""
    names = []
    for text in split_names(authors)[:LIMIT]:
        if not _NOBODY.fullmatch(text):
            name = _read_name(text)
            if name.words:
                names.append(name)
    return tuple(names)


def split_names(authors: Sequence[str]) -> list[str]:
    """Names one by one, from lists joined by `;`, `and`, commas between `Doe A`-like names, or by nothing at all."""
    if len(authors) > 2:
        return list(authors)
    parts: list[str] = []
    for text in authors:
        for piece in re.split(r"\s*;\s*|\s+and\s+|\n|\|", text):
            pieces = _GLUED.split(piece)
            commas = [part.strip() for part in piece.split(",")]
            if len(commas) > 1 and all(_PUBMED_NAME.fullmatch(part) for part in commas):
                pieces = commas
            elif len(commas) > 3 and len(commas) % 2 == 0 and all(len(part.strip(". ")) <= 6 for part in commas[1::2]):
                pieces = [f"{commas[i]}, {commas[i + 1]}" for i in range(0, len(commas), 2)]
            parts += pieces
    return [part for part in parts if part.strip()]


@lru_cache(maxsize=65536)
def _read_name(text: str) -> Name:
    surname, comma, given = text.partition(",")
    if comma and fold(surname):
        words = tuple(word for word in fold(surname).split() if word not in _SUFFIX)
        initials = [_initials(word) for word in re.split(r"[\s.,]+", given) if word.casefold() not in _SUFFIX]
        return Name(_surnames(words), "".join(initials)[:4])
    plain = [word for word in re.split(r"[\s.,]+", text) if word and word.casefold() not in _SUFFIX]
    pairs = [(folded, _is_initials(word)) for word in plain if (folded := fold(word).replace(" ", ""))]
    whole = tuple(word for word, short in pairs if not short)
    if len(pairs) < 2 or not whole:
        return Name(tuple(word for word, _ in pairs[:1]), pairs[1][0] if len(pairs) > 1 else "")
    sure = pairs[0][1] or (pairs[-1][1] and len(whole) == 1)  # `J. Doe`, `Doe J`; in `Doe Jane M` either may be the surname
    return Name(_surnames(whole), "".join(word for word, short in pairs if short) if sure else "", sure)


def _surnames(words: tuple[str, ...]) -> tuple[str, ...]:
    """The words of a surname, the last first, without particles; and all as one, as databases that drop blanks write it."""
    telling = tuple(word for word in reversed(words) if word not in PARTICLES) or words
    return (*telling, "".join(words)) if len(words) > 1 else telling


def _is_initials(word: str) -> bool:
    letters = word.replace("-", "")
    return len(letters) == 1 or (len(letters) <= 3 and letters.isupper())


def compare_authors(a: tuple[Name, ...], b: tuple[Name, ...]) -> tuple[Authors, int]:
    """(how the lists agree, how many names they share)."""
    if not a or not b:
        return Authors.UNKNOWN, 0
    if a == b:
        return Authors.SAME, len(a)
    shared = min(len(b), sum(_stands(one, place, b) for place, one in enumerate(a)))
    if shared == 0:
        return Authors.NONE, 0
    if same_name(a[0], b[0]) or 2 * shared >= max(2, min(len(a), len(b))):
        return Authors.SAME, shared
    return Authors.SOME, shared


def _stands(name: Name, place: int, names: tuple[Name, ...]) -> bool:
    """Whether a name stands in a list, most likely at its own place."""
    if place < len(names) and same_name(name, names[place]):
        return True
    return any(same_name(name, other) for other in names)


def same_name(a: Name, b: Name) -> bool:
    """Whether two names may be one person's: a surname in common (one letter apart if long) and no other initials."""
    if a.initials and b.initials and not _initials_agree(a.initials, b.initials):
        return False
    one, other = a.words[0], b.words[0]
    if one == other:
        return True
    shared = sum(word in b.words for word in a.words if len(word) > 1)
    if shared >= (1 if a.sure or b.sure else 2):
        return True
    return one[:1] == other[:1] and _one_apart(one, other)


def _initials_agree(a: str, b: str) -> bool:
    """The first letters agree, or one, of two letters or more, closes the other (a given name left out)."""
    short, long = sorted((a, b), key=len)
    return a[0] == b[0] or (len(short) >= 2 and long.endswith(short))


def _initials(word: str) -> str:
    """`JA` and `J` as they are, `Jane` as `j`."""
    folded = fold(word).replace(" ", "")
    return folded if _is_initials(word) else folded[:1]


def _one_apart(a: str, b: str) -> bool:
    return min(len(a), len(b)) >= 4 and OSA.distance(a, b, score_cutoff=1) <= 1
