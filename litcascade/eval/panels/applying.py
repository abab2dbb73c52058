"""A rule over all records at once: which are included, which go to a person, and which readers had to be asked."""

from dataclasses import dataclass

import numpy as np

from litcascade.eval.panels.counts import Bools, Floats
from litcascade.eval.panels.rules import AtLeast, By, Escalation, LengthRouted, MeanScore, Rule, Union, Weighted
from litcascade.eval.panels.votes import Votes


@dataclass(frozen=True, eq=False)
class Applied:
    """N records by a rule; `asked` is N x the readers of the votes. Included and referred both count as positive."""

    included: Bools
    referred: Bools
    asked: Bools

    @property
    def positive(self) -> Bools:
        """What a person sees: included or referred."""
        return self.included | self.referred


def apply(rule: Rule, votes: Votes) -> Applied:
    """The same as `decide` on every record (a property test says so), vectorised."""
    match rule:
        case AtLeast():
            low, high = _sums(votes, rule.readers, np.ones(len(rule.readers)))
            return _outcome(votes, rule.readers, low >= rule.votes, high >= rule.votes)
        case Union():
            strong, lenient = (_sums(votes, pool, np.ones(len(pool))) for pool in (rule.strong, rule.lenient))
            sure = (strong[0] >= rule.strong_votes) | (lenient[0] >= rule.lenient_votes)
            maybe = (strong[1] >= rule.strong_votes) | (lenient[1] >= rule.lenient_votes)
            return _outcome(votes, rule.readers, sure, maybe)
        case Weighted():
            low, high = _sums(votes, rule.readers, np.array(rule.weights))
            return _outcome(votes, rule.readers, low >= rule.threshold, high >= rule.threshold)
        case MeanScore():
            mean = mean_scores(votes, rule.readers)
            return _outcome(votes, rule.readers, mean >= rule.threshold, np.isnan(mean) | (mean >= rule.threshold))
        case LengthRouted():
            return _routed(rule, votes)
        case Escalation():
            return _escalated(rule, votes)


def mean_scores(votes: Votes, readers: tuple[str, ...]) -> Floats:
    """Mean p(include) of the readers, NaN where one of them gave none."""
    mean: Floats = votes.scores[:, votes.columns(readers)].mean(axis=1)
    return mean


def cheap_scores(votes: Votes, reader: str, by: By) -> Floats:
    """A reader's p(include), or its vote as 0 or 1; NaN where there is none."""
    column = votes.columns([reader])[0]
    if by == "score":
        return votes.scores[:, column]
    return np.where(votes.heard[:, column], votes.include[:, column].astype(float), np.nan)


def _sums(votes: Votes, readers: tuple[str, ...], weights: Floats) -> tuple[Floats, Floats]:
    """The least and the most that the weighted votes can come to, whatever failed readers would have said."""
    at = votes.columns(readers)
    known = votes.include[:, at] @ weights
    lacking = ~votes.heard[:, at]
    if not lacking.any():
        return known, known
    return known + lacking @ np.minimum(weights, 0.0), known + lacking @ np.maximum(weights, 0.0)


def _outcome(votes: Votes, readers: tuple[str, ...], sure: Bools, maybe: Bools) -> Applied:
    asked = np.zeros(votes.include.shape, dtype=bool)
    asked[:, votes.columns(readers)] = True
    return Applied(sure, maybe & ~sure, asked)


def _routed(rule: LengthRouted, votes: Votes) -> Applied:
    unknown = np.isnan(votes.tokens)
    included, referred = np.zeros(len(unknown), dtype=bool), unknown.copy()
    asked = np.zeros(votes.include.shape, dtype=bool)
    place = np.searchsorted(np.array(rule.edges), votes.tokens, side="right")
    for number, one in enumerate(rule.bins):
        rows = np.flatnonzero((place == number) & ~unknown)
        here = apply(one.weighted(), votes.rows(rows))
        included[rows], referred[rows], asked[rows] = here.included, here.referred, here.asked
    return Applied(included, referred, asked)


def _escalated(rule: Escalation, votes: Votes) -> Applied:
    first = cheap_scores(votes, rule.cheap, rule.by)
    sure_in, sure_out = first > rule.high, first < rule.low
    band = ~sure_in & ~sure_out
    column = votes.columns([rule.strong])[0]
    if rule.strong_threshold is None:
        yes, failed = votes.include[:, column], ~votes.heard[:, column]
    else:
        score = votes.scores[:, column]
        yes, failed = score >= rule.strong_threshold, np.isnan(score)
    asked = np.zeros(votes.include.shape, dtype=bool)
    asked[:, votes.columns([rule.cheap])[0]] = True
    asked[:, column] = band
    return Applied(sure_in | (band & yes), band & failed, asked)
