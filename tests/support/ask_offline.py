"""Run inside vLLM's own environment: asks the offline backend what a file says, and writes what came.

usage: ask_offline.py ASKED.json CAME.json      (ASKED: {"spec": …, "folder": …, "rounds": [[request, …], …], "texts": […]})
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Any

from litcascade.backends.offline import OfflineBackend
from litcascade.errors import BackendError
from litcascade.schemas import ModelSpec, Request


async def ask(asked: dict[str, Any]) -> dict[str, Any]:
    """Put all rounds at the same time, as overlapping chunks are."""
    backend = OfflineBackend("m", ModelSpec.model_validate(asked["spec"]), Path(asked["folder"]))
    came: dict[str, Any] = {}
    order: list[str] = []

    async def put(requests: list[Request]) -> None:
        async for key, reply in backend.ask(requests):
            order.append(key)
            came[key] = {"error": str(reply)} if isinstance(reply, BackendError) else reply.model_dump(mode="json")

    try:
        told = {"engine": await backend.engine(), "revision": await backend.revision()}
        counts = await backend.count(asked["texts"])
        rounds = [[Request.model_validate(request) for request in requests] for requests in asked["rounds"]]
        started = time.monotonic()
        await asyncio.gather(*(put(requests) for requests in rounds))
        return {**told, "counts": counts, "replies": came, "order": order, "seconds": time.monotonic() - started}
    finally:
        await backend.close()


if __name__ == "__main__":
    content = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(sys.argv[2]).write_text(json.dumps(asyncio.run(ask(content))), encoding="utf-8")
