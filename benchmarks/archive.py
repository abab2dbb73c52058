"""What an archive of a review weighs and takes: records with stored calls and gold, archived and replayed.

usage: archive.py [RECORDS]      (default 20000)

Prints the store's size, the archive's, the seconds of `archive` and `replay` and of the processor, and their peak memory.
Abstracts are drawn from a list of words, replies carry log-probabilities and a raw body of the length that vLLM sends.
"""

import asyncio
import json
import multiprocessing
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from litcascade.backends.scripted import ScriptedBackend
from litcascade.pipeline.archiving.replaying import replay_archive
from litcascade.pipeline.archiving.writing import archive_review
from litcascade.pipeline.review import open_review
from litcascade.pipeline.run import run_review
from litcascade.schemas import Reply, Request, TokenLogprobs
from litcascade.store import Store, now

PROTOCOL = """
[review]
title = "Archive"
question = "Does zinc help adults with a sore throat?"
[[criteria]]
id = "I1"
kind = "include"
text = "Adults took zinc."
[models.none]
backend = "http"
endpoints = ["http://127.0.0.1:9/v1"]
model = "none"
[readers.one]
model = "none"
[readers.two]
model = "none"
prompt = "inclusion"
[stages.title_abstract]
readers = ["one", "two"]
"""
SYLLABLES = (
    "zi",
    "nc",
    "lo",
    "zen",
    "ge",
    "adu",
    "lt",
    "thro",
    "at",
    "tri",
    "al",
    "pla",
    "ce",
    "bo",
    "da",
    "ys",
    "me",
    "an",
    "ri",
    "sk",
)
BODY = json.dumps({"id": "chatcmpl-" + "0" * 32, "object": "chat.completion", "model": "none", "padding": "x" * 900})


def answer(request: Request) -> Reply:
    """Yes or no, by the length of the question."""
    words = request.messages[-1].content
    yes = len(words) % 5 == 0
    score = -0.05 - (len(words) % 97) / 100
    top = (("yes", score), ("no", -2.0)) if yes else (("no", score), ("yes", -2.0))
    label = "yes" if yes else "no"
    return Reply(
        key=request.key, text=label, finish_reason="stop", prompt_tokens=400, completion_tokens=2, seconds=0.2,
        logprobs=(TokenLogprobs(token=label, top=top),), raw=BODY[:-2] + request.key + '"}',
    )  # fmt: skip


def fill(folder: Path, count: int) -> None:
    """A review with so many records, abstracts of about 1,500 characters, a tenth with gold, run to its end."""
    draw = random.Random(7)
    words = ["".join(draw.choices(SYLLABLES, k=draw.randint(1, 4))) for _ in range(20_000)]
    folder.mkdir()
    (folder / "review.toml").write_text(PROTOCOL, encoding="utf-8")
    review = open_review(folder)
    with review.open(create=True) as store:
        for start in range(0, count, 5000):
            rows = [
                {
                    "record_id": f"r{i}", "title": " ".join(draw.choices(words, k=12)), "abstract_status": "ok", "position": i,
                    "abstract": " ".join(draw.choices(words, k=240)), "import_id": "i", "year": 2020, "authors": ["Doe, A."],
                }
                for i in range(start, min(count, start + 5000))
            ]  # fmt: skip
            store.append("records", rows)
        gold = [
            {
                "record_id": f"r{i}",
                "stage": "title_abstract",
                "decision": "include" if i % 50 == 0 else "exclude",
                "at_time": now(),
            }
            for i in range(0, count, 10)
        ]
        store.append("gold", gold)
        asyncio.run(run_review(review, store, backends={"none": ScriptedBackend(answer)}, probed=False))


def write(folder: Path, path: Path) -> None:
    """Archive it."""
    review = open_review(folder)
    with review.open() as store:
        archive_review(review, store, path)


def again(_: Path, path: Path) -> None:
    """Replay it."""
    done = replay_archive(path)
    print(f"  {'the same' if done.same else 'NOT THE SAME'}: {done.tables[0].same} verdicts, {done.numbers_compared} numbers")


def _timed(step: Callable[[Path, Path], None], folder: Path, path: Path) -> None:
    start = time.perf_counter()
    step(folder, path)
    used = resource.getrusage(resource.RUSAGE_SELF)
    busy = used.ru_utime + used.ru_stime
    words = f"{time.perf_counter() - start:.1f} s, {busy:.1f} s of processor time, peak {used.ru_maxrss / 1024:.0f} MB"
    print(f"  {step.__name__}: {words}", flush=True)


def main() -> None:
    """Print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    spawn = multiprocessing.get_context("spawn")  # each step in a process of its own, so that its peak is its own
    with tempfile.TemporaryDirectory() as name:
        folder, path = Path(name) / "review", Path(name) / "a.zip"
        print(f"{count:,} records, two readers")
        fill(folder, count)
        Store(folder / "review.duckdb").close()
        for step in (write, again):
            process = spawn.Process(target=_timed, args=(step, folder, path))
            process.start()
            process.join()
        store = (folder / "review.duckdb").stat().st_size
        print(f"  store {store / 1e6:.0f} MB, archive {path.stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
