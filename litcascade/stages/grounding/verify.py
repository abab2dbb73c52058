"""Whether a quote holds up the value that rests on it."""

import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from itertools import pairwise

from litcascade.stages.grounding.claim import Arm, Claim, Compared, Status, Support
from litcascade.stages.grounding.dates import judge_date
from litcascade.stages.grounding.direction import directions
from litcascade.stages.grounding.fold import fold
from litcascade.stages.grounding.index import Span, TextIndex
from litcascade.stages.grounding.labels import Judged, judge_label, judge_text
from litcascade.stages.grounding.mentions import ALL, UNNAMED, time_key
from litcascade.stages.grounding.near import near
from litcascade.stages.grounding.negation import clause, cues
from litcascade.stages.grounding.scene import Scene, scenes
from litcascade.stages.grounding.units import COUNTED, known, unit_of
from litcascade.stages.grounding.values import Wanted, is_timely, judge_numbers, wanted_numbers
from litcascade.stages.grounding.words import words_of

PLACES_LIMIT = 40
QUOTE_LIMIT = 1500
_NO_CONTENT = frozenset(words_of("and or of to in the vs versus by at with for from was were is are"))


def verify(claim: Claim, index: TextIndex) -> Support:
    """Compare a claim with every place of its quote; pure, and raises for no claim.

    Only what plainly stands there is `supported`: a point that cannot be told is `ambiguous`. The words around the quote
    in its sentence are read too, so that a quote cut behind "not" or before another arm's name is no help to a wrong value.
    Where the quote stands at several places it must hold at one and be contradicted at none. A quote of nothing but numbers
    and units holds up no number, and one of more than 1,500 characters nothing: it is not said of what, or not which.
    """
    spans = index.find(claim.quote)
    if not spans:
        miss = near(claim.quote, index, _arms(claim))
        return Support(status=Status.NOT_FOUND, words=_not_found(claim), near=miss)
    if len(spans) > PLACES_LIMIT:
        said = f"the quote stands at {len(spans)} places, too many to be told apart"
        return Support(status=Status.AMBIGUOUS, words=said, spans=spans[:PLACES_LIMIT])
    judged = [(span, _judge(claim, index, span)) for span in spans]
    best_span, best = min(judged, key=lambda pair: _rank(pair[1].status))
    ordered = (best_span, *(span for span in spans if span != best_span))
    against = next((one for _, one in judged if _rank(one.status) == 2), None)
    if best.status is Status.SUPPORTED and against:
        said = f"holds at one place of the quote, but at another: {against.words}"
        return Support(status=Status.AMBIGUOUS, words=said, spans=ordered, compared=against.compared)
    return Support(status=best.status, words=best.words, spans=ordered, compared=best.compared)


def _rank(status: Status) -> int:
    return {Status.SUPPORTED: 0, Status.AMBIGUOUS: 1}.get(status, 2)


def _not_found(claim: Claim) -> str:
    return "the quote does not stand in the text" if claim.quote.strip() else "no quote was given"


def _arms(claim: Claim) -> tuple[Arm, ...]:
    """The known arms, with the claimed one where it is not among them."""
    if claim.arm is None or _arm_key(claim) is not None:
        return claim.arms
    return (*claim.arms, Arm(name=claim.arm))


def _arm_key(claim: Claim) -> str | None:
    """The name of the known arm that is claimed, by name or alias."""
    wanted = fold(claim.arm or "").text
    return next((arm.name for arm in claim.arms if wanted in (fold(name).text for name in (arm.name, *arm.aliases))), None)


def _claimed_arm(claim: Claim) -> str | None:
    return _arm_key(claim) or claim.arm


