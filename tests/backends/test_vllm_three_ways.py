"""One small real model under vLLM in all three ways: served by `litcascade serve`, inside a process, and by `vllm run-batch`.

Its answers mean nothing; that they are the same ones does.
"""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from litcascade.backends.http import HttpBackend
from litcascade.errors import BackendError
from litcascade.pipeline.batches import read_replies, write_batch
from litcascade.pipeline.run import Outcome
from litcascade.schemas import JsonShape, LabelShape, ModelRef, ModelSpec, Reply, Request, Sampling, TextShape, say
from tests.conftest import need
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import ModelServer

ROOT = Path(__file__).parents[2]
OPTIONS = 'vllm = { dtype = "bfloat16", enforce_eager = true, block_size = 32 }'
CPU = {
    "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": f"0-{(os.cpu_count() or 2) - 1}",
}  # fmt: skip
SYSTEM = "Screen records for a review of zinc in adults with a sore throat. " + " ".join(
    f"Criterion {number}: the report tells how many people took part, how long and with what result." for number in range(12)
)
TEXTS = ["zinc", "zinc " * 100, "研究 of zinc"]
MOST_FLIPS = 0.1


@dataclass
class Served:
    """What the server said before it was stopped: two engines at once would take each other's cores."""

    replies: dict[str, Reply] = field(default_factory=dict)
    counts: list[int] | None = None


SERVED = Served()


@dataclass(frozen=True)
class Place:
    """vLLM's programs, the model's folder, and the folder of a review that declares it."""

    programs: Path
    model: Path
    folder: ReviewFolder
    url: str
    serving: "subprocess.Popen[str]"
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        return {**os.environ, **CPU, "PATH": f"{self.programs}{os.pathsep}{os.environ['PATH']}"}


def installed() -> tuple[Path, Path]:
    program, model = os.environ.get("LITCASCADE_VLLM", ""), os.environ.get("LITCASCADE_VLLM_MODEL", "")
    need("vllm", bool(program and model), "LITCASCADE_VLLM and LITCASCADE_VLLM_MODEL do not name a vLLM and a model folder")
    return Path(program).parent, Path(model)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    programs, model = installed()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = ReviewFolder(tmp_path_factory.mktemp("served") / "review")
    url = f"http://127.0.0.1:{port}/v1"
    declare(folder, model, url)
    log = folder.path / "vllm.log"
    environment = {**os.environ, **CPU, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}"}
    command = [sys.executable, "-m", "litcascade", "serve", "--review", str(folder.path), "--log", str(log)]
    serving = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT)
    made = Place(programs, model, folder, url, serving, log)
    try:
        wait_for(made, "ready:")
        yield made
    finally:
        serving.terminate()
        serving.communicate(timeout=90)


def declare(folder: ReviewFolder, model: Path, url: str) -> None:
    folder.protocol(ABSTRACTS, url=url)
    path = folder.path / "review.toml"
    told = f'model = "m"\nweights = "{model}"\nrevision = "test"\ncontext = 2048\n{OPTIONS}\nendpoints'
    text = path.read_text().replace('model = "m"\nendpoints', told).replace("timeout = 5", "timeout = 300")
    path.write_text(text)


def wait_for(place: Place, words: str) -> str:
    said = ""
    assert place.serving.stdout is not None
    for line in place.serving.stdout:
        said += line
        if words in line:
            return said
    raise AssertionError(f"{said}\n{place.log.read_text(errors='replace')[-3000:] if place.log.exists() else ''}")


