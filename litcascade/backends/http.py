"""Any OpenAI-compatible server, made for vLLM's: endpoints balanced by tokens, adaptive concurrency, retries of our own."""

import asyncio
import json
import os
import re
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from litcascade.backends.base import BACKENDS, Came, reply_of
from litcascade.backends.limits import Limiter, backoff, wished
from litcascade.backends.load import Load, read_load
from litcascade.backends.ordering import in_order, weight
from litcascade.backends.structured import ServerSaid, StructuredClient
from litcascade.errors import BackendError, InputError
from litcascade.schemas import JsonShape, LabelShape, ModelSpec, Reply, Request
from litcascade.schemas.keys import scrubbed

RETRIED = {408, 409, 425, 429, 500, 502, 503, 504}
BUSY = {408, 425, 429, 503, 504}
REFUSED = {400, 413, 422}
DOWN_AFTER = 5
TRIES = 4
COUNTED_AT_ONCE = 16


@dataclass
class _Endpoint:
    url: str
    outstanding: int = 0
    failures: int = 0
    rests_until: float = 0.0
    structured: StructuredClient | None = None

    @property
    def shown(self) -> str:
        """Its address as messages may show it."""
        return shown(self.url)

    def failed(self, pause: float, busy: bool) -> None:
        """Leave it alone for a while that doubles with every failure in a row; a single fault is no reason yet."""
        self.failures += 1
        if busy or self.failures > 1:
            self.rests_until = time.monotonic() + min(60.0, pause * 2.0 ** min(self.failures, 10))


