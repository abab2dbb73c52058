"""vLLM inside this process, for offline batches: no server, no port; the engine is kept full and replies come one by one."""

import asyncio
import itertools
import json
import os
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from litcascade.backends.base import BACKENDS, Came, reply_of
from litcascade.backends.engine_thread import EngineThread, Job
from litcascade.backends.ordering import in_order
from litcascade.backends.reasons import why
from litcascade.backends.weights import folder_digest, is_path, needs_tokenizer
from litcascade.errors import BackendError, InputError, MissingExtraError
from litcascade.schemas import JsonShape, LabelShape, ModelSpec, Reply, Request

SERVER_ONLY = {"reasoning_parser", "enable_prompt_tokens_details", "api_server_count", "max_log_len", "uvicorn_log_level"}
QUIET = {
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_LOGGING_LEVEL": "WARNING",
    "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # what a command prints for scripts stays clean
    "VLLM_WORKER_MULTIPROCESSING_METHOD": "spawn",  # this process has threads; a fork of it could hang
}


class OfflineBackend:
    """Loads the model on first use and asks it without a server.

    `weights` (else `model`) is a folder beside the protocol or a name of the hub. The engine runs in a thread of its own that
    feeds it from all rounds under way, so that neither the end of a chunk nor a slow reply idles it. Revision: the commit of the
    hub; of a folder what the protocol says, else a digest of its files.
    """

    def __init__(self, name: str, spec: ModelSpec, folder: Path) -> None:
        self.name = name
        self.spec = spec
        where = folder / (spec.weights or spec.model)
        self.folder = where if where.is_dir() else None
        self.source = str(where.resolve()) if self.folder else spec.weights or spec.model
        self._thread: EngineThread | None = None
        self._llm: Any = None
        self._tokenizer: Any = None
        self._starting = asyncio.Lock()
        self._revision = ""
        self._held = False

    async def engine(self) -> str:
        """`vllm` with its version, as a server of that version is told; a folder that cannot be loaded is an `InputError`."""
        version = _import().__version__
        if self.folder:
            needs_tokenizer(self.folder, elsewhere="tokenizer" in self.spec.vllm)
        elif is_path(self.source):
            raise InputError(f"{self.source}: there is no such folder of weights; mend weights under [models.{self.name}]")
        return f"vllm {version}"

    async def revision(self) -> str:
        """The commit of the hub; of a folder what the protocol says, else `files:` and a digest of its files."""
        if not self._revision:
            self._revision = await asyncio.to_thread(self._find_revision)
        return self._revision

    async def ask(self, requests: Sequence[Request]) -> AsyncGenerator[Came, None]:
        """Put all requests, those with a common beginning side by side; yield replies as they come."""
        if self._held:
            return
        try:
            thread = await self._start()
        except BackendError as error:
            for request in requests:
                yield request.key, error
            return
        came: asyncio.Queue[Job] = asyncio.Queue()
        loop = asyncio.get_running_loop()

        def tell(job: Job) -> None:
            loop.call_soon_threadsafe(came.put_nowait, job)

        jobs = [Job(request, _messages(request), partial(self._sampling, request), tell) for request in in_order(requests)]
        thread.put(jobs)
        try:
            for _ in jobs:
                job = await came.get()
                if job.dropped:
                    continue
                yield job.request.key, job.error or job.refused or _reply(job, self.spec.model)
        finally:
            thread.drop(jobs)

    async def count(self, texts: Sequence[str]) -> list[int] | None:
        """By the model's own tokenizer; the weights need not be loaded for it."""
        tokenizer = await asyncio.to_thread(self._load_tokenizer)
        return await asyncio.to_thread(lambda: [len(tokenizer.encode(text, add_special_tokens=False)) for text in texts])

    def hold(self) -> None:
        """Start no further request."""
        self._held = True
        if self._thread:
            self._thread.hold()

    async def close(self) -> None:
        """Stop the engine and free its memory."""
        if self._thread:
            await asyncio.to_thread(self._thread.close)
        self._thread = self._llm = None

    def arguments(self) -> dict[str, Any]:
        """What `vllm.LLM` is called with."""
        given = {key: value for key, value in self.spec.vllm.items() if key not in SERVER_ONLY}
        pinned = {"revision": self.spec.revision} if self.spec.revision and not self.folder else {}
        usual = {"max_model_len": self.spec.context, "enable_prefix_caching": True, "disable_log_stats": True}
        return {"model": self.source, **pinned, **usual, **given}

    async def _start(self) -> EngineThread:
        async with self._starting:
            if self._thread is None:
                self._llm = await asyncio.to_thread(self._load)
                self._thread = EngineThread(self._llm)
            return self._thread

    def _load(self) -> Any:
        engine = _import()
        if not hasattr(engine.LLM, "enqueue_chat"):
            raise BackendError(f"vLLM {engine.__version__} is too old to be asked inside this process; install 0.32", fatal=True)
        try:
            return engine.LLM(**self.arguments())
        except Exception as error:
            words = why(str(error)) or " ".join(str(error).split())[:300]
            raise BackendError(f"model '{self.name}' cannot be loaded by vLLM: {words}", fatal=True) from error

    def _load_tokenizer(self) -> Any:
        if self._tokenizer is None:
            _import()
            revision = {"revision": self.spec.revision} if self.spec.revision and not self.folder else {}
            try:
                self._tokenizer = import_module("transformers").AutoTokenizer.from_pretrained(self.source, **revision)
            except (OSError, ValueError) as error:
                words = " ".join(str(error).split())[:200]
                raise BackendError(f"model '{self.name}' has no tokenizer that can be read: {words}", fatal=True) from error
        return self._tokenizer

    def _find_revision(self) -> str:
        if self.folder:
            return self.spec.revision or f"files:{folder_digest(self.folder)}"
        _import()
        try:
            config = import_module("transformers").AutoConfig.from_pretrained(self.source, revision=self.spec.revision or None)
        except (OSError, ValueError) as error:
            words = " ".join(str(error).split())[:200]
            raise BackendError(f"model '{self.name}': neither a folder nor a model of the hub: {words}", fatal=True) from error
        commit = str(getattr(config, "_commit_hash", None) or "")
        return self.spec.revision if self.spec.revision and commit.startswith(self.spec.revision) else commit

    def _sampling(self, request: Request) -> Any:
        """The request's sampling on top of the model's own defaults, as vLLM's server does it."""
        engine = _import()
        structured = import_module("vllm.sampling_params").StructuredOutputsParams
        defaults = dict(self._llm.model_config.get_diff_sampling_param())
        defaults.pop("max_tokens", None)
        told: dict[str, Any] = {
            "temperature": request.sampling.temperature,
            "max_tokens": request.sampling.max_tokens,
            "seed": request.sampling.seed,
            "logprobs": request.sampling.top_logprobs or None,
        }
        if isinstance(request.shape, LabelShape):
            told["structured_outputs"] = structured(choice=list(request.shape.labels))
        elif isinstance(request.shape, JsonShape):
            told["structured_outputs"] = structured(json=request.shape.json_schema)
        return engine.SamplingParams.from_optional(**{**defaults, **told})


