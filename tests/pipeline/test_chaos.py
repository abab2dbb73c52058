"""Chaos: whatever goes wrong on the way, a run taken to its end comes to the verdicts of one that nothing disturbed."""

import asyncio
import contextlib
import json
import random
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from litcascade.backends.http import HttpBackend
from litcascade.backends.limits import backoff, wished
from litcascade.errors import BackendError, StoreError
from litcascade.pipeline.ledger import read_ledger
from litcascade.pipeline.recorder import Recorder
from litcascade.pipeline.shards.job import jobs_of
from litcascade.schemas import Reply
from tests.support import chaos_command
from tests.support.chaos import ALL, ChaosServer, Faults
from tests.support.reviews import ABSTRACTS, FIELDS, HEAD, REPORTS, ReviewFolder
from tests.support.server import ModelServer
from tests.support.shards import cut, merge, parts, told, work

MODEL = """
[models.m]
backend = "http"
model = "m"
endpoints = ["{url}"]
retries = 2
concurrency = 16
timeout = {timeout}
context = 3000
"""
RUNS = 60
KILLS = 25
SEED = 20261201
COMMAND = Path(chaos_command.__file__)
ALONE = {
    "errors": Faults(error=0.1),
    "storms": Faults(storm=0.02),
    "slow loris": Faults(loris=0.02),
    "half-written": Faults(half=0.1),
    "empty": Faults(empty=0.1),
    "pages": Faults(page=0.1),
    "hanging up": Faults(hang_up=0.1),
}


def tell(words: str) -> None:
    """Shown where a test fails, or with -s: with the seed it can be played again."""
    sys.stdout.write(f"{words}\n")


def protocol(folder: ReviewFolder, url: str, *parts: str, timeout: float = 1.0) -> None:
    text = HEAD + MODEL.format(url=url, timeout=timeout) + "".join(parts)
    (folder.path / "review.toml").write_text(text, encoding="utf-8")


def make(path: Path, records: int, *parts: str, url: str = "http://127.0.0.1:9/v1") -> ReviewFolder:
    """A review; where it reads reports, every second record has one, and every twentieth one longer than the window."""
    folder = ReviewFolder(path)
    protocol(folder, url, *parts)
    folder.records(records)
    if REPORTS in parts or FIELDS in parts:
        long = "\n\n".join(f"Paragraph {n} says {' '.join(f'w{n}x{i}' for i in range(30))}." for n in range(90))
        folder.texts(
            {
                f"r{i}": f"Methods\n\nTrial {i} gave zinc to adults." + (f"\n\n{long}" if i % 20 == 1 else "")
                for i in range(1, records + 1, 2)
            }
        )
    return folder


def copy(source: ReviewFolder, path: Path, url: str, *parts: str, timeout: float = 1.0) -> ReviewFolder:
    shutil.copytree(source.path, path)
    folder = ReviewFolder(path)
    protocol(folder, url, *parts, timeout=timeout)
    return folder


def run(folder: ReviewFolder) -> str:
    """One run in this process with short pauses; how it ended, `refused` where it did not begin."""
    backend = HttpBackend("m", folder.review.protocol.models["m"], pause=0.02)
    try:
        outcome = folder.run({"m": backend}, probed=True)
    except BackendError:
        return "refused"
    assert all(stage.closes() for stage in outcome.ledger)
    return outcome.status


def require_whole(folder: ReviewFolder) -> None:
    """What must hold at every moment, however a run ended; no verdict rests on what is not there, and no failure is one."""
    review = folder.review
    with review.open() as store:
        assert all(stage.closes() for stage in read_ledger(store, review.protocol))
        assert store.rows("select key from calls group by 1 having count(*) > 1") == []
        assert store.rows("select 1 from verdicts group by stage, fingerprint, record_id, document_id having count(*) > 1") == []
        orphans = "select calls from readings, unnest(calls) as c(key) where c.key not in (select key from calls)"
        assert store.rows(orphans) == []
        assert store.rows("select * from failures join calls using (key) where calls.at_time < failures.at_time") == []


