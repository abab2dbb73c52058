"""Dates against a quote: the year, and the month and day as far as they are claimed."""

import re
from collections.abc import Sequence

from litcascade.stages.grounding.claim import Compared, Status
from litcascade.stages.grounding.labels import Judged
from litcascade.stages.grounding.scene import Scene

_MONTHS = (
    "january jan januar jänner janvier enero gennaio janeiro januari styczeń stycznia",
    "february feb februar février febrero febbraio fevereiro februari luty lutego",
    "march mar märz mars marzo março maart marzec marca",
    "april apr avril abril aprile kwiecień kwietnia",
    "may mai mayo maggio maio mei maj maja",
    "june jun juni juin junio giugno junho czerwiec czerwca",
    "july jul juli juillet julio luglio julho lipiec lipca",
    "august aug août agosto augustus sierpień sierpnia",
    "september sep sept septembre septiembre settembre setembro wrzesień września",
    "october oct oktober okt octobre octubre ottobre outubro październik października",
    "november nov novembre noviembre novembro listopad listopada",
    "december dec dezember dez décembre diciembre dicembre dezembro grudzień grudnia",
)
_MONTH_OF = {name: number for number, names in enumerate(_MONTHS, 1) for name in names.split()}
_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|2[01])\d{2}(?!\d|[.,]\d)")
_WRITTEN = re.compile(r"(?<!\d)(\d{1,4})[./-](\d{1,2})(?:[./-](\d{1,4}))?(?!\d)")
_DAY = re.compile(r"(?<![\d.,])(\d{1,2})(?:st|nd|rd|th|\.)?(?![\d%]|[.,]\d)")


def judge_date(value: str, found: Sequence[Scene]) -> Judged:
    """An ISO date of any exactness: every part of it must stand in the quote, its month by name or in a written date."""
    year, *rest = (int(part) for part in value.split("-"))
    quote = " ".join(scene.quote() for scene in found)
    years = {int(match[0]) for match in _YEAR.finditer(quote)}
    if year not in years:
        return _differs(value, "year", years)
    if not rest:
        return Judged(Status.SUPPORTED, "the year stands in the quote", (_compared(value, str(year), True),))
    months = {_MONTH_OF[word] for word in re.findall(r"[^\W\d_]+", quote) if word in _MONTH_OF}
    written = [tuple(int(part) for part in match.groups() if part) for match in _WRITTEN.finditer(quote)]
    if rest[0] not in months:
        return _in_figures(value, year, rest, written) or _differs(value, "month", months)
    days = {int(match[1]) for match in _DAY.finditer(quote)}
    if len(rest) == 2 and rest[1] not in days:
        return _differs(value, "day", days)
    if len(months) > 1 or len(years) > 1:
        return Judged(Status.AMBIGUOUS, "the quote holds several dates", (_compared(value, quote[:80], None),))
    return Judged(Status.SUPPORTED, "the date stands in the quote", (_compared(value, value, True),))


def _in_figures(value: str, year: int, rest: Sequence[int], written: Sequence[tuple[int, ...]]) -> Judged | None:
    """A date written in figures that has every part of the value; None where there is none."""
    parts = next((parts for parts in written if year in parts and set(rest) <= set(parts)), None)
    if parts is None:
        return None
    shown = " ".join(map(str, parts))
    if _either(written, year, rest):
        return Judged(
            Status.AMBIGUOUS, "day and month of a date in figures cannot be told apart", (_compared(value, shown, None),)
        )
    return Judged(Status.SUPPORTED, "the date stands in the quote", (_compared(value, shown, True),))


def _either(written: Sequence[tuple[int, ...]], year: int, rest: Sequence[int]) -> bool:
    """Whether a date in figures with this year could be read with day and month the other way about."""
    dated = [parts for parts in written if year in parts and rest[0] in parts and len(parts) == 3]
    return any(parts[0] != year and parts[0] != parts[1] and max(parts[0], parts[1]) <= 12 for parts in dated)


def _differs(value: str, what: str, there: set[int]) -> Judged:
    stands = ", ".join(map(str, sorted(there)))
    if not there:
        return Judged(Status.NO_VALUE, f"no {what} stands in the quote", (_compared(value, "", False),))
    return Judged(Status.NUMBER, f"the {what} in the quote is {stands}", (_compared(value, stands, False),))


def _compared(claimed: str, stands: str, agrees: bool | None) -> Compared:
    return Compared(what="number", claimed=claimed, stands=stands, agrees=agrees)