def _import() -> Any:
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        return import_module("vllm")
    except ImportError:
        raise MissingExtraError('a model with backend = "vllm"', "vllm") from None


def _messages(request: Request) -> list[dict[str, str]]:
    return [{"role": message.role, "content": message.content} for message in request.messages]


def _reply(job: Job, model: str) -> Reply:
    """What the engine gave in the shape of a chat completion, so that it is read like a server's."""
    output = job.output
    first = output.outputs[0]
    count = len(first.token_ids)
    choice: dict[str, Any] = {
        "index": 0,
        "message": {"role": "assistant", "content": first.text},
        "finish_reason": first.finish_reason,
        "logprobs": None,
    }
    if first.logprobs:
        most = job.request.sampling.top_logprobs
        positions = zip(itertools.islice(first.logprobs, 4), first.token_ids, strict=False)
        choice["logprobs"] = {"content": [_position(position, token, most) for position, token in positions]}
    prompt = len(output.prompt_token_ids or ())
    usage = {"prompt_tokens": prompt, "completion_tokens": count, "total_tokens": prompt + count}
    details = {"cached_tokens": output.num_cached_tokens}
    body = {
        "object": "chat.completion",
        "model": model,
        "choices": [choice],
        "usage": {**usage, "prompt_tokens_details": details},
    }
    return reply_of(job.request.key, body, json.dumps(body, ensure_ascii=False), job.seconds)


def _position(position: Any, token: int, most: int) -> dict[str, Any]:
    top = [
        {"token": entry.decoded_token or "", "logprob": max(entry.logprob, -9999.0)}
        for entry in itertools.islice(position.values(), most)
    ]
    chosen = position.get(token)
    return {"token": chosen.decoded_token if chosen else "", "top_logprobs": top}


@BACKENDS.register("vllm")
def make_offline(name: str, spec: ModelSpec, folder: Path) -> OfflineBackend:
    """The backend for `backend = "vllm"`; a folder of weights is named from the protocol's folder."""
    return OfflineBackend(name, spec, folder)
