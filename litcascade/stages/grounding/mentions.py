"""Where a sentence names an arm or a time point; what it says of a group without naming it."""

import re
from collections.abc import Iterable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from litcascade.stages.grounding.claim import Arm
from litcascade.stages.grounding.fold import fold
from litcascade.stages.grounding.units import UNITS, hours
from litcascade.stages.grounding.words import ALL_GROUPS, NUMBER_WORDS, UNNAMED_GROUPS, words_of

UNNAMED = "a group without a name"
ALL = "all groups"
_COMMON = frozenset(
    words_of(
        "group groups arm arms dose doses daily weekly monthly treatment treatments therapy with and the for once twice week "
        "weeks month months day days alone only tablet tablets lozenge lozenges capsule capsules solution cream programme "
        "program supplement supplements supplementation intervention control ophthalmic once/day mg/day a of in to"
    )
)
_DOSE = re.compile(r"(?<!\w)\d[\d.,]*(?: ?(?:mg|g|μg|ml|iu|%|mcg|ug|kg|l)(?:/\w+)*)?(?!\w)")
_TAIL = r"(?:treated|group|groups|arm|arms|supplemented|treatment|alone|only|recipients|users|patients|'s)?"
_GENERIC = frozenset(
    words_of("control controls intervention treatment experimental comparison comparator active training therapy")
)
_PEOPLE = r"(?:groups?|arms?|patients|participants|subjects|condition|children|women|men)(?!\w)"
_NOT_THEM = re.compile(
    r"(?<!\w)(?:(?:not|never)(?: been)? (?:receiv|giv|tak|treat|assign|randomi|allocat|hav|on|in|exposed|us)\w*"
    r"(?: with| to| received)?|no|without|neither|nor|other than|except|except for|excluding|instead of|rather than) (?:the )?$"
    r"|(?<!\w)non$"
)
_ADDED = r"(?:\+|plus|combined with|in combination with|added to|followed by)"
_ADDED_BEFORE = re.compile(rf"{_ADDED} ?$")
_ADDED_BEHIND = re.compile(rf" ?{_ADDED}(?!\w)")
_JOINED = re.compile(r" ?(?:\+|/|&|plus|and|with|combined with|in combination with) ?")


class Mention(NamedTuple):
    """A name from `start` to `end` of the folded sentence; `key` is what it names."""

    start: int
    end: int
    key: str


def arm_mentions(folded: str, arms: Sequence[Arm]) -> tuple[Mention, ...]:
    """Every mention of an arm, of a group without a name, and of all groups, none overlapping, longest first.

    An arm is named by its name, an alias, or a short form of them that fits no other arm. A name behind a negation, or one that
    another arm's name goes on from ("zinc and vitamin C" where arms are "zinc" and "zinc plus vitamin C"), names no arm.
    """
    found: list[Mention] = []
    for words, key in _names(tuple(arms)):
        for match in re.finditer(_pattern(words), folded):
            found.append(Mention(match.start(), match.end(), key))
    found += [Mention(*match.span(), UNNAMED) for match in UNNAMED_GROUPS.finditer(folded)]
    found += [Mention(*match.span(), ALL) for match in ALL_GROUPS.finditer(folded)]
    kept = _apart(found)
    return tuple(_doubted(folded, mention, kept, arms) for mention in kept)


@lru_cache(maxsize=64)
def _names(arms: tuple[Arm, ...]) -> list[tuple[str, str]]:
    """All (folded name, key) that name one arm alone, short forms included."""
    full = {arm.name: {fold(name).text.strip() for name in (arm.name, *arm.aliases) if name.strip()} for arm in arms}
    short = {arm.name: {form for name in (arm.name, *arm.aliases) for form in _short_forms(name)} for arm in arms}
    found = set()
    for key, names in full.items():
        others = {word for other, rest in full.items() if other != key for name in rest for word in _words(name)}
        taken = {name for other in full if other != key for name in full[other] | short[other]}
        found |= {(name, key) for name in names if not any(name in rest for other, rest in full.items() if other != key)}
        found |= {(form, key) for form in short[key] if form not in taken and not set(_words(form)) <= others}
    return sorted(found)


