import io
import json
import os
import sqlite3
import subprocess
import zipfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from litcascade.corpora import (
    asreview,  # noqa: F401  (importing registers the reader)
    read_records,
    read_text_as,
)
from litcascade.corpora.build import build
from litcascade.corpora.writers import About, Row, write_records
from litcascade.errors import InputError
from tests.conftest import need

CSV = """id,title,abstract,journal,included
k1,Zinc for colds,"Adults, took
zinc",J One,1
k2,Copper,Rats.,J Two,0
k3,Iron,Women.,,
"""
TITLES = ("Zinc for colds", "Copper", "Iron")
RECORD = (
    "create table record (dataset_row int, dataset_id, title, abstract, authors, keywords, year int, doi, url, included int, "
    "record_id int, duplicate_of int)"
)
RESULTS = "create table results (record_id int, label int, querier, time float, note, tags, user_id int)"
RESULTS_1 = "create table results (record_id int, label int, classifier, query_strategy, labeling_time int, notes)"

Labels = Mapping[int, int | None]


def database(folder: Path, *scripts: str, rows: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    """The bytes of an SQLite file with these tables and rows."""
    path = folder / "made.db"
    path.unlink(missing_ok=True)
    with closing(sqlite3.connect(path)) as made:
        for script in scripts:
            made.execute(script)
        for table, values in rows.items():
            for row in values:
                made.execute(f"insert into {table} values ({', '.join('?' * len(row))})", row)
        made.commit()
    return path.read_bytes()


def records_and_results(folder: Path, labels: Labels, included: Sequence[int | None] = (None,) * 3) -> bytes:
    records = [
        (n, "d", title, f"Abstract {n}", '["Ng, A.", " Roe, B."]', "[]", 2020 + n, None, None, included[n], n, None)
        for n, title in enumerate(TITLES)
    ]
    results = [(key, label, None, 1.5, None, None, None) for key, label in labels.items()]
    return database(folder, RECORD, RESULTS, rows={"record": records, "results": results})


def project(path: Path, members: Mapping[str, bytes | str], **config: Any) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("project.json", json.dumps({"id": "p", "mode": "oracle", "name": "p", **config}))
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def version_3(path: Path, labels: Labels, data: str | None = CSV, **config: Any) -> Path:
    members: dict[str, bytes | str] = {"results.db": records_and_results(path.parent, labels)}
    if data is not None:
        members["data/in.csv"] = data
    return project(path, members, project_file_version=3, datasets=[{"id": "d", "name": "in.csv"}], **config)


def version_1(path: Path, *reviews: Labels, data: str = CSV, rows: int = 3, **config: Any) -> Path:
    members: dict[str, bytes | str] = {"data/in.csv": data}
    for number, labels in enumerate(reviews):
        values = [(key, label, "nb", "max", 1, None) for key, label in labels.items()]
        tables: dict[str, Sequence[Sequence[Any]]] = {"results": values, "record_table": [(n,) for n in range(rows)]}
        made = database(path.parent, RESULTS_1, "create table record_table (record_id int)", rows=tables)
        members[f"reviews/r{number}/results.sql"] = made
    listed = [{"id": f"r{number}"} for number in range(len(reviews))]
    return project(path, members, version="1.6.2", dataset_path="in.csv", reviews=listed, **config)


def labels_of(path: Path) -> dict[str, str | None]:
    return {record.record_id: record.labels.get("screening") for record in read_records(path)[0].records}


def test_version_3_gives_records_with_the_file_s_ids_and_fields_and_asreview_s_labels(tmp_path: Path) -> None:
    parsed, receipt = read_records(version_3(tmp_path / "a.asreview", {0: 0, 1: 1, 2: None}))
    first, second, third = parsed.records
    assert (first.record_id, first.title, first.abstract, first.journal) == ("k1", TITLES[0], "Adults, took\nzinc", "J One")
    assert (first.authors, first.year) == (("Ng, A.", "Roe, B."), 2020)
    assert [record.labels for record in (first, second, third)] == [{"screening": "exclude"}, {"screening": "include"}, {}]
    assert first.source["asreview_results"] == [{"label": 0, "time": 1.5}]
    assert (receipt.format, receipt.in_file, receipt.read, receipt.refused) == ("asreview", 3, 3, 0)
    assert receipt.repairs == ("records labelled otherwise in the imported file (the label given in ASReview was taken): 2",)


def test_what_was_labelled_before_but_not_in_asreview_has_no_label_and_is_counted(tmp_path: Path) -> None:
    parsed, receipt = read_records(version_3(tmp_path / "a.asreview", {0: 1}))
    assert [record.labels for record in parsed.records] == [{"screening": "include"}, {}, {}]
    assert parsed.records[1].source["included"] == "0"
    assert receipt.repairs == (
        "records with a label in the imported file that were not labelled in ASReview (none was taken): 1",
    )


def test_in_a_simulation_the_imported_labels_are_the_truth(tmp_path: Path) -> None:
    path = version_3(tmp_path / "a.asreview", {0: 1}, mode="simulate")
    assert labels_of(path) == {"k1": "include", "k2": "exclude", "k3": None}


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (None, "it is not in the project"),
        ("id,title\nk1,Zinc for colds\nk2,Iron\nk3,Copper\n", "record 2 has another title there"),
        ("id,title\nk1,Zinc for colds\nk2,Copper\n", "it has fewer records than the table"),
        (CSV + "k4,Tin,,,\n", "it has more records than the table"),
        ("no table", "data/in.csv: the format was not recognised"),
    ],
)
def test_an_imported_file_of_other_rows_binds_no_label_to_them(tmp_path: Path, data: str | None, why: str) -> None:
    parsed, receipt = read_records(version_3(tmp_path / "a.asreview", {1: 1, 2: 0}, data))
    assert [(record.record_id, record.title, record.abstract) for record in parsed.records] == [
        (str(n), title, f"Abstract {n}") for n, title in enumerate(TITLES)
    ]
    assert [record.labels.get("screening") for record in parsed.records] == [None, "include", "exclude"]
    assert why in receipt.repairs[0]
    assert "the imported file 'in.csv' was not read" in receipt.repairs[0]