def run_to_the_end(folder: ReviewFolder) -> list[str]:
    """Run until nothing is left to ask; how each run ended."""
    ends: list[str] = []
    while not ends or ends[-1] != "complete":
        assert len(ends) < RUNS, ends
        ends.append(run(folder))
        require_whole(folder)
        if ends[-1] == "refused":
            time.sleep(0.3)
    return ends


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("chaos")


@pytest.fixture(scope="module")
def quiet(place: Path) -> Iterator[ChaosServer]:
    with ChaosServer(place / "quiet") as running:
        yield running


@pytest.fixture(scope="module")
def fresh(place: Path) -> ReviewFolder:
    """300 abstracts, nothing asked yet."""
    return make(place / "fresh", 300, ABSTRACTS)


@pytest.fixture(scope="module")
def undisturbed(place: Path, fresh: ReviewFolder, quiet: ChaosServer) -> ReviewFolder:
    folder = copy(fresh, place / "undisturbed", quiet.url, ABSTRACTS, timeout=20)
    assert run(folder) == "complete"
    return folder


CASCADE = (ABSTRACTS, REPORTS, FIELDS)


@pytest.fixture(scope="module")
def fresh_cascade(place: Path) -> ReviewFolder:
    """160 records through all three stages."""
    return make(place / "fresh cascade", 160, *CASCADE)


@pytest.fixture(scope="module")
def undisturbed_cascade(place: Path, fresh_cascade: ReviewFolder, quiet: ChaosServer) -> ReviewFolder:
    folder = copy(fresh_cascade, place / "undisturbed cascade", quiet.url, *CASCADE, timeout=20)
    assert run(folder) == "complete"
    return folder


@pytest.mark.parametrize("name", ALONE)
def test_one_fault_alone_changes_no_verdict(tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder, name: str) -> None:
    with ChaosServer(tmp_path / "server", ALONE[name]) as server:
        folder = copy(fresh, tmp_path / "review", server.url, ABSTRACTS)
        ends = run_to_the_end(folder)
        seen = server.seen()
    tell(f"{name}: {ends}, {dict(seen)}")
    (kind,) = ALONE[name].kinds()
    assert seen[kind] > 0
    assert told(folder) == told(undisturbed)
    assert seen["ok"] == folder.rows("select count(*) from calls")[0][0]


def test_all_faults_together_and_a_server_that_dies_change_no_verdict(
    tmp_path: Path, fresh_cascade: ReviewFolder, undisturbed_cascade: ReviewFolder
) -> None:
    with ChaosServer(tmp_path / "server", ALL) as server:
        folder = copy(fresh_cascade, tmp_path / "review", server.url, *CASCADE, timeout=2)
        with server.dying(every=2.0, down=0.3, times=20) as kills:
            ends = run_to_the_end(folder)
        seen = server.seen()
    tell(f"all together: {ends}, {kills[0]} kills of the server, {dict(seen)}")
    assert kills[0] > 0
    assert seen.keys() >= ALL.kinds().keys()
    assert told(folder) == told(undisturbed_cascade)
    assert told(folder)["values"]


def test_a_worker_killed_between_joining_its_parts_and_dropping_them_doubles_nothing(
    tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder, quiet: ChaosServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = copy(fresh, tmp_path / "review", quiet.url, ABSTRACTS, timeout=20)
    monkeypatch.setattr("litcascade.pipeline.shards.sink.ROWS", 1)
    job = cut(folder, shards=1)
    unlinked: list[Path] = []
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", lambda path, **_: unlinked.append(path))
        assert work(job, 0).status == "complete"
    assert len(unlinked) > 1
    assert set(unlinked) < set(parts(job, 0))
    assert merge(folder, job).pending == 0
    require_whole(folder)
    assert told(folder) == told(undisturbed)


def start(folder: ReviewFolder, *words: str, way: str | None = None, largest: int | None = None) -> "subprocess.Popen[bytes]":
    """A command in a process of its own; what it says of faults goes into `stderr.txt`.

    `way` is one of `chaos_command`; no file may grow beyond `largest` bytes.
    """
    program = [str(COMMAND), way] if way else ["-m", "litcascade"]
    command = [sys.executable, *program, *words, "--review", str(folder.path)]
    limit = None if largest is None else (lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest)))
    with (folder.path / "stderr.txt").open("ab") as errors:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, preexec_fn=limit)


