"""Cases of the public bug log about servers and the store: S04, S07, S11, T01."""

import json
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from litcascade.cli.app import app
from litcascade.errors import BackendError, StoreError
from litcascade.store import Store, disk
from litcascade.store.disk import network_disk
from tests.support.reviews import ABSTRACTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say, is_canary, well_behaved


def load(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def test_case_s04_a_constraint_that_is_not_live_stops_the_run_before_it_asks(
    folder: ReviewFolder, server: ModelServer, cases: Path
) -> None:
    case = cases / "S04-constraint-silently-off"
    expected = load(case / "expected.json")
    bad, free = (load(case / f"{name}.json") for name in ("canary_reply_bad", "reply_unconstrained"))
    good = load(case / "canary_reply_good.json")
    assert good["choices"][0]["message"]["content"] in expected["canary"]["choices"]
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(3)
    server.answer = lambda _: Say(raw=json.dumps(bad))
    with pytest.raises(BackendError, match="ignored the constraint in silence") as refused:
        folder.run(probed=True)
    assert refused.value.fatal
    assert server.screening() == []
    assert folder.rows("select status from run_ends") == [("backend",)]
    assert set(folder.states("title_abstract").values()) == {"pending"}

    def answer(body: Body) -> Say:
        """As the good reply: one of the codes that the canary asked for; then free text all the same."""
        if not is_canary(body):
            return Say(raw=json.dumps(free))
        good["choices"][0]["message"]["content"] = body["structured_outputs"]["choice"][0]
        return Say(raw=json.dumps({**good, "usage": {"prompt_tokens": 5000, "completion_tokens": 1}}))

    server.answer = answer
    folder.run(probed=True)
    assert len(server.screening()) >= 3
    assert "guided_choice" not in server.screening()[0]  # the key that servers no longer know
    rows = folder.rows("select record_id, state, code from title_abstract")
    assert {row[1:] for row in rows} == {("referred", "answer cut at the token limit")}
    assert "vllm 0.32.0" in folder.rows("select models from runs order by seq desc limit 1")[0][0]


def test_case_s07_a_record_past_the_context_is_one_row_and_stops_no_other(
    folder: ReviewFolder, server: ModelServer, cases: Path
) -> None:
    case = cases / "S07-one-long-row-kills-batch"
    expected, script = load(case / "expected.json"), load(case / "server_script.json")
    records = [{key: str(value) for key, value in row.items()} for row in lines(case / "records.jsonl")]

    def answer(body: Body) -> Say:
        words = sum(len(message["content"].split()) for message in body["messages"])
        if words > script["max_model_len"]:
            return Say(status=script["on_too_long"]["status"], raw=json.dumps(script["on_too_long"]["body"]))
        return well_behaved(body)

    server.answer = answer
    folder.protocol(ABSTRACTS, url=server.url, retries=4)
    folder.records(records)
    outcome = folder.run()
    rows = dict(folder.rows("select record_id, [state, code] from title_abstract"))
    assert len(rows) == expected["n_rows_out"]
    assert rows["1"][0] == rows["3"][0] == "included"
    assert rows["2"] == ["referred", "longer than the model can read"]
    asked = [body for body in server.screening() if "Book of abstracts" in body["messages"][-1]["content"]]
    assert len(asked) <= expected["http_calls_for_2_max"]
    assert outcome.ledger[0].states["referred"] == 1
    assert outcome.ledger[0].closes()


def test_case_s11_a_dead_engine_is_given_up_soon_and_only_the_rest_is_asked_again(
    folder: ReviewFolder, server: ModelServer, cases: Path
) -> None:
    case = cases / "S11-server-dies-mid-batch"
    expected, script = load(case / "expected.json"), load(case / "server_script.json")
    records = [{key: str(value) for key, value in row.items()} for row in lines(case / "records.jsonl")]
    plan: dict[int, Any] = {}
    for step in script["replies"]:
        first, _, last = str(step["n"]).partition("-")
        plan |= dict.fromkeys(range(int(first), int(last or first) + 1), step)

    def number(body: Body) -> int:
        text = body["messages"][-1]["content"]
        return next(n for n in range(len(records), 0, -1) if f"Study {n}\n" in text)

    def dying(body: Body) -> Say:
        step = plan[min(number(body), 9)]
        if "reply" in step:
            return Say(raw=json.dumps(step["reply"]))
        if step.get("drop_connection"):
            return Say(close=True)
        return Say(status=step["status"], raw=json.dumps(step["body"])) if "status" in step else Say(delay=step["delay_s"])

    server.answer = dying
    folder.protocol(ABSTRACTS, url=server.url)
    text = (folder.path / "review.toml").read_text()
    (folder.path / "review.toml").write_text(text.replace("concurrency = 16", "concurrency = 1"))
    folder.records(records)
    outcome = folder.run()
    assert outcome.status == "backend"
    assert "taken to be down" in outcome.words
    states = folder.states("title_abstract")
    done = sorted(int(name) for name, state in states.items() if state != "pending")
    assert done == expected["first_pass"]["done"]
    assert sorted(int(name) for name, state in states.items() if state == "pending") == expected["first_pass"]["not_done"]
    assert len(server.asked) == 8  # five failures in a row, and nothing was put after them
    server.asked.clear()
    server.answer = lambda _: Say(raw=json.dumps(script["after_restart"]))
    assert folder.run().status == "complete"
    assert sorted(map(number, server.asked)) == expected["resume"]["asked_again"]
    assert len(folder.states("title_abstract")) == expected["rows_total"]
    assert folder.rows("select count(*) - count(distinct key) from calls") == [(expected["duplicates"],)]


WRITER = """
import os, sys
from pathlib import Path
from litcascade.store import Store
store = Store(Path(sys.argv[1]))
store._connection.execute("pragma wal_autocheckpoint = '1TB'")
row = lambda i: {"key": str(i), "text": "include " + "x" * 400}
for start in range(0, 40_000, 100):
    store.append("calls", [row(i) for i in range(start, start + 100)])
with store.transaction():
    store.append("calls", [row(-1)])
    os.kill(os.getpid(), 9)
"""
OPENER = """
import sys
from pathlib import Path
from litcascade.errors import StoreError
from litcascade.store import Store
try:
    Store(Path(sys.argv[1]))
except StoreError as error:
    print(error)
"""


def test_case_t01_one_writer_many_threads_and_other_processes_are_told(tmp_path: Path, cases: Path) -> None:
    expected = load(cases / "T01-duckdb-lock-wal" / "expected.json")["lock"]
    path = tmp_path / "review.duckdb"
    failed: list[Exception] = []

    def work(store: Store, worker: int) -> None:
        try:
            store.append("calls", [{"key": f"{worker} {i}", "text": "include"} for i in range(100)])
        except StoreError as error:
            failed.append(error)

    with Store(path, create=True) as store:
        threads = [threading.Thread(target=work, args=(store, worker)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        other = subprocess.run([sys.executable, "-c", OPENER, path], capture_output=True, text=True, check=True)
        assert "another process" in other.stdout
        assert len(other.stdout.splitlines()) == 1
        assert store.value("select count(*) from calls") == expected["rows"]
    assert len(failed) == expected["failed_workers"]


def test_case_t01_a_kill_in_mid_transaction_loses_what_was_not_committed_and_nothing_else(tmp_path: Path, cases: Path) -> None:
    expected = load(cases / "T01-duckdb-lock-wal" / "expected.json")["wal"]
    path = tmp_path / "review.duckdb"
    Store(path, create=True).close()
    writer = subprocess.run([sys.executable, "-c", WRITER, path], check=False)
    assert writer.returncode == -9
    assert path.with_name(path.name + ".wal").stat().st_size > 10_000_000
    with Store(path) as store:  # within the memory that the program allows itself
        assert store.value("select count(*) from calls") == expected["rows_after_kill"]
        assert store.value("select count(*) from calls where key = '-1'") == expected["uncommitted_rows"]


MOUNTS = """overlay / overlay rw,relatime 0 0
/dev/sda1 /home ext4 rw 0 0
filer:/reviews /home/our\\040team nfs4 rw,vers=4.2,local_lock=none 0 0
scratch@tcp:/fs /scratch lustre rw,flock 0 0
/dev/sdb1 /scratch/local ext4 rw 0 0
a:/b /covered nfs rw 0 0
tmpfs /covered tmpfs rw 0 0
torn
"""


@pytest.mark.parametrize(
    ("folder", "kind"),
    [
        ("/home/our team/review", "nfs4"),
        ("/home/our team", "nfs4"),
        ("/home/our teammate", None),
        ("/scratch/me", "lustre"),
        ("/scratch/local/me", None),
        ("/covered/review", None),
        ("/home/anna", None),
        ("/", None),
    ],
)
def test_case_t01_a_network_disk_is_known_by_the_deepest_mount(tmp_path: Path, folder: str, kind: str | None) -> None:
    table = tmp_path / "mounts"
    table.write_text(MOUNTS, encoding="utf-8")
    assert network_disk(Path(folder), table) == kind
    assert network_disk(Path(folder), tmp_path / "absent") is None


def test_case_t01_commands_that_write_warn_of_a_network_disk(
    folder: ReviewFolder, server: ModelServer, cases: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert load(cases / "T01-duckdb-lock-wal" / "expected.json")["network_disk"].startswith("refuse or warn")
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(3)
    table = tmp_path / "mounts"
    table.write_text(f"/dev/sda1 / ext4 rw 0 0\nfiler:/x {folder.path.resolve()} nfs4 rw 0 0\n", encoding="utf-8")
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    for number, path in enumerate((first, second)):
        path.write_text(f"record_id,title\nx{number},Zinc and colds\n", encoding="utf-8")
    commands = [[["check", "--no-models"]] * 2, [["import", str(first)], ["import", str(second)]], [["run"]] * 2, [["merge"]] * 2]
    for on_own_disk, on_shared_disk in commands:
        quiet = CliRunner().invoke(app, [*on_own_disk, "--review", str(folder.path)])
        assert "network disk" not in quiet.stderr
        with monkeypatch.context() as patched:
            patched.setattr(disk, "MOUNTS", table)
            told = CliRunner().invoke(app, [*on_shared_disk, "--review", str(folder.path)])
        assert told.exit_code == quiet.exit_code
        assert "lies on a network disk (nfs4)" in told.stderr
