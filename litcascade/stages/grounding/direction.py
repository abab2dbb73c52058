"""Which way a sentence says that something went, and for which arm."""

import re
from collections.abc import Sequence

from litcascade.stages.grounding.claim import Direction
from litcascade.stages.grounding.mentions import Mention
from litcascade.stages.grounding.negation import clause, governed
from litcascade.stages.grounding.words import HIGHER, LOWER, SAME

_HIGHER = re.compile(rf"(?<!\w)(?:{HIGHER})(?!\w)")
_LOWER = re.compile(rf"(?<!\w)(?:{LOWER})(?!\w)")
_SAME = re.compile(rf"(?<!\w)(?:{SAME})(?!\w)")
_REFERENCE = re.compile(r"(?<!\w)(?:than|(?:compared|relative|comparison|contrast) (?:with|to)|versus|vs|against|over)(?!\w)")
_NOT_A_DIRECTION = re.compile(
    r"(?:more|less|fewer|greater|higher|lower) than (?:or equal to )?[\d.]|or (?:more|less|fewer)(?!\w)|more or less"
)
_OPPOSITE: dict[Direction, Direction] = {"higher": "lower", "lower": "higher", "no difference": "no difference"}


def directions(folded: str, arms: Sequence[Mention], arm: str | None, languages: tuple[str, ...]) -> set[Direction] | None:
    """The directions that a sentence states for `arm`, as its words go where `arm` is None; empty where it states none.

    None: a direction is stated, but not for which arm. `less in A than in B` is lower for A and higher for B. "Not
    significantly higher" is no difference.
    """
    found: set[Direction] = set()
    for place, direction in _stated(folded, languages):
        first, last = clause(folded, *place)
        turned = _turned(folded, [mention for mention in arms if first <= mention.start < last], arm)
        if turned is None and direction != "no difference":
            return None
        found.add(_OPPOSITE[direction] if turned else direction)
    return found


def _stated(folded: str, languages: tuple[str, ...]) -> list[tuple[tuple[int, int], Direction]]:
    apart = [match.span() for match in _NOT_A_DIRECTION.finditer(folded)]
    same = [match.span() for match in _SAME.finditer(folded)]
    stated: list[tuple[tuple[int, int], Direction]] = [(place, "no difference") for place in same]
    ways: tuple[tuple[re.Pattern[str], Direction], ...] = ((_HIGHER, "higher"), (_LOWER, "lower"))
    for pattern, direction in ways:
        for match in pattern.finditer(folded):
            if any(begin <= match.start() < end for begin, end in [*apart, *same]):
                continue
            negated = governed(folded, match.start(), match.end(), languages)
            stated.append((match.span(), "no difference" if negated else direction))
    return sorted(stated)


def _turned(folded: str, arms: Sequence[Mention], arm: str | None) -> bool | None:
    """Whether the arm is the one that others are compared with; None where that cannot be told."""
    if arm is None:
        return False
    named = {mention.key for mention in arms}
    if arm not in named:
        return None
    if len(named) == 1:
        only = next(mention for mention in arms)
        return _after_reference(folded, only, arms)
    references = [mention for mention in arms if _after_reference(folded, mention, arms)]
    keys = {mention.key for mention in references}
    if len(keys) != 1 or len(named) != 2:
        return None
    return arm in keys


def _after_reference(folded: str, mention: Mention, arms: Sequence[Mention]) -> bool:
    """Whether a word of comparison stands before the mention with no other mention between."""
    begin = max((other.end for other in arms if other.end <= mention.start), default=0)
    return bool(_REFERENCE.search(folded[begin : mention.start]))
