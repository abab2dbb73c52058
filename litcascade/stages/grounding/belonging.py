"""Which arm or time point a number belongs to: by order in parallel lists, else by what stands next to it in its clause."""

import re
from collections.abc import Sequence
from itertools import pairwise

from litcascade.stages.grounding.grouping import Group, groups, name_lists, number_lists
from litcascade.stages.grounding.mentions import ALL, UNNAMED, Mention
from litcascade.stages.grounding.numbers import Number
from litcascade.stages.grounding.words import MORE_OR_LESS, STATISTIC

Owners = frozenset[str]

_NOBODY: Owners = frozenset()
_TIGHT_LIMIT = 60
_LOOSE_LIMIT = 160
_VERSUS = r"vs|versus|compared|against|than"
_BREAK = re.compile(rf";|(?<!\w)(?:whereas|while|but|although|though|however|wherein|{_VERSUS})(?!\w)")
_PARTS = re.compile(r";|(?<!\w)(?:whereas|while|but|although|though|however|wherein)(?!\w)")
_NOT_TIGHT = re.compile(
    rf"[,;:()]|(?<!\w)(?:and|or|{_VERSUS}|relative|who|whom|which|whose|switched|crossed|others?|total|to whom|excess)(?!\w)"
)
_JOINS = re.compile(r"(?<!\w)(?:and|or)(?!\w)")
_REFERENCE = re.compile(
    r"(?<!\w)(?:than|vs\.?|versus|against|(?:compared|relative|comparison|contrast) (?:with|to)|unlike|over)"
    r"(?: (?:the|in|with|on|for|those|that|receiving|of|patients|among)){0,4} $"
)
_STATISTIC_BEFORE = re.compile(rf"(?<!\w)(?:{STATISTIC})(?: of| was| is|,| for| were)?[ =:<>≤≥~(]*(?:of )?$|(?<!\w)by[ ~]*$")
_NAMED_STATISTIC = re.compile(
    r"(?<!\w)(?:(?:odds|hazard|risk|rate|incidence) ratios?|relative risks?|(?:mean|risk|absolute|standardi[sz]ed) differences?|"
    r"effect sizes?|number needed)(?!\w)"
)
_CONJUNCTION = re.compile(r"\w ?or $")
_MEASURE = r"(?:points?|percentage points?|fold|times|patients|participants|events|deaths|cases|days|units?|mg|g|kg|mmhg|mm)"
_RELATIVE_BEHIND = re.compile(rf"(?:[ -]{_MEASURE})?[ -](?:{MORE_OR_LESS})(?!\w)|%? ?(?:ci|confidence)(?!\w)")
_OTHERS_AHEAD = re.compile(
    r"[-\d.,%/ ±()]*(?: ?\w+){0,3} (?:receiv\w+|given|assigned|randomi[sz]ed|allocated|served|treated|took|taking|got|having|"
    r"in|on|with|among|to|for|who|whose|others?)(?!\w)"
)
_OF_THEM = re.compile(r"(?:^'?|[;:] ?)(?:of|among)(?: the)? $")
_BRACKET = re.compile(r"(?: (?:groups?|arms?|patients|recipients|participants))? ?[(\[][^()\[\]]*[)\]]")
_OPEN_BRACKET = re.compile(r" ?(?:groups?|arms?|patients)? ?[(\[][^()\[\]]*$")
_SET_AGAINST = re.compile(r"(?<!\w)(?:vs|versus|compared|against|or)(?!\w)|;")


class _Sentence:
    """A sentence with its groups of numbers and its names, brackets right behind a name counted to it."""

    def __init__(self, folded: str, found: Sequence[Group], mentions: Sequence[Mention]) -> None:
        self.folded = folded
        self.found = found
        self.mentions = mentions
        self.stops = {mention: self._stop(mention) for mention in mentions}

    def _stop(self, mention: Mention) -> int:
        bracket = _BRACKET.match(self.folded, mention.end)
        return bracket.end() if bracket else mention.end

    def numbered(self, begin: int, end: int) -> bool:
        """Whether a number stands between two places."""
        return any(begin <= group.start < end for group in self.found)

    def parted(self, before: Mention, behind: Mention) -> bool:
        """Whether a number or a new clause stands between two names."""
        begin = self.stops[before]
        return bool(_PARTS.search(self.folded[begin : behind.start])) or self.numbered(begin, behind.start)

    def reference(self, mention: Mention) -> bool:
        """Whether others are compared with this name (`than placebo`)."""
        return bool(_REFERENCE.search(self.folded[max(0, mention.start - 50) : mention.start]))


