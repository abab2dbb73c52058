from pathlib import Path

import pytest

from litcascade.corpora.sets import SETS
from litcascade.errors import InputError
from litcascade.pipeline.corpus import load_corpus, protocol_text, read_set
from litcascade.pipeline.ledger import read_ledger
from litcascade.pipeline.review import open_review
from litcascade.schemas import parse_protocol


def test_a_set_becomes_a_review_with_its_labels(tmp_path: Path, corpora: Path) -> None:
    corpus = SETS.get("cohen2006").load(corpora / "cohen2006", "Triptans")
    loaded = load_corpus(corpus, tmp_path / "t")
    assert (loaded.records, loaded.labels, loaded.set_aside) == (671, 1342, 0)
    review = open_review(tmp_path / "t")
    with review.open() as store:
        assert read_ledger(store, review.protocol)[0].closes()
        counts = store.rows("select stage, count(*) from current_gold where decision = 'include' group by 1 order by 1")
        assert counts == [("full_text", 24), ("title_abstract", 218)]
        assert store.value("select count(*) from records where source is not null and record_id is not null") == 671
    with pytest.raises(InputError, match="holds a review already"):
        load_corpus(corpus, tmp_path / "t")


def test_a_set_of_many_reviews_wants_a_part_and_full_texts_come_along(tmp_path: Path, corpora: Path) -> None:
    benchmark = SETS.get("csmed_ft")
    with pytest.raises(InputError, match="16 reviews; name one with --part"):
        load_corpus(read_set(benchmark, corpora / "csmed_ft", None), tmp_path / "all")
    assert not (tmp_path / "all").exists()
    part = benchmark.load(corpora / "csmed_ft").reviews[0].name
    with pytest.raises(InputError, match="no part and no review 'CD0'"):
        read_set(benchmark, corpora / "csmed_ft", "CD0")
    corpus = read_set(benchmark, corpora / "csmed_ft", part)
    loaded = load_corpus(corpus, tmp_path / "one")
    assert loaded.documents == loaded.records > 0
    review = open_review(tmp_path / "one")
    assert [name for name, _ in review.protocol.stages.items()] == ["full_text"]
    with review.open() as store:
        assert store.value("select count(*) from current_documents") == loaded.documents


def test_every_protocol_that_a_set_gives_is_valid(corpora: Path) -> None:
    for name, folder in (("lassa", "lassa"), ("rct_numeric", "rct_numeric")):
        text = protocol_text(SETS.get(name).load(corpora / folder))
        assert parse_protocol(text).criteria
