"""Counters of the last run as Prometheus reads them."""

from pathlib import Path

from typer.testing import CliRunner

from litcascade.cli.app import app
from litcascade.pipeline.counters import prometheus
from litcascade.pipeline.events import EventLog, read_events
from litcascade.pipeline.shards.looking import JobState, ShardState
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import ModelServer


def values(text: str) -> dict[str, float]:
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in text.splitlines() if not line.startswith("#")}


def test_a_run_that_ended_tells_what_it_did(folder: ReviewFolder, server: ModelServer) -> None:
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(7)
    folder.run()
    done = CliRunner().invoke(app, ["status", "--prometheus", "--review", str(folder.path)])
    assert done.exit_code == 0, done.output
    told = values(done.stdout)
    assert told["litcascade_run_running"] == 0
    assert told["litcascade_run_calls"] == 7
    assert told['litcascade_stage_pending_records{stage="title_abstract"}'] == 7
    assert told['litcascade_stage_done_records{stage="title_abstract"}'] == 7
    EventLog(folder.path / "events.jsonl").write("judged", items=3)  # what comes after a run does not begin it again
    after = values(CliRunner().invoke(app, ["status", "--prometheus", "--review", str(folder.path)]).stdout)
    assert after["litcascade_run_running"] == 0
    assert done.stdout.count("# TYPE litcascade_run_calls gauge") == 1


def test_a_run_under_way_is_told_even_where_its_beginning_is_out_of_sight(tmp_path: Path) -> None:
    log = EventLog(tmp_path / "events.jsonl")
    log.write("run ended", run="a", status="complete", spent={"calls": 9})
    log.write("run started", run="b")
    log.write("engine", url='http://h:1/"v1"', running=3, waiting=2, cache_used=0.25)
    for done in range(300):
        log.write("progress", stage="full_text", done=done, total=900, calls=done, tokens=10 * done)
    told = values(prometheus(read_events(tmp_path / "events.jsonl"), []))
    assert told["litcascade_run_running"] == 1
    assert told['litcascade_stage_done_records{stage="full_text"}'] == 299
    assert told['litcascade_stage_pending_records{stage="full_text"}'] == 900
    assert told["litcascade_run_tokens"] == 2990
    early = values(prometheus(read_events(tmp_path / "events.jsonl", last=400), []))
    assert early['litcascade_engine_waiting_requests{url="http://h:1/\\"v1\\""}'] == 2
    assert early["litcascade_run_calls"] == 299  # not those of the run before


def test_what_was_never_told_is_left_out_and_shards_are_counted() -> None:
    shards = tuple(ShardState(n, state, 5, 0) for n, state in enumerate(("complete", "working", "complete")))
    told = prometheus([], [JobState("one", "title_abstract", 15, None, (), shards)])
    assert values(told) == {
        'litcascade_job_shards{job="one",state="complete"}': 2,
        'litcascade_job_shards{job="one",state="working"}': 1,
    }
    assert prometheus([], []) == ""
