"""Jobs on a real Slurm of one node: arrays, requeues, dependencies, cancelled and killed tasks; and faults of a false `sbatch`."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from litcascade.errors import InputError
from litcascade.pipeline.shards.job import JobFolder
from litcascade.pipeline.shards.looking import job_states
from litcascade.pipeline.shards.slurm import ranges, render, shipped_template, submit, unfinished
from tests.conftest import need
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import ModelServer
from tests.support.shards import cut, decide, merge, parts, slowly, told
from tests.support.slurm import SlurmNode, missing, wait_for


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SlurmNode]:
    fault = missing()
    need("slurm", fault is None, str(fault))
    with SlurmNode(tmp_path_factory.mktemp("slurm")) as running:
        yield running


@pytest.fixture
def slurm(node: SlurmNode, monkeypatch: pytest.MonkeyPatch) -> SlurmNode:
    for name in ("SLURM_CONF", "PATH"):
        monkeypatch.setenv(name, node.env[name])
    return node


def make(path: Path, url: str, records: int) -> ReviewFolder:
    folder = ReviewFolder(path)
    folder.protocol(ABSTRACTS, url=url)
    folder.records(records)
    return folder


def undisturbed(path: Path, server: ModelServer, records: int) -> dict[str, list[tuple[object, ...]]]:
    server.answer = decide
    calm = make(path, server.url, records)
    calm.run()
    server.asked.clear()
    return told(calm)


def hand_over(job: JobFolder, template: Path | None = None) -> str:
    return submit(job, unfinished(job, job.read()), template)


def ended(slurm: SlurmNode, number: str, job: JobFolder) -> None:
    over = {"COMPLETED", "FAILED", "CANCELLED", "NODE_FAIL", "TIMEOUT"}

    def all_over() -> bool:
        slurm.hurry(number)
        states = slurm.states(number)
        return bool(states) and over.issuperset(states)

    wait_for(all_over, 300, lambda: logs(slurm, job))


def logs(slurm: SlurmNode, job: JobFolder) -> str:
    return slurm.logs() + "".join(path.read_text(encoding="utf-8") for path in sorted(job.logs.iterdir()))


def running(slurm: SlurmNode, server: ModelServer, job: JobFolder, asked: int) -> None:
    wait_for(lambda: len(server.screening()) >= asked, 180, lambda: logs(slurm, job))


def test_an_array_over_shards_gives_the_verdicts_of_one_process(tmp_path: Path, server: ModelServer, slurm: SlurmNode) -> None:
    expected = undisturbed(tmp_path / "calm", server, 60)
    folder = make(tmp_path / "review", server.url, 60)
    job = cut(folder, shards=3)
    number = hand_over(job)
    after = slurm(
        "sbatch",
        "--parsable",
        f"--dependency=afterany:{number}",
        f"--output={tmp_path}/after.txt",
        "--wrap",
        "squeue -h -t R -o %A",
    ).strip()
    ended(slurm, number, job)
    assert set(slurm.states(number)) == {"COMPLETED"}, logs(slurm, job)
    wait_for(lambda: slurm.states(after) == ["COMPLETED"], 60)  # what depends on the array runs after all of it
    state = job_states(folder.path)[0]
    assert (state.slurm, state.counts(), state.decided) == ((number,), {"complete": 3}, 60)
    receipt = job.read_receipt(1)
    assert receipt is not None
    assert receipt.slurm == f"{number}_1"
    assert merge(folder, job).pending == 0
    assert told(folder) == expected


def test_a_requeued_task_goes_on_where_it_was(tmp_path: Path, server: ModelServer, slurm: SlurmNode) -> None:
    expected = undisturbed(tmp_path / "calm", server, 400)
    server.answer = slowly
    folder = make(tmp_path / "review", server.url, 400)
    job = cut(folder, shards=1)
    number = hand_over(job)
    running(slurm, server, job, 40)
    slurm("scontrol", "requeue", f"{number}_0")
    ended(slurm, number, job)
    assert slurm.states(number) == ["COMPLETED"], logs(slurm, job)
    receipt = job.read_receipt(0)
    assert receipt is not None
    assert receipt.slurm == f"{number}_0 (restarted 1 times)"
    assert merge(folder, job).pending == 0
    assert told(folder) == expected
    assert len(server.screening()) == len(expected["calls"])  # SIGTERM lets the worker keep all that was answered


def test_a_killed_worker_and_a_cancelled_task_are_taken_up_by_a_second_submission(
    tmp_path: Path, server: ModelServer, slurm: SlurmNode
) -> None:
    expected = undisturbed(tmp_path / "calm", server, 400)
    server.answer = slowly
    folder = make(tmp_path / "review", server.url, 400)
    job = cut(folder, shards=2)
    number = hand_over(job)
    running(slurm, server, job, 60)
    killed = worker_of(job, 0)
    if killed is not None:
        os.kill(killed, signal.SIGKILL)
    slurm("scancel", f"{number}_1")
    ended(slurm, number, job)
    assert "CANCELLED" in slurm.states(number)  # and it is not brought back by its own script
    left = unfinished(job, job.read())
    assert left
    first = merge(folder, job)
    assert first.refused == []
    again = hand_over(job)
    ended(slurm, again, job)
    assert unfinished(job, job.read()) == []
    assert merge(folder, job).pending == 0
    assert told(folder) == expected
    assert sum(merge(folder, job).added.values()) == 0
    assert [array.shards for array in job.read().arrays] == ["0-1", ranges(left)]


def worker_of(job: JobFolder, shard: int) -> int | None:
    """The process that works a shard, by its own command line."""
    wanted = ["work", str(job.path), str(shard)]
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = path.read_bytes().decode().split("\0")
        except OSError:
            continue
        if words[-4:-1] == wanted:
            return int(path.parent.name)
    return None


def test_a_server_that_is_down_requeues_the_task_until_it_is_up(tmp_path: Path, server: ModelServer, slurm: SlurmNode) -> None:
    expected = undisturbed(tmp_path / "calm", server, 10)
    folder = make(tmp_path / "review", server.url, 10)
    job = cut(folder, shards=1)
    template = tmp_path / "site.sh"
    first_dead = '[ "${SLURM_RESTART_COUNT:-0}" -lt 1 ] && export LITCASCADE_ENDPOINTS="m=http://127.0.0.1:9/v1"\nworker=""'
    template.write_text(shipped_template().replace('worker=""', first_dead, 1), encoding="utf-8")
    number = hand_over(job, template)
    ended(slurm, number, job)
    assert slurm.states(number) == ["COMPLETED"], logs(slurm, job)
    assert "cannot be reached" in (job.logs / "0.log").read_text(encoding="utf-8")
    merge(folder, job)
    assert told(folder) == expected


FALSE = {
    "fails": (
        "echo 'Batch job submission failed: Invalid account' >&2; exit 1",
        "sbatch refused the job .*Invalid account.*--resume",
    ),
    "says nothing": ("exit 1", "sbatch refused the job .exit code 1."),
    "hangs": ("exec sleep 30", "gave no answer within 0.5 s and may have taken the job or not"),
    "garbage": ("echo '<html>welcome</html>'", "sbatch answered '<html>welcome</html>' where a job number was due"),
    "silent": ("exit 0", "sbatch answered '' where a job number was due"),
}


@pytest.fixture
def job(folder: ReviewFolder, server: ModelServer) -> JobFolder:
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(10)
    return cut(folder, shards=2, name="one")


def false_sbatch(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / "sbatch"
    path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    path.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.parametrize("name", FALSE)
def test_faults_of_sbatch_are_one_sentence_each_and_the_job_stays(
    name: str, job: JobFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script, words = FALSE[name]
    false_sbatch(tmp_path / "bin", script, monkeypatch)
    with pytest.raises(InputError, match=words):
        submit(job, [0, 1], patience=0.5)
    assert job.read().arrays == ()
    false_sbatch(tmp_path / "bin", "echo 'Welcome to the cluster'; echo '4711;main'", monkeypatch)
    assert submit(job, [0, 1]) == "4711"
    assert [(array.slurm_id, array.shards) for array in job.read().arrays] == [("4711", "0-1")]


def test_no_sbatch_at_all(job: JobFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="there is no sbatch on this machine; the job is safe"):
        submit(job, [0, 1])


def test_a_sites_template_has_named_places(job: JobFolder, tmp_path: Path) -> None:
    template = tmp_path / "site.sh"
    template.write_text(
        "#!/bin/bash\n#SBATCH --array={{ARRAY}}%2\n{{COMMAND}} work {{JOB}} $SLURM_ARRAY_TASK_ID\n", encoding="utf-8"
    )
    script = render(job, job.read(), [0, 1, 2, 7, 9, 10], template)
    assert "--array=0-2,7,9-10%2" in script
    assert f"-m litcascade work {job.path.resolve()} $SLURM" in script
    template.write_text("{{ARRAY}} {{JOBS}}", encoding="utf-8")
    with pytest.raises(InputError, match=r"site\.sh: there is no place 'JOBS'.*JOB"):
        render(job, job.read(), [0], template)
    template.write_text("{{JOB}}", encoding="utf-8")
    with pytest.raises(InputError, match=r"must hold \{\{ARRAY\}\}"):
        render(job, job.read(), [0], template)
    with pytest.raises(InputError, match="there is no such template"):
        render(job, job.read(), [0], tmp_path / "none.sh")
    assert not parts(job, 0)
