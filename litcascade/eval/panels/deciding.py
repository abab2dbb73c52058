"""One record at a time: what a rule says to the readings so far. Pure; whom to ask next, or the decision."""

from collections.abc import Mapping, Sequence
from typing import Literal

from litcascade.eval.panels.rules import AtLeast, Escalation, LengthRouted, MeanScore, Rule, Union, Weighted
from litcascade.schemas import Ask, Decision, Frozen


class Heard(Frozen):
    """What one reader said: a decision, or None where its reading failed; p(include) where it gave one."""

    decision: Decision | None = None
    score: float | None = None


class Decided(Frozen):
    """A rule's decision; `refer` sends the record to a person and says why."""

    verdict: Literal["include", "exclude", "refer"]
    score: float | None = None
    reason: str | None = None


Said = Mapping[str, Heard]


def decide(rule: Rule, readings: Said, tokens: float | None = None) -> Ask | Decided:
    """Whom to ask next, or the decision. `tokens` is the record's length, needed by a rule that routes by length.

    A failed reading is no vote for exclusion: where it could turn the outcome, the record is referred.
    """
    match rule:
        case AtLeast():
            return _weighted(rule.readers, [1.0] * len(rule.readers), rule.votes, readings)
        case Union():
            return _union(rule, readings)
        case Weighted():
            return _weighted(rule.readers, rule.weights, rule.threshold, readings)
        case MeanScore():
            return _mean(rule, readings)
        case LengthRouted():
            return _routed(rule, readings, tokens)
        case Escalation():
            return _escalated(rule, readings)


def bin_of(rule: LengthRouted, tokens: float) -> int:
    """The bin of a length: the number of edges at or below it."""
    return sum(edge <= tokens for edge in rule.edges)


def _unheard(readers: Sequence[str], readings: Said) -> Ask | None:
    lacking = tuple(name for name in readers if name not in readings)
    return Ask(readers=lacking) if lacking else None


def _failed(readers: Sequence[str], readings: Said) -> str:
    return ", ".join(name for name in readers if readings[name].decision is None)


def _weighted(readers: Sequence[str], weights: Sequence[float], threshold: float, readings: Said) -> Ask | Decided:
    if ask := _unheard(readers, readings):
        return ask
    known = sum(w for name, w in zip(readers, weights, strict=True) if readings[name].decision == "include")
    open_ = [w for name, w in zip(readers, weights, strict=True) if readings[name].decision is None]
    least, most = known + sum(min(w, 0.0) for w in open_), known + sum(max(w, 0.0) for w in open_)
    if least >= threshold:
        return Decided(verdict="include")
    if most >= threshold:
        return Decided(verdict="refer", reason=f"could turn the outcome but failed: {_failed(readers, readings)}")
    return Decided(verdict="exclude")


def _union(rule: Union, readings: Said) -> Ask | Decided:
    if ask := _unheard(rule.readers, readings):
        return ask
    verdicts = [
        _weighted(pool, [1.0] * len(pool), votes, readings)
        for pool, votes in ((rule.strong, rule.strong_votes), (rule.lenient, rule.lenient_votes))
    ]
    for wanted in ("include", "refer"):
        for found in verdicts:
            if isinstance(found, Decided) and found.verdict == wanted:
                return found
    return Decided(verdict="exclude")


def _mean(rule: MeanScore, readings: Said) -> Ask | Decided:
    if ask := _unheard(rule.readers, readings):
        return ask
    scores = [readings[name].score for name in rule.readers]
    lacking = [name for name, score in zip(rule.readers, scores, strict=True) if score is None]
    if lacking:
        return Decided(verdict="refer", reason=f"no score from {', '.join(lacking)}")
    mean = sum(score for score in scores if score is not None) / len(scores)
    return Decided(verdict="include" if mean >= rule.threshold else "exclude", score=mean)


def _routed(rule: LengthRouted, readings: Said, tokens: float | None) -> Ask | Decided:
    if tokens is None or tokens != tokens:
        return Decided(verdict="refer", reason="the length in tokens is not known")
    here = rule.bins[bin_of(rule, tokens)].weighted()
    return _weighted(here.readers, here.weights, here.threshold, readings)


def _escalated(rule: Escalation, readings: Said) -> Ask | Decided:
    if ask := _unheard((rule.cheap,), readings):
        return ask
    first = readings[rule.cheap]
    vote = None if first.decision is None else float(first.decision == "include")
    score = first.score if rule.by == "score" else vote
    if score is not None and score > rule.high:
        return Decided(verdict="include", score=score)
    if score is not None and score < rule.low:
        return Decided(verdict="exclude", score=score)
    if ask := _unheard((rule.strong,), readings):
        return ask
    last = readings[rule.strong]
    if rule.strong_threshold is not None:
        if last.score is None:
            return Decided(verdict="refer", reason=f"no score from {rule.strong}")
        return Decided(verdict="include" if last.score >= rule.strong_threshold else "exclude", score=last.score)
    if last.decision is None:
        return Decided(verdict="refer", reason=f"unsure, and {rule.strong} failed")
    return Decided(verdict=last.decision, score=last.score)
