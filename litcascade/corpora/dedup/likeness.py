"""What two titles differ in: how like two titles are is decided by the words that differ, not by how many letters do."""

import re
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache

from rapidfuzz.distance import OSA, Indel

from litcascade.corpora.dedup.titles import Title
from litcascade.corpora.dedup.words import CONTRASTS, COUNTED, HEADS, NEGATIONS, OPPOSITES, ORDER, PREFIXES, ROMAN, SILENT, SMALL

_DIGITS = re.compile(r"\d+")


class Likeness(IntEnum):
    """How like two titles are, from nothing to the same words."""

    NONE = 0  # a title is missing
    OTHER = 1  # other words
    SENSE = 2  # a number, a part, a negation, an opposite or a group of people differs
    CHANGED = 3  # a few words differ
    LONGER = 4  # one is the other with more at its end or its head
    VARIANT = 5  # letters or small words differ
    EQUAL = 6


@dataclass(frozen=True, slots=True)
class TitleMatch:
    """How two titles agree: the kind, the likeness of their letters (0 to 1), and the words they differ in."""

    kind: Likeness
    ratio: float
    differ: str = ""


@lru_cache(maxsize=256)
def compare_titles(a: Title, b: Title) -> TitleMatch:
    """Compare two titles word by word; what differs decides the kind, not how many letters do."""
    if not a.words or not b.words:
        return TitleMatch(Likeness.NONE, 0.0)
    if a.solid == b.solid:
        return TitleMatch(Likeness.EQUAL, 1.0)
    ratio = Indel.normalized_similarity(a.solid, b.solid)
    kind, differ = _difference(a.words.split(), b.words.split(), ratio)
    return TitleMatch(kind, ratio, differ)


