import csv
from pathlib import Path

import pytest

from litcascade.errors import InputError
from litcascade.pipeline.duplicates import DedupReceipt, deduplicate, export_pairs, import_pairs
from litcascade.pipeline.importing import import_decisions, import_gold, import_records
from litcascade.pipeline.kit import kit_tables
from litcascade.pipeline.ledger import read_ledger
from litcascade.pipeline.scoring import score_review
from litcascade.store import Store
from tests.support.reviews import ABSTRACTS, REPORTS, ReviewFolder

ONE = """record_id,title,authors,year,journal,volume,pages,doi,abstract
a,Zinc lozenges for sore throat in adults,"Doe A; Roe B",2015,J Ex,3,1-9,10.5555/x.1,Forty adults took zinc.
b,Honey syrup for cough in children,"Poe C",2016,J Ex,4,10-19,10.5555/x.2,Thirty children took honey.
"""
TWO = """record_id,title,authors,year,journal,volume,pages,doi,abstract
c,ZINC LOZENGES FOR SORE THROAT IN ADULTS.,"Doe, Ana; Roe, Ben",2015,Journal of Examples,3,1-9,https://doi.org/10.5555/X.1,
d,RETRACTED: Salt rinses for sore throat,"Loe D",2017,J Ex,5,1-5,10.5555/x.3,Fifty adults rinsed.
"""


def fill(folder: ReviewFolder, store: Store) -> None:
    for name, text in (("one.csv", ONE), ("two.csv", TWO)):
        path = folder.path / name
        path.write_text(text, encoding="utf-8")
        import_records(store, path)


def run(folder: ReviewFolder) -> DedupReceipt:
    with folder.review.open() as store:
        return deduplicate(store)


@pytest.fixture
def filled(folder: ReviewFolder) -> ReviewFolder:
    folder.protocol(ABSTRACTS)
    with folder.review.open(create=True) as store:
        fill(folder, store)
    return folder


def test_duplicates_are_a_state_of_the_first_stage_and_the_counts_close(filled: ReviewFolder) -> None:
    receipt = run(filled)
    assert (receipt.records, receipt.kept, receipt.removed) == (4, 3, 1)
    assert receipt.statuses == {"retracted": 1}
    with filled.review.open() as store:
        first = read_ledger(store, filled.review.protocol)[0]
        assert first.closes()
        assert (first.entered, first.states, first.passed) == (4, {"pending": 3, "duplicate": 1}, 0)
        assert store.rows("select record_id from title_abstract where state = 'duplicate'") == [("c",)]
    assert filled.rows("select rule <> '', why <> '', who from current_pairs where verdict = 'same'") == [(True, True, "rules")]


def test_a_second_run_stores_nothing_and_a_new_import_is_taken_in(filled: ReviewFolder) -> None:
    assert run(filled).changed
    before = filled.rows("select count(*) from clusters")
    assert not run(filled).changed
    assert filled.rows("select count(*) from clusters") == before
    (filled.path / "three.csv").write_text(ONE.replace("\na,", "\ne,").replace("\nb,", "\nf,"), encoding="utf-8")
    with filled.review.open() as store:
        import_records(store, filled.path / "three.csv")
    receipt = run(filled)
    assert (receipt.records, receipt.kept, receipt.changed) == (6, 3, True)


def test_a_person_undoes_a_join_and_makes_one(filled: ReviewFolder) -> None:
    run(filled)
    path = filled.path / "pairs.csv"
    with filled.review.open() as store:
        assert export_pairs(filled.review, store, path)
    with path.open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    joined = next(row for row in rows if row["verdict"] == "same")
    assert {joined["first_id"], joined["second_id"]} == {"a", "c"}
    joined["decision"] = "different"
    said = [joined, {**dict.fromkeys(joined, ""), "first_id": "b", "second_id": "d", "decision": "same"}]
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(joined))
        writer.writeheader()
        writer.writerows(said)
    with filled.review.open() as store:
        with pytest.raises(InputError, match="nobody is named for the pair"):
            import_pairs(filled.review, store, path, None)
        import_pairs(filled.review, store, path, "Anna")
        assert dict(store.rows("select record_id, kept_id from current_clusters order by 1"))["c"] == "c"
        assert store.value("select count(distinct kept_id) from current_clusters") == 3
        path.write_text("first_id,second_id,decision\nb,d,different\n", encoding="utf-8")
        import_pairs(filled.review, store, path, "Ben")
        assert store.value("select count(distinct kept_id) from current_clusters") == 4
        path.write_text("first_id,second_id,decision\nb,d,perhaps\n", encoding="utf-8")
        with pytest.raises(InputError, match="line 2: 'perhaps' is no decision"):
            import_pairs(filled.review, store, path, "Ben")
    assert filled.rows("select count(*) from pairs where who = 'Anna'") == [(2,)]


