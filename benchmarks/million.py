"""A million stored verdicts: how long `litcascade run` takes where nothing is left to do, and to begin where some is.

usage: million.py [RECORDS] [PENDING]      (default 1000000 and 100000)

One record is really screened, against a local server; its call, reading and verdict are then stored for all others under their
own keys. Then `litcascade run` is started as a user would, in a process of its own: with nothing to do, and with PENDING records
more (the clock stops when the first of their questions reaches the server; the run is stopped then). Prints seconds and peak
memory of each. The store takes a few GB of disk while it runs.
"""

import contextlib
import json
import signal
import subprocess
import sys
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from litcascade.pipeline.review import open_review
from litcascade.store import Store

BATCH = 50_000
WORDS = "zinc lozenges were given to adults with a sore throat and the days until they were well again were counted "
PROTOCOL = """
[review]
title = "A million"
question = "Does zinc help adults with a sore throat?"
[[criteria]]
id = "I1"
kind = "include"
text = "Is about zinc."
[models.m]
backend = "http"
endpoints = ["{url}"]
model = "m"
[readers.one]
model = "m"
[stages.title_abstract]
readers = ["one"]
"""


class Answers(BaseHTTPRequestHandler):
    """Says yes to everything, and when it was first asked about a late record."""

    protocol_version = "HTTP/1.1"
    first: float | None = None

    def do_GET(self) -> None:
        """The model list and the version."""
        self._send({"data": [{"id": "m"}]} if self.path.endswith("/models") else {"version": "0"})

    def do_POST(self) -> None:
        """The first label that is allowed, with log-probabilities."""
        asked = self.rfile.read(int(self.headers["Content-Length"]))
        if b"Late record" in asked and Answers.first is None:
            Answers.first = time.perf_counter()
        label = (json.loads(asked).get("structured_outputs") or {}).get("choice", ["yes"])[0]
        top = [{"token": label, "logprob": -0.1}, {"token": "no", "logprob": -2.3}]
        choice = {
            "index": 0, "message": {"role": "assistant", "content": label}, "finish_reason": "stop",
            "logprobs": {"content": [{**top[0], "top_logprobs": top}]},
        }  # fmt: skip
        self._send({"choices": [choice], "usage": {"prompt_tokens": asked.count(b" "), "completion_tokens": 2}})

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def _send(self, content: Any) -> None:
        text = json.dumps(content).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


class Server(ThreadingHTTPServer):
    """Says nothing of clients that go away."""

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Runs are stopped here on purpose."""


def records(store: Store, start: int, end: int, title: str) -> None:
    """Records `r<start>` to `r<end - 1>`."""
    for first in range(start, end, BATCH):
        numbers = range(first, min(end, first + BATCH))
        store.insert(
            "records",
            {
                "record_id": [f"r{i}" for i in numbers], "title": [f"{title} {i}" for i in numbers],
                "abstract": [f"{i} {WORDS * 14}" for i in numbers], "abstract_status": ["ok"] * len(numbers),
                "authors": [[]] * len(numbers),
            },
        )  # fmt: skip


def multiply(store: Store, table: str, start: int, end: int) -> None:
    """The newest row of a table again for every record, under its own id, and key where it has one."""
    names = [row[0] for row in store.rows(f"select column_name from (describe {table})") if row[0] != "seq"]
    row = dict(zip(names, store.rows(f"select {', '.join(names)} from {table} order by seq desc limit 1")[0], strict=True))
    for first in range(start, end, BATCH):
        numbers = range(first, min(end, first + BATCH))
        columns: dict[str, list[Any]] = {name: [value] * len(numbers) for name, value in row.items() if value is not None}
        columns["record_id"] = [f"r{i}" for i in numbers]
        if table == "calls":
            columns["key"] = [f"{i:064x}" for i in numbers]
            columns["request"] = [row["request"].replace("First record", f"Record {i}") for i in numbers]
        if table == "readings":
            columns["calls"] = [[f"{i:064x}"] for i in numbers]
        store.insert(table, columns)


def run(folder: Path, *, stop_at_first: bool = False) -> None:
    """Start `litcascade run`, print seconds and peak memory; it ends by itself, or is stopped when its first question came."""
    time.sleep(2)  # questions of a run that was stopped are over
    Answers.first, peak = None, 0
    command = [sys.executable, "-m", "litcascade", "run", "--review", str(folder)]
    started = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
        while process.poll() is None:
            peak = max(peak, memory(process.pid))
            if stop_at_first and Answers.first is not None:
                process.send_signal(signal.SIGINT)
                stop_at_first = False
            time.sleep(0.01)
        seconds = (Answers.first or time.perf_counter()) - started
        out.seek(0)
        lines = out.read().splitlines()
    ended = next((line for line in lines if line.startswith(("complete", "interrupted"))), lines[-1] if lines else "")
    print(f"  {seconds:.2f} s, peak {peak:,} MiB, exit {process.returncode}: {ended}", flush=True)


def memory(process: int) -> int:
    """Peak MiB of a process so far; 0 once it is gone."""
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{process}/status").read_text(encoding="utf-8").splitlines()
        return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) // 1024
    return 0


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    late = int(sys.argv[2]) if len(sys.argv) > 2 else 100_000
    server = Server(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "review.toml").write_text(
            PROTOCOL.replace("{url}", f"http://127.0.0.1:{server.server_port}/v1"), encoding="utf-8"
        )
        with open_review(folder).open(create=True) as store:
            records(store, 0, 1, "First record")
        print("one record:", flush=True)
        run(folder)
        with open_review(folder).open() as store:
            records(store, 1, count, "Record")
            for table in ("calls", "readings", "verdicts"):
                multiply(store, table, 1, count)
        size = sum(path.stat().st_size for path in folder.iterdir() if path.is_file()) / 2**30
        print(f"{count:,} records with call, reading and verdict ({size:.2f} GiB), nothing to do:", flush=True)
        run(folder)
        with open_review(folder).open() as store:
            records(store, count, count + late, "Late record")
        print(f"{late:,} more records pending, to the first question:", flush=True)
        run(folder, stop_at_first=True)


if __name__ == "__main__":
    main()
