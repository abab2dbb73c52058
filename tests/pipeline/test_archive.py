"""An archive holds a run, a replay of it gives the same verdicts and numbers without a model, and what was changed is found out."""

import hashlib
import io
import json
import shutil
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from litcascade.backends.scripted import ScriptedBackend
from litcascade.cli.archiving import summary
from litcascade.corpora.sets import SETS
from litcascade.errors import InputError
from litcascade.pipeline.amending import amend
from litcascade.pipeline.archiving import tables
from litcascade.pipeline.archiving.choosing import Asked
from litcascade.pipeline.archiving.masking import Mask
from litcascade.pipeline.archiving.replaying import Replayed, replay_archive
from litcascade.pipeline.archiving.writing import Archived, archive_review
from litcascade.pipeline.corpus import load_corpus, read_set
from litcascade.pipeline.review import open_review
from litcascade.pipeline.scoring import score_review
from litcascade.schemas import Reply, Request, TokenLogprobs
from tests.cli.test_cli import cli, one_sentence
from tests.pipeline.test_graph import decide
from tests.support.reviews import ABSTRACTS, FIELDS, HEAD, REPORTS, ReviewFolder
from tests.support.server import Body, ModelServer, Say, well_behaved

PANEL = """
[readers.one]
model = "m"
[readers.two]
model = "m"
prompt = "inclusion"
[readers.anna]
person = true
[stages.title_abstract]
readers = ["one", "two", "anna"]
votes = 2
"""
REPORT = "Methods\n\nForty adults in a hospital took {n} mg of zinc. Pain was measured for {n} days."


def answer(body: Body) -> Say:
    """No for some trials, no reply for another, a repair for a third, values with quotes for reports."""
    text = body["messages"][-1]["content"]
    if "trial 9" in text:
        return Say(status=500, raw="down", top=None)
    if "trial 3 " in text or "trial 3." in text:
        return Say("no", top={"no": -0.2, "yes": -1.7})
    if "response_format" in body:
        value = {"quote": "in a hospital", "notes": "", "value": "hospital"}
        people = {"quote": "Forty adults", "notes": "", "raw": "Forty", "value": 40}
        least = json.loads(str(well_behaved(body).text))
        return Say(json.dumps({**least, "setting": value, "people": people}))
    if "structured_outputs" not in body:
        return Say("Perhaps it is." if "took 4 mg" in text else "It is about zinc.\n\nDecision: include")
    return well_behaved(body)


def filled(folder: ReviewFolder, server: ModelServer, first: str = ABSTRACTS) -> ReviewFolder:
    """A review of twelve records that ran: one pending, one without abstract, reports of six, gold for all."""
    server.answer = answer
    folder.protocol(first, REPORTS, FIELDS, url=server.url)
    rows: list[dict[str, str | None]] = [
        {"id": f"r{n}", "title": f"Zinc trial {n}", "abstract": f"Forty adults took zinc in trial {n}."} for n in range(1, 12)
    ]
    folder.records([*rows, {"id": "r12", "title": "Zinc trial 12", "abstract": ""}])
    folder.texts({f"r{n}": REPORT.format(n=n) for n in range(1, 7)})
    labels = [
        {"record_id": f"r{n}", "title_abstract": "include" if n % 2 else "exclude", "full_text": "include" if n < 4 else ""}
        for n in range(1, 13)
    ]
    folder.gold(labels)
    folder.gold([{"record_id": "r1", "field": "setting", "value": "hospital"}], "fields.csv")
    folder.run()
    return folder


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReviewFolder]:
    """One review that ran, for all tests that only read it."""
    with ModelServer() as server:
        yield filled(ReviewFolder(tmp_path_factory.mktemp("ran") / "review"), server)