def owners(
    folded: str, numbers: Sequence[Number], mentions: Sequence[Mention], masked: Sequence[Mention] = ()
) -> dict[Number, Owners]:
    """For every number of a sentence the keys of the names it may belong to; one key where it can be told, else several or none.

    `masked` are mentions of another kind (time points while arms are looked for): they are read over. A difference between
    groups, a ratio, a confidence limit belong to no one group.
    """
    plain = _without(folded, masked)
    sentence = _Sentence(plain, groups(plain, numbers, mentions), mentions)
    told = _parallel(sentence)
    lists = number_lists(plain, sentence.found, mentions, loose=False)
    against = {group for members in lists for group in _set_against(plain, members)}
    result: dict[Number, Owners] = {}
    for group in sentence.found:
        keys = told.get(group)
        if _between_groups(plain, group):
            keys = _NOBODY
        elif keys is None:
            keys = _NOBODY if group in against else _beside(sentence, group)
        result.update(dict.fromkeys(group.numbers, keys))
    return result


def sole(keys: Owners) -> str | None:
    """The one named key, or None where there are none, several, or a group without a name."""
    if len(keys) != 1:
        return None
    (key,) = keys
    return None if key in (UNNAMED, ALL) else key


def _without(folded: str, masked: Sequence[Mention]) -> str:
    for mention in masked:
        folded = f"{folded[: mention.start]}{' ' * (mention.end - mention.start)}{folded[mention.end :]}"
    return folded


def _set_against(folded: str, members: Sequence[Group]) -> Sequence[Group]:
    """The groups of a list whose members cannot all belong to one name (`12 vs 15`; anything told "respectively")."""
    if len(members) < 2:
        return ()
    against = "respectively" in folded or _SET_AGAINST.search(folded[members[0].start : members[-1].end])
    return members if against else ()


def _between_groups(folded: str, group: Group) -> bool:
    """Whether the number is a difference, a ratio, a confidence limit or a p value."""
    before = folded[max(0, group.start - 40) : group.start]
    clause = re.split(r"\d|;", folded[max(0, group.start - 120) : group.start])[-1]
    if _NAMED_STATISTIC.search(clause):
        return True
    if _STATISTIC_BEFORE.search(before) and not _CONJUNCTION.search(before):
        return True
    return bool(_RELATIVE_BEHIND.match(folded, group.end))


def _parallel(sentence: _Sentence) -> dict[Group, Owners]:
    """`A and B were 12 and 15`: the first to the first. Only where the one list of names meets lists of as many groups.

    Without "respectively" there must be one such list of numbers, and no name that others are compared with stands first.
    """
    ordered = "respectively" in sentence.folded
    names = [members for members in name_lists(sentence.folded, sentence.mentions, sentence.stops) if len(members) > 1]
    if len(names) != 1 or len(sentence.mentions) != len(names[0]) or sentence.reference(names[0][0]):
        return {}
    if len({mention.key for mention in names[0]}) != len(names[0]):
        return {}
    lists = number_lists(sentence.folded, sentence.found, sentence.mentions, loose=ordered)
    lists = [some for some in lists if len(some) > 1 and not any(_between_groups(sentence.folded, group) for group in some)]
    if not lists or any(len(members) != len(names[0]) for members in lists) or (not ordered and len(lists) > 1):
        return {}
    return {group: frozenset({name.key}) for members in lists for group, name in zip(members, names[0], strict=True)}


def _beside(sentence: _Sentence, group: Group) -> Owners:
    """The owners of a group that parallel lists do not tell."""
    bracketed = _in_bracket_of(sentence, group)
    if bracketed is not None:
        return bracketed
    ahead, behind = _ahead(sentence, group.end), _behind(sentence, group.start)
    if behind and _taken(sentence, group.start):
        behind = _NOBODY
    return ahead | behind


