"""The sets that lie beside the checkout, against the counts of their README; figures only, no text of theirs."""

from collections import Counter
from pathlib import Path

import pytest

from litcascade.corpora.sets import SETS, Corpus, overlap, statistics
from litcascade.schemas import AbstractStatus, DocumentState


def counts(corpus: Corpus) -> tuple[int, int, int]:
    return len(corpus.records), corpus.count("title_abstract")["include"], corpus.count("full_text")["include"]


def check(corpus: Corpus) -> None:
    """What must hold of every loaded set: closed counts, joins by id, no text that says nothing, pinned files."""
    assert all(table.rows == table.used + table.aside for table in corpus.tables)
    assert sum(table.aside for table in corpus.tables) == len(corpus.set_aside)
    ids = [record.record_id for record in corpus.records]
    assert len(set(ids)) == len(ids)
    assert set(corpus.review_of) == set(ids)
    assert {label.record_id for label in corpus.labels} <= set(ids)
    assert {document.record_id for document in corpus.documents} <= set(ids)
    assert {field.record_id for field in corpus.fields} <= set(ids)
    assert {record_id for split in corpus.splits.values() for record_id in split} <= set(ids)
    texts = [text for record in corpus.records for text in (record.title, record.abstract)]
    assert not [text for text in texts if text is not None and text.casefold() in ("", "nan", "no abstract available")]
    assert not [note for note in corpus.notes if "SHA-256" in note]


@pytest.mark.parametrize(
    ("topic", "expected"),
    [
        ("ACEInhibitors", (2544, 183, 41)),
        ("ADHD", (851, 84, 20)),
        ("Estrogens", (368, 80, 80)),
        ("ProtonPumpInhibitors", (1333, 238, 51)),
        ("Triptans", (671, 218, 24)),
    ],
)
def test_cohen_topics(corpora: Path, topic: str, expected: tuple[int, int, int]) -> None:
    corpus = SETS.get("cohen2006").load(corpora / "cohen2006", topic)
    check(corpus)
    assert counts(corpus) == expected
    assert [review.name for review in corpus.reviews] == [topic]
    assert corpus.reviews[0].criteria
    assert any("by models" in note for note in corpus.notes)
    assert all(record.record_id == f"{topic}:{record.pmid}" for record in corpus.records)


def test_one_paper_may_stand_under_two_cohen_topics(corpora: Path) -> None:
    corpus = SETS.get("cohen2006").load(corpora / "cohen2006")
    check(corpus)
    assert len(corpus.records) == 5767
    times = Counter(record.pmid for record in corpus.records)
    assert sum(count == 2 for count in times.values()) == 10
    by_topic = {name: [r for r in corpus.records if corpus.review_of[r.record_id] == name] for name in ("ACEInhibitors", "ADHD")}
    shared = overlap(by_topic["ACEInhibitors"], by_topic["ADHD"])
    assert (shared.first_shared, shared.second_shared, {pair.how for pair in shared.pairs}) == (3, 3, {"pmid"})


def test_asreview_tables_with_marked_duplicates(corpora: Path) -> None:
    hosted = SETS.get("asreview_hosted")
    assert hosted.parts(corpora / "asreview_hosted") == ["Nagtegaal_2019", "van_de_Schoot_2017"]
    schoot = hosted.load(corpora / "asreview_hosted", "van_de_Schoot_2017")
    check(schoot)
    assert counts(schoot) == (6189, 388, 43)
    assert len(schoot.duplicates) == 407
    assert {second for _, second in schoot.duplicates} <= set(schoot.review_of)
    nagtegaal = hosted.load(corpora / "asreview_hosted", "Nagtegaal_2019")
    check(nagtegaal)
    assert counts(nagtegaal) == (2019, 392, 101)
    assert len(nagtegaal.duplicates) == 11


def test_lassa_has_three_levels_under_one_id(corpora: Path) -> None:
    corpus = SETS.get("lassa").load(corpora / "lassa")
    check(corpus)
    assert counts(corpus) == (2817, 512, 193)
    full = {label.record_id: label for label in corpus.labels if label.stage == "full_text"}
    kept = {label.record_id for label in corpus.labels if (label.stage, label.decision) == ("title_abstract", "include")}
    assert set(full) == kept
    assert all((label.reason is None) == (label.decision == "include") for label in full.values())
    assert len({field.record_id for field in corpus.fields if field.item and field.item.startswith("articles:")}) == 193
    items = Counter(item.partition(":")[0] for item in {field.item or "" for field in corpus.fields})
    assert items == {"articles": 193, "models": 52, "outbreaks": 30, "parameters": 440}
    assert sum(record.abstract_status is AbstractStatus.MISSING for record in corpus.records) == 686
    assert corpus.reviews[0].criteria
    assert "__" not in corpus.reviews[0].criteria.replace("__init__", "")


