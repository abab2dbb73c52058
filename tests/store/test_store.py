import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from litcascade.errors import StoreError
from litcascade.store import Store

TABLES = {
    "imports", "records", "set_aside", "documents", "gold", "gold_fields", "protocols", "amendments", "runs", "run_ends",
    "stage_versions", "calls", "failures", "readings", "verdicts", "extractions", "adjudications", "person_readings",
    "requeued", "estimates", "causes", "pairs", "clusters", "meta", "migrations",
    "rationales", "split_versions", "splits", "bench_cells", "bench_runs", "panel_rules", "audits", "criterion_answers", "token_counts",
    "judge_versions", "judgements", "judge_samples", "judge_labels", "judge_calibrations",
    "schema_samples", "schema_drafts", "schema_reports", "schema_candidates", "schema_passes", "schema_proposals",
    "schema_versions", "schema_decisions",
    "harmonise_versions", "label_proposals", "label_sets", "harmonised_items", "mappings", "comparisons", "mapping_decisions",
    "opinions", "withdrawn", "proposal_words",
}  # fmt: skip
VIEWS = {
    "current_stages", "current_documents", "current_gold", "current_gold_fields", "title_abstract", "full_text",
    "extraction", "queue", "extracted", "ledger", "current_causes", "current_clusters", "current_pairs",
    "current_rationales", "bench_readings", "harmonised",
}  # fmt: skip


def test_a_person_finds_their_way_with_plain_sql(tmp_path: Path) -> None:
    Store(tmp_path / "s.duckdb", create=True).close()
    with duckdb.connect(str(tmp_path / "s.duckdb"), read_only=True) as plain:
        found = {
            row[0]: row[1] for row in plain.execute("select table_name, table_type from information_schema.tables").fetchall()
        }
    assert {name for name, kind in found.items() if kind == "VIEW"} == VIEWS
    assert {name for name, kind in found.items() if kind != "VIEW"} == TABLES


def test_every_table_and_view_is_documented() -> None:
    text = (Path(__file__).parents[2] / "docs" / "store.md").read_text(encoding="utf-8")
    assert not [name for name in TABLES | VIEWS if f"`{name}`" not in text]


def test_rows_survive_as_they_were(tmp_path: Path) -> None:
    odd = "é\u2028'\"; drop table records; --\x07"
    with Store(tmp_path / "s.duckdb", create=True) as store:
        store.append(
            "records",
            [{"record_id": "a", "title": odd, "authors": ["x; y", odd]}, {"record_id": "b", "title": None, "authors": []}],
        )
    with Store(tmp_path / "s.duckdb") as store:
        assert store.rows("select record_id, title, authors from records order by 1") == [
            ("a", odd, ["x; y", odd]),
            ("b", None, []),
        ]


def test_a_failed_transaction_leaves_nothing(tmp_path: Path) -> None:
    with Store(tmp_path / "s.duckdb", create=True) as store:

        def twice() -> None:
            with store.transaction():
                store.append("records", [{"record_id": "a"}])
                store.append("records", [{"record_id": "a"}])

        with pytest.raises(StoreError, match="Constraint Error: PRIMARY KEY or UNIQUE"):
            twice()
        assert store.value("select count(*) from records") == 0


def test_a_second_writer_is_told_in_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Store(path, create=True):
        code = f"from pathlib import Path\nfrom litcascade.store import Store\nStore(Path({str(path)!r}))"
        other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "another process holds the review" in other.stderr


def test_what_is_no_store_is_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no review store yet"):
        Store(tmp_path / "s.duckdb")
    (tmp_path / "s.duckdb").write_text("not a database " * 1000, encoding="utf-8")
    with pytest.raises(StoreError, match="is not a DuckDB file"):
        Store(tmp_path / "s.duckdb")


def test_a_store_of_a_newer_version_is_refused_and_untouched(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with Store(path, create=True) as store:
        store._write("insert into migrations values (?, now())", ["9999_future"])
    with pytest.raises(StoreError, match="newer litcascade"):
        Store(path)


def test_views_are_the_protocols_own_after_a_new_release_changed_the_store(tmp_path: Path) -> None:
    """A store that a release with one more table opens: its views are made anew for the stages of the protocol."""
    path = tmp_path / "s.duckdb"
    with Store(path, create=True) as store:
        store.set_stages(["full_text"])
        store.append("records", [{"record_id": "r1", "title": "T", "abstract_status": "ok"}])
        assert store.rows("select record_id from full_text") == [("r1",)]
    with duckdb.connect(str(path)) as old:  # as it was before its second step
        for (view,) in old.execute("select view_name from duckdb_views() where not internal").fetchall():
            old.execute(f"drop view if exists {view} cascade")
        old.execute("drop table causes")
        old.execute("delete from migrations where name = '0002_causes'")
    with Store(path) as store:
        store.set_stages(["full_text"])
        assert store.rows("select record_id from full_text") == [("r1",)]
