"""The embedded engine: llama.cpp inside this process (`xllamacpp`, extra [local]), spoken to over loopback."""

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from pathlib import Path
from typing import Any

from litcascade.backends import models
from litcascade.backends.base import BACKENDS, Came
from litcascade.backends.http import HttpBackend
from litcascade.download import sha256_of
from litcascade.errors import BackendError, MissingExtraError
from litcascade.schemas import ModelSpec, Request

SLOTS = 2


class EmbeddedBackend:
    """Loads pinned weights on first use and answers through its own loopback server.

    `model` is a name that `litcascade model list` shows, or the path of a GGUF file beside the protocol.
    """

    def __init__(self, name: str, spec: ModelSpec, folder: Path) -> None:
        self.name = name
        self.spec = spec
        self._folder = folder
        self._server: Any = None
        self._http: HttpBackend | None = None
        self._revision = ""

    async def engine(self) -> str:
        """`llama.cpp` with the version of the package that carries it."""
        return f"llama.cpp (xllamacpp {_import().__version__})"

    async def revision(self) -> str:
        """The SHA-256 of the weights; a revision named in the protocol must be the same."""
        if not self._revision:
            self._path()
        return self._revision

    async def ask(self, requests: Sequence[Request]) -> AsyncGenerator[Came, None]:
        """Start the engine on the first round, then ask it."""
        backend = await self._start()
        async for came in backend.ask(requests):
            yield came

    async def count(self, texts: Sequence[str]) -> list[int] | None:
        """By the loaded weights' own tokenizer."""
        return await (await self._start()).count(texts)

    def hold(self) -> None:
        """Start no further request."""
        if self._http:
            self._http.hold()

    async def close(self) -> None:
        """Stop the engine and free its memory."""
        if self._http:
            await self._http.close()
        self._http = self._server = None

    def _path(self) -> Path:
        if self.spec.model.endswith(".gguf"):
            path = self._folder / self.spec.model
            if not path.is_file():
                raise BackendError(f"{path}: there is no such file of weights", fatal=True)
            self._revision = sha256_of(path)
        else:
            path = models.local_path(self.spec.model)
            models.verify(path, models.find(self.spec.model))
            self._revision = models.find(self.spec.model).sha256
        named = self.spec.revision.removeprefix("sha256:")
        if named and not self._revision.startswith(named):
            raise BackendError(
                f"model '{self.name}' is pinned to revision {named[:12]} but the weights are {self._revision[:12]}; "
                f"mend revision under [models.{self.name}]",
                fatal=True,
            )
        return path

    async def _start(self) -> HttpBackend:
        if self._http is None:
            path = self._path()
            self._server = await asyncio.to_thread(_load, path, self.spec.context)
            spec = self.spec.model_copy(
                update={
                    "backend": "http",
                    "endpoints": (f"{self._server.listening_address}/v1",),
                    "dialect": "llama.cpp",
                    "concurrency": SLOTS,
                    "timeout": max(self.spec.timeout, 3600.0),
                    "retries": 1,
                }
            )
            self._http = HttpBackend(self.name, spec)
        return self._http


def _import() -> Any:
    try:
        import xllamacpp
    except ImportError:
        raise MissingExtraError("the embedded model", "local") from None
    return xllamacpp


def _load(path: Path, context: int) -> Any:
    engine = _import()
    parameters = engine.CommonParams()
    parameters.model.path = str(path)
    parameters.n_parallel = SLOTS
    parameters.n_ctx = context * SLOTS
    parameters.cpuparams.n_threads = os.cpu_count() or 2
    parameters.cache_ram_mib = 0
    parameters.port = 0
    parameters.ui = False
    parameters.verbosity = 0
    parameters.warmup = False
    try:
        return engine.Server(parameters)
    except RuntimeError as error:
        raise BackendError(f"{path}: the embedded engine cannot load it: {error}", fatal=True) from None


@BACKENDS.register("embedded")
def make_embedded(name: str, spec: ModelSpec, folder: Path) -> EmbeddedBackend:
    """The backend for `backend = "embedded"`."""
    return EmbeddedBackend(name, spec, folder)
