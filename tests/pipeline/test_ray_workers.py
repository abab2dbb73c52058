"""What Ray's workers, their post box and their number do, without a cluster."""

import asyncio
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from litcascade.cli.running import spread_over
from litcascade.errors import BackendError, InputError, MissingExtraError
from litcascade.pipeline.executor import Spent, Stop
from litcascade.pipeline.observing import Silent
from litcascade.pipeline.on_ray import stage as stage_module
from litcascade.pipeline.on_ray import worker as worker_module
from litcascade.pipeline.on_ray.box import Box
from litcascade.pipeline.on_ray.cluster import RayOptions, crew, gpus_of, joined
from litcascade.pipeline.on_ray.leftover import take_up
from litcascade.pipeline.on_ray.stage import RaySpread, bounded, fault_of, left_of, shards_for
from litcascade.pipeline.on_ray.worker import Mirror, ShardWorker, tell
from litcascade.pipeline.run import Outcome, run_review
from litcascade.pipeline.shards import folding
from litcascade.pipeline.shards.job import JobFolder
from litcascade.pipeline.shards.merging import Merged, merge_job
from litcascade.schemas import ModelSpec
from litcascade.schemas.protocol import Budget
from litcascade.store import Store
from tests.support.local_ray import LocalRay, Remote
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say
from tests.support.shards import cut, decide, merge, parts, told, work

NO_BUDGET = {"calls": None, "tokens": None, "minutes": None}
SERVED = ModelSpec(backend="http", model="m", endpoints=("http://h/v1",))
INSIDE = ModelSpec(backend="vllm", model="m", vllm={"tensor_parallel_size": 2})


class LocalBox:
    """A job's box in this process, with a count of what was put."""

    def __init__(self, job: JobFolder) -> None:
        self.box = Box(str(job.path))
        self.take = Remote(self.box.take)
        self.put = Remote(self._put)
        self.word = Remote(self.box.word)
        self.puts = 0
        self.stops_after: int | None = None
        self.fails: Callable[[int], bool] = lambda _: False

    def _put(self, *given: Any) -> str:
        self.puts += 1
        if self.fails(self.puts):
            raise OSError(28, "No space left on device")
        if self.stops_after is not None and self.puts > self.stops_after:
            self.box.stop("stopped: the run ends")
        return self.box.put(*given)


def row_of(worker: ShardWorker, shard: int) -> dict[str, Any]:
    return {name: values[0] for name, values in worker({"shard": [shard]}).items()}


def rows_of(box: LocalBox, *shards: int, budget: dict[str, Any] = NO_BUDGET, probed: bool = False) -> list[dict[str, Any]]:
    """The rows of shards that one worker works."""
    worker = ShardWorker(box, budget, probed)
    try:
        return [row_of(worker, shard) for shard in shards]
    finally:
        worker.close()


def nodes(*resources: dict[str, float]) -> list[dict[str, Any]]:
    return [{"Alive": True, "Resources": has} for has in resources]


def reviewed(folder: ReviewFolder, url: str, records: int, *protocol: str) -> None:
    folder.protocol(ABSTRACTS, *protocol, url=url)
    folder.records(records)


def test_a_worker_posts_what_it_did_and_keeps_nothing(tmp_path: Path, server: ModelServer) -> None:
    server.answer = decide
    alone, spread = ReviewFolder(tmp_path / "alone"), ReviewFolder(tmp_path / "spread")
    for folder in (alone, spread):
        reviewed(folder, server.url, 30)
    alone.run()
    job = cut(spread, shards=2)
    rows = rows_of(LocalBox(job), 0, 1, probed=True)
    assert [(row["status"], row["words"]) for row in rows] == [("complete", "all 15 record(s) have a verdict")] * 2
    assert len([body for body in server.asked if body not in server.screening()]) > 0  # the models were probed
    assert len(parts(job, 0)) == 1
    assert merge(spread, job).refused == []
    assert told(spread) == told(alone)