def _short_forms(name: str) -> set[str]:
    """A name without its brackets, its doses, and words such as tablets or group; a short name that its brackets hold.

    Of two words that are left the first will do (`zinc` for zinc acetate tablets), of three none.
    """
    brackets = re.findall(r"\(([^()]*)\)", name)
    forms = {fold(inner).text for inner in brackets if re.fullmatch(r"[^\W_]{2,12}|(?:[Gg]roup|[Aa]rm) \w{1,3}", inner)}
    forms |= {letters.casefold() for inner in brackets for letters in re.findall(r"(?<!\w)[A-Z]{2,7}\d?(?!\w)", inner)}
    plain = _DOSE.sub(" ", fold(re.sub(r"\([^()]*\)", " ", name)).text)
    words = re.findall(r"[^\s,;]+", plain)
    while len(words) > 1 and words[-1] in _COMMON:
        words.pop()
    while len(words) > 1 and words[0] in _COMMON:
        words.pop(0)
    forms.add(" ".join(words))
    if len(words) == 2 and words[0].isalpha() and len(words[0]) >= 4 and words[0] not in _GENERIC:
        forms.add(words[0])
    return {form for form in forms if re.search(r"[^\W\d_]{2}", form) and (form not in _COMMON or form in _GENERIC)}


def _pattern(words: str) -> str:
    """The pattern of a name; words such as `control` name a group only where they plainly stand for one."""
    plain = re.escape(words)
    if words not in _GENERIC:
        return rf"(?<!\w){plain}{_TAIL}(?!\w)"
    before = r"(?:(?<![^(|;])|(?<=[,;|] )|(?<=the )|(?<=and )|(?<=vs ))"
    return rf"(?<!\w){plain}(?:s(?!\w)|(?= {_PEOPLE}))|{before}{plain}(?= ?(?:[(;|\d]|n=|$))"


