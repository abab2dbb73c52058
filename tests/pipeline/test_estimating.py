"""The price before it is paid, budgets that stop cleanly, and batch files written and read back."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.errors import InputError
from litcascade.pipeline.batches import Read, Written, models_of_last_run, read_replies, write_batch
from litcascade.pipeline.estimating import Estimated, Prices, estimate
from litcascade.pipeline.extrapolating import Span, of_counts, of_sample
from litcascade.schemas import ModelRef, Reply, Request
from tests.support.reviews import ABSTRACTS, FIELDS, REPORTS, ReviewFolder
from tests.support.server import ModelServer, completion, well_behaved

PANEL = """
[readers.one]
model = "m"
prompt = "inclusion"
[readers.two]
model = "m"
prompt = "basic"
[stages.title_abstract]
readers = ["one", "two"]
"""
MODEL = ModelRef(name="m", engine="vllm 0.32.0")


def engine(answer: str = "yes", said: Callable[[Request], str] | None = None) -> ScriptedBackend:
    """Counts a token a word, and says that a prompt had ten more than that."""

    def reply(request: Request) -> Reply:
        words = sum(len(message.content.split()) for message in request.messages)
        text = said(request) if said else answer
        return Reply(key=request.key, text=text, finish_reason="stop", prompt_tokens=words + 10, completion_tokens=2)

    return ScriptedBackend(reply, engine="vllm 0.32.0", count=lambda text: len(text.split()))


def estimated(folder: ReviewFolder, backend: ScriptedBackend, sample: int = 8) -> Estimated:
    review = folder.review
    with review.open() as store:
        return asyncio.run(estimate(review, store, {"m": backend}, sample=sample, probed=False))


def test_the_sample_is_asked_as_a_run_would_and_not_asked_again(folder: ReviewFolder) -> None:
    folder.protocol(PANEL)
    folder.records(40)
    backend = engine()
    told = estimated(folder, backend)
    (stage,) = told.stages
    assert (told.sampled, told.calls, len(backend.asked)) == (8, 16, 16)
    assert (stage.waiting, stage.requests) == (32, Span(64.0, 64.0, 64.0))
    assert stage.answer == Span(128.0, 128.0, 128.0)
    assert stage.seconds is not None
    assert list(folder.states("title_abstract").values()).count("included") == 8
    sampled = folder.rows("select sum(prompt_tokens) from calls")[0][0]
    outcome = folder.run({"m": backend})
    assert outcome.status == "complete"
    assert len(backend.asked) == len(set(backend.asked)) == 80
    assert stage.prompt is not None
    truth = folder.rows("select sum(prompt_tokens) from calls")[0][0] - sampled
    assert stage.prompt.low <= truth <= stage.prompt.high
    assert abs(stage.prompt.value - truth) < 0.02 * truth  # what the template adds was measured


def test_without_a_sample_nothing_is_asked_and_nothing_is_written(folder: ReviewFolder) -> None:
    folder.protocol(PANEL)
    folder.records(40)
    backend = engine()
    (stage,) = estimated(folder, backend, sample=0).stages
    assert backend.asked == []
    assert stage.requests == Span(80.0, 80.0, 80.0)
    assert stage.prompt is not None
    assert stage.prompt.value > 40 * 80
    assert stage.answer == Span(80 * 8.0, 80.0, 80 * 8.0)  # no answer is known: anything up to its limit
    assert stage.seconds is None
    assert stage.cost(Prices(per_hour=3.0)) is None
    for table in ("runs", "stage_versions", "calls", "verdicts", "token_counts"):
        assert folder.rows(f"select count(*) from {table}") == [(0,)]


def test_repairs_are_counted_as_they_were_measured(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(48)
    backend = engine(said=lambda request: "yes" if request.purpose == "repair" else "banana")
    (stage,) = estimated(folder, backend).stages
    assert stage.repairs == 1.0
    assert stage.requests == Span(80.0, 80.0, 80.0)


def test_later_stages_are_told_at_most(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS, REPORTS, FIELDS)
    folder.records(20)
    folder.texts({f"r{i}": f"Trial {i} gave zinc to adults." for i in range(1, 11)})
    told = estimated(folder, engine(), sample=0)
    shown = [(stage.stage, stage.at_most, stage.waiting, stage.requests.value) for stage in told.stages]
    assert shown == [
        ("title_abstract", False, 20, 20.0),
        ("full_text", False, 0, 0.0),
        ("full_text", True, 10, 10.0),
        ("extraction", False, 0, 0.0),
        ("extraction", True, 10, 10.0),
    ]


def test_prices_are_applied_to_tokens_and_gpu_hours(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    text = (folder.path / "review.toml").read_text()
    spread = 'endpoints = ["http://127.0.0.1:9/v1", "http://127.0.0.1:8/v1"]\nvllm = { tensor_parallel_size = 4 }'
    (folder.path / "review.toml").write_text(text.replace('endpoints = ["http://127.0.0.1:9/v1"]', spread))
    folder.records(40)
    (stage,) = estimated(folder, engine()).stages
    assert stage.gpus == 8
    assert stage.seconds is not None
    assert stage.prompt is not None
    assert stage.answer is not None
    assert stage.gpu_hours == stage.seconds.times(8 / 3600)
    cost = stage.cost(Prices(per_million=2.0, per_hour=3.0))
    assert cost is not None
    expected = 2.0 * (stage.prompt.value + stage.answer.value) / 1e6 + 3.0 * 8 * stage.seconds.value / 3600
    assert cost.value == pytest.approx(expected)


def test_sums_of_samples_hold_the_truth_as_often_as_they_say() -> None:
    import random

    draw = random.Random(7)
    population = [draw.choice([1, 1, 2, 2, 3, 8]) for _ in range(2000)]
    held = 0
    for _ in range(400):
        span = of_counts(draw.sample(population, 200), 2000)
        held += span.low <= sum(population) <= span.high
    assert 370 <= held <= 395
    assert of_counts(population, 2000).low == of_counts(population, 2000).high == sum(population)
    assert of_sample([2.0, 2.0, 2.0], Span(10.0, 8.0, 12.0)) == Span(20.0, 16.0, 24.0)


@pytest.mark.parametrize(
    ("budget", "words"),
    [("calls = 10", "10 calls"), ("tokens = 900", "900 tokens"), ("minutes = 0.000001", "minutes")],
)
def test_a_budget_stops_a_run_cleanly(folder: ReviewFolder, server: ModelServer, budget: str, words: str) -> None:
    server.answer = lambda body: replace(well_behaved(body), delay=0.02)
    folder.protocol(PANEL, f"[budget]\n{budget}\n", url=server.url)
    folder.records(200)
    outcome = folder.run()
    assert (outcome.status, outcome.exit_code) == ("budget", 5)
    assert words in outcome.words
    stored = folder.rows("select count(*), count(distinct key) from calls")[0]
    assert 0 < stored[0] == stored[1] == outcome.spent.calls < 200
    if budget.startswith("calls"):
        assert stored[0] == 10
    assert all(stage.closes() for stage in outcome.ledger)
    assert len(server.asked) == stored[0]  # what was on its way was stored, and nothing more was put
    folder.protocol(PANEL, url=server.url)
    assert folder.run().status == "complete"
    assert len(server.asked) == 400  # nothing was asked twice


def test_a_budget_stops_the_sample_of_an_estimate_too(folder: ReviewFolder) -> None:
    folder.protocol(PANEL, "[budget]\ncalls = 6\n")
    folder.records(40)
    told = estimated(folder, engine())
    assert told.calls == 6
    assert told.stopped is not None
    assert told.stages[0].requests.value > 0


def write(folder: ReviewFolder, name: str = "requests.jsonl", engine_: str = "vllm 0.32.0") -> Written:
    review = folder.review
    with review.open() as store:
        models = {"m": ModelRef(name="m", engine=engine_)}
        return asyncio.run(write_batch(review, store, models, folder.path / name, force=True))


def read(folder: ReviewFolder, lines: list[str], engine_: str = "vllm 0.32.0") -> Read:
    path = folder.path / "replies.jsonl"
    path.write_text("\n".join(lines))
    review = folder.review
    with review.open() as store:
        return asyncio.run(read_replies(review, store, {"m": ModelRef(name="m", engine=engine_)}, path))


def asked(folder: ReviewFolder, name: str = "requests.jsonl") -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder.path / name).read_text().splitlines()]


def replied(request: dict[str, Any], text: str | None = None) -> str:
    """A line as `vllm run-batch` writes it."""
    say = well_behaved(request["body"])
    body = completion(say if text is None else type(say)(text)) | {"system_fingerprint": "vllm-0.32.0-12ab34cd"}
    response = {"status_code": 200, "request_id": "vllm-batch-1", "body": body}
    return json.dumps({"id": "vllm-1", "custom_id": request["custom_id"], "response": response, "error": None})


def test_a_batch_goes_round_by_round_until_nothing_waits(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(ABSTRACTS, REPORTS, FIELDS, url=server.url)
    folder.records(6)
    folder.texts({f"r{i}": "Methods\n\nAdults in a hospital took 75 mg of zinc." for i in range(1, 7)})
    rounds = []
    while (written := write(folder)).files:
        lines = asked(folder)
        assert written.files["m"][1] == len(lines) == len({line["custom_id"] for line in lines})
        rounds.append(len(lines))
        odd = "banana" if len(rounds) == 1 else None  # the first answer of each record has to be repaired
        done = read(folder, [replied(line, odd) for line in lines])
        assert done.replies == len(lines)
        assert not done.left_out
    assert rounds[:2] == [6, 6]
    assert set(folder.states("extraction").values()) == {"extracted"}
    assert not any(written.waiting.values())
    again = folder.run(probed=False)  # over HTTP, against the same engine: all of it is known
    assert again.status == "complete"
    assert again.spent.calls == 0
    assert server.asked == []


def test_every_shape_is_written_as_a_server_is_asked(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(FIELDS, url=server.url)
    folder.records(1)
    folder.texts({"r1": "Adults in a hospital took 75 mg of zinc."})
    write(folder)
    (line,) = asked(folder)
    folder.run(probed=False)
    assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
    assert line["body"] == server.asked[0]


def test_what_is_no_reply_is_named_and_stays_to_be_asked(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(6)
    write(folder)
    lines = asked(folder)
    too_long = {"error": {"message": "maximum context length is 2048 tokens", "code": 400}}
    refused = {"id": "x", "custom_id": lines[1]["custom_id"], "response": {"status_code": 400, "body": too_long}, "error": None}
    failed = {"id": "x", "custom_id": lines[2]["custom_id"], "response": None, "error": "engine dead"}
    foreign = {**json.loads(replied(lines[3])), "custom_id": "0" * 32}
    given = [
        replied(lines[0]), replied(lines[0], "no"), json.dumps(refused), json.dumps(failed), json.dumps(foreign), "[1]",
        json.dumps(lines[5]), replied(lines[4])[:90],
    ]  # fmt: skip
    done = read(folder, given)
    assert done.replies == 2
    assert dict(done.left_out) == {
        "said twice": 1, "failed": 1, "foreign": 1, "no line of a batch": 1, "a request, no reply": 1, "torn": 1
    }  # fmt: skip
    assert len(done.lines) == 6
    assert "line 4:" in " ".join(done.lines)
    assert done.still == 4
    states = folder.states("title_abstract")
    assert (states["r1"], states["r2"]) == ("included", "referred")
    assert list(states.values()).count("pending") == 4
    assert read(folder, given).already_here == 2
    write(folder)
    assert [line["custom_id"] for line in asked(folder)] == [line["custom_id"] for line in lines[2:]]


def test_replies_of_another_engine_are_refused(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(2)
    write(folder, engine_="vllm 0.31.0")
    with pytest.raises(InputError, match=r"comes from vllm 0\.32\.0, but the batch was written for vllm 0\.31\.0"):
        read(folder, [replied(line) for line in asked(folder)], engine_="vllm 0.31.0")
    assert folder.rows("select count(*) from calls") == [(0,)]


def command(folder: ReviewFolder, *arguments: str) -> "subprocess.CompletedProcess[str]":
    line = [sys.executable, "-m", "litcascade", *arguments, "--review", str(folder.path)]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=120)


def test_the_commands_say_how_to_go_on(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(2)
    file = folder.path / "requests.jsonl"
    unknown = command(folder, "batch", "write", str(file))
    assert unknown.returncode == 3
    assert "--engine m='vllm 0.32.0'" in unknown.stderr
    told = command(folder, "batch", "write", str(file), "--engine", "m=vllm 0.32.0")
    assert told.returncode == 0, told.stderr
    assert "vllm run-batch -i" in told.stdout
    taken = command(folder, "batch", "write", str(file))
    assert taken.returncode == 2
    assert "is there already" in taken.stderr
    replies = folder.path / "replies.jsonl"
    replies.write_text("\n".join(replied(line) for line in asked(folder)))
    back = command(folder, "batch", "read", str(replies))  # the engine is that of the batch
    assert back.returncode == 0, back.stdout + back.stderr
    with folder.review.open() as store:
        assert models_of_last_run(folder.review, store) == {"m": MODEL}
    assert "nothing waits for a model" in command(folder, "batch", "write", str(file), "--force").stdout


def test_the_estimate_is_a_table_and_status_can_be_watched(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(12)
    told = command(folder, "run", "--estimate", "--sample", "4", "--per-million", "1")
    assert told.returncode == 0, told.stderr
    assert "title_abstract" in told.stdout
    assert "the sample: 4 record(s), 4 call(s)" in told.stdout
    assert len(server.screening()) == 4
    watched = command(folder, "status", "--watch")
    assert watched.returncode == 0
    assert "included" in watched.stdout
