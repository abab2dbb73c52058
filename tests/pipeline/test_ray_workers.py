"""What Ray's workers, their post box and their number do, without a cluster."""

import re
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from litcascade.cli.running import spread_over
from litcascade.errors import InputError, MissingExtraError
from litcascade.pipeline.executor import Spent
from litcascade.pipeline.on_ray.box import Box
from litcascade.pipeline.on_ray.cluster import RayOptions, crew, gpus_of, joined
from litcascade.pipeline.on_ray.stage import RaySpread, fault_of, left_of, shards_for
from litcascade.pipeline.on_ray.worker import ShardWorker, tell
from litcascade.pipeline.shards.job import JobFolder
from litcascade.schemas import ModelSpec
from litcascade.schemas.protocol import Budget
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import ModelServer, Say
from tests.support.shards import cut, decide, merge, parts, told, work

NO_BUDGET = {"calls": None, "tokens": None, "minutes": None}
SERVED = ModelSpec(backend="http", model="m", endpoints=("http://h/v1",))
INSIDE = ModelSpec(backend="vllm", model="m", vllm={"tensor_parallel_size": 2})


class Remote:
    """A method as Ray's actors have them: called by `remote`, and awaited."""

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method

    def remote(self, *given: Any) -> Awaitable[Any]:
        answer = self.method(*given)

        async def later() -> Any:
            return answer

        return later()


class LocalBox:
    """A job's box in this process, with a count of what was put."""

    def __init__(self, job: JobFolder) -> None:
        self.box = Box(str(job.path))
        self.take = Remote(self.box.take)
        self.put = Remote(self._put)
        self.puts = 0
        self.stops_after: int | None = None

    def _put(self, *given: Any) -> str:
        self.puts += 1
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


def test_what_a_killed_run_left_is_merged_and_the_rest_is_cut_anew(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    reviewed(folder, server.url, 20)
    killed = cut(folder, shards=2, by="ray")
    handed_out = cut(folder, shards=2, again=True)
    work(killed, 0)
    review = folder.review
    with review.open() as store:
        RaySpread(None, RayOptions()).take_up(review, store)
    assert killed.read().merged is not None
    assert handed_out.read().merged is None
    assert list(folder.states("title_abstract").values()).count("pending") == 10


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