def test_a_row_of_the_file_that_cannot_be_read_is_taken_from_the_table(tmp_path: Path) -> None:
    data = "id,title,journal\nk1,Zinc for colds,J\nk2\nk3,Iron,J\n"
    parsed, receipt = read_records(version_3(tmp_path / "a.asreview", {1: 1}, data))
    assert [(record.title, record.labels.get("screening")) for record in parsed.records] == list(
        zip(TITLES, (None, "include", None), strict=True)
    )
    assert (receipt.read, receipt.refused) == (3, 0)


def test_decisions_on_records_that_are_not_there_and_unknown_ones_are_counted(tmp_path: Path) -> None:
    parsed, receipt = read_records(version_3(tmp_path / "a.asreview", {0: -1, 1: 7, 99: 1}))
    assert [record.labels for record in parsed.records] == [{}, {}, {}]
    assert "decisions that are neither 0 nor 1, or of no record: 1" in receipt.repairs
    assert "1 decision(s) of the project belong to no record in it, and were not taken" in receipt.repairs


def test_version_2_keeps_records_and_decisions_apart(tmp_path: Path) -> None:
    store = records_and_results(tmp_path, {})
    results = database(tmp_path, RESULTS, rows={"results": [(1, 1, None, 2.5, "seen", None, None)]})
    members: dict[str, bytes | str] = {"data_store.db": store, "reviews/r/results.db": results, "data/in.csv": CSV}
    path = project(tmp_path / "a.asreview", members, reviews=[{"id": "r"}], datasets=[{"id": "d", "name": "in.csv"}])
    parsed, _ = read_records(path)
    assert [(record.record_id, record.labels) for record in parsed.records] == [
        ("k1", {}), ("k2", {"screening": "include"}), ("k3", {}),
    ]  # fmt: skip
    assert parsed.records[1].source["asreview_results"] == [{"label": 1, "time": 2.5, "note": "seen"}]


def test_version_1_binds_decisions_by_the_row_of_the_file(tmp_path: Path) -> None:
    path = version_1(tmp_path / "a.asreview", {0: 0, 2: 1, 1: -1})
    assert labels_of(path) == {"k1": "exclude", "k2": None, "k3": "include"}


def test_two_reviews_that_differ_are_a_conflict(tmp_path: Path) -> None:
    path = version_1(tmp_path / "a.asreview", {0: 1, 1: 1}, {0: 1, 1: 0, 2: 0})
    assert labels_of(path) == {"k1": "include", "k2": "conflict", "k3": "exclude"}
    second = read_records(path)[0].records[1]
    assert [row["label"] for row in second.source["asreview_results"]] == [1, 0]


def test_version_1_whose_rows_do_not_add_up_is_refused(tmp_path: Path) -> None:
    path = version_1(tmp_path / "a.asreview", {0: 1}, rows=4)
    with pytest.raises(InputError, match=r"counts 4 records and 'data/in.csv' in it 3, so its decisions cannot be bound"):
        read_records(path)


