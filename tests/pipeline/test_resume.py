"""Stop it anywhere, run it again: nothing lost, nothing asked twice; done means a decision, not a line in a file."""

import hashlib
import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from litcascade.backends.recorded import read_recording
from litcascade.backends.scripted import ScriptedBackend
from litcascade.schemas import Reply
from tests.support.reviews import ABSTRACTS, REPORTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say, asked_labels, is_canary

KILLS = 20


def decide(body: Body) -> Say:
    """A deterministic model: its answer is a function of the question."""
    text = json.dumps(body["messages"])
    mark = int(hashlib.sha256(text.encode()).hexdigest()[:4], 16)
    labels = asked_labels(body)
    if is_canary(body):
        return Say(labels[0], prompt_tokens=2000, top={labels[0]: -0.1, labels[1]: -2.0})
    if "unclear" in labels:
        return Say(labels[mark % 3], delay=0.02)
    if labels:
        return Say(["yes", "no", "banana"][mark % 3], delay=0.02)
    return Say(["Decision: include", "Decision: exclude", "Hard to say."][mark % 3], delay=0.02)


def start(folder: Path) -> "subprocess.Popen[bytes]":
    command = [sys.executable, "-m", "litcascade", "run", "--review", str(folder)]
    with (folder / "stderr.txt").open("ab") as errors:
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors)


def make(path: Path, url: str) -> ReviewFolder:
    folder = ReviewFolder(path)
    folder.protocol(ABSTRACTS, REPORTS, url=url)
    folder.records(600)
    folder.texts({f"r{i}": f"Methods\n\nTrial {i} gave zinc to adults." for i in range(1, 601, 2)})
    return folder


def verdicts(folder: ReviewFolder) -> list[tuple[object, ...]]:
    return folder.rows(
        "select 'a', record_id, state, code, reason, score from title_abstract union all "
        "select 'f', record_id, state, code, reason, score from full_text order by 1, 2"
    )


def test_kill_nine_at_random_moments_changes_nothing(tmp_path: Path, server: ModelServer) -> None:
    server.answer = decide
    calm = make(tmp_path / "calm", server.url)
    assert start(calm.path).wait(120) == 0
    undisturbed = len(server.screening())
    server.asked.clear()
    wild = make(tmp_path / "wild", server.url)
    draw = random.Random(20261130)
    killed = 0
    for _ in range(KILLS):
        process = start(wild.path)
        moment = draw.uniform(0.0, 0.4)
        before = len(server.asked)
        deadline = time.monotonic() + 60
        while process.poll() is None and len(server.asked) == before and time.monotonic() < deadline:
            time.sleep(0.005)  # until the run has begun to ask
        time.sleep(moment)
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
            killed += 1
        process.wait(30)
        with wild.review.open() as store:  # every state on the way is whole
            assert store.value("select count(*) from title_abstract") == 600
            assert store.value("select count(*) - count(distinct key) from calls") == 0
            orphans = "select count(*) from readings, unnest(calls) as c(key) where c.key not in (select key from calls)"
            assert store.value(orphans) == 0
    assert killed == KILLS
    finished = start(wild.path)
    assert finished.wait(120) == 0, (wild.path / "stderr.txt").read_text(encoding="utf-8")
    assert verdicts(wild) == verdicts(calm)
    assert wild.rows("select key from calls order by 1") == calm.rows("select key from calls order by 1")
    assert undisturbed == calm.rows("select count(*) from calls")[0][0]
    assert start(wild.path).wait(120) == 0
    again = len(server.screening())
    assert start(wild.path).wait(120) == 0
    assert len(server.screening()) == again


def test_an_interrupt_ends_cleanly_and_the_next_run_goes_on(tmp_path: Path, server: ModelServer) -> None:
    server.answer = decide
    folder = make(tmp_path / "r", server.url)
    process = start(folder.path)
    deadline = time.monotonic() + 60
    while len(server.screening()) < 40 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 130
    assert folder.rows("select status from run_ends") == [("interrupted",)]
    done = folder.rows("select count(*) from calls")[0][0]
    assert 0 < done < 400
    assert done == len(server.screening())  # what was on its way was stored, and nothing more was put
    assert start(folder.path).wait(120) == 0
    assert folder.rows("select count(*) from title_abstract where state = 'pending'") == [(0,)]


