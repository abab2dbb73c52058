"""Panels of readers: votes, pools, rules, operating points and routing, chosen on labelled records. Pure.

Frames and arrays in, frozen rules and `Estimate`s out. The way through: `votes_of` and `label` join readings with gold by id;
`split` keeps the splits apart; `choose_pools` seats the panel; families of rules (`singles`, `vote_steps`, `union_steps`,
`score_steps`, `escalation_bands`, `fixed`) are counted at once; `frontier`, `operating_points` and `certified_point` choose
among them; `decide` applies what was chosen to one record, `apply` to many.
"""

from litcascade.eval.panels.applying import Applied, apply
from litcascade.eval.panels.candidates import (
    Candidates,
    escalation_bands,
    fixed,
    score_steps,
    singles,
    union_steps,
    vote_steps,
)
from litcascade.eval.panels.dawid_skene import DawidSkene, ReaderQuality, dawid_skene, dawid_skene_labels, weighted_rule
from litcascade.eval.panels.deciding import Decided, Heard, decide
from litcascade.eval.panels.frontier import Point, frontier
from litcascade.eval.panels.operating import Certified, Choice, OperatingPoint, Report, certified_point, choose, operating_points
from litcascade.eval.panels.pools import Pools, ReaderScore, choose_pools, lenient_pool, score_readers, strong_pool
from litcascade.eval.panels.prices import Costs, Prices, ReaderPrice
from litcascade.eval.panels.promise import Allowed, allowed_misses
from litcascade.eval.panels.resampling import Analysis, Contrast, Resampled, resample
from litcascade.eval.panels.routing import LengthFit, fit_length_routing
from litcascade.eval.panels.rules import (
    AtLeast,
    Escalation,
    LengthBin,
    LengthRouted,
    MeanScore,
    Rule,
    Union,
    Weighted,
    any_of,
    describe,
    majority,
    parse_rule,
)
from litcascade.eval.panels.splits import SPLITS, refuse_leaks, split
from litcascade.eval.panels.summaries import Average, Gain, averages, cell_table, gain, reliability
from litcascade.eval.panels.votes import Gap, Labelled, Votes, label, votes_of

__all__ = [
    "SPLITS",
    "Allowed",
    "Analysis",
    "Applied",
    "AtLeast",
    "Average",
    "Candidates",
    "Certified",
    "Choice",
    "Contrast",
    "Costs",
    "DawidSkene",
    "Decided",
    "Escalation",
    "Gain",
    "Gap",
    "Heard",
    "Labelled",
    "LengthBin",
    "LengthFit",
    "LengthRouted",
    "MeanScore",
    "OperatingPoint",
    "Point",
    "Pools",
    "Prices",
    "ReaderPrice",
    "ReaderQuality",
    "ReaderScore",
    "Report",
    "Resampled",
    "Rule",
    "Union",
    "Votes",
    "Weighted",
    "allowed_misses",
    "any_of",
    "apply",
    "averages",
    "cell_table",
    "certified_point",
    "choose",
    "choose_pools",
    "dawid_skene",
    "dawid_skene_labels",
    "decide",
    "describe",
    "escalation_bands",
    "fit_length_routing",
    "fixed",
    "frontier",
    "gain",
    "label",
    "lenient_pool",
    "majority",
    "operating_points",
    "parse_rule",
    "refuse_leaks",
    "reliability",
    "resample",
    "score_readers",
    "score_steps",
    "singles",
    "split",
    "strong_pool",
    "union_steps",
    "vote_steps",
    "votes_of",
    "weighted_rule",
]
