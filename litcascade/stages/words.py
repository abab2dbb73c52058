"""The verdict words, in every language that is on the list. What is not listed is not guessed."""

from typing import Literal

Word = Literal["include", "exclude", "unclear"]

_WORDS: dict[Word, str] = {
    "include": "yes include included relevant eligible ja oui sí sim sì да 是 符合 包括 纳入 はい 예",
    "exclude": "no exclude excluded irrelevant ineligible nope nein non não нет 否 不符合 不是 排除 いいえ 아니요",
    "unclear": "maybe unclear unsure uncertain undecided n/a unknown vielleicht unklar peut-être",
}
MEANING: dict[str, Word] = {word: meaning for meaning, words in _WORDS.items() for word in words.split()}

DECISION_KEYS = ("decision", "verdict", "answer", "label", "include", "included", "eligible", "relevant")
BOOLEAN_KEYS = ("include", "included", "eligible", "relevant", "answer")


def meaning(word: object) -> Word | None:
    """The meaning of a whole answer word, case and surrounding blanks aside; None where it is not on the list."""
    return MEANING.get(word.strip().casefold()) if isinstance(word, str) else None