def said(folder: ReviewFolder) -> str:
    return (folder.path / "stderr.txt").read_text(encoding="utf-8", errors="replace")


def kill_after(process: "subprocess.Popen[bytes]", begun: Callable[[], bool], seconds: float) -> bool:
    """Kill a process so long after it has begun its work; whether it was still alive, and was killed."""
    deadline = time.monotonic() + 120
    while process.poll() is None and not begun() and time.monotonic() < deadline:
        time.sleep(0.002)
    time.sleep(seconds)
    process.poll()
    if process.returncode is None:
        process.send_signal(signal.SIGKILL)
    return process.wait(30) == -signal.SIGKILL


def finish(folder: ReviewFolder, *words: str) -> None:
    """Give a command again until it ends well."""
    for _ in range(RUNS):
        if start(folder, *words).wait(180) == 0:
            return
    raise AssertionError(said(folder))


ROUGH = replace(ALL, loris=0.002, delay=0.03, everywhere=False)


def kill_drivers(place: Path, source: ReviewFolder, reference: ReviewFolder, kills: int, seed: int) -> int:
    """Kill runs of one review after another until so many died, each review then taken to its end; returns how many reviews."""
    draw = random.Random(seed)
    killed, reviews = 0, 0
    with ChaosServer(place / "server", ROUGH, seed) as server:
        while killed < kills:
            reviews += 1
            assert reviews <= kills
            folder = copy(source, place / f"review {reviews}", server.url, *CASCADE, timeout=5)
            for _ in range(RUNS):
                before = server.screening()
                process = start(folder, "run")
                moment = draw.uniform(0.0, 1.2)
                killed += kill_after(process, lambda before=before: server.screening() > before, moment)  # type: ignore[misc]
                require_whole(folder)
                if process.returncode == 0 or killed == kills:
                    break
            finish(folder, "run")
            require_whole(folder)
            assert told(folder) == told(reference)
            assert "Traceback" not in said(folder)
        seen = server.seen()
    assert sum(seen[kind] for kind in ROUGH.kinds()) > 20
    tell(f"seed {seed}: {killed} kills of the driver in {reviews} review(s); {dict(seen)}")
    return killed


def test_kill_nine_of_the_driver_while_the_server_misbehaves(
    tmp_path: Path, fresh_cascade: ReviewFolder, undisturbed_cascade: ReviewFolder
) -> None:
    with ThreadPoolExecutor(2) as two:
        sides = [
            two.submit(kill_drivers, tmp_path / str(side), fresh_cascade, undisturbed_cascade, kills, SEED + side)
            for side, kills in enumerate((13, 12))
        ]
        assert sum(side.result() for side in sides) == KILLS


@pytest.mark.parametrize(("shards", "kills", "longest"), [(2, 13, 5.0), (4, 12, 3.0)])
def test_kill_nine_of_workers_and_merges_while_the_server_misbehaves(
    tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder, shards: int, kills: int, longest: float
) -> None:
    draw = random.Random(SEED + shards)
    killed = {"work": 0, "merge": 0}
    reviews = 0
    with ChaosServer(tmp_path / "server", replace(ROUGH, delay=0.3), SEED) as server, ThreadPoolExecutor(2) as two:
        while sum(killed.values()) < kills:
            assert reviews < kills
            reviews += 1
            folder = copy(fresh, tmp_path / f"review {reviews}", server.url, ABSTRACTS)
            finish(folder, "submit", "--shards", str(shards))
            (job,) = jobs_of(folder.path)
            for turn in range(kills):
                before = server.screening()
                chosen = [(2 * turn + place) % shards for place in range(2)]
                processes = [start(folder, "work", str(job.path), str(number), "--no-check") for number in chosen]

                def asked(before: int = before) -> bool:
                    return server.screening() > before

                waits = [two.submit(kill_after, process, asked, draw.uniform(0, longest)) for process in processes]
                killed["work"] += sum(wait.result() for wait in waits)
                started = merges(folder)
                process = start(folder, "merge", job.path.name)

                def merging(log: ReviewFolder = folder, started: int = started) -> bool:
                    return merges(log) > started

                killed["merge"] += kill_after(process, merging, draw.uniform(0, 0.4))
                require_whole(folder)
                if process.returncode == 0 and job.read().merged:
                    break
                if sum(killed.values()) >= kills:
                    break
            list(two.map(lambda number: finish(folder, "work", str(job.path), str(number), "--no-check"), range(shards)))  # noqa: B023
            if not job.read().merged:
                finish(folder, "merge", job.path.name)
            require_whole(folder)
            assert told(folder) == told(undisturbed)
            assert sum(merge(folder, job).added.values()) == 0
    tell(f"seed {SEED}: {shards} shards, kills {killed} in {reviews} review(s); {dict(server.seen())}")
    assert min(killed.values()) > 0
    assert sum(killed.values()) >= kills
    assert "Traceback" not in said(folder)


