"""Numbers of a claim against the numbers of its quote: same value, same unit, same arm, same time point."""

import math
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import NamedTuple

from litcascade.stages.grounding.belonging import Owners, sole
from litcascade.stages.grounding.claim import Compared, Status
from litcascade.stages.grounding.fold import fold
from litcascade.stages.grounding.grouping import groups
from litcascade.stages.grounding.labels import Judged
from litcascade.stages.grounding.mentions import ALL, UNNAMED
from litcascade.stages.grounding.numbers import Number, read_numbers
from litcascade.stages.grounding.scene import Scene
from litcascade.stages.grounding.units import COUNTED, known

_CHOICES_LIMIT = 200
_SHARED_UNIT = re.compile(r" ?(?:-|to|±|and|or|vs\.?|versus|,) ?")
_TIME_FIELDS = re.compile(r"follow|duration|time|week|month|day|year|age|period|length|hour|when")
_FAULTS = {"number": Status.NUMBER, "unit": Status.UNIT, "arm": Status.ARM, "time point": Status.TIME}


class Wanted(NamedTuple):
    """What the numbers of one value must be: their arm and time point by key, their unit, whether they stand together."""

    numbers: tuple[Number, ...]
    as_text: bool
    unit: str
    arm: str | None
    time: str | None
    timely: bool


def wanted_numbers(value: str | int | float) -> tuple[Number, ...]:
    """The numbers of one value; none where a text holds none or a float is not finite."""
    if isinstance(value, str):
        return read_numbers(fold(value).text)
    if isinstance(value, float) and not math.isfinite(value):
        return ()
    plain = str(Decimal(value)) if isinstance(value, int) else repr(value)
    return (Number(0, len(plain), len(plain), plain, Decimal(plain)),)


def is_timely(field: str, unit: str) -> bool:
    """Whether a value may itself be a time (a duration, an age), so that `at 12 weeks` can hold it."""
    return unit in ("hour", "day", "week", "month", "year", "minute", "second") or bool(_TIME_FIELDS.search(field.casefold()))


def judge_numbers(wanted: Wanted, found: Sequence[Scene]) -> Judged:
    """The best that can be said of a value: every way to find its numbers in order in the quote is compared in turn."""
    there = [(scene, number) for scene in found for number in _quoted(scene)]
    if not there:
        return Judged(Status.NO_VALUE, "no number stands in the quote", (_number(wanted.numbers[0], "none", False),))
    for one in wanted.numbers:
        if not any(_same(one, number, wanted.as_text) is not False for _, number in there):
            return _no_such(one, [number for _, number in there])
    judged = [_judge(wanted, scene, numbers) for scene, numbers in _choices(wanted, found)]
    if not judged:
        return Judged(Status.AMBIGUOUS, "its numbers stand in the quote, but not together or not in this order")
    return min(judged, key=lambda one: (one.status is not Status.SUPPORTED, one.status is not Status.AMBIGUOUS))


def _quoted(scene: Scene) -> list[Number]:
    return [number for number in sorted((*scene.numbers, *scene.timed)) if scene.in_quote(number)]


def _same(one: Number, number: Number, as_text: bool) -> bool | None:
    """Whether two numbers are equal; None where they are in one of several readings. Texts written alike are equal."""
    if one.value == number.value or (as_text and one.text == number.text):
        return True
    if one.value in number.others or (as_text and number.value in one.others):
        return None
    return False


def _no_such(one: Number, there: Sequence[Number]) -> Judged:
    listed = ", ".join(dict.fromkeys(number.text + ("%" if number.unit == "%" else "") for number in there[:8]))
    turned = any(abs(number.value) == abs(one.value) for number in there)
    what = "its sign differs" if turned else f"{one.text} does not stand in the quote"
    return Judged(Status.NUMBER, f"{what}; there stand {listed}", (_number(one, listed, False),))


def _choices(wanted: Wanted, found: Sequence[Scene]) -> Iterator[tuple[Scene, tuple[Number, ...]]]:
    """All ways to pick the wanted numbers in order from one scene, up to a limit."""
    count = 0
    for scene in found:
        for numbers in _picks(wanted, _untimed(wanted, scene)):
            yield scene, numbers
            count += 1
            if count >= _CHOICES_LIMIT:
                return


def _untimed(wanted: Wanted, scene: Scene) -> list[Number]:
    """The quoted numbers, without those in time points where others are equal to what is wanted."""
    quoted = _quoted(scene)
    plain = [number for number in quoted if number not in scene.timed]
    enough = all(any(_same(one, number, wanted.as_text) is not False for number in plain) for one in wanted.numbers)
    return plain if enough and not wanted.timely else quoted


