"""`vllm serve` for a model of the protocol: its command, and a watch that brings it back after crashes."""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO, Any
from urllib.parse import urlsplit

from litcascade.backends.attaching import health, served_models
from litcascade.backends.reasons import why
from litcascade.backends.weights import is_path, needs_tokenizer
from litcascade.errors import BackendError, InputError
from litcascade.schemas import ModelSpec

LOOPBACK = "127.0.0.1"
TAIL = 40_000  # bytes of the log in which a cause is looked for
STEADY = 600.0  # seconds after which a server's earlier crashes are forgotten
SICK = 3  # times in a row that it says so itself
MUTE = 60.0  # seconds without health after which a server that was ready is taken to hang
LAST_WORDS = 30.0
Say = Callable[[str], None]


@dataclass(frozen=True)
class Serving:
    """What to start: the command, where it will answer, under which name, and where its output goes."""

    command: tuple[str, ...]
    port: int
    name: str
    log: Path
    environment: dict[str, str] = field(default_factory=dict)

    @property
    def url(self) -> str:
        """The address that the protocol's `endpoints` name."""
        return f"http://{LOOPBACK}:{self.port}/v1"


def plan_serving(spec: ModelSpec, folder: Path, log: Path, *, port: int | None = None, extra: Sequence[str] = ()) -> Serving:
    """How a model of the protocol is served; raises `InputError` where that cannot work.

    The context is the protocol's, the revision pinned, prefixes cached, cached tokens told with every reply; `vllm` of the
    protocol and `extra` come last, so that they win. `folder` is where a folder of weights is named from.
    """
    program = shutil.which("vllm")
    if program is None:
        raise InputError(
            "there is no `vllm` on the PATH; install it (pip install 'litcascade[vllm]') or activate its environment"
        )
    source = spec.weights or spec.model
    where = folder / source
    if where.is_dir():
        needs_tokenizer(where, elsewhere="tokenizer" in spec.vllm or "--tokenizer" in extra)
        source = str(where.resolve())
    elif is_path(source):
        raise InputError(f"{where}: there is no such folder of weights")
    chosen = port if port is not None else _port_of(spec)
    command = [program, "serve", source, "--served-model-name", spec.model, "--host", LOOPBACK, "--port", str(chosen)]
    command += ["--max-model-len", str(spec.context), "--enable-prefix-caching", "--enable-prompt-tokens-details"]
    if spec.revision and not where.is_dir():
        command += ["--revision", spec.revision]
    command += [*flags(spec.vllm), *extra]
    environment = {"VLLM_NO_USAGE_STATS": "1"}
    if spec.api_key_env:
        key = os.environ.get(spec.api_key_env, "").strip()
        if not key:
            raise InputError(f"the environment variable {spec.api_key_env} holds no key, and the server is to ask for it")
        environment["VLLM_API_KEY"] = key  # on the command line everyone on the machine would see it
    return Serving(tuple(command), chosen, spec.model, log, environment)


def flags(options: dict[str, Any]) -> list[str]:
    """Options by their names with underscores as they stand on vLLM's command line; false is `--no-…`."""
    told: list[str] = []
    for name, value in options.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            told.append(f"--{flag}" if value else f"--no-{flag}")
        else:
            told += [f"--{flag}", json.dumps(value) if isinstance(value, dict) else str(value)]
    return told


def _port_of(spec: ModelSpec) -> int:
    """The port of the first endpoint on this machine, else 8000."""
    for url in spec.endpoints:
        parts = urlsplit(url)
        if parts.hostname in (LOOPBACK, "localhost", "::1") and parts.port:
            return parts.port
    return 8000


