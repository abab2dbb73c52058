"""The run graph and the record graph: parallel writes, growth, gates, limits."""

import asyncio
import sqlite3
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph

from litcascade.backends.scripted import ScriptedBackend
from litcascade.pipeline import tracing
from litcascade.pipeline.binding import bind
from litcascade.pipeline.graph import ClashError, merge_by_id
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.subjects import load_subjects
from litcascade.schemas import ModelRef, Reply
from tests.support.reviews import ABSTRACTS, REPORTS, ReviewFolder

PANEL = "".join(f'[readers.reader{i}]\nmodel = "m"\nseed = {i}\n' for i in range(6)) + (
    "[stages.title_abstract]\nreaders = [" + ", ".join(f'"reader{i}"' for i in range(6)) + "]\nvotes = 3\n"
)


def test_case_t02_parallel_votes_are_merged_by_id_and_a_clash_is_an_error() -> None:
    def run(*writes: dict[str, str]) -> Any:
        votes = Annotated[dict[str, Any], merge_by_id]
        graph = StateGraph(TypedDict("S", {"votes": votes}))  # type: ignore[operator]
        for number, write in enumerate(writes):
            graph.add_node(str(number), lambda _, write=write: {"votes": write})
            graph.add_edge(START, str(number))
            graph.add_edge(str(number), END)
        return graph.compile().invoke({"votes": {}})["votes"]

    assert run({"a": "include"}, {"b": "exclude"}) == {"a": "include", "b": "exclude"}
    with pytest.raises(ClashError, match="'a'"):
        run({"a": "include"}, {"a": "exclude"})


def test_all_branches_of_a_panel_at_once_keep_every_vote(folder: ReviewFolder) -> None:
    folder.protocol(PANEL)
    folder.records(1)
    review = folder.review

    class Slow(ScriptedBackend):
        async def ask(self, requests: Any) -> Any:
            await asyncio.sleep(0.01 * (6 - (requests[0].sampling.seed or 0)))
            async for came in super().ask(requests):
                yield came

    backend = Slow(lambda r: Reply(key=r.key, text="yes" if (r.sampling.seed or 0) % 2 else "no"))
    with review.open() as store:
        bound = bind(review, {"m": ModelRef(name="m")}, store)[0]
        subject = load_subjects(store, "title_abstract", ["r1"])[0]
        trace = asyncio.run(tracing.trace_record(bound, subject, {"m": backend}, Recorder(store, "t")))
    assert {name: reading.outcome.decision for name, reading in trace.readings.items()} == {  # type: ignore[union-attr]
        f"reader{i}": "include" if i % 2 else "exclude" for i in range(6)
    }
    assert trace.verdict
    assert trace.verdict.state.value == "included"


def test_case_t04_the_checkpoint_file_does_not_grow_with_records_or_text(folder: ReviewFolder) -> None:
    def size_after(name: str, records: int, words: int) -> int:
        other = ReviewFolder(folder.path / name)
        other.protocol(ABSTRACTS, REPORTS)
        other.records([{"id": f"r{i}", "title": f"T{i}", "abstract": "zinc " * words} for i in range(records)])
        other.texts({f"r{i}": f"Report {i}. " + "zinc " * words for i in range(records)})
        backend = ScriptedBackend(lambda r: Reply(key=r.key, text="Decision: include" if r.sampling.max_tokens > 100 else "yes"))
        for _ in range(3):
            other.run({"m": backend})
        with sqlite3.connect(other.path / "run.checkpoints.sqlite") as plain:
            plain.execute("vacuum")
            threads = plain.execute("select count(distinct thread_id) from checkpoints").fetchone()[0]
        plain.close()
        assert threads == 1  # earlier threads are pruned
        return (other.path / "run.checkpoints.sqlite").stat().st_size

    small, large = size_after("small", 2, 10), size_after("large", 60, 4000)
    assert large <= small + 8192


def test_case_t04_the_step_limit_is_a_referral_and_keeps_finished_work(
    folder: ReviewFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracing, "STEP_LIMIT", 2)
    folder.protocol(PANEL)
    folder.records(1)
    review = folder.review
    backend = ScriptedBackend(lambda r: Reply(key=r.key, text="yes"))
    with review.open() as store:
        bound = bind(review, {"m": ModelRef(name="m")}, store)[0]
        subject = load_subjects(store, "title_abstract", ["r1"])[0]
        trace = asyncio.run(tracing.trace_record(bound, subject, {"m": backend}, Recorder(store, "t")))
        assert store.value("select count(*) from calls") == 6
    assert trace.verdict
    assert (trace.verdict.state.value, str(trace.verdict.code)) == ("referred", "step limit reached")


GATED = ABSTRACTS + 'gate = "people"\n'


def test_a_gate_waits_for_people_and_then_the_run_goes_on(folder: ReviewFolder) -> None:
    folder.protocol(GATED, REPORTS)
    folder.records(4)
    folder.texts({f"r{i}": f"Report {i} about zinc." for i in range(1, 5)})
    backend = ScriptedBackend(
        lambda r: Reply(
            key=r.key, text="banana" if "trial 2." in r.messages[-1].content or r.purpose == "repair" else "Decision: yes"
        )
    )
    for _ in range(2):  # a second run finds nothing to ask and waits still
        outcome = folder.run({"m": backend})
        assert (outcome.status, outcome.exit_code) == ("waiting for people", 4)
        assert "1 record(s) of title_abstract" in outcome.words
        assert not folder.rows("select * from verdicts where stage = 'full_text'")
    decide(folder, [{"record_id": "r2", "stage": "title_abstract", "decision": "include"}])
    outcome = folder.run({"m": backend})
    assert outcome.status == "complete"
    assert set(folder.states("full_text").values()) == {"included"}


def test_records_imported_while_a_gate_waits_are_screened(folder: ReviewFolder) -> None:
    folder.protocol(GATED, REPORTS)
    folder.records([{"id": "a", "title": "Zinc", "abstract": ""}])
    backend = ScriptedBackend(lambda r: Reply(key=r.key, text="yes"))
    assert folder.run({"m": backend}).status == "waiting for people"
    folder.records([{"id": "b", "title": "Zinc two", "abstract": "Adults took zinc."}])
    assert folder.run({"m": backend}).status == "waiting for people"
    assert folder.states("title_abstract") == {"a": "referred", "b": "included"}


def decide(folder: ReviewFolder, rows: list[dict[str, str | None]], by: str | None = "Anna") -> None:
    from litcascade.pipeline.importing import import_decisions

    review = folder.review
    path: Path = folder.table("decisions.csv", rows)
    with review.open() as store:
        import_decisions(review, store, path, by)
