"""Grounding: does the quote stand in the text, and does it hold up the value that rests on it?"""

from litcascade.stages.grounding.claim import Arm, Claim, Compared, Difference, NearMiss, Status, Support
from litcascade.stages.grounding.fold import Folded, fold
from litcascade.stages.grounding.index import Found, Span, TextIndex, locate
from litcascade.stages.grounding.near import near
from litcascade.stages.grounding.verify import verify

__all__ = [
    "Arm",
    "Claim",
    "Compared",
    "Difference",
    "Folded",
    "Found",
    "NearMiss",
    "Span",
    "Status",
    "Support",
    "TextIndex",
    "fold",
    "locate",
    "near",
    "verify",
]
