"""The same step gives the same verdicts on every executor; skipped items; repeated questions; budgets; panels."""

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litcascade.backends.scripted import ScriptedBackend
from litcascade.errors import BackendError
from litcascade.pipeline.binding import bind
from litcascade.pipeline.executor import Executor, Spent, Stop
from litcascade.pipeline.lives import Life
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.subjects import load_subjects
from litcascade.pipeline.tracing import trace_record
from litcascade.schemas import ModelRef, Reply, Request, Verdict
from litcascade.schemas.protocol import Budget
from tests.support.reviews import ABSTRACTS, REPORTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say, well_behaved

SAID = [
    "yes",
    "no",
    "maybe",
    "banana",
    "",
    "Decision: include",
    "I would keep it.",
    '{"decision": "exclude"}',
    "<think>no</think>yes",
    None,
]
PANEL = """
[readers.one]
model = "m"
[readers.two]
model = "m"
seed = 7
[stages.title_abstract]
readers = ["one", "two"]
votes = 2
"""


def plain(verdict: Verdict | None) -> Any:
    return verdict.model_dump(mode="json") if verdict else None


def by_hand(stage: Any, subject: Any, answer: Any) -> Any:
    life = Life(stage, subject)
    while not life.verdict:
        for reader, request in life.advance():
            life.take(reader, request, answer(request))
    return plain(life.verdict)


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 10**6), protocol=st.sampled_from([ABSTRACTS, PANEL, REPORTS]), chunk=st.integers(1, 5))
def test_the_same_verdicts_on_every_executor(
    tmp_path_factory: pytest.TempPathFactory, seed: int, protocol: str, chunk: int
) -> None:
    folder = ReviewFolder(tmp_path_factory.mktemp("review"))
    folder.protocol(protocol)
    folder.records(6)
    folder.texts({f"r{i}": f"Report of trial {i}. It was about zinc." for i in range(1, 6)})
    review = folder.review

    def answer(request: Request) -> Reply:
        text = SAID[(int(request.key[:8], 16) + seed) % len(SAID)]
        return Reply(key=request.key, text=text, finish_reason="stop", raw=json.dumps(text))

    backends = {"m": ScriptedBackend(answer)}
    with review.open() as store:
        bound = bind(review, {"m": ModelRef(name="m", engine="scripted 1")}, store)[0]
        ids = [row[0] for row in store.rows("select record_id from records order by 1")]
        subjects = load_subjects(store, bound.stage.name, ids)
        alone = {subject.record.record_id: by_hand(bound.stage, subject, answer) for subject in subjects}
        traced = {}
        rounds: dict[str, Any] = {}

        class Keeper(Recorder):
            def verdict(self, verdict: Verdict, fingerprint: str) -> None:
                rounds[verdict.record_id] = plain(verdict)
                super().verdict(verdict, fingerprint)

        async def everything() -> None:
            for subject in subjects[:3]:  # leaves replies in the store for the others to find
                trace = await trace_record(bound, subject, backends, Recorder(store, "t"), keep=False)
                traced[subject.record.record_id] = plain(trace.verdict)
            executor = Executor(
                bound.stage, bound.fingerprint, backends, Keeper(store, "e"), spent=Spent(), stop=Stop(), budget=Budget()
            )
            await executor.run([subjects[i : i + chunk] for i in range(0, len(subjects), chunk)])

        asyncio.run(everything())
        assert rounds == alone
        assert traced == {name: alone[name] for name in traced}
        asked = backends["m"].asked
        assert len(asked) == len(set(asked)) == store.value("select count(*) from calls")


