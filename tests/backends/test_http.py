import asyncio
import itertools
import json
from collections.abc import Sequence
from typing import Any

import pytest

from litcascade.backends.http import HttpBackend
from litcascade.backends.probe import Finding, probe
from litcascade.errors import BackendError, InputError
from litcascade.schemas import JsonShape, LabelShape, ModelRef, ModelSpec, Reply, Request, Sampling, Shape, TextShape, say
from tests.support.server import Body, ModelServer, Say, well_behaved

MODEL = ModelRef(name="m", engine="vllm 0.32.0")
SHAPES: list[Shape] = [
    TextShape(),
    LabelShape(labels=("yes", "no")),
    JsonShape(name="a", json_schema={"type": "object", "properties": {}}),
]


def backend(server: ModelServer, **changes: Any) -> HttpBackend:
    spec = {"backend": "http", "model": "m", "endpoints": (server.url,), "retries": 2, "timeout": 2.0, **changes}
    return HttpBackend("m", ModelSpec.model_validate(spec), pause=0.01)


def request(number: int = 0, shape: Shape = SHAPES[1]) -> Request:
    return Request(model=MODEL, messages=(say("user", f"question {number}"),), shape=shape, sampling=Sampling(top_logprobs=5))


def ask(made: HttpBackend, requests: Sequence[Request]) -> dict[str, Reply | BackendError]:
    async def collect() -> dict[str, Reply | BackendError]:
        try:
            return {key: came async for key, came in made.ask(requests)}
        finally:
            await made.close()

    return asyncio.run(collect())


def one(made: HttpBackend, shape: Shape = SHAPES[1]) -> Reply | BackendError:
    return ask(made, [request(shape=shape)])[request(shape=shape).key]


@pytest.mark.parametrize("shape", SHAPES, ids=["text", "labels", "json"])
def test_a_reply_is_kept_whole(server: ModelServer, shape: Shape) -> None:
    server.answer = lambda _: Say('{"a": 1}', top={"yes": -0.2, "no": -1.7}, prompt_tokens=17)
    reply = one(backend(server), shape)
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish_reason, reply.prompt_tokens) == ('{"a": 1}', "stop", 17)
    assert reply.logprobs[0].top[0] == ("yes", -0.2)
    assert json.loads(reply.raw)["choices"][0]["message"]["content"] == '{"a": 1}'


def test_each_shape_is_sent_as_vllm_wants_it(server: ModelServer) -> None:
    for shape in SHAPES:
        one(backend(server), shape)
    text, labels, schema = server.asked
    assert "structured_outputs" not in text
    assert labels["structured_outputs"] == {"choice": ["yes", "no"]}
    assert labels["top_logprobs"] == 5
    assert schema["response_format"]["json_schema"]["schema"] == {"type": "object", "properties": {}}


def test_labels_are_a_grammar_for_llama_cpp(server: ModelServer) -> None:
    one(backend(server, dialect="llama.cpp"))
    assert server.asked[0]["grammar"] == 'root ::= "yes" | "no"'


@pytest.mark.parametrize("shape", SHAPES, ids=["text", "labels", "json"])
@pytest.mark.parametrize("status", [429, 500, 502, 503])
def test_busy_and_broken_servers_are_asked_again(server: ModelServer, shape: Shape, status: int) -> None:
    tries = itertools.count()
    server.answer = lambda _: Say(status=status, raw='{"error": {"message": "busy"}}') if next(tries) < 2 else Say("yes")
    reply = one(backend(server), shape)
    assert isinstance(reply, Reply)
    assert len(server.asked) == 3


@pytest.mark.parametrize("shape", SHAPES, ids=["text", "labels", "json"])
def test_retries_used_up_are_an_error_and_no_reply(server: ModelServer, shape: Shape) -> None:
    server.answer = lambda _: Say(status=500, raw="engine dead")
    came = one(backend(server), shape)
    assert isinstance(came, BackendError)
    assert (came.attempts, came.fatal) == (3, False)
    assert "HTTP 500" in str(came)
    assert len(server.asked) == 3


@pytest.mark.parametrize("shape", SHAPES, ids=["text", "labels", "json"])
def test_a_refusal_is_never_asked_again_and_is_a_reply(server: ModelServer, shape: Shape) -> None:
    words = "This model's maximum context length is 2048 tokens. However, your prompt contains at least 2049 input tokens"
    server.answer = lambda _: Say(status=400, raw=json.dumps({"error": {"message": words, "code": 400}}))
    reply = one(backend(server), shape)
    assert isinstance(reply, Reply)
    assert reply.refused == words
    assert reply.text is None
    assert len(server.asked) == 1


def test_a_wrong_key_is_fatal_at_once(server: ModelServer) -> None:
    server.answer = lambda _: Say(status=401, raw="no")
    came = one(backend(server))
    assert isinstance(came, BackendError)
    assert came.fatal
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [403, 404, 451])
def test_a_wall_before_one_request_stops_no_other(server: ModelServer, status: int) -> None:
    server.answer = lambda body: Say(status=status, raw="blocked") if "question 3" in str(body) else Say("yes")
    came = ask(backend(server), [request(i) for i in range(10)])
    errors = [error for error in came.values() if isinstance(error, BackendError)]
    assert len(errors) == 1
    assert not errors[0].fatal
    assert len(server.asked) == 10


