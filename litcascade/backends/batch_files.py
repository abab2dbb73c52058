"""Files of OpenAI's batch form, as `vllm run-batch` reads and writes them: a request a line, a reply a line."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litcascade.backends.base import reply_of
from litcascade.backends.http import REFUSED, payload, words_of_error
from litcascade.errors import BackendError
from litcascade.schemas import JsonShape, ModelSpec, Reply, Request
from litcascade.schemas.keys import scrubbed

URL = "/v1/chat/completions"


@dataclass(frozen=True)
class Line:
    """One line of replies: its number, its key where it has one, and the reply, or why there is none in it."""

    number: int
    key: str | None = None
    reply: Reply | None = None
    fault: str = ""
    engine: str | None = None


def batch_line(spec: ModelSpec, request: Request) -> str:
    """One request as a line, its key as `custom_id`."""
    body = payload(spec, request)
    if isinstance(request.shape, JsonShape):
        schema = {"name": request.shape.name, "schema": request.shape.json_schema}
        body["response_format"] = {"type": "json_schema", "json_schema": schema}
    return json.dumps({"custom_id": request.key, "method": "POST", "url": URL, "body": body}, ensure_ascii=False) + "\n"


def read_batch(path: Path) -> Iterator[Line]:
    """The lines of a file of replies. A torn or failed one has a fault, and its request stays to be asked."""
    with path.open(encoding="utf-8", errors="replace") as lines:
        for number, line in enumerate(lines, start=1):
            if line.strip():
                yield _read(number, line)


def _read(number: int, line: str) -> Line:
    try:
        content = json.loads(line)
    except ValueError:
        return Line(number, fault="torn: not a whole line of JSON")
    if not isinstance(content, dict) or not isinstance(content.get("custom_id"), str):
        return Line(number, fault="no line of a batch: it has no custom_id")
    key = content["custom_id"]
    if "method" in content:
        return Line(number, key, fault="a request, no reply: give the file that run-batch wrote (-o)")
    response = content.get("response")
    status = response.get("status_code") if isinstance(response, dict) else None
    body = response.get("body") if isinstance(response, dict) else None
    if status in REFUSED:
        words = scrubbed(words_of_error(json.dumps(body if body is not None else content.get("error"))))
        return Line(number, key, Reply(key=key, text=None, refused=words, raw=scrubbed(line.strip())))
    if content.get("error") or status != 200 or not isinstance(body, dict):
        return Line(number, key, fault=f"failed: {_told(content, status)}")
    try:
        reply = reply_of(key, body, json.dumps(body, ensure_ascii=False), 0.0)
    except BackendError as error:
        return Line(number, key, fault=f"failed: {error}")
    return Line(number, key, reply, engine=_engine(body))


def _told(content: Mapping[str, Any], status: object) -> str:
    said = words_of_error(json.dumps(content.get("error"))) if content.get("error") else "no body"
    return f"HTTP {status}: {said}"[:200] if status is not None else said[:200]


def _engine(body: Mapping[str, Any]) -> str | None:
    """`vllm` with its version, out of `system_fingerprint` (`vllm-0.32.0-1a2b3c4d`); None where it does not say."""
    told = body.get("system_fingerprint")
    parts = told.split("-") if isinstance(told, str) else []
    return f"vllm {parts[1]}" if len(parts) > 1 and parts[0] == "vllm" else None
