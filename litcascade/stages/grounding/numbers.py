"""The numbers of a folded text, each with what it may be read as, its comparison sign, and its unit."""

import re
from decimal import Decimal
from typing import NamedTuple

from litcascade.stages.grounding.units import known, unit_of
from litcascade.stages.grounding.words import BIG_WORDS, LABEL_WORDS, NUMBER_WORDS


class Number(NamedTuple):
    """A number from `start` to `end` of the folded text, its unit up to `close`.

    `value` is the usual reading; `others` are what it may also be (`1.234` may be 1234). `compared` is the sign before it,
    one of `<`, `>`, `≤`, `≥`, `~` or empty; `unit` is in one spelling, empty where none on the list stands beside it.
    """

    start: int
    end: int
    close: int
    text: str
    value: Decimal
    others: tuple[Decimal, ...] = ()
    compared: str = ""
    unit: str = ""


_BODY = r"(?:\d{1,3}(?: \d{3})+(?!\d)|\d+)(?:[.,']\d+)*|\.\d+"
_NUMBER = re.compile(
    rf"(?P<sign>[-+]?)(?<![\w^_.])(?<!\d[.,])(?P<body>{_BODY})(?![½¼¾⅓⅔⅕⅛\d])"
    r"(?P<power>×10\^[-+]?\d+|\^[-+]?\d+|e[-+]?\d{1,3}(?!\w))?"
)
_WORD = re.compile(r"(?<![\w'])(?:" + "|".join(sorted(NUMBER_WORDS, key=len, reverse=True)) + r")(?![\w'])")
_FRACTION = re.compile(r"(?<!\w)(\d*)([½¼¾⅓⅔⅕⅛])")
_FRACTIONS = {"½": "0.5", "¼": "0.25", "¾": "0.75", "⅕": "0.2", "⅛": "0.125"}
_UNIT = re.compile(r"[ -]?(per cent|%|°c|[a-zμ]+(?:/[a-zμ]+2?)*2?)(?![\w^])")
_CITATION = re.compile(r"\[\d{1,3}(?:(?:,|-|, )\d{1,3})*\]")
_LABELLED = re.compile(rf"(?<!\w)(?:{'|'.join(LABEL_WORDS)})\.? ?$")
_COMPARED = re.compile(r"([<>≤≥~])$")
_AFTER_WORD = re.compile(rf"[ -]?(?:{'|'.join(BIG_WORDS)})(?!\w)")
_THOUSAND_TIMES = {"hundred": 100, "thousand": 1000, "million": 10**6, "billion": 10**9}


def read_numbers(folded: str, *, decimal_comma: bool = False, minus: frozenset[int] = frozenset()) -> tuple[Number, ...]:
    """All numbers of a folded text in order; digits in names (`IL-6`, `2nd`), labels (`Table 2`) and citations are none.

    `decimal_comma` says that `1,234` is first read as a decimal. `minus` are the places of signs known to be minus signs;
    another dash between a number and a blank may be either, and the number has both readings.
    """
    cited = [match.span() for match in _CITATION.finditer(folded)]
    found: list[Number] = []
    for match in _NUMBER.finditer(folded):
        at = match.start()
        if any(begin <= at < end for begin, end in cited) or _LABELLED.search(folded[max(0, at - 14) : at]):
            continue
        found += _numbers(folded, match, decimal_comma, minus)
    found += [number for match in _WORD.finditer(folded) if (number := _from_word(folded, match))]
    found += [_from_fraction(folded, match) for match in _FRACTION.finditer(folded) if match[2] in _FRACTIONS]
    return tuple(sorted(found))


def _numbers(folded: str, match: re.Match[str], decimal_comma: bool, minus: frozenset[int]) -> list[Number]:
    start, end = match.span("body")
    body, power = match["body"], match["power"]
    signed = _signs(folded, match, minus)
    if not signed:
        return []
    close, unit, part_of_word = _unit(folded, match.end())
    if part_of_word:
        return []
    read = readings(body, decimal_comma)
    if not read:
        return _list_of(match, unit, close)
    if power:
        read, end = _raised(read, power), match.end()
    if not read:
        return []
    read, close = _scaled(folded, read, close)
    values = [value.copy_sign(Decimal(sign)) for sign in signed for value in read]
    begin = start - 1 if signed[0] < 0 else start
    compared = _COMPARED.search(folded[max(0, begin - 1) : begin])
    return [Number(begin, end, close, folded[begin:end], values[0], tuple(values[1:]), compared[1] if compared else "", unit)]


