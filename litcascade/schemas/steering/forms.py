"""The forms in which a passage may hide: text folded to one alphabet and case, and the disguises that are taken off.

Every form knows where its characters stand in the original, so that a person is shown what was really written.
"""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property

INVISIBLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
WORD = re.compile(r"\w+")
_UNSEEN = re.compile(f"[{INVISIBLE}]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f]")


@dataclass(frozen=True)
class Form:
    """A text to look at; `origin(i)` is where its character i stands in the original, `how` names the disguise taken off.

    `open`: what stands around a passage tells what it is, as in the plain text; a disguise that no honest text wears is not
    open. `compact`: the text has no blanks.
    """

    text: str
    how: str
    origin: Callable[[int], int]
    open: bool = False
    compact: bool = False

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of the form."""
        return words_of(self.text)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a passage of this form stands in the original."""
        ends = self.origin(start), self.origin(max(start, end - 1))
        return min(ends), max(ends) + 1


_MARKS = dict.fromkeys("‘’‚‛ʼ′´", "'") | dict.fromkeys("“”„‟«»「」『』″", '"') | dict.fromkeys("‐‑‒–—―－", "-")


class _Folds(dict[int, str]):
    """What each character becomes, worked out on first use: one width, small letters, no accents, blanks plain."""

    def __missing__(self, code: int) -> str:
        self[code] = folded = _fold_character(chr(code))
        return folded


def _fold_character(character: str) -> str:
    if character in _MARKS:
        return _MARKS[character]
    if _UNSEEN.match(character) or _CONTROL.match(character):
        return ""
    if character.isspace():
        return "\n" if character in "\n\r\v\f\x85\u2028\u2029" else " "
    plain = unicodedata.normalize("NFKC", character)
    parts = unicodedata.normalize("NFKD", plain)
    if parts[:1].isalpha() and unicodedata.name(parts[0], "").startswith(("LATIN", "GREEK", "CYRILLIC")):
        plain = "".join(part for part in parts if not unicodedata.combining(part))
    elif unicodedata.category(character) == "Mn" and "\u0300" <= character <= "\u036f":
        return ""
    return plain.casefold()


_FOLDS = _Folds()
_APART = {code: " " for code in range(128) if not WORD.match(chr(code))}
_ASCII = bytes(range(128))
_CONTROLS = bytes(code for code in range(128) if _CONTROL.match(chr(code)))


def fold(text: str) -> str:
    """The text in small letters of one width, without accents and invisible characters; every blank a plain one."""
    return text.lower() if _simple(text) else text.translate(_FOLDS)


def folded(character: str) -> str:
    """What one character becomes in folded text; an ASCII text without characters of control keeps its blanks."""
    return _FOLDS[ord(character)]


def words_of(text: str) -> frozenset[str]:
    """The words of a text: runs of letters, digits and low lines."""
    return frozenset(tokens_of(text))


def tokens_of(text: str) -> list[str]:
    """The words of a text in their order."""
    return text.translate(_APART).split() if text.isascii() else WORD.findall(text)


def beyond_ascii(text: str) -> frozenset[str]:
    """The characters of a text that are not ASCII, each once."""
    if text.isascii():
        return frozenset()
    return frozenset(text.encode("utf-8", "surrogatepass").translate(None, _ASCII).decode("utf-8", "surrogatepass"))


def controlled(text: str) -> bool:
    """Whether a text has characters of control, those beyond ASCII aside."""
    return len(plain := text.encode("ascii", "ignore")) != len(plain.translate(None, _CONTROLS))


def unseen(character: str) -> bool:
    """Whether folding leaves a character out as one that is not to be seen: invisible or of control."""
    return bool(_UNSEEN.match(character) or _CONTROL.match(character))


def _simple(text: str) -> bool:
    return text.isascii() and not controlled(text)