class HttpBackend:
    """Asks one model at one or more endpoints that serve it.

    Retries 429, 5xx, time-outs and broken connections with back-off; never 400, 413 or 422, which come back as a
    refused reply. After `DOWN_AFTER` requests in a row that used up their retries it says so and stops asking.
    """

    def __init__(self, name: str, spec: ModelSpec, *, pause: float = 0.5) -> None:
        self.name = name
        self.spec = spec
        self.pause = pause
        self.limiter = Limiter(spec.concurrency)
        self._endpoints = [_Endpoint(url.rstrip("/")) for url in spec.endpoints]
        self._session: aiohttp.ClientSession | None = None
        self._counting = asyncio.Semaphore(COUNTED_AT_ONCE)
        self._failures_in_row = 0
        self._held = False
        self._key = os.environ.get(spec.api_key_env, "").strip() if spec.api_key_env else None
        if spec.api_key_env and not self._key:
            raise InputError(f"model '{name}' needs its key in the environment variable {spec.api_key_env}, which is not set")
        if self._key and not self._key.isprintable():
            raise InputError(f"the key in the environment variable {spec.api_key_env} holds control signs; set it anew")

    async def engine(self) -> str:
        """`vllm VERSION` where the server says so, else the dialect's name."""
        served, url = await self.served_models()
        if self.spec.model not in served:
            raise BackendError(
                f"{shown(url)} does not serve '{self.spec.model}' but {', '.join(served) or 'nothing'}; "
                f"mend model under [models.{self.name}]",
                fatal=True,
            )
        root = url.removesuffix("/v1")
        status, body = await self._get_json(f"{root}/version")
        if _busy(status):
            raise BackendError(f"{shown(root)}/version answers HTTP {status}: the engine cannot be told; try again", fatal=True)
        told = _object(body) if status == 200 else None  # some gateways answer every address with a page
        version = told.get("version") if told else None
        return f"{self.spec.dialect} {version}" if version else self.spec.dialect

    async def revision(self) -> str:
        """What the protocol says: servers do not tell the revision of their weights."""
        return self.spec.revision

    async def served_models(self) -> tuple[list[str], str]:
        """Names of the models that the first endpoint that answers serves, and its address."""
        fault: BackendError | None = None
        for endpoint in self._endpoints:
            try:
                return await self._models_at(endpoint.url), endpoint.url
            except BackendError as error:
                fault = fault or error
        raise fault or BackendError("there are no endpoints", fatal=True)

    async def _models_at(self, url: str) -> list[str]:
        status, body = await self._get_json(f"{url}/models")
        if status != 200:
            raise BackendError(f"{shown(url)}/models answered HTTP {status}", fatal=True)
        try:
            return [str(item["id"]) for item in json.loads(body)["data"]]
        except (ValueError, KeyError, TypeError):
            raise BackendError(f"{shown(url)} is no OpenAI-compatible server", fatal=True) from None

    async def ask(self, requests: Sequence[Request]) -> AsyncGenerator[Came, None]:
        """Put all requests at once, in the order of what they share, bounded by the limiter; yield replies as they come."""
        tasks = [asyncio.create_task(self._one(request)) for request in in_order(requests)]
        try:
            for done in asyncio.as_completed(tasks):
                came = await done
                if came is not None:
                    yield came
        finally:
            for task in tasks:
                task.cancel()

    async def count(self, texts: Sequence[str]) -> list[int] | None:
        """By the server's `/tokenize`, as vLLM and llama.cpp offer it; None where it has none.

        Raises `BackendError` where the server is gone or busy, try after try: how a report is shown must not hang on that.
        """
        tasks = [asyncio.create_task(self._count(text)) for text in texts]
        try:
            counts = await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
        return None if None in counts else [count for count in counts if count is not None]

    async def _count(self, text: str) -> int | None:
        last: Exception | None = None
        for attempt in range(TRIES):
            try:
                return await self._count_once(text)
            except (ServerSaid, aiohttp.ClientError, TimeoutError, OSError) as error:
                last = error
                if attempt < TRIES - 1:
                    await asyncio.sleep(backoff(attempt, self.pause, getattr(error, "retry_after", None)))
        if isinstance(last, ServerSaid) and last.status in (200, 500):
            return None  # a gateway's page or fault, time after time: it has none
        where = self._endpoints[0].shown
        raise BackendError(f"{where}: the length of a report could not be asked ({type(last).__name__})", fatal=True)

    async def _count_once(self, text: str) -> int | None:
        root = self._endpoints[0].url.removesuffix("/v1")
        body = (
            {"content": text}
            if self.spec.dialect == "llama.cpp"
            else {"model": self.spec.model, "prompt": text, "add_special_tokens": False}
        )
        async with self._counting, self._open().post(f"{root}/tokenize", json=body) as response:
            raw = await response.text(errors="replace")
            found = _object(raw) if response.status == 200 else None
            if (response.status == 200 and found is None) or (_busy(response.status) and response.status != 501):
                raise ServerSaid(response.status, raw, wished(response.headers))
        if found is None:
            return None
        tokens = found.get("tokens")
        return len(tokens) if isinstance(tokens, list) else found["count"] if isinstance(found.get("count"), int) else None

    async def load(self) -> list[Load]:
        """What the endpoints' own `/metrics` tell of queue and cache, as vLLM offers it; those that tell nothing are left out."""
        found = await asyncio.gather(*(self._load(endpoint.url) for endpoint in self._endpoints))
        return [load for load in found if load is not None]

    async def _load(self, url: str) -> Load | None:
        try:
            status, body = await self._get(f"{url.removesuffix('/v1')}/metrics")
        except BackendError:
            return None
        return read_load(shown(url), body) if status == 200 else None

    async def close(self) -> None:
        """Close all connections."""
        if self._session:
            await self._session.close()
        for endpoint in self._endpoints:
            if endpoint.structured:
                await endpoint.structured.close()

    def hold(self) -> None:
        """Start no further request."""
        self._held = True

    async def _one(self, request: Request) -> Came | None:
        last = "no try was made"
        for attempt in range(self.spec.retries + 1):
            async with self.limiter.slot():
                if self._held:
                    return None
                if self._failures_in_row >= DOWN_AFTER:
                    return request.key, BackendError(self._down(), fatal=True)
                outcome = await self._try(request)
            if isinstance(outcome, Reply):
                self._failures_in_row = 0
                self.limiter.went_well()
                return request.key, outcome
            if outcome.fatal:
                return request.key, BackendError(outcome.words, fatal=True, attempts=attempt + 1)
            last = outcome.words
            if not outcome.again:  # a wall in front of this one request: the others may pass
                break
            (self.limiter.overloaded if outcome.busy else self.limiter.faulted)()
            if attempt < self.spec.retries:
                await asyncio.sleep(backoff(attempt, self.pause, outcome.retry_after))
        self._failures_in_row += 1
        return request.key, BackendError(last, attempts=attempt + 1)

    async def _try(self, request: Request) -> "Reply | _Failed":
        endpoint = min(self._endpoints, key=lambda e: (e.rests_until > time.monotonic(), e.outstanding))
        tokens = weight(request)
        endpoint.outstanding += tokens
        started = time.monotonic()
        try:
            if isinstance(request.shape, JsonShape):
                body, raw = await self._post_structured(endpoint, request)
            else:
                body, raw = await self._post(endpoint, request)
            reply = reply_of(request.key, body, raw, time.monotonic() - started)
        except ServerSaid as said:
            if said.status in REFUSED:
                seconds = round(time.monotonic() - started, 4)
                return Reply(
                    key=request.key,
                    text=None,
                    refused=scrubbed(words_of_error(said.body)),
                    seconds=seconds,
                    raw=scrubbed(said.body),
                )
            return self._failure(endpoint, said)
        except Exception as error:  # noqa: BLE001  (whatever goes wrong in a call, no reply came: the record stays pending)
            busy = isinstance(error, TimeoutError)
            endpoint.failed(self.pause, busy)
            return _Failed(
                f"{endpoint.shown}: {type(error).__name__} {str(error).replace(endpoint.url, endpoint.shown)[:160]}".strip(),
                busy=busy,
            )
        finally:
            endpoint.outstanding -= tokens
        endpoint.failures = 0
        return reply

    def _failure(self, endpoint: _Endpoint, said: ServerSaid) -> "_Failed":
        words = f"{endpoint.shown} answered HTTP {said.status}: {words_of_error(said.body)[:160]}"
        if said.status in RETRIED or said.status >= 500:
            endpoint.failed(self.pause, said.status in BUSY)
            return _Failed(words, retry_after=said.retry_after, busy=said.status in BUSY)
        return _Failed(words, fatal=said.status == 401, again=False)

    async def _post(self, endpoint: _Endpoint, request: Request) -> tuple[dict[str, Any], str]:
        session = self._open()
        async with session.post(f"{endpoint.url}/chat/completions", json=self.payload(request)) as response:
            raw = await response.text(errors="replace")
            if response.status != 200:
                raise ServerSaid(response.status, raw, wished(response.headers))
        try:
            body = json.loads(raw)
        except ValueError:
            raise BackendError(f"HTTP 200 without JSON: {raw[:80]!r}") from None
        return (body, raw) if isinstance(body, dict) else ({}, raw)

    async def _post_structured(self, endpoint: _Endpoint, request: Request) -> tuple[dict[str, Any], str]:
        if endpoint.structured is None:
            endpoint.structured = StructuredClient(endpoint.url, self._key, self.spec.timeout)
        arguments = self.payload(request)
        return await endpoint.structured.ask(request, arguments)

    def payload(self, request: Request) -> dict[str, Any]:
        """The body of the call; JSON shapes get their response format from instructor."""
        return payload(self.spec, request)

    def _open(self) -> aiohttp.ClientSession:
        if self._session is None:
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            connector = aiohttp.TCPConnector(limit=0)
            timeout = aiohttp.ClientTimeout(total=self.spec.timeout)
            self._session = aiohttp.ClientSession(connector=connector, headers=headers, timeout=timeout)
        return self._session

    async def _get_json(self, url: str) -> tuple[int, str]:
        """As `_get`, a few times where the server is busy, the line breaks, or a page comes in place of JSON.

        Which engine answers must not hang on one bad moment: under another name every question would be another one.
        """
        for attempt in range(TRIES - 1):
            try:
                status, body = await self._get(url)
                if not _busy(status) and (status != 200 or _object(body) is not None):
                    return status, body
            except BackendError as error:
                if isinstance(error.__context__, ConnectionRefusedError | aiohttp.ClientConnectorError):
                    raise
            await asyncio.sleep(backoff(attempt, self.pause, None))
        return await self._get(url)

    async def _get(self, url: str) -> tuple[int, str]:
        try:
            async with self._open().get(url, timeout=aiohttp.ClientTimeout(total=min(20.0, self.spec.timeout))) as response:
                return response.status, await response.text(errors="replace")
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise BackendError(
                f"{shown(url.rsplit('/', 1)[0])} cannot be reached ({type(error).__name__}); "
                f"start the server or mend endpoints under [models.{self.name}]",
                fatal=True,
            ) from None

    def _down(self) -> str:
        places = ", ".join(endpoint.shown for endpoint in self._endpoints)
        return f"{places}: {DOWN_AFTER} requests in a row got no reply; the server is taken to be down"


