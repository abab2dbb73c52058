"""Whether words in a sentence are said not to be so: explicit cues, in the languages of the text."""

import re
from functools import lru_cache

from litcascade.stages.grounding.words import NEGATIONS, NO_NEGATION, PREFIXES

_CLAUSE = re.compile(
    r"[;:]|,? (?:but|whereas|while|although|though|however|sondern|aber|mais|pero|ma)(?!\w)|, (?:and|which|who|und|et|y|e)(?!\w)"
)
_WORDS_BEFORE = 4
_SAID_OF_IT = re.compile(
    r"(?: \w+){0,2} (?:was|were|is|are|could|did|does|had|has|wurde|wurden|war|waren|fue|fueron|foi|è|était|"
    r"werd|n'a|n'était|ne fut)"
    r"(?: \w+)? | ?[:-] "
)


@lru_cache(maxsize=64)
def cue_pattern(languages: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of all cues of these languages."""
    words = "|".join(NEGATIONS[name] for name in languages)
    return re.compile(rf"(?<!\w)(?:{words})(?!\w)|(?<=\w)n't(?!\w)|(?<!\w)n'(?=\w)")


def cues(text: str, languages: tuple[str, ...]) -> list[re.Match[str]]:
    """The negations of a folded text; `not only`, `no fewer than`, `no. 5` are none."""
    apart = [match.span() for match in NO_NEGATION.finditer(text)]
    found = cue_pattern(languages).finditer(text)
    return [match for match in found if not any(begin <= match.start() < end for begin, end in apart)]


def clause(text: str, begin: int, end: int) -> tuple[int, int]:
    """The clause around a stretch of a folded sentence."""
    borders = [match.span() for match in _CLAUSE.finditer(text)]
    first = max((close for _, close in borders if close <= begin), default=0)
    last = min((start for start, _ in borders if start >= end), default=len(text))
    return first, last


def governed(text: str, begin: int, end: int, languages: tuple[str, ...]) -> str | None:
    """The cue that turns the words from `begin` to `end` round, or None.

    That is a cue at most four words before in the same clause, a cue in what is said of them ("blinding was not done"), or
    a negating prefix of the word itself.
    """
    first, last = clause(text, begin, end)
    for cue in cues(text, languages):
        if first <= cue.start() and cue.end() <= begin and len(text[cue.end() : begin].split()) <= _WORDS_BEFORE:
            return cue[0]
        if end <= cue.start() < last and _SAID_OF_IT.fullmatch(text[end : cue.start()]):
            return cue[0]
    return None


def doubted(text: str, begin: int, end: int, languages: tuple[str, ...]) -> str | None:
    """A cue elsewhere in the clause, of which it cannot be told whether it is about the words; None where there is none."""
    first, last = clause(text, begin, end)
    return next((cue[0] for cue in cues(text, languages) if first <= cue.start() and cue.end() <= last), None)


def without_prefix(word: str) -> tuple[str, str]:
    """A negating prefix of a word and the rest of it (`nonrandomised`); no prefix where the rest would be short."""
    for prefix in PREFIXES:
        if word.startswith(prefix) and len(word) - len(prefix) >= 5:
            return prefix, word[len(prefix) :]
    return "", word
