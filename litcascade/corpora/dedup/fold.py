"""Text folded to a key: entities decoded, case and accents gone, every mark a blank. Display text is never folded."""

import html
import re
import unicodedata

_ENTITY = re.compile(r"&(#?\w+);")
_TAG = re.compile(
    r"</?(?:i|b|u|em|strong|su[bp]|sc|scp|span|p|br|title|italic|bold|jats:\w+|mml:\w+)(?:\s[^<>]*)?/?>", re.IGNORECASE
)
_LETTERS = {"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ß": "ss", "&": " and "}
_GREEK_NAMES = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi psi omega"
)
_GREEK = dict(zip("αβγδεζηθικλμνξοπρστυφχψω", _GREEK_NAMES.split(), strict=True))
_UNSPACED = ((0x3040, 0x30FF), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3134F))


def decode(text: str) -> str:
    """HTML entities decoded twice, whatever their case; known markup removed (`p < 0.05` is no markup)."""
    for _ in range(2):
        if "&" in text:
            text = _ENTITY.sub(_entity, text)
    return _TAG.sub("", text) if "<" in text else text


def _entity(match: re.Match[str]) -> str:
    whole = match.group(0)
    plain = html.unescape(whole)
    return plain if plain != whole else html.unescape(whole.casefold())


class _Folds(dict[int, str]):
    """What each character becomes, worked out on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    special = _LETTERS.get(character.casefold())
    if special:
        return special
    parts = unicodedata.normalize("NFKD", character).casefold()
    kept = "".join(_LETTERS.get(part, part) for part in parts if not _is_accent(part))
    letters = "".join(c if c.isalnum() or unicodedata.category(c).startswith("M") else " " for c in kept)
    if any(low <= ord(character) <= high for low, high in _UNSPACED):
        return f" {letters} "
    if character in "'’`´ʼ" or (not kept and parts):
        return ""
    return letters


def _is_accent(character: str) -> bool:
    """Accents over and under letters, Hebrew points and Arabic vowels; not the vowel signs of Indic scripts."""
    joining = unicodedata.combining(character)
    return 10 <= joining <= 35 or joining >= 200


_FOLDS = _Folds()
_GREEK_WORD = re.compile(r"(?<![α-ω])[α-ω](?![α-ω])")


def fold(text: str) -> str:
    """Words parted by single blanks: no case, no accents, no marks; `&` is `and`, a lone Greek letter its name.

    Every character of scripts written without blanks is a word of its own. Letters of no script are lost.
    """
    if text.isascii() and text.isalpha():
        return text.casefold()
    folded = " ".join(decode(text).translate(_FOLDS).split())
    if folded.isascii():
        return folded
    return " ".join(_GREEK_WORD.sub(lambda match: f" {_GREEK[match.group(0)]} ", folded.replace("ς", "σ")).split())
