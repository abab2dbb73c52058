"""What two records are to one another, rule by rule."""

import json
from pathlib import Path
from typing import Any

import pytest

from litcascade.corpora.dedup import find_duplicates, normal_doi
from litcascade.schemas import Record

TITLE = "Zinc lozenges for the common cold in school children"


def record(record_id: str, **fields: Any) -> Record:
    base: dict[str, Any] = {
        "title": TITLE,
        "authors": ("Doe, Ana", "Roe, Ben"),
        "year": 2015,
        "journal": "Journal of Examples",
        "volume": "12",
        "pages": "101-109",
    }
    return Record(record_id=record_id, **{**base, **fields})


def verdict(one: dict[str, Any], other: dict[str, Any]) -> str:
    """`same`, `unsure`, `same study`, or `nothing`; the same whichever record comes first."""
    words = []
    for first, second in ((one, other), (other, one)):
        found = find_duplicates([record("1", **first), record("2", **second)])
        assert len(found.pairs) <= 2
        words.append(found.pairs[0].verdict.value if found.pairs else "nothing")
        assert (found.clusters["1"] == found.clusters["2"]) is (words[-1] == "same")
        if words[-1] == "same study":
            assert found.studies["1"] == found.studies["2"]
    assert words[0] == words[1]
    return words[0]


BARE = {"journal": None, "volume": None, "pages": None}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"authors": ("Doe A", "Roe B")}, {"authors": ("A. Doe", "B. Roe")}),
        ({"journal": "J Ex"}, {"journal": "Journal of Examples (London, England)"}),
        ({"pages": "101-9"}, {"pages": "101"}),
        ({"title": TITLE.upper() + "."}, {"title": "[" + TITLE + "]"}),
        ({"title": TITLE.replace("lozenges", "lozenegs")}, {"year": 2016}),
        ({"title": TITLE + " [Review] [52 refs]"}, {}),
        ({"title": TITLE + ": a randomised trial"}, {}),
        ({"volume": None, "pages": "1-9", "year": 2014}, {}),
        ({**BARE, "authors": ("Doe, Ana; Roe, Ben",)}, BARE),
        ({"title": "Phase II trial of zinc lozenges in adults"}, {"title": "Phase 2 trial of zinc lozenges in adults"}),
        (
            {"title": "针灸治疗慢性疼痛的随机对照试验", "authors": ("李明",)},
            {"title": "针灸治疗慢性疼痛的随机对照试验。", "authors": ("李明",)},
        ),
        ({"title": "Лечение простуды цинком у детей"}, {"title": "ЛЕЧЕНИЕ ПРОСТУДЫ ЦИНКОМ У ДЕТЕЙ"}),
        ({"doi": "10.5555/a", **BARE, "authors": ()}, {"doi": "https://doi.org/10.5555/A.", "year": None}),
        ({"pmid": "12"}, {"pmid": "PMID: 12", "title": None, "authors": (), **BARE}),
        ({"doi": "10.5555/a", "title": "RETRACTED: " + TITLE}, {"doi": "10.5555/a"}),
    ],
)
def test_one_report_in_two_dresses_is_joined(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert verdict(one, other) == "same"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Zinc for colds: part I", "Zinc for colds: part II"),
        ("Zinc for colds in children. I. Methods", "Zinc for colds in children. II. Methods"),
        ("Zinc for colds in children 1", "Zinc for colds in children 2"),
        ("A phase 2 trial of zinc lozenges in adults", "A phase 3 trial of zinc lozenges in adults"),
        ("Zinc for colds: outcomes at 6 months", "Zinc for colds: outcomes at 12 months"),
        ("Annual report of the zinc registry 2012", "Annual report of the zinc registry 2013"),
        ("Zinc lozenges with aspirin for colds", "Zinc lozenges without aspirin for colds"),
        ("Zinc lozenges for symptomatic colds in adults", "Zinc lozenges for asymptomatic colds in adults"),
        ("Zinc lozenges for colds in children", "Zinc lozenges for colds in adults"),
        ("Zinc and hypertension in later life", "Zinc and hypotension in later life"),
        ("Zinc lozenges in men with colds", "Zinc lozenges in women with colds"),
        ("First report of the zinc cohort study", "Second report of the zinc cohort study"),
        ("Editorial", "Editorial"),
        ("Reply", "Reply"),
        ("Letter to the editor", "Letter to the editor"),
    ],
)
def test_titles_that_mean_other_papers_are_not_joined(one: str, other: str) -> None:
    assert verdict({"title": one}, {"title": other, "pages": "201-209"}) != "same"
    assert verdict({"title": one, **BARE}, {"title": other, **BARE}) != "same"
    assert verdict({"title": one}, {"title": other}) != "same"


@pytest.mark.parametrize(
    "other",
    [
        {"doi": "10.5555/other"},
        {"pmid": "2"},
        {"pmcid": "PMC2"},
        {"authors": (), **BARE},
        {"authors": ("Poe, Cat",), **BARE},
        {"journal": "Annals of Tests", "volume": "3", "pages": "7"},
        {"year": 2009, **BARE},
    ],
)
def test_an_equal_title_is_not_enough(other: dict[str, Any]) -> None:
    ids = {"doi": "10.5555/a", "pmid": "1", "pmcid": "PMC1"}
    assert verdict(ids, other) != "same"


