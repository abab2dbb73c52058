"""Whether two values of a field are the same, by the rule that the field declares."""

import math
import re
import unicodedata
from collections.abc import Callable
from fractions import Fraction
from numbers import Integral, Real
from typing import Any

from litcascade.errors import InputError
from litcascade.schemas.fields.spec import FieldSpec, folded
from litcascade.schemas.fields.values import is_nothing

SameText = Callable[[str, str], bool]


def same_number(gold: float, value: float, *, relative: float = 0.0, absolute: float = 0.0, factor: float = 1.0) -> bool:
    """Whether |gold - factor * value| <= max(relative * |gold|, absolute).

    Worked out on the decimal digits as they are written: with factor 1000, 1.1 is 1100, and a value on the very edge of
    the tolerance is the same. Anything but finite numbers, a tolerance below 0 or a factor of 0 or less is an
    `InputError`.
    """
    told, found, share, span, scale = map(exact, (gold, value, relative, absolute, factor))
    if share < 0 or span < 0 or scale <= 0:
        raise InputError("a tolerance may not be below 0, and a unit factor must be above 0")
    return abs(told - scale * found) <= max(share * abs(told), span)


def exact(number: float) -> Fraction:
    """The number by its decimal digits; what is not a finite number is an `InputError`."""
    if isinstance(number, Integral) and not isinstance(number, bool):
        return Fraction(int(number))
    if isinstance(number, bool) or not isinstance(number, Real) or not math.isfinite(number):
        raise InputError(f"{number!r} is not a finite number and cannot be compared")
    return Fraction(str(float(number)))


def same_value(spec: FieldSpec, one: Any, other: Any, same_text: SameText | None = None) -> bool:
    """Whether two values are the same by the field's rule; nothing is the same as nothing alone.

    `same_text` judges open fields under "normalised" and "judge"; without one, texts are compared after folding case, accents,
    blanks and punctuation. Rows of groups are compared in their order (`eval.groups` aligns them first).
    """
    if is_nothing(spec, one) or is_nothing(spec, other):
        return is_nothing(spec, one) and is_nothing(spec, other)
    loose = spec.rule.rule == "normalised"
    match spec.kind:
        case "number":
            alike = one == other and {type(one), type(other)} <= {int, float} and math.isfinite(one)
            return alike or same_number(one, other, relative=spec.rule.relative, absolute=spec.rule.absolute)
        case "open":
            judge = same_text or same_words
            return bool(one == other if spec.rule.rule == "exact" else judge(str(one), str(other)))
        case "date":
            short = min(len(str(one)), len(str(other)))
            return bool(str(one)[:short] == str(other)[:short] if loose else one == other)
        case "multi":
            mine, theirs = ({folded(str(item)) if loose else item for item in side} for side in (one, other))
            return mine == theirs
        case "group":
            pairs = [(mine, theirs, field) for mine, theirs in zip(one, other, strict=False) for field in spec.fields]
            same = all(same_value(field, a.get(field.name), b.get(field.name), same_text) for a, b, field in pairs)
            return same and len(one) == len(other)
        case _:
            return folded(str(one)) == folded(str(other)) if loose else bool(one == other)


def same_words(one: str, other: str) -> bool:
    """Whether two texts hold the same words and numbers in the same order; case, accents and punctuation apart."""
    return _words(one) == _words(other) != []


def _words(text: str) -> list[str]:
    plain = "".join(char for char in unicodedata.normalize("NFKD", text).casefold() if not unicodedata.combining(char))
    plain = re.sub(r"(?<=\d),(?=\d{3}\b)", "", plain)
    return re.findall(r"-?\d+(?:\.\d+)?|\w+", plain)
