"""`litcascade serve`: the command for vLLM, the watch over it, and endpoints that run already."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from litcascade.backends.attaching import Attached, attach
from litcascade.backends.reasons import why
from litcascade.backends.serving import Watched, plan_serving
from litcascade.backends.weights import folder_digest
from litcascade.errors import BackendError, InputError
from litcascade.schemas import ModelSpec
from tests.support import fake_vllm
from tests.support.reviews import ReviewFolder
from tests.support.server import ModelServer


class Fake:
    """A `vllm` on the PATH that lives as planned, and what it was started with."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.program = folder / "bin" / "vllm"
        self.program.parent.mkdir()
        self.program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{Path(fake_vllm.__file__).resolve()}" "$@"\n')
        self.program.chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{self.program.parent}{os.pathsep}{os.environ['PATH']}",
            "FAKE_VLLM": str(folder),
        }

    def plan(self, *lives: str) -> None:
        (self.folder / "plan").write_text("\n".join(lives))

    def lives(self) -> list[dict[str, object]]:
        path = self.folder / "lives.jsonl"
        return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


@pytest.fixture
def fake(tmp_path: Path) -> Fake:
    where = tmp_path / "fake"
    where.mkdir()
    return Fake(where)


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def started() -> Iterator[list["subprocess.Popen[str]"]]:
    running: list[subprocess.Popen[str]] = []
    yield running
    for process in running:
        if process.poll() is None:
            process.kill()
            process.wait()
        if process.stdout:
            process.stdout.close()


def serve(fake: Fake, folder: ReviewFolder, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "litcascade", "serve", "--review", str(folder.path), *arguments]
    return subprocess.Popen(
        command, env=fake.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder.path
    )


def until(process: "subprocess.Popen[str]", words: str) -> str:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        if words in line:
            return said
    raise AssertionError(f"'{words}' was never said, but:\n{said}")


def gone(pid: int) -> bool:
    for _ in range(100):
        try:
            os.kill(pid, 0)
        except ProcessLookupError:
            return True
        if Path(f"/proc/{pid}/stat").exists() and Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
            return True  # its new parent has not looked yet
        time.sleep(0.05)
    return False


def spec(**changes: object) -> ModelSpec:
    told = {"backend": "http", "model": "m", "endpoints": ("http://127.0.0.1:9/v1",), **changes}
    return ModelSpec.model_validate(told)


def weights(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).write_text("{}")
    return folder


STAGE = '\n[readers.one]\nmodel = "m"\n[stages.title_abstract]\nreaders = ["one"]\n'
WHOLE = ("config.json", "model.safetensors", "tokenizer.json")


@pytest.mark.parametrize("kind", [signal.SIGINT, signal.SIGTERM])
def test_a_server_is_started_with_what_the_protocol_says_and_stopped_with_its_children(
    fake: Fake, folder: ReviewFolder, port: int, started: list["subprocess.Popen[str]"], kind: int
) -> None:
    weights(folder.path / "w", *WHOLE)
    folder.protocol(STAGE, url=f"http://127.0.0.1:{port}/v1")
    text = (folder.path / "review.toml").read_text()
    told = 'model = "m"\nweights = "w"\ncontext = 4096\nvllm = { reasoning_parser = "qwen3", enforce_eager = true }'
    (folder.path / "review.toml").write_text(text.replace('model = "m"', told, 1))
    fake.plan("steady")
    process = serve(fake, folder, "m", "--log", "log.txt", "--", "--block-size", "32")
    started.append(process)
    said = until(process, "ready: m at")
    assert "endpoints =" not in said  # the protocol names this server already
    process.send_signal(kind)
    assert process.wait(30) == 0
    (life,) = fake.lives()
    arguments = life["arguments"]
    assert isinstance(arguments, list)
    line = " ".join(arguments)
    assert line.startswith(f"serve {folder.path / 'w'} --served-model-name m --host 127.0.0.1 --port {port} --max-model-len 4096")
    assert "--enable-prefix-caching --enable-prompt-tokens-details" in line
    assert line.endswith("--reasoning-parser qwen3 --enforce-eager --block-size 32")
    assert gone(int(str(life["child"])))