def merges(folder: ReviewFolder) -> int:
    """How many merges have begun, by the event log."""
    return (folder.path / "events.jsonl").read_bytes().count(b'"merge started"') if (folder.path / "events.jsonl").exists() else 0


def test_a_worker_killed_at_each_of_its_file_operations_loses_and_doubles_nothing(
    tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder, quiet: ChaosServer
) -> None:
    folder = copy(fresh, tmp_path / "review", quiet.url, ABSTRACTS, timeout=20)
    job = cut(folder, shards=1)
    for number in range(1, 40):
        process = start(folder, "work", str(job.path), "0", "--no-check", way=f"dies={number}")
        ended = process.wait(180)
        assert merge(folder, job).refused == []
        require_whole(folder)
        if ended == 0:
            break
        assert ended == -signal.SIGKILL, said(folder)
    tell(f"a worker was killed at {number - 1} file operations")
    assert number > 6
    assert merge(folder, job).pending == 0
    assert told(folder) == told(undisturbed)


def test_a_clock_that_jumps_changes_nothing(
    tmp_path: Path, fresh_cascade: ReviewFolder, undisturbed_cascade: ReviewFolder
) -> None:
    with ChaosServer(tmp_path / "server", Faults(error=0.05, delay=0.03)) as server:
        budget = "[budget]\nminutes = 60\n"
        folder = copy(fresh_cascade, tmp_path / "review", server.url, *CASCADE, budget, timeout=20)
        for shifts in ("0,-7,96", "-30,-31", "0,480,-480", "-100"):  # what came later is often earlier by the clock
            before = server.screening()
            process = start(folder, "run", way=f"clock={shifts}")
            kill_after(process, lambda before=before: server.screening() > before, 1.0)  # type: ignore[misc]
            require_whole(folder)
        for _ in range(RUNS):
            ended = start(folder, "run", way="clock=-50,-60,2000").wait(240)
            if ended == 0:
                break
            assert ended == 3, said(folder)  # never 5: no budget of minutes is spent by the clock on the wall
    assert told(folder) == told(undisturbed_cascade)
    assert start(folder, "status").wait(60) == 0
    times = [when for (when,) in folder.rows("select at_time from calls order by seq")]
    assert times != sorted(times)  # the clock did jump
    assert "Traceback" not in said(folder)


def test_a_clock_that_jumps_changes_nothing_for_shards(
    tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder, quiet: ChaosServer
) -> None:
    folder = copy(fresh, tmp_path / "review", quiet.url, ABSTRACTS, timeout=20)
    job = cut(folder, shards=2)
    for number, shifts in enumerate(("-400,300", "300,-5")):
        assert start(folder, "work", str(job.path), str(number), way=f"clock={shifts}").wait(180) == 0, said(folder)
    assert start(folder, "merge", way="clock=-1000,3").wait(180) == 0, said(folder)
    assert start(folder, "status").wait(60) == 0
    require_whole(folder)
    assert told(folder) == told(undisturbed)


def one_sentence(folder: ReviewFolder, process: "subprocess.Popen[bytes]", *words: str) -> None:
    """A command that ends with a known fault in one line, and nothing half-told."""
    assert process.wait(180) in (2, 3), said(folder)
    lines = [line for line in said(folder).splitlines() if line.startswith("error:")]
    assert len(lines) == 1, said(folder)
    assert any(word in lines[0] for word in words), lines
    assert "Traceback" not in said(folder)
    (folder.path / "stderr.txt").write_text("", encoding="utf-8")


