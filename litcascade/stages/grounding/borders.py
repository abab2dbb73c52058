"""Whether a found stretch begins and ends on the border of a word or number, so that nothing is cut off."""

import re

_OPEN_NUMBER = re.compile(r"(?:\d['.,]|(?:^|[^\w])\.|[-+^_±×<>≤≥~]|\d/)$")
_MORE_NUMBER = re.compile(r"['.,]\d|[\^_%×]|[-/]\d")


def whole(folded: str, begin: int, end: int) -> bool:
    """Whether nothing that changes the meaning is cut off.

    That is part of a word (scripts without blanks between words aside), part of a number, range or ratio, the sign or
    comparison before a number, the power or percent sign behind it.
    """
    before, after = folded[max(0, begin - 3) : begin], folded[end : end + 2]
    first, last = folded[begin], folded[end - 1]
    if before and _one_word(before[-1], first):
        return False
    if after and _one_word(last, after[0]):
        return False
    numeric = first.isdigit() or (first in ".+-" and folded[begin + 1 : begin + 2].isdigit())
    if numeric and _OPEN_NUMBER.search(before):
        return False
    if first in "%^_.+-" and before[-1:].isalnum():
        return False
    if last in "-+/×^±<>≤≥~.," and after[:1].isdigit():
        return False
    return not (last.isdigit() and _MORE_NUMBER.match(after))


def _one_word(left: str, right: str) -> bool:
    return left.isalnum() and right.isalnum() and not (_unspaced(left) or _unspaced(right))


def _unspaced(character: str) -> bool:
    """Chinese, Japanese and Thai are written without blanks between words."""
    return "\u0e00" <= character <= "\u0eff" or "\u2e80" <= character <= "\u9fff" or character >= "\U00020000"
