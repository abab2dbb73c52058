"""A program that stands in for `vllm`: `serve` answers at /health and /v1/models, and lives as its plan says.

The plan is a file of lines, one a life, in the folder FAKE_VLLM: `steady`, `crash` (ready, then ends with code 7), `deaf` (ready,
then its health page fails), `mute` (ready, then it closes its connections), or `fail WORDS` (prints the words and ends at once). Each life writes its arguments and its child.
"""

import json
import os
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main() -> None:
    folder = Path(os.environ["FAKE_VLLM"])
    lives = folder / "lives.jsonl"
    count = len(lives.read_text().splitlines()) if lives.exists() else 0
    plan = (folder / "plan").read_text().splitlines()
    life = plan[min(count, len(plan) - 1)]
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    with lives.open("a") as out:
        told = {"arguments": sys.argv[1:], "child": child.pid, "key": os.environ.get("VLLM_API_KEY")}
        out.write(json.dumps(told) + "\n")
    if life.startswith("fail"):
        sys.stderr.write(life.removeprefix("fail ") + "\n")
        sys.exit(1)
    arguments = sys.argv[1:]
    name = arguments[arguments.index("--served-model-name") + 1]
    port = int(arguments[arguments.index("--port") + 1])
    context = int(arguments[arguments.index("--max-model-len") + 1])
    asked = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if life == "mute" and asked.is_set():
                self.close_connection = True
                return
            deaf = life == "deaf" and asked.is_set()
            body = json.dumps({"data": [{"id": name, "max_model_len": context}]}).encode() if "models" in self.path else b"{}"
            self.send_response(503 if deaf else 200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            asked.set()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    if life == "crash":
        asked.wait()
        time.sleep(0.3)
        sys.stderr.write("RuntimeError: the engine core ended unexpectedly\n")
        sys.stderr.flush()
        os._exit(7)
    threading.Event().wait()


if __name__ == "__main__":
    main()
