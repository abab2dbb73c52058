"""A small notation for lists of phrases, and the patterns made of it.

A line is `kind: phrase`. The words of a phrase follow one another with blanks, commas or quotation marks between them:

    (a|b c)   one of these                            (a|b)?   one of these or none
    ~  ~5     up to three (five) words of any kind    !(a|b)   not followed by one of these
    :         a colon, an equals sign or an arrow     {name}   a phrase of the list of names

Lines that are set in go on with the one above.

`kind?` is weak wherever it stands. `kind!` is an order: weak where it is told of ("were told to ignore"). `kind!!` is an order
in words that papers use too: strong only where it is plainly given, weak elsewhere, and nothing where it is told of.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from litcascade.schemas.steering.forms import WORD, fold

Level = Literal["strong", "weak"]


class SteeringKind(StrEnum):
    """What a passage tries to do."""

    OVERRIDE = "sets earlier instructions aside"
    ROLE = "gives the reader another role"
    TOKENS = "tokens of a chat template"
    VERDICT = "orders a verdict"
    FENCE = "closes the fence around the text, or answers in its place"
    AUTHORITY = "claims an authority, or a decision already made"
    FORMAT = "asks for the prompt, or for another form of answer"
    ADDRESSED = "speaks to a model"
    PRESSURE = "praises, threatens or hurries the reader"
    EXAMPLES = "worked examples with answers"
    ENCODED = "words in a code"


@dataclass(frozen=True)
class Rule:
    """A pattern over folded text, tried only where the text holds `sign` and a word of each group of `needs`.

    `width`: so many words, one after the other in the text, hold a word of each group wherever the pattern matches; 0: no bound.
    `parts`: for each part that a match must have, the words of every choice.
    """

    kind: SteeringKind
    mark: str
    needs: tuple[frozenset[str], ...]
    pattern: re.Pattern[str]
    sign: str = ""
    width: int = 0
    parts: tuple[tuple[frozenset[str], ...], ...] = ()


_ANY = 3
_GAP = r"[^\w.!?;]{1,6}"
_SIGN = r"\s*(?:[:=]+>?|->|→)\s*"
_ITEM = re.compile(r"!\([^()]*\)|\([^()]*\)\??|~\d*|\S+")
_LINE = re.compile(r"(\w+)([!?]*):\s+(.+)")


def rules(lines: str, names: Mapping[str, str] | None = None, *, spaced: bool = True) -> Iterator[Rule]:
    """The rules of a list in the notation above; `spaced=False` for scripts without blanks between words."""
    for line in filter(str.strip, re.sub(r"\n[ \t]+", " ", lines).splitlines()):
        match = _LINE.fullmatch(line.strip())
        if match is None:
            raise ValueError(f"no line of the notation: {line!r}")
        kind, mark, phrase = match.groups()
        for name, words in (names or {}).items():
            phrase = phrase.replace(f"{{{name}}}", words)
        if "{" in phrase:
            raise ValueError(f"a name that is not on the list: {line!r}")
        items = _ITEM.findall(fold(phrase))
        if spaced:
            parts = tuple(_choices(item) for item in items if item[0] not in "~!:" and not item.endswith("?"))
            needs = tuple(frozenset(max(choice, key=len) for choice in part) for part in parts)
            sets = tuple(tuple(map(frozenset, part)) for part in parts)
            pattern = re.compile(_pattern(items))
            yield Rule(SteeringKind[kind.upper()], mark, needs, pattern, width=sum(map(_width, items)), parts=sets)
        else:
            yield Rule(SteeringKind[kind.upper()], mark, (), re.compile(r"\s*".join(map(_unspaced, items))))


def raw(kind: SteeringKind, pattern: str, *needs: str, sign: str = "", mark: str = "", width: int = 0) -> Rule:
    """A rule whose pattern is a regular expression over folded text; its group 1, where it has one, is the passage."""
    return Rule(kind, mark, tuple(frozenset(words.split()) for words in needs), re.compile(pattern), sign, width)


def _choices(item: str) -> list[list[str]]:
    """The words of every choice."""
    return [WORD.findall(choice) for choice in item.strip("()?").split("|")]


def _width(item: str) -> int:
    """The most words that an item takes of a text."""
    if item == ":" or item.startswith("!("):
        return 0
    if item.startswith("~"):
        return int(item[1:] or _ANY)
    return max(map(len, _choices(item)))


def _pattern(items: list[str]) -> str:
    parts = [r"(?<!\w)"]
    needs_gap = False
    for item in items:
        if item == ":":
            parts.append(_SIGN)
            needs_gap = False
        elif item.startswith("!("):
            parts.append(rf"(?![^\w.!?;]{{0,6}}(?:{_either(item[1:])})(?!\w))")
        else:
            parts.append(_GAP if needs_gap else "")
            needs_gap = not (item.startswith("~") or item.endswith("?"))
            parts.append(_one(item))
    return "".join(parts) + ("" if items[-1] == ":" else r"(?!\w)")


def _one(item: str) -> str:
    if item.startswith("~"):
        return rf"(?:\w+{_GAP}){{0,{item[1:] or _ANY}}}?"
    if item.endswith("?"):
        return rf"(?:(?:{_either(item[:-1])}){_GAP})?"
    return f"(?:{_either(item)})"


def _either(group: str) -> str:
    return "|".join(_GAP.join(map(re.escape, choice.split())) for choice in group.strip("()").split("|"))


def _unspaced(item: str) -> str:
    if item == ":":
        return r"\s*[:=]?\s*\"?"
    if item.startswith("~"):
        return rf"[^。.!?\n]{{0,{item[1:] or 6}}}?"
    if item.startswith("!("):
        return rf"(?!\s*(?:{item[2:-1]}))"
    choices = "|".join(choice.strip() for choice in item.strip("()?").split("|"))
    return f"(?:{choices})" + ("?" if item.endswith("?") else "")
