"""Record replies of a real vLLM server for the tests.

usage: record_vllm.py http://127.0.0.1:8000/v1 MODEL > tests/data/recorded/vllm-VERSION.json

The questions are ours; the replies are kept as they came, with the server's version and the date.
"""

import json
import sys
import urllib.error
import urllib.request
from datetime import date
from typing import Any

URL, MODEL = sys.argv[1].rstrip("/"), sys.argv[2]
ASK = [{"role": "user", "content": "Is zinc a metal? Answer yes or no."}]
SCHEMA = {"type": "object", "properties": {"v": {"enum": ["a", "b"]}}, "required": ["v"], "additionalProperties": False}
QUESTIONS: dict[str, dict[str, Any]] = {
    "label": {
        "messages": ASK,
        "max_tokens": 8,
        "structured_outputs": {"choice": ["yes", "no"]},
        "logprobs": True,
        "top_logprobs": 5,
    },
    "json": {
        "messages": ASK,
        "max_tokens": 40,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": SCHEMA}},
    },
    "cut": {"messages": [{"role": "user", "content": "Count from one to one hundred in words."}], "max_tokens": 5},
    "too long": {"messages": [{"role": "user", "content": "zinc " * 4000}], "max_tokens": 5},
    "unknown constraint key": {"messages": ASK, "max_tokens": 12, "guided_choice": ["qzvx", "wkjp"]},
    "bad schema": {
        "messages": ASK,
        "max_tokens": 5,
        "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "no such type"}}},
    },
    "wrong model": {"messages": ASK, "model": "no-such-model"},
}


def get(path: str) -> Any:
    """A GET of the server."""
    with urllib.request.urlopen(path, timeout=60) as response:
        return json.load(response)


def post(body: dict[str, Any]) -> dict[str, Any]:
    """A chat call; the status and the body as they came."""
    data = json.dumps({"model": MODEL, "temperature": 0, **body}).encode()
    request = urllib.request.Request(f"{URL}/chat/completions", data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=600) as response:
            return {"status": response.status, "body": json.load(response)}
    except urllib.error.HTTPError as error:
        return {"status": error.code, "body": json.loads(error.read())}


recorded = {
    "server": f"vllm {get(URL.removesuffix('/v1') + '/version')['version']}",
    "date": date.today().isoformat(),
    "models": get(f"{URL}/models"),
    "replies": {name: post(body) for name, body in QUESTIONS.items()},
}
print(json.dumps(recorded, indent=1))