def test_a_crash_is_told_and_the_server_started_again(
    fake: Fake, folder: ReviewFolder, port: int, started: list["subprocess.Popen[str]"]
) -> None:
    folder.protocol(STAGE)
    fake.plan("crash", "steady")
    process = serve(fake, folder, "--port", str(port))
    started.append(process)
    said = until(process, "starting it again")
    assert f'endpoints = ["http://127.0.0.1:{port}/v1"]' in said
    assert "code 7: RuntimeError: the engine core ended unexpectedly; starting it again (1 of 3)" in said
    until(process, "ready: m")
    process.terminate()
    assert process.wait(30) == 0
    assert len(fake.lives()) == 2
    assert all(gone(int(str(life["child"]))) for life in fake.lives())


def test_a_server_that_goes_on_crashing_is_left_alone(fake: Fake, folder: ReviewFolder, port: int) -> None:
    folder.protocol(STAGE)
    fake.plan("crash")
    process = serve(fake, folder, "--port", str(port), "--restarts", "1")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 3
    assert said.splitlines()[-1].startswith("error: vllm ended with code 7")
    assert "crashed 2 times" in said
    assert len(fake.lives()) == 2


@pytest.mark.parametrize(("life", "words"), [("deaf", "engine is dead"), ("mute", "told nothing for")])
def test_a_server_whose_engine_is_dead_counts_as_crashed(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, port: int, life: str, words: str
) -> None:
    monkeypatch.setenv("PATH", fake.environment["PATH"])
    monkeypatch.setenv("FAKE_VLLM", str(fake.folder))
    fake.plan(life)
    said: list[str] = []
    serving = plan_serving(spec(), tmp_path, tmp_path / "log", port=port)
    with pytest.raises(BackendError, match="crashed 1 times"):
        Watched(serving, said.append, restarts=0, pause=0.05, mute=0.3).run()
    assert any(words in line for line in said)
    assert gone(int(str(fake.lives()[0]["child"])))


@pytest.mark.parametrize(
    ("log", "words"),
    [
        ("RuntimeError: Failed to infer device type, please set it explicitly", "no GPU was found"),
        ("RuntimeError: No CUDA GPUs are available", "no GPU was found"),
        ("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).", "another CUDA"),
        ("torch.AcceleratorError: CUDA error: no kernel image is available for execution on the device", "another CUDA"),
        ("ValueError: No available memory for the cache blocks. Try increasing gpu_memory_utilization", "memory does not hold"),
        ("OSError: [Errno 98] Address already in use", "the port is taken"),
        ("ValueError: User-specified max_model_len (9000) is greater than the derived max_model_len (2048)", "longer than the"),
        ("OSError: Can't load tokenizer for '/x'. Make sure it is a directory", "without a tokenizer"),
        ("vllm serve: error: unrecognized arguments: --odd 3", "does not know an option: --odd 3"),
        ("ValueError: something nobody has seen", "ValueError: something nobody has seen"),
    ],
)
def test_why_it_did_not_start_is_one_sentence(
    fake: Fake, port: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, log: str, words: str
) -> None:
    monkeypatch.setenv("PATH", fake.environment["PATH"])
    monkeypatch.setenv("FAKE_VLLM", str(fake.folder))
    fake.plan(f"fail {log}")
    serving = plan_serving(spec(), tmp_path, tmp_path / "log", port=port)
    with pytest.raises(BackendError, match="vllm did not start") as caught:
        Watched(serving, lambda _: None, pause=0.05).run()
    assert words in str(caught.value)
    assert str(tmp_path / "log") in str(caught.value)
    assert "\n" not in str(caught.value)
    assert len(fake.lives()) == 1  # what never came up is not tried again


