"""vLLM inside the process, on an engine that stands in for it: rounds, refusals, a death, and the word to stop."""

import asyncio
import itertools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from litcascade.backends.offline import OfflineBackend
from litcascade.errors import BackendError, InputError, MissingExtraError
from litcascade.schemas import JsonShape, LabelShape, ModelRef, ModelSpec, Reply, Request, Sampling, Shape, TextShape, say

MODEL = ModelRef(name="m", engine="vllm 9.9.9")
LABELS = LabelShape(labels=("yes", "no"))


class VLLMClientError(Exception):
    """What vLLM 0.32 raises where a request is at fault; it is no ValueError."""


class FakeLLM:
    """Finishes two requests a step, the newest first; takes no prompt of more than a hundred characters."""

    made: "FakeLLM"
    dies_after: int | None = None
    slow: float = 0.0
    gone: bool = False

    def __init__(self, **arguments: Any) -> None:
        type(self).made = self
        self.arguments = arguments
        self.model_config = SimpleNamespace(get_diff_sampling_param=lambda: {"repetition_penalty": 1.1, "max_tokens": 99})
        self.llm_engine = self
        self.engine_core = SimpleNamespace(shutdown=lambda: setattr(self, "closed", True))
        self.closed = False
        self.open: dict[str, tuple[str, Any]] = {}
        self.numbers = itertools.count()
        self.added: list[str] = []
        self.steps = 0
        self.most = 0

    def enqueue_chat(self, messages: Any, sampling: Any, use_tqdm: bool) -> list[str]:
        assert use_tqdm is False
        ((*_, last),) = messages
        if self.gone:
            raise RuntimeError("EngineCore is gone")
        if len(last["content"]) > 100:
            raise VLLMClientError("the prompt is longer than the maximum model length of 100")
        number = str(next(self.numbers))
        self.open[number] = last["content"], sampling[0]
        self.added.append(last["content"])
        self.most = max(self.most, len(self.open))
        return [f"{number}-a1b2c3d4"]

    def step(self) -> list[Any]:
        self.steps += 1
        time.sleep(self.slow)
        if self.dies_after is not None and self.steps > self.dies_after:
            raise RuntimeError("EngineCore died")
        return [self._finish(number) for number in list(self.open)[-2:]]

    def _finish(self, number: str) -> Any:
        text, sampling = self.open.pop(number)
        entry = SimpleNamespace(logprob=-0.25, decoded_token="yes", rank=1)
        other = SimpleNamespace(logprob=-1.5, decoded_token="no", rank=2)
        first = SimpleNamespace(
            text=f"yes to {text}", token_ids=[5, 6], finish_reason="stop",
            logprobs=[{5: entry, 7: other}, {6: entry}] if sampling["logprobs"] else None,
        )  # fmt: skip
        return SimpleNamespace(request_id=number, finished=True, outputs=[first], prompt_token_ids=[1] * 12, num_cached_tokens=4)


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> type[FakeLLM]:
    class Engine(FakeLLM):
        pass

    module, sampling = ModuleType("vllm"), ModuleType("vllm.sampling_params")
    module.__dict__.update(__version__="9.9.9", LLM=Engine, SamplingParams=SimpleNamespace(from_optional=lambda **told: told))
    sampling.__dict__.update(StructuredOutputsParams=lambda **told: told)
    monkeypatch.setitem(sys.modules, "vllm", module)
    monkeypatch.setitem(sys.modules, "vllm.sampling_params", sampling)
    return Engine


def request(text: str, shape: Shape = LABELS, top: int = 5) -> Request:
    sampling = Sampling(max_tokens=8, top_logprobs=top)
    return Request(model=MODEL, messages=(say("system", "s"), say("user", text)), shape=shape, sampling=sampling)


def spec(**changes: Any) -> ModelSpec:
    return ModelSpec.model_validate({"backend": "vllm", "model": "owner/m", "context": 4096, **changes})


def run(
    *rounds: list[Request], made: OfflineBackend | None = None, during: Callable[[OfflineBackend, int], None] = lambda *_: None
) -> dict[str, Reply | BackendError]:
    async def go() -> dict[str, Reply | BackendError]:
        backend = made or OfflineBackend("m", spec(), Path())
        came: dict[str, Reply | BackendError] = {}

        async def one(requests: list[Request]) -> None:
            async for key, reply in backend.ask(requests):
                came[key] = reply
                during(backend, len(came))

        try:
            await asyncio.gather(*map(one, rounds))
        finally:
            await backend.close()
        return came

    return asyncio.run(go())


def test_replies_are_read_like_a_servers(engine: type[FakeLLM]) -> None:
    asked = request("question")
    reply = run([asked])[asked.key]
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish_reason) == ("yes to question", "stop")
    assert (reply.prompt_tokens, reply.cached_tokens, reply.completion_tokens) == (12, 4, 2)
    assert reply.logprobs[0].top == (("yes", -0.25), ("no", -1.5))
    assert '"cached_tokens": 4' in reply.raw
    assert engine.made.closed


