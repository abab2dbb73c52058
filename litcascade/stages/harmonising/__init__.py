"""Harmonising: extracted free text becomes analysis-ready labels, and comparative statements tuples; people hold the reins."""

from litcascade.stages.harmonising.base import AskingStage, Outcome, OutcomeAnswer, OutcomeVerdict
from litcascade.stages.harmonising.comparing import DIRECTIONS, NO_COMPARISON, Compare, Compared, Comparison
from litcascade.stages.harmonising.files import is_untouched, proposals_text
from litcascade.stages.harmonising.items import Item, Step, folded
from litcascade.stages.harmonising.labels import NONE_FITS, UNCLEAR, Label, LabelSet, parse_labels
from litcascade.stages.harmonising.mapping import AMBIGUOUS, ItemSubject, Map, Mapped, by_name
from litcascade.stages.harmonising.proposing import (
    Drawn,
    Proposal,
    Propose,
    Proposed,
    SubsetSubject,
    Together,
    distinct,
    draw,
    put_together,
)

__all__ = [
    "AMBIGUOUS",
    "DIRECTIONS",
    "NONE_FITS",
    "NO_COMPARISON",
    "UNCLEAR",
    "AskingStage",
    "Compare",
    "Compared",
    "Comparison",
    "Drawn",
    "Item",
    "ItemSubject",
    "Label",
    "LabelSet",
    "Map",
    "Mapped",
    "Outcome",
    "OutcomeAnswer",
    "OutcomeVerdict",
    "Proposal",
    "Propose",
    "Proposed",
    "Step",
    "SubsetSubject",
    "Together",
    "by_name",
    "distinct",
    "draw",
    "folded",
    "is_untouched",
    "parse_labels",
    "proposals_text",
    "put_together",
]