def test_a_cause_is_not_read_out_of_warnings() -> None:
    assert why("WARNING 11-30 CUDA is not available, using the CPU\nINFO 11-30 starting") is None
    both = "ValueError: the root\nRuntimeError: Engine core initialization failed. See root cause above."
    assert why(both) == "ValueError: the root"


def test_what_cannot_be_served_is_told_before_anything_is_started(
    fake: Fake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="no `vllm` on the PATH"):
        plan_serving(spec(), tmp_path, tmp_path / "log")
    monkeypatch.setenv("PATH", fake.environment["PATH"])
    weights(tmp_path / "w", "config.json", "model.safetensors")
    with pytest.raises(InputError, match="holds no tokenizer"):
        plan_serving(spec(weights="w"), tmp_path, tmp_path / "log")
    assert plan_serving(spec(weights="w", vllm={"tokenizer": "other"}), tmp_path, tmp_path / "log")
    weights(tmp_path / "half", "config.json", "tokenizer.json")
    with pytest.raises(InputError, match="no weights"):
        plan_serving(spec(weights="half"), tmp_path, tmp_path / "log")
    with pytest.raises(InputError, match="no such folder of weights"):
        plan_serving(spec(weights="./none"), tmp_path, tmp_path / "log")
    with pytest.raises(InputError, match="holds no key"):
        plan_serving(spec(api_key_env="LITCASCADE_TEST_KEY"), tmp_path, tmp_path / "log")
    monkeypatch.setenv("LITCASCADE_TEST_KEY", "secret-word")
    planned = plan_serving(spec(api_key_env="LITCASCADE_TEST_KEY", revision="abc"), tmp_path, tmp_path / "log")
    assert planned.environment["VLLM_API_KEY"] == "secret-word"
    assert "secret-word" not in " ".join(planned.command)
    assert " ".join(planned.command).endswith("--revision abc")


def test_a_port_that_is_taken_is_told_with_what_it_serves(fake: Fake, folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(STAGE)
    taken = re.search(r":(\d+)/", server.url)
    assert taken
    process = serve(fake, folder, "--port", taken[1])
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert f"port {taken[1]} is taken (it serves m)" in said
    assert fake.lives() == []


def test_weights_are_known_by_their_files(tmp_path: Path) -> None:
    one = weights(tmp_path / "one", *WHOLE)
    shutil.copytree(one, tmp_path / "two")
    assert folder_digest(one) == folder_digest(tmp_path / "two")
    (tmp_path / "two" / "model.safetensors").write_bytes(os.urandom(200_000))
    other = folder_digest(tmp_path / "two")
    assert other != folder_digest(one)
    (tmp_path / "two" / "model.safetensors").write_bytes(os.urandom(200_000))
    assert folder_digest(tmp_path / "two") != other


def test_running_endpoints_are_checked(server: ModelServer) -> None:
    def look(*urls: str, **changes: object) -> Attached:
        return attach(spec(**changes), urls or (server.url,))[0]

    fits = look(context=2048)
    assert (fits.serves, fits.context, fits.version, fits.faults) == (("m",), 2048, "0.32.0", ())
    assert look(context=9000).faults == ("its context is 2048 tokens, not 9000; serve it with --max-model-len 9000",)
    assert "it serves m, not 'other'" in look(context=2048, model="other").faults[0]
    assert "nothing answers there" in look("http://127.0.0.1:9/v1").faults[0]


def test_attaching_tells_a_script_by_its_exit_code(fake: Fake, folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(STAGE, url=server.url)
    process = serve(fake, folder, "--attach")
    said, _ = process.communicate(timeout=60)
    assert process.returncode == 3  # the protocol's context is longer than the server's
    assert "its context is 2048 tokens, not 8192" in " ".join(said.split())
    assert fake.lives() == []
