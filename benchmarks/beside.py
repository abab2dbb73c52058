"""Screening with litcascade beside what one would write oneself, on the same records and the same server.

usage: beside.py URL MODEL [RECORDS] [PAIRS] [PYTHON]      (default 40 records, 3 pairs)

The other program is asyncio with instructor: 64 requests at once, a pydantic model of a reasoning and a decision, JSON asked
for in the prompt, three tries. PYTHON is the interpreter of an environment with LatteReview, which is then run too. All read the
same criteria and records. Prints records a second, tokens for a decision, and how many records got none. litcascade stores every
reply and verdict; the others keep theirs in memory.
"""

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel
from throughput import IN_FLIGHT, lay_out, ours

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
    """What one program did: records a second, tokens for a decision (None: not told), records without one."""

    rate: float
    tokens: float | None
    undecided: int


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
    rate, _ = ours(review, count)
    with review.open() as store:
        tokens = store.value("select sum(prompt_tokens + completion_tokens) from calls")
        undecided = store.value("select count(*) from title_abstract where state not in ('included', 'excluded')")
        answers = store.value("select sum(completion_tokens) from calls")
    print(f"    litcascade: {answers / count:.1f} answer tokens a record", flush=True)
    return Side(rate, tokens / count, undecided)


async def with_instructor(review: Any, url: str, model: str) -> Side:
    """The loop that one would write."""
    import instructor
    from openai import AsyncOpenAI

    client = instructor.from_openai(AsyncOpenAI(base_url=url, api_key="none"), mode=instructor.Mode.JSON)
    slots, tokens, undecided, answers = asyncio.Semaphore(IN_FLIGHT), 0, 0, 0
    system = (
        f"You screen records for a systematic review.\nQuestion: {review.protocol.review.question}\n"
        f"Include:\n{criteria_of(review, 'include')}\nExclude:\n{criteria_of(review, 'exclude')}\n"
        "Think step by step, then decide. Answer as JSON."
    )

    async def one(record: dict[str, str]) -> None:
        nonlocal tokens, undecided, answers
        said: list[Any] = [
            {"role": "system", "content": system},
            {"role": "user", "content": f"Title: {record['title']}\nAbstract: {record['abstract']}"},
        ]
        async with slots:
            try:
                _, reply = await client.chat.completions.create_with_completion(
                    model=model, messages=said, response_model=Decision, max_retries=3, max_tokens=200, temperature=0.0
                )
                tokens += reply.usage.total_tokens
                answers += reply.usage.completion_tokens
            except Exception:  # noqa: BLE001  (whatever it raises, the record has no decision)
                undecided += 1

    records = records_of(review)
    started = time.perf_counter()
    await asyncio.gather(*(one(record) for record in records))
    seconds = time.perf_counter() - started
    decided = len(records) - undecided
    if decided:
        print(f"    instructor: {answers / decided:.1f} answer tokens a decided record (its last try)", flush=True)
    return Side(len(records) / seconds, tokens / decided if decided else None, undecided)


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
        return Side(0.0, None, len(records))
    told = json.loads(line.removeprefix("RESULT "))
    return Side(len(records) / told["seconds"], None, len(records) - told["decided"])


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
            review = lay_out(Path(name) / f"r{number}", url, model, count, f"pair {number}")
            sides.setdefault("asyncio + instructor", []).append(asyncio.run(with_instructor(review, url, model)))
            if python:
                sides.setdefault("LatteReview", []).append(with_lattereview(python, review, url, model))
            sides.setdefault("litcascade", []).append(with_litcascade(review, count))
    for program, done in sides.items():
        told = [side.tokens for side in done if side.tokens is not None]
        tokens = f"{statistics.median(told):,.0f} tokens a decision" if told else "tokens not told"
        undecided = sum(side.undecided for side in done)
        print(
            f"{program}: {statistics.median(side.rate for side in done):.2f} records/s, {tokens}, "
            f"{undecided} of {count * pairs} records without a decision"
        )


if __name__ == "__main__":
    main()