def questions(count: int, mark: str = "") -> list[Request]:
    """Questions in every shape; most of them labels."""
    model = ModelRef(name="m", revision="test", engine="vllm 0.32.0")

    def one(number: int, **told: Any) -> Request:
        text = f"{mark}Trial {number}: {number * 7 % 50} adults took zinc for {number % 9} days. Keep it? yes or no"
        return Request(model=model, messages=(say("system", SYSTEM), say("user", text)), via="m", **told)

    labels = {"shape": LabelShape(labels=("yes", "no")), "sampling": Sampling(max_tokens=8, top_logprobs=20)}
    schema = {"type": "object", "properties": {"v": {"enum": ["a", "b"]}}, "required": ["v"], "additionalProperties": False}
    asked = [one(number, **labels) for number in range(count)]
    asked.append(one(count, shape=JsonShape(name="v", json_schema=schema), sampling=Sampling(max_tokens=20)))
    asked.append(one(count + 1, shape=TextShape(), sampling=Sampling(max_tokens=5)))
    return asked


def too_long() -> Request:
    model = ModelRef(name="m", revision="test", engine="vllm 0.32.0")
    return Request(model=model, messages=(say("user", "zinc " * 4000),), shape=LabelShape(labels=("yes", "no")), via="m")


def over_http(place: Place, requests: list[Request]) -> dict[str, Reply]:
    spec = ModelSpec(backend="http", model="m", endpoints=(place.url,), timeout=300)

    async def go() -> dict[str, Reply]:
        backend = HttpBackend("m", spec)
        try:
            came = {key: reply async for key, reply in backend.ask(requests)}
        finally:
            await backend.close()
        faults = [reply for reply in came.values() if isinstance(reply, BackendError)]
        assert not faults
        return {key: reply for key, reply in came.items() if isinstance(reply, Reply)}

    return asyncio.run(go())


def inside(place: Place, rounds: list[list[Request]], texts: list[str], where: Path) -> dict[str, Any]:
    """What the offline backend answers in vLLM's own environment, which lends it everything it needs."""
    options = {"dtype": "bfloat16", "enforce_eager": True, "block_size": 32}
    spec = {"backend": "vllm", "model": "m", "weights": str(place.model), "revision": "test", "context": 2048, "vllm": options}
    plain = [[request.model_dump(mode="json") for request in requests] for requests in rounds]
    asked, came = where / "asked.json", where / "came.json"
    asked.write_text(json.dumps({"spec": spec, "folder": str(where), "rounds": plain, "texts": texts}))
    command = [str(place.programs / "python"), str(ROOT / "tests" / "support" / "ask_offline.py"), str(asked), str(came)]
    environment = {**place.environment, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=540)
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(came.read_text())
    return found


