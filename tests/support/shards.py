"""Reviews worked by shards, and what must be equal however they are worked."""

import asyncio
import hashlib
import json
from pathlib import Path
from typing import Any

from litcascade.pipeline.binding import identify, make_backends
from litcascade.pipeline.shards.cutting import Cut, cut_job
from litcascade.pipeline.shards.job import JobFolder
from litcascade.pipeline.shards.merging import Merged, merge_job
from litcascade.pipeline.shards.worker import Worked, work_shard
from litcascade.schemas import ModelRef
from tests.support.reviews import ReviewFolder
from tests.support.server import Body, Say, asked_labels, is_canary


def decide(body: Body, delay: float = 0.0) -> Say:
    """A deterministic model: its answer is a function of the question; some answers cannot be read at first."""
    text = json.dumps(body["messages"])
    mark = int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)
    labels = asked_labels(body)
    if is_canary(body):
        return Say(labels[0], prompt_tokens=2000, top={labels[0]: -0.1, labels[1]: -2.0})
    if "unclear" in labels:
        return Say(labels[mark % 3], delay=delay)
    if labels:
        said = ["yes", "no", "banana"][mark % 3]
        return Say(said, delay=delay, top={"yes": -0.1 - mark / 65536, "no": -2.0})
    return Say(["Decision: include", "Decision: exclude", "Hard to say."][mark % 3], delay=delay)


def slowly(body: Body) -> Say:
    """The same answers, with time to be killed in between."""
    return decide(body, 0.02)


def models(folder: ReviewFolder) -> dict[str, ModelRef]:
    """The protocol's models as their servers tell."""

    async def ask() -> dict[str, ModelRef]:
        backends = make_backends(folder.review)
        try:
            return await identify(folder.review.protocol, backends)
        finally:
            for backend in backends.values():
                await backend.close()

    return asyncio.run(ask())


def cut(folder: ReviewFolder, **options: Any) -> JobFolder:
    """Cut a job of what is pending."""
    with folder.review.open() as store:
        return cut_job(folder.review, store, models(folder), Cut(**options))


def work(job: JobFolder, shard: int, **options: Any) -> Worked:
    """Work a shard in this process."""
    return asyncio.run(work_shard(job, shard, probed=False, **options))


def merge(folder: ReviewFolder, job: JobFolder, **options: Any) -> Merged:
    """Merge a job."""
    with folder.review.open() as store:
        return merge_job(folder.review, store, job, **options)


def run_by_shards(folder: ReviewFolder, shards: int) -> None:
    """Take a review through its stages, each cut, worked and merged."""
    while any(state == "pending" for stage in stages(folder) for state in folder.states(stage).values()):
        job = cut(folder, shards=shards)
        for number in range(len(job.read().shards)):
            assert work(job, number).status == "complete"
        assert merge(folder, job).refused == []


def stages(folder: ReviewFolder) -> list[str]:
    return [name for name, _ in folder.review.protocol.stages.items()]


def told(folder: ReviewFolder) -> dict[str, list[tuple[Any, ...]]]:
    """All that must be equal: verdicts, readings, answers by criterion, values, and which questions were put."""
    return {
        "verdicts": folder.rows(
            "select stage, fingerprint, record_id, document_id, state, score, code, reason, policy, criterion, seen "
            "from verdicts order by all"
        ),
        "readings": folder.rows(
            "select stage, fingerprint, record_id, reader, decision, score, code, detail, reason, orderly, calls, seen "
            "from readings order by all"
        ),
        "criteria": folder.rows("select * exclude (seq, run_id) from criterion_answers order by all"),
        "values": folder.rows("select * exclude (seq, run_id) from extractions order by all"),
        "calls": folder.rows("select key, stage, reader, purpose, model, engine, text, logprobs from calls order by key"),
    }


def parts(job: JobFolder, shard: int) -> list[Path]:
    return sorted(job.out(shard).glob("part-*.parquet"))
