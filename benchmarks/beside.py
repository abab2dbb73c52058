"""Screening with litcascade beside what one would write oneself, on the same records and the same server.

usage: beside.py URL MODEL [RECORDS] [PAIRS] [PYTHON]      (default 40 records, 3 pairs)

The other program is asyncio with instructor: 64 requests at once, a pydantic model of a reasoning and a decision, three further
tries; once with JSON asked for in the prompt, once with the schema enforced by the server. PYTHON is the interpreter of an
environment with LatteReview, which is then run too. All read the same criteria and records. Prints records and requests a second
and tokens for a decision, as the server's own counters (`/metrics` of vLLM) tell them, tries that failed included, and how many
records got no decision. litcascade stores every reply and verdict; the others keep theirs in memory.
"""

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from throughput import FRESH, IN_FLIGHT, lay_out, ours

LATTE = """
import asyncio, json, sys, time
import pandas as pd
from lattereview.providers import LiteLLMProvider
from lattereview.agents import TitleAbstractReviewer
from lattereview.workflows import ReviewWorkflow

url, model, path, at_once, inclusion, exclusion = sys.argv[1:]
rows = pd.DataFrame(json.load(open(path)))
agent = TitleAbstractReviewer(
    provider=LiteLLMProvider(model=f"openai/{model}"), name="one", max_concurrent_requests=int(at_once),
    inclusion_criteria=inclusion, exclusion_criteria=exclusion, model_args={"max_tokens": 200, "temperature": 0.0},
)
flow = ReviewWorkflow(workflow_schema=[{"round": "A", "reviewers": [agent], "text_inputs": ["title", "abstract"]}])
started = time.perf_counter()
done = asyncio.run(flow(rows))
seconds = time.perf_counter() - started
column = [name for name in done.columns if name.endswith("_evaluation")][0]
print("RESULT", json.dumps({"seconds": seconds, "decided": int(done[column].notna().sum())}))
"""


class Decision(BaseModel):
    """What is asked for, as one would write it."""

    reasoning: str
    decision: Literal["include", "exclude"]


@dataclass(frozen=True)
class Side:
    """What one program did: seconds, records without a decision, and requests and tokens as the server counted them."""

    seconds: float
    undecided: int
    requests: float = 0.0
    read: float = 0.0
    written: float = 0.0


def counters(url: str) -> dict[str, float]:
    """Requests that ended, prompt tokens and answer tokens since the server began."""
    with urllib.request.urlopen(f"{url.removesuffix('/v1')}/metrics") as reply:
        lines = reply.read().decode().splitlines()
    names = {"requests": "request_success", "read": "prompt_tokens", "written": "generation_tokens"}
    return {
        key: sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(f"vllm:{name}_total"))
        for key, name in names.items()
    }


def counted(url: str, work: Callable[[], Side]) -> Side:
    """A program's run with what the server counted meanwhile."""
    before = counters(url)
    side = work()
    time.sleep(1)  # the counters are written at the end of an engine's step
    after = counters(url)
    requests, read, written = (after[key] - before[key] for key in ("requests", "read", "written"))
    return replace(side, requests=requests, read=read, written=written)


def records_of(review: Any) -> list[dict[str, str]]:
    """Titles and abstracts of a review."""
    with review.open() as store:
        rows = store.rows("select title, abstract from records order by seq")
    return [{"title": title, "abstract": abstract} for title, abstract in rows]


def criteria_of(review: Any, kind: str) -> str:
    """The criteria of a kind, one a line."""
    return "\n".join(f"- {item.text}" for item in review.protocol.criteria if item.kind == kind)


def with_litcascade(review: Any, count: int) -> Side:
    """A whole run, stored."""
    started = time.perf_counter()
    ours(review, count)
    seconds = time.perf_counter() - started
    with review.open() as store:
        undecided = store.value("select count(*) from title_abstract where state not in ('included', 'excluded')")
    return Side(seconds, undecided)