def test_the_engine_is_made_as_the_protocol_says(engine: type[FakeLLM], tmp_path: Path) -> None:
    told = spec(revision="abc", vllm={"dtype": "bfloat16", "reasoning_parser": "qwen3"})
    run([request("q")], made=OfflineBackend("m", told, tmp_path))
    assert engine.made.arguments == {
        "model": "owner/m", "revision": "abc", "max_model_len": 4096, "enable_prefix_caching": True, "disable_log_stats": True,
        "dtype": "bfloat16",
    }  # fmt: skip


def test_each_shape_is_held_to_and_the_models_own_defaults_stay(engine: type[FakeLLM]) -> None:
    backend = OfflineBackend("m", spec(), Path())
    backend._llm = engine()
    labels = backend._sampling(request("q"))
    assert labels["structured_outputs"] == {"choice": ["yes", "no"]}
    assert (labels["repetition_penalty"], labels["max_tokens"], labels["temperature"], labels["logprobs"]) == (1.1, 8, 0.0, 5)
    schema = {"type": "object"}
    assert backend._sampling(request("q", JsonShape(name="a", json_schema=schema)))["structured_outputs"] == {"json": schema}
    assert "structured_outputs" not in backend._sampling(request("q", TextShape(), top=0))


@pytest.mark.usefixtures("engine")
def test_a_prompt_that_is_too_long_is_refused_and_harms_no_other() -> None:
    requests = [request(f"q{number}") for number in range(9)]
    long = request("x" * 200)
    came = run([*requests, long])
    refused = came.pop(long.key)
    assert isinstance(refused, Reply)
    assert refused.refused is not None
    assert "longer than the maximum" in refused.refused
    assert all(isinstance(reply, Reply) and reply.text for reply in came.values())
    assert len(came) == 9


def test_rounds_at_the_same_time_fill_one_engine(engine: type[FakeLLM]) -> None:
    engine.slow = 0.01
    one, two = ([request(f"{name} {number}") for number in range(40)] for name in ("one", "two"))
    came = run(one, two)
    assert len(came) == 80
    assert engine.made.most > 50  # the engine saw both before the first was through


def test_an_engine_that_dies_is_told_to_everybody(engine: type[FakeLLM]) -> None:
    engine.dies_after = 3
    requests = [request(f"q{number}") for number in range(100)]
    came = run(requests[:50], requests[50:])
    assert len(came) == 100
    errors = [error for error in came.values() if isinstance(error, BackendError)]
    assert len(errors) == 94
    assert all(error.fatal and "the engine died" in str(error) for error in errors)


def test_an_engine_that_is_gone_when_it_is_asked_is_told_too(engine: type[FakeLLM]) -> None:
    engine.gone = True
    came = run([request(f"q{number}") for number in range(10)])
    assert len(came) == 10
    assert all(isinstance(error, BackendError) for error in came.values())
    assert any(isinstance(error, BackendError) and error.fatal for error in came.values())


def test_after_the_word_to_stop_nothing_more_is_put(engine: type[FakeLLM]) -> None:
    engine.slow = 0.02
    requests = [request(f"q{number}") for number in range(500)]

    def stop(backend: OfflineBackend, count: int) -> None:
        if count == 3:
            backend.hold()

    came = run(requests, during=stop)
    assert 3 <= len(came) < 500
    assert len(came) == len(engine.made.added)  # what the engine had was answered
    assert all(isinstance(reply, Reply) for reply in came.values())


def test_an_engine_that_cannot_be_loaded_is_one_sentence(engine: type[FakeLLM], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("Failed to infer device type")

    monkeypatch.setattr(engine, "__init__", fail)
    (error,) = run([request("q")]).values()
    assert isinstance(error, BackendError)
    assert error.fatal
    assert "no GPU was found" in str(error)
    assert "\n" not in str(error)


@pytest.mark.usefixtures("engine")
def test_what_is_missing_is_told_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_text("x")
    with pytest.raises(InputError, match="holds no tokenizer"):
        asyncio.run(OfflineBackend("m", spec(weights="w"), tmp_path).engine())
    with pytest.raises(InputError, match="no such folder of weights"):
        asyncio.run(OfflineBackend("m", spec(weights="./none"), tmp_path).engine())
    assert asyncio.run(OfflineBackend("m", spec(), tmp_path).engine()) == "vllm 9.9.9"
    monkeypatch.setitem(sys.modules, "vllm", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'litcascade\[vllm\]'"):
        asyncio.run(OfflineBackend("m", spec(), tmp_path).engine())


@pytest.mark.usefixtures("engine")
def test_weights_in_a_folder_are_known_by_the_protocol_or_by_their_files(tmp_path: Path) -> None:
    folder = tmp_path / "w"
    folder.mkdir()
    (folder / "model.safetensors").write_text("x")
    assert asyncio.run(OfflineBackend("m", spec(weights="w", revision="abc"), tmp_path).revision()) == "abc"
    told = asyncio.run(OfflineBackend("m", spec(weights="w"), tmp_path).revision())
    assert told.startswith("files:")
    (folder / "model.safetensors").write_text("y")
    assert asyncio.run(OfflineBackend("m", spec(weights="w"), tmp_path).revision()) != told