@pytest.fixture(scope="module")
def whole(ran: ReviewFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its archive."""
    return archived(ran, tmp_path_factory.mktemp("archive") / "a.zip").path


def archived(folder: ReviewFolder, path: Path, asked: Asked | None = None, **options: Any) -> Archived:
    review = folder.review
    with review.open() as store:
        return archive_review(review, store, path, asked, **options)


def contents(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None], *, summed: bool = True, counted: bool = True) -> Path:
    """A copy of an archive with changed files; its manifest is made to fit their checksums and their rows."""
    files = contents(path)
    change(files)
    if summed:
        manifest = json.loads(files["manifest.json"])
        for entry in manifest["files"]:
            content = files[entry["path"]]
            entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
            if entry["table"] and counted and content.startswith(b"PAR1"):
                rows = pl.read_parquet(io.BytesIO(content)).height
                if entry["table"] in manifest["tables"]:
                    manifest["tables"][entry["table"]] += rows - entry["rows"]
                entry["rows"] = rows
        files["manifest.json"] = json.dumps(manifest).encode()
    target = path.with_name("changed.zip")
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target


def with_table(files: dict[str, bytes], table: str, change: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
    name = f"tables/{table}-0001.parquet"
    out = io.BytesIO()
    change(pl.read_parquet(io.BytesIO(files[name]))).write_parquet(out)
    files[name] = out.getvalue()


def texts_in(path: Path) -> str:
    """Everything readable in an archive, its tables as JSON."""
    parts = []
    for name, content in contents(path).items():
        parts.append(pl.read_parquet(io.BytesIO(content)).write_json() if name.endswith(".parquet") else content.decode())
    return "\n".join(parts)


def counts(done: Replayed) -> dict[str, tuple[int, int, int, int]]:
    return {one.table: (one.same, one.differ, one.missing, one.extra) for one in done.tables}


def shown(folder: ReviewFolder, stage: str) -> list[tuple[Any, ...]]:
    columns = "record_id, state, code, reason, criterion, score, seen, decided_by, document_id, passes"
    return folder.rows(f"select {columns} from {stage} order by 1")


def test_a_replay_gives_the_same_verdicts_and_numbers_and_asks_nobody(
    folder: ReviewFolder, server: ModelServer, tmp_path: Path
) -> None:
    filled(folder, server)
    decide(folder, [{"record_id": "r12", "stage": "title_abstract", "decision": "include", "note": "by the title"}])
    decide(folder, [{"record_id": "r2", "stage": "title_abstract", "decision": "exclude", "criterion": "E1"}])
    done = archived(folder, tmp_path / "a.zip")
    asked = len(server.asked)
    again = replay_archive(tmp_path / "a.zip", tmp_path / "again")
    assert again.same
    assert (again.cannot, again.notes, again.numbers) == ((), (), ())
    assert again.numbers_compared > 100
    assert again.pending["title_abstract"] == 1
    assert done.manifest.tables["verdicts"] == 11 + 6 - 1 + 5
    assert counts(again)["verdicts"] == (21, 0, 0, 0)
    assert counts(again)["extractions"] == (20, 0, 0, 0)
    rebuilt = ReviewFolder(tmp_path / "again")
    for stage in ("title_abstract", "full_text", "extraction"):
        assert shown(rebuilt, stage) == shown(folder, stage)
    values = "select record_id, field, value, quote, support, reader, fingerprint from extracted order by all"
    assert rebuilt.rows(values) == folder.rows(values)
    assert len(server.asked) == asked
    server.answer = well_behaved
    assert rebuilt.run().status == "complete"  # the rebuilt review goes on where the first one stood: one record was pending
    assert len(server.asked) - asked == 1


def test_an_archive_writes_nothing_into_the_store_and_is_the_same_each_time(
    ran: ReviewFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = {name: ran.rows(f"select count(*) from {name}") for name in ("estimates", "verdicts", "runs")}
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    for name in ("a.zip", "b.zip"):
        archived(ran, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert {name: ran.rows(f"select count(*) from {name}") for name in before} == before
    manifest = json.loads(contents(tmp_path / "a.zip")["manifest.json"])
    assert manifest["created"].startswith("2026-09")
    assert {entry["path"] for entry in manifest["files"]} | {"manifest.json"} == set(contents(tmp_path / "a.zip"))
    names = {row[0] for row in ran.rows("select table_name from information_schema.tables where table_type = 'BASE TABLE'")}
    assert names == set(manifest["tables"]) | {"meta", "migrations"}  # every table is either in, or left out with a reason
    assert {"table meta", "table migrations"} <= set(manifest["left_out"])


def test_people_count_as_they_had_been_heard_when_the_stage_judged(
    folder: ReviewFolder, server: ModelServer, tmp_path: Path
) -> None:
    filled(folder, server, PANEL)
    stage = {"stage": "title_abstract"}
    decide(
        folder, [{**stage, "record_id": "r1", "decision": "exclude"}, {**stage, "record_id": "r3", "decision": "include"}], "anna"
    )
    folder.run()
    decide(
        folder, [{**stage, "record_id": "r5", "decision": "exclude"}, {**stage, "record_id": "r1", "decision": "include"}], "anna"
    )
    before = shown(folder, "title_abstract")
    assert [row[1] for row in before if row[0] in ("r1", "r5")] == ["pending", "pending"]
    archived(folder, tmp_path / "a.zip")
    again = replay_archive(tmp_path / "a.zip", tmp_path / "again")
    assert again.same, again.tables
    assert shown(ReviewFolder(tmp_path / "again"), "title_abstract") == before
    assert counts(again)["readings"][0] >= 33


def test_a_persons_values_go_before_the_models_after_a_replay_too(
    folder: ReviewFolder, server: ModelServer, tmp_path: Path
) -> None:
    filled(folder, server)
    decide(folder, [{"record_id": "r1", "field": "setting", "value": "school"}])
    archived(folder, tmp_path / "a.zip")
    assert replay_archive(tmp_path / "a.zip", tmp_path / "again").same
    sql = "select value, reader from extracted where record_id = 'r1' and field = 'setting'"
    assert ReviewFolder(tmp_path / "again").rows(sql) == folder.rows(sql) == [('"school"', "Anna")]


def test_a_text_that_came_after_the_verdict_leaves_its_record_pending(
    folder: ReviewFolder, server: ModelServer, tmp_path: Path
) -> None:
    filled(folder, server)
    folder.texts({"r1": REPORT.format(n=99)})
    assert {row[0]: row[1] for row in shown(folder, "full_text")}["r1"] == "pending"
    archived(folder, tmp_path / "a.zip")
    again = replay_archive(tmp_path / "a.zip", tmp_path / "again")
    assert again.same, again.tables
    assert shown(ReviewFolder(tmp_path / "again"), "full_text") == shown(folder, "full_text")


def test_verdicts_of_earlier_criteria_are_carried_and_said(folder: ReviewFolder, server: ModelServer, tmp_path: Path) -> None:
    filled(folder, server)
    decide(folder, [{"record_id": "r12", "stage": "title_abstract", "decision": "include"}])
    head = HEAD.replace("Adults took zinc.", "Adults took zinc or copper.")
    folder.protocol(ABSTRACTS, REPORTS, FIELDS, url=server.url, head=head)
    review = folder.review
    with review.open() as store:
        amend(review, store, "Anna", "copper came up")
    folder.run()
    folder.rows("insert into readings (run_id, stage, fingerprint, record_id, reader, calls) "
                "values ('b', 'title_abstract', 'bench:x', 'r1', 'cell', [])")  # fmt: skip
    archived(folder, tmp_path / "a.zip")
    again = replay_archive(tmp_path / "a.zip", tmp_path / "again")
    assert again.same, again.tables
    total = folder.rows("select count(*) from verdicts")[0][0]
    carried = next(count for what, count in again.carried.items() if what.startswith("verdicts of earlier criteria"))
    assert carried + counts(again)["verdicts"][0] == total
    assert carried > 0
    assert again.carried["readings of benchmark cells"] == 1
    rebuilt = ReviewFolder(tmp_path / "again")
    assert rebuilt.rows("select count(*) from verdicts") == [(total,)]
    assert shown(rebuilt, "title_abstract") == shown(folder, "title_abstract")


def test_a_changed_verdict_reading_reply_value_or_number_is_found_out(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path / "a.zip"))

    def flipped(frame: pl.DataFrame) -> pl.DataFrame:
        mine = (pl.col("record_id") == "r3") & (pl.col("stage") == "title_abstract")
        return frame.with_columns(state=pl.when(mine).then(pl.lit("included")).otherwise(pl.col("state")))

    again = replay_archive(rewritten(path, lambda files: with_table(files, "verdicts", flipped)))
    assert not again.same
    assert [(one.record_id, one.what) for one in again.tables[0].differences] == [("r3", "state: included -> excluded")]
    assert not again.numbers  # they were computed from the true verdicts

    def another(frame: pl.DataFrame) -> pl.DataFrame:
        mine = (pl.col("record_id") == "r5") & (pl.col("stage") == "title_abstract")
        text = pl.when(mine).then(pl.lit("no")).otherwise(pl.col("text"))
        return frame.with_columns(text=text, logprobs=pl.when(mine).then(pl.lit(None)).otherwise(pl.col("logprobs")))

    again = replay_archive(rewritten(path, lambda files: with_table(files, "calls", another)))
    verdicts, readings = again.tables[:2]
    assert [one.record_id for one in (*verdicts.differences, *readings.differences)] == ["r5", "r5"]
    assert "included -> excluded" in verdicts.differences[0].what
    assert any(where == "ledger[title_abstract].states.excluded" for where, _, _ in again.numbers)

    again = replay_archive(rewritten(path, lambda files: with_table(files, "calls", lambda frame: frame.filter(
        ~((pl.col("record_id") == "r1") & (pl.col("stage") == "title_abstract"))))))  # fmt: skip
    assert "no stored reply" in next(one.what for one in again.tables[0].differences if one.record_id == "r1")

    def value(frame: pl.DataFrame) -> pl.DataFrame:
        mine = (pl.col("record_id") == "r1") & (pl.col("field") == "people")
        return frame.with_columns(value=pl.when(mine).then(pl.lit("41")).otherwise(pl.col("value")))

    again = replay_archive(rewritten(path, lambda files: with_table(files, "extractions", value)))
    assert [(one.record_id, one.of, one.what) for one in again.tables[3].differences] == [
        ("r1", "extractor, people", "value: 41 -> 40")
    ]

    def better(files: dict[str, bytes]) -> None:
        numbers = json.loads(files["numbers.json"])
        numbers["scores"]["stages"][0]["metrics"][0]["value"] = 0.999
        files["numbers.json"] = json.dumps(numbers).encode()

    again = replay_archive(rewritten(path, better))
    assert [(where, old) for where, old, _ in again.numbers] == [("scores.stages[title_abstract].metrics[accuracy].value", 0.999)]
    assert all(one.equal for one in again.tables)


def _named(content: dict[str, Any], **more: Any) -> bytes:
    return json.dumps({**content, **more}).encode()


def test_what_is_damaged_foreign_newer_or_absurd_is_refused_in_a_sentence_and_nothing_is_written(
    whole: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(whole, tmp_path / "a.zip"))
    sound = path.read_bytes()
    manifest = json.loads(contents(path)["manifest.json"])
    into = tmp_path / "never"

    def refuses(bad: Path, *words: str) -> None:
        with pytest.raises(InputError) as caught:
            replay_archive(bad, into)
        assert all(word in str(caught.value) for word in words), str(caught.value)
        assert not into.exists()
        assert not list(tmp_path.glob(".never*"))

    def raw(content: bytes) -> Path:
        (tmp_path / "bad.zip").write_bytes(content)
        return tmp_path / "bad.zip"

    refuses(tmp_path / "none.zip", "no such archive")
    refuses(raw(b"PK is not enough"), "no whole zip")
    refuses(raw(sound[: len(sound) // 2]), "no whole zip")
    place = sound.index(b"PAR1") + 40
    refuses(raw(sound[:place] + bytes([sound[place] ^ 255]) + sound[place + 1 :]), "damaged")
    refuses(rewritten(path, lambda files: with_table(files, "verdicts", lambda frame: frame[:-1]), summed=False), "verdicts-0001")
    refuses(rewritten(path, lambda files: files.__delitem__("binding.json"), summed=False), "'binding.json' is missing")
    refuses(rewritten(path, lambda files: files.update({"more.txt": b"x"})), "'more.txt' is not named")
    refuses(rewritten(path, lambda files: files.update({"../evil.txt": b"x"})), "would not stay in its folder")
    refuses(rewritten(path, lambda files: files.update({"/tmp/evil.txt": b"x"})), "would not stay in its folder")
    refuses(rewritten(path, lambda files: files.update({"manifest.json": b"{}"}), summed=False), "names no format")
    refuses(rewritten(path, lambda files: files.update({"manifest.json": b"{"}), summed=False), "not whole JSON")
    newer = _named(manifest, format=2, litcascade="9.9")
    refuses(rewritten(path, lambda files: files.update({"manifest.json": newer}), summed=False), "has format 2", "litcascade 9.9")
    store = _named(manifest, migrations=[*manifest["migrations"], "9999_later"])
    refuses(rewritten(path, lambda files: files.update({"manifest.json": store})), "newer litcascade", "9999_later")
    refuses(rewritten(path, lambda files: with_table(files, "calls", lambda frame: frame.with_columns(odd=1))), "column 'odd'")
    refuses(rewritten(path, lambda files: with_table(files, "records", lambda frame: frame[:2]), counted=False), "holds 2 rows")
    refuses(rewritten(path, lambda files: files.update({"tables/calls-0001.parquet": b"no"})), "no Parquet file")
    huge = rewritten(path, lambda files: with_table(files, "verdicts", lambda frame: frame.with_columns(seq=pl.lit(2**60))))
    refuses(huge, "which no review reaches")
    with zipfile.ZipFile(raw(b""), "w", zipfile.ZIP_DEFLATED) as bomb:
        for name, content in contents(path).items():
            bomb.writestr(name, b"0" * 2**26 if name == "README.txt" else content)
    refuses(tmp_path / "bad.zip", "README.txt")
    with zipfile.ZipFile(raw(b""), "w") as other:
        other.writestr("hello.txt", "hello")
    refuses(tmp_path / "bad.zip", "no archive of litcascade")


def test_a_file_packed_beyond_reason_is_refused_before_it_is_unpacked(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path / "a.zip"))
    content = b"0" * 2**26
    files = contents(path)
    manifest = json.loads(files["manifest.json"])
    for entry in manifest["files"]:
        if entry["path"] == "README.txt":
            entry |= {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as bomb:
        for name, kept in {**files, "manifest.json": json.dumps(manifest).encode(), "README.txt": content}.items():
            bomb.writestr(name, kept)
    with pytest.raises(InputError, match=r"would unpack to 67,108,864 bytes, which is absurd"):
        replay_archive(tmp_path / "bomb.zip")


def test_without_texts_no_sentence_of_a_report_goes_in_and_the_replay_says_what_it_cannot_redo(
    ran: ReviewFolder, whole: Path, tmp_path: Path
) -> None:
    assert "mg of zinc" in texts_in(whole)
    done = archived(ran, tmp_path / "a.zip", Asked(texts=False))
    assert "mg of zinc" not in texts_in(tmp_path / "a.zip")
    assert "Forty adults took zinc in trial 1." in texts_in(tmp_path / "a.zip")
    assert done.manifest.blank["documents.sections"] == "asked for with --no-texts"
    again = replay_archive(tmp_path / "a.zip", tmp_path / "again")
    assert again.same
    assert counts(again)["verdicts"] == (11, 0, 0, 0)
    assert len(again.cannot) == 1
    assert "no full texts" in again.cannot[0]
    assert "extraction, full_text" in again.cannot[0]
    rebuilt = ReviewFolder(tmp_path / "again")
    assert shown(rebuilt, "full_text") == shown(ran, "full_text")

    archived(ran, tmp_path / "bare.zip", Asked(abstracts=False))
    assert "took zinc in trial" not in texts_in(tmp_path / "bare.zip")
    bare = replay_archive(tmp_path / "bare.zip")
    assert bare.same
    assert counts(bare)["verdicts"] == (0, 0, 0, 0)
    assert "no titles and abstracts" in bare.cannot[0]


def test_without_gold_no_label_goes_in_and_verdicts_are_compared_all_the_same(ran: ReviewFolder, tmp_path: Path) -> None:
    done = archived(ran, tmp_path / "a.zip", Asked(gold=False))
    assert {"table gold", "table gold_fields"} <= set(done.manifest.left_out)
    assert not {"gold", "gold_fields"} & set(done.manifest.tables)
    again = replay_archive(tmp_path / "a.zip")
    assert again.same
    assert counts(again)["verdicts"] == (21, 0, 0, 0)
    assert "no gold labels" in again.cannot[0]


def test_no_secret_no_login_and_no_folder_of_the_machine_goes_in(
    folder: ReviewFolder, server: ModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home-of-someone"
    home.mkdir()
    monkeypatch.setenv("ZINC_KEY", "sk-very-secret-0123")
    monkeypatch.setattr(Path, "home", lambda: home)
    server.model = f"{home}/models/zinc-7b"
    server.answer = lambda body: Say("yes", reasoning="my key is sk-very-secret-0123") if "trial 2" in str(body) else answer(body)
    folder.protocol(ABSTRACTS, url=server.url)
    text = (folder.path / "review.toml").read_text(encoding="utf-8")
    text = text.replace('model = "m"\nendpoints = [', f'model = "{server.model}"\napi_key_env = "ZINC_KEY"\n'
                        'endpoints = ["http://anna:pass@node7:1/v1?key=abc", ').replace(
                        "retries = 0", "retries = 0\nrevision = \"main\"")  # fmt: skip
    text = text.replace('endpoints = ["http://anna:pass@node7:1/v1?key=abc", ', "endpoints = [", 1)
    (folder.path / "review.toml").write_text(text, encoding="utf-8")
    folder.records(4)
    folder.run()
    (folder.path / "review.toml").write_text(
        text.replace("endpoints = [", 'endpoints = ["http://anna:pass@node7:1/v1?key=abc", '), encoding="utf-8"
    )
    done = archived(folder, tmp_path / "a.zip")
    inside = texts_in(tmp_path / "a.zip")
    for word in ("sk-very-secret-0123", str(home), "anna:pass", "key=abc", str(folder.path)):
        assert word not in inside, word
    assert "zinc-7b" in inside
    assert "ZINC_KEY" in inside  # the name of the variable says where the key came from
    assert any(where.startswith("calls.") for where in done.manifest.masked)
    again = replay_archive(tmp_path / "a.zip")
    assert again.same, (again.tables, again.notes)
    assert counts(again)["verdicts"] == (4, 0, 0, 0)
    assert again.notes == ()


def test_nothing_is_written_over_and_an_interruption_leaves_nothing(ran: ReviewFolder, whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path / "a.zip"))
    before = path.read_bytes()
    with pytest.raises(InputError, match="is there already"):
        archived(ran, path)
    with pytest.raises(InputError, match=r"\.zip"):
        archived(ran, tmp_path / "a.tar")
    with pytest.raises(InputError, match="part of the review"):
        archived(ran, ran.path / "review.duckdb", force=True)

    def stop(what: str, *_: int) -> None:
        if what in ("verdicts", "title_abstract"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        archived(ran, path, force=True, tell=stop)
    assert path.read_bytes() == before
    with pytest.raises(KeyboardInterrupt):
        replay_archive(path, tmp_path / "again", tell=stop)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.zip"]
    (tmp_path / "again").mkdir()
    assert replay_archive(path, tmp_path / "again").same
    with pytest.raises(InputError, match="is there already"):
        replay_archive(path, tmp_path / "again")


def test_another_version_replays_and_says_so(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path / "a.zip"))

    def older(files: dict[str, bytes]) -> None:
        files["manifest.json"] = _named(json.loads(files["manifest.json"]), litcascade="0.0.9")
        binding = json.loads(files["binding.json"])
        for stage in binding["stages"]:
            stage["bound"] = "0" * 32
        files["binding.json"] = json.dumps(binding).encode()

    again = replay_archive(rewritten(path, older))
    assert again.same
    assert again.notes[0].startswith("archived by litcascade 0.0.9")
    assert sum("reads the stage otherwise" in note for note in again.notes) == 3


def test_a_prompt_is_replayed_as_it_was_sent_whatever_the_program_ships_now(
    folder: ReviewFolder, server: ModelServer, tmp_path: Path
) -> None:
    mine = "# System\nScreen for {question}\n\n# User\n{title} {abstract}\nAnswer {include} or {exclude}."
    folder.path.joinpath("prompts").mkdir()
    folder.path.joinpath("prompts", "mine.md").write_text(mine, encoding="utf-8")
    server.answer = answer
    folder.protocol(ABSTRACTS.replace('"inclusion"', '"prompts/mine.md"'), url=server.url)
    folder.records(3)
    folder.run()
    archived(folder, tmp_path / "a.zip")
    assert contents(tmp_path / "a.zip")["protocol/prompts/mine.md"].decode() == mine
    again = replay_archive(tmp_path / "a.zip", tmp_path / "again")
    assert again.same
    assert (tmp_path / "again" / "prompts" / "mine.md").read_text(encoding="utf-8") == mine
    folder.path.joinpath("prompts", "mine.md").write_text(mine.replace("Screen", "Look"), encoding="utf-8")
    late = archived(folder, tmp_path / "late.zip")
    assert "was changed after this stage last ran" in late.manifest.notes[0]
    changed = replay_archive(tmp_path / "late.zip")
    assert counts(changed)["verdicts"] == (0, 0, 3, 0)
    assert late.manifest.notes[0] in changed.notes


def test_worked_examples_are_replayed_as_they_were_shown(folder: ReviewFolder, server: ModelServer, tmp_path: Path) -> None:
    filled(folder, server, ABSTRACTS.replace('model = "m"', 'model = "m"\nshots = ["r1"]'))
    archived(folder, tmp_path / "a.zip")
    again = replay_archive(tmp_path / "a.zip")
    assert again.same, again.tables
    assert counts(again)["verdicts"][0] > 15
    done = archived(folder, tmp_path / "shut.zip", Asked(gold=False))
    binding = json.loads(contents(tmp_path / "shut.zip")["binding.json"])
    assert (binding["shots"]["title_abstract"], binding["blanked"]) == ({}, ["title_abstract"])  # an example is a label
    assert "--no-gold" in done.manifest.blank["worked examples in binding.json (title_abstract)"]
    without = replay_archive(tmp_path / "shut.zip")
    assert without.same, without.tables
    assert 0 < counts(without)["verdicts"][0] < counts(again)["verdicts"][0]
    assert any("no worked examples" in words for words in without.cannot)
    archived(folder, tmp_path / "bare.zip", Asked(abstracts=False))
    assert "took zinc in trial" in texts_in(tmp_path / "a.zip")
    assert "took zinc in trial" not in texts_in(tmp_path / "bare.zip")


def test_tables_in_many_parts_are_the_same_tables(ran: ReviewFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PART_BYTES", 2_000)
    done = archived(ran, tmp_path / "a.zip")
    assert sum(entry.table == "calls" for entry in done.manifest.files) > 5
    assert replay_archive(tmp_path / "a.zip").same


@pytest.mark.parametrize("run", [False, True])
def test_a_review_that_never_ran_or_was_never_finished_is_archived_as_it_stands(
    folder: ReviewFolder, server: ModelServer, tmp_path: Path, run: bool
) -> None:
    folder.protocol(ABSTRACTS, REPORTS, url=server.url)
    folder.records(3)
    if run:
        server.answer = lambda _: Say(status=500, raw="down")
        folder.run()
    archived(folder, tmp_path / "a.zip")
    again = replay_archive(tmp_path / "a.zip")
    assert again.same
    assert again.pending == {"title_abstract": 3, "full_text": 0}
    assert counts(again)["verdicts"] == (0, 0, 0, 0)


def test_the_command_line_archives_and_replays_with_codes_for_scripts(ran: ReviewFolder, tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    made = cli("archive", path, "--review", ran.path)
    assert made.returncode == 0, made.stderr
    assert "litcascade replay" in made.stdout
    assert "is there already" in one_sentence(cli("archive", path, "--review", ran.path))
    default = cli("archive", "--no-texts", "--json", "--review", ran.path, cwd=tmp_path)
    written = json.loads(default.stdout)
    assert (tmp_path / written["file"]).is_file()
    assert written["file"].startswith("review-20")
    assert written["manifest"]["texts"] is False
    same = cli("replay", path)
    assert same.returncode == 0, same.stdout + same.stderr
    assert "the same: 21 verdict(s) the same, 0 differ; all numbers are the same" in same.stdout
    assert "1 record(s) of title_abstract have no verdict in the archive and stay pending" in same.stdout
    bad = rewritten(path, lambda files: with_table(files, "calls", lambda frame: frame.with_columns(text=pl.lit("no"))))
    other = cli("replay", bad, "--json", "--into", tmp_path / "again")
    assert other.returncode == 1
    told = json.loads(other.stdout)
    assert told["same"] is False
    assert told["summary"].startswith("NOT THE SAME")
    assert (tmp_path / "again" / "review.toml").is_file()
    path.write_bytes(path.read_bytes()[:-100])
    assert str(path) in one_sentence(cli("replay", path))


def by_labels(labels: Mapping[str, str]) -> ScriptedBackend:
    """Answers by the label of the title asked about, now and then wrongly, with a score that a hash draws."""

    def say(request: Request) -> Reply:
        text = request.messages[-1].content
        drawn = int(hashlib.sha256(text.encode()).hexdigest()[:6], 16) / 16**6
        title = next((title for title in labels if title in text), "")
        yes = drawn > 0.1 if labels.get(title) == "include" else drawn > 0.8
        top = (("yes", -0.1 - drawn), ("no", -1.3)) if yes else (("no", -0.1 - drawn), ("yes", -1.3))
        word = "yes" if yes else "no"
        return Reply(key=request.key, text=word, finish_reason="stop", logprobs=(TokenLogprobs(token=word, top=top),), raw="{}")

    return ScriptedBackend(say)


def test_a_real_set_leaves_out_what_its_licence_does_not_let_go_and_replays_whole_where_asked_to(
    corpora: Path, tmp_path: Path
) -> None:
    whole = read_set(SETS.get("lassa"), corpora / "lassa", None)
    home = tmp_path / "review"
    load_corpus(whole, home)
    text = (home / "review.toml").read_text(encoding="utf-8")
    text = text.replace(
        'backend = "embedded"\nmodel = "qwen2.5-coder-1.5b"', 'backend = "http"\nmodel = "m"\nendpoints = ["http://x/v1"]'
    )
    (home / "review.toml").write_text(
        text[: text.index("[readers.reports]")] if "[readers.reports]" in text else text, encoding="utf-8"
    )
    folder = ReviewFolder(home)
    names = dict(
        folder.rows("select records.title, decision from gold join records using (record_id) where stage = 'title_abstract'")
    )
    folder.run({"small": by_labels({title: label for title, label in names.items() if title and len(title) > 20})})
    review = open_review(home)
    with review.open() as store:
        score_review(review, store)
        shut = archive_review(review, store, tmp_path / "shut.zip").manifest
        archive_review(review, store, tmp_path / "open.zip", Asked(True, True, True))
    assert (shut.gold, shut.texts, shut.abstracts) == (False, False, False)
    assert "licence of the set lassa" in shut.blank["records.abstract"]
    with review.open() as store, pytest.raises(InputError, match="add --abstracts"):
        archive_review(review, store, tmp_path / "half.zip", Asked(texts=True))
    abstract = folder.rows("select abstract from records where length(abstract) > 500 limit 1")[0][0]
    assert json.dumps(abstract, ensure_ascii=False)[1:200] not in texts_in(tmp_path / "shut.zip")
    assert replay_archive(tmp_path / "shut.zip").same
    again = replay_archive(tmp_path / "open.zip")
    assert again.same, again.numbers[:5]
    assert counts(again)["verdicts"][0] == len(whole.records)
    assert (tmp_path / "open.zip").stat().st_size > (tmp_path / "shut.zip").stat().st_size


def yes(raw: str = "{}") -> dict[str, ScriptedBackend]:
    """A model that says yes to all, with a score."""
    top = (TokenLogprobs(token="yes", top=(("yes", -0.2), ("no", -1.7))),)
    return {"m": ScriptedBackend(lambda asked: Reply(key=asked.key, text="yes", finish_reason="stop", logprobs=top, raw=raw))}


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> ReviewFolder:
    """A small review of one stage that ran."""
    folder = ReviewFolder(tmp_path_factory.mktemp("plain") / "review")
    folder.protocol(ABSTRACTS)
    folder.records(3)
    folder.run(yes())
    return folder


@pytest.fixture
def small(plain: ReviewFolder, tmp_path: Path) -> Path:
    """Its archive."""
    return archived(plain, tmp_path / "small.zip").path


def manifest_with(files: dict[str, bytes], change: Callable[[dict[str, Any]], object]) -> None:
    manifest = json.loads(files["manifest.json"])
    change(manifest)
    files["manifest.json"] = json.dumps(manifest).encode()


def test_a_login_that_was_used_from_the_first_run_on_stands_nowhere(
    folder: ReviewFolder, server: ModelServer, tmp_path: Path
) -> None:
    server.answer = lambda _: Say(status=500, raw="down")
    folder.protocol(ABSTRACTS, url=server.url.replace("http://", "http://anna:pass@"))
    folder.records(8)
    folder.run()
    assert folder.rows("select count(*) > 0, count(*) filter (contains(error, 'anna')) from failures") == [(True, 0)]
    folder.rows("insert into failures (error) values ('http://anna:pass@127.0.0.1:1/v1?key=abc: gone')")
    folder.protocol(ABSTRACTS, url="http://bert:w/ord@node7/v1?key=abc")
    archived(folder, tmp_path / "a.zip")
    inside = texts_in(tmp_path / "a.zip")
    for word in ("anna:pass", "bert", "w/ord", "key=abc"):
        assert word not in inside, word
    assert "node7/v1" in inside
    assert server.url.removeprefix("http://") in inside


@pytest.mark.parametrize(
    "text",
    [
        '[models.m]\nendpoints = ["http://anna:pa/ss@n/v1?key=abc"]\n',
        '["models".m]\nendpoints = ["http://anna:pa/ss@n/v1?key=abc"]\n',
        'models.m = {endpoints = ["http://anna:pa/ss@n/v1?key=abc"]}\n',
        "[models.m]\nendpoints = [\n  'http://anna:pa/ss@n/v1?key=abc',\n]\n",
        'x = "http://anna:pa/ss@n/v1?key=abc"\n[models.m]\nendpoints = ["http://anna:pa/ss@n/v1?key=abc"]\n',
    ],
)
def test_a_protocol_is_masked_by_value_however_its_toml_is_written(text: str) -> None:
    told = Mask().protocol(text)
    assert not any(word in told for word in ("anna", "pa/ss", "key=abc"))
    assert "…@n/v1?…" in told
    with pytest.raises(InputError, match="escapes"):
        Mask().protocol(text.replace("'", '"').replace("anna", "\\u0061nna").replace("x =", "#"))


def test_secrets_and_folders_go_also_where_json_writes_them_otherwise(
    folder: ReviewFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret, home = 'pa"ss/w\\ord-é-secret', tmp_path / "hôme"
    home.mkdir()
    monkeypatch.setenv("MY_TOKEN", secret)
    monkeypatch.setattr(Path, "home", lambda: home)
    told = {"echo": secret, "error": f"Traceback\n{home}/x", "at": f"file://{home}/y", "path": f"{home}:{home}/z"}
    folder.protocol(ABSTRACTS)
    folder.records(2)
    folder.run(yes(json.dumps(told) + json.dumps(told, ensure_ascii=False) + json.dumps(told).replace("/", "\\/")))
    archived(folder, tmp_path / "a.zip")
    raw = pl.read_parquet(io.BytesIO(contents(tmp_path / "a.zip")["tables/calls-0001.parquet"]))["raw"][0]
    assert "secret" not in raw
    assert "hôme" not in raw
    assert "h\\u00f4me" not in raw
    assert raw.count("~") == 12
    mask = Mask(secrets={"MY_TOKEN": secret}, folders={str(home): "~"})
    assert mask.text(json.dumps(told)) == json.dumps(
        {"echo": "…", "error": "Traceback\n~/x", "at": "file://~/y", "path": "~:~/z"}
    ).replace("\\u2026", "…")


def test_without_gold_nothing_that_judges_were_shown_goes_in(folder: ReviewFolder, tmp_path: Path) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(2)
    folder.run(yes())
    call = "insert into calls (key, stage, record_id, model, request, text, reasoning, raw) values "
    folder.rows(call + "('k1', 'judge', 'r1', 'm', '{\"x\": \"GOLD ITEM\"}', 'GOLD ITEM', 'GOLD ITEM', 'GOLD ITEM')")
    folder.rows(call + "('k2', 'other', 'r1', 'm', '{\"x\": \"GOLD ITEM\"}', 'GOLD ITEM', 'GOLD ITEM', 'GOLD ITEM')")
    folder.rows("insert into judgements (judge, calls, gold) values ('j', ['k2'], 'GOLD ITEM')")
    archived(folder, tmp_path / "in.zip")
    done = archived(folder, tmp_path / "out.zip", Asked(gold=False))
    assert "GOLD ITEM" in texts_in(tmp_path / "in.zip")
    assert "GOLD ITEM" not in texts_in(tmp_path / "out.zip")
    assert "--no-gold" in done.manifest.blank["calls.raw"]
    again = replay_archive(tmp_path / "out.zip")
    assert again.same
    assert counts(again)["verdicts"] == (2, 0, 0, 0)


def test_prompt_files_of_any_name_are_replayed(folder: ReviewFolder, tmp_path: Path) -> None:
    mine = "# System\nScreen for {question}\n\n# User\n{title} {abstract}\nAnswer {include} or {exclude}."
    names = ("übersicht.md", "prompts/mine (v2).md", "m.md", "./m.md")
    (folder.path / "prompts").mkdir()
    readers = ""
    for number, name in enumerate(names):
        (folder.path / name).write_text(mine, encoding="utf-8")
        readers += f'[readers.n{number}]\nmodel = "m"\nprompt = "{name}"\n'
    folder.protocol(readers + '[stages.title_abstract]\nreaders = ["n0", "n1", "n2", "n3"]\nvotes = 1\n')
    folder.records(2)
    folder.run(yes())
    archived(folder, tmp_path / "a.zip")
    again = replay_archive(tmp_path / "a.zip")
    assert again.same
    assert counts(again)["readings"] == (8, 0, 0, 0)


@pytest.mark.parametrize("score", [float("inf"), float("-inf"), float("nan"), 1e-10, None])
def test_a_score_that_is_another_one_is_no_equal(small: Path, score: float | None) -> None:
    def changed(frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(score=pl.lit(score, dtype=pl.Float64))

    again = replay_archive(rewritten(small, lambda files: with_table(files, "verdicts", changed)))
    assert counts(again)["verdicts"] == (0, 3, 0, 0)


def test_an_archive_that_spares_itself_the_comparison_is_refused(small: Path) -> None:
    def refuses(change: Callable[[dict[str, bytes]], object], words: str) -> None:
        with pytest.raises(InputError, match=words):
            replay_archive(rewritten(small, lambda files: (change(files), None)[1]))

    refuses(lambda files: with_table(files, "verdicts", lambda frame: frame.drop("state")), "lacks the column 'state'")
    refuses(lambda files: manifest_with(files, lambda told: told.update(derivable=[])), "can be derived again by what is in")
    refuses(lambda files: manifest_with(files, lambda told: told["tables"].update(failures=99)), "manifest.json says 99")
    refuses(lambda files: manifest_with(files, lambda told: told["tables"].pop("runs")), "which manifest.json does not name")

    def unbound(files: dict[str, bytes]) -> None:
        files["binding.json"] = _named(json.loads(files["binding.json"]), stages=[])
        manifest_with(files, lambda told: told.update(derivable=[]))

    refuses(unbound, "do not agree on the stage 'title_abstract'")

    def blanked(files: dict[str, bytes]) -> None:
        files["binding.json"] = _named(json.loads(files["binding.json"]), blanked=["title_abstract"])
        manifest_with(files, lambda told: told.update(derivable=[]))

    refuses(blanked, "leaves out worked examples")


def test_a_replay_that_derives_nothing_does_not_say_that_all_is_the_same(plain: ReviewFolder, tmp_path: Path) -> None:
    archived(plain, tmp_path / "a.zip", Asked(abstracts=False))
    assert summary(replay_archive(tmp_path / "a.zip")).startswith("nothing was derived again, so no verdict is checked")


def test_what_stands_beside_an_archive_or_a_replay_is_left_alone(small: Path, tmp_path: Path) -> None:
    for name in (".again.notes.tmp", ".again.zip.12345678.tmp", ".again.12345678.tmp"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "mine.txt").write_text("x", encoding="utf-8")
    replay_archive(small, tmp_path / "again")
    assert len(list(tmp_path.glob(".again.*.tmp/mine.txt"))) == 3


def test_the_replay_says_where_the_mask_changed_evidence(
    folder: ReviewFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.protocol(ABSTRACTS)
    folder.records(2)
    folder.run(yes())
    monkeypatch.setenv("ODD_TOKEN", "zinc in trial")
    done = archived(folder, tmp_path / "a.zip")
    assert "ODD_TOKEN, in 2 row(s)" in done.manifest.masked["records.abstract"]
    again = replay_archive(tmp_path / "a.zip")
    assert counts(again)["verdicts"] == (0, 0, 2, 0)
    assert any("the mask changed" in note and "records.abstract" in note for note in again.notes)


def test_a_person_heard_on_a_duplicate_counts_only_for_verdicts_made_after_the_clusters(
    folder: ReviewFolder, tmp_path: Path
) -> None:
    folder.protocol(PANEL)
    folder.records(2)
    stage = {"stage": "title_abstract", "decision": "exclude"}
    decide(folder, [{**stage, "record_id": "r2"}], "anna")
    folder.run(yes())
    for record, status in (("r1", "kept"), ("r2", "duplicate")):
        folder.rows(
            "insert into clusters (at_time, version, record_id, kept_id, study_id, status) "
            f"values (now(), 'v1', '{record}', 'r1', 's1', '{status}')"
        )
    archived(folder, tmp_path / "a.zip")
    again = replay_archive(tmp_path / "a.zip")
    assert again.same, again.tables
    assert counts(again)["verdicts"][0] > 0
