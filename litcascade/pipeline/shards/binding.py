"""A job's stage bound on another machine: the same fingerprint, or a clear sentence about what differs."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from litcascade import __version__
from litcascade.backends import BACKENDS, Backend
from litcascade.errors import InputError
from litcascade.pipeline.binding import Bound, bind_with, identify, names_of
from litcascade.pipeline.review import Review, open_review
from litcascade.pipeline.shards.files import sha256
from litcascade.pipeline.shards.job import Job, JobFolder
from litcascade.registry import nearest
from litcascade.schemas import ModelRef, ModelSpec

ENDPOINTS = "LITCASCADE_ENDPOINTS"


@dataclass(frozen=True)
class Workplace:
    """A job's stage, bound, with its backends and the models behind them."""

    review: Review
    bound: Bound
    backends: Mapping[str, Backend]
    models: Mapping[str, ModelRef]


def named_pairs(given: Sequence[str], what: str) -> dict[str, str]:
    """`NAME=VALUE` options as a mapping; anything else is an `InputError`."""
    pairs: dict[str, str] = {}
    for item in given:
        name, sign, value = item.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise InputError(f"'{item}' is no {what}; write MODEL=VALUE")
        pairs[name.strip()] = value.strip()
    return pairs


def endpoints_given(options: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Addresses by model from `--endpoint MODEL=URL[,URL]`, before those of the environment variable (parted by blanks)."""
    pairs = named_pairs(os.environ.get(ENDPOINTS, "").split(), f"endpoint (in {ENDPOINTS})")
    pairs |= named_pairs(options, "endpoint")
    return {name: tuple(url.strip() for url in urls.split(",") if url.strip()) for name, urls in pairs.items()}


def read_protocol(folder: JobFolder, job: Job) -> Review:
    """The job's own protocol, refused where it is not the one the job was cut with."""
    review = open_review(folder.protocol)
    if sha256(review.text.encode()) != job.protocol_sha256:
        raise InputError(
            f"{folder.protocol}: is not the protocol that the job was cut with; change the review's and submit again"
        )
    return review


def make_backends(folder: JobFolder, job: Job, review: Review, endpoints: Mapping[str, tuple[str, ...]]) -> dict[str, Backend]:
    """Backends of the models that the job's stage asks, at the addresses given; weights are looked for beside the review too."""
    spec = next(spec for name, spec in review.protocol.stages.items() if name == job.stage)
    readers = [review.protocol.readers[name] for name in names_of(spec)]
    used = list(dict.fromkeys(reader.model for reader in readers if reader.model))
    for name in endpoints:
        if name not in review.protocol.models:
            raise InputError(f"the protocol has no model '{name}' to give an endpoint{nearest(name, review.protocol.models)}")
    backends: dict[str, Backend] = {}
    for name in used:
        declared = review.protocol.models[name]
        if name in endpoints:
            declared = declared.model_copy(update={"endpoints": endpoints[name]})
        home = Path(job.review) if _beside_the_review(folder, job, declared) else folder.protocol
        backends[name] = BACKENDS.get(declared.backend)(name, declared, home)
    return backends


def _beside_the_review(folder: JobFolder, job: Job, declared: ModelSpec) -> bool:
    """Whether weights named from the protocol's folder must be looked for in the review's, for a job holds none."""
    if declared.backend == "vllm":
        named = declared.weights or declared.model
        return not (folder.protocol / named).is_dir() and (Path(job.review) / named).is_dir()
    return declared.model.endswith(".gguf") and not (folder.protocol / declared.model).is_file()


async def set_up(folder: JobFolder, job: Job, endpoints: Mapping[str, tuple[str, ...]]) -> Workplace:
    """Bind the job's stage with the models as they answer here; another fingerprint than the job's is an `InputError`."""
    review = read_protocol(folder, job)
    backends = make_backends(folder, job, review, endpoints)
    try:
        return await bound_here(job, review, backends)
    except BaseException:
        for backend in backends.values():
            await backend.close()
        raise


async def bound_here(job: Job, review: Review, backends: Mapping[str, Backend]) -> Workplace:
    """As `set_up`, with backends that are made already."""
    models = {**job.models, **await identify(review.protocol, backends)}
    for name, model in models.items():
        if model != job.models[name]:
            raise InputError(
                f"model '{name}' is {_told(model)} here, but the job was cut for {_told(job.models[name])}; start the same "
                "engine on the nodes, or submit again with the one that runs there (litcascade submit --engine)"
            )
    bound = bind_job(job, review, models)
    if bound is None or bound.fingerprint != job.fingerprint:
        raise InputError(
            f"litcascade {__version__} here reads {job.stage} otherwise than litcascade {job.litcascade}, which cut the job; use "
            "the same version on the nodes, or submit again"
        )
    return Workplace(review, bound, backends, models)


def bind_job(job: Job, review: Review, models: Mapping[str, ModelRef]) -> Bound | None:
    """The job's stage by a review's protocol and these models; None where the protocol has no such stage or other models."""
    try:
        stages = bind_with(review, models, lambda stage, reader: job.shots.get(stage, {}).get(reader, ()))
    except KeyError:
        return None
    return next((item for item in stages if item.stage.name == job.stage), None)


def _told(model: ModelRef) -> str:
    revision = f" @ {model.revision[:12]}" if model.revision else ""
    return f"{model.name}{revision} on {model.engine}"
