"""One interface to every engine: a round of requests in, replies as they come."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any, Protocol

from litcascade.errors import BackendError
from litcascade.registry import Registry
from litcascade.schemas import ModelSpec, Reply, Request, TokenLogprobs
from litcascade.schemas.keys import scrubbed

Came = tuple[str, Reply | BackendError]


class Backend(Protocol):
    """An engine that answers requests.

    `ask` yields (request key, reply) in any order, each key at most once; a request that got no reply comes as a
    `BackendError`, or not at all: both leave its record pending. It never raises for a single request.
    """

    async def engine(self) -> str:
        """Name and version of the engine, such as `vllm 0.32.0`; raises `BackendError` where it cannot be reached."""
        ...

    async def revision(self) -> str:
        """The revision of the model's weights as far as the engine knows it, else an empty text."""
        ...

    def ask(self, requests: Sequence[Request]) -> AsyncGenerator[Came, None]:
        """Put a round of requests."""
        ...

    async def count(self, texts: Sequence[str]) -> list[int] | None:
        """Tokens of each text by the model's own tokenizer, without special ones; None where the engine cannot tell.

        Raises `BackendError` where it could tell, but is gone or busy.
        """
        ...

    def hold(self) -> None:
        """Start no further request; those on their way may still be answered, the others come not at all."""
        ...

    async def close(self) -> None:
        """Let go of connections and memory."""
        ...


class BackendMaker(Protocol):
    """Makes a backend for a model of the protocol; `folder` is where the protocol stands."""

    def __call__(self, name: str, spec: ModelSpec, folder: Any) -> Backend:
        """The backend, not started yet."""
        ...


BACKENDS: Registry[BackendMaker] = Registry("backend")
Ticker = Callable[[], float]


def reply_of(key: str, body: dict[str, Any], raw: str, seconds: float) -> Reply:
    """A chat completion of any OpenAI-compatible server as a `Reply`; what is missing or odd in it stays None.

    A body that is no completion at all (an error in HTTP 200's clothing, no `choices`) is a `BackendError`: no reply came.
    """
    choices = body.get("choices")
    if not isinstance(choices, list):
        raise BackendError(f"HTTP 200 without a completion: {scrubbed(raw)[:160]!r}")
    choice = choices[0] if choices and isinstance(choices[0], dict) else {}
    message = _dict(choice.get("message"))
    usage = _dict(body.get("usage"))
    details = _dict(usage.get("prompt_tokens_details"))
    return Reply(
        key=key,
        text=_text(message.get("content")),
        reasoning=_text(message.get("reasoning")) or _text(message.get("reasoning_content")),
        finish_reason=_text(choice.get("finish_reason")),
        prompt_tokens=_count(usage.get("prompt_tokens")),
        cached_tokens=_count(details.get("cached_tokens")),
        completion_tokens=_count(usage.get("completion_tokens")),
        seconds=round(seconds, 4),
        logprobs=_logprobs(_dict(choice.get("logprobs")).get("content")),
        raw=scrubbed(raw),
    )


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> str | None:
    return scrubbed(value) if isinstance(value, str) else None


def _count(value: Any) -> int | None:
    whole = isinstance(value, int) and not isinstance(value, bool)
    return value if whole and 0 <= value < 2**31 else None


def _logprobs(content: Any) -> tuple[TokenLogprobs, ...]:
    positions = []
    for item in content[:1] if isinstance(content, list) else []:
        alternatives = _dict(item).get("top_logprobs")
        top = [
            (scrubbed(str(alternative.get("token", ""))), float(alternative["logprob"]))
            for alternative in (alternatives if isinstance(alternatives, list) else [])
            if isinstance(alternative, dict) and isinstance(alternative.get("logprob"), int | float)
        ]
        positions.append(TokenLogprobs(token=scrubbed(str(_dict(item).get("token", ""))), top=tuple(top)))
    return tuple(positions)