def _words(name: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", name)


def _apart(found: Iterable[Mention]) -> list[Mention]:
    """Named groups before unnamed, long before short, none that overlaps another; neighbours of one key are one mention."""
    kept: list[Mention] = []
    for mention in sorted(found, key=lambda m: (m.key == UNNAMED, m.start - m.end, m.start, m.key == ALL)):
        if all(mention.end <= other.start or other.end <= mention.start for other in kept):
            kept.append(mention)
    kept.sort()
    joined: list[Mention] = []
    for mention in kept:
        if joined and joined[-1].key == mention.key and mention.start - joined[-1].end <= 1:
            joined[-1] = Mention(joined[-1].start, mention.end, mention.key)
        else:
            joined.append(mention)
    return joined


def _doubted(folded: str, mention: Mention, kept: Sequence[Mention], arms: Sequence[Arm]) -> Mention:
    """The mention, or one of no named group where words around it make it another."""
    if mention.key in (UNNAMED, ALL):
        return mention
    before = folded[max(0, mention.start - 40) : mention.start]
    if _NOT_THEM.search(before) or _ADDED_BEFORE.search(before) or _ADDED_BEHIND.match(folded, mention.end):
        return mention._replace(key=UNNAMED)
    own = next(set(_words(fold(arm.name).text)) for arm in arms if arm.name == mention.key)
    for other in kept:
        if other.key in (mention.key, UNNAMED, ALL):
            continue
        theirs = next(set(_words(fold(arm.name).text)) for arm in arms if arm.name == other.key)
        first, second = sorted((mention, other))
        nested = own < theirs or theirs < own
        if nested and _JOINED.fullmatch(folded[first.end : second.start]):
            return mention._replace(key=UNNAMED)
    return mention


_NUMERAL = r"\d+(?:\.\d+)?|" + "|".join(sorted((word for word in NUMBER_WORDS if len(word) > 2), key=len, reverse=True))
_LONG_UNITS = ("hour", "day", "week", "month", "year")
_TIME_UNIT = "|".join(sorted((word for word, unit in UNITS.items() if unit in _LONG_UNITS), key=len, reverse=True))
_NAMED_UNIT = "|".join(word for word in _TIME_UNIT.split("|") if len(word) > 2)
_NUMERALS = rf"(?:{_NUMERAL})(?:(?:, | and | or | to |, and |-)(?:{_NUMERAL})){{0,20}}"
_LISTED = rf"(?<=s.)(?:{_NUMERAL})(?:, (?:{_NUMERAL})){{0,20}}(?:,? and |,? or | to |-)(?:{_NUMERAL})"
_TIME = re.compile(
    rf"(?<!\w)(?:(?:at|after|by|until|within|through|from|during|over|for|on|post|since|before|to) )"
    rf"(?:the |about |a |approximately |first |last |end of )*(?P<many>{_NUMERALS})[ -](?P<unit>{_TIME_UNIT})(?!\w)"
    r"(?! (?:old|of age))"
    rf"|(?<![\w.])(?P<many2>{_NUMERALS})[ -](?P<unit2>{_TIME_UNIT})(?!\w)"
    r"(?= ?(?:later|after|post|follow|of follow|visit|assess|time ?point|mortality|survival))"
    rf"|(?<!\w)(?P<unit3>{_NAMED_UNIT})[ -](?P<many3>{_LISTED}|(?:{_NUMERAL}))(?![\w.]\d|\w)"
)
_NEXT_TIME = re.compile(
    rf"(?:, and |, or |, | and | or | to )(?P<many>{_NUMERALS})[ -](?P<unit>{_TIME_UNIT})(?!\w)(?! (?:old|of age))"
)
_CHANGE_FROM = re.compile(r"(?<!\w)from (?:the )?$")
_CHANGE_TO = re.compile(r" (?:to|at|until|after|through|by|over|up to)(?!\w)")
_NAMED_TIMES = re.compile(
    r"(?<!\w)(?:baseline|end of (?:the )?(?:treatment|study|trial|follow[ -]?up|intervention)|discharge|at birth)(?!\w)"
)


def time_mentions(folded: str, names: Iterable[str] = ()) -> tuple[Mention, ...]:
    """Every time point: `at 12 weeks`, `week 12`, `12-week follow-up`, lists of them, `baseline`, and the names given.

    In `from baseline to 12 weeks` baseline is no time point of its own.

    The key is the time in hours or days up to weeks and in months above, so that 12 months and one year are the same.
    """
    found: list[Mention] = []
    for match in _TIME.finditer(folded):
        group = next(name for name in ("many", "many2", "many3") if match[name])
        found += _times_of(match, group, group.replace("many", "unit"))
        found += _further(folded, match.end())
    for match in _NAMED_TIMES.finditer(folded):
        if _CHANGE_FROM.search(folded[: match.start()]) and _CHANGE_TO.match(folded, match.end()):
            continue
        found.append(Mention(*match.span(), match[0].replace("the ", "")))
        found += _further(folded, match.end())
    for name in names:
        words = fold(name).text
        if words and time_key(name) == words:
            found += [Mention(*match.span(), words) for match in re.finditer(rf"(?<!\w){re.escape(words)}(?!\w)", folded)]
    return tuple(_apart(set(found)))


def _further(folded: str, place: int) -> list[Mention]:
    """The times that go on a list behind a time: `… and 24 weeks`."""
    found: list[Mention] = []
    match = _NEXT_TIME.match(folded, place)
    while match:
        first, *rest = _times_of(match, "many", "unit")
        found += [first._replace(start=match.start("many")), *rest]
        match = _NEXT_TIME.match(folded, match.end())
    return found


def _times_of(match: re.Match[str], many: str, unit: str) -> list[Mention]:
    """One mention for every numeral of a list; the words around the list belong to its first and last."""
    numerals = list(re.finditer(_NUMERAL, match[many]))
    begins = [match.start(many) + numeral.start() for numeral in numerals]
    ends = [match.start(many) + numeral.end() for numeral in numerals]
    begins[0], ends[-1] = match.start(), match.end()
    kind = UNITS[match[unit]]
    places = zip(begins, ends, numerals, strict=True)
    return [Mention(begin, end, _time_key(numeral[0], kind)) for begin, end, numeral in places]


def time_key(words: str) -> str:
    """The key of one time point as a person or model writes it; the folded words where they hold no time."""
    folded = fold(words).text.strip()
    for text in (folded, f"at {folded}"):
        keys = {mention.key for mention in time_mentions(text)}
        if len(keys) == 1:
            return keys.pop()
    return folded


def _time_key(numeral: str, unit: str) -> str:
    number = float(NUMBER_WORDS.get(numeral) or Decimal(numeral))
    measure = hours(number, unit)
    if measure is None:
        return f"{numeral} {unit}"
    if measure[0] == "hours" and measure[1] % 24 == 0:
        return f"{measure[1] / 24:g} days"
    return f"{measure[1]:g} {measure[0]}"