def test_a_shard_that_cannot_be_worked_is_one_row_and_the_next_one_goes_on(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 12)
    job = cut(folder, shards=3)
    job.shard(1).write_bytes(b"torn")
    rows = rows_of(LocalBox(job), 0, 1, 2)
    assert [row["status"] for row in rows] == ["complete", "failed", "complete"]
    assert "cut short or changed" in rows[1]["words"]
    assert merge(folder, job).pending == 4


def test_a_server_that_is_gone_fails_the_shard_and_its_return_is_noticed(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 4)
    job = cut(folder, shards=1)
    server.model = "another"
    worker = ShardWorker(LocalBox(job), NO_BUDGET, False)
    failed = row_of(worker, 0)
    assert failed["status"] == "failed"
    assert "does not serve 'm' but another" in failed["words"]
    receipt = job.read_receipt(0)
    assert receipt is not None
    assert (receipt.status, "does not serve" in receipt.detail) == ("incomplete", True)
    server.model = "m"
    assert row_of(worker, 0)["status"] == "complete"
    worker.close()


def test_an_unreadable_record_is_one_failure_and_its_neighbours_are_decided(
    folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = decide
    reviewed(folder, server.url, 6)
    from litcascade.stages import Subject

    whole = Subject.model_dump_json

    def torn(self: Subject, **given: Any) -> str:
        return "{}" if self.record.record_id == "r3" else whole(self, **given)

    with monkeypatch.context() as patched:
        patched.setattr(Subject, "model_dump_json", torn)
        job = cut(folder, shards=1)
    row = rows_of(LocalBox(job), 0)[0]
    assert (row["status"], row["words"]) == ("incomplete", "1 record(s) stay pending: record r3 cannot be read: Field required")
    assert merge(folder, job).pending == 1
    assert folder.rows("select record_id, error from failures") == [("r3", "record r3 cannot be read: Field required")]


def test_who_takes_a_shard_up_goes_on_where_the_parts_stop(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = lambda body: decide(body, 0.3)
    reviewed(folder, server.url, 200)
    job = cut(folder, shards=1)
    box = LocalBox(job)
    box.stops_after = 1
    stopped = rows_of(box, 0)[0]
    assert (stopped["status"], "stopped: the run ends" in stopped["words"]) == ("incomplete", True)
    kept = len(server.asked)
    came = merge(folder, job).added["calls"]
    assert 0 < came <= kept < 200
    assert rows_of(box, 0)[0]["status"] == "stopped"  # the word to stop stands
    assert len(server.asked) == kept
    assert rows_of(LocalBox(job), 0)[0]["status"] == "complete"
    asked = [str(body["messages"]) for body in server.asked]
    assert len(asked) - len(set(asked)) <= kept - came  # only what was on its way is put again
    assert merge(folder, job).pending == 0


def test_a_budget_is_what_the_run_has_left(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = lambda _: Say("yes")
    reviewed(folder, server.url, 30, "[budget]\ncalls = 20\n")
    job = cut(folder, shards=2)
    left = left_of(folder.review.protocol.budget, Spent(calls=12))
    assert [row["status"] for row in rows_of(LocalBox(job), 0, 1, budget=left)] == ["budget", "budget"]
    assert len(server.asked) == 8
    assert left_of(Budget(tokens=10), Spent(prompt_tokens=7, completion_tokens=9)) == {**NO_BUDGET, "tokens": 0}


def test_a_shard_whose_workers_come_to_nothing_is_given_up(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 4)
    job = cut(folder, shards=1)
    box = LocalBox(job)
    for _ in range(3):
        assert box.box.take(0)[0] == ""
    given_up = rows_of(box, 0)[0]
    assert (given_up["status"], "lost 3 times" in given_up["words"]) == ("failed", True)
    work(job, 0)
    assert box.box.take(0)[0] == ""  # there is a part more: it goes on


def test_a_box_takes_parts_alone(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 4)
    job = cut(folder, shards=1)
    for name in ("../job.json", "part-../x", "receipt.json"):
        with pytest.raises(ValueError, match="no name of a part"):
            Box(str(job.path)).put(0, {name: b"x"}, None, [])
        with pytest.raises(ValueError, match="no name of a part"):
            Box(str(job.path)).put(0, {}, None, [name])
    assert Box(str(job.path)).there()
    assert not Box(str(job.path / "elsewhere")).there()


class Heard(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def say(self, words: str) -> None:
        self.words.append(words)


def spread_run(folder: ReviewFolder, ray: LocalRay, observer: Heard, **options: Any) -> Outcome:
    review = folder.review
    with review.open() as store:
        spread = RaySpread(ray, RayOptions(**options))
        return asyncio.run(run_review(review, store, observer=observer, probed=False, spread=spread))


def taken_up(folder: ReviewFolder) -> list[str]:
    heard = Heard()
    review = folder.review
    with review.open() as store:
        take_up(review, store, heard)
    return heard.words


def damage(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[50] ^= 255
    path.write_bytes(content)


def test_what_a_killed_run_left_is_merged_and_the_rest_is_cut_anew(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 20)
    killed = cut(folder, shards=2, by="ray")
    handed_out = cut(folder, shards=2, again=True)
    work(killed, 0)
    words = taken_up(folder)
    assert len(words) == 1
    assert re.search(r"left \d+ reply\(ies\) and 10 verdict\(s\)", words[0])
    assert killed.read().merged is not None
    assert handed_out.read().merged is None
    assert list(folder.states("title_abstract").values()).count("pending") == 10
    assert taken_up(folder) == []


def test_a_run_without_ray_takes_up_what_a_killed_run_with_it_left(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 8)
    killed = cut(folder, shards=2, by="ray")
    work(killed, 0)
    asked = len(server.asked)
    assert asked > 0
    assert folder.run().status == "complete"
    messages = [str(body["messages"]) for body in server.asked]
    assert len(set(messages)) == len(messages) > asked
    assert killed.read().merged is not None


def test_a_damaged_part_of_a_killed_run_is_told_and_its_records_wait(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 8)
    killed = cut(folder, shards=2, by="ray")
    work(killed, 0)
    work(killed, 1)
    damage(parts(killed, 0)[0])
    words = taken_up(folder)
    assert [line for line in words if str(parts(killed, 0)[0]) in line and "cut short or changed" in line]
    assert killed.read().merged is not None  # nothing can mend it, and its records are pending
    assert list(folder.states("title_abstract").values()).count("pending") == 4


def test_parts_of_a_newer_version_keep_a_killed_runs_job_open(
    folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = decide
    reviewed(folder, server.url, 4)
    killed = cut(folder, shards=1, by="ray")
    work(killed, 0)
    known = folding._require_known

    def older(store: Store, columns: dict[str, dict[str, str]]) -> None:
        known(store, {name: {key: kind for key, kind in of.items() if key != "text"} for name, of in columns.items()})

    with monkeypatch.context() as patched:
        patched.setattr(folding, "_require_known", older)
        words = taken_up(folder)
    assert [line for line in words if "'calls.text', which this store does not know" in line]
    assert [line for line in words if "stays unmerged" in line]
    assert killed.read().merged is None
    assert len(taken_up(folder)) == 1
    assert killed.read().merged is not None
    assert "pending" not in folder.states("title_abstract").values()


def test_verdicts_that_a_killed_run_left_too_late_are_told(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 4)
    killed = cut(folder, shards=1, by="")
    folder.run()
    work(killed, 0)
    killed.write(killed.read().model_copy(update={"by": "ray"}))
    words = taken_up(folder)
    assert [line for line in words if "4 verdict(s)" in line and "has a verdict since the job was cut" in line]
    assert killed.read().merged is not None


def test_a_part_that_was_damaged_is_kept_aside_in_the_job_and_told(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 4)
    job = cut(folder, shards=1)
    assert rows_of(LocalBox(job), 0)[0]["status"] == "complete"
    part = parts(job, 0)[0]
    damage(part)
    torn = part.read_bytes()
    assert rows_of(LocalBox(job), 0)[0]["status"] == "complete"
    aside = part.with_name(f"{part.name}.unreadable")
    assert aside.read_bytes() == torn
    receipt = job.read_receipt(0)
    assert receipt is not None
    assert receipt.set_aside == (aside.name,)
    merged = merge(folder, job)
    assert (merged.refused, merged.pending) == ([], 0)
    job.write(job.read().model_copy(update={"by": "ray", "merged": None}))
    assert f"{aside}: was damaged and is set aside; what it held is asked again" in taken_up(folder)


def test_what_a_failed_post_held_is_posted_again_and_a_whole_part_outlives_a_damaged_copy(
    folder: ReviewFolder, server: ModelServer
) -> None:
    server.answer = decide
    reviewed(folder, server.url, 4)
    job = cut(folder, shards=1)
    there = JobFolder(folder.path / "there")
    shutil.copytree(job.path, there.path)
    box = LocalBox(there)
    box.fails = lambda number: number == 1
    mirror = Mirror(box, job, 0)
    work(job, 0)
    with pytest.raises(OSError, match="No space left"):
        asyncio.run(mirror.post())
    assert (parts(there, 0), there.read_receipt(0)) == ([], None)
    asyncio.run(mirror.post())
    kept = parts(there, 0)
    assert [path.name for path in kept] == [path.name for path in parts(job, 0)]
    assert there.read_receipt(0) == job.read_receipt(0)
    damage(parts(job, 0)[0])
    work(job, 0)
    assert list(job.out(0).glob("*.unreadable"))
    asyncio.run(mirror.post())
    assert kept[0] in parts(there, 0)
    assert not list(there.out(0).glob("*.unreadable"))


def test_posts_that_fail_for_a_while_lose_nothing_and_the_stop_is_heard_all_the_same(
    folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker_module, "SECONDS", 0.05)
    server.answer = lambda body: decide(body, 0.2)
    reviewed(folder, server.url, 60)
    job = cut(folder, shards=1)
    box = LocalBox(job)
    box.fails = lambda number: 1 < number < 6
    assert rows_of(box, 0)[0]["status"] == "complete"
    assert box.puts > 6
    assert merge(folder, job).pending == 0
    again = ReviewFolder(folder.path / "again")
    reviewed(again, server.url, 200)
    job = cut(again, shards=1)
    full = LocalBox(job)
    full.fails = lambda _: True
    full.word = Remote(lambda: "stopped: the run ends")
    row = rows_of(full, 0)[0]
    assert (row["status"], "No space left on device" in row["words"]) == ("failed", True)
    assert len({str(body["messages"]) for body in server.asked if "trial 190." in str(body)}) == 0  # it ended early
    kept = re.search(r"kept in (\S+) on ", row["words"])
    assert kept is not None
    where = JobFolder(Path(kept[1]))
    assert parts(where, 0)
    shutil.copytree(where.out(0), job.out(0), dirs_exist_ok=True)
    shutil.copytree(where.receipt(0).parent, job.receipt(0).parent, dirs_exist_ok=True)
    merged = merge(again, job)
    assert merged.refused == []
    assert merged.added["calls"] > 0
    shutil.rmtree(where.path)


def test_a_worker_whose_run_is_gone_ends(folder: ReviewFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker_module, "SECONDS", 0.05)

    def gone(*_: object) -> str:
        raise ConnectionError("the actor died")

    stop = Stop()
    box = SimpleNamespace(put=Remote(gone), word=Remote(gone))
    asyncio.run(asyncio.wait_for(until(stop, Mirror(box, JobFolder(folder.path), 0)), 10))
    assert "cannot be reached (ConnectionError: the actor died)" in stop.words


async def until(stop: Stop, mirror: Mirror) -> None:
    """Post now and then until the worker is asked to end."""
    posting = asyncio.create_task(mirror.now_and_then(stop))
    await stop.asked.wait()
    posting.cancel()
    await asyncio.gather(posting, return_exceptions=True)


def test_a_box_that_is_started_again_goes_on_counting_and_one_that_is_shut_takes_nothing(
    folder: ReviewFolder, server: ModelServer
) -> None:
    server.answer = decide
    reviewed(folder, server.url, 4)
    job = cut(folder, shards=1)
    assert [Box(str(job.path)).take(0)[0] for _ in range(4)] == ["", "", "", "failed"]
    box = Box(str(job.path))
    box.shut()
    with pytest.raises(InputError, match="takes no more parts"):
        box.put(0, {"part-x": b"x"}, None, [])
    assert not parts(job, 0)
    assert box.word() == box.take(0)[1] == "stopped: the run has ended"


def test_a_run_over_workers_is_told_of_refused_parts_and_ends_with_its_box_shut(
    folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = decide
    reviewed(folder, server.url, 8)
    ray, heard = LocalRay(), Heard()
    shut: list[bool] = []

    def merged(*given: Any, **options: Any) -> Merged:
        if not shut:
            damage(parts(given[2], 1)[0])
        shut.append(bool(ray.killed))
        if ray.killed:
            with pytest.raises(InputError, match="takes no more parts"):
                ray.killed[0].whole.put(0, {"part-late": b"x"}, None, [])
        return merge_job(*given, **options)

    monkeypatch.setattr(stage_module, "merge_job", merged)
    outcome = spread_run(folder, ray, heard, shards=2)
    assert shut[-1]
    assert (outcome.status, list(folder.states("title_abstract").values()).count("pending")) == ("incomplete", 4)
    assert len([line for line in heard.words if "cut short or changed" in line]) == 1


def test_a_shard_with_its_share_used_up_leaves_the_rest_of_the_budget_to_the_run(
    folder: ReviewFolder, server: ModelServer
) -> None:
    server.answer = lambda _: Say("yes")
    reviewed(folder, server.url, 6, "[budget]\ncalls = 4\n")
    heard = Heard()
    outcome = spread_run(folder, LocalRay(), heard, shards=6)  # fewer calls than shards asked for
    assert (outcome.status, outcome.spent.calls, len(server.asked)) == ("budget", 4, 4)
    assert outcome.words == "the budget of 4 calls is spent"


def test_calls_that_some_shards_do_not_need_go_to_the_others(folder: ReviewFolder, server: ModelServer) -> None:
    slow = [f"trial {number}." for number in (1, 2, 3)]

    def answer(body: Body) -> Say:
        hard = any(words in str(body["messages"]) for words in slow) and len(body["messages"]) < 3
        return Say("banana" if hard else "yes")

    server.answer = answer
    reviewed(folder, server.url, 6)
    free = folder.run()
    calls = free.spent.calls
    assert calls > 6  # some records need a second question
    tight = ReviewFolder(folder.path / "tight")
    reviewed(tight, server.url, 6, f"[budget]\ncalls = {calls + 1}\n")
    outcome = spread_run(tight, LocalRay(), Heard(), shards=2)
    assert (outcome.status, outcome.spent.calls) == ("complete", calls)
    assert told(tight)["readings"] == told(folder)["readings"]


def test_a_node_that_cannot_tell_its_model_is_a_sentence(folder: ReviewFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.protocol(ABSTRACTS)
    review = folder.review
    inside = ModelSpec(backend="vllm", model="m")
    review.protocol.models["m"] = inside

    def lacks(*_: object) -> None:
        raise RuntimeError("RayTaskError: x\n  at y\nModuleNotFoundError: No module named 'litcascade'")

    monkeypatch.setattr(stage_module, "tell", lacks)
    with pytest.raises(BackendError, match=r"model 'm' .* a node lacks a package \(No module named 'litcascade'\)"):
        asyncio.run(RaySpread(LocalRay(), RayOptions()).identify(review, {"m": SimpleNamespace()}))


def test_a_model_is_asked_on_a_node_who_it_is(server: ModelServer) -> None:
    spec = ModelSpec(backend="http", model="m", endpoints=(server.url,), revision="abc")
    assert tell("m", spec.model_dump_json(), ".") == (True, "vllm 0.32.0", "abc")
    known, words, _ = tell("m", spec.model_copy(update={"model": "n"}).model_dump_json(), ".")
    assert (known, "does not serve 'n'" in words) == (False, True)


def test_workers_are_as_many_as_fit() -> None:
    big, small = {"CPU": 16.0, "GPU": 4.0}, {"CPU": 2.0}
    assert (gpus_of([SERVED]), gpus_of([INSIDE, SERVED]), gpus_of([INSIDE, INSIDE])) == (0, 2, 4)
    served = crew(nodes(big, small, {}), [SERVED], RayOptions())
    assert (served.least, served.most, served.gpus) == (2, 2, 0)  # one a node
    inside = crew(nodes(big, small), [INSIDE], RayOptions())
    assert (inside.least, inside.most > 100, inside.gpus) == (2, True, 2)
    told_to = crew(nodes(big, small), [INSIDE], RayOptions(workers=1, gpus=1))
    assert (told_to.least, told_to.most, told_to.gpus) == (1, 1, 1)
    assert crew(nodes(small), [INSIDE], RayOptions(gpus=0)).least == 2
    with pytest.raises(InputError, match=re.escape("no node of the Ray cluster has 1 CPU(s) and 2 GPU(s)")):
        crew([*nodes(small), {"Alive": False, "Resources": big}], [INSIDE], RayOptions())


@pytest.mark.parametrize(
    ("records", "workers", "reports", "shards"),
    [(1, 8, False, 1), (64, 8, False, 1), (640, 2, False, 8), (100_000, 2, False, 50), (40, 2, True, 5), (8_000, 1, True, 80)],
)
def test_a_stage_is_cut_into_about_four_shards_a_worker(records: int, workers: int, reports: bool, shards: int) -> None:
    assert shards_for(records, workers, reports) == shards
    assert bounded(shards, records, None) == shards
    assert bounded(shards, records, 3) == min(shards, 3)
    assert bounded(shards, records, 0) == 1


def test_what_a_node_lacks_is_told() -> None:
    deep = RuntimeError("The actor died " + "x" * 900 + " ModuleNotFoundError: No module named 'litcascade'")
    assert "a node lacks a package (No module named 'litcascade')" in fault_of(deep)
    assert fault_of(ValueError("two\nlines")) == "ValueError: two lines"


def test_addresses_that_cannot_be_joined_are_told_in_a_sentence() -> None:
    pytest.importorskip("ray.data")
    for address, words in (
        ("ray://head:10001", "must stand on a node of the cluster"),
        ("head", "is no address of a Ray cluster"),
        ("127.0.0.1:1", "no Ray cluster answers at 127.0.0.1:1"),
    ):
        with pytest.raises(InputError, match=words), joined(address):
            pass


def test_options_of_a_cluster_go_with_ray_alone() -> None:
    assert spread_over("here", None, None, None, None, None) is None
    assert spread_over("ray", "h:1", 4, None, None, 0.0) == RayOptions("h:1", 4, None, 1.0, 0.0)
    with pytest.raises(InputError, match="--shards goes with --executor ray"):
        spread_over("here", None, 4, None, None, None)
    with pytest.raises(InputError, match="there is no executor 'dask'"):
        spread_over("dask", None, None, None, None, None)


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=re.escape("pip install 'litcascade[ray]'")), joined(None):
        pass
