import pytest

from litcascade.errors import InputError
from litcascade.schemas import Answer, Ask, Reading, Refer, ReferCode, StageSpec, State
from litcascade.stages.policy import POLICIES, Outcome, Policy

ESCALATION = {"kind": "escalation", "cheap": "small", "strong": "large", "low": 0.2, "high": 0.8}


def policy(rule: dict[str, object], *readers: str) -> Policy:
    return POLICIES.get("rule")(StageSpec(readers=readers, policy="rule", rule=rule))


def said(name: str, score: float | None = None, *, include: bool = True, tokens: int | None = None) -> Reading:
    answer = Answer(decision="include" if include else "exclude", score=score)
    return Reading(reader=name, outcome=answer, tokens=tokens)


def failed(name: str) -> Reading:
    return Reading(reader=name, outcome=Refer(code=ReferCode.UNPARSED, detail="odd"))


def heard(*readings: Reading) -> dict[str, Reading]:
    return {reading.reader: reading for reading in readings}


def state(found: Ask | Outcome) -> State:
    assert isinstance(found, Outcome)
    return found.state


def test_the_strong_reader_is_asked_only_where_the_cheap_one_is_unsure() -> None:
    rule = policy(ESCALATION, "small", "large")
    assert rule({}) == Ask(readers=("small",))
    assert state(rule(heard(said("small", 0.9)))) is State.INCLUDED
    assert state(rule(heard(said("small", 0.1, include=False)))) is State.EXCLUDED
    assert rule(heard(said("small", 0.5))) == Ask(readers=("large",))
    assert state(rule(heard(said("small", 0.5), said("large", include=False)))) is State.EXCLUDED
    assert rule(heard(failed("small"))) == Ask(readers=("large",))


def test_a_failed_reader_that_could_turn_the_outcome_sends_the_record_to_a_person() -> None:
    rule = policy({"kind": "at_least", "readers": ["a", "b"], "votes": 2}, "a", "b")
    assert state(rule(heard(said("a"), said("b")))) is State.INCLUDED
    assert state(rule(heard(said("a", include=False), failed("b")))) is State.EXCLUDED
    found = rule(heard(said("a"), failed("b")))
    assert isinstance(found, Outcome)
    assert (found.state, found.code) == (State.REFERRED, ReferCode.UNPARSED)


def test_the_length_in_a_readers_own_tokens_says_who_is_asked() -> None:
    bins = [
        {"readers": ["a"], "weights": [1.0], "intercept": 0.0, "threshold": 1.0},
        {"readers": ["a", "b"], "weights": [1.0, 1.0], "intercept": 0.0, "threshold": 1.0},
    ]
    rule = policy({"kind": "length_routed", "edges": [500], "bins": bins, "tokens_of": "a"}, "a", "b")
    assert rule({}) == Ask(readers=("a",))
    assert state(rule(heard(said("a", include=False, tokens=100)))) is State.EXCLUDED
    assert rule(heard(said("a", include=False, tokens=900))) == Ask(readers=("b",))
    assert state(rule(heard(said("a", include=False, tokens=900), said("b")))) is State.INCLUDED
    unknown = rule(heard(said("a", include=False)))
    assert isinstance(unknown, Outcome)
    assert (unknown.state, unknown.code) == (State.REFERRED, ReferCode.UNSURE)


def test_a_rule_that_does_not_fit_the_stage_is_refused() -> None:
    with pytest.raises(InputError, match="names a reader 'large' that is not among its readers"):
        policy(ESCALATION, "small")
    with pytest.raises(InputError, match="never asks the reader 'third'"):
        policy(ESCALATION, "small", "large", "third")
    with pytest.raises(InputError, match="cannot be used"):
        policy({"kind": "at_least", "readers": ["a"], "votes": 3}, "a")
    with pytest.raises(ValueError, match="belong together"):
        StageSpec(readers=("a",), policy="rule")
