"""What the framework costs beside the model: a screening stage on a backend that answers at once, verdicts stored.

usage: overhead.py [RECORDS]      (default 20000)

Prints records per second and peak memory for a tenth of the records and for all of them, so that a growth shows; and
the same store filled by bare column batches, as a ratio measured in the same run.
"""

import asyncio
import gc
import resource
import sys
import tempfile
import time
from pathlib import Path

from litcascade.backends.scripted import ScriptedBackend
from litcascade.pipeline.review import open_review
from litcascade.pipeline.run import run_review
from litcascade.schemas import Reply, Request
from litcascade.store import Store

PROTOCOL = """
[review]
title = "Overhead"
question = "What does the framework cost?"
[[criteria]]
id = "I1"
kind = "include"
text = "Is about zinc."
[models.none]
backend = "http"
endpoints = ["http://127.0.0.1:9/v1"]
model = "none"
[readers.one]
model = "none"
[stages.title_abstract]
readers = ["one"]
"""
WORDS = "zinc lozenges were given to adults with a sore throat and the days until they were well again were counted "


def answer(request: Request) -> Reply:
    """Yes, at once."""
    return Reply(key=request.key, text="yes", finish_reason="stop", prompt_tokens=400, completion_tokens=2, raw="{}")


def fill(folder: Path, count: int) -> None:
    """A review with so many records, each with an abstract of about 1,500 characters."""
    folder.mkdir()
    (folder / "review.toml").write_text(PROTOCOL, encoding="utf-8")
    with open_review(folder).open(create=True) as store:
        for start in range(0, count, 5000):
            ids = range(start, min(count, start + 5000))
            rows = [
                {
                    "record_id": f"r{i}",
                    "title": f"Zinc trial {i}",
                    "abstract": f"{i} {WORDS * 14}",
                    "abstract_status": "ok",
                    "authors": [],
                }
                for i in ids
            ]
            store.append("records", rows)


def measure(folder: Path, count: int) -> float:
    """Records per second through the stage."""
    fill(folder, count)
    review = open_review(folder)
    with review.open() as store:
        started = time.perf_counter()
        outcome = asyncio.run(run_review(review, store, backends={"none": ScriptedBackend(answer)}, probed=False))
        seconds = time.perf_counter() - started
        stored = store.value("select count(*) from title_abstract where state = 'included'")
    if outcome.status != "complete" or stored != count:
        raise SystemExit(f"the run ended {outcome.status} with {stored} verdicts")
    return count / seconds


def bare(folder: Path, count: int) -> float:
    """Rows per second of the same text appended in batches of 512 with nothing around it."""
    store = Store(folder / "bare.duckdb", create=True)
    started = time.perf_counter()
    for start in range(0, count, 512):
        rows = [
            {"key": f"{i}", "request": f'{{"text": "{i} {WORDS * 16}"}}', "text": "yes"}
            for i in range(start, min(count, start + 512))
        ]
        store.append("calls", rows)
    seconds = time.perf_counter() - started
    store.close()
    return count / seconds


def main() -> None:
    """Measure and print."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    with tempfile.TemporaryDirectory() as name:
        measure(Path(name) / "warm-up", 200)  # the libraries are loaded once, not for every record
        for part in (count // 10, count):
            rate = measure(Path(name) / f"review{part}", part)
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            print(f"{part:>7,} records: {rate:>7,.0f} records/s with calls and verdicts stored, peak memory {peak:,.0f} MiB")
            gc.collect()
        alone = bare(Path(name), count)
        print(f"bare appends of the same text: {alone:,.0f} rows/s; the stage runs at {rate / alone:.2f} of that")


if __name__ == "__main__":
    main()
