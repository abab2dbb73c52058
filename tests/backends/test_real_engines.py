"""The real components: vLLM's server on CPU, and the embedded engine. Its model is small: its answers mean nothing."""

import asyncio
import json
import os
import socket
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from litcascade.backends.base import BACKENDS, Backend, reply_of
from litcascade.backends.models import find, folder
from litcascade.backends.probe import probe
from litcascade.errors import BackendError
from litcascade.schemas import LabelShape, ModelRef, ModelSpec, Reply, Request, Sampling, say
from tests.conftest import DATA, need
from tests.support.reviews import ABSTRACTS, FIELDS, REPORTS, ReviewFolder

TEXT = "Methods\n\nThe trial took place in a hospital. Pain was measured in 40 people who took 75 mg of zinc."


@pytest.fixture(scope="module")
def vllm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    program, model = os.environ.get("LITCASCADE_VLLM", ""), os.environ.get("LITCASCADE_VLLM_MODEL", "")
    need("vllm", bool(program and model), "LITCASCADE_VLLM and LITCASCADE_VLLM_MODEL do not name a vLLM and a model folder")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("vllm") / "log.txt"
    settings = {
        "HF_HUB_OFFLINE": "1", "VLLM_NO_USAGE_STATS": "1", "VLLM_CPU_KVCACHE_SPACE": "2",
        "VLLM_CPU_OMP_THREADS_BIND": f"0-{(os.cpu_count() or 2) - 1}",
    }  # fmt: skip
    command = [
        program, "serve", model, "--served-model-name", "m", "--host", "127.0.0.1", "--port", str(port), "--dtype", "bfloat16",
        "--max-model-len", "2048", "--enforce-eager", "--block-size", "32", "--enable-prompt-tokens-details",
    ]  # fmt: skip
    with log.open("wb") as out:
        server = subprocess.Popen(command, stdout=out, stderr=out, env={**os.environ, **settings})
    try:
        deadline = time.monotonic() + 300
        while True:
            assert server.poll() is None, log.read_text(encoding="utf-8", errors="replace")[-3000:]
            assert time.monotonic() < deadline, log.read_text(encoding="utf-8", errors="replace")[-3000:]
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=5):
                    break
            except OSError:
                time.sleep(1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait(60)


@pytest.fixture(params=["vllm", "embedded"])
def engine(request: pytest.FixtureRequest) -> tuple[str, ModelSpec]:
    if request.param == "vllm":
        url = request.getfixturevalue("vllm")
        return "vllm", ModelSpec(backend="http", model="m", endpoints=(url,), timeout=120)
    need(
        "local",
        (folder() / find("smollm2-135m").file).exists(),
        "the weights are not pulled (litcascade model pull smollm2-135m)",
    )
    pytest.importorskip("xllamacpp")
    return "embedded", ModelSpec(backend="embedded", model="smollm2-135m", context=2048)


def ask(spec: ModelSpec, requests: list[Request]) -> dict[str, Reply | BackendError]:
    async def go() -> dict[str, Reply | BackendError]:
        backend: Backend = BACKENDS.get(spec.backend)("m", spec, Path())
        try:
            return {key: came async for key, came in backend.ask(requests)}
        finally:
            await backend.close()

    return asyncio.run(go())


def test_the_probe_finds_labels_scores_schema_and_whole_prompts(engine: tuple[str, ModelSpec]) -> None:
    async def go() -> None:
        backend = BACKENDS.get(engine[1].backend)("m", engine[1], Path())
        try:
            findings = await probe(backend, ModelRef(name="m", engine=await backend.engine()))
        finally:
            await backend.close()
        assert [finding.words for finding in findings if not finding.ok] == []
        assert len(findings) == 4

    asyncio.run(go())


def test_labels_come_with_log_probabilities_and_long_prompts_are_refused(engine: tuple[str, ModelSpec]) -> None:
    shape, sampling = LabelShape(labels=("yes", "no")), Sampling(max_tokens=8, top_logprobs=20)
    short = [
        Request(model=ModelRef(name="m"), messages=(say("user", f"Is {i} even?"),), shape=shape, sampling=sampling)
        for i in range(6)
    ]
    long = Request(model=ModelRef(name="m"), messages=(say("user", "zinc " * 4000),), shape=shape, sampling=sampling)
    came = ask(engine[1], [*short, long])
    for request in short:
        reply = came[request.key]
        assert isinstance(reply, Reply)
        assert reply.text in ("yes", "no")
        assert reply.finish_reason == "stop"
        assert reply.logprobs[0].top
    refused = came[long.key]
    assert isinstance(refused, Reply)
    assert refused.refused
    assert "context" in refused.refused


def test_texts_are_counted_by_the_models_own_tokenizer(engine: tuple[str, ModelSpec]) -> None:
    texts = ["zinc", "zinc " * 100, TEXT, "研究 of zinc"]

    async def go() -> tuple[list[int] | None, Reply | BackendError]:
        backend = BACKENDS.get(engine[1].backend)("m", engine[1], Path())
        try:
            counts = await backend.count(texts)
            messages = (say("user", texts[1]),)
            request = Request(
                model=ModelRef(name="m"), messages=messages, shape=LabelShape(labels=("yes", "no")), sampling=Sampling()
            )
            return counts, await anext(came async for _, came in backend.ask([request]))
        finally:
            await backend.close()

    counts, reply = asyncio.run(go())
    assert counts is not None
    assert all(0 < count <= len(text.encode()) for count, text in zip(counts, texts, strict=True))
    assert 100 <= counts[1] <= 210
    assert isinstance(reply, Reply)
    assert reply.prompt_tokens is not None
    assert counts[1] <= reply.prompt_tokens <= counts[1] + 80


def test_three_stages_end_with_a_closed_ledger(engine: tuple[str, ModelSpec], tmp_path: Path) -> None:
    name, spec = engine
    folder_ = ReviewFolder(tmp_path / "review")
    folder_.protocol(ABSTRACTS + 'referred = "pass"\n', REPORTS + 'referred = "pass"\n', FIELDS)
    path = folder_.path / "review.toml"
    text = path.read_text(encoding="utf-8").replace("[readers.prose]", "[readers.prose]\nmax_tokens = 40")
    if name == "vllm":
        text = text.replace("http://127.0.0.1:9/v1", spec.endpoints[0]).replace("timeout = 5", "timeout = 120")
    else:
        text = text.replace('backend = "http"\nmodel = "m"', 'backend = "embedded"\ncontext = 2048\nmodel = "smollm2-135m"')
    path.write_text(text, encoding="utf-8")
    folder_.records(
        [{"id": "a", "title": "Zinc", "abstract": "Adults took zinc."}, {"id": "b", "title": "Zinc gum", "abstract": ""}]
    )
    folder_.texts({"a": TEXT, "b": TEXT})
    outcome = folder_.run(probed=True)
    assert outcome.status == "complete"
    assert all(stage.closes() for stage in outcome.ledger)
    assert outcome.ledger[0].entered == 2
    assert folder_.states("title_abstract")["b"] == "referred"
    stored = folder_.rows("select count(*), count(raw), count(prompt_tokens) from calls")[0]
    assert stored[0] == stored[1] == stored[2] > 0
    again = folder_.run()
    assert again.spent.calls == 0


def test_recorded_replies_of_vllm_are_read_as_the_program_reads_them() -> None:
    recorded = json.loads((DATA / "recorded" / "vllm-0.32.0.json").read_text(encoding="utf-8"))
    replies = recorded["replies"]

    def reply(name: str) -> Reply:
        return reply_of(name, replies[name]["body"], json.dumps(replies[name]["body"]), 0.0)

    assert reply("label").text in ("yes", "no")
    assert {token for token, _ in reply("label").logprobs[0].top} >= {"yes", "no"}
    assert reply("label").prompt_tokens
    assert json.loads(reply("json").text or "")["v"] in ("a", "b")
    assert reply("cut").finish_reason == "length"
    assert replies["too long"]["status"] == 400
    assert replies["unknown constraint key"]["status"] == 200  # ignored in silence: what the canary is for
    assert reply("unknown constraint key").text not in ("qzvx", "wkjp")
    assert replies["wrong model"]["status"] == 404