def test_a_project_without_a_review_is_its_records(tmp_path: Path) -> None:
    assert labels_of(version_1(tmp_path / "a.asreview")) == {"k1": None, "k2": None, "k3": None}


def test_a_member_that_points_out_of_the_archive_writes_nothing_there(tmp_path: Path) -> None:
    inside = tmp_path / "in" / "side"
    inside.mkdir(parents=True)
    members: dict[str, bytes | str] = {"../../evil.txt": "x", "data/../../../evil.csv": CSV}
    path = project(inside / "a.asreview", members, dataset_path="../../../evil.csv")
    assert len(read_records(path)[0].records) == 3
    assert sorted(found.name for found in tmp_path.rglob("*")) == ["a.asreview", "in", "side"]


def broken(path: Path, name: str, content: bytes | str) -> Path:
    """A sound project of version 3 with one member put in place of its own."""
    sound = version_3(path.with_name("sound.zip"), {0: 1})
    with zipfile.ZipFile(sound) as source, zipfile.ZipFile(path, "w") as out:
        for member in source.namelist():
            out.writestr(member, content if member == name else source.read(member))
    return path


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("project.json", "{", "its project.json cannot be read"),
        ("project.json", "[1]", "its project.json is no ASReview configuration"),
        ("project.json", b"\xff\xfe\x00", "its project.json cannot be read"),
        ("results.db", b"", "no record was found in it"),
        ("results.db", b"not a database" * 100, "is a damaged ASReview project"),
    ],
)
def test_a_damaged_project_is_told_in_one_sentence(tmp_path: Path, name: str, content: bytes | str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_records(broken(tmp_path / "a.asreview", name, content))


def test_a_project_damaged_in_the_middle_is_told(tmp_path: Path) -> None:
    path = version_3(tmp_path / "a.asreview", {0: 1})
    raw = bytearray(path.read_bytes())
    raw[raw.index(b"SQLite format 3") + 200] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(InputError, match="is a damaged ASReview project"):
        read_records(path)
    path.write_bytes(raw[: len(raw) // 2])
    with pytest.raises(InputError, match="damaged zip archive"):
        read_records(path)


def test_foreign_and_old_projects_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="without records that can be read"):
        read_records(project(tmp_path / "a.zip", {"index.html": "x"}))
    with pytest.raises(InputError, match="is a project of ASReview 0"):
        read_records(project(tmp_path / "b.zip", {"labeled.json": "[]", "data/in.csv": CSV}, dataset_path="in.csv"))
    inner = version_1(tmp_path / "c.zip").read_bytes()
    with pytest.raises(InputError, match="a project inside a project"):
        read_records(project(tmp_path / "d.zip", {"data/in.asreview": inner}, dataset_path="in.asreview"))


def test_an_encrypted_project_is_told(tmp_path: Path) -> None:
    raw = bytearray(version_3(tmp_path / "a.asreview", {0: 1}).read_bytes())
    for place in (raw.index(b"PK\x03\x04") + 6, raw.index(b"PK\x01\x02") + 8):
        raw[place] |= 1
    (tmp_path / "a.asreview").write_bytes(raw)
    with pytest.raises(InputError, match="is encrypted"):
        read_records(tmp_path / "a.asreview")


def test_in_an_export_of_asreview_its_own_column_says_the_label() -> None:
    text = "title,abstract,included,asreview_label\nA,x,1,0\nB,x,0,\nC,x,,1\n"
    parsed = read_text_as("csv", text)
    assert [record.labels for record in parsed.records] == [{"screening": "exclude"}, {}, {"screening": "include"}]
    assert parsed.repairs[0] == "column 'included' has a label where 'asreview_label' is blank in 1 row(s): none was taken"
    parsed = read_text_as("csv", "title,abstract,included\nA,x,1\nB,x,-1\n")
    assert [record.labels for record in parsed.records] == [{"screening": "include"}, {}]


def rows() -> list[Row]:
    def one(number: int, state: str) -> Row:
        fields = {
            "title": f"=Title; {number}",
            "abstract": f"Text {number}\nof zinc",
            "year": "2020",
            "journal": "J",
            "doi": None,
        }
        return Row(build(f"rec {number}", fields, ["Ng; A", "Roe, B"], number, {}), {"title_abstract": state})

    return [one(1, "included"), one(2, "excluded"), one(3, "referred"), one(4, "included")]


def test_our_own_project_has_the_tables_and_decisions_of_version_3(tmp_path: Path) -> None:
    write_records(tmp_path / "a.asreview", rows(), About("Zinc", ("title_abstract",)))
    with zipfile.ZipFile(tmp_path / "a.asreview") as archive:
        assert set(archive.namelist()) == {"project.json", "results.db", "data/records.csv", "feature_matrices/"}
        config = json.load(io.TextIOWrapper(archive.open("project.json")))
        (tmp_path / "r.db").write_bytes(archive.read("results.db"))
    assert (config["project_file_version"], config["mode"], config["name"]) == (3, "oracle", "Zinc")
    with closing(sqlite3.connect(tmp_path / "r.db")) as found:
        assert found.execute("select record_id, label from results order by 1").fetchall() == [(0, 1), (1, 0), (3, 1)]
        assert found.execute("select title, authors, year, group_id from record where record_id = 2").fetchall() == [
            ("=Title; 3", '["Ng; A", "Roe, B"]', 2020, 2)
        ]
        assert found.execute("pragma user_version").fetchone() == (3,)


OPEN = """
import json, sys, tempfile
from pathlib import Path
from asreview.project import api
from asreview.learner import ActiveLearningCycle, ActiveLearningCycleData
project = api.Project.load(sys.argv[1], tempfile.mkdtemp(dir=sys.argv[2]))
ActiveLearningCycle.from_meta(ActiveLearningCycleData(**project.get_model_config()))
project.db._is_valid()
project.db.label_record(2, 0)
project.db.update_result(3, label=0)
labels = project.db.get_results_table()[["record_id", "label"]].values.tolist()
columns = list(project.read_input_data().columns)
authors = project.db.input.get_records([0])[0].authors
project.close()
project.export(Path(sys.argv[2], "back.asreview"))
print(json.dumps([labels, columns, authors, api.is_project(project.project_path)]))
"""


def test_asreview_opens_our_project_and_we_read_what_it_saves(tmp_path: Path) -> None:
    interpreter = os.environ.get("LITCASCADE_ASREVIEW", "")
    need("asreview", bool(interpreter), "LITCASCADE_ASREVIEW names no Python with ASReview 3")
    write_records(tmp_path / "a.asreview", rows(), About("Zinc", ("title_abstract",)))
    command = [interpreter, "-c", OPEN, str(tmp_path / "a.asreview"), str(tmp_path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path)
    assert said.returncode == 0, said.stderr
    labels, columns, authors, sound = json.loads(said.stdout)
    assert sound
    assert sorted(labels) == [[0, 1], [1, 0], [2, 0], [3, 0]]
    assert {"record_id", "title", "title_abstract"} <= set(columns)
    assert authors == ["Ng; A", "Roe, B"]
    back, _ = read_records(tmp_path / "back.asreview")
    assert [(record.record_id, record.title, record.labels.get("screening")) for record in back.records] == [
        ("rec 1", "=Title; 1", "include"), ("rec 2", "=Title; 2", "exclude"), ("rec 3", "=Title; 3", "exclude"),
        ("rec 4", "=Title; 4", "exclude"),
    ]  # fmt: skip


SIMULATE = """
import runpy, sys
sys.argv = ["asreview", "simulate", sys.argv[1], "-o", sys.argv[2], "--n-prior-included", "1", "--n-prior-excluded", "1"]
runpy.run_module("asreview", run_name="__main__")
"""


def test_a_project_that_asreview_made_is_read(tmp_path: Path) -> None:
    interpreter = os.environ.get("LITCASCADE_ASREVIEW", "")
    need("asreview", bool(interpreter), "LITCASCADE_ASREVIEW names no Python with ASReview 3")
    lines = [f'k{n},"Zinc {n}, a trial",Adults took zinc {n},J {n},{int(n % 3 == 0)}' for n in range(12)]
    (tmp_path / "in.csv").write_text("\n".join(["record_id,title,abstract,journal,included", *lines]), encoding="utf-8")
    command = [interpreter, "-c", SIMULATE, str(tmp_path / "in.csv"), str(tmp_path / "sim.asreview")]
    said = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=300, cwd=tmp_path, env={**os.environ, "HOME": str(tmp_path)}
    )
    assert said.returncode == 0, said.stderr
    parsed, receipt = read_records(tmp_path / "sim.asreview")
    assert [(record.record_id, record.journal, record.labels) for record in parsed.records] == [
        (f"k{n}", f"J {n}", {"screening": "include" if n % 3 == 0 else "exclude"}) for n in range(12)
    ]
    assert (receipt.read, receipt.refused, receipt.repairs) == (12, 0, ())