async def with_instructor(review: Any, url: str, model: str, *, enforced: bool) -> Side:
    """The loop that one would write."""
    import instructor
    from openai import AsyncOpenAI

    mode = instructor.Mode.JSON_SCHEMA if enforced else instructor.Mode.JSON
    client = instructor.from_openai(AsyncOpenAI(base_url=url, api_key="none", timeout=600), mode=mode)
    slots, undecided = asyncio.Semaphore(IN_FLIGHT), 0
    system = (
        f"You screen records for a systematic review.\nQuestion: {review.protocol.review.question}\n"
        f"Include:\n{criteria_of(review, 'include')}\nExclude:\n{criteria_of(review, 'exclude')}\n"
        "Think step by step, then decide. Answer as JSON."
    )

    async def one(record: dict[str, str]) -> None:
        nonlocal undecided
        said: list[Any] = [
            {"role": "system", "content": system},
            {"role": "user", "content": f"Title: {record['title']}\nAbstract: {record['abstract']}"},
        ]
        async with slots:
            try:
                await client.chat.completions.create(
                    model=model, messages=said, response_model=Decision, max_retries=3, max_tokens=200, temperature=0.0
                )
            except Exception:  # noqa: BLE001  (whatever it raises, the record has no decision)
                undecided += 1

    records = records_of(review)
    started = time.perf_counter()
    await asyncio.gather(*(one(record) for record in records))
    return Side(time.perf_counter() - started, undecided)


def with_lattereview(python: str, review: Any, url: str, model: str) -> Side:
    """LatteReview in an environment of its own."""
    records = records_of(review)
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "records.json"
        path.write_text(json.dumps(records), encoding="utf-8")
        command = [
            python,
            "-c",
            LATTE,
            url,
            model,
            str(path),
            str(IN_FLIGHT),
            *(criteria_of(review, k) for k in ("include", "exclude")),
        ]
        there = {**os.environ, "OPENAI_API_BASE": url, "OPENAI_BASE_URL": url, "OPENAI_API_KEY": "none"}
        done = subprocess.run(command, capture_output=True, text=True, cwd=name, env=there, check=False)
    line = next((line for line in done.stdout.splitlines() if line.startswith("RESULT ")), None)
    if line is None:
        print(f"    LatteReview ended without a result: {(done.stderr or done.stdout).strip().splitlines()[-1:]}", flush=True)
        return Side(float("nan"), len(records))
    told = json.loads(line.removeprefix("RESULT "))
    return Side(told["seconds"], len(records) - told["decided"])


def programs_for(review: Any, url: str, model: str, count: int, python: str | None) -> dict[str, Callable[[], Side]]:
    """What is run on one review, by name."""
    programs: dict[str, Callable[[], Side]] = {
        "asyncio + instructor, free JSON": lambda: asyncio.run(with_instructor(review, url, model, enforced=False)),
        "asyncio + instructor, schema enforced": lambda: asyncio.run(with_instructor(review, url, model, enforced=True)),
        "litcascade": lambda: with_litcascade(review, count),
    }
    if python:
        programs["LatteReview"] = lambda: with_lattereview(python, review, url, model)
    return programs


def main() -> None:
    """Measure and print."""
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    url, model = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    pairs = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    python = sys.argv[5] if len(sys.argv) > 5 else None
    sides: dict[str, list[Side]] = {}
    with tempfile.TemporaryDirectory() as name:
        ours(lay_out(Path(name) / "warm", url, model, 4, "warm"), 4)
        for number in range(pairs):
            review = lay_out(Path(name) / f"r{number}", url, model, count, f"{FRESH} pair {number}")
            programs = programs_for(review, url, model, count, python)
            for program, work in programs.items():
                sides.setdefault(program, []).append(counted(url, work))
                show(f"  pair {number + 1}, {program}", sides[program][-1:], count)
    for program, done in sides.items():
        show(program, done, count)


def show(program: str, done: Sequence[Side], count: int) -> None:
    """A line for the runs of one program."""
    seconds, undecided = sum(side.seconds for side in done), sum(side.undecided for side in done)
    records = count * len(done)
    requests, read, written = (sum(getattr(side, key) for side in done) for key in ("requests", "read", "written"))
    decided = records - undecided
    each = f"{(read + written) / decided:,.0f} tokens ({written / decided:.1f} written) a decision" if decided else "no decision"
    print(
        f"{program}: {records / seconds:.2f} records/s, {requests / seconds:.2f} requests/s, {requests / records:.2f} requests "
        f"and {(read + written) / records:,.0f} tokens a record; {each}; {undecided} of {records} records without one",
        flush=True,
    )


if __name__ == "__main__":
    main()
