"""Labels and free text against a quote: their words, whether those are negated, and numbered classes such as `phase 2`."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from litcascade.stages.grounding.claim import Compared, Status
from litcascade.stages.grounding.fold import fold
from litcascade.stages.grounding.negation import clause, cues, doubted, governed, without_prefix
from litcascade.stages.grounding.scene import Scene
from litcascade.stages.grounding.words import words_of

_YES = frozenset(words_of("yes true ja oui sí si done present"))
_NO = frozenset(words_of("no false nein non none absent never"))
_EMPTY = frozenset(
    words_of(
        "the and for with from was were are has had not non without trial study studies trials design type group groups arm "
        "patients participants use used using any other status method reported per this that than into each both during after "
        "before"
    )
)
_NEGATIVE_WORD = re.compile(
    r"(?<!\w)(?:non\w{5}|nicht\w{5}|un(?:adjust|blind|clear|conceal|control|fund|mask|match|pair|publish|random|regist|report|restrict|"
    r"specif|supervis|treat))"
)
_NUMBERED = re.compile(r"(?<!\w)(phase|grade|stage|class|type|level|tier|category) ([ivx]+|\d+)(?:[ab]?)(?!\w)")
_ROMAN = {"i": 1, "ii": 2, "iii": 3, "iv": 4, "v": 5, "vi": 6}


class Judged(NamedTuple):
    """A status with what was compared and a sentence for people."""

    status: Status
    words: str
    compared: tuple[Compared, ...] = ()


class Turn(NamedTuple):
    """What stands about one quoted word of a label: a negation or none, and whether it is surely about the word."""

    cue: str | None
    sure: bool


def judge_label(
    label: str, field: str, found: Sequence[Scene], languages: tuple[str, ...], choices: Sequence[str] = ()
) -> Judged:
    """A closed label: held up by its quote unless explicit words turn it round.

    Of `yes` and `no` the field's name says what is so or not. Where the quote has none of the label's words, a negation in it
    may be of anything, and a negative label cannot be told to stand; a quote that holds another of the `choices` word for word
    speaks for that one.
    """
    folded = fold(label).text
    about = fold(field.replace("_", " ")).text if folded in _YES | _NO else folded
    negative = folded in _NO or _is_negative(folded, languages)
    other = _other_class(folded, found) or _other_choice(folded, choices, found)
    if other:
        return other
    turns = [turn for scene in found for turn in _turns(_content(about), scene, languages)]
    if turns:
        return _from_turns(label, negative, turns)
    cue = next((word for scene in found if (word := _cue_in_clause(scene, languages))), None)
    return _without_words(label, negative, cue)


def judge_text(value: str, found: Sequence[Scene], languages: tuple[str, ...]) -> Judged:
    """Free text: all its words must stand in the quote, whatever their order, and not be negated there."""
    folded = fold(value).text
    wanted = _content(folded)
    quoted = [word for scene in found for word in re.findall(r"[^\W\d_]+", scene.quote())]
    missing = [word for word in wanted if not any(alike(word, other) for other in quoted)]
    if wanted and len(missing) == len(wanted):
        return Judged(Status.NO_VALUE, f'no word of "{value}" stands in the quote', (_words(value, "", False),))
    if missing:
        told = ", ".join(missing)
        return Judged(Status.AMBIGUOUS, f"not in the quote: {told}", (_words(value, f"without {told}", None),))
    turns = [turn for scene in found for turn in _turns(wanted, scene, languages) if turn.cue]
    if turns and not _is_negative(folded, languages):
        return _negated(value, max(turns, key=lambda turn: turn.sure))
    return Judged(Status.SUPPORTED, "its words stand in the quote", (_words(value, value, True),))


def alike(word: str, other: str) -> bool:
    """Whether two words share their stem: equal up to endings, four letters at least."""
    if word == other:
        return True
    shared = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), min(len(word), len(other)))
    return shared >= max(4, 0.6 * max(len(word), len(other)), 0.75 * min(len(word), len(other)))


def _content(folded: str) -> list[str]:
    words = [word for word in re.findall(r"[^\W\d_]+", folded) if len(word) >= 3 and word not in _EMPTY]
    return [without_prefix(word)[1] if word.startswith(("non", "un", "nicht")) else word for word in words]


def _is_negative(folded: str, languages: tuple[str, ...]) -> bool:
    return bool(_NEGATIVE_WORD.search(folded) or cues(folded, languages))


def _turns(wanted: Sequence[str], scene: Scene, languages: tuple[str, ...]) -> Iterator[Turn]:
    """What stands about every quoted word of the label."""
    for match in re.finditer(r"[^\W\d_]+", scene.folded):
        if not any(begin <= match.start() < end for begin, end in scene.quoted):
            continue
        prefix, base = without_prefix(match[0])
        same = any(alike(word, match[0]) for word in wanted)
        if not same and not (prefix and any(alike(word, base) for word in wanted)):
            continue
        cue = governed(scene.folded, match.start(), match.end(), languages)
        if not same:
            yield Turn(None if cue else f"{prefix}-", True)
        elif cue:
            yield Turn(cue, True)
        else:
            yield Turn(doubted(scene.folded, match.start(), match.end(), languages), False)


def _from_turns(label: str, negative: bool, turns: Sequence[Turn]) -> Judged:
    negated = [turn for turn in turns if turn.cue]
    if negative and not negated:
        return Judged(Status.NEGATED, "the label negates what the quote affirms", (_negation(label, "no negation"),))
    if negated and (not negative or any(not turn.sure for turn in negated)):
        return _negated(label, max(negated, key=lambda turn: turn.sure), plain=len(negated) < len(turns))
    if negative and len(negated) < len(turns):
        return _negated(label, negated[0], plain=True)
    return Judged(Status.SUPPORTED, "its words stand in the quote", (_words(label, "in the quote", True),))


def _negated(label: str, turn: Turn, *, plain: bool = False) -> Judged:
    """Negated where a negation is surely about the words and nothing stands against it."""
    if plain:
        return Judged(
            Status.AMBIGUOUS, f'the quote has its words with and without "{turn.cue}"', (_negation(label, turn.cue, None),)
        )
    if not turn.sure:
        return Judged(
            Status.AMBIGUOUS, f'the sentence has "{turn.cue}", and of what cannot be told', (_negation(label, turn.cue, None),)
        )
    return Judged(Status.NEGATED, f'the text negates it: "{turn.cue}"', (_negation(label, turn.cue),))


def _without_words(label: str, negative: bool, cue: str | None) -> Judged:
    if not cue and not negative:
        said = "the quote stands in the text and does not negate the label"
        return Judged(Status.SUPPORTED, said, (_words(label, "other words", None),))
    said = f'the quote has "{cue}", and of what cannot be told' if cue else "a negative label, and no negation in the quote"
    return Judged(Status.AMBIGUOUS, said, (_negation(label, cue or "no negation", None),))


def _cue_in_clause(scene: Scene, languages: tuple[str, ...]) -> str | None:
    for begin, end in scene.quoted:
        first, last = clause(scene.folded, begin, end)
        for cue in cues(scene.folded, languages):
            if first <= cue.start() < last:
                return cue[0]
    return None


def _other_class(folded: str, found: Sequence[Scene]) -> Judged | None:
    """`phase 2` against a quote that names phase 3 alone."""
    for kind, number in _NUMBERED.findall(folded):
        there = {_class(other) for scene in found for name, other in _NUMBERED.findall(scene.quote()) if name == kind}
        if there and _class(number) not in there:
            named = ", ".join(sorted(map(str, there)))
            compared = Compared(what="number", claimed=f"{kind} {number}", stands=f"{kind} {named}", agrees=False)
            return Judged(Status.NUMBER, f"the quote says {kind} {named}, not {kind} {number}", (compared,))
    return None


def _other_choice(folded: str, choices: Sequence[str], found: Sequence[Scene]) -> Judged | None:
    """Another allowed value that stands in the quote where this one does not; parts of this one are no other."""
    quote = " ".join(scene.quote() for scene in found)
    if _stands(folded, quote):
        return None
    for choice in choices:
        other = fold(choice).text
        if other not in _YES | _NO and not set(_content(other)) <= set(_content(folded)) and _stands(other, quote):
            return Judged(Status.NO_VALUE, f'the quote says "{choice}"', (_words(folded, choice, False),))
    return None


def _stands(words: str, quote: str) -> bool:
    return bool(re.search(rf"(?<!\w){re.escape(words)}(?!\w)", quote))


def _class(number: str) -> int:
    return _ROMAN.get(number) or (int(number) if number.isdigit() else 0)


def _words(claimed: str, stands: str, agrees: bool | None) -> Compared:
    return Compared(what="words", claimed=claimed, stands=stands, agrees=agrees)


def _negation(claimed: str, stands: str | None, agrees: bool | None = False) -> Compared:
    return Compared(what="negation", claimed=claimed, stands=stands or "no negation", agrees=agrees)
