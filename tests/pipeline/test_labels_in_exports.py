from pathlib import Path

import pytest

from litcascade.errors import InputError
from litcascade.pipeline.exporting import export
from litcascade.pipeline.importing import import_decisions, import_records
from litcascade.pipeline.labels_in_exports import import_found_labels, is_table_of_labels
from tests.support.reviews import ABSTRACTS, ReviewFolder

PAPERS = (("Aspirin for pain", "10.5555/a"), ("Ibuprofen for pain", "10.5555/b"), ("Paracetamol for pain", "10.5555/c"))


def ris(path: Path, papers: list[tuple[str, str, str]]) -> Path:
    """(Title, DOI, note) of each record, none with an id of its own."""
    text = "".join(f"TY  - JOUR\nTI  - {t}\nDO  - {d}\nN1  - {n}\nER  - \n" for t, d, n in papers)
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def filled(folder: ReviewFolder) -> ReviewFolder:
    folder.protocol(ABSTRACTS)
    with folder.review.open(create=True) as store:
        import_records(store, ris(folder.path / "export.ris", [(title, doi, "") for title, doi in PAPERS]))
    return folder


def gold(folder: ReviewFolder) -> dict[str, str]:
    return dict(folder.rows("select title, decision from current_gold join records using (record_id)"))


def test_labels_are_bound_by_what_the_record_is_never_by_its_place(filled: ReviewFolder) -> None:
    notes = ["ASReview_irrelevant", "ASReview_irrelevant", "ASReview_relevant"]
    turned = [(title, doi, note) for (title, doi), note in zip(PAPERS, notes, strict=True)][::-1]
    with filled.review.open() as store:
        found = import_found_labels(store, ris(filled.path / "other" / "export.ris", turned))
    assert (found.labels, found.unmatched) == (3, [])
    assert gold(filled) == {"Aspirin for pain": "exclude", "Ibuprofen for pain": "exclude", "Paracetamol for pain": "include"}


def test_a_foreign_id_is_not_trusted_against_the_doi(filled: ReviewFolder) -> None:
    path = filled.path / "lab.ris"
    path.write_text(
        "TY  - JOUR\nID  - export:2\nTI  - Paracetamol for pain\nDO  - 10.5555/c\nN1  - ASReview_relevant\nER  - \n",
        encoding="utf-8",
    )
    with filled.review.open() as store:
        import_found_labels(store, path)
    assert gold(filled) == {"Paracetamol for pain": "include"}


def test_labels_that_contradict_each_other_are_listed_and_not_imported(filled: ReviewFolder) -> None:
    (title, doi), other = PAPERS[0], PAPERS[1]
    rows = [(title, doi, "ASReview_relevant"), (title, doi, "ASReview_irrelevant"), (*other, "ASReview_relevant")]
    with filled.review.open() as store:
        found = import_found_labels(store, ris(filled.path / "two.ris", rows))
    assert (found.labels, found.contradicted) == (1, ["export:1"])
    with filled.review.open() as store, pytest.raises(InputError, match="1 contradicted"):
        import_found_labels(store, ris(filled.path / "three.ris", rows[:2]))


def test_a_screening_tools_csv_is_an_export_and_a_table_of_labels_is_not(filled: ReviewFolder) -> None:
    path = filled.path / "asreview.csv"
    path.write_text(
        "record_id,title,doi,asreview_label\n0,Aspirin for pain,10.5555/a,1\n1,Ibuprofen for colds,,0\n", encoding="utf-8"
    )
    assert not is_table_of_labels(path)
    with filled.review.open() as store:
        found = import_found_labels(store, path)
    assert (found.labels, found.unmatched) == (1, ["Ibuprofen for colds"])
    path.write_text("record_id,title_abstract\na,include\n", encoding="utf-8")
    assert is_table_of_labels(path)


@pytest.mark.parametrize("ending", ["ris", "csv", "xlsx", "bib", "parquet", "jsonl", "asreview", "asreview.csv"])
def test_a_models_verdict_never_comes_back_as_a_label(filled: ReviewFolder, ending: str) -> None:
    said = filled.path / "said.csv"
    said.write_text("record_id,stage,decision\nexport:1,title_abstract,include\n", encoding="utf-8")
    path = filled.path / f"own.{ending}"
    with filled.review.open() as store:
        store.append("stage_versions", [{"stage": "title_abstract", "fingerprint": "f", "run_id": "r", "referred": "wait"}])
        verdict = {"stage": "title_abstract", "fingerprint": "f", "record_id": "export:2", "state": "included"}
        store.append("verdicts", [verdict])
        import_decisions(filled.review, store, said, "Anna")
        export(filled.review, store, "records", path)
        import_found_labels(store, path)
    assert gold(filled) == {"Aspirin for pain": "include"}


def test_a_torn_row_or_a_search_line_does_not_make_a_table_of_labels_of_an_export(filled: ReviewFolder) -> None:
    path = filled.path / "tool.csv"
    path.write_text("Search: pain\nkey,title,doi,included\n1,Aspirin for pain,10.5555/a,1\n2,torn\n", encoding="utf-8")
    assert not is_table_of_labels(path)
    with filled.review.open() as store:
        assert import_found_labels(store, path).labels == 1
