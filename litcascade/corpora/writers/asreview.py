"""ASReview: a project that version 3 opens, and a CSV in the layout that it imports."""

import json
import sqlite3
import time
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import uuid4

from litcascade.corpora.writers.base import WRITERS, About, Cleaner, Row, Written, label_of
from litcascade.corpora.writers.cells import Cell, cells, columns
from litcascade.corpora.writers.delimited import write_rows

_DATA = "records.csv"
_VERSION = "3.0.8"  # the version whose layout this is
_MODEL = {
    "querier": "max", "classifier": "svm", "balancer": "balanced", "feature_extractor": "tfidf", "stopper": None,
    "querier_param": {}, "classifier_param": {"loss": "squared_hinge", "C": 0.11}, "balancer_param": {"ratio": 9.8},
    "feature_extractor_param": {"ngram_range": [1, 2], "sublinear_tf": True, "min_df": 1, "max_df": 0.95},
    "stopper_param": {}, "n_query": 1,
}  # fmt: skip
_TABLES = """
pragma user_version = 3;
create table record (
    dataset_row integer not null, dataset_id varchar not null, title varchar not null, abstract varchar not null,
    authors json not null, keywords json not null, year integer, doi varchar, url varchar, included integer,
    record_id integer not null primary key, duplicate_of integer references record (record_id) on delete set null,
    group_id integer not null generated always as (coalesce(duplicate_of, record_id)) virtual,
    unique (dataset_row, dataset_id),
    constraint no_self_duplicate check (duplicate_of is null or duplicate_of != record_id)
);
create index idx_record_group_id on record (group_id);
create table results (
    record_id integer unique, label integer, classifier text, querier text, balancer text, feature_extractor text,
    training_set integer, time float, note text, tags json, user_id integer
);
create table last_ranking (
    record_id integer unique, ranking int, classifier text, querier text, balancer text, feature_extractor text,
    training_set integer, time float
);
create table decision_changes (record_id integer, label integer, time float, user_id integer);
create trigger trg_results_delete after delete on results for each row begin
    insert into decision_changes (record_id, label, time, user_id) values (old.record_id, old.label, old.time, old.user_id);
end;
create trigger trg_results_label_update after update of label on results for each row when old.label is not new.label begin
    insert into decision_changes (record_id, label, time, user_id) values (old.record_id, old.label, old.time, old.user_id);
end;
"""
_RECORD = (
    "insert into record (dataset_row, dataset_id, title, abstract, authors, keywords, year, doi, url, record_id) "
    "values (?, ?, ?, ?, ?, '[]', ?, ?, ?, ?)"
)


@WRITERS.register("asreview_csv")
def write_layout(path: Path, rows: Iterable[Row], about: About) -> Written:
    """CSV whose column `included` is 1, 0 or blank, as ASReview imports it; all other columns are those of the tables."""
    clean = Cleaner()
    with path.open("w", encoding="utf-8", newline="") as out:
        count = write_rows(out, [*columns(about), "included"], (_with_label(row, about) for row in clean.rows(rows)))
    return Written(count, clean.notes())


@WRITERS.register("asreview")
def write_project(path: Path, rows: Iterable[Row], about: About) -> Written:
    """A project of ASReview 3 in mode `oracle`, every decision in it as prior knowledge; its data file keeps ids and states."""
    clean, dataset_id = Cleaner(), uuid4().hex
    with TemporaryDirectory(dir=path.parent, prefix=".writing-") as name:
        folder = Path(name)
        with closing(sqlite3.connect(folder / "results.db")) as database:
            database.executescript(_TABLES)
            with (folder / _DATA).open("w", encoding="utf-8", newline="") as out:
                count = write_rows(out, columns(about), _stored(database, clean.rows(rows), about, dataset_id))
            database.commit()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("project.json", json.dumps(_config(about, dataset_id)))
            archive.mkdir("feature_matrices")
            archive.write(folder / _DATA, f"data/{_DATA}")
            archive.write(folder / "results.db", "results.db")
    return Written(count, clean.notes())


def _with_label(row: Row, about: About) -> Mapping[str, Cell]:
    label, _ = label_of(row, about, people_only=True)
    return {**cells(row, about), "included": None if label is None else int(label == "include")}


def _stored(database: sqlite3.Connection, rows: Iterable[Row], about: About, dataset_id: str) -> Iterator[Mapping[str, Cell]]:
    """The cells of each row, once it is in the tables `record` and, where decided, `results`."""
    now = time.time()
    for number, row in enumerate(rows):
        line = cells(row, about)
        authors = json.dumps(row.record.authors)
        texts = (line["title"] or "", line["abstract"] or "", authors, line["year"], line["doi"], line["url"])
        database.execute(_RECORD, (number, dataset_id, *texts, number))
        label, _ = label_of(row, about, people_only=True)
        if label:
            decided = (number, int(label == "include"), now)
            database.execute("insert into results (record_id, label, time) values (?, ?, ?)", decided)
        yield line


def _config(about: About, dataset_id: str) -> dict[str, object]:
    return {
        "version": _VERSION,
        "project_file_version": 3,
        "id": uuid4().hex,
        "mode": "oracle",
        "name": about.name,
        "created_at_unix": int(time.time()),
        "feature_matrices": [],
        "tags": None,
        "datasets": [{"id": dataset_id, "name": _DATA}],
        "review": {"status": "setup", "model": {"name": "elas_u4", "current_value": _MODEL}},
    }
