"""Cases S06 (scores from the wrong tokens) and S09 (equal runs that differ)."""

import json
import math
from pathlib import Path
from typing import Any

import polars as pl

from litcascade.backends.base import reply_of
from litcascade.eval.agreement import flips
from litcascade.schemas import Answer, Reading, Reply, StageSpec, State
from litcascade.stages.policy import POLICIES, Outcome
from litcascade.stages.score import p_include


def replies(cases: Path) -> dict[str, Reply]:
    lines = (cases / "S06-label-token-variants" / "replies.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    return {row["key"]: reply_of(row["key"], row["reply"], json.dumps(row["reply"]), 0.0) for row in rows}


def test_case_s06_scores_come_from_all_spellings_and_are_never_zero(cases: Path) -> None:
    wanted = json.loads((cases / "S06-label-token-variants" / "expected.json").read_text(encoding="utf-8"))
    found = replies(cases)
    score = p_include(found["a"], "yes", "no")
    assert score is not None
    assert round(score, 4) == wanted["a"]["p_yes"]
    bound = p_include(found["b"], "yes", "no")
    assert bound is not None
    assert wanted["b"]["p_yes_lower_bound"] <= round(bound, 4) < 1
    assert p_include(found["c"], "include", "include_uncertain") is None
    assert p_include(found["d"], "yes", "no") is wanted["d"]["p_yes"]


def scores(cases: Path, name: str) -> dict[str, float]:
    lines = (cases / "S09-greedy-not-repeatable" / name).read_text(encoding="utf-8").splitlines()
    return {str(row["id"]): row["p_yes"] for row in map(json.loads, lines)}


def states(found: dict[str, float], **spec: Any) -> dict[str, str]:
    policy = POLICIES.get("threshold")(StageSpec(readers=("one",), policy="threshold", **spec))
    decided = {}
    for record_id, score in found.items():
        decision = "include" if score >= 0.5 else "exclude"
        outcome = policy({"one": Reading(reader="one", outcome=Answer(decision=decision, score=score))})
        assert isinstance(outcome, Outcome)
        decided[record_id] = outcome.state.value
    return decided


def frame(found: dict[str, str]) -> pl.DataFrame:
    return pl.DataFrame({"record_id": list(found), "verdict": list(found.values())})


def test_case_s09_flips_are_measured_and_a_score_near_the_threshold_goes_to_a_person(cases: Path) -> None:
    wanted = json.loads((cases / "S09-greedy-not-repeatable" / "expected.json").read_text(encoding="utf-8"))
    first, second = (scores(cases, name) for name in ("run_batch1.jsonl", "run_batch64.jsonl"))
    measured = flips(frame(states(first, threshold=wanted["threshold"])), frame(states(second, threshold=wanted["threshold"])))
    assert measured.ids == tuple(str(record_id) for record_id in wanted["flips"])
    assert measured.share.value is not None
    assert math.isclose(measured.share.value, wanted["flip_rate"], abs_tol=5e-5)
    band = {"threshold": wanted["threshold"], "unsure": (0.49, 0.51)}
    careful = [states(found, **band) for found in (first, second)]
    assert flips(frame(careful[0]), frame(careful[1])).share.value == 0
    people = [record_id for record_id, state in careful[0].items() if state == State.REFERRED]
    assert people == [str(record_id) for record_id in wanted["rows_to_person"]]