def _picks(wanted: Wanted, quoted: Sequence[Number]) -> Iterator[tuple[Number, ...]]:
    """Every way to pick the wanted numbers from the quoted in order."""
    fits = [[_same(one, number, wanted.as_text) is not False for number in quoted] for one in wanted.numbers]
    last = len(fits)
    can = [[first == last] * (len(quoted) + 1) for first in range(last + 1)]
    for first in reversed(range(last)):
        for place in reversed(range(len(quoted))):
            can[first][place] = can[first][place + 1] or (fits[first][place] and can[first + 1][place + 1])

    def pick(first: int, begin: int) -> Iterator[tuple[Number, ...]]:
        if first == last:
            yield ()
            return
        for place in range(begin, len(quoted)):
            if fits[first][place] and can[first + 1][place + 1]:
                for rest in pick(first + 1, place + 1):
                    yield (quoted[place], *rest)

    return pick(0, 0)


def _judge(wanted: Wanted, scene: Scene, numbers: Sequence[Number]) -> Judged:
    compared = [c for one, number in zip(wanted.numbers, numbers, strict=True) for c in _compare(wanted, scene, one, number)]
    together = _together(scene, numbers)
    for what, status in _FAULTS.items():
        wrong = next((c for c in compared if c.what == what and c.agrees is False), None)
        if wrong:
            return Judged(status, f"{what}: claimed {wrong.claimed}, in the text {wrong.stands}", tuple(compared))
    open_point = next((c for c in compared if c.agrees is None), None)
    if open_point:
        said = f"{open_point.what} cannot be told: claimed {open_point.claimed}, in the text {open_point.stands}"
        return Judged(Status.AMBIGUOUS, said, tuple(compared))
    if not together:
        return Judged(Status.AMBIGUOUS, "its numbers stand in the quote, but not as one value", tuple(compared))
    signs = ", ".join(f"{number.compared}{number.text}" for number in numbers if number.compared)
    said = "the same numbers stand in the quote"
    return Judged(Status.SUPPORTED, f"{said}, as {signs}" if signs else said, tuple(compared))


def _together(scene: Scene, numbers: Sequence[Number]) -> bool:
    if len(numbers) < 2:
        return True
    return any(set(numbers) <= set(group.numbers) for group in groups(scene.folded, scene.numbers, [*scene.arms, *scene.times]))


def _compare(wanted: Wanted, scene: Scene, one: Number, number: Number) -> Iterator[Compared]:
    same = _same(one, number, wanted.as_text)
    may_be = f" (may be {' or '.join(map(_plain, (number.value, *number.others)))})" if same is None else ""
    stands = f"{number.compared}{number.text}{may_be}"
    agrees = False if one.compared and one.compared != number.compared else same
    yield _number(one, stands, agrees)
    if number in scene.timed and not wanted.timely:
        yield Compared(what="number", claimed=one.text, stands=f"{number.text}, a time point", agrees=None)
    unit = one.unit or wanted.unit
    if unit:
        yield _unit(unit, scene, number)
    if wanted.arm is not None:
        yield _owner("arm", wanted.arm, scene.arm_of.get(number, frozenset()))
    if wanted.time is not None and number not in scene.timed:
        yield _owner("time point", wanted.time, _times(scene, number))


def _times(scene: Scene, number: Number) -> Owners:
    """In prose the one time point of a sentence holds for all of it."""
    named = frozenset(mention.key for mention in scene.times)
    return named if len(named) == 1 and not scene.about else scene.time_of.get(number, frozenset())


def _owner(what: str, claimed: str, keys: Owners) -> Compared:
    stands = " or ".join(sorted(keys)) or "not said"
    if sole(keys) == claimed:
        agrees: bool | None = True
    elif keys and claimed not in keys and not keys & {UNNAMED, ALL}:
        agrees = False
    else:
        agrees = None
    return Compared(what="arm" if what == "arm" else "time point", claimed=claimed, stands=stands, agrees=agrees)


def _unit(unit: str, scene: Scene, number: Number) -> Compared:
    """Units that stand beside the number are compared; none beside it is no fault, but for per cent."""
    there = number.unit or _shared_unit(scene, number)
    if unit == COUNTED:
        agrees: bool | None = there in ("", COUNTED)
    elif not there:
        percent = "%" in scene.about.get(number, "") or "percent" in scene.folded
        agrees = None if unit == "%" and not percent else True
    elif there == unit:
        agrees = True
    elif there.partition("/")[0] == unit.partition("/")[0]:
        agrees = None if "/" in there and "/" in unit else True
    else:
        agrees = False if known(unit) else None
    return Compared(what="unit", claimed=unit, stands=there or "none beside the number", agrees=agrees)


def _shared_unit(scene: Scene, number: Number) -> str:
    """The unit that stands once behind a list: `12 and 15 mg`."""
    later = [other for other in (*scene.numbers, *scene.timed) if other.start >= number.close]
    for other in sorted(later):
        if not _SHARED_UNIT.fullmatch(scene.folded[number.close : other.start - len(other.compared)]):
            return ""
        if other.unit:
            return other.unit if other.unit != COUNTED else ""
        number = other
    return ""


def _number(one: Number, stands: str, agrees: bool | None) -> Compared:
    return Compared(what="number", claimed=f"{one.compared}{one.text}", stands=stands, agrees=agrees)


def _plain(value: Decimal) -> str:
    return f"{value:f}"