@pytest.mark.parametrize("shape", SHAPES, ids=["text", "labels", "json"])
@pytest.mark.parametrize(
    "say_",
    [
        Say(close=True),
        Say(delay=5.0),
        Say(raw="<html>busy</html>"),
        Say(raw='{"cho'),
        Say(raw="{}"),
        Say(raw='{"error": {"message": "overloaded"}}'),
        Say(raw='"busy"'),
        Say(raw="[1, 2]"),
        Say(raw="null"),
    ],
)
def test_broken_connections_timeouts_and_pages_are_no_reply(server: ModelServer, shape: Shape, say_: Say) -> None:
    server.answer = lambda _: say_
    came = one(backend(server, retries=0, timeout=0.3), shape)
    assert isinstance(came, BackendError)


@pytest.mark.parametrize("shape", SHAPES, ids=["text", "labels", "json"])
@pytest.mark.parametrize(
    "raw",
    [
        '{"choices": []}',
        '{"choices": [{"message": {}}]}',
        '{"choices": [{"index": 0, "message": {"role": "assistant", "content": null}, "finish_reason": "length"}]}',
    ],
)
def test_an_empty_completion_is_a_reply_without_text(server: ModelServer, shape: Shape, raw: str) -> None:
    server.answer = lambda _: Say(raw=raw)
    reply = one(backend(server), shape)
    assert isinstance(reply, Reply)
    assert reply.text is None
    assert reply.raw


def test_the_server_may_say_when_to_come_back(server: ModelServer) -> None:
    tries = itertools.count()
    server.answer = lambda _: Say(status=429, raw="{}", headers={"Retry-After": "0"}) if next(tries) == 0 else Say("yes")
    assert isinstance(one(backend(server)), Reply)


def test_requests_in_flight_are_bounded(server: ModelServer) -> None:
    server.answer = lambda _: Say("yes", delay=0.02)
    came = ask(backend(server, concurrency=4), [request(i) for i in range(40)])
    assert len(came) == 40
    assert all(isinstance(reply, Reply) for reply in came.values())
    assert server.most_at_once <= 4


def test_a_dead_server_is_given_up_soon(server: ModelServer) -> None:
    server.answer = lambda _: Say(status=503, raw="down")
    came = ask(backend(server, retries=0, concurrency=1), [request(i) for i in range(200)])
    assert all(isinstance(error, BackendError) for error in came.values())
    assert any(error.fatal for error in came.values() if isinstance(error, BackendError))
    assert len(server.asked) < 20


def test_one_dead_endpoint_of_two_loses_nothing(server: ModelServer) -> None:
    made = backend(server, endpoints=("http://127.0.0.1:9/v1", server.url), retries=3, concurrency=8)
    came = ask(made, [request(i) for i in range(60)])
    assert all(isinstance(reply, Reply) for reply in came.values())


def test_the_engine_tells_its_version_and_a_wrong_model_is_told(server: ModelServer) -> None:
    async def engine(made: HttpBackend) -> str:
        try:
            return await made.engine()
        finally:
            await made.close()

    assert asyncio.run(engine(backend(server))) == "vllm 0.32.0"
    with pytest.raises(BackendError, match="does not serve 'other' but m"):
        asyncio.run(engine(backend(server, model="other")))
    with pytest.raises(BackendError, match="cannot be reached"):
        asyncio.run(engine(backend(server, endpoints=("http://127.0.0.1:9/v1",))))


def test_a_key_comes_from_the_environment_only(server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="LITCASCADE_TEST_KEY"):
        backend(server, api_key_env="LITCASCADE_TEST_KEY")
    monkeypatch.setenv("LITCASCADE_TEST_KEY", "secret-word")
    reply = one(backend(server, api_key_env="LITCASCADE_TEST_KEY"))
    assert isinstance(reply, Reply)
    assert "secret-word" not in reply.model_dump_json()


def probed(server: ModelServer) -> list[Finding]:
    made = backend(server)

    async def go() -> list[Finding]:
        try:
            return await probe(made, MODEL)
        finally:
            await made.close()

    return asyncio.run(go())


def failures(findings: list[Finding]) -> str:
    return " | ".join(finding.words for finding in findings if not finding.ok)


def test_a_good_server_passes_its_probe(server: ModelServer) -> None:
    server.answer = lambda body: Say('{"qzvx": "wkjp"}') if "response_format" in body else well_behaved(body)
    assert failures(probed(server)) == ""


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda _: Say("Hello! It is sunny.", prompt_tokens=2000), "ignored the constraint in silence"),
        (lambda _: Say(None, reasoning="qzvx", prompt_tokens=2000), "reasoning field"),
        (lambda _: Say("<|im_start|>assistant", prompt_tokens=2000), "chat template"),
        (lambda _: Say(status=400, raw='{"error": {"message": "you must provide a chat template"}}'), "no chat template"),
        (lambda _: Say("qzvx", prompt_tokens=100), "cuts prompts in silence"),
        (lambda _: Say("qzvx", prompt_tokens=2000), "no log-probabilities"),
    ],
)
def test_a_probe_tells_plainly_what_is_wrong(server: ModelServer, answer: Any, words: str) -> None:
    server.answer = answer
    assert words in failures(probed(server))


def test_case_like_legacy_constraint_is_caught(server: ModelServer) -> None:
    def old(body: Body) -> Say:
        return Say("yes, gladly", prompt_tokens=2000) if "structured_outputs" in body else Say("qzvx", prompt_tokens=2000)

    server.answer = old
    assert any(finding.fatal and not finding.ok for finding in probed(server))
