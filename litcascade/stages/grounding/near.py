"""The stretch of a text most like a quote that is not in it, and what differs: for people, never accepted."""

import difflib
import re
from collections.abc import Sequence

from litcascade.stages.grounding.claim import Arm, Difference, NearMiss
from litcascade.stages.grounding.fold import fold
from litcascade.stages.grounding.index import TextIndex, trimmed
from litcascade.stages.grounding.mentions import ALL, UNNAMED, arm_mentions
from litcascade.stages.grounding.negation import cue_pattern
from litcascade.stages.grounding.words import HIGHER, LOWER, NUMBER_WORDS

NEAR_SCORE = 60.0
QUOTE_LIMIT = 2000
_WORD = re.compile(r"[-+]?\d+(?:[.,]\d+)*|\w+(?:'\w+)?|[^\w\s]")
_DIRECTION = re.compile(rf"(?:{HIGHER}|{LOWER}|better|worse|improved|worsened|positive|negative|increase|decrease)")
_PREFIXED = re.compile(r"(?<!\w)(?:non|un)\w{5}")


def near(quote: str, index: TextIndex, arms: Sequence[Arm] = ()) -> NearMiss | None:
    """The best near miss of a quote, with a likeness of 60 % at least; None where nothing comes near or the quote is empty.

    Of a quote longer than 2,000 characters the beginning is compared. `arms` lets swapped names of arms be told from other
    words. Needs rapidfuzz, loaded at the first call.
    """
    from rapidfuzz import fuzz

    wanted = trimmed(fold(quote[:QUOTE_LIMIT]).text)
    if not wanted or not index.folded:
        return None
    best = fuzz.partial_ratio_alignment(wanted, index.folded, score_cutoff=NEAR_SCORE)
    if best is None or best.dest_start >= best.dest_end:
        return None
    left = _WORD.findall(wanted)
    right = _words_around(index.folded, best.dest_start, best.dest_end)
    steps = difflib.SequenceMatcher(None, left, [match[0] for match in right], autojunk=False).get_opcodes()
    while steps and steps[0][0] == "insert":
        del steps[0]
    while steps and steps[-1][0] == "insert":
        del steps[-1]
    kept = right[steps[0][3] : steps[-1][4]] if steps else []
    if not kept:
        return None
    span = index.span(kept[0].start(), kept[-1].end())
    found = tuple(
        _difference(" ".join(left[a:b]), " ".join(match[0] for match in right[c:d]), arms, index.languages)
        for what, a, b, c, d in steps
        if what != "equal"
    )
    return NearMiss(span=span, text=index.text[span.start : span.end], score=best.score, differences=found)


def _words_around(folded: str, begin: int, end: int) -> list[re.Match[str]]:
    """The words of a stretch, none of them cut, and one more on either side."""
    first = folded.rfind(" ", 0, max(0, folded.rfind(" ", 0, begin + 1))) + 1
    last = folded.find(" ", end)
    last = folded.find(" ", last + 1) if last != -1 else -1
    return list(_WORD.finditer(folded, first, last if last != -1 else len(folded)))


def _difference(quoted: str, stands: str, arms: Sequence[Arm], languages: tuple[str, ...]) -> Difference:
    both = f"{quoted} | {stands}"
    words = set(both.split())
    if cue_pattern(languages).search(both) or _PREFIXED.search(both):
        return Difference(kind="negation", quoted=quoted, stands=stands)
    if any(mention.key not in (UNNAMED, ALL) for mention in arm_mentions(both, arms)):
        return Difference(kind="arm", quoted=quoted, stands=stands)
    if any(c.isdigit() for c in both) or words & NUMBER_WORDS.keys():
        return Difference(kind="digits", quoted=quoted, stands=stands)
    if any(_DIRECTION.fullmatch(word) for word in words):
        return Difference(kind="direction", quoted=quoted, stands=stands)
    return Difference(kind="other words", quoted=quoted, stands=stands)