def test_a_disk_that_is_full_for_the_store(
    tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder, quiet: ChaosServer
) -> None:
    folder = copy(fresh, tmp_path / "review", quiet.url, ABSTRACTS, timeout=20)
    for largest in (30_000, 200_000):
        one_sentence(folder, start(folder, "run", largest=largest), "see to the disk", "cannot be opened")
        require_whole(folder)
    finish(folder, "run")
    assert told(folder) == told(undisturbed)


def test_a_disk_that_is_full_for_the_event_log(
    tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder, quiet: ChaosServer
) -> None:
    folder = copy(fresh, tmp_path / "review", quiet.url, ABSTRACTS, timeout=20)
    log = folder.path / "events.jsonl"
    log.symlink_to("/dev/full")
    one_sentence(folder, start(folder, "run"), "events.jsonl: cannot be written (No space left on device)")
    log.unlink()
    log.write_text('{"event": "torn by a cra', encoding="utf-8")
    finish(folder, "run")
    events = [json.loads(line)["event"] for line in log.read_text(encoding="utf-8").splitlines()[1:]]
    assert (events[0], events[-1]) == ("run started", "run ended")
    assert told(folder) == told(undisturbed)


@pytest.mark.parametrize(("what", "largest"), [("receipts", 300), ("part-", 8_000)])
def test_a_disk_that_is_full_for_a_worker(
    tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder, quiet: ChaosServer, what: str, largest: int
) -> None:
    folder = copy(fresh, tmp_path / "review", quiet.url, ABSTRACTS, timeout=20)
    job = cut(folder, shards=1)
    one_sentence(folder, start(folder, "work", str(job.path), "0", "--no-check", largest=largest), what)
    assert list(job.path.rglob("*.tmp")) == []
    assert merge(folder, job).refused == []
    finish(folder, "work", str(job.path), "0", "--no-check")
    assert merge(folder, job).pending == 0
    assert told(folder) == told(undisturbed)


def test_a_second_driver_is_told_and_the_first_is_not_disturbed(
    tmp_path: Path, fresh: ReviewFolder, undisturbed: ReviewFolder
) -> None:
    with ChaosServer(tmp_path / "server", Faults(delay=0.1)) as server:
        folder = copy(fresh, tmp_path / "review", server.url, ABSTRACTS, timeout=20)
        first = start(folder, "run")
        deadline = time.monotonic() + 120
        while not server.screening() and time.monotonic() < deadline:
            time.sleep(0.01)
        first.send_signal(signal.SIGSTOP)  # it holds the review all the while
        for words in ("run", "submit"):
            one_sentence(folder, start(folder, words), "another process holds the review")
        assert first.poll() is None
        first.send_signal(signal.SIGCONT)
        assert first.wait(180) == 0, said(folder)
        assert server.seen()["ok"] == folder.rows("select count(*) from calls")[0][0]
    assert folder.rows("select count(*) from runs") == [(1,)]
    assert told(folder) == told(undisturbed)


NOON = "Tue, 01 Dec 2026 12:00:00 GMT"


@pytest.mark.parametrize(
    ("asked", "date", "seconds"),
    [
        ("7", None, 7),
        (" 2.5 ", None, 2.5),
        ("Tue, 01 Dec 2026 12:00:09 GMT", NOON, 9),  # by the server's clock, whatever ours says
        ("Tue, 01 Dec 2026 11:00:00 GMT", NOON, 0),
        ("Tue, 01 Dec 2026 12:00:09 GMT", None, None),
        ("-5", NOON, None),
        ("nan", NOON, None),
        ("inf", NOON, None),
        ("soon", NOON, None),
        ("9" * 400, NOON, None),
        ("Thu, 99 Foo 2026", NOON, None),
        (None, NOON, None),
    ],
)
def test_what_a_busy_server_wishes_is_read_or_left(asked: str | None, date: str | None, seconds: float | None) -> None:
    headers = {name: value for name, value in (("Retry-After", asked), ("Date", date)) if value is not None}
    assert wished(headers) == seconds