def _signs(folded: str, match: re.Match[str], minus: frozenset[int]) -> tuple[int, ...]:
    """What the sign before the number makes of it; empty where the hyphen belongs to a name."""
    if match["sign"] != "-":
        return (1,)
    place = match.start("sign")
    before = folded[:place][-2:]
    if before[-1:].isalpha():
        return ()
    if before[-1:].isdigit() or before[-1:] in ("%", ")"):
        return (1,)
    beside = before[-1:] == " " and (before[:1].isdigit() or before[:1] in ("%", ")"))
    return (-1, 1) if beside and place not in minus else (-1,)


def _unit(folded: str, end: int) -> tuple[int, str, bool]:
    """Where the unit ends, the unit, and whether letters directly behind make the digits part of a word."""
    match = _UNIT.match(folded, end)
    glued = folded[end : end + 1].isalpha()
    if match and known(match[1]):
        return match.end(), unit_of(match[1]), False
    return end, "", glued


def readings(body: str, decimal_comma: bool = False) -> list[Decimal]:
    """What digits with points, commas and blanks can mean, the usual meaning first; empty where they are no one number."""
    plain = re.sub(r"(?<=\d)'(?=\d{3}(?!\d))", "", body)
    if re.fullmatch(r"\d+|\d*\.\d+|\d{4,}\.\d{3}", plain) and not re.fullmatch(r"[1-9]\d{0,2}\.\d{3}", plain):
        return [Decimal(plain)]
    if " " in plain:
        return _grouped_by_blanks(plain, decimal_comma)
    if re.fullmatch(r"[1-9]\d{0,2}[.,]\d{3}", plain):
        joined, decimal = Decimal(re.sub("[.,]", "", plain)), Decimal(plain.replace(",", "."))
        return [decimal, joined] if ("," in plain) == decimal_comma else [joined, decimal]
    if re.fullmatch(r"[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", plain):
        return [Decimal(plain.replace(",", ""))]
    if re.fullmatch(r"[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?", plain) and plain.count(".") + plain.count(",") > 1:
        return [Decimal(plain.replace(".", "").replace(",", "."))]
    if not re.fullmatch(r"\d+,\d+", plain):
        return []
    parts = [] if decimal_comma or plain[0] == "0" else [Decimal(part) for part in plain.split(",")]
    return [Decimal(plain.replace(",", ".")), *parts]


def _grouped_by_blanks(plain: str, decimal_comma: bool) -> list[Decimal]:
    groups = plain.split(" ")
    last = readings(groups[-1], decimal_comma)
    whole = re.fullmatch(r"(\d{3})(?:[.,](\d+))?", groups[-1])
    if not whole:
        return []
    joined = Decimal("".join(groups[:-1]) + whole[1] + (f".{whole[2]}" if whole[2] else ""))
    return [joined, *(Decimal(group) for group in groups[:-1]), *last]


def _raised(read: list[Decimal], power: str) -> list[Decimal]:
    """Scientific notation has one meaning; a raised digit behind a number may be a power or a mark of a note."""
    exponent = int(re.sub(r"^(?:×10\^|\^|e)", "", power))
    if abs(exponent) > 300:
        return []
    if power[0] in "×e":
        return [value.scaleb(exponent) for value in read]
    return [read[0] ** exponent if read[0] or exponent > 0 else read[0], *read]


def _scaled(folded: str, read: list[Decimal], close: int) -> tuple[list[Decimal], int]:
    """`1.2 million` is 1,200,000; it may also be told as 1.2 with the unit million."""
    match = re.compile(r" ?(hundred|thousand|million|billion)(?!\w)").match(folded, close)
    if not match:
        return read, close
    return [read[0] * _THOUSAND_TIMES[match[1]], *read], match.end()


def _list_of(match: re.Match[str], unit: str, close: int) -> list[Number]:
    """`12,15,18` is three numbers; with points between (a date, a version) none."""
    body, start = match["body"], match.start("body")
    if not re.fullmatch(r"\d+(?:,\d+)+", body):
        return []
    numbers = [
        Number(start + m.start(), start + m.end(), start + m.end(), m[0], Decimal(m[0])) for m in re.finditer(r"\d+", body)
    ]
    return [*numbers[:-1], numbers[-1]._replace(unit=unit, close=close)]


def _from_word(folded: str, match: re.Match[str]) -> Number | None:
    if _AFTER_WORD.match(folded, match.end()) or (match[0] == "one" and folded.startswith(" of", match.end())):
        return None
    close, unit, _ = _unit(folded, match.end())
    return Number(match.start(), match.end(), close, match[0], Decimal(NUMBER_WORDS[match[0]]), (), "", unit)


def _from_fraction(folded: str, match: re.Match[str]) -> Number:
    close, unit, _ = _unit(folded, match.end())
    value = Decimal(match[1] or 0) + Decimal(_FRACTIONS[match[2]])
    return Number(match.start(), match.end(), close, match[0], value, (), "", unit)