def _judge(claim: Claim, index: TextIndex, span: Span) -> Judged:
    """One place of the quote: the value first, then direction and negation; the first fault decides, then what is open."""
    length = sum(end - start for start, end in span.pieces())
    if length > QUOTE_LIMIT:
        return Judged(Status.AMBIGUOUS, f"the quote is {length} characters long, too long to tell what in it is meant")
    times = tuple(time for time in (*claim.times, claim.time) if time)
    found = scenes(index, span, _arms(claim), times)
    if not found:
        return Judged(Status.NO_VALUE, "the quote holds no words")
    languages = index.languages
    left_out = _left_out(index, span)
    if left_out:
        return Judged(Status.AMBIGUOUS, f'what the ellipsis leaves out has "{left_out}"')
    checks: list[Callable[[], Judged]] = [
        lambda: _value(claim, found, languages),
        lambda: _direction(claim, found, languages),
        lambda: _negation(claim, found, languages),
    ]
    judged = [check() for check in checks]
    decisive = max(judged, key=lambda one: _rank(one.status))
    first = next(one for one in judged if _rank(one.status) == _rank(decisive.status))
    compared = tuple(item for one in judged for item in one.compared)
    unfit = _unfit(claim, found) if first.status is Status.SUPPORTED else ""
    return Judged(Status.AMBIGUOUS if unfit else first.status, unfit or first.words, compared)


def _unfit(claim: Claim, found: Sequence[Scene]) -> str:
    """Why a quote is none to rest a number on, in words; empty where it is one."""
    words = {word for scene in found for word in re.findall(r"[^\W\d_]{2,}", scene.quote())} - _NO_CONTENT
    if claim.kind == "number" and all(known(word) and unit_of(word) != COUNTED for word in words):
        return "the quote holds nothing but numbers and units"
    return ""


def _left_out(index: TextIndex, span: Span) -> str:
    """A negation in what the ellipses of a quote leave out."""
    gaps = (index.folded_place(end, start) for (_, end), (start, _) in pairwise(span.parts))
    return next((cue[0] for gap in gaps for cue in cues(index.folded[slice(*gap)], index.languages)), "")


def _value(claim: Claim, found: Sequence[Scene], languages: tuple[str, ...]) -> Judged:
    values = claim.value if isinstance(claim.value, tuple) else (claim.value,)
    if not values:
        return Judged(Status.NO_VALUE, "no value was given")
    judged = [_one_value(claim, value, found, languages) for value in values]
    worst = max(judged, key=lambda one: _rank(one.status))
    return worst._replace(compared=tuple(item for one in judged for item in one.compared))


def _one_value(claim: Claim, value: str | int | float, found: Sequence[Scene], languages: tuple[str, ...]) -> Judged:
    if claim.kind == "date":
        return _placed(claim, judge_date(_written(value), found), found)
    if claim.kind in ("closed", "multi", "ordinal") or isinstance(value, bool):
        label = ("yes" if value else "no") if isinstance(value, bool) else _written(value)
        judged = judge_label(label, claim.field, found, languages, claim.choices)
        return _placed(claim, _without_negation(claim, judged), found)
    numbers = wanted_numbers(value)
    if not numbers:
        if claim.kind == "number":
            return Judged(Status.NO_VALUE, f"the value {value!r} holds no number")
        return _placed(claim, _without_negation(claim, judge_text(_written(value), found, languages)), found)
    unit = unit_of(claim.unit) if claim.unit else ""
    arm = _claimed_arm(claim)
    time = time_key(claim.time) if claim.time else None
    wanted = Wanted(numbers, isinstance(value, str), unit, arm, time, is_timely(claim.field, unit))
    if claim.kind == "number":
        return judge_numbers(wanted, found)
    return _text_with_numbers(_written(value), wanted, found, languages)


def _written(value: str | int | float) -> str:
    """The value as text, integers of any length."""
    return str(Decimal(value)) if isinstance(value, int) else str(value)