def test_clef_has_two_levels_topic_and_protocol(corpora: Path) -> None:
    corpus = SETS.get("clef_tar").load(corpora / "clef_CD008874")
    check(corpus)
    assert counts(corpus) == (2382, 118, 110)
    (review,) = corpus.reviews
    assert review.title
    assert review.query
    assert review.protocol
    assert "Types of Participants" in review.protocol
    assert sum(record.abstract is None for record in corpus.records) > 500
    assert not [note for note in corpus.notes if "differ from the qrels" in note]


def test_csmed_full_texts_with_reasons_and_empty_documents(corpora: Path) -> None:
    corpus = SETS.get("csmed_ft").load(corpora / "csmed_ft")
    check(corpus)
    assert counts(corpus) == (50, 0, 22)
    assert Counter(document.state for document in corpus.documents) == {DocumentState.PARSED: 47, DocumentState.EMPTY: 3}
    assert all(label.reason for label in corpus.labels if label.decision == "exclude")
    assert any("3 document(s) have no main text" in note for note in corpus.notes)
    assert len(corpus.reviews) == 16
    assert sum(review.criteria is None for review in corpus.reviews) == 1
    assert corpus.splits == {"sample": tuple(record.record_id for record in corpus.records)}
    assert max(len(document.text()) for document in corpus.documents) > 85_000


def test_numeric_trials(corpora: Path) -> None:
    corpus = SETS.get("rct_numeric").load(corpora / "rct_numeric")
    check(corpus)
    assert (len(corpus.records), len(corpus.documents)) == (56, 56)
    assert len({field.item for field in corpus.fields}) == 361
    assert {name: len(ids) for name, ids in corpus.splits.items()} == {"dev": 5, "test": 51}
    with_comma = [field.value for field in corpus.fields if field.item == "ico:206" and field.field == "intervention_mean"]
    assert with_comma == [6032.37]
    assert [document.record_id for document in corpus.documents if document.state is DocumentState.EMPTY] == ["PMC2363753"]
    assert all(isinstance(field.value, bool) for field in corpus.fields if field.field == "is_data_complete")


def test_synergy_ids_with_criteria_and_without_texts(corpora: Path) -> None:
    synergy = SETS.get("synergy")
    corpus = synergy.load(corpora / "ids_synergy")
    check(corpus)
    assert len(corpus.records) == 34_045
    sizes = Counter(corpus.review_of.values())
    assert sizes["Nelson_2002"] == 368
    included = Counter(corpus.review_of[r] for r, decision in corpus.decisions("full_text").items() if decision == "include")
    assert included == {
        "Appenzeller-Herzog_2019": 26, "Donners_2021": 15, "Hall_2012": 104, "Menon_2022": 75, "Moran_2021_corrected": 142,
        "Nelson_2002": 80, "Sep_2021": 40, "Wassenaar_2017": 111, "van_de_Schoot_2018": 38,
    }  # fmt: skip
    assert corpus.count("title_abstract")["include"] == 626
    assert not [record for record in corpus.records if record.title]
    assert all(review.criteria for review in corpus.reviews if review.name not in ("Moran_2021_corrected",))
    assert any("identifiers without title and abstract" in note for note in corpus.notes)


def test_synergy_takes_its_texts_from_a_local_copy(corpora: Path, tmp_path: Path) -> None:
    bare = SETS.get("synergy").load(corpora / "ids_synergy", "Nelson_2002")
    texts = tmp_path / "texts.csv"
    lines = [f"{r.source['openalex_id']},Invented title {r.record_id}," for r in bare.records if r.source.get("openalex_id")]
    texts.write_text("openalex_id,title,abstract\n" + "\n".join(lines) + "\n", encoding="utf-8")
    corpus = SETS.get("synergy").load(corpora / "ids_synergy", "Nelson_2002", texts)
    titled = [record for record in corpus.records if record.title]
    assert len(titled) == 366
    assert all(record.title == f"Invented title {record.record_id}" for record in titled)


def test_statistics_of_a_real_set(corpora: Path) -> None:
    figures = statistics(SETS.get("lassa").load(corpora / "lassa"))
    assert (figures.records, figures.missing["abstract"], figures.years.known, figures.years.unknown) == (2817, 686, 2770, 47)
    abstract, full = figures.stages
    assert (abstract.included, abstract.excluded, abstract.unlabelled) == (512, 2305, 0)
    assert (full.included, full.excluded, full.unlabelled, sum(full.reasons.values())) == (193, 319, 2305, 319)
    assert full.prevalence.value == pytest.approx(193 / 512)