def test_case_s15_done_means_a_whole_answer(folder: ReviewFolder, server: ModelServer, cases: Path) -> None:
    case = cases / "S15-failure-cached-as-done"
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    ids = json.loads((case / "all_ids.json").read_text(encoding="utf-8"))
    rows = [{"id": str(i), "title": f"Trial {i}", "abstract": f"Zinc in trial {i}."} for i in ids]
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(rows)
    keys: dict[int, str] = {}

    def remember(request: object) -> None:
        text = request.messages[-1].content  # type: ignore[attr-defined]
        keys[next(i for i in ids if f"trial {i}." in text)] = request.key  # type: ignore[attr-defined]

    engine = ScriptedBackend(remember, engine="vllm 0.32.0")
    folder.run({"m": engine})
    assert set(folder.states("title_abstract").values()) == {"pending"}
    # the file of an earlier run, as the case has it: good rows, errors, an empty output, a torn last line
    lines = []
    for line in (case / "results.jsonl").read_text(encoding="utf-8").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            lines.append(line)
            continue
        whole = row.get("status") == "ok" and row.get("decision")
        reply = {"key": keys[row["id"]], "text": row["decision"] if whole else row.get("output"), "finish_reason": "stop"}
        lines.append(
            json.dumps(
                {"model": {"name": "m", "engine": "vllm 0.32.0"}, **({"reply": reply} if row.get("status") == "ok" else row)}
            )
        )
    path = folder.path / "replies.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    recording = read_recording(path)
    assert len(recording.replies) == 2
    assert len(recording.set_aside) == 5
    recorded = ABSTRACTS.replace('model = "m"', 'model = "old"')
    folder.protocol('[models.old]\nbackend = "recorded"\nfile = "replies.jsonl"\n', recorded, url=server.url)
    assert folder.run().status == "incomplete"
    states = folder.states("title_abstract")
    assert sorted(int(name) for name, state in states.items() if state != "pending") == expected["kept"]
    folder.protocol(ABSTRACTS, url=server.url)
    assert folder.run().status == "complete"
    asked = sorted(next(i for i in ids if f"trial {i}." in body["messages"][-1]["content"]) for body in server.screening())
    assert asked == expected["asked_again_on_resume"]


def test_a_published_run_again_without_any_model(folder: ReviewFolder, server: ModelServer) -> None:
    from litcascade.pipeline.exporting import export

    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(30)
    folder.run()
    before = verdicts(folder)
    review = folder.review
    with review.open() as store:
        assert export(review, store, "replies", folder.path / "replies.jsonl").rows == len(server.asked)
    other = ReviewFolder(folder.path.parent / "other")
    (other.path / "replies.jsonl").write_bytes((folder.path / "replies.jsonl").read_bytes())
    other.protocol(
        '[models.old]\nbackend = "recorded"\nfile = "replies.jsonl"\n', ABSTRACTS.replace('model = "m"', 'model = "old"')
    )
    other.records(30)
    assert other.run().status == "complete"
    assert verdicts(other) == before


def test_a_changed_prompt_asks_what_it_must_and_a_changed_budget_nothing(folder: ReviewFolder, server: ModelServer) -> None:
    server.answer = decide
    folder.protocol(ABSTRACTS, url=server.url)
    folder.records(10)
    folder.run()
    server.asked.clear()
    folder.protocol(ABSTRACTS, "[budget]\ncalls = 1000\n", url=server.url)
    assert folder.run().status == "complete"
    assert server.asked == []
    folder.protocol(ABSTRACTS.replace('"inclusion"', '"basic"'), url=server.url)
    assert folder.run().status == "complete"
    assert len(server.asked) >= 10
    server.asked.clear()
    folder.protocol(ABSTRACTS, url=server.url)
    assert folder.run().status == "complete"
    assert server.asked == []


def test_a_new_text_of_a_report_is_screened_anew(folder: ReviewFolder) -> None:
    folder.protocol(REPORTS)
    folder.records(2)
    folder.texts({"r1": "Old text of a report."})
    backend = ScriptedBackend(lambda r: Reply(key=r.key, text="Decision: include"))
    folder.run({"m": backend})
    assert folder.states("full_text") == {"r1": "included", "r2": "not retrieved"}
    folder.texts({"r1": "New text of a report.", "r2": "Another report."})
    assert folder.states("full_text") == {"r1": "pending", "r2": "pending"}
    folder.run({"m": backend})
    assert folder.states("full_text") == {"r1": "included", "r2": "included"}
    assert len(backend.asked) == 3