def test_title_and_year_alone_are_for_a_person_at_most() -> None:
    bare = {**BARE, "authors": ()}
    assert verdict(bare, bare) == "unsure"


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ({"doi": "10.5555/a.pub2"}, {"doi": "10.5555/a.pub3", "year": 2017}, "versions of one DOI"),
        ({"doi": "10.5555/a"}, {"doi": "10.5555/b"}, "ids differ, all else agrees"),
        ({"doi": "10.5555/a"}, {"doi": "10.5555/a", "title": "Honey and rats", "authors": ("Poe, C",)}, "same id, other title"),
        ({"doi": "10.5555/a", "pmid": "1"}, {"doi": "10.5555/a", "pmid": "2"}, "ids at odds"),
        ({"title": "Editorial"}, {"title": "Editorial"}, "title says nothing"),
    ],
)
def test_borderline_pairs_go_to_people(one: dict[str, Any], other: dict[str, Any], why: str) -> None:
    found = find_duplicates([record("1", **one), record("2", **other)])
    assert [(pair.verdict.value, pair.rule) for pair in found.pairs] == [("unsure", why)]
    assert found.clusters == {"1": "1", "2": "2"}


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"title": "Erratum to: " + TITLE, "year": 2016, "pages": "300"}),
        ({}, {"title": "Retraction: " + TITLE, "year": 2019, "pages": "2"}),
        ({"doi": "10.5555/a"}, {"doi": "10.5555/a", "title": "Erratum", "authors": (), "kind": "Published Erratum"}),
        ({}, {"title": "Comment on: " + TITLE, "authors": ("Poe, C",), "pages": "400"}),
        ({}, {"title": TITLE + " (preprint)", "journal": "medRxiv", "year": 2014, "volume": None, "pages": None}),
        (
            {"doi": "10.5555/a"},
            {"doi": "10.1101/2014.01.02.123456", "journal": None, "volume": None, "pages": None, "year": 2014},
        ),
        ({}, {"journal": "Proceedings of the Example Conference", "year": 2013, "volume": None, "pages": "1-4"}),
        ({}, {"title": TITLE + ": study protocol", "year": 2012, "journal": "Trials", "volume": "1", "pages": "7"}),
        (
            {"abstract": "We gave zinc. Registered as NCT01234567."},
            {
                "title": "Cost of zinc two years on",
                "abstract": "A cost study (NCT01234567).",
                "year": 2018,
                "volume": "15",
                "pages": "1",
            },
        ),
    ],
)
def test_other_reports_of_one_study_are_linked_and_kept(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert verdict(one, other) == "same study"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({}, {"authors": ("Poe, Cat", "Low, Dan"), "journal": "Annals of Tests", "volume": "3", "pages": "9"}),
        ({"title": None, "authors": (), "year": None, **BARE}, {"title": None, "authors": (), "year": None, **BARE}),
        ({"title": "UNKNOWN"}, {"title": "UNKNOWN", "pages": "7"}),
        ({"title": "Introduction"}, {"title": "Introduction", "authors": ("Poe, C",), "pages": "7"}),
        ({}, {"title": "Honey for coughs in adult nurses", "pages": "201"}),
        (
            {"abstract": "Trials NCT01234567 and NCT07654321 were pooled.", "title": "Zinc pooled"},
            {"abstract": "Trial NCT01234567.", "title": "Honey and sleep", "pages": "1"},
        ),
    ],
)
def test_what_has_nothing_in_common_is_left_alone(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert verdict(one, other) == "nothing"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (("van der Berg, J",), ("van Dijk, J",), False),
        (("Nils H Almgren",), ("Nils Dahlberg",), False),
        (("Nils H Almgren",), ("Almgren NH",), True),
        (("Mbeki-Osande, JE",), ("Mbekiosande, J. E.",), True),
        (("Gómez Ibarra, Juan",), ("Ibarra JG",), True),
        (("Li, Wei",), ("Li, Yan",), False),
        (("Poe A.Schmidt A.O'Leary C. P.",), ("Poe, A", "Schmidt, A", "O'Leary, CP"), True),
        (("Doe A, Roe B",), ("Doe, A", "Roe, B"), True),
        (("Anonymous",), ("Anonymous",), False),
    ],
)
def test_names_are_read_whatever_their_order(one: tuple[str, ...], other: tuple[str, ...], same: bool) -> None:
    assert (verdict({"authors": one, **BARE}, {"authors": other, **BARE, "issue": "1"}) == "same") is same


def test_the_reason_holds_the_figures() -> None:
    pair = find_duplicates([record("1"), record("2", year=2016, authors=("Doe A", "Roe B"))]).pairs[0]
    assert pair.rule == "title and place"
    assert pair.why == "the same title, 2 of 2 author(s) the same, years 2015 and 2016, the same journal, volume 12, page 101"
    assert pair.score == 1.0


def test_hard_pairs(corpora: Path) -> None:
    """Ten yes: joined or put to a person. Fifteen no: never joined."""
    cases = json.loads((corpora / "dedup" / "pairs" / "bib_dedupe_test_cases.json").read_text())["cases"]
    wrong = []
    for case in cases:
        found = find_duplicates([bibtex("a", case["record_a"]), bibtex("b", case["record_b"])])
        said = found.pairs[0].verdict.value if found.pairs else "nothing"
        if said not in ("same", "unsure") if case["expected_duplicate"] else said == "same":
            wrong.append((case["id"], said))
    assert (len(cases), wrong) == (25, [])


def bibtex(record_id: str, fields: dict[str, str | None]) -> Record:
    row = {name: value for name, value in fields.items() if value}
    return Record(
        record_id=record_id,
        title=row.get("title"),
        authors=tuple(row.get("author", "").split(" and ")) if "author" in row else (),
        year=int(row["year"]) if "year" in row else None,
        journal=row.get("journal") or row.get("booktitle"),
        doi=normal_doi(row.get("doi")),
        volume=row.get("volume"),
        pages=row.get("pages"),
        kind=row.get("ENTRYTYPE"),
    )
