"""Which rules a text gives reason to try, told by its words and signs alone."""

import re
from collections.abc import Iterator
from functools import cache

from litcascade.schemas.steering.english import ENGLISH
from litcascade.schemas.steering.forms import WORD
from litcascade.schemas.steering.languages import LANGUAGES, UNSPACED
from litcascade.schemas.steering.phrases import Rule

_COMMON = frozenset(
    WORD.findall(
        "this the it my our as is are has have been to for from in on you we if i all any every be no only with study "
        "studies trial article report paper abstract record patients people include included keep selected treat score "
        "rate system review reviews criteria now act should must will could may a an and positive response result "
        "recommendation decision model not ai si hi se da la el al ein eine un una le sie "
    )
)
_IDEOGRAPH = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")


@cache
def _index() -> tuple[dict[str, tuple[Rule, ...]], tuple[Rule, ...]]:
    """Rules by every word of the group that papers use least, and the rules tried on every text."""
    index: dict[str, list[Rule]] = {}
    for rule in (*ENGLISH, *LANGUAGES):
        for word in min(rule.needs, key=lambda words: (len(words & _COMMON), -min(map(len, words))), default=()):
            index.setdefault(word, []).append(rule)
    return {word: tuple(group) for word, group in index.items()}, tuple(rule for rule in ENGLISH if not rule.needs)


def candidates(text: str, words: frozenset[str]) -> Iterator[Rule]:
    """The rules whose signs and words a folded text holds; `words` are its words."""
    index, always = _index()
    yield from (rule for rule in always if rule.sign in text)
    if not index.keys().isdisjoint(words):
        tried = {id(rule): rule for word in index.keys() & words for rule in index[word]}
        yield from (rule for rule in tried.values() if not any(needed.isdisjoint(words) for needed in rule.needs))
    if not text.isascii() and _IDEOGRAPH.search(text):
        yield from UNSPACED


def spoken(text: str, tokens: list[str], words: frozenset[str]) -> bool:
    """Whether any rule matches a folded text; `tokens` are its words in their order, `words` those of them that rules need.

    A rule of bounded width is tried only where some stretch of so many words has a word of each group that it needs.
    """
    index, always = _index()
    for rule in always:
        if rule.sign in text and rule.pattern.search(text):
            return True
    for word in index.keys() & words:
        for rule in index[word]:
            for needed in rule.needs:
                if needed.isdisjoint(words):
                    break
            else:
                if rule.sign in text and (not rule.width or _together(rule, tokens, words, word)) and rule.pattern.search(text):
                    return True
    return not text.isascii() and is_ideograph(text) and any(rule.pattern.search(text) for rule in UNSPACED)


def _together(rule: Rule, tokens: list[str], words: frozenset[str], word: str) -> bool:
    """Whether all that a rule needs stands near an occurrence of one of its words."""
    if not _complete(rule, words):
        return False
    for at in [at for at, token in enumerate(tokens) if token == word]:
        near = frozenset(tokens[max(0, at - rule.width + 1) : at + rule.width])
        if not any(needed.isdisjoint(near) for needed in rule.needs) and _complete(rule, near):
            return True
    return False


def _complete(rule: Rule, words: frozenset[str]) -> bool:
    """Whether some choice of every part of a rule has all its words among these."""
    return all(any(choice <= words for choice in part) for part in rule.parts)


@cache
def needed_words() -> frozenset[str]:
    """All words that rules need, and those of all choices of their parts."""
    groups = [
        group for rule in (*ENGLISH, *LANGUAGES) for group in (*rule.needs, *(words for part in rule.parts for words in part))
    ]
    return frozenset().union(*groups)


def is_ideograph(text: str) -> bool:
    """Whether a text has characters of scripts that set no blanks between words."""
    return bool(_IDEOGRAPH.search(text))