def test_a_wait_is_never_endless_and_never_nothing() -> None:
    assert backoff(0, 0.5, 10.0**9) == 30
    assert backoff(3, 0.5, 0.0) >= 2.0
    assert backoff(0, 0.5, 7.0) == 7


def test_a_body_that_trickles_ends_with_the_time_given_to_a_call(tmp_path: Path) -> None:
    with ChaosServer(tmp_path / "server", Faults(loris=1.0, everywhere=False)) as server:
        folder = make(tmp_path / "review", 2, FIELDS, url=server.url)
        assert folder.rows("select count(*) from extraction where state = 'pending'") == [(1,)]
        outcome = folder.run()
        assert outcome.status == "incomplete"
        assert server.seen()["loris"] == 3
    (error,) = {error for (error,) in folder.rows("select error from failures")}
    assert "Timeout" in error


def test_a_busy_moment_gives_the_engine_no_other_name(folder: ReviewFolder, server: ModelServer) -> None:
    """Under another name of the engine every question would be put a second time."""
    folder.protocol(ABSTRACTS, url=server.url)
    spec = folder.review.protocol.models["m"]
    bad = [(429, "slow down"), (200, "<html>bad gateway</html>"), (200, ""), (503, "starting")]

    async def engine(faults: list[tuple[int, str]], monkeypatch: pytest.MonkeyPatch) -> str:
        backend = HttpBackend("m", spec, pause=0.001)
        get = backend._get

        async def faulty(url: str) -> tuple[int, str]:
            return faults.pop() if url.endswith("/version") and faults else await get(url)

        monkeypatch.setattr(backend, "_get", faulty)
        try:
            return await backend.engine()
        finally:
            await backend.close()

    with pytest.MonkeyPatch.context() as patched:
        for fault in bad:
            assert asyncio.run(engine([fault] * 3, patched)) == "vllm 0.32.0"
        with pytest.raises(BackendError, match="HTTP 429"):
            asyncio.run(engine([bad[0]] * 20, patched))


def test_a_report_whose_length_cannot_be_asked_stays_pending(tmp_path: Path, server: ModelServer) -> None:
    """A server without a tokenizer makes the plan a guess; one that is busy must not."""
    long = {"r1": " ".join(f"word{n}" for n in range(4000))}
    folder = ReviewFolder(tmp_path / "review")
    protocol(folder, server.url, REPORTS)
    folder.records(2)
    folder.texts(long)
    backend = HttpBackend("m", folder.review.protocol.models["m"], pause=0.001)

    async def busy(_: str) -> int | None:
        raise TimeoutError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(backend, "_count_once", busy)
        outcome = folder.run({"m": backend})
    assert (outcome.status, outcome.exit_code) == ("backend", 3)
    assert "the length of a report could not be asked (TimeoutError)" in outcome.words
    assert folder.states("full_text") == {"r1": "pending", "r2": "not retrieved"}
    assert server.asked == []
    assert run(folder) == "complete"  # this server has no tokenizer at all: it answers 404
    assert folder.states("full_text")["r1"] != "pending"


def test_nothing_is_written_before_what_it_rests_on() -> None:
    """A write that failed is made good by the next one, in the same order: no verdict without its calls."""
    kept: list[tuple[str, int]] = []
    full = [True]

    class Disk:
        def transaction(self) -> contextlib.AbstractContextManager[None]:
            return contextlib.nullcontext()

        def append(self, table: str, rows: Sequence[Mapping[str, Any]]) -> int:
            if full[0]:
                raise StoreError("the disk is full")
            kept.extend((table, row["n"]) for row in rows)
            return len(rows)

        def replies(self, keys: Sequence[str]) -> dict[str, Reply]:
            return {}

        def token_counts(self, model: str, revision: str, keys: Sequence[str]) -> dict[str, int]:
            return {}

    async def go() -> None:
        recorder = Recorder(Disk(), "run")
        recorder._add("calls", {"n": 1})
        with pytest.raises(StoreError):
            await recorder.flush()
        full[0] = False
        recorder._add("verdicts", {"n": 2})
        recorder._add("calls", {"n": 3})
        await recorder.flush()

    asyncio.run(go())
    assert kept == [("calls", 1), ("calls", 3), ("verdicts", 2)]
