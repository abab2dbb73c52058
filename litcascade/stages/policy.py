"""Policies: how the readings of a panel become a verdict, and whom to ask next. Pure, with frozen parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from litcascade.errors import InputError
from litcascade.registry import Registry, nearest
from litcascade.schemas import Answer, Ask, Reading, Refer, ReferCode, StageSpec, State


@dataclass(frozen=True)
class Outcome:
    """What a policy decides from the readings: a state with its score and, for a referral, the reason.

    An exclusion names the criterion that the first excluding reader found failed, where it read by criterion.
    """

    state: State
    score: float | None = None
    code: ReferCode | None = None
    reason: str | None = None
    criterion: str | None = None


class Policy(Protocol):
    """A pure rule over the readings so far."""

    def __call__(self, readings: Mapping[str, Reading]) -> Ask | Outcome:
        """Whom to ask next, or the outcome."""
        ...


class PolicyMaker(Protocol):
    """Makes a policy from a stage's declaration."""

    def __call__(self, spec: StageSpec) -> Policy:
        """The policy with its parameters frozen."""
        ...


POLICIES: Registry[PolicyMaker] = Registry("policy")


def missing(spec: StageSpec, readings: Mapping[str, Reading]) -> Ask | None:
    """The readers not heard yet, if any."""
    unheard = tuple(name for name in spec.readers if name not in readings)
    return Ask(readers=unheard) if unheard else None


def mean_score(readings: Mapping[str, Reading]) -> float | None:
    """Mean p(include) over the readers that gave one; None where none did."""
    scores = [r.outcome.score for r in readings.values() if isinstance(r.outcome, Answer) and r.outcome.score is not None]
    return sum(scores) / len(scores) if scores else None


def failed_criterion(readings: Mapping[str, Reading]) -> str | None:
    """The criterion that the first excluding reader found failed."""
    answers = (reading.outcome for reading in readings.values() if isinstance(reading.outcome, Answer))
    return next((answer.criterion for answer in answers if answer.criterion), None)


def referral(refers: list[Refer], score: float | None) -> Outcome:
    """Refer for the reason of the only reader that failed, or for the panel's reasons together."""
    if len(refers) == 1:
        return Outcome(State.REFERRED, score, refers[0].code, refers[0].detail or None)
    reasons = "; ".join(dict.fromkeys(refer.code.value for refer in refers))
    return Outcome(State.REFERRED, score, ReferCode.PANEL, reasons)


@POLICIES.register("vote")
def vote(spec: StageSpec) -> Policy:
    """Include where at least `votes` readers include; a reader that failed counts on neither side.

    Where the failed readers could turn the outcome, the record goes to a person.
    """

    def decide(readings: Mapping[str, Reading]) -> Ask | Outcome:
        if ask := missing(spec, readings):
            return ask
        outcomes = [readings[name].outcome for name in spec.readers]
        refers = [outcome for outcome in outcomes if isinstance(outcome, Refer)]
        answers = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
        yes = sum(answer.decision == "include" for answer in answers)
        score = mean_score(readings)
        if yes >= spec.votes:
            return Outcome(State.INCLUDED, score)
        if yes + len(refers) >= spec.votes:
            return referral(refers, score)
        reason = next((answer.reason for answer in answers if answer.reason), None)
        return Outcome(State.EXCLUDED, score, reason=reason, criterion=failed_criterion(readings))

    return decide


@POLICIES.register("threshold")
def threshold(spec: StageSpec) -> Policy:
    """Include where the mean p(include) of the panel reaches the threshold.

    A reader without a score sends the record to a person, and so does a mean inside the `unsure` band.
    """
    cut = spec.threshold if spec.threshold is not None else 0.5

    def decide(readings: Mapping[str, Reading]) -> Ask | Outcome:
        if ask := missing(spec, readings):
            return ask
        outcomes = [readings[name].outcome for name in spec.readers]
        score = mean_score(readings)
        refers = [outcome for outcome in outcomes if isinstance(outcome, Refer)]
        if refers:
            return referral(refers, score)
        if score is None or any(isinstance(outcome, Answer) and outcome.score is None for outcome in outcomes):
            return Outcome(State.REFERRED, score, ReferCode.NO_SCORE, "a reader gave no log-probabilities")
        if spec.unsure and spec.unsure[0] <= score <= spec.unsure[1]:
            return Outcome(State.REFERRED, score, ReferCode.UNSURE, f"p(include) = {score:.3f}")
        return Outcome(State.INCLUDED if score >= cut else State.EXCLUDED, score)

    return decide


@POLICIES.register("rule")
def rule(spec: StageSpec) -> Policy:
    """The frozen rule of a panel, chosen on labelled data: it says whom to ask next, and decides.

    A rule that routes by length counts in the tokens of its reader `tokens_of`, who is therefore asked first. A rule that
    cannot be read, or that names a reader the stage does not have, is an `InputError`.
    """
    from litcascade.eval.panels.deciding import Heard, decide  # imported here: most stages have no rule, and it brings scipy
    from litcascade.eval.panels.rules import LengthRouted, parse_rule

    chosen = parse_rule(spec.rule or {})
    measure = (chosen.tokens_of or chosen.readers[0]) if isinstance(chosen, LengthRouted) else None
    named = dict.fromkeys([*chosen.readers, *([measure] if measure else [])])
    for name in named:
        if name not in spec.readers:
            raise InputError(
                f"the stage's rule names a reader '{name}' that is not among its readers{nearest(name, spec.readers)}"
            )
    idle = [name for name in spec.readers if name not in named]
    if idle:
        raise InputError(f"the stage's rule never asks the reader '{idle[0]}'; take it out of readers, or change the rule")

    def ruled(readings: Mapping[str, Reading]) -> Ask | Outcome:
        if measure and measure not in readings:
            return Ask(readers=(measure,))
        tokens = readings[measure].tokens if measure else None
        answers = {name: r.outcome for name, r in readings.items() if isinstance(r.outcome, Answer)}
        heard = {name: Heard(decision=a.decision, score=a.score) for name, a in answers.items()}
        found = decide(chosen, {name: heard.get(name, Heard()) for name in readings}, tokens)
        if isinstance(found, Ask):
            return found
        score = found.score if found.score is not None else mean_score(readings)
        if found.verdict != "refer":
            if found.verdict == "include":
                return Outcome(State.INCLUDED, score, reason=found.reason)
            return Outcome(State.EXCLUDED, score, reason=found.reason, criterion=failed_criterion(readings))
        refers = [reading.outcome for reading in readings.values() if isinstance(reading.outcome, Refer)]
        return referral(refers, score) if refers else Outcome(State.REFERRED, score, ReferCode.UNSURE, found.reason)

    return ruled
