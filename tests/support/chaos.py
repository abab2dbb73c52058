"""A model server in a process of its own that answers by the question alone, and misbehaves by lot.

Whatever goes wrong on the way, a run that is taken to its end must come to the verdicts of a run that nothing disturbed. Only
the standard library is used, so that a server which was killed is back within a tenth of a second.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import random
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Any

Body = dict[str, Any]
STORM = 25
WAITS = (
    None, "0", "0.05", "1", "-5", "soon", "nan", "1e-300", "", "Fri, 31 Dec 1999 23:59:59 GMT", "Thu, 99 Foo 2026", "in a second",
)  # fmt: skip


@dataclass(frozen=True)
class Faults:
    """The share of requests that each fault strikes; `everywhere`: also those that ask for models, version or lengths.

    `storm` is the share at which a storm of `STORM` refusals begins. `delay` is the time a sound answer takes, in seconds.
    """

    error: float = 0.0
    storm: float = 0.0
    loris: float = 0.0
    half: float = 0.0
    empty: float = 0.0
    page: float = 0.0
    hang_up: float = 0.0
    everywhere: bool = True
    delay: float = 0.0

    def kinds(self) -> dict[str, float]:
        """The faults with a share."""
        return {name: share for name, share in asdict(self).items() if name not in ("everywhere", "delay") and share}


NONE = Faults()
ALL = Faults(error=0.1, storm=0.01, loris=0.03, half=0.04, empty=0.02, page=0.02, hang_up=0.02, delay=0.02)


def answer(body: Body) -> Body:
    """A chat completion that is a function of the question."""
    text = json.dumps([message["content"] for message in body["messages"]])
    mark = int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)
    labels = list(body.get("structured_outputs", {}).get("choice", []))
    schema = body.get("response_format", {}).get("json_schema", {}).get("schema")
    top = [{"token": label, "logprob": -0.1 - place - mark / 65536} for place, label in enumerate(labels)]
    if schema is not None:
        said = json.dumps(filled(schema, mark))
    elif is_canary(body) or "unclear" in labels:
        said = labels[mark % 3 if "unclear" in labels else 0]
    elif labels:
        said = [*labels[:2], "banana"][mark % 3]
    else:
        said = ["Decision: include", "Decision: exclude", "Hard to say."][mark % 3]
    content = [{**top[0], "top_logprobs": top}] if top and body.get("logprobs") else None
    choice = {"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    words = sum(len(message["content"].split()) for message in body["messages"])
    usage = {"prompt_tokens": 10 + words, "completion_tokens": 2}
    made = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "usage": usage}
    return {**made, "choices": [{**choice, "logprobs": {"content": content} if content else None}]}


def filled(schema: Body, mark: int) -> Any:
    """A value that a JSON schema of ours allows, drawn by the mark."""
    if "enum" in schema:
        return schema["enum"][mark % len(schema["enum"])]
    if "anyOf" in schema:
        return filled(schema["anyOf"][mark % len(schema["anyOf"])], mark // 2)
    kind = schema.get("type")
    if kind == "object":
        return {name: filled(part, mark + place) for place, (name, part) in enumerate(schema["properties"].items())}
    if kind == "array":
        return [filled(schema["items"], mark)] if mark % 3 else []
    return {"string": "gave zinc", "null": None, "number": schema.get("minimum", 0) + mark % 90}[str(kind)]


def is_canary(body: Body) -> bool:
    """Whether a request is a probe of the program."""
    return str(body["messages"][-1]["content"]).startswith(("Say hello", "zinc zinc"))


class ChaosServer:
    """Starts, kills and restarts the server on one port; `seen` reads what it noted of every request.

    Use as a context manager. The notes are appended one line a request and outlive a server that was killed.
    """

    def __init__(self, folder: Path, faults: Faults = NONE, seed: int = 1) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.notes = folder / "requests.txt"
        self.notes.touch()
        self.faults = faults
        self.seed = seed
        self.starts = 0
        with socket.socket() as place:
            place.bind(("127.0.0.1", 0))
            self.port = int(place.getsockname()[1])
        self.url = f"http://127.0.0.1:{self.port}/v1"
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "ChaosServer":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self, faults: Faults | None = None) -> None:
        """Start it, with other faults where they are given; returns once it listens."""
        self.faults = faults or self.faults
        self.starts += 1
        given = json.dumps({"port": self.port, "seed": self.seed + self.starts, "notes": str(self.notes), **asdict(self.faults)})
        command = [sys.executable, "-I", "-S", __file__, given]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self._process.stdout is not None
        assert self._process.stdout.readline() == b"listening\n"

    def kill(self) -> None:
        """End it by SIGKILL."""
        if self._process:
            self._process.kill()
            self._process.wait(10)
            for end in (self._process.stdin, self._process.stdout):
                assert end is not None
                end.close()
            self._process = None

    def restart(self, faults: Faults | None = None) -> None:
        """Kill it and start it anew on the same port."""
        self.kill()
        self.start(faults)

    def seen(self) -> Counter[str]:
        """Requests so far by what became of them: `ok`, `canary`, `get`, or the fault."""
        return Counter(self.notes.read_text(encoding="utf-8").split())

    def screening(self) -> int:
        """How many requests were neither canaries nor asked for models, version or lengths."""
        return sum(count for kind, count in self.seen().items() if kind not in ("canary", "get"))

    @contextlib.contextmanager
    def dying(self, every: float, down: float, times: int = 10**6) -> Iterator[list[int]]:
        """While this is open, kill the server about every so many seconds and start it again; counts the kills."""
        kills = [0]
        over = threading.Event()
        draw = random.Random(self.seed)

        def go_on() -> None:
            while kills[0] < times and not over.wait(draw.uniform(0.3, 1.7) * every):
                self.kill()
                kills[0] += 1
                over.wait(down)
                self.start()

        thread = threading.Thread(target=go_on)
        thread.start()
        try:
            yield kills
        finally:
            over.set()
            thread.join(30)


class _Chaos:
    """The server itself."""

    def __init__(self, given: Body) -> None:
        self.port, seed, notes = given.pop("port"), given.pop("seed"), given.pop("notes")
        self.faults = Faults(**given)
        self.draw = random.Random(seed)
        self.notes = os.open(notes, os.O_WRONLY | os.O_APPEND)
        self.storm = 0

    async def run(self) -> None:
        """Serve until killed."""
        server = await asyncio.start_server(self.serve, "127.0.0.1", self.port, limit=2**22, backlog=1024)
        asyncio.get_running_loop().add_reader(0, os._exit, 0)  # whoever started it is gone
        print("listening", flush=True)  # noqa: T201  (the parent waits for it)
        await server.serve_forever()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, request after request."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = next((int(line[15:]) for line in head.lower().split("\r\n") if line.startswith("content-length:")), 0)
                body = await reader.readexactly(length)
                if not await self.one(head.split(" ")[1], body, reader, writer):
                    break
        writer.close()

    async def one(self, path: str, body: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request, or misbehave; whether the connection may be used further."""
        chat = path.endswith("/chat/completions")
        asked = json.loads(body) if body else {}
        kind = self.lot() if chat or self.faults.everywhere else "ok"
        note = kind if kind != "ok" else "get" if not chat else "canary" if is_canary(asked) else "ok"
        os.write(self.notes, f"{note}\n".encode())
        if kind != "ok":
            whole = json.dumps(answer(asked) if chat else self.told(path, asked)[1])
            return bool(await getattr(self, f"_{kind}")(writer, reader, whole))
        if chat and self.faults.delay:
            await asyncio.sleep(self.faults.delay)
        status, told = (200, answer(asked)) if chat else self.told(path, asked)
        await put(writer, status, json.dumps(told))
        return True

    def lot(self) -> str:
        """Which fault strikes now, or `ok`."""
        if self.storm:
            self.storm -= 1
            return "storm"
        drawn = self.draw.random()
        for kind, share in self.faults.kinds().items():
            if drawn < share:
                if kind == "storm":
                    self.storm = STORM
                return kind
            drawn -= share
        return "ok"

    def told(self, path: str, asked: Body) -> tuple[int, Any]:
        """What is said to those that ask for models, version or the length of a text."""
        if path.endswith("/models"):
            return 200, {"object": "list", "data": [{"id": "m", "object": "model", "max_model_len": 4096}]}
        if path.endswith("/version"):
            return 200, {"version": "0.32.0"}
        if path.endswith("/tokenize"):
            return 200, {"count": len(asked["prompt"].split())}
        return 404, {"detail": "Not Found"}

    async def _error(self, writer: asyncio.StreamWriter, _: object, __: str) -> bool:
        await put(writer, 500, '{"error": {"message": "internal error"}}')
        return True

    async def _storm(self, writer: asyncio.StreamWriter, _: object, __: str) -> bool:
        skew = self.draw.choice([0, -30_000, 86_400])  # the server's clock need not be ours
        dated = [formatdate(time.time() + skew + 1, usegmt=True), formatdate(time.time() + skew - 100, usegmt=True)]
        wait = self.draw.choice([*WAITS, *dated])
        more = [f"Date: {formatdate(time.time() + skew, usegmt=True)}", *([f"Retry-After: {wait}"] if wait is not None else [])]
        await put(writer, 429, '{"error": "slow down"}', *more)
        return True

    async def _loris(self, writer: asyncio.StreamWriter, reader: asyncio.StreamReader, whole: str) -> bool:
        """Bytes come one by one, of the headers or the body, and never end."""
        if self.draw.random() < 0.5:
            writer.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            rest = ""
        else:
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {10**6}\r\n\r\n".encode())
            rest = whole
        place = 0
        while not reader.at_eof() and not writer.is_closing():
            writer.write((rest[place : place + 1] or " ").encode())
            await writer.drain()
            place += 1
            await asyncio.sleep(0.05)
        return False

    async def _half(self, writer: asyncio.StreamWriter, _: object, whole: str) -> bool:
        """A body that ends before it ends: shorter than it says, cut within a chunk, or reset."""
        cut = whole.encode()[: self.draw.randint(1, len(whole) - 1)]
        way = self.draw.randrange(3)
        said = "Transfer-Encoding: chunked" if way == 1 else f"Content-Length: {len(whole)}"
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{said}\r\n\r\n".encode())
        writer.write(f"{len(whole):x}\r\n".encode() + cut if way == 1 else cut)
        await writer.drain()
        if way == 2:
            held = writer.get_extra_info("socket")
            held.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            writer.transport.abort()
        return False

    async def _empty(self, writer: asyncio.StreamWriter, _: object, __: str) -> bool:
        await put(writer, 200, "")
        return True

    async def _page(self, writer: asyncio.StreamWriter, _: object, __: str) -> bool:
        await put(writer, 200, "<html><body><h1>yes</h1>Decision: include</body></html>", kind="text/html")
        return True

    async def _hang_up(self, writer: asyncio.StreamWriter, _: object, __: str) -> bool:
        return False


async def put(writer: asyncio.StreamWriter, status: int, text: str, *more: str, kind: str = "application/json") -> None:
    """Write a whole response."""
    content = text.encode()
    lines = [f"HTTP/1.1 {status} X", f"Content-Type: {kind}", f"Content-Length: {len(content)}", *more]
    writer.write(("\r\n".join(lines) + "\r\n\r\n").encode() + content)
    await writer.drain()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    asyncio.run(_Chaos(json.loads(sys.argv[1])).run())
