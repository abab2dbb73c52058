"""A text folded for comparing, with the way back: every folded character knows the original characters it came from."""

import html
import re
import unicodedata
from array import array
from collections.abc import Callable
from typing import NamedTuple


class Folded(NamedTuple):
    """A folded text; its character `i` came from the original characters `starts[i]` up to but not including `ends[i]`."""

    text: str
    starts: "array[int]"
    ends: "array[int]"


_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+-")
_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_LOWER = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZ", "abcdefghijklmnopqrstuvwxyz")
_ALIKE = (
    dict.fromkeys("‐‑‒–−﹣－", "-")
    | dict.fromkeys('‘’‚‛′´`ʹʼ“”„‟″«»"', "'")
    | dict.fromkeys("⩽≦≲", "≤")
    | dict.fromkeys("⩾≧≳", "≥")
    | dict.fromkeys("∼〜～", "~")
    | dict.fromkeys("⁄∕", "/")
    | dict.fromkeys("∙⋅‧", "·")
    | dict.fromkeys("º˚", "°")
    | dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff", "")
)
_SUSPENDED = r"(?:and|or|to|vs|versus|und|oder|bis|sowie|et|ou|y|o|e|en|of)\b"
_LETTER = r"[^\W\d_]"
_NEAR_NUMBER = r"(?<![\d%)])(?<![\d%)]\s)"

_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_RAISED_RUN = re.compile(r"[⁰¹²³⁴-⁹⁺⁻]+")
_LOWERED_RUN = re.compile(r"[₀-₉]+")
_SPACED_MINUS = re.compile(_NEAR_NUMBER + r"−\s+(?=[.·]?\d)")
_SOFT_HYPHEN = re.compile(r"\xad+(?:[ \t]*\n?[ \t]*)(?=(\d)?)")
_LONG_DASH = re.compile(r"(?<!\s)\s*+[—―⸺](?=\s*(\d)?)\s*+")
_BEYOND_ASCII = re.compile(r"[\x00-\x7f]?[^\x00-\x7f]+|\"|`")
_DOUBLED = re.compile(r"<=|>=|\+/-|''+")
_DOUBLED_TO = {"<=": "≤", ">=": "≥", "+/-": "±"}
_MIDDLE_DOT = re.compile(r"(?<=\d)·(?=\d)|(?<!\d)·(?=\d)(?<=[\s(=<>≤≥±-]·)")
_TIMES_TEN = re.compile(r"(?<=\d) ?[·x×*] ?(?=10\^)")
_SQUARE = re.compile(r"(?<=m)\^(?=[23](?!\d))")
_HYPHEN = re.compile(rf"(?<={_LETTER})-(?:[^\S\n]*\n\s*+| (?!\n))?(?={_LETTER})(?!{_SUSPENDED})|(?<={_LETTER})-(?={_LETTER})")
_HYPHEN_LINE = re.compile(r"(?<=[^\s-])-[ \t]*\n\s*+(?=\d)|(?<=\d)-[ \t]*\n\s*+(?=\w)" + rf"(?!{_SUSPENDED})")
_BLANKS = re.compile(
    r"\s+(?=[=<>≤≥±/×)\]%(\[])|(?<=[=<>≤≥±/×(\[])\s+|\s+(?=[,;:.](?:\s|$))|\s{2,}|[^\S ]",
)


def fold(text: str) -> Folded:
    """Fold what typesetting and copying change, and nothing else; O(n) in time and memory.

    Folded: case, blanks and line ends, hyphens inside words and at line ends, soft hyphens, ligatures, quotation marks,
    dashes and minus signs, entities, compatible characters (NFKC), blanks beside `= < > ( ) % / ±`. Digits are never
    changed, joined or parted: `10²` becomes `10^2`, `½` stays, `1,204` and `1204` differ. A middle dot between digits is a
    decimal point; `m²` is `m2`.
    """
    folded = Folded(text, array("I", range(len(text))), array("I", range(1, len(text) + 1)))
    for _ in range(2):
        folded = _edit(folded, _ENTITY, lambda match: html.unescape(match[0]))
    folded = _edit(folded, _SPACED_MINUS, lambda _: "−")
    folded = _edit(folded, _RAISED_RUN, lambda match: "^" + match[0].translate(_RAISED))
    folded = _edit(folded, _LOWERED_RUN, _lowered)
    folded = _edit(folded, _SOFT_HYPHEN, lambda match: "-" if match[1] else "")
    folded = _edit(folded, _LONG_DASH, _long_dash)
    folded = _plain_letters(folded)
    folded = _edit(folded, _DOUBLED, lambda match: _DOUBLED_TO.get(match[0], "'"))
    folded = _edit(folded, _TIMES_TEN, lambda _: "×")
    folded = _edit(folded, _MIDDLE_DOT, lambda _: ".")
    folded = _edit(folded, _SQUARE, _square)
    folded = _edit(folded, _HYPHEN_LINE, lambda _: "-")
    folded = _edit(folded, _HYPHEN, lambda _: "")
    return _edit(folded, _BLANKS, _blank)


