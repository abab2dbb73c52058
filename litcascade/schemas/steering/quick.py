"""A quick look that most texts pass: it proves, from their words and signs alone, that no rule and no disguise is in them.

It errs to one side only: a text that it does not pass is read in full. What it looks for is made of the lists of phrases.
"""

from typing import NamedTuple

from litcascade.schemas.steering.candidates import is_ideograph, needed_words, spoken
from litcascade.schemas.steering.english import COMPACT
from litcascade.schemas.steering.forms import (
    BACKWARDS,
    LOOKS,
    WORD,
    beyond_ascii,
    coded,
    controlled,
    digits_for_letters,
    folded,
    has_codes,
    has_long_words,
    marked_up,
    tokens_of,
    unseen,
)

_MANY = 24
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz")
_SPELLED = tuple(frozenset(words[1:-1]) for words in COMPACT)
_ASCII = map(chr, range(128))
_BLANKS = {sign: folded(sign) for sign in _ASCII if not unseen(sign) and folded(sign) != sign.lower()}
_SOUGHT = needed_words() | BACKWARDS | _LETTERS
_FEWEST = min(map(len, _SPELLED))


class _Plain(dict[str, tuple[str, tuple[tuple[str, str], ...]] | None]):
    """What a character beyond ASCII is in folded text, and what then stands in ASCII for that; None: only a full reading is sure.

    In ASCII a letter that no list of phrases has is a low line, and a sign is a blank.
    """

    def __missing__(self, character: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
        self[character] = plain = _plain(character)
        return plain


def _plain(character: str) -> tuple[str, tuple[tuple[str, str], ...]] | None:
    whole = folded(character)
    settled = all(part.isascii() or folded(part) == part for part in whole) and whole.lower() == whole
    if unseen(character) or not settled or "_" in whole or is_ideograph(whole):
        return None
    beyond = [part for part in dict.fromkeys(whole) if not part.isascii()]
    if any(part in word for part in beyond for word in _SOUGHT):
        return None
    return whole, tuple((part, "_" if WORD.match(part) else " ") for part in beyond)


_PLAIN = _Plain()


def quiet(text: str) -> bool:
    """Whether a text surely has no finding; False says nothing. Takes little longer than finding the words of the text."""
    odd = beyond_ascii(text)
    if "_" in text or len(odd) > _MANY or has_codes(text) or controlled(text):
        return False
    read = _read(text, odd)
    if read is None or _disguised(text, read) or spoken(read.text, read.tokens, read.words):
        return False
    looks = odd & LOOKS.keys()
    return not looks or _quiet_in_latin(text, odd, looks)


def _quiet_in_latin(text: str, odd: frozenset[str], looks: frozenset[str]) -> bool:
    """Whether no rule matches the text with Latin letters for those that look like them."""
    for look in looks:
        text = text.replace(look, LOOKS[look])
    read = _read(text, odd - looks)
    return read is not None and not spoken(read.text, read.tokens, read.words)


class _Read(NamedTuple):
    """A folded text, the same in ASCII, its words in their order, and those of them that are sought."""

    text: str
    plain: str
    tokens: list[str]
    words: frozenset[str]


def _read(text: str, odd: frozenset[str]) -> _Read | None:
    """A text folded; `odd` are its characters beyond ASCII; None where one of them needs a full reading."""
    left: list[tuple[str, str]] = []
    for character in odd:
        plain = _PLAIN[character]
        if plain is None:
            return None
        if plain[0] != character:
            text = text.replace(character, plain[0])
        left += plain[1]
    if odd:
        for blank, plain_blank in _BLANKS.items():
            text = text.replace(blank, plain_blank)
    whole = in_ascii = text.lower()
    for part, sign in left:
        in_ascii = in_ascii.replace(part, sign)
    tokens = tokens_of(in_ascii)
    return _Read(whole, in_ascii, tokens, _SOUGHT.intersection(tokens))


def _disguised(text: str, read: _Read) -> bool:
    """Whether there is reason to take a disguise off, look-alike letters and invisible characters aside."""
    spelled = read.words & _LETTERS
    return (
        marked_up(text, read.text)
        or digits_for_letters(read.plain)
        or not BACKWARDS.isdisjoint(read.words)
        or (len(spelled) >= _FEWEST and any(letters <= spelled for letters in _SPELLED))
        or (has_long_words(read.plain) and any(True for _ in coded(text)))
    )