def children(pid: int) -> list[int]:
    """All processes under one, by /proc."""
    parents: dict[int, list[int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(path.parent.name))
    found, left = [], [pid]
    while left:
        below = parents.get(left.pop(), [])
        found += below
        left += below
    return found


def name_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
    except OSError:
        return ""


async def _counted(place: Place) -> list[int] | None:
    backend = HttpBackend("m", ModelSpec(backend="http", model="m", endpoints=(place.url,)))
    try:
        return await backend.count(TEXTS)
    finally:
        await backend.close()


def run(place: Place, count: int) -> Outcome:
    place.folder.records(count)
    return place.folder.run(probed=True)


def test_a_served_run_shares_its_prefix_and_outlives_the_engine(place: Place) -> None:
    SERVED.replies = over_http(place, questions(40))
    SERVED.counts = asyncio.run(_counted(place))
    outcome = run(place, 30)
    assert outcome.status == "complete"
    assert outcome.spent.cached_tokens > 0
    assert "of the prompt tokens were cached" in outcome.engine
    engines = [pid for pid in children(place.serving.pid) if "EngineCore" in name_of(pid)]
    assert engines
    os.kill(engines[0], signal.SIGKILL)
    said = wait_for(place, "starting it again")
    assert "vllm ended with code" in said
    wait_for(place, "ready:")
    assert place.folder.run(probed=True).status == "complete"


def test_after_the_word_to_stop_nothing_of_it_is_left(place: Place) -> None:
    below = children(place.serving.pid)
    assert below
    place.serving.terminate()
    assert place.serving.wait(90) == 0
    time.sleep(1)
    assert [pid for pid in below if name_of(pid)] == []


def test_inside_the_process_it_says_what_the_server_says(place: Place, tmp_path: Path) -> None:
    asked, served = questions(40), SERVED.replies
    need("vllm", bool(served), "the server's replies are not there: run the whole file")
    found = inside(place, [[*asked[:20], too_long()], asked[20:]], TEXTS, tmp_path)
    replies = {key: Reply.model_validate(reply) for key, reply in found["replies"].items() if "error" not in reply}
    assert len(replies) == len(found["order"]) == len(asked) + 1
    assert (found["engine"], found["revision"]) == ("vllm 0.32.0", "test")
    refused = replies.pop(too_long().key)
    assert refused.refused is not None
    assert "context" in refused.refused or "length" in refused.refused
    labels = [request.key for request in asked if isinstance(request.shape, LabelShape)]
    flips = sum(served[key].text != replies[key].text for key in labels)
    sys.stderr.write(f"\n{flips} of {len(labels)} labels differ between server and offline engine\n")
    assert flips <= MOST_FLIPS * len(labels)
    for request in asked:
        one, other = served[request.key], replies[request.key]
        assert one.prompt_tokens == other.prompt_tokens
        assert (one.finish_reason, other.refused) == (other.finish_reason, None)
    for key in labels:
        assert replies[key].text in ("yes", "no")
        scores = [dict(reply.logprobs[0].top) for reply in (served[key], replies[key])]
        assert scores[0].keys() & scores[1].keys()
        shared = scores[0].keys() & scores[1].keys()
        assert all(abs(scores[0][token] - scores[1][token]) < 0.6 for token in shared if scores[0][token] > -5)
    schema = next(request.key for request in asked if isinstance(request.shape, JsonShape))
    assert json.loads(replies[schema].text or "")["v"] in ("a", "b")
    assert sum(reply.cached_tokens or 0 for reply in replies.values()) > 0.5 * 40 * 200
    assert SERVED.counts == found["counts"]


def test_run_batch_goes_round_until_nothing_waits(place: Place, tmp_path: Path, server: ModelServer) -> None:
    folder = ReviewFolder(tmp_path / "review")
    declare(folder, place.model, "http://127.0.0.1:9/v1")
    folder.records(6)
    models = {"m": ModelRef(name="m", revision="test", engine="vllm 0.32.0")}
    review = folder.review
    requests, replies = folder.path / "requests.jsonl", folder.path / "replies.jsonl"
    for _ in range(3):
        with review.open() as store:
            if not asyncio.run(write_batch(review, store, models, requests, force=True)).files:
                break
        command = [
            str(place.programs / "vllm"), "run-batch", "-i", str(requests), "-o", str(replies), "--model", str(place.model),
            "--served-model-name", "m", "--max-model-len", "2048", "--dtype", "bfloat16", "--enforce-eager", "--block-size", "32",
            "--enable-prompt-tokens-details",
        ]  # fmt: skip
        done = subprocess.run(command, env=place.environment, capture_output=True, text=True, check=False, timeout=300)
        assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        with review.open() as store:
            read = asyncio.run(read_replies(review, store, models, replies))
        assert not read.left_out
        assert read.replies > 0
    assert "pending" not in folder.states("title_abstract").values()
    rows = folder.rows("select engine, count(*), count(logprobs), count(prompt_tokens) from calls group by 1")
    assert rows[0][0] == "vllm 0.32.0"
    assert rows[0][1] == rows[0][2] == rows[0][3] >= 6
    scored = folder.rows("select count(*) from title_abstract where score is not null")[0][0]
    assert scored == 6
    declare(folder, place.model, server.url)  # served by the same version: every answer is known
    outcome = folder.run()
    assert (outcome.status, outcome.spent.calls) == ("complete", 0)
    assert server.asked == []
