"""Numbers of a sentence that belong together (`12/40 (30%)`), and lists of such groups (`12 and 15`)."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from litcascade.stages.grounding.mentions import Mention
from litcascade.stages.grounding.numbers import Number


class Group(NamedTuple):
    """Numbers that say one thing; `start` and `end` enclose them with their units."""

    start: int
    end: int
    numbers: tuple[Number, ...]


_NOUN = (
    r"(?:patients|participants|subjects|children|women|men|adults|infants|people|persons|cases|events|deaths|episodes|points?|"
    r"days?|weeks?|months?|years?|hours?|beats/min|episodes)"
)
_INSIDE = re.compile(
    rf"[)\]]?(?: ?{_NOUN})? ?(?:/|±|-|to|of|of the|out of|out of the|from|[(\[](?:n=|sd|se|sem|iqr|range|median|mean|ci)?"
    r"[ =:]*) ?"
)
_BESIDE_BRACKET = re.compile(r"(?: [a-z]+){0,2}[(\[](?:of |n=|sd|se|sem|iqr|range|ci|95% ci|p)?[ =:<>≤≥±]*")
_WITHIN_BRACKET = re.compile(r"[,;]? ?(?:(?:n|sd|se|sem|iqr|range|mean|median|ci95%|ci|p|to|-|/|of|±)[ =:<>≤≥]*){0,2}")
_CONNECTOR = r"(?:, and|, or|,|;|and|or|vs\.?|versus|compared (?:with|to)|as against|against|&)"
_BETWEEN = re.compile(rf"(?: ?{_NOUN})?\)? ?{_CONNECTOR} ?")
_BETWEEN_LOOSE = re.compile(rf"(?: [a-z]+){{0,2}}\)?(?: [a-z]+){{0,2}} ?{_CONNECTOR} ?(?:in |the |by ){{0,2}}")
_PARTED = re.compile(r"(?<!\w)(?:vs|versus|and|compared|against)(?!\w)|;")


def groups(folded: str, numbers: Sequence[Number], mentions: Sequence[Mention]) -> tuple[Group, ...]:
    """The numbers in groups: joined by `/ ± -`, `of`, `to`, or in brackets right behind, with no name between."""
    found: list[list[Number]] = []
    for number in numbers:
        if found and _joined(folded, found[-1], number, mentions):
            found[-1].append(number)
        else:
            found.append([number])
    return tuple(Group(members[0].start, _close(folded, members), tuple(members)) for members in found)


def _joined(folded: str, members: list[Number], number: Number, mentions: Sequence[Mention]) -> bool:
    last = members[-1]
    if last.close > number.start or any(last.close <= mention.start < number.start for mention in mentions):
        return False
    gap = _squeezed(folded[last.close : _begin(number)])
    if _depth(folded, members[0].start, number.start) > 0:
        opened = _depth(folded, members[0].start, last.end) > 0
        return (
            bool(_WITHIN_BRACKET.fullmatch(gap))
            if opened
            else bool(_BESIDE_BRACKET.fullmatch(gap)) and _one_thing(folded, number)
        )
    return bool(_INSIDE.fullmatch(gap)) or (gap == "" and folded[number.start] != " ")


def _begin(number: Number) -> int:
    return number.start - len(number.compared)


def _one_thing(folded: str, number: Number) -> bool:
    """Whether the bracket that a number stands in does not set two things against each other."""
    inner = re.split(r"[)\]]", folded[number.start :], maxsplit=1)[0]
    return not _PARTED.search(inner)


def _depth(folded: str, begin: int, end: int) -> int:
    stretch = folded[begin:end]
    return stretch.count("(") + stretch.count("[") - stretch.count(")") - stretch.count("]")


def _close(folded: str, members: list[Number]) -> int:
    end = members[-1].close
    return end + 1 if _depth(folded, members[0].start, end) > 0 and folded[end : end + 1] in (")", "]") else end


def _squeezed(gap: str) -> str:
    return re.sub(r" {2,}", " ", gap)


def number_lists(folded: str, found: Sequence[Group], mentions: Sequence[Mention], *, loose: bool) -> list[list[Group]]:
    """Groups in lists of one or more: parted by commas, `and`, `vs`, with no name between.

    `loose` (the sentence says "respectively") allows up to two further words between.
    """
    between = _BETWEEN_LOOSE if loose else _BETWEEN
    lists: list[list[Group]] = []
    for group in found:
        before = lists[-1][-1] if lists else None
        named = before and any(before.end <= mention.start < group.start for mention in mentions)
        if before and not named and between.fullmatch(_squeezed(folded[before.end : _begin(group.numbers[0])])):
            lists[-1].append(group)
        else:
            lists.append([group])
    return lists


_NAME_GAP = re.compile(
    rf"(?: (?:groups?|arms?|patients|participants|recipients|treatment|therapy))? ?{_CONNECTOR}"
    r"(?: (?:in|the|those|with|on|for|to|receiving|given|patients|group|at|after))* ?"
)


def name_lists(folded: str, mentions: Sequence[Mention], stops: Mapping[Mention, int]) -> list[list[Mention]]:
    """Mentions in lists of one or more: `zinc and placebo`, `zinc (n=40), gargle and placebo`; two parted by a comma are none.

    `stops` says where each mention ends with the bracket behind it.
    """
    lists: list[list[Mention]] = []
    gaps: list[str] = []
    for mention in mentions:
        gap = _squeezed(folded[stops[lists[-1][-1]] : mention.start]) if lists else ""
        if lists and _NAME_GAP.fullmatch(gap):
            lists[-1].append(mention)
            gaps[-1] = gap
        else:
            lists.append([mention])
            gaps.append("")
    return [members for members, gap in zip(lists, gaps, strict=True) if not gap or not re.match(r" ?[,;] ?(?!and|or)", gap)]