def _alphabet() -> dict[int, int]:
    """Letters of other alphabets and styles that look like Latin ones."""
    pairs = [
        ("АВЕЅІЈКМНОРСТУХҮԌԚԜӀ", "ABESIJKMHOPCTYXYGQWI"), ("авеѕіјкмнорстухүԁһԛԝӏгпьԍ", "abesijkmhopctyxydhqwlrnbg"),
        ("ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϹ", "ABEZHIKMNOPTYXC"), ("αβεηικνορτυχωςϲγ", "abenikvoptuxwscy"),
        ("օսհոեցքզ", "ouhnegqq"), ("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "ABCDEFGHIJKLMNOPRSTUVWYZ"),
        ("ıɑɡℓ℮øɩʋƖ", "iagleoivl"), ("ꓮꓐꓚꓓꓰꓖꓧꓲꓗꓡꓟꓠꓳꓑꓣꓢꓔꓴꓦꓪꓫꓬ", "ABCDEGHIKLMNOPRSTUVWXY"), ("ᎪᏟᎬᎻᏆᎷᎡᏚᎢᎳ", "ACEHIMRSTW"),
    ]  # fmt: skip
    look = {ord(other): ord(latin) for others, latins in pairs for other, latin in zip(others, latins, strict=True)}
    for first in (0x1F150, 0x1F170, 0x1F1E6):
        look |= {first + number: ord("a") + number for number in range(26)}
    return look


_LOOKS = _alphabet()
LOOKS = {chr(other): chr(latin) for other, latin in _LOOKS.items()}
_LOOKING = frozenset(LOOKS)
_LEET = str.maketrans("01345789@$!|", "oieastbgasil")
_KINDS = bytes(
    ord("a" if chr(code) in "abcdefghijklmnopqrstuvwxyz" else "0" if chr(code) in "013457@$!" else " ") for code in range(256)
)
_IN_WORD = re.compile(r"[a-z][013457@$!]{1,2}[a-z]")
_SPACED = re.compile(r"(?<![^\W\d_])(?:[a-z][ \t._*|/-]{1,3}){7,}[a-z](?![^\W\d_])")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-f]{1,6}|[a-z]{2,10});|\\u[0-9a-f]{4}|\\x[0-9a-f]{2}|%[2-7][0-9a-f]", re.IGNORECASE)
_PERCENT = re.compile("%[2-7]")
_TAG = re.compile(r"</?[a-z][^<>]{0,200}>")
_TAGS = re.compile("[\U000e0020-\U000e007e]{3,}")
_REVERSED = frozenset(("snoitcurtsni", "noitcurtsni", "erongi", "edulcni", "rewsna", "drageirsid"))
_ROTATED = frozenset(("vafgehpgvbaf", "vafgehpgvba", "vtaber", "vapyhqr", "nafjre"))
BACKWARDS = _REVERSED | _ROTATED
_FEW = 7
LONG = 20
_IN_WORDS = bytes(ord("a" if code < 128 and WORD.match(chr(code)) else " ") for code in range(256))
_LONG_WORD = b"a" * LONG
_TOKEN = re.compile(rf"\S{{{LONG},}}")
_CODES = {
    "base64": re.compile(rf"(?<![\w+/-])[\w+/-]{{{LONG},}}={{0,2}}", re.ASCII),
    "hexadecimal": re.compile(r"(?<!\w)(?:(?:0x|\\x)?[0-9A-Fa-f]{2}){10,}(?!\w)"),
    "zeros and ones": re.compile(r"(?<!\d)(?:[01]{8}){5,}(?!\d)"),
}


def forms(text: str) -> Iterator[Form]:
    """The folded text first, then every disguise that the text gives reason to take off."""
    folded = fold(text)
    origin = _origin(text)
    plain = Form(folded, "", origin, open=True)
    yield plain
    if not text.isascii():
        if not _LOOKING.isdisjoint(text):
            yield Form(fold(text.translate(_LOOKS)), "look-alike letters", origin)
        if _UNSEEN.search(text):
            spaced = _UNSEEN.sub(" ", text)
            yield Form(fold(spaced), "invisible characters", _origin(spaced), open=True)
            yield Form(folded, "invisible characters", origin, compact=True)
            yield from _tagged(text)
    yield from _letters(plain)
    if ">" in text and (tags := list(_TAG.finditer(folded))):
        kept = sorted(set(range(len(folded))).difference(*(range(*tag.span()) for tag in tags)))
        yield Form("".join(folded[at] for at in kept), "markup between letters", _listed(kept, origin), open=True)
    yield from _entities(text)
    if max(map(len, plain.words), default=0) >= LONG:
        yield from coded(text)


def _same(at: int) -> int:
    return at


def _origin(text: str) -> Callable[[int], int]:
    """Where each character of the folded text stands; worked out only when it is asked for."""
    if _simple(text):
        return _same
    places = cache(lambda: [at for at, character in enumerate(text) for _ in _FOLDS[ord(character)]])
    return lambda at: places()[at]


def _listed(places: list[int], origin: Callable[[int], int]) -> Callable[[int], int]:
    return lambda at: origin(places[at])


def _tagged(text: str) -> Iterator[Form]:
    for match in _TAGS.finditer(text):
        words = "".join(chr(ord(character) - 0xE0000) for character in match.group())
        yield Form(fold(words), "tag characters", _stretched(match.start(), len(words), len(words)))