def test_a_round_that_skips_an_item_leaves_it_pending(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(10)
    skipping = ScriptedBackend(lambda r: None if "trial 4." in r.messages[-1].content else Reply(key=r.key, text="no"))
    outcome = folder.run({"m": skipping})
    assert outcome.status == "incomplete"
    states = folder.states("title_abstract")
    assert [name for name, state in states.items() if state == "pending"] == ["r4"]
    assert folder.rows("select error from failures") == [("the engine skipped this request",)]


def test_the_same_question_is_asked_once(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records([{"id": f"r{i}", "title": "The same", "abstract": "The same words."} for i in range(700)])
    backend = ScriptedBackend(lambda r: Reply(key=r.key, text="yes"))
    assert folder.run({"m": backend}).status == "complete"
    assert len(backend.asked) == 1
    assert set(folder.states("title_abstract").values()) == {"included"}


def test_a_shared_question_may_be_settled_while_another_chunk_looks_into_the_store(
    folder: ReviewFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = Recorder.known

    async def slow_where_all_is_shared(self: Recorder, keys: list[str]) -> Any:
        if not keys:
            await asyncio.sleep(0.3)
        return await known(self, keys)

    monkeypatch.setattr(Recorder, "known", slow_where_all_is_shared)
    folder.protocol(ABSTRACTS)
    folder.records([{"id": f"r{i}", "title": "The same", "abstract": "The same words."} for i in range(1100)])
    backend = ScriptedBackend(lambda r: Reply(key=r.key, text="yes"))
    assert folder.run({"m": backend}).status == "complete"
    assert len(backend.asked) == 1
    assert set(folder.states("title_abstract").values()) == {"included"}


def test_a_reply_under_a_foreign_key_is_not_taken(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(3)

    class Shuffled(ScriptedBackend):
        async def ask(self, requests: Any) -> Any:
            for request in requests:
                yield "f" * 32, Reply(key="f" * 32, text="no")
                yield request.key, Reply(key=request.key, text="yes")
                yield request.key, Reply(key=request.key, text="no")

    assert folder.run({"m": Shuffled(lambda _: None)}).status == "complete"
    assert set(folder.states("title_abstract").values()) == {"included"}


def test_a_fault_of_our_own_refers_that_record_alone(folder: ReviewFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    from litcascade.stages.screening import TitleAbstractScreening

    good = TitleAbstractScreening.read

    def bad(self: Any, subject: Any, reader: Any, turns: Any) -> Any:
        if subject.record.record_id == "r2":
            raise RecursionError("too deep")
        return good(self, subject, reader, turns)

    monkeypatch.setattr(TitleAbstractScreening, "read", bad)
    folder.protocol(ABSTRACTS)
    folder.records(3)
    folder.run({"m": ScriptedBackend(lambda r: Reply(key=r.key, text="no"))})
    assert folder.states("title_abstract") == {"r1": "excluded", "r2": "referred", "r3": "excluded"}
    assert folder.rows("select code, reason from title_abstract where record_id = 'r2'")[0][1] == "RecursionError: too deep"


def test_a_budget_stops_a_run_cleanly_and_the_next_goes_on(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS, "[budget]\ncalls = 7\n")
    folder.records(20)
    backend = ScriptedBackend(lambda r: Reply(key=r.key, text="yes"))
    outcome = folder.run({"m": backend})
    assert (outcome.status, outcome.exit_code) == ("budget", 5)
    assert folder.rows("select count(*) from calls") == [(7,)]
    assert len(backend.asked) == 7  # nothing is asked that the budget would throw away
    assert sum(state == "included" for state in folder.states("title_abstract").values()) == 7
    while folder.run({"m": backend}).status == "budget":
        pass
    assert len(backend.asked) == len(set(backend.asked)) == 20


def test_a_fatal_error_stops_the_run_with_its_words(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(500)
    backend = ScriptedBackend(lambda _: BackendError("the key is wrong", fatal=True))
    outcome = folder.run({"m": backend})
    assert (outcome.status, outcome.words) == ("backend", "the key is wrong")
    assert set(folder.states("title_abstract").values()) == {"pending"}


def test_reports_keep_the_engine_as_full_as_the_protocol_allows(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(REPORTS, url=server.url)
    path = folder.path / "review.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("concurrency = 16", "concurrency = 64"), encoding="utf-8")
    folder.records(150)
    folder.texts({f"r{i}": f"Forty adults took zinc in trial {i}." for i in range(1, 151)})

    def slowly(body: Body) -> Say:
        return replace(well_behaved(body), delay=0.4)

    server.answer = slowly
    assert folder.run().status == "complete"
    assert server.most_at_once > 40  # two chunks of 16 reports would be 32
