"""What a vLLM server tells of itself at `/metrics`: its queue, its cache, what it has read and written."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_LINE = re.compile(r"^vllm:(\w+?)(?:_total)?(?:\{[^}]*\})?\s+([-+.\deE]+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Load:
    """One endpoint at one moment; what the server does not tell is None.

    `running` and `waiting` are requests, `cache_used` is a share of 0 to 1; the others are tokens since the server's start.
    """

    url: str
    running: int | None = None
    waiting: int | None = None
    cache_used: float | None = None
    looked_up: int | None = None
    found: int | None = None
    read: int | None = None
    written: int | None = None


_NAMES = {
    "running": ("num_requests_running",),
    "waiting": ("num_requests_waiting",),
    "cache_used": ("kv_cache_usage_perc", "gpu_cache_usage_perc"),
    "looked_up": ("prefix_cache_queries", "gpu_prefix_cache_queries"),
    "found": ("prefix_cache_hits", "gpu_prefix_cache_hits"),
    "read": ("prompt_tokens",),
    "written": ("generation_tokens",),
}


def read_load(url: str, text: str) -> Load | None:
    """The figures in a Prometheus text, summed over a server's engines; None where it holds none of vLLM's."""
    sums: dict[str, list[float]] = {}
    for name, value in _LINE.findall(text):
        try:
            sums.setdefault(name, []).append(float(value))
        except ValueError:
            continue
    told: dict[str, float | None] = {}
    for ours, theirs in _NAMES.items():
        values = next((sums[name] for name in theirs if name in sums), None)
        share = ours == "cache_used"
        told[ours] = None if values is None else sum(values) / len(values) if share else sum(values)
    if all(value is None for value in told.values()):
        return None
    whole = {name: None if value is None else int(value) for name, value in told.items() if name != "cache_used"}
    return Load(url, cache_used=told["cache_used"], **whole)


def hit_rate(before: Sequence[Load], after: Sequence[Load]) -> float | None:
    """Share of the prompt tokens looked up between two moments that the cache held; None where nothing was, or it is not told."""
    first = {load.url: (load.looked_up, load.found) for load in before}
    looked = found = 0
    for load in after:
        start_looked, start_found = first.get(load.url, (None, None))
        if load.looked_up is None or load.found is None or start_looked is None or start_found is None:
            continue
        anew = load.looked_up < start_looked  # it was started again in between
        looked += load.looked_up - (0 if anew else start_looked)
        found += load.found - (0 if anew else start_found)
    return found / looked if looked else None