@dataclass(frozen=True)
class _Failed:
    words: str
    fatal: bool = False
    retry_after: float | None = None
    again: bool = True
    busy: bool = False


def payload(spec: ModelSpec, request: Request) -> dict[str, Any]:
    """The body of a call but for the response format of JSON shapes."""
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": spec.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        "temperature": sampling.temperature,
        "max_tokens": sampling.max_tokens,
    }
    if sampling.seed is not None:
        body["seed"] = sampling.seed
    if sampling.top_logprobs:
        body |= {"logprobs": True, "top_logprobs": sampling.top_logprobs}
    if isinstance(request.shape, LabelShape):
        body |= _constraint(request.shape, spec.dialect)
    return body


def _constraint(shape: LabelShape, dialect: str) -> dict[str, Any]:
    if dialect == "llama.cpp":
        return {"grammar": "root ::= " + " | ".join(json.dumps(label) for label in shape.labels)}
    return {"structured_outputs": {"choice": list(shape.labels)}}


def shown(url: str) -> str:
    """An address without its login and its query string, for messages."""
    scheme, mark, rest = url.partition("://")
    return scheme + mark + re.split(r"[?#]", rest.rpartition("@")[2], maxsplit=1)[0]


def _busy(status: int) -> bool:
    """Whether an answer tells of a bad moment and not of what is asked."""
    return status in RETRIED or status >= 500


def _object(body: str) -> dict[str, Any] | None:
    try:
        found = json.loads(body)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def words_of_error(body: str) -> str:
    """The message inside an error body of any common form."""
    try:
        content = json.loads(body)
    except ValueError:
        return " ".join(body.split())[:600]
    error = content.get("error", content) if isinstance(content, dict) else content
    message = error.get("message", error) if isinstance(error, dict) else error
    return " ".join(str(message).split())[:600]


@BACKENDS.register("http")
def make_http(name: str, spec: ModelSpec, folder: Path) -> HttpBackend:  # noqa: ARG001  (all makers are called alike)
    """The backend for `backend = "http"`."""
    return HttpBackend(name, spec)
