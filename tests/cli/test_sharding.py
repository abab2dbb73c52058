"""`submit`, `work`, `merge` and what `status` shows of jobs, through the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from litcascade.cli.app import app
from litcascade.errors import InputError
from litcascade.pipeline.shards.job import JobFolder
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import ModelServer
from tests.support.shards import decide, parts


@pytest.fixture
def ready(folder: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch) -> ReviewFolder:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(12)
    monkeypatch.chdir(folder.path)
    return folder


def say(*words: str, code: int = 0) -> str:
    """Run a command in this process; returns what it printed, the error's words where it failed."""
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == code or result.exception is not None, result.output
    if isinstance(result.exception, InputError):
        raise result.exception
    assert result.exit_code == code, result.output
    return result.stdout


def as_json(*words: str, code: int = 0) -> Any:
    return json.loads(say(*words, "--json", code=code))


def test_a_job_by_hand_from_cut_to_merge(ready: ReviewFolder) -> None:
    told = say("submit", "--shards", "2", "--name", "one")
    assert "litcascade work jobs/one 0" in told
    assert "litcascade merge one" in told
    assert as_json("status")["jobs"][0]["shards"][0]["state"] == "not begun"
    assert "shard 0: complete: all 6 record(s) have a verdict" in say("work", "jobs/one", "0")
    shown = say("status")
    assert "1 complete, 1 not begun" in shown
    (merged,) = as_json("merge", "one")
    assert (merged["shards"]["complete"], merged["shards"]["not begun"], merged["added"]["verdicts"]) == (1, 1, 6)
    assert as_json("work", "one", "1")["status"] == "complete"
    assert "verdicts added" in say("merge")
    with pytest.raises(InputError, match="there is no job to merge"):
        say("merge")
    assert "merged" in say("status")
    assert sum(as_json("merge", "one")[0]["added"].values()) == 0
    assert set(ready.states("title_abstract").values()) <= {"included", "excluded", "referred"}


def test_a_dry_run_writes_nothing(ready: ReviewFolder) -> None:
    before = ready.rows(
        "select (select count(*) from runs), (select count(*) from stage_versions), (select count(*) from protocols)"
    )
    told = say("submit", "--shards", "3", "--slurm", "--dry-run")
    assert "would cut 12 record(s) pending at title_abstract into 3 shard(s)" in told
    assert "#SBATCH --array=0-2" in told
    assert not (ready.path / "jobs").exists()
    after = ready.rows(
        "select (select count(*) from runs), (select count(*) from stage_versions), (select count(*) from protocols)"
    )
    assert after == before
    assert "{{JOB}}" in say("submit", "--print-template")


def test_status_shows_jobs_while_another_process_holds_the_store(ready: ReviewFolder) -> None:
    say("submit", "--shards", "2", "--name", "one")
    say("work", "one", "0")
    code = "import time; from pathlib import Path; from litcascade.store import Store; held = Store(Path('review.duckdb')); print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        status = as_json("status", "--review", str(ready.path))
        assert status["running"]
        assert [shard["state"] for shard in status["jobs"][0]["shards"]] == ["complete", "not begun"]
        say("work", "one", "1")  # a worker does not need the store
        holder.kill()


def test_an_engine_may_be_named_where_none_runs_and_endpoints_given_to_the_worker(
    ready: ReviewFolder, server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready.protocol(ABSTRACTS, url="http://127.0.0.1:9/v1")
    result = CliRunner().invoke(app, ["submit"])
    assert "name it: --engine MODEL=" in str(result.exception)
    with pytest.raises(InputError, match="is no engine; write MODEL=VALUE"):
        say("submit", "--engine", "vllm")
    with pytest.raises(InputError, match="no stage asks a model of that name"):
        say("submit", "--engine", "other=vllm 1")
    say("submit", "--shards", "2", "--name", "one", "--engine", "m=vllm 0.32.0")
    with pytest.raises(InputError, match="no model 'x' to give an endpoint"):
        say("work", "one", "0", "--endpoint", "x=http://127.0.0.1:1/v1")
    say("work", "one", "0", "--endpoint", f"m={server.url}")
    monkeypatch.setenv("LITCASCADE_ENDPOINTS", f"m={server.url}")
    say("work", "one", "1")
    assert as_json("merge")[0]["pending"] == 0


def test_slurm_by_a_false_sbatch_and_the_unfinished_shards_again(
    ready: ReviewFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sbatch = tmp_path / "bin" / "sbatch"
    sbatch.parent.mkdir()
    sbatch.write_text("#!/bin/sh\necho 'no such account' >&2\nexit 1\n", encoding="utf-8")
    sbatch.chmod(0o755)
    monkeypatch.setenv("PATH", f"{sbatch.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(InputError, match=r"sbatch refused the job .no such account.*submit --resume one --slurm"):
        say("submit", "--shards", "3", "--slurm", "--name", "one")
    sbatch.write_text("#!/bin/sh\necho 17\n", encoding="utf-8")
    say("work", "one", "1")
    told = as_json("submit", "--resume", "one", "--slurm")
    assert (told["slurm"], told["shards"]) == ("17", [0, 2])
    script = (ready.path / "jobs" / "one" / "slurm-0.sh").read_text(encoding="utf-8")
    assert "#SBATCH --array=0,2" in script
    assert "17" in say("status")
    for shard in ("0", "2"):
        say("work", "one", shard)
    with pytest.raises(InputError, match="every shard of 'one' is complete"):
        say("submit", "--resume", "one")


def test_wrong_turns_are_one_sentence_each(ready: ReviewFolder) -> None:
    with pytest.raises(InputError, match="is no job"):
        say("work", "nowhere", "0")
    with pytest.raises(InputError, match="either --shards or --records-per-shard"):
        say("submit", "--shards", "2", "--records-per-shard", "5")
    with pytest.raises(InputError, match="--template goes with --slurm"):
        say("submit", "--template", "x.sh")
    with pytest.raises(InputError, match="there is no such template"):
        say("submit", "--slurm", "--template", "x.sh")
    assert not (ready.path / "jobs").exists()
    say("submit", "--shards", "2", "--name", "one")
    job = JobFolder(ready.path / "jobs" / "one")
    say("work", "one", "0")
    (torn,) = parts(job, 0)
    torn.write_bytes(b"PAR1")
    assert "cut short" in say("merge", code=3)
    file = job.path / "job.json"
    whole = file.read_text(encoding="utf-8")
    file.write_text(whole[:50], encoding="utf-8")
    with pytest.raises(InputError, match="is not whole JSON"):
        say("work", "one", "1")
    assert "is not whole JSON" in say("status")  # a broken job does not hide the review
    file.write_text(whole.replace('"format": 1', '"format": 2'), encoding="utf-8")
    with pytest.raises(InputError, match="has format 2, this litcascade reads format 1"):
        say("merge", "one")


def test_a_run_says_that_a_job_of_its_stage_is_out(ready: ReviewFolder) -> None:
    say("submit", "--name", "one", "--shards", "2")
    done = CliRunner().invoke(app, ["run", "--no-check", "--review", str(ready.path)])
    assert done.exit_code == 0
    assert "job 'one' of title_abstract is not merged" in " ".join(done.output.split())
