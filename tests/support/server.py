"""A local server that speaks like vLLM's and misbehaves as told.

The shapes of its replies are those recorded from vLLM 0.32.0 on CPU (tests/data/recorded/vllm-0.32.0.json).
"""

import asyncio
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Body = dict[str, Any]


@dataclass
class Say:
    """What to answer: a chat completion by default, or any status and raw body."""

    text: str | None = "yes"
    finish: str | None = "stop"
    reasoning: str | None = None
    top: dict[str, float] | None = None
    status: int = 200
    raw: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    close: bool = False
    prompt_tokens: int | None = 40


Answerer = Callable[[Body], Say]


def completion(say: Say, model: str = "m") -> Body:
    """A chat completion in the shape that vLLM 0.32.0 gives."""
    logprobs = None
    if say.top is not None:
        top = [{"token": token, "logprob": logprob, "bytes": list(token.encode())} for token, logprob in say.top.items()]
        logprobs = {"content": [{**top[0], "top_logprobs": top}]}
    message = {"role": "assistant", "content": say.text, "reasoning": say.reasoning}
    choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": say.finish, "stop_reason": None}
    usage = {"prompt_tokens": say.prompt_tokens, "completion_tokens": 2, "total_tokens": (say.prompt_tokens or 0) + 2}
    body: Body = {"id": "chatcmpl-x", "object": "chat.completion", "created": 1, "model": model, "choices": [choice]}
    return body | ({"usage": usage} if say.prompt_tokens is not None else {})


def asked_labels(body: Body) -> list[str]:
    """The labels a request is held to, if any."""
    return list(body.get("structured_outputs", {}).get("choice", []))


def well_behaved(body: Body) -> Say:
    """Answers canaries as a server whose constraints are live, long prompts with their length, and all else yes."""
    labels = asked_labels(body)
    words = sum(len(message["content"].split()) for message in body["messages"])
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    if schema is not None:
        return Say(json.dumps(least(schema)), prompt_tokens=words)
    first = labels[0] if labels else "include"
    return Say(first, top={label: -0.1 - i for i, label in enumerate(labels)} or None, prompt_tokens=words)


def least(schema: Body) -> Any:
    """The least value that a JSON schema of ours allows."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return least(schema["anyOf"][-1])
    kind = schema.get("type")
    if kind == "object":
        return {name: least(part) for name, part in schema["properties"].items()}
    return {"string": "", "array": [], "null": None, "number": schema.get("minimum", 0)}[str(kind)]


class ModelServer:
    """Runs in a thread of its own; `answer` may be replaced at any time; every body asked is kept in `asked`."""

    def __init__(self, model: str = "m") -> None:
        self.model = model
        self.answer: Answerer = well_behaved
        self.asked: list[Body] = []
        self.most_at_once = 0
        self._now = 0
        self.url = ""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(10)
        self._loop.close()

    def screening(self) -> list[Body]:
        """The bodies that were no canaries."""
        return [body for body in self.asked if not is_canary(body)]

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_get("/v1/models", self._models)
        app.router.add_get("/version", self._version)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        sockets = site._server.sockets  # type: ignore[union-attr]
        self.url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/v1"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()

    async def _models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": self.model, "object": "model", "max_model_len": 2048}]})

    async def _version(self, _: web.Request) -> web.Response:
        return web.json_response({"version": "0.32.0"})

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.asked.append(body)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            say = self.answer(body)
            if say.delay:
                await asyncio.sleep(say.delay)
            if say.close:
                transport = request.transport
                assert transport is not None
                transport.abort()
            text = say.raw if say.raw is not None else json.dumps(completion(say, self.model))
            return web.Response(text=text, status=say.status, headers=say.headers, content_type="application/json")
        finally:
            self._now -= 1


def is_canary(body: Body) -> bool:
    """Whether a request is a probe of the program."""
    text = str(body["messages"][-1]["content"])
    return text.startswith(("Say hello", "zinc zinc"))
