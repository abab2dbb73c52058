"""The command line as a user meets it: wrong turns give one sentence and leave nothing behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from litcascade.schemas import parse_protocol
from tests.support.reviews import ABSTRACTS, FIELDS, REPORTS, ReviewFolder
from tests.support.server import ModelServer, Say, well_behaved


def cli(*arguments: str | Path, cwd: Path | None = None, **environment: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "litcascade", *map(str, arguments)]
    env = {**os.environ, "COLUMNS": "120", **environment}
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd, env=env)


def one_sentence(result: "subprocess.CompletedProcess[str]", code: int = 2) -> str:
    assert result.returncode == code, (result.stdout, result.stderr)
    assert "Traceback" not in result.stderr
    lines = [line for line in result.stderr.splitlines() if line.startswith("error: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]


def test_init_check_import_run_status_score_report_export(tmp_path: Path, server: ModelServer) -> None:
    home = tmp_path / "zinc"
    assert cli("init", home).returncode == 0
    assert parse_protocol((home / "review.toml").read_text(encoding="utf-8"))
    assert "is there already" in one_sentence(cli("init", home))
    folder = ReviewFolder(home)
    folder.protocol(ABSTRACTS, REPORTS, FIELDS, url=server.url)
    (home / "in.csv").write_text(
        "id,title,abstract,title_abstract\na,Zinc,Adults took zinc.,include\nb,Copper,,exclude\n", encoding="utf-8"
    )
    received = cli("import", home / "in.csv", "--review", home)
    assert received.returncode == 0
    assert "records in the file" in received.stdout
    assert cli("import", home / "in.csv", "--as", "gold", "--review", home).returncode == 0
    (home / "texts").mkdir()
    (home / "texts" / "a.txt").write_text("Methods\n\nForty adults in a hospital took 75 mg of zinc.", encoding="utf-8")
    (home / "texts" / "stray.txt").write_text("Another paper.", encoding="utf-8")
    (home / "texts" / "b.docx").write_bytes(b"PK")
    texts = cli("import", home / "texts", "--review", home)
    assert "not matched: stray.txt" in texts.stdout
    assert "not read: b.docx: no kind that is read" in texts.stdout
    assert cli("check", "--review", home).returncode == 0
    ran = cli("run", "--review", home, "--json")
    assert ran.returncode == 0, ran.stderr
    outcome = json.loads(ran.stdout)
    assert outcome["status"] == "complete"
    assert [stage["states"] for stage in outcome["ledger"]] == [{"included": 1, "referred": 1}, {"included": 1}, {"extracted": 1}]
    status = cli("status", "--review", home)
    assert "the counts close" in status.stdout
    assert json.loads(cli("status", "--review", home, "--json").stdout)["ledger"][0]["entered"] == 2
    assert "wmcc@10" in cli("score", "--review", home).stdout
    report = json.loads(cli("report", "--review", home, "--json").stdout)
    assert report["scores"]["stages"][0]["confusion"] == {"tp": 1.0, "fp": 1.0, "fn": 0.0, "tn": 0.0}
    traced = cli("trace", "a", "--review", home, "--prompts")
    assert "=> model: included" in traced.stdout
    assert "Adults took zinc." in traced.stdout
    for what, name in (
        ("records", "out.ris"),
        ("records", "out.csv"),
        ("queue", "q.csv"),
        ("extractions", "e.csv"),
        ("replies", "r.jsonl"),
    ):
        assert cli("export", what, home / name, "--review", home).returncode == 0
        assert (home / name).stat().st_size > 20
    assert "ID  - a\n" in (home / "out.ris").read_text(encoding="utf-8")


@pytest.fixture
def ready(folder: ReviewFolder) -> ReviewFolder:
    folder.protocol(ABSTRACTS)
    return folder


def test_wrong_turns_are_one_sentence_each_and_leave_nothing(ready: ReviewFolder, tmp_path: Path) -> None:
    home = ready.path
    empty = tmp_path / "empty.ris"
    empty.write_text("", encoding="utf-8")
    nothing = tmp_path / "nothing"
    nothing.mkdir()
    (tmp_path / "ids.csv").write_text("id,label\nx,1\ny,0\n", encoding="utf-8")
    (tmp_path / "page.ris").write_text("<html>busy</html>", encoding="utf-8")
    (tmp_path / "utf16").write_bytes(b"\xff\xfe\x00")
    before = sorted(path.name for path in home.iterdir())
    for arguments, words in (
        (("import", tmp_path / "no.ris"), "there is no such file"),
        (("import", empty), "empty"),
        (("import", nothing), "holds no full texts|no review store"),
        (("import", tmp_path / "ids.csv"), "the columns are: id, label"),
        (("dedup",), "no review store yet"),
        (("import", tmp_path / "page.ris"), "web page"),
        (("import", empty, "--as", "recrods"), "did you mean 'records'"),
        (("run",), "no review store yet"),
        (("status",), "no review store yet"),
        (("score",), "no review store yet"),
        (("trace", "zz"), "no review store yet"),
        (("export", "records", tmp_path / "x.ris"), "no review store yet"),
        (("amend", "--author", "A", "--reason", "b"), "no review store yet"),
    ):
        said = one_sentence(cli(*arguments, "--review", home))
        assert any(part in said for part in words.split("|")), said
        assert sorted(path.name for path in home.iterdir()) == before


def test_a_folder_that_is_no_review_and_a_faulty_protocol(tmp_path: Path) -> None:
    assert "there is no such folder" in one_sentence(cli("run", "--review", tmp_path / "nowhere"))
    assert "holds no review.toml" in one_sentence(cli("run", "--review", tmp_path))
    folder = ReviewFolder(tmp_path / "r")
    folder.protocol(ABSTRACTS)
    text = (folder.path / "review.toml").read_text(encoding="utf-8")
    (folder.path / "review.toml").write_text(text.replace("prompt =", "promt ="), encoding="utf-8")
    said = one_sentence(cli("check", "--review", folder.path))
    assert "did you mean 'prompt'?" in said
    assert "review.toml:" in said
    (folder.path / "review.toml").write_bytes(text.encode("utf-16"))
    assert "not UTF-8" in one_sentence(cli("check", "--review", folder.path))


def test_the_same_file_twice_is_refused_and_taken_ids_cost_no_record(ready: ReviewFolder, tmp_path: Path) -> None:
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("id,title\nx,One\n", encoding="utf-8")
    second.write_text("id,title\ny,New\nx,Other\n", encoding="utf-8")
    assert cli("import", first, "--review", ready.path).returncode == 0
    assert "same file was imported" in one_sentence(cli("import", first, "--review", ready.path))
    done = cli("import", second, "--review", ready.path)
    assert done.returncode == 0
    assert "'x', are in the review already" in done.stdout
    assert ready.rows("select record_id, title from records order by seq") == [("x", "One"), ("y", "New"), ("b:2", "Other")]


def test_labels_of_a_screening_tool_are_counted_and_come_in_as_gold(ready: ReviewFolder, cases: Path) -> None:
    export = cases / "I06-labels-misread" / "input.ris"
    assert "label in the file, screening: conflict" in cli("import", export, "--review", ready.path).stdout
    done = cli("import", export, "--as", "gold", "--review", ready.path, "--json")
    found = json.loads(done.stdout)
    assert (found["labels"], found["undecided"], found["unlabelled"], found["unmatched"]) == (1, 2, 2, [])
    assert ready.rows("select record_id, stage, decision from gold") == [("input:2", "title_abstract", "include")]


def test_columns_are_declared_on_the_command_line(ready: ReviewFolder, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("Nr;Kopf;Inhalt\n7;Zink;Worte\n", encoding="utf-8")
    assert "say which it is (--columns title=NAME)" in one_sentence(cli("import", path, "--review", ready.path))
    assert "say field=COLUMN" in one_sentence(cli("import", path, "--columns", "title", "--review", ready.path))
    done = cli("import", path, "--columns", "title=Kopf,abstract=Inhalt", "--columns", "record_id=Nr", "--review", ready.path)
    assert done.returncode == 0, done.stderr
    assert ready.rows("select record_id, title, abstract from records") == [("7", "Zink", "Worte")]


def test_servers_that_are_down_or_serve_another_model(ready: ReviewFolder, server: ModelServer) -> None:
    ready.records(3)
    assert "cannot be reached" in one_sentence(cli("run", "--review", ready.path), 3)
    assert ready.rows("select count(*) from runs") == [(0,)]
    checked = cli("check", "--review", ready.path)
    assert checked.returncode == 3
    assert "cannot be reached" in checked.stdout
    ready.protocol(ABSTRACTS, url=server.url)
    server.model = "other"
    assert "does not serve 'm' but other" in one_sentence(cli("run", "--review", ready.path), 3)
    server.model = "m"
    server.answer = lambda _: Say("Gladly!", prompt_tokens=3000)
    assert "ignored the constraint in silence" in one_sentence(cli("run", "--review", ready.path), 3)
    assert ready.rows("select count(*) from verdicts") == [(0,)]
    server.answer = well_behaved
    assert cli("run", "--review", ready.path).returncode == 0


def test_models_that_do_not_exist(ready: ReviewFolder, tmp_path: Path) -> None:
    assert "there are no known weights 'qwen'" in one_sentence(cli("model", "pull", "qwen"))
    text = (ready.path / "review.toml").read_text(encoding="utf-8").replace('backend = "http"', 'backend = "embedded"')
    (ready.path / "review.toml").write_text(text.replace('model = "m"\nend', 'model = "smollm2-135m"\nend'), encoding="utf-8")
    ready.records(1)
    said = one_sentence(cli("run", "--review", ready.path, LITCASCADE_MODELS=str(tmp_path / "none")), 3)
    assert "litcascade model pull smollm2-135m" in said


def test_another_process_holds_the_review(ready: ReviewFolder) -> None:
    ready.records(2)
    with ready.review.open():
        said = cli("status", "--review", ready.path)
        assert said.returncode == 0
        assert "a run holds the review" in said.stdout
        assert "another process holds the review" in one_sentence(cli("run", "--review", ready.path))


def test_wrong_options_are_told_without_a_traceback() -> None:
    for arguments in (("runn",), ("run", "--revew", "x"), ("trace",), ("import",)):
        result = cli(*arguments)
        assert result.returncode == 2
        assert "Traceback" not in result.stderr
        assert result.stderr


def test_text_of_papers_is_inert_in_the_terminal(ready: ReviewFolder, server: ModelServer) -> None:
    ready.protocol(ABSTRACTS, url=server.url)
    evil = "\x1b[2J\x1b]0;owned\x07 [red]bold[/red] \u202eabc"
    ready.records([{"id": "a", "title": evil, "abstract": evil}])
    server.answer = lambda body: (
        well_behaved(body) if "structured" in str(body) and "Say hello" in str(body) else Say("\x1b[31mno")
    )
    shown = cli("trace", "a", "--review", ready.path, "--prompts")
    assert "[red]bold[/red]" in shown.stdout
    assert not {"\x1b", "\x07", "\u202e"} & set(shown.stdout)


def test_metrics_is_a_calculator() -> None:
    listed = cli("metrics", "--list")
    assert "wmcc@10" in listed.stdout
    assert "arXiv 2511.12635" in listed.stdout
    found = json.loads(cli("metrics", "128", "68", "20", "232", "--weight", "10", "--sweep", "--json").stdout)
    values = {estimate["metric"]: estimate["value"] for estimate in found["metrics"]}
    assert round(values["wmcc@10"], 6) == 0.557263
    assert round(values["mcc"], 6) == 0.605088
    assert [point["w"] for point in found["sweep"]][:3] == [1.0, 2.0, 3.0]
    undefined = cli("metrics", "5", "9", "0", "0")
    assert "nothing was excluded" in undefined.stdout
    assert "give four counts" in one_sentence(cli("metrics", "1", "2"))
    assert "above 0" in one_sentence(cli("metrics", "1", "2", "3", "4", "--weight", "-1"))


def test_plan_says_how_many_to_read_again(tmp_path: Path) -> None:
    found = json.loads(cli("plan", "--excluded", "36816", "--found", "1819", "--json").stdout)
    assert [row["sample"] for row in found["audit"]] == [1130, 1783, 2359, 2899]
    assert [row["includes"] for row in found["labelled includes"]] == [59, 93, 124, 153]
    assert "no such folder" in one_sentence(cli("plan", "--review", tmp_path / "no"))
    assert "between 0 and 1" in one_sentence(cli("plan", "--excluded", "10", "--found", "5", "--recall", "1.5"))


def test_the_reporting_kit_and_the_errors(folder: ReviewFolder, server: ModelServer) -> None:
    cutoff = "cutoff = 2019-06-01\n[readers.one]"
    folder.protocol(
        ABSTRACTS.replace("[readers.one]", cutoff), '[operating_point]\njustification = "a|b & <c> 50%"\n', url=server.url
    )
    rows = [
        {
            "id": f"r{i}",
            "title": f"T{i} <b>|x",
            "abstract": f"Abstract {i}.",
            "year": str(2015 + i),
            "title_abstract": "include" if i % 3 else "exclude",
        }
        for i in range(1, 10)
    ]
    folder.records(rows)
    folder.gold(rows)
    server.answer = lambda body: (
        well_behaved(body)
        if "Say hello" in str(body) or "zinc zinc" in str(body)
        else Say("no" if "Abstract 1" in str(body) else "yes", top={"yes": -0.5, "no": -1.0})
    )
    assert cli("run", "--review", folder.path).returncode == 0
    for name, mark in (
        ("kit.md", "| a\\|b &amp; &lt;c&gt; 50% |"),
        ("kit.csv", "a|b & <c> 50%"),
        ("kit.tex", r"a|b \& \textless{}c\textgreater{} 50\%"),
    ):
        assert cli("report", "--kit", folder.path / name, "--review", folder.path).returncode == 0
        text = (folder.path / name).read_text(encoding="utf-8")
        assert mark in text, name
        assert "published after 2019" in text
        assert "open: fill in" in text
    assert "use .md, .csv, .tex" in one_sentence(cli("report", "--kit", folder.path / "kit.doc", "--review", folder.path))
    assert cli("export", "errors", folder.path / "errors.csv", "--review", folder.path).returncode == 0
    lines = (folder.path / "errors.csv").read_text(encoding="utf-8").splitlines()
    assert lines[1].startswith("r1,title_abstract,false negative,,")
    assert len(lines) == 1 + 1 + 3
    filled = lines[1].replace("false negative,,", "false negative,prompt too strict,")
    (folder.path / "causes.csv").write_text("\n".join([lines[0], filled]), encoding="utf-8")
    assert cli("import", folder.path / "causes.csv", "--as", "causes", "--by", "Anna", "--review", folder.path).returncode == 0
    report = cli("report", "--review", folder.path)
    assert "prompt too strict" in report.stdout
    assert "not tagged" in report.stdout
    assert "deployment rule: none passes: people screen" in report.stdout


def test_every_command_is_documented() -> None:
    text = "".join(path.read_text(encoding="utf-8") for path in (Path(__file__).parents[2] / "docs").glob("*.md"))
    help_text = cli("--help").stdout
    commands = [line.split()[0] for line in help_text.split("Commands:")[1].splitlines() if line.strip()]
    assert len(commands) >= 12
    assert not [name for name in commands if f"litcascade {name}" not in text]


@pytest.mark.parametrize(("kib", "words"), [(100, "what was stored before is safe"), (12, "all verdicts are safe")])
def test_a_full_disk_is_one_sentence_and_the_next_run_goes_on(kib: int, words: str, tmp_path: Path, server: ModelServer) -> None:
    home = tmp_path / "zinc"
    folder = ReviewFolder(home)
    folder.protocol(ABSTRACTS, url=server.url)
    rows = "".join(f"r{i},Zinc {i},Adults took zinc {i}.\n" for i in range(600))
    (home / "in.csv").write_text("id,title,abstract\n" + rows, encoding="utf-8")
    full = f"ulimit -f {kib}; exec {sys.executable} -m litcascade"  # no file may grow beyond so much

    def on_full_disk(*arguments: str) -> "subprocess.CompletedProcess[str]":
        command = ["bash", "-c", f'{full} "$@"', "bash", *arguments, "--review", str(home)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)

    assert cli("import", home / "in.csv", "--review", home).returncode == 0
    assert words in one_sentence(on_full_disk("run"))
    ran = cli("run", "--review", home, "--json")
    assert ran.returncode == 0, ran.stderr
    states = json.loads(ran.stdout)["ledger"][0]["states"]
    assert states == {"included": 600}
    assert json.loads(cli("status", "--review", home, "--json").stdout)["ledger"][0]["states"] == states


def test_benchmark_sets_from_list_to_review(tmp_path: Path, corpora: Path) -> None:
    assert "cohen2006" in cli("corpus", "list").stdout
    folder = corpora / "cohen2006"
    shown = cli("corpus", "show", "cohen2006", "--from", folder, "--part", "Triptans", "--map", tmp_path / "map.svg", "--json")
    found = json.loads(shown.stdout)
    assert (found["statistics"]["records"], found["statistics"]["stages"][1]["included"]) == (671, 24)
    assert (tmp_path / "map.svg").read_text(encoding="utf-8").startswith("<svg")
    assert "did you mean 'Triptans'" in one_sentence(cli("corpus", "show", "cohen2006", "--from", folder, "--part", "Tripta"))
    assert "did you mean 'cohen2006'" in one_sentence(cli("corpus", "show", "cohen", "--from", folder))
    done = cli("corpus", "load", "cohen2006", "--from", folder, "--part", "Triptans", "--review", tmp_path / "r", "--json")
    assert json.loads(done.stdout)["labels"] == 1342
    assert "duplicates, kept out of screening" in cli("dedup", "--review", tmp_path / "r").stdout
    assert json.loads(cli("status", "--review", tmp_path / "r", "--json").stdout)
    assert cli("export", "duplicates", tmp_path / "pairs.csv", "--review", tmp_path / "r").returncode == 0


def test_a_set_that_cannot_be_fetched_says_where_it_is(tmp_path: Path) -> None:
    assert "has no files to download; its source is" in one_sentence(cli("corpus", "fetch", "lassa", "--into", tmp_path / "l"))
