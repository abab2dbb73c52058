"""JSON answers through `instructor` (mode JSON_SCHEMA), its own retries off.

instructor shapes the request and checks the reply in its way; whatever it thinks of the reply, the raw completion is
what we keep. Repair is a step of the stage, so that no token is hidden.
"""

import asyncio
import contextvars
import json
import logging
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, RootModel

from litcascade.backends.limits import wished
from litcascade.errors import BackendError
from litcascade.schemas import JsonShape, Request
from litcascade.schemas.keys import digest, scrubbed

_caught: contextvars.ContextVar[list[Any]] = contextvars.ContextVar("completion")


class ServerSaid(Exception):
    """The server answered with an error status."""

    def __init__(self, status: int, body: str, retry_after: float | None) -> None:
        super().__init__(f"HTTP {status}")
        self.status = status
        self.body = body
        self.retry_after = retry_after


class StructuredClient:
    """Asks one endpoint for JSON answers."""

    def __init__(self, base_url: str, api_key: str | None, timeout: float) -> None:
        import instructor
        import openai

        self._timeout = timeout
        logging.getLogger("instructor").setLevel(logging.CRITICAL)  # what it says of a failed call, we keep ourselves
        self._openai = openai.AsyncOpenAI(base_url=base_url, api_key=api_key or "none", max_retries=0, timeout=timeout)
        self._client = instructor.from_openai(self._openai, mode=instructor.Mode.JSON_SCHEMA)
        self._client.on("completion:response", _catch)

    async def ask(self, request: Request, arguments: dict[str, Any]) -> tuple[dict[str, Any], str]:
        """Return (completion as a dict, its raw JSON).

        Raises `ServerSaid` for an error status, `BackendError` where nothing came back.
        """
        import openai

        caught: list[Any] = []
        token = _caught.set(caught)
        try:
            async with asyncio.timeout(self._timeout):  # the client's own bounds each read: a body that trickles never ends
                await self._client.create_with_completion(
                    response_model=_model_for(request.shape),
                    max_retries=0,
                    **arguments,
                )
        except asyncio.CancelledError:
            raise
        except Exception as error:
            if not caught:
                raise _translate(error, openai) from error
        finally:
            _caught.reset(token)
        completion = caught[-1]
        if not isinstance(completion, BaseModel):
            raise BackendError(f"HTTP 200 without a completion: {str(completion)[:80]!r}")
        content = scrubbed(completion.model_dump(warnings=False))
        return content, json.dumps(content, ensure_ascii=False, default=str)

    async def close(self) -> None:
        """Close the connections."""
        await self._openai.close()


def _catch(completion: Any) -> None:
    holder = _caught.get(None)
    if holder is not None:
        holder.append(completion)


def _translate(error: BaseException, openai: Any) -> Exception:
    """The root cause as ours: instructor wraps what the client raised."""
    seen: BaseException | None = error
    while seen is not None:
        if isinstance(seen, openai.APIStatusError):
            response = seen.response
            return ServerSaid(seen.status_code, response.text, wished(response.headers))
        seen = seen.__cause__ or seen.__context__
    return BackendError(f"no reply: {type(error).__name__}: {str(error)[:200]}")


def _model_for(shape: Any) -> type[BaseModel]:
    if not isinstance(shape, JsonShape):
        raise TypeError("only JSON answers go through instructor")
    return _held_model(digest(shape.json_schema), _Schema(shape.name, shape.json_schema))


class _Schema:
    """A JSON schema as an argument that a cache can hold; equality is left to the digest beside it."""

    def __init__(self, name: str, schema: dict[str, Any]) -> None:
        self.name = name
        self.schema = schema

    def __hash__(self) -> int:
        return 0

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Schema)


@lru_cache(maxsize=64)
def _held_model(key: str, held: _Schema) -> type[BaseModel]:  # noqa: ARG001  (the key is what tells schemas apart)
    """A pydantic model that shows instructor the field schema and takes any object; the stage does the checking."""

    class Held(RootModel[dict[str, Any]]):
        @classmethod
        def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
            return held.schema

    Held.__name__ = held.name
    return Held
