"""Shards: the same verdicts however work is cut, killed, damaged or merged; nothing is lost and nothing is stored twice."""

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from litcascade.errors import InputError, StoreError
from litcascade.pipeline.importing import import_decisions
from litcascade.pipeline.shards.job import JobFolder
from litcascade.pipeline.shards.looking import job_states
from litcascade.pipeline.subjects import pending
from tests.support.reviews import ABSTRACTS, FIELDS, REPORTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say, well_behaved
from tests.support.shards import cut, decide, merge, models, parts, run_by_shards, slowly, told, work

CASCADE = (ABSTRACTS, REPORTS)


def make(path: Path, url: str, records: int = 40, *protocol: str) -> ReviewFolder:
    folder = ReviewFolder(path)
    folder.protocol(*(protocol or CASCADE), url=url)
    folder.records(records)
    if len(protocol) != 1:
        folder.texts({f"r{i}": f"Methods\n\nTrial {i} gave zinc to adults." for i in range(1, records + 1, 2)})
    return folder


@pytest.mark.parametrize("shards", [1, 2, 4])
def test_as_many_shards_as_you_like_give_the_verdicts_of_one_process(tmp_path: Path, server: ModelServer, shards: int) -> None:
    server.answer = decide
    alone = make(tmp_path / "alone", server.url)
    assert alone.run().status == "complete"
    asked = len(server.asked)
    cut_up = make(tmp_path / "cut", server.url)
    run_by_shards(cut_up, shards)
    assert told(cut_up) == told(alone)
    assert len(server.asked) == 2 * asked
    assert cut_up.rows("select stage, state, records from ledger order by all") == alone.rows(
        "select stage, state, records from ledger order by all"
    )
    assert cut_up.run().status == "complete"
    assert len(server.asked) == 2 * asked  # a run after it has nothing left to ask


def test_extraction_by_shards(tmp_path: Path, server: ModelServer) -> None:
    def answer(body: Body) -> Say:
        return decide(body) if "response_format" not in body else well_behaved(body)

    server.answer = answer
    folders = [make(tmp_path / name, server.url, 12, ABSTRACTS, FIELDS) for name in ("alone", "cut")]
    folders[0].run()
    run_by_shards(folders[1], 3)
    assert told(folders[1]) == told(folders[0])
    assert told(folders[0])["values"]


def test_a_second_merge_adds_nothing_and_a_half_done_job_can_be_merged(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(30)
    job = cut(folder, shards=3)
    work(job, 1)
    first = merge(folder, job)
    assert first.shards == {"complete": 1, "incomplete": 0, "not begun": 2, "refused": 0}
    assert (first.added["verdicts"], first.pending) == (10, 20)
    before = told(folder)
    again = merge(folder, job)
    assert (sum(again.added.values()), dict(again.left_out), again.pending) == (0, {}, 20)
    assert told(folder) == before
    assert job.read().merged is None
    work(job, 0)
    work(job, 2)
    last = merge(folder, job)
    assert (last.added["verdicts"], last.pending) == (20, 0)
    assert sum(merge(folder, job).added.values()) == 0
    assert job.read().merged is not None
    ends = folder.rows("select status from run_ends where run_id = ? order by seq", [job.read().run_id])
    assert ends == [("incomplete",), ("complete",)]
    assert folder.rows("select count(*) - count(distinct key) from calls") == [(0,)]


def start(job: JobFolder, shard: int) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "litcascade", "work", str(job.path), str(shard), "--no-check"]
    with (job.logs / f"{shard}.txt").open("ab") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def wait_for(condition: Any, seconds: float = 180) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_kill_nine_of_workers_at_random_moments_changes_nothing(tmp_path: Path, server: ModelServer) -> None:
    server.answer = slowly
    calm = make(tmp_path / "calm", server.url, 600, ABSTRACTS)
    calm.run()
    wild = make(tmp_path / "wild", server.url, 600, ABSTRACTS)
    job = cut(wild, shards=2)
    draw = random.Random(20261130)
    killed = 0
    for round_ in range(8):
        before = len(server.asked)
        process = start(job, round_ % 2)
        wait_for(lambda process=process, before=before: process.poll() is not None or len(server.asked) > before)
        time.sleep(draw.uniform(0.0, 0.5))
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait(30)
        if round_ % 2:
            assert merge(wild, job).refused == []  # every state on the way is whole
            assert wild.rows("select count(*) from title_abstract") == [(600,)]
            orphans = "select count(*) from readings, unnest(calls) as c(key) where c.key not in (select key from calls)"
            assert wild.rows(orphans) == [(0,)]
    assert killed >= 4
    for shard in (0, 1):
        assert start(job, shard).wait(120) == 0, (job.logs / f"{shard}.txt").read_text(encoding="utf-8")
    merge(wild, job)
    assert told(wild) == told(calm)
    assert sum(merge(wild, job).added.values()) == 0


