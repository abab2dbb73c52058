import math

from hypothesis import given
from hypothesis import strategies as st

from litcascade.schemas import Reply, TokenLogprobs
from litcascade.stages.score import p_include


def reply(**top: float) -> Reply:
    pairs = tuple((token.replace("_", " "), math.log(p)) for token, p in top.items())
    return Reply(key="k", text="yes", logprobs=(TokenLogprobs(token="yes", top=pairs),))


def test_all_spellings_of_a_label_are_summed() -> None:
    score = p_include(reply(Yes=0.5, yes=0.1, _YES=0.1, No=0.2, the=0.1), "yes", "no")
    assert score is not None
    assert math.isclose(score, 0.7 / 0.9)


def test_an_unlisted_label_gets_the_most_it_can_have_and_not_zero() -> None:
    score = p_include(reply(no=0.9, No=0.08), "yes", "no")
    assert score is not None
    assert math.isclose(score, 0.02 / (0.98 + 0.02))
    assert score > 0


def test_no_log_probabilities_is_no_score() -> None:
    assert p_include(Reply(key="k", text="yes"), "yes", "no") is None


def test_labels_that_begin_alike_have_no_first_token_score() -> None:
    assert p_include(reply(in_=0.9, x=0.1), "include", "insufficient") is None


def test_neither_label_listed_is_no_score() -> None:
    assert p_include(reply(the=0.6, study=0.3), "yes", "no") is None


def test_minus_infinity_and_vllms_floor_count_as_nothing() -> None:
    top = (("yes", -0.1), ("no", -9999.0), ("x", -math.inf))
    score = p_include(Reply(key="k", text="yes", logprobs=(TokenLogprobs(token="yes", top=top),)), "yes", "no")
    assert score is not None
    assert 0.99 < score <= 1.0


@given(st.floats(0.001, 0.499), st.floats(0.001, 0.499))
def test_a_score_is_a_probability_and_swaps_with_the_labels(yes: float, no: float) -> None:
    forward = p_include(reply(yes=yes, no=no), "yes", "no")
    backward = p_include(reply(yes=yes, no=no), "no", "yes")
    assert forward is not None
    assert backward is not None
    assert 0 <= forward <= 1
    assert math.isclose(forward + backward, 1)
