"""A Ray cluster: joined, or started on this machine; and how many workers of which size fit into it."""

import contextlib
import logging
import os
import socket
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from litcascade.errors import InputError, MissingExtraError
from litcascade.schemas import ModelSpec

QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",  # a restart that succeeds is told by Ray as an error
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
}
PATIENCE = 5.0  # seconds for a first connection; Ray itself would wait for minutes
SPREADS = ("tensor_parallel_size", "pipeline_parallel_size", "data_parallel_size")


@dataclass(frozen=True)
class RayOptions:
    """How a run is spread: over so many shards a stage, by so many workers, each holding so many CPUs and GPUs.

    None where it follows from the stage: `shards` from what is pending, `workers` and `gpus` from where its models run.
    """

    address: str | None = None
    shards: int | None = None
    workers: int | None = None
    cpus: float = 1.0
    gpus: float | None = None


@dataclass(frozen=True)
class Crew:
    """The workers of a stage: between `least` and `most`, each with these CPUs and GPUs."""

    least: int
    most: int
    cpus: float
    gpus: float


@contextlib.contextmanager
def joined(address: str | None) -> Iterator[Any]:
    """Ray, connected to the cluster at an address (HOST:PORT, or `auto`), else the one this machine belongs to, else one started
    here; left again at the end. What cannot be joined is an `InputError`.
    """
    ray = import_ray()
    if ray.is_initialized():
        yield ray
        return
    _require_reachable(address or os.environ.get("RAY_ADDRESS"))
    try:
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    except (ConnectionError, ValueError, RuntimeError) as error:
        where = f"the Ray cluster at {address}" if address else "Ray"
        words = " ".join(str(error).split())[:200]
        raise InputError(f"{where} cannot be joined ({words}); see `ray status` on this machine") from None
    try:
        yield ray
    finally:
        ray.shutdown()


def import_ray() -> Any:
    """The package, quietened; a missing one is a `MissingExtraError`."""
    for name, value in QUIET.items():
        os.environ.setdefault(name, value)
    try:
        ray = import_module("ray")
        import_module("ray.data")
    except ImportError:
        raise MissingExtraError("--executor ray", "ray") from None
    logging.getLogger("ray.data").setLevel(logging.CRITICAL)
    return ray


def _require_reachable(address: str | None) -> None:
    if not address or address in ("auto", "local"):
        return
    if address.startswith("ray://"):
        raise InputError(
            f"{address}: a run must stand on a node of the cluster, for it keeps what comes back on its own disk; start it "
            "there, with --ray-address auto"
        )
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise InputError(f"'{address}' is no address of a Ray cluster; write HOST:PORT (as `ray start` told it), or auto")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()
    except OSError as error:
        raise InputError(
            f"no Ray cluster answers at {address} ({error.strerror or error}); start one with `ray start --head`, or leave "
            "--ray-address out to work on this machine alone"
        ) from None


def gpus_of(models: Sequence[ModelSpec]) -> float:
    """GPUs that one worker needs: what its engines inside the process are spread over; 0 where all models are elsewhere."""
    total = 0
    for model in models:
        spread = 1
        for name in SPREADS:
            count = model.vllm.get(name, 1)
            spread *= count if isinstance(count, int) and count > 1 else 1
        total += spread if model.backend == "vllm" else 0
    return float(total)


def crew(nodes: Sequence[Mapping[str, Any]], models: Sequence[ModelSpec], options: RayOptions) -> Crew:
    """The workers for a stage that asks these models, on these nodes (as `ray.nodes()` tells them).

    Models asked over the network need one worker a node, for one keeps many questions on their way; an engine inside the worker
    needs as many as there is room for, and more as nodes join. No room for a single one is an `InputError`.
    """
    gpus = gpus_of(models) if options.gpus is None else options.gpus
    inside = any(model.backend == "vllm" for model in models)
    fits = [_fits(node, options.cpus, gpus) for node in nodes if node.get("Alive", True)]
    room = sum(fits)
    if not room:
        raise InputError(
            f"no node of the Ray cluster has {options.cpus:g} CPU(s) and {gpus:g} GPU(s) for a worker; start one that has, or "
            "say what a worker needs with --worker-cpus and --worker-gpus (0 for engines that run on CPUs)"
        )
    usual = room if inside else sum(1 for count in fits if count)
    least = min(options.workers or usual, room)
    return Crew(least, 10_000 if inside and options.workers is None else least, options.cpus, gpus)


def _fits(node: Mapping[str, Any], cpus: float, gpus: float) -> int:
    has = node.get("Resources", {})
    counts = [has.get(name, 0.0) // need for name, need in (("CPU", cpus), ("GPU", gpus)) if need > 0]
    return int(min(counts)) if counts else 1
