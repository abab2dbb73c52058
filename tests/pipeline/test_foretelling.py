"""Runs played through on replicas that are not here: closed forms, conservation, failures, and the table of `run --estimate`."""

import json
import math
import random

import pytest
from typer.testing import CliRunner

from litcascade.cli.app import app
from litcascade.errors import InputError
from litcascade.pipeline.foretelling.measuring import busy_middle
from litcascade.pipeline.foretelling.simulating import Measured, Plan, foretell, play
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import ModelServer

EVEN = Measured((2.0,), 8.0)


def once(measured: Measured, plan: Plan, seed: int = 0) -> float:
    return play(measured, plan, random.Random(seed)).seconds


@pytest.mark.parametrize(("count", "replicas"), [(1, 1), (8, 1), (9, 1), (400, 1), (400, 3), (400, 5)])
def test_even_requests_take_as_many_waves_as_slots_leave(count: int, replicas: int) -> None:
    waves = math.ceil(count / (8 * replicas))
    assert once(EVEN, Plan(count, replicas)) == pytest.approx(2.0 * waves)


def test_a_driver_that_hands_out_slowly_bounds_the_rate() -> None:
    assert once(EVEN, Plan(400, 100, driver=10.0)) == pytest.approx(400 / 10 + 2.0)


def test_few_chunks_at_once_leave_many_replicas_idle_and_shards_do_not() -> None:
    uneven = Measured((1.0, 1.0, 1.0, 9.0), 32.0)
    one, cut = (foretell(uneven, Plan(20_000, 40, sharded=sharded), plays=3) for sharded in (False, True))
    assert one.used is not None
    assert cut.used is not None
    assert one.used < 0.7 < 0.9 < cut.used
    assert cut.seconds < one.seconds


def test_every_question_is_answered_once_whatever_dies() -> None:
    durations = tuple(random.Random(n).lognormvariate(0, 0.6) for n in range(50))
    plan = Plan(3000, 4, requests=1.5, fail=0.1, between_deaths=60.0, restart=20.0)
    played = play(Measured(durations, 6.0, repairs=0.0), plan, random.Random(1))
    assert played.answered == 4500
    assert played.again > 450  # a tenth and more, for what was on the dead ones came on top


def test_repairs_are_questions_of_their_own() -> None:
    played = play(Measured((1.0,), 10.0, repairs=0.2), Plan(20_000), random.Random(3))
    assert played.answered == pytest.approx(24_000, abs=4 * math.sqrt(20_000 * 0.2 * 0.8))


def test_more_repairs_than_first_questions_are_played_whole() -> None:
    """A stage whose every answer goes through two further questions on average takes three times as long."""
    plain, repaired = (once(Measured((1.0,), 10.0, repairs=repairs), Plan(20_000)) for repairs in (0.0, 2.0))
    assert repaired / plain == pytest.approx(3.0, rel=0.03)


def test_failures_stretch_a_run_by_what_is_asked_again() -> None:
    steady, failing = (once(EVEN, Plan(20_000, fail=fail)) for fail in (0.0, 0.2))
    assert failing / steady == pytest.approx(1 / 0.8, rel=0.02)


def test_deaths_take_their_share_of_the_time() -> None:
    """A replica that lives 100 s on average and is away for 50 s works two thirds of the time; what it held is lost besides."""
    plan = Plan(40_000, 10, between_deaths=100.0, restart=50.0)
    ratio = sum(once(EVEN, plan, seed) for seed in range(5)) / 5 / once(EVEN, Plan(40_000, 10))
    assert 1.45 < ratio < 1.65


def test_the_same_seed_gives_the_same_and_the_spread_shows_a_small_sample() -> None:
    few, many = (Measured(tuple(random.Random(n).lognormvariate(0, 1) for n in range(count)), 8.0) for count in (10, 1000))
    plan = Plan(2000)
    assert foretell(few, plan, seed=4) == foretell(few, plan, seed=4)
    wide, narrow = foretell(few, plan), foretell(many, plan)
    assert (wide.high - wide.low) / wide.seconds > 3 * (narrow.high - narrow.low) / narrow.seconds


def test_a_run_that_would_never_end_is_refused() -> None:
    with pytest.raises(InputError, match="hardly end"):
        foretell(EVEN, Plan(100, between_deaths=0.05, restart=0.0), plays=1)


@pytest.mark.parametrize(
    "wrong", [{"records": -1}, {"replicas": 0}, {"fail": 1.0}, {"restart": math.nan}, {"requests": math.inf}]
)
def test_a_plan_that_cannot_be_played_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Plan(**{"records": 1, **wrong})  # type: ignore[arg-type]


def test_nothing_measured_is_told() -> None:
    with pytest.raises(InputError, match="no request"):
        foretell(Measured((), 1.0), Plan(1))


def test_the_middle_of_a_run_is_measured() -> None:
    """Ten at once, each 1 s: ten are in flight, and every duration is 1."""
    spans = [(n / 10, n / 10 + 1) for n in range(400)]
    durations, in_flight = busy_middle(spans) or ((), 0.0)
    assert in_flight == pytest.approx(10.0, rel=0.02)
    assert {round(value, 6) for value in durations} == {1.0}
    assert Measured(durations, in_flight).rate == pytest.approx(10.0, rel=0.02)
    assert busy_middle(spans[:19]) is None
    assert busy_middle([(0.0, 0.0)] * 50) is None


def test_an_estimate_tells_of_more_replicas(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(80)
    runner = CliRunner()
    asked = ["run", "--estimate", "--no-check", "--sample", "60", "--review", str(folder.path), "--json"]
    done = runner.invoke(
        app, [*asked, "--replicas", "1", "--replicas", "4", "--records", "5000", "--readers", "3", "--per-hour", "2"]
    )
    assert done.exit_code == 0, done.output
    told = json.loads(done.stdout)
    rows = told["replicas"]
    assert [(row["replicas"], row["sharded"]) for row in rows] == [(1, False), (4, False), (4, True)]
    assert all(row["records"] == 5000 and row["cost"] == pytest.approx(2 * row["gpu_hours"]) for row in rows)
    assert rows[0]["seconds"] > rows[2]["seconds"] > 0
    assert "3.00 questions a record" in told["notes"][0]
    again = runner.invoke(app, [*asked[:3], "--sample", "0", *asked[5:], "--replicas", "2", "--records", "100"])
    assert [row["seconds"] > 0 for row in json.loads(again.stdout)["replicas"]] == [True, True]  # where little is pending too


def test_an_estimate_without_a_sample_says_what_is_missing(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(5)
    asked = ["run", "--estimate", "--no-check", "--sample", "0", "--review", str(folder.path), "--replicas", "2"]
    done = CliRunner().invoke(app, asked)
    assert done.exit_code == 0, done.output
    assert "too few calls are stored" in " ".join(done.output.split())
