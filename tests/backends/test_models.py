"""Weights: download from a hub that misbehaves, resume, hash; the package mirror as the second way."""

import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from litcascade.backends import models
from litcascade.backends.models import Weights, find, folder, local_path, pull, verify
from litcascade.download import sha256_of
from litcascade.errors import BackendError, InputError
from tests.conftest import need

CONTENT = bytes(range(256)) * 4096 * 3
TEST = Weights(
    "test",
    "test.gguf",
    hashlib.sha256(CONTENT).hexdigest(),
    len(CONTENT),
    "Apache-2.0",
    "a/b/test.gguf",
    ("no-such-package-litcascade==9",),
    ".bin",
    "",
)


class Hub(BaseHTTPRequestHandler):
    breaks: ClassVar[int] = 0
    status: ClassVar[int] = 200
    content: ClassVar[bytes] = CONTENT
    ranges: ClassVar[list[str | None]] = []

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        Hub.ranges.append(wanted)
        if Hub.status != 200:
            self.send_error(Hub.status)
            return
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        part = Hub.content[start:]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(part)))
        if wanted:
            self.send_header("Content-Range", f"bytes {start}-{len(Hub.content) - 1}/{len(Hub.content)}")
        self.end_headers()
        if Hub.breaks > 0:
            Hub.breaks -= 1
            self.wfile.write(part[: len(part) // 2])
            self.wfile.flush()
            self.connection.close()
        else:
            self.wfile.write(part)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Hub]]:
    Hub.breaks, Hub.status, Hub.content, Hub.ranges = 0, 200, CONTENT, []
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.server_port}")
    monkeypatch.setenv("LITCASCADE_MODELS", str(tmp_path / "models"))
    monkeypatch.setitem(models.KNOWN, "test", TEST)
    monkeypatch.setattr(models, "HUB_PAUSE", 0.01)
    yield Hub
    server.shutdown()
    server.server_close()
    thread.join()


def get() -> Path:
    return pull("test", say=lambda _: None, progress=lambda *_: None)


def test_a_download_is_checked_and_kept(hub: type[Hub]) -> None:
    path = get()
    assert path == folder() / "test.gguf"
    assert path.read_bytes() == CONTENT
    assert get() == path
    assert len(hub.ranges) == 1


def test_a_broken_download_goes_on_where_it_stopped(hub: type[Hub]) -> None:
    hub.breaks = 3
    assert get().read_bytes() == CONTENT
    starts = [int((wanted or "bytes=0-")[6:-1]) for wanted in hub.ranges]
    assert len(starts) == 4
    assert starts == sorted(starts)
    assert starts[-1] > 0


def test_another_file_than_the_pinned_one_is_not_kept(hub: type[Hub]) -> None:
    hub.content = CONTENT[:-1] + b"x"
    with pytest.raises(BackendError, match="another SHA-256"):
        get()
    assert list(folder().iterdir()) == []


def test_no_hub_and_no_package_is_one_sentence(hub: type[Hub]) -> None:
    hub.status = 404
    with pytest.raises(BackendError, match="no-such-package-litcascade==9 cannot be had"):
        get()
    assert not (folder() / "test.gguf").exists()


@pytest.mark.usefixtures("hub")
def test_a_changed_file_is_refused() -> None:
    path = get()
    path.write_bytes(CONTENT[:-1] + b"x")
    with pytest.raises(BackendError, match="is not the file that"):
        verify(path, TEST)


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LITCASCADE_MODELS", str(tmp_path))
    with pytest.raises(InputError, match="did you mean 'smollm2-135m'"):
        find("smollm2")
    with pytest.raises(BackendError, match="litcascade model pull smollm2-135m"):
        local_path("smollm2-135m")


def test_the_package_mirror_gives_the_pinned_file() -> None:
    here = (folder() / find("qwen2.5-coder-1.5b").file).exists()
    need("local", here, "the weights are not pulled (litcascade model pull qwen2.5-coder-1.5b)")
    weights = find("qwen2.5-coder-1.5b")
    assert sha256_of(folder() / weights.file) == "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    assert (folder() / weights.file).stat().st_size == weights.size