def _difference(a: list[str], b: list[str], ratio: float) -> tuple[Likeness, str]:
    worst, differ = Likeness.EQUAL, []
    changed = 0
    for one, other, where in _regions(a, b):
        kind = _region(one, other, where)
        if kind is Likeness.CHANGED:
            changed += max(len(one), len(other))
        if kind < Likeness.EQUAL and not (kind is Likeness.VARIANT and not (set(one) | set(other)) - SMALL):
            differ.append(f"'{' '.join(one)}' / '{' '.join(other)}'")
        worst = min(worst, kind)
    if worst is Likeness.CHANGED and (changed > max(2, min(len(a), len(b)) // 3) or ratio < 0.6):
        worst = Likeness.OTHER
    if worst is Likeness.SENSE and ratio < 0.6:
        worst = Likeness.OTHER
    return worst, "; ".join(differ[:3])


def _regions(a: list[str], b: list[str]) -> list[tuple[list[str], list[str], str]]:
    """Runs of words where the two differ, with where the run stands: `head`, `tail` or `middle`."""
    regions: list[list[int]] = []
    for op in Indel.opcodes(a, b):
        if op.tag == "equal":
            continue
        if regions and regions[-1][1] == op.src_start and regions[-1][3] == op.dest_start:
            regions[-1][1], regions[-1][3] = op.src_end, op.dest_end
        else:
            regions.append([op.src_start, op.src_end, op.dest_start, op.dest_end])
    return [
        (a[i:j], b[k:m], "tail" if j == len(a) and m == len(b) else "head" if i == 0 and k == 0 else "middle")
        for i, j, k, m in regions
    ]


def _region(one: list[str], other: list[str], where: str) -> Likeness:
    """The likeness that one run of differing words leaves."""
    if "".join(one) == "".join(other):
        return Likeness.EQUAL
    if one and other:
        return _replaced(one, other, where)
    return _extra(one or other, where)


def _extra(extra: list[str], where: str) -> Likeness:
    """What words that only one title has leave: at its ends a subtitle or a rubric, inside it another sense."""
    if all(word in SMALL or word in SILENT for word in extra):
        return Likeness.VARIANT
    if set(extra) & NEGATIONS and (where == "middle" or len(extra) <= 3):
        return Likeness.SENSE
    if where != "middle":
        content = [word for word in extra if word not in SMALL and word not in COUNTED and not _numbers([word])]
        return Likeness.SENSE if _numbers(extra) and not content else Likeness.LONGER
    return Likeness.SENSE if _numbers(extra) else Likeness.CHANGED


def _replaced(one: list[str], other: list[str], where: str) -> Likeness:
    """What two runs of words leave: spelt twice word by word, cut short at the end, of other numbers, or other words."""
    short, long = sorted((one, other), key=lambda words: (len(words), len("".join(words))))
    if where == "tail":
        cut = _cut(short, long)
        if cut is not None:
            return cut
    if len(one) == len(other) and all(_spelling(x, y) for x, y in zip(one, other, strict=True)):
        return Likeness.VARIANT
    if not _same_numbers(one, other) or _turned(one, other):
        return Likeness.SENSE
    alike = _unnumbered(one) == _unnumbered(other) or _spelling("".join(one), "".join(other))
    return Likeness.VARIANT if alike else Likeness.CHANGED


def _cut(short: list[str], long: list[str]) -> Likeness | None:
    """Whether the short run is the long one cut off, perhaps within a word (`vi` of `violence`); None where it is not."""
    last = len(short) - 1
    if not all(_spelling(x, y) for x, y in zip(short[:last], long[:last], strict=True)):
        return None
    a, b = short[last], long[last]
    if _spelling(a, b):
        return _extra(long[last + 1 :], "tail") if len(long) > len(short) else Likeness.VARIANT
    begun = b.startswith(a) and b not in ROMAN and (not b.isdigit() or (len(b) == 4 and b[:2] in ("19", "20")))
    return Likeness.LONGER if begun else None


def _turned(one: list[str], other: list[str]) -> bool:
    """Whether the second run turns the sense of the first: a negation more, an opposite, or other people."""
    if bool(set(one) & NEGATIONS) != bool(set(other) & NEGATIONS):
        return True
    groups: list[dict[str, set[str]]] = []
    for words in (one, other):
        groups.append({})
        for kind, value in (CONTRASTS[word] for word in words if word in CONTRASTS):
            groups[-1].setdefault(kind, set()).add(value)
    if any(not groups[0][kind] & groups[1][kind] for kind in groups[0].keys() & groups[1].keys()):
        return True
    return max(len(one), len(other)) <= 4 and any(_opposed(x, y) for x in one for y in other)


def _opposed(a: str, b: str) -> bool:
    """Whether two words are opposites by their heads: `effective` and `ineffective`, `hypertension` and `hypotension`."""
    if a[-3:] != b[-3:] or a == b:
        return False
    short, long = sorted((a, b), key=len)
    if frozenset((a, b)) in OPPOSITES or (long.endswith(short) and long[: -len(short)] in PREFIXES):
        return True
    return any(_heads(a, b, one, other) or _heads(b, a, one, other) for one, other in HEADS)


def _heads(a: str, b: str, one: str, other: str) -> bool:
    return a.startswith(one) and b.startswith(other) and a[len(one) :] == b[len(other) :]


def _unnumbered(words: list[str]) -> list[str]:
    """The words that are neither small nor a lone number."""
    return [word for word in words if word not in SMALL and word not in SILENT and not word.isdigit() and word not in ROMAN]


def _plain(word: str) -> str:
    return word.replace("oe", "e").replace("ae", "e")


def _spelling(one: str, other: str) -> bool:
    """Whether two words are one word spelt twice: a slip of one letter, a plural, or one number in two scripts."""
    if _numbers([one]) != _numbers([other]):
        return _misspelt_number(one, other)
    a, b = _plain(one), _plain(other)
    if a == b or (a in SMALL and b in SMALL):
        return True
    short, long = sorted((a, b), key=len)
    if long == short + "s":
        return True
    if {a, b} & NEGATIONS or _opposed(a, b) or (a in CONTRASTS and b in CONTRASTS):
        return False
    if len(long) < 5:
        return (sorted(a) == sorted(b) and len(a) == 4) or (bool({a, b} & SMALL) and OSA.distance(a, b) <= 1)
    return len(short) >= 4 and OSA.distance(a, b, score_cutoff=1) <= 1


def _misspelt_number(one: str, other: str) -> bool:
    """One number with a letter in it (`200s8`), an ordinal with a slip, or `i` for `in`: none is another number."""
    digits = ["".join(_DIGITS.findall(word)) for word in (one, other)]
    if digits[0] or digits[1]:
        return digits[0] == digits[1] and len(digits[0]) >= 3
    words = {one, other}
    small = bool(words & SMALL) and bool(words & {"i", "v", "x"})
    return OSA.distance(one, other, score_cutoff=1) <= 1 and (small or sum(word in ORDER for word in words) == 1)


def _same_numbers(one: list[str], other: list[str]) -> bool:
    """Whether two runs name the same numbers; `1973-6` is `1973-1976`."""
    a, b = _numbers(one), _numbers(other)
    if a == b:
        return True
    return len(a) == len(b) == 1 and {len(a[0]), len(b[0])} in ({1, 4}, {2, 4}) and (a[0].endswith(b[0]) or b[0].endswith(a[0]))


def _numbers(words: list[str]) -> list[str]:
    """The numbers among the words, sorted: digits, ordinals, roman numerals; lone letters only in a run of one or two words."""
    found = []
    for word in words:
        if not word.isalpha():
            found += _DIGITS.findall(word)
        elif word in ROMAN and (len(word) > 1 or len(words) <= 2):
            found.append(ROMAN[word])
        elif word in ORDER:
            found.append(ORDER[word])
    return sorted(found)
