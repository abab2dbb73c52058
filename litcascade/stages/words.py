"""The verdict words, in every language that is on the list. What is not listed is not guessed."""

from collections.abc import Mapping
from typing import Literal

Word = Literal["include", "exclude", "unclear"]
Words = Mapping[str, Word]

_ENGLISH: dict[Word, str] = {
    "include": "yes include included relevant eligible",
    "exclude": "no exclude excluded irrelevant ineligible nope",
    "unclear": "maybe unclear unsure uncertain undecided n/a unknown",
}
_OTHERS: dict[Word, str] = {
    "include": "ja oui sí sim sì да 是 符合 包括 纳入 はい 예",
    "exclude": "nein non não нет 否 不符合 不是 排除 いいえ 아니요",
    "unclear": "vielleicht unklar peut-être",
}
ENGLISH: dict[str, Word] = {word: meaning for meaning, words in _ENGLISH.items() for word in words.split()}
MEANING: dict[str, Word] = ENGLISH | {word: meaning for meaning, words in _OTHERS.items() for word in words.split()}

DECISION_KEYS = ("decision", "verdict", "answer", "label", "include", "included", "eligible", "relevant")
BOOLEAN_KEYS = ("include", "included", "eligible", "relevant", "answer")


def words_of(include: str, exclude: str) -> Words:
    """The words that count for a reader with these two labels; its labels come first.

    Where the labels are not yes and no, those words are not verdicts: in prose they answer single criteria.
    """
    own: dict[str, Word] = {include.strip().casefold(): "include", exclude.strip().casefold(): "exclude"}
    if "yes" in own or "no" in own:
        return {**MEANING, **own}
    plain = {word: meaning for word, meaning in ENGLISH.items() if word not in ("yes", "no", "nope")}
    return {**plain, **own}


def contradicts(include: str, exclude: str) -> str | None:
    """The label, if one, that the list reads the other way round (such as `no` for the including word)."""
    for label, wrong in ((include, "exclude"), (exclude, "include")):
        if MEANING.get(label.strip().casefold()) in (wrong, "unclear"):
            return label
    return None


def meaning(word: object, words: Words = MEANING) -> Word | None:
    """The meaning of a whole answer word, case and surrounding blanks aside; None where it is not on the list."""
    return words.get(word.strip().casefold()) if isinstance(word, str) else None