def test_what_a_person_included_is_kept_and_contradictions_are_listed(filled: ReviewFolder) -> None:
    path = filled.path / "said.csv"
    path.write_text("record_id,stage,decision\na,title_abstract,exclude\nc,title_abstract,include\n", encoding="utf-8")
    with filled.review.open() as store:
        import_decisions(filled.review, store, path, "Anna")
    receipt = run(filled)
    assert receipt.contradictions == [("a", "c")]
    assert filled.rows("select record_id, state from title_abstract where record_id in ('a', 'c') order by 1") == [
        ("a", "duplicate"),
        ("c", "referred"),
    ]
    assert filled.rows("select code from queue where record_id = 'c'") == [("decided otherwise on a duplicate",)]
    path.write_text("record_id,stage,decision\na,title_abstract,exclude\n", encoding="utf-8")
    with filled.review.open() as store:
        import_decisions(filled.review, store, path, "Ben")
    assert filled.rows("select state from title_abstract where record_id = 'c'") == [("excluded",)]


def test_labels_of_a_duplicate_stand_under_the_record_that_is_kept(filled: ReviewFolder) -> None:
    path = filled.path / "gold.csv"
    path.write_text("record_id,title_abstract\na,exclude\nc,include\nb,exclude\n", encoding="utf-8")
    with filled.review.open() as store:
        import_gold(filled.review, store, path)
    assert run(filled).gold_differs == 1
    assert filled.rows("select record_id, decision from current_gold order by 1") == [("a", "include"), ("b", "exclude")]


def test_a_decision_on_a_duplicate_counts_for_the_kept_record_while_they_are_joined(filled: ReviewFolder) -> None:
    run(filled)
    path: Path = filled.path / "said.csv"
    path.write_text("record_id,stage,decision\nc,title_abstract,include\n", encoding="utf-8")
    with filled.review.open() as store:
        import_decisions(filled.review, store, path, "Anna")
        assert store.rows("select state from title_abstract where record_id = 'a'") == [("included",)]
        path.write_text("first_id,second_id,decision\na,c,different\n", encoding="utf-8")
        import_pairs(filled.review, store, path, "Anna")
    assert filled.rows("select record_id, state from title_abstract where record_id in ('a', 'c') order by 1") == [
        ("a", "pending"),
        ("c", "included"),
    ]


def test_what_was_decided_at_a_later_stage_is_not_lost_to_a_fuller_record(folder: ReviewFolder) -> None:
    folder.protocol(ABSTRACTS, REPORTS)
    with folder.review.open(create=True) as store:
        (folder.path / "two.csv").write_text(TWO, encoding="utf-8")
        import_records(store, folder.path / "two.csv")
        said = folder.path / "said.csv"
        said.write_text("record_id,stage,decision\nc,full_text,include\n", encoding="utf-8")
        import_decisions(folder.review, store, said, "Anna")
        (folder.path / "one.csv").write_text(ONE, encoding="utf-8")
        import_records(store, folder.path / "one.csv")
        deduplicate(store)
        assert dict(store.rows("select record_id, kept_id from current_clusters"))["a"] == "c"


def test_words_on_pairs_that_cannot_stand_leave_nothing(filled: ReviewFolder) -> None:
    run(filled)
    path = filled.path / "pairs.csv"
    for rows, words in (
        ("a,a,same", "line 2: the pair names record 'a' twice"),
        ("a,c,same\nc,a,different", "is decided in two ways"),
        ("a,zz,same", "1 id\\(s\\) are not in the review"),
    ):
        path.write_text(f"first_id,second_id,decision\n{rows}\n", encoding="utf-8")
        with filled.review.open() as store, pytest.raises(InputError, match=words):
            import_pairs(filled.review, store, path, "Anna")
    assert filled.rows("select count(*) from pairs where who <> 'rules'") == [(0,)]


def test_the_kit_tells_imports_duplicates_and_retractions(filled: ReviewFolder) -> None:
    path = filled.path / "gold.csv"
    path.write_text("record_id,title_abstract\na,include\nb,exclude\n", encoding="utf-8")
    run(filled)
    with filled.review.open() as store:
        import_gold(filled.review, store, path)
        tables = kit_tables(filled.review, store, score_review(filled.review, store))
    rows = {row[0]: row[1] for table in tables for row in table.rows}
    assert rows["Records imported"] == "one.csv: 2; two.csv: 2"
    assert rows["Duplicates, studies, retractions"] == "1 duplicates removed; 3 reports of 3 studies; 1 flagged as retracted"


def test_a_baselines_verdict_does_not_choose_which_record_is_kept(filled: ReviewFolder) -> None:
    with filled.review.open() as store:
        row = {"stage": "title_abstract", "record_id": "c", "state": "included"}
        store.append("verdicts", [{**row, "fingerprint": "baseline:logistic"}])
        deduplicate(store)
        assert dict(store.rows("select record_id, kept_id from current_clusters"))["c"] == "a"
        store.append("verdicts", [{**row, "fingerprint": "f"}])
        deduplicate(store)
        assert dict(store.rows("select record_id, kept_id from current_clusters"))["a"] == "c"