def _edit(folded: Folded, pattern: re.Pattern[str], new: Callable[[re.Match[str]], str]) -> Folded:
    """Replace every match; what comes new maps to all that it replaces."""
    text, starts, ends = folded
    parts: list[str] = []
    firsts, lasts = array("I"), array("I")
    at = 0
    for match in pattern.finditer(text):
        begin, end = match.span()
        words = new(match)
        parts += (text[at:begin], words)
        firsts += starts[at:begin]
        lasts += ends[at:begin]
        firsts.extend([starts[begin]] * len(words))
        lasts.extend([ends[end - 1]] * len(words))
        at = end
    if not at:
        return folded
    return Folded("".join([*parts, text[at:]]), firsts + starts[at:], lasts + ends[at:])


def _lowered(match: re.Match[str]) -> str:
    """`H₂O` is written H2O, but a lowered digit behind a digit stays apart."""
    before = match.string[match.start() - 1 : match.start()]
    digits = match[0].translate(_LOWERED)
    return digits if before.isalpha() else f"_{digits}"


def _long_dash(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()]
    if match[1] and not before.isalpha() and match[0].strip() == match[0]:
        return "-"
    return " - "


def _square(match: re.Match[str]) -> str:
    """The square or cube of a metre loses its mark; nothing else does."""
    unit = re.search(r"[^\W\d_]+$", match.string[max(0, match.start() - 4) : match.start()])
    return "" if unit and re.fullmatch(r"[cdkmnμ]?m", unit[0]) else "^"


def _blank(match: re.Match[str]) -> str:
    before = match.string[match.start() - 1 : match.start()] or " "
    after = match.string[match.end() : match.end() + 1] or " "
    if before in "=<>≤≥±/×([" or after in "=<>≤≥±/×)]%([":
        return ""
    return "" if after in ",;:." and match.string[match.end() + 1 : match.end() + 2].strip() == "" else " "


def _plain_letters(folded: Folded) -> Folded:
    """Letters and signs in their plain form, one base letter with its marks at a time."""
    text, starts, ends = folded
    if text.isascii() and '"' not in text and "`" not in text:
        return Folded(text.translate(_LOWER), starts, ends)
    parts: list[str] = []
    firsts, lasts = array("I"), array("I")
    at = 0
    for match in _BEYOND_ASCII.finditer(text):
        begin, end = match.span()
        parts.append(text[at:begin])
        firsts += starts[at:begin]
        lasts += ends[at:begin]
        for first, last in _clusters(text, begin, end):
            words = _plain(text[first:last])
            parts.append(words)
            firsts.extend([starts[first]] * len(words))
            lasts.extend([ends[last - 1]] * len(words))
        at = end
    parts.append(text[at:])
    return Folded("".join(parts).translate(_LOWER), firsts + starts[at:], lasts + ends[at:])


def _clusters(text: str, begin: int, end: int) -> list[tuple[int, int]]:
    """The places of base characters with the marks that follow them."""
    found: list[tuple[int, int]] = []
    for place in range(begin, end):
        joins = unicodedata.combining(text[place]) or "\u1160" <= text[place] <= "\u11ff"
        if found and joins and not text[place - 1].isspace():
            found[-1] = (found[-1][0], place + 1)
        else:
            found.append((place, place + 1))
    return found


def _plain(cluster: str) -> str:
    if cluster in _ALIKE:
        return _ALIKE[cluster]
    plain = unicodedata.normalize("NFKC", cluster)
    if plain != cluster and any(c.isdigit() for c in plain) and not any(c.isdecimal() for c in cluster):
        return cluster
    plain = unicodedata.normalize("NFKC", plain.casefold())
    return "".join(_ALIKE.get(c, c) for c in plain)