def _in_bracket_of(sentence: _Sentence, group: Group) -> Owners | None:
    """The name that the group stands in a bracket behind; None where it stands in no such bracket."""
    holders = [mention for mention in sentence.mentions if mention.end <= group.start < sentence.stops[mention]]
    if not holders or not _OPEN_BRACKET.fullmatch(sentence.folded[holders[0].end : group.start]):
        return None
    holder = holders[0]
    alone = not any(not holder.end <= other.start < sentence.stops[holder] for other in sentence.found)
    return _NOBODY if sentence.reference(holder) and alone else frozenset({holder.key})


def _ahead(sentence: _Sentence, end: int) -> Owners:
    """The name that follows closely: `12 of 40 in the zinc arm`."""
    later = [mention for mention in sentence.mentions if mention.start >= end]
    if not later:
        return _NOBODY
    gap = sentence.folded[end : later[0].start]
    if len(gap) > _TIGHT_LIMIT or _NOT_TIGHT.search(gap) or sentence.numbered(end, later[0].start):
        return _NOBODY
    keys = {later[0].key}
    for before, mention in pairwise(later):
        if sentence.parted(before, mention):
            break
        keys.add(mention.key)
    return frozenset(keys)


def _behind(sentence: _Sentence, start: int) -> Owners:
    """The name before, in the same clause: `the zinc arm had 12`."""
    earlier = [mention for mention in sentence.mentions if mention.end <= start]
    if not earlier:
        return _NOBODY
    last = earlier[-1]
    stop = min(sentence.stops[last], start)
    gap = sentence.folded[stop:start]
    if len(gap) > _LOOSE_LIMIT or _BREAK.search(gap):
        return _NOBODY
    if _closes_bracket(gap) or not _reaches(sentence, stop, start):
        return _NOBODY
    keys = {last.key, UNNAMED} if sentence.reference(last) and not _in_turn(sentence, earlier, gap) else {last.key}
    for before, mention in zip(earlier[-2::-1], earlier[:0:-1], strict=False):
        if sentence.parted(before, mention):
            break
        keys.add(before.key)
    return frozenset(keys)


def _in_turn(sentence: _Sentence, earlier: Sequence[Mention], gap: str) -> bool:
    """Whether each of two compared names has its number right behind it (`zinc 12/40 vs placebo 15/41`)."""
    if len(earlier) < 2 or not re.fullmatch(r"(?: (?:groups?|arms?))? ?:? ?", gap):
        return False
    first, second = earlier[-2:]
    between = sentence.folded[first.end : second.start]
    return sentence.numbered(first.end, second.start) and bool(re.match(r"(?: (?:groups?|arms?))? ?:? ?\d", between))


def _closes_bracket(gap: str) -> bool:
    """Whether the name before stands in a bracket that ends before the number."""
    depth = 0
    for character in gap:
        depth += (character in "([") - (character in ")]")
        if depth < 0:
            return True
    return False


def _reaches(sentence: _Sentence, stop: int, start: int) -> bool:
    """Whether nothing between a name and a number speaks of someone else.

    Up to the first number that is any "and" or "or"; from number to number "or", "and" that does not go on with a number, and
    words behind the number that give it to others (`40 patients, and 41 received gargle`).
    """
    between = [group for group in sentence.found if stop <= group.start < start]
    if not between:
        return not _JOINS.search(sentence.folded[stop:start])
    if _JOINS.search(sentence.folded[stop : between[0].start]) or _OTHERS_AHEAD.match(sentence.folded, start):
        return False
    ends, begins = [group.end for group in between], [*(group.start for group in between[1:]), start]
    return all(_goes_on(sentence.folded[end:begin]) for end, begin in zip(ends, begins, strict=True))


def _goes_on(gap: str) -> bool:
    joins = list(_JOINS.finditer(gap))
    return not joins or (len(joins) == 1 and joins[0][0] == "and" and gap[joins[0].end() :].strip() == "")


def _taken(sentence: _Sentence, start: int) -> bool:
    """Whether the name before follows a number of its own (`12 in zinc, 15 in placebo`)."""
    last = [mention for mention in sentence.mentions if mention.end <= start][-1]
    before = [group for group in sentence.found if group.end <= last.start]
    gap = sentence.folded[sentence.stops[last] : start]
    if not before or not re.match(r"(?: (?:groups?|arms?|patients))? ?(?:,|and|;|to |vs|versus|compared)", gap):
        return False
    if _OF_THEM.search(sentence.folded[: before[-1].start]):
        return False
    return last.key in _ahead(sentence, before[-1].end)
