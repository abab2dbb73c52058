"""The last run's counters in Prometheus' text format, out of the event log: to be read also while the run goes on."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from litcascade.pipeline.shards.looking import JobState

HELP = {
    "litcascade_run_running": "1 while the last run has not told its end.",
    "litcascade_run_calls": "Calls that the last run has made.",
    "litcascade_run_tokens": "Prompt and answer tokens of these calls.",
    "litcascade_stage_pending_records": "Records that waited at a stage when the run came to it.",
    "litcascade_stage_done_records": "Records of these that have a verdict.",
    "litcascade_engine_running_requests": "Requests that an engine works on.",
    "litcascade_engine_waiting_requests": "Requests in an engine's queue.",
    "litcascade_engine_cache_used_ratio": "Share of an engine's cache in use.",
    "litcascade_job_shards": "Shards of a job by where they stand.",
    "litcascade_last_event_timestamp_seconds": "When the last event was written.",
}
TOLD = (  # event, its key, the counter, the key that tells whose it is
    ("stage started", "pending", "litcascade_stage_pending_records", "stage"),
    ("progress", "total", "litcascade_stage_pending_records", "stage"),
    ("progress", "done", "litcascade_stage_done_records", "stage"),
    ("progress", "calls", "litcascade_run_calls", None),
    ("progress", "tokens", "litcascade_run_tokens", None),
    ("engine", "running", "litcascade_engine_running_requests", "url"),
    ("engine", "waiting", "litcascade_engine_waiting_requests", "url"),
    ("engine", "cache_used", "litcascade_engine_cache_used_ratio", "url"),
    ("run ended", "calls", "litcascade_run_calls", None),
    ("run ended", "tokens", "litcascade_run_tokens", None),
)
Labels = tuple[tuple[str, str], ...]


def prometheus(events: Sequence[Mapping[str, Any]], jobs: Sequence[JobState]) -> str:
    """All counters as text; what was never told is left out, never 0."""
    found: dict[str, dict[Labels, float]] = {}
    begun = max((place for place, event in enumerate(events) if event["event"] == "run started"), default=0)
    for event in events[begun:]:
        told = {**event, **_spent(event)}
        if event["event"] in ("run started", "run ended"):
            found["litcascade_run_running"] = {(): float(event["event"] == "run started")}
        elif event["event"] == "progress" and "done" in event:  # the beginning of a long run is out of sight
            found.setdefault("litcascade_run_running", {(): 1.0})
        for what, key, name, whose in TOLD:
            if what == event["event"] and isinstance(told.get(key), int | float):
                labels = ((whose, str(told.get(whose, ""))),) if whose else ()
                found.setdefault(name, {})[labels] = float(told[key])
    for job in jobs:
        for state, count in job.counts().items():
            found.setdefault("litcascade_job_shards", {})[("job", job.name), ("state", state)] = float(count)
    if events:
        at = datetime.fromisoformat(str(events[-1]["at"])).timestamp()
        found["litcascade_last_event_timestamp_seconds"] = {(): at}
    return "".join(_family(name, found[name]) for name in HELP if name in found)


def _spent(event: Mapping[str, Any]) -> dict[str, Any]:
    spent = event.get("spent")
    if not isinstance(spent, dict):
        return {}
    return {"calls": spent.get("calls"), "tokens": spent.get("prompt_tokens", 0) + spent.get("completion_tokens", 0)}


def _family(name: str, values: Mapping[Labels, float]) -> str:
    lines = [f"# HELP {name} {HELP[name]}", f"# TYPE {name} gauge"]
    for labels, value in values.items():
        told = ",".join(f'{label}="{_escaped(text)}"' for label, text in labels)
        lines.append(f"{name}{{{told}}} {value:.15g}" if told else f"{name} {value:.15g}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