def require_free(port: int) -> None:
    """Refuse a port that something listens at, saying what where that can be told."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            there = served_models(f"http://{LOOPBACK}:{port}/v1")
            serves = f" (it serves {', '.join(there)})" if there else ""
            raise InputError(
                f"port {port} is taken{serves}; name another with --port, or check what runs there with --attach"
            ) from None


class Watched:
    """Starts a server, starts it again after a crash (`restarts` times at most), and stops it with all its children.

    Signals end it cleanly. `run` returns 0 after a signal and raises `BackendError` with the cause from the log where the server
    does not come up or crashes too often. A server that ran steadily has its earlier crashes forgotten; one that was ready and
    then calls itself dead, or says nothing for long, is stopped and counts as crashed.
    """

    def __init__(self, serving: Serving, say: Say, *, restarts: int = 3, pause: float = 1.0, mute: float = MUTE) -> None:
        self.serving = serving
        self.restarts = restarts
        self._say = say
        self._pause = pause
        self._mute = mute
        self._stopping = False
        self._process: subprocess.Popen[bytes] | None = None

    def run(self) -> int:
        """Serve until a signal comes."""
        require_free(self.serving.port)
        earlier = {kind: signal.signal(kind, self._stop) for kind in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            return self._serve()
        finally:
            for kind, handler in earlier.items():
                signal.signal(kind, handler)

    def _serve(self) -> int:
        crashes = 0
        while True:
            started = time.monotonic()
            ready, code = self._once()
            if self._stopping:
                self._say("stopped")
                return 0
            cause = self._cause()
            if not ready:
                raise BackendError(f"vllm did not start: {cause or f'it ended with code {code}'} (log: {self.serving.log})")
            crashes = 1 if time.monotonic() - started > STEADY else crashes + 1
            ended = f"vllm ended with code {code}" + (f": {cause}" if cause else "")
            if crashes > self.restarts:
                raise BackendError(f"{ended}; it crashed {crashes} times, so it is left alone (log: {self.serving.log})")
            self._say(f"{ended}; starting it again ({crashes} of {self.restarts})")
            self._sleep(min(60.0, self._pause * 2.0 ** (crashes - 1)))

    def _once(self) -> tuple[bool, int]:
        """One life of the server: whether it was ever ready, and the code it ended with."""
        with self.serving.log.open("ab") as log:
            self._began = log.tell()
            self._process = self._start(log)
            try:
                return self._watch(self._process)
            finally:
                if self._process.poll() is None:
                    _end(self._process)
                self._process = None

    def _start(self, log: IO[bytes]) -> "subprocess.Popen[bytes]":
        environment = {**os.environ, **self.serving.environment}
        return subprocess.Popen(
            self.serving.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
        )

    def _watch(self, process: "subprocess.Popen[bytes]") -> tuple[bool, int]:
        ready, sign, sick = False, time.monotonic(), 0
        while process.poll() is None and not self._stopping:
            told = health(self.serving.url)
            if told == 200:
                sign, sick = time.monotonic(), 0
                if not ready:
                    ready = True
                    self._say(f"ready: {self.serving.name} at {self.serving.url} (log: {self.serving.log})")
            elif ready:
                sick = sick + 1 if told is not None and told >= 500 else 0
                if sick >= SICK or time.monotonic() - sign > self._mute:
                    self._say("vllm says that its engine is dead" if sick else f"vllm told nothing for {self._mute:.0f} seconds")
                    break
            self._sleep(self._pause)
        return ready, _end(process)

    def _sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self._stopping and (left := until - time.monotonic()) > 0:
            time.sleep(min(0.2, left))

    def _stop(self, _: int, __: FrameType | None) -> None:
        self._stopping = True

    def _cause(self) -> str | None:
        with self.serving.log.open("rb") as log:
            log.seek(0, os.SEEK_END)
            log.seek(max(self._began, log.tell() - TAIL))
            return why(log.read().decode("utf-8", "replace"))


def _end(process: "subprocess.Popen[bytes]") -> int:
    """End a server and every process of its group; returns its code. Nothing of it is left, not even as a zombie."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LAST_WORDS)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # engine processes that outlive their server hold its memory
    return process.wait()