def test_a_killed_worker_loses_a_few_seconds_at_most(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(ABSTRACTS, url=server.url)
    protocol = folder.path / "review.toml"
    protocol.write_text(protocol.read_text(encoding="utf-8").replace("timeout = 5", "timeout = 60"), encoding="utf-8")
    folder.records(50)
    job = cut(folder, shards=1)
    stuck = threading.Event()

    def answer(body: Body) -> Say:
        if len(server.asked) > 20:
            stuck.set()
            return Say("yes", delay=12)  # from here on the engine hangs
        return decide(body)

    server.answer = answer
    process = start(job, 0)
    assert stuck.wait(180)
    wait_for(lambda: parts(job, 0))
    process.kill()
    process.wait(30)
    state = job_states(folder.path)[0]
    assert (state.shards[0].state, state.shards[0].records) == ("working", 50)
    server.answer = decide
    done = len(server.asked)
    merged = merge(folder, job)
    assert merged.shards["incomplete"] == 1
    assert 0 < merged.added["calls"] <= 20
    assert work(job, 0).status == "complete"
    kept = merged.added["calls"]
    assert len(server.asked) - done == folder_calls_after(folder, job) - kept
    wait_for(lambda: server._now == 0)  # the hanging answers are over


def folder_calls_after(folder: ReviewFolder, job: JobFolder) -> int:
    merge(folder, job)
    return int(folder.rows("select count(*) from calls")[0][0])


def test_sigterm_ends_a_worker_with_what_it_has_and_asks_to_be_worked_again(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = slowly
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(400)
    job = cut(folder, shards=1)
    process = start(job, 0)
    wait_for(lambda: len(server.asked) > 60)
    process.send_signal(signal.SIGTERM)
    process.send_signal(signal.SIGTERM)  # Slurm and its script may both send one
    assert process.wait(60) == 3
    receipt = job.read_receipt(0)
    assert receipt is not None
    assert receipt.status == "incomplete"
    assert "stopped by a signal" in receipt.detail
    assert receipt.calls == len(server.asked)  # all that was on its way is kept
    assert start(job, 0).wait(120) == 0
    merge(folder, job)
    assert folder.rows("select count(*) from calls") == [(len(server.asked),)]
    assert len(parts(job, 0)) == 1  # parts are joined when a worker ends


def test_what_the_store_knows_is_not_asked_again_by_shards(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, "[budget]\ncalls = 15\n", url=server.url)
    folder.records(30)
    assert folder.run().status == "budget"
    with folder.review.open() as store:
        left = len(pending(store, "title_abstract"))
    known = folder.rows("select count(*) from calls where record_id not in (select record_id from verdicts)")[0][0]
    assert known > 0
    folder.protocol(ABSTRACTS, url=server.url)
    job = cut(folder, shards=2)
    assert job.read().records == left
    receipts = [work(job, number).receipt for number in (0, 1)]
    assert sum(receipt.from_store for receipt in receipts if receipt) == known
    merge(folder, job)
    assert len(server.asked) == folder.rows("select count(*) from calls")[0][0]
    assert set(folder.states("title_abstract").values()) <= {"included", "excluded", "referred"}


def test_records_that_read_alike_stand_in_one_shard(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = lambda _: Say("yes")
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records([{"id": f"r{i}", "title": f"Zinc {i % 5}", "abstract": "The same words."} for i in range(60)])
    job = cut(folder, shards=4)
    for number in range(len(job.read().shards)):
        work(job, number)
    merge(folder, job)
    assert len(server.asked) == 5
    assert set(folder.states("title_abstract").values()) == {"included"}


def test_a_torn_part_is_set_aside_by_name_and_its_records_are_asked_again(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = slowly
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(60)
    job = cut(folder, shards=2)
    work(job, 0)
    work(job, 1)
    (torn,) = parts(job, 1)
    torn.write_bytes(torn.read_bytes()[:-40])
    refused = merge(folder, job)
    assert [name for name, _ in refused.refused] == [f"out/0001/{torn.name}"]
    assert "cut short" in refused.refused[0][1]
    assert (refused.added["verdicts"], refused.pending) == (30, 30)
    (job.out(1) / ".part-x.parquet.1.tmp").write_bytes(b"half a par")
    again = work(job, 1)
    assert again.status == "complete"
    assert again.receipt is not None
    assert again.receipt.set_aside == (f"{torn.name}.unreadable",)
    assert not list(job.out(1).glob(".*.tmp"))
    assert (job.out(1) / f"{torn.name}.unreadable").is_file()  # nothing is deleted
    done = merge(folder, job)
    assert (done.added["verdicts"], done.pending, done.refused) == (30, 0, [])


def test_a_verdict_whose_replies_are_lost_is_not_merged(
    folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = decide
    monkeypatch.setattr("litcascade.pipeline.shards.sink.ROWS", 1)
    monkeypatch.setattr("litcascade.pipeline.shards.sink.join_parts", lambda *_: None)
    monkeypatch.setattr("litcascade.pipeline.recorder.BATCH", 1)
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(30)
    job = cut(folder, shards=1)
    work(job, 0)
    assert len(parts(job, 0)) > 3
    parts(job, 0)[0].unlink()
    merged = merge(folder, job)
    assert len(merged.refused) == 1
    assert "not there" in merged.refused[0][1]
    assert merged.pending > 0
    assert merged.added["verdicts"] + merged.pending == 30
    assert folder.rows("select count(*) from readings, unnest(calls) as c(key) where c.key not in (select key from calls)") == [
        (0,)
    ]
    work(job, 0)
    assert merge(folder, job).pending == 0


def test_bad_files_and_foreign_ones_are_one_sentence_each(tmp_path: Path, server: ModelServer) -> None:
    server.answer = decide
    folder = make(tmp_path / "r", server.url, 20, ABSTRACTS)
    job = cut(folder, shards=2, name="first")
    shard = job.shard(0)
    whole = shard.read_bytes()
    shard.write_bytes(whole[:100])
    with pytest.raises(InputError, match=r"0000\.parquet: is missing, cut short or changed"):
        work(job, 0)
    shard.write_bytes(whole)
    with pytest.raises(InputError, match="has shards 0 to 1, not 2"):
        work(job, 2)
    work(job, 0)
    work(job, 1)
    receipt = job.receipt(0)
    good = receipt.read_text(encoding="utf-8")
    for changed, words in (
        ({"protocol_hash": "0" * 32}, "another protocol"),
        ({"run_id": "job-other"}, "another job"),
        ({"litcascade": "0.0.1"}, r"worked by litcascade 0\.0\.1"),
    ):
        receipt.write_text(json.dumps({**json.loads(good), **changed}), encoding="utf-8")
        merged = merge(folder, job)
        assert merged.shards["refused"] == 1
        (fault,) = merged.refused
        assert fault[0] == "receipts/0000.json"
        assert re.search(words, fault[1])
        assert merged.pending == 10  # the other shard is merged
    receipt.write_text("{", encoding="utf-8")
    assert "not whole JSON" in merge(folder, job).refused[0][1]
    receipt.write_text(good, encoding="utf-8")
    assert merge(folder, job).pending == 0


def test_a_part_of_another_job_is_refused(tmp_path: Path, server: ModelServer) -> None:
    server.answer = decide
    mine = make(tmp_path / "mine", server.url, 10, ABSTRACTS)
    other = make(tmp_path / "other", server.url, 10, ABSTRACTS)
    job, foreign = cut(mine, shards=1), cut(other, shards=1)
    work(foreign, 0)
    job.out(0).mkdir(parents=True)
    shutil.copy(parts(foreign, 0)[0], job.out(0))
    merged = merge(mine, job)
    assert merged.refused[0][1] == "belongs to another job or shard"
    assert merged.pending == 10
    with pytest.raises(InputError, match="was cut from another review"):
        merge(mine, foreign)


def test_another_version_is_refused_unless_told(
    folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(6)
    job = cut(folder, shards=1)
    for module in ("worker", "merging"):
        monkeypatch.setattr(f"litcascade.pipeline.shards.{module}.__version__", "9.9")
    with pytest.raises(InputError, match=r"was cut by litcascade .*, this is 9\.9"):
        work(job, 0)
    with pytest.raises(InputError, match=r"was cut by litcascade .*, this is 9\.9"):
        merge(folder, job)
    assert work(job, 0, any_version=True).status == "complete"
    assert merge(folder, job, any_version=True).pending == 0


def test_another_protocol_or_engine_is_refused_and_nothing_is_added(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(6)
    job = cut(folder, shards=1)
    work(job, 0)
    folder.protocol(ABSTRACTS.replace('"inclusion"', '"basic"'), url=server.url)
    with pytest.raises(InputError, match="was cut under another protocol"):
        merge(folder, job)
    folder.protocol(ABSTRACTS, "[budget]\ncalls = 1000\n", url=server.url)  # what no verdict rests on may change
    assert merge(folder, job).pending == 0


def test_a_job_whose_protocol_was_edited_is_refused(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(6)
    job = cut(folder, shards=1)
    text = job.protocol / "review.toml"
    good = text.read_text(encoding="utf-8")
    text.write_text(good.replace("sore throat", "cold"), encoding="utf-8")
    with pytest.raises(InputError, match="is not the protocol that the job was cut with"):
        work(job, 0)
    assert server.asked == []
    text.write_text(good, encoding="utf-8")
    assert work(job, 0).status == "complete"


def test_an_engine_of_another_version_on_a_node_is_told(folder: ReviewFolder, server: ModelServer) -> None:
    from litcascade.pipeline.shards.cutting import Cut, cut_job

    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(6)
    named = {"m": models(folder)["m"].model_copy(update={"engine": "vllm 0.31.0"})}
    with folder.review.open() as store:
        job = cut_job(folder.review, store, named, Cut())
    with pytest.raises(InputError, match=r"model 'm' is m on vllm 0\.32\.0 here, but the job was cut for m on vllm 0\.31\.0"):
        work(job, 0)
    receipt = job.read_receipt(0)
    assert receipt is not None
    assert receipt.status == "incomplete"
    assert "vllm 0.31.0" in receipt.detail
    assert server.asked == []


def test_two_workers_on_one_shard_and_two_drivers_on_one_review(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = slowly
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(200)
    job = cut(folder, shards=1)
    process = start(job, 0)
    wait_for(lambda: len(server.asked) > 5)
    held = work(job, 0)
    assert (held.status, held.exit_code) == ("incomplete", 3)
    assert "another worker holds shard 0" in held.words
    assert process.wait(60) == 0
    code = f"import time; from litcascade.store import Store; held = Store(__import__('pathlib').Path({str(folder.path)!r}) / 'review.duckdb'); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        with pytest.raises(StoreError, match="another process holds the review"):
            merge(folder, job)
        holder.kill()
    assert merge(folder, job).pending == 0


def test_work_that_another_driver_did_meanwhile_is_not_doubled(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(10)
    job = cut(folder, shards=1)
    work(job, 0)
    assert folder.run().status == "complete"
    before = told(folder)
    merged = merge(folder, job)
    assert merged.left_out == {"the record has a verdict since the job was cut": 10}
    assert told(folder) == before


def test_other_replies_to_the_same_questions_do_not_stand_under_them(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = lambda _: Say("yes")
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(10)
    first, second = cut(folder, shards=1), cut(folder, shards=1, again=True)
    work(first, 0)
    server.answer = lambda _: Say("no")  # an engine that does not answer alike twice
    work(second, 0)
    with folder.review.open() as store:  # only the calls of the first job came in before
        from litcascade.pipeline.shards import folding

        folding.fold(store, first.read(), parts(first, 0))
    merged = merge(folder, second)
    assert merged.added["verdicts"] == 0
    assert set(folder.states("title_abstract").values()) == {"included"}
    wrong = "select count(*) from readings, unnest(calls) as c(key) join calls on calls.key = c.key where (decision = 'include') <> (text = 'yes')"
    assert folder.rows(wrong) == [(0,)]


def test_a_person_who_spoke_since_the_cut_is_heard(tmp_path: Path, server: ModelServer) -> None:
    server.answer = lambda _: Say("no")
    folder = ReviewFolder(tmp_path / "r")
    panel = '[readers.one]\nmodel = "m"\n[readers.eva]\nperson = true\n[stages.title_abstract]\nreaders = ["one", "eva"]\n'
    folder.protocol(panel, url=server.url)
    folder.records(4)
    job = cut(folder, shards=1)
    work(job, 0)
    table = folder.table("decisions.csv", [{"record_id": "r1", "stage": "title_abstract", "decision": "include"}])
    with folder.review.open() as store:
        import_decisions(folder.review, store, table, "eva")
    merged = merge(folder, job)
    assert merged.left_out == {"a person who is a reader spoke since the job was cut": 1}
    assert folder.states("title_abstract")["r1"] == "pending"
    folder.run()
    assert folder.states("title_abstract")["r1"] == "included"


def test_a_budget_is_shared_out_and_not_exceeded(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = lambda _: Say("yes")
    folder.protocol(ABSTRACTS, "[budget]\ncalls = 9\n", url=server.url)
    folder.records(30)
    job = cut(folder, shards=4)
    for _ in range(2):  # a worker that is started again gets no new share
        worked = [work(job, number) for number in range(4)]
        assert {(shard.status, shard.exit_code) for shard in worked} == {("incomplete", 5)}
        assert len(server.asked) == 9
    assert merge(folder, job).pending == 21


def test_a_server_that_goes_down_leaves_records_pending_and_the_next_worker_goes_on(
    folder: ReviewFolder, server: ModelServer
) -> None:
    def fails(body: Body) -> Say:
        return Say(status=503, raw="busy") if "trial 7." in str(body["messages"]) else decide(body)

    server.answer = fails
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(10)
    job = cut(folder, shards=1)
    worked = work(job, 0)
    assert (worked.status, worked.exit_code) == ("incomplete", 3)
    assert "1 record(s) stay pending" in worked.words
    assert merge(folder, job).pending == 1
    assert merge(folder, job).added["failures"] == 0
    assert folder.rows("select count(*) from failures") == [(1,)]
    server.answer = decide
    assert work(job, 0).status == "complete"
    assert merge(folder, job).pending == 0


def test_a_job_is_refused_where_nothing_is_pending_or_another_waits(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    with folder.review.open(create=True):
        pass
    with pytest.raises(InputError, match="holds no records yet"):
        cut(folder)
    folder.records(10)
    with pytest.raises(InputError, match="no stage 'full_text'"):
        cut(folder, stage="full_text")
    with pytest.raises(InputError, match="1 to 10,000 shards"):
        cut(folder, shards=0)
    job = cut(folder, shards=2, name="one")
    with pytest.raises(InputError, match="the job 'one' of title_abstract is not merged yet"):
        cut(folder, shards=2)
    with pytest.raises(InputError, match="is there already"):
        cut(folder, name="one", again=True)
    assert [path.name for path in job.path.parent.iterdir()] == ["one"]  # nothing half-made is left
    for number in (0, 1):
        work(job, number)
    merge(folder, job)
    with pytest.raises(InputError, match="nothing is pending"):
        cut(folder)


def test_a_text_that_cannot_be_written_costs_no_neighbour(folder: ReviewFolder, server: ModelServer) -> None:
    odd = json.dumps({"choices": [{"message": {"content": "yes \ud800"}, "finish_reason": "stop"}]})
    server.answer = lambda body: Say(raw=odd) if "trial 3." in str(body["messages"]) else Say("yes")
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(6)
    job = cut(folder, shards=1)
    assert work(job, 0).status == "complete"
    assert merge(folder, job).pending == 0
    assert folder.rows("select count(*) from calls where text like 'yes%'")[0][0] >= 6


def test_a_full_disk_is_told_and_what_was_written_stays(
    folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(6)
    job = cut(folder, shards=1)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("litcascade.pipeline.shards.parts.write_whole", full)
        with pytest.raises(StoreError, match="No space left on device"):
            work(job, 0)
    assert work(job, 0).status == "complete"
    assert merge(folder, job).pending == 0


@pytest.mark.skipif(os.geteuid() != 0, reason="needs a user for whom no file is forbidden")
def test_shards_hold_keys_and_never_secrets(folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MODEL_KEY", "very-secret-word")
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    text = (folder.path / "review.toml").read_text(encoding="utf-8")
    (folder.path / "review.toml").write_text(text.replace("retries =", 'api_key_env = "MODEL_KEY"\nretries ='), encoding="utf-8")
    folder.records(6)
    job = cut(folder, shards=1)
    work(job, 0)
    for path in job.path.rglob("*"):
        assert path.is_dir() or b"very-secret-word" not in path.read_bytes()