def _letters(plain: Form) -> Iterator[Form]:
    """Digits for letters, letters spaced out, the text backwards, the alphabet turned by thirteen."""
    folded, origin = plain.text, plain.origin
    if digits_for_letters(folded):
        yield Form(folded.translate(_LEET), "digits for letters", origin)
        yield Form(folded.translate(_LEET | {ord("1"): "l"}), "digits for letters", origin)
    if sum(len(word) == 1 for word in plain.words) > _FEW:
        for match in _SPACED.finditer(folded):
            places = [at for at in range(match.start(), match.end()) if folded[at].isalpha()]
            yield Form("".join(folded[at] for at in places), "letters spaced out", _listed(places, origin), compact=True)
    if not _REVERSED.isdisjoint(plain.words):
        yield Form(folded[::-1], "text backwards", lambda at: origin(len(folded) - 1 - at))
    if not _ROTATED.isdisjoint(plain.words):
        yield Form(codecs.encode(folded, "rot13"), "letters turned by thirteen", origin)


def digits_for_letters(text: str) -> bool:
    """Whether a folded text has two words or more with digits or signs in the midst of letters."""
    kinds = text.encode("ascii", "replace").translate(_KINDS)
    return kinds.count(b"a0a") + kinds.count(b"a00a") > 1 and len(_IN_WORD.findall(text)) > 1


def has_long_words(text: str) -> bool:
    """Whether an ASCII text has words so long that they may be a code."""
    return _LONG_WORD in text.encode("ascii").translate(_IN_WORDS)


def marked_up(text: str, folded: str) -> bool:
    """Whether a text has tags of markup."""
    return ">" in text and bool(_TAG.search(folded))


def has_codes(text: str) -> bool:
    """Whether a text has codes of characters: an entity or an escape, or three percent codes."""
    if not ("&" in text or "\\" in text or ("%" in text and _PERCENT.search(text))):
        return False
    found = _ENTITY.findall(text)
    return any(code[0] != "%" for code in found) or len(found) > 2


def _entities(text: str) -> Iterator[Form]:
    """Codes of characters (HTML entities, escapes, percent signs) as the characters they stand for, twice over."""
    if has_codes(text):
        plain, places = _unescape(text)
        again, inner = _unescape(plain)
        at_first = [places[at] for at in inner]
        twice = _origin(again)
        yield Form(fold(again), "codes of characters", lambda at: at_first[twice(at)], open=True)


def coded(text: str) -> Iterator[Form]:
    """Passages in a code that hold words once they are decoded."""
    for token in _TOKEN.finditer(text):
        for how, pattern in _CODES.items():
            for match in pattern.finditer(text, *token.span()):
                words = _decode(how, match.group())
                if words and _like_words(words):
                    yield Form(fold(words), how, _stretched(match.start(), len(match.group()), len(words)))


def _stretched(start: int, length: int, letters: int) -> Callable[[int], int]:
    return lambda at: start + min(length - 1, at * length // letters)


def _unescape(text: str) -> tuple[str, list[int]]:
    parts: list[str] = []
    places: list[int] = []
    last = 0
    for match in _ENTITY.finditer(text):
        plain = _character(match.group())
        parts += [text[last : match.start()], plain]
        places += [*range(last, match.start()), *[match.start()] * len(plain)]
        last = match.end()
    return "".join([*parts, text[last:]]), [*places, *range(last, len(text))]


def _character(code: str) -> str:
    return html.unescape(code) if code[0] == "&" else chr(int(code.lstrip("\\%uUxX"), 16))


def _decode(how: str, coded: str) -> str | None:
    try:
        return _bytes(how, coded).decode("utf-8")
    except (ValueError, binascii.Error):
        return None


def _bytes(how: str, coded: str) -> bytes:
    if how == "base64":
        bare = coded.rstrip("=").replace("-", "+").replace("_", "/")
        return base64.b64decode(bare + "=" * (-len(bare) % 4))
    if how == "hexadecimal":
        return bytes.fromhex(re.sub(r"0x|\\x", "", coded))
    return bytes(int(bits, 2) for bits in re.findall(r"[01]{8}", coded))


def _like_words(text: str) -> bool:
    """Whether nine in ten characters are letters and blanks or marks of a sentence, with a blank or ideograph among them."""
    ordinary = sum(character.isalpha() or character in " \n,.;:!?'\"<>/|_()-" for character in text)
    return ordinary >= 0.9 * len(text) and bool(re.search(r"\w\s\w|[\u3040-\u9fff]", text))
