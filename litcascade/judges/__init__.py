"""Judges: pure steps that say whether an extracted item means what gold means, or stands in the report."""

from litcascade.judges import rubric, same_meaning, support  # noqa: F401  (importing registers them)
from litcascade.judges.base import MODEL_JUDGES, Judged, ModelJudge, Tools, Unit
from litcascade.judges.match import JUDGES, normalised_match
from litcascade.judges.matching import Matching, exact_pairs, match, open_pairs
from litcascade.judges.rubric import Rubric, RubricJudge

__all__ = [
    "JUDGES",
    "MODEL_JUDGES",
    "Judged",
    "Matching",
    "ModelJudge",
    "Rubric",
    "RubricJudge",
    "Tools",
    "Unit",
    "exact_pairs",
    "match",
    "normalised_match",
    "open_pairs",
]