def _without_negation(claim: Claim, judged: Judged) -> Judged:
    """Of a claimed direction the negation is a part ("not different"), and is compared with it."""
    if claim.direction is None or judged.status not in (Status.NEGATED, Status.AMBIGUOUS):
        return judged
    if any(item.what != "negation" for item in judged.compared):
        return judged
    return Judged(Status.SUPPORTED, "its words stand in the quote")


def _text_with_numbers(value: str, wanted: Wanted, found: Sequence[Scene], languages: tuple[str, ...]) -> Judged:
    """Free text: each of its numbers on its own, then its words."""
    judged = [judge_numbers(wanted._replace(numbers=(number,), timely=True), found) for number in wanted.numbers]
    judged.append(judge_text(value, found, languages))
    worst = max(judged, key=lambda one: _rank(one.status))
    return worst._replace(compared=tuple(item for one in judged for item in one.compared))


def _placed(claim: Claim, judged: Judged, found: Sequence[Scene]) -> Judged:
    """A label or text that holds for one arm or time point needs a quote whose sentences name that one alone."""
    if judged.status is not Status.SUPPORTED:
        return judged
    arms = {mention.key for scene in found for mention in scene.arms}
    times = {mention.key for scene in found for mention in scene.times}
    asked = (
        ("arm", _claimed_arm(claim) if claim.direction is None else None, arms, Status.ARM),
        ("time point", time_key(claim.time) if claim.time else None, times, Status.TIME),
    )
    for what, wanted, there, status in asked:
        if wanted is None or there == {wanted}:
            continue
        other = bool(there) and wanted not in there and not there & {UNNAMED, ALL}
        said = f"{what}: claimed {wanted}, in the text {' and '.join(sorted(there)) or 'not said'}"
        compared = Compared(
            what="arm" if what == "arm" else "time point",
            claimed=wanted,
            stands=" and ".join(sorted(there)),
            agrees=False if other else None,
        )
        return Judged(status if other else Status.AMBIGUOUS, said, (*judged.compared, compared))
    return judged


def _direction(claim: Claim, found: Sequence[Scene], languages: tuple[str, ...]) -> Judged:
    if claim.direction is None:
        return Judged(Status.SUPPORTED, "")
    arm = _claimed_arm(claim)
    stated = [directions(scene.folded, scene.arms, arm, languages) for scene in found]
    told = {direction for some in stated if some for direction in some}
    stands = " and ".join(sorted(told)) or "not said"
    if None in stated or len(told) != 1:
        compared = Compared(what="direction", claimed=claim.direction, stands=stands, agrees=None)
        if None not in stated and told and claim.direction not in told:
            return Judged(Status.DIRECTION, f"direction: claimed {claim.direction}, in the text {stands}", (compared,))
        return Judged(Status.AMBIGUOUS, f"direction cannot be told: in the text {stands}", (compared,))
    agrees = claim.direction in told
    compared = Compared(what="direction", claimed=claim.direction, stands=stands, agrees=agrees)
    if agrees:
        return Judged(Status.SUPPORTED, "the same direction", (compared,))
    return Judged(Status.DIRECTION, f"direction: claimed {claim.direction}, in the text {stands}", (compared,))


def _negation(claim: Claim, found: Sequence[Scene], languages: tuple[str, ...]) -> Judged:
    if claim.negated is None:
        return Judged(Status.SUPPORTED, "")
    said = None
    for scene in found:
        for begin, end in scene.quoted:
            first, last = clause(scene.folded, begin, end)
            said = said or next((cue[0] for cue in cues(scene.folded, languages) if first <= cue.start() < last), None)
    agrees = bool(said) == claim.negated
    claimed = "negated" if claim.negated else "not negated"
    compared = Compared(what="negation", claimed=claimed, stands=said or "no negation", agrees=agrees)
    if agrees:
        return Judged(Status.SUPPORTED, "", (compared,))
    words = f'the text negates it: "{said}"' if said else "the claim is a negative, and the text has no negation"
    return Judged(Status.NEGATED, words, (compared,))
