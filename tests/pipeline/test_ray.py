"""Runs over a real Ray cluster of two nodes: the verdicts of one process, also where a node is killed or the run is stopped."""

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from litcascade.pipeline.executor import Spent
from litcascade.pipeline.observing import Silent
from litcascade.pipeline.shards.job import jobs_of
from tests.conftest import need
from tests.support.ray_cluster import RayCluster, missing
from tests.support.reviews import ABSTRACTS, REPORTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say
from tests.support.shards import decide, told

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:ray")  # Ray copies options of its own that it deprecates


@pytest.fixture(scope="module")
def started() -> Iterator[RayCluster]:
    fault = missing()
    need("ray", fault is None, str(fault))
    with RayCluster() as running:
        yield running


@pytest.fixture
def cluster(started: RayCluster) -> RayCluster:
    started.whole()
    return started


class Watcher(Silent):
    """Keeps what a run says and how far it came."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self.stages: list[tuple[str, int]] = []
        self.ticks = 0

    def stage(self, name: str, total: int) -> None:
        self.stages.append((name, total))

    def tick(self, done: int, spent: Spent) -> None:
        self.ticks += done

    def say(self, words: str) -> None:
        self.words.append(words)


def make(path: Path, url: str, records: int, *protocol: str) -> ReviewFolder:
    folder = ReviewFolder(path)
    folder.protocol(*protocol, url=url)
    folder.records(records)
    return folder


def undisturbed(path: Path, server: ModelServer, records: int) -> dict[str, list[tuple[object, ...]]]:
    server.answer = decide
    calm = make(path, server.url, records, ABSTRACTS)
    calm.run()
    server.asked.clear()
    return told(calm)


def begun(folder: ReviewFolder) -> int:
    """Shards that a worker has begun."""
    return sum(len(list((job.path / "receipts").glob("*.json"))) for job in jobs_of(folder.path))


def each_once(folder: ReviewFolder) -> bool:
    """Whether no call and no verdict stands twice, and no reading rests on a call that is not there."""
    twice = folder.rows("select count(*) - count(distinct key) from calls")[0][0]
    verdicts = folder.rows("select count(*) - count(distinct (stage, record_id)) from verdicts")[0][0]
    orphans = folder.rows("select count(*) from readings, unnest(calls) as c(key) where c.key not in (select key from calls)")[0][
        0
    ]
    return (twice, verdicts, orphans) == (0, 0, 0)


def test_two_nodes_take_a_review_through_its_stages_as_one_process_does(
    tmp_path: Path, server: ModelServer, cluster: RayCluster
) -> None:
    server.answer = decide
    folders = [make(tmp_path / name, server.url, 40, ABSTRACTS, REPORTS) for name in ("alone", "spread")]
    for folder in folders:
        folder.texts({f"r{i}": f"Methods\n\nTrial {i} gave zinc to adults." for i in range(1, 41, 2)})
    alone, spread = folders
    assert alone.run().status == "complete"
    asked = len(server.asked)
    watcher = Watcher()
    outcome = cluster.run(spread, watcher, shards=4)
    assert (outcome.status, outcome.exit_code) == ("complete", 0), watcher.words
    assert told(spread) == told(alone)
    assert all(stage.closes() for stage in outcome.ledger)
    assert [name for name, _ in watcher.stages] == ["title_abstract", "full_text"]
    assert watcher.ticks == sum(total for _, total in watcher.stages)
    assert (len(server.asked) - asked, outcome.spent.calls) == (asked, asked)
    assert [job.read().merged is not None for job in jobs_of(spread.path)] == [True, True]
    again = cluster.run(spread, shards=4)
    assert (again.status, again.spent.calls, len(server.asked)) == ("complete", 0, 2 * asked)
    assert len(jobs_of(spread.path)) == 2  # nothing was pending, so nothing was cut


def test_a_node_that_is_killed_in_mid_run_changes_nothing(tmp_path: Path, server: ModelServer, cluster: RayCluster) -> None:
    calm = undisturbed(tmp_path / "calm", server, 240)
    spread = make(tmp_path / "spread", server.url, 240, ABSTRACTS)
    server.answer = lambda body: decide(body, 0.3)
    killed = threading.Event()
    both: list[bool] = []

    def kill() -> None:
        deadline = time.monotonic() + 120
        while (len(server.asked) < 60 or begun(spread) < 2) and time.monotonic() < deadline:
            time.sleep(0.01)
        both.append(begun(spread) == 2 and len(server.asked) < 300)
        cluster.kill_a_node()
        killed.set()

    threading.Thread(target=kill, daemon=True).start()
    watcher = Watcher()
    outcome = cluster.run(spread, watcher, shards=3)
    assert killed.wait(1)
    assert both == [True]  # each node had a shard, and the run was in the middle
    assert (outcome.status, watcher.words) == ("complete", [])
    assert told(spread) == calm
    assert each_once(spread)
    assert outcome.ledger[0].closes()


def test_ctrl_c_stops_the_command_and_the_next_run_goes_on_with_one_bad_record(
    tmp_path: Path, server: ModelServer, cluster: RayCluster
) -> None:
    calm = undisturbed(tmp_path / "calm", server, 300)
    spread = make(tmp_path / "spread", server.url, 300, ABSTRACTS)
    server.answer = lambda body: decide(body, 0.3)
    command = [
        sys.executable, "-m", "litcascade", "run", "--no-check", "--executor", "ray", "--ray-address", cluster.address,
        "--shards", "4", "--review", str(spread.path),
    ]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        deadline = time.monotonic() + 120
        while len(server.asked) < 60 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        said = process.communicate(timeout=120)[0].decode()
    assert process.returncode == 130, said
    assert "Traceback" not in said
    assert each_once(spread)
    done = spread.rows("select count(*) from verdicts")[0][0]
    assert 0 < done < 300

    def fails(body: Body) -> Say:
        return Say(status=503, raw="busy") if "trial 299." in str(body["messages"]) else decide(body)

    server.answer = fails
    server.asked.clear()
    watcher = Watcher()
    outcome = cluster.run(spread, watcher, shards=2)
    assert (outcome.status, outcome.exit_code) == ("incomplete", 3)
    assert spread.rows("select record_id from title_abstract where state = 'pending'") == [("r299",)]
    assert spread.rows("select distinct record_id from failures") == [("r299",)]
    assert [words for words in watcher.words if "1 record(s) stay pending" in words]
    server.answer = decide
    assert spread.run().status == "complete"
    assert told(spread) == calm
    assert each_once(spread)
