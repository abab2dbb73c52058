"""A frozen rule applied in a run: who is not asked costs nothing, and what was asked is stored."""

import math

from litcascade.backends.scripted import ScriptedBackend
from litcascade.schemas import Reply, Request, TokenLogprobs
from tests.support.reviews import ReviewFolder

ESCALATION = """
[readers.small]
model = "m"
prompt = "inclusion"
[readers.large]
model = "m"
prompt = "basic"
seed = 7
[stages.title_abstract]
readers = ["small", "large"]
policy = "rule"
rule = { kind = "escalation", cheap = "small", strong = "large", low = 0.2, high = 0.8 }
"""
P_SMALL = {"r1": 0.95, "r2": 0.05, "r3": 0.5, "r4": 0.6}


def answer(request: Request) -> Reply:
    """The small reader's score by record; the large one keeps r3 alone."""
    text = request.messages[-1].content
    record = next(name for name in P_SMALL if f"Zinc trial {name[1:]}" in text)
    share = P_SMALL[record] if request.sampling.seed is None else (0.9 if record == "r3" else 0.1)
    top = (("yes", math.log(share)), ("no", math.log(1 - share)))
    return Reply(
        key=request.key, text="yes" if share >= 0.5 else "no", finish_reason="stop", prompt_tokens=100,
        logprobs=(TokenLogprobs(token="yes", top=top),),
    )  # fmt: skip


def test_only_whom_the_rule_asks_is_asked_and_a_second_run_asks_nobody(folder: ReviewFolder) -> None:
    folder.protocol(ESCALATION)
    folder.records(4)
    backend = ScriptedBackend(answer)
    folder.run({"m": backend})
    assert folder.states("title_abstract") == {"r1": "included", "r2": "excluded", "r3": "included", "r4": "excluded"}
    asked = dict(folder.rows("select reader, count(*) from readings group by 1"))
    assert asked == {"small": 4, "large": 2}
    assert len(backend.asked) == 6
    assert {row[0] for row in folder.rows("select policy from verdicts")} == {"rule"}
    folder.run({"m": backend})
    assert len(backend.asked) == 6


def test_a_changed_rule_judges_again_from_what_is_stored_and_asks_only_what_is_new(folder: ReviewFolder) -> None:
    folder.protocol(ESCALATION)
    folder.records(4)
    backend = ScriptedBackend(answer)
    folder.run({"m": backend})
    folder.protocol(ESCALATION.replace("low = 0.2", "low = 0.01"))
    folder.run({"m": backend})
    assert len(backend.asked) == 7
    assert folder.states("title_abstract")["r2"] == "excluded"
