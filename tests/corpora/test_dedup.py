"""De-duplication of whole lists: the cases, people's decisions, order, crowds."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.corpora import read_records
from litcascade.corpora.dedup import Decided, Duplicates, Verdict, find_duplicates, normal_doi
from litcascade.errors import InputError
from litcascade.schemas import PublicationStatus, Record


def load(cases: Path, name: str) -> tuple[list[Record], Duplicates, dict[str, Any]]:
    folder = next(cases.glob(f"{name}-*"))
    records = read_records(folder / "input.csv")[0].records
    return records, find_duplicates(records), json.loads((folder / "expected.json").read_text())


def partition(groups: dict[str, str]) -> set[frozenset[str]]:
    members: dict[str, set[str]] = {}
    for one, kept in groups.items():
        members.setdefault(kept, set()).add(one)
    return {frozenset(group) for group in members.values()}


def together(groups: dict[str, str], ids: list[int]) -> bool:
    return len({groups[str(one)] for one in ids}) == 1


def test_case_d01_missing_equals_nothing(cases: Path) -> None:
    records, found, expected = load(cases, "D01")
    by_id = {record.record_id: record for record in records}
    assert all(not together(found.clusters, pair) for pair in expected["never_merged"])
    assert all(normal_doi(by_id[str(one)].source.get("doi")) is None for one in expected["normalised_doi_none_for"])
    one, other = map(str, expected["merged"][0])
    asked = {(pair.first, pair.second) for pair in found.unsure()}
    assert found.clusters[one] == found.clusters[other] or asked == {(one, other)}
    assert len(set(found.clusters.values())) in (expected["n_clusters"], expected["n_clusters"] + 1)


def test_case_d03_versions_and_errata_are_linked(cases: Path) -> None:
    _, found, expected = load(cases, "D03")
    assert len(partition(found.clusters)) == expected["n_clusters"]
    assert all(together(found.studies, group) for group in expected["linked_as_reports_of_one_study"])
    assert {frozenset(map(str, group)) for group in expected["linked_as_reports_of_one_study"]} == {
        group for group in partition(found.studies) if len(group) > 1
    }


def test_case_d04_dress_is_seen_through(cases: Path) -> None:
    records, found, expected = load(cases, "D04")
    assert partition(found.clusters) == {frozenset(map(str, group)) for group in expected["clusters"]}
    by_id = {record.record_id: record for record in records}
    for one, doi in expected["normalised_doi"].items():
        assert normal_doi(by_id[one].source["doi"]) == doi


def test_case_d06_statuses_are_flagged_and_nothing_is_dropped(cases: Path) -> None:
    records, found, expected = load(cases, "D06")
    assert partition(found.clusters) == {frozenset(map(str, group)) for group in expected["clusters"]}
    assert set(found.clusters) == {record.record_id for record in records}

    def flagged(status: PublicationStatus) -> list[int]:
        return sorted(int(one) for one, own in found.statuses.items() if own is status)

    assert flagged(PublicationStatus.RETRACTED) == expected["retracted"]
    assert flagged(PublicationStatus.RETRACTION_NOTICE) == expected["retraction_notice"]
    assert flagged(PublicationStatus.ERRATUM) == expected["erratum"]
    assert flagged(PublicationStatus.CONCERN) == expected["concern"]


def paper(record_id: str, number: int = 0, **fields: Any) -> Record:
    """A record of one of a few different papers."""
    nouns = (
        "zinc lozenges",
        "honey syrup",
        "steam inhalation",
        "salt rinses",
        "echinacea drops",
        "garlic tablets",
        "vitamin pills",
    )
    places = ("school children", "adult nurses", "army recruits", "older people", "city drivers", "farm workers", "night guards")
    base: dict[str, Any] = {
        "title": f"{nouns[number % 7].capitalize()} for the prevention of colds among {places[number * 3 % 7]}",
        "authors": (f"{'ABCDEFG'[number % 7]}umar, Ana", "Roe, Ben"),
        "year": 2000 + number,
        "journal": "Journal of Examples",
        "volume": str(number + 1),
        "pages": f"{10 * number + 1}-{10 * number + 9}",
    }
    return Record(record_id=record_id, **{**base, **fields})


def test_a_cluster_never_holds_two_dois() -> None:
    found = find_duplicates([paper("a", doi="10.5555/a"), paper("x"), paper("b", doi="10.5555/b")])
    assert found.clusters["a"] != found.clusters["b"]
    assert found.clusters["x"] == "x", "it fits both, so it belongs to neither until a person says so"
    assert {frozenset((pair.first, pair.second)) for pair in found.unsure()} >= {frozenset("ax"), frozenset("bx")}
    reasons = [pair.why for pair in found.unsure() if "x" in (pair.first, pair.second)]
    assert all("10.5555/a" in why and "10.5555/b" in why for why in reasons)


def test_an_id_decides_where_two_fit() -> None:
    found = find_duplicates([paper("a", doi="10.5555/a", pmid="1"), paper("x", pmid="1"), paper("b", doi="10.5555/b")])
    assert found.clusters["x"] == found.clusters["a"] != found.clusters["b"]


def test_a_title_cut_short_does_not_bridge_two_parts() -> None:
    stem = "Zinc lozenges for the prevention of colds among school children"
    abstract = "We gave zinc lozenges or placebo to school children and counted colds over one winter in four schools. " * 2
    fields: dict[str, Any] = {"abstract": abstract, "volume": None, "pages": None}
    found = find_duplicates(
        [
            paper("1", title=f"{stem}: part I", **fields),
            paper("2", title=f"{stem}: part II", **fields),
            paper("x", title=stem, **fields),
        ]
    )
    assert found.clusters["1"] != found.clusters["2"]


def test_people_go_before_rules() -> None:
    records = [paper("a"), paper("b"), paper("c", 1), paper("d", 2)]
    found = find_duplicates(
        records,
        [
            Decided("a", "b", Verdict.DIFFERENT, "Ada"),
            Decided("c", "a", Verdict.SAME, "Ada"),
            Decided("d", "b", Verdict.SAME_STUDY, "Bob"),
        ],
    )
    assert partition(found.clusters) == {frozenset("ac"), frozenset("b"), frozenset("d")}
    assert partition(found.studies) == {frozenset("ac"), frozenset("bd")}
    assert [(pair.first, pair.second, pair.rule) for pair in found.pairs] == [("a", "c", "decided"), ("b", "d", "decided")]
    assert "Ada" in found.pairs[0].why


def test_a_decision_is_taken_back_by_a_later_one() -> None:
    apart, joined = Decided("a", "b", Verdict.DIFFERENT), Decided("b", "a", Verdict.SAME)
    assert find_duplicates([paper("a"), paper("b")], [apart, joined]).clusters == {"a": "a", "b": "a"}
    assert find_duplicates([paper("a"), paper("b")], [joined, apart]).clusters == {"a": "a", "b": "b"}


def test_a_decided_study_is_not_joined_by_way_of_a_third() -> None:
    records = [paper("a"), paper("b", year=2001), paper("c")]
    found = find_duplicates(records, [Decided("a", "b", Verdict.SAME_STUDY)])
    assert found.clusters["a"] != found.clusters["b"]
    assert found.studies["a"] == found.studies["b"]
    assert not any({pair.first, pair.second} == {"a", "b"} and pair.verdict is Verdict.UNSURE for pair in found.pairs)


def test_decisions_at_odds_join_nothing_and_are_asked_again() -> None:
    records = [paper("a"), paper("b", 1), paper("c", 2)]
    same = [Decided("a", "b", Verdict.SAME), Decided("b", "c", Verdict.SAME), Decided("a", "c", Verdict.DIFFERENT)]
    found = find_duplicates(records, same)
    assert found.clusters["a"] != found.clusters["c"]
    assert [pair.rule for pair in found.unsure()] == ["decisions at odds"]


def test_people_may_join_two_dois_and_more_follow() -> None:
    records = [paper("a", doi="10.5555/a"), paper("b", 1, doi="10.5555/b"), paper("c", 1, doi="10.5555/b")]
    found = find_duplicates(records, [Decided("a", "b", Verdict.SAME)])
    assert partition(found.clusters) == {frozenset("abc")}


@pytest.mark.parametrize(
    ("decided", "words"), [(Decided("a", "z", Verdict.SAME), "'z'"), (Decided("a", "a", Verdict.SAME), "with itself")]
)
def test_a_decision_that_fits_no_pair_is_refused_in_one_sentence(decided: Decided, words: str) -> None:
    with pytest.raises(InputError, match=words):
        find_duplicates([paper("a")], [decided])


def test_an_id_used_twice_is_refused() -> None:
    with pytest.raises(InputError, match="'a' is used by two records"):
        find_duplicates([paper("a"), paper("a", 1)])


def test_the_survivor() -> None:
    first, whole = paper("first"), paper("whole", abstract="Zinc was given.", url="https://example.org")
    screened = paper("screened", volume=None)
    assert set(find_duplicates([first, whole, screened]).clusters.values()) == {"whole"}
    assert set(find_duplicates([first, whole, screened], prefer={"screened"}).clusters.values()) == {"screened"}
    assert set(find_duplicates([first, paper("second")]).clusters.values()) == {"first"}


def test_one_retracted_record_flags_its_cluster() -> None:
    found = find_duplicates([paper("a"), paper("b", title="RETRACTED: " + str(paper("b").title))])
    assert found.clusters == {"a": "a", "b": "a"}
    assert found.statuses == {"a": PublicationStatus.RETRACTED, "b": PublicationStatus.RETRACTED}


RECORDS: st.SearchStrategy[list[dict[str, Any]]] = st.lists(
    st.builds(
        dict,
        number=st.integers(0, 3),
        doi=st.sampled_from([None, None, "10.5555/a", "10.5555/b"]),
        authors=st.sampled_from([(), ("Kumar A", "Roe B"), ("Kumar, Ana",), ("Poe C",)]),
        year=st.sampled_from([None, 2001, 2002, 2009]),
        journal=st.sampled_from([None, "Journal of Examples", "J Ex", "Annals of Tests", "Example Conference"]),
        volume=st.sampled_from([None, "1", "2"]),
        pages=st.sampled_from([None, "1-9", "101-9"]),
        abstract=st.sampled_from([None, "We gave zinc to many children and counted their colds over a winter. " * 3]),
    ),
    max_size=9,
)


@settings(deadline=None, max_examples=150)
@given(RECORDS, st.randoms(use_true_random=False))
def test_the_order_of_the_list_and_unrelated_records_change_nothing(rows: list[dict[str, Any]], rng: random.Random) -> None:
    records = [paper(f"r{place}", **row) for place, row in enumerate(rows)]
    found = find_duplicates(records)
    shuffled = [*records, paper("far", 5, journal="Far Away Letters", doi="10.5555/far")]
    rng.shuffle(shuffled)
    again = find_duplicates(shuffled)
    assert partition(again.clusters) == partition(found.clusters) | {frozenset({"far"})}
    assert partition(again.studies) == partition(found.studies) | {frozenset({"far"})}

    def asked(answer: Duplicates) -> set[tuple[frozenset[str], str, str]]:
        return {(frozenset((pair.first, pair.second)), pair.verdict, pair.rule) for pair in answer.pairs}

    assert {pair for pair, _, _ in asked(again)} == {pair for pair, _, _ in asked(found)}


@settings(deadline=None, max_examples=150)
@given(RECORDS)
def test_no_cluster_holds_two_dois_and_every_removal_has_its_reason(rows: list[dict[str, Any]]) -> None:
    records = [paper(f"r{place}", **row) for place, row in enumerate(rows)]
    found = find_duplicates(records)
    by_id = {record.record_id: record for record in records}
    joins = [pair for pair in found.pairs if pair.verdict is Verdict.SAME]
    assert list(found.clusters) == list(found.studies) == list(by_id)
    assert len(joins) == len(found.removed())
    assert all(pair.why and pair.rule for pair in found.pairs)
    for group in partition(found.clusters):
        assert len({by_id[one].doi for one in group} - {None}) <= 1
        assert len({found.studies[one] for one in group}) == 1
    waiting = [tuple(sorted((found.clusters[pair.first], found.clusters[pair.second]))) for pair in found.unsure()]
    assert len(waiting) == len(set(waiting)), "a person is asked once about two clusters"
    assert all(one != other for one, other in waiting)


@settings(deadline=None, max_examples=60)
@given(RECORDS)
def test_a_file_loaded_twice_joins_wholly(rows: list[dict[str, Any]]) -> None:
    records = [paper(f"r{place}", **{**row, "authors": row["authors"] or ("Kumar A",)}) for place, row in enumerate(rows)]
    twice = [record.model_copy(update={"record_id": "again-" + record.record_id}) for record in records]
    found = find_duplicates([*records, *twice])
    assert all(found.clusters[record.record_id] == found.clusters["again-" + record.record_id] for record in records)


@pytest.mark.parametrize("name", ["copper", "tafenoquine"])
def test_a_real_library_loaded_twice(corpora: Path, name: str) -> None:
    records = read_records(corpora / "dedup" / "iebh_sra" / f"{name}.xml.gz")[0].records
    twice = [record.model_copy(update={"record_id": "again-" + record.record_id}) for record in records]
    found = find_duplicates([*records, *twice])
    apart = [one.record_id for one in records if found.clusters[one.record_id] != found.clusters["again-" + one.record_id]]
    substance = [one for one in records if one.record_id in apart and (one.doi or one.pmid)]
    assert not substance
    assert len(apart) <= len(records) // 100, "only headings without an id"


def test_fifty_introductions_stay_fifty() -> None:
    records = [Record(record_id=f"i{n}", title="Introduction", year=2019, journal=f"Journal {n}") for n in range(50)]
    found = find_duplicates(records)
    assert len(set(found.clusters.values())) == 50
    assert not found.pairs


def name(number: int) -> str:
    """A surname for each number, no two a letter apart."""
    letters = f"{number * 7919 % 100_003:05d}".translate(str.maketrans("0123456789", "bdfgklmnrs"))
    return "".join(letter * 2 for letter in letters)


def test_equal_titles_are_compared_with_their_neighbours_only() -> None:
    """Equal keys do not make the work quadratic; records by one author in one year still meet."""
    title = "Posttraumatic stress disorder in survivors of disasters"
    records = [
        Record(record_id=f"r{n}", title=title, authors=(f"{name(n // 2)}, {'A' * (n % 2 + 1)}",), year=1990 + n // 2 % 30)
        for n in range(3_000)
    ]
    found = find_duplicates(records)
    assert len(set(found.clusters.values())) == 1_500
    assert "3000 records bear a title that more than 24 bear (1 such)" in found.notes[0]


def test_many_copies_of_one_record_join() -> None:
    found = find_duplicates([paper(f"c{n}") for n in range(5_000)])
    assert set(found.clusters.values()) == {"c0"}


def test_odd_records_break_nothing() -> None:
    odd = [
        Record(record_id="empty"),
        Record(record_id="marks", title="?!... --- ***", authors=(",", "  ", "-")),
        Record(record_id="huge", title="zinc " * 20_000, abstract="a" * 100_000, authors=("Doe A",) * 3_000),
        Record(record_id="huge2", title="zinc " * 20_000, authors=("Doe A",) * 3_000, year=2000),
        Record(record_id="marks2", title="?!... --- ***", pages="--", volume="()", doi="10.", pmid="0", journal="..."),
    ]
    found = find_duplicates(odd)
    assert found.clusters["empty"] == "empty"
    assert found.clusters["marks"] != found.clusters["marks2"]
    assert find_duplicates([]) == Duplicates((), {}, {}, {}, ())


def test_a_doi_shared_by_a_whole_supplement_joins_nothing() -> None:
    titles = ["Zinc in mice", "Honey for nurses at night", "Steam and sailors", "Salt in soup kitchens", "Garlic among choirs"]
    records = [
        Record(record_id=str(n), title=title, doi="10.5555/supplement", authors=(f"Au{n}, B",)) for n, title in enumerate(titles)
    ]
    found = find_duplicates(records)
    assert len(set(found.clusters.values())) == 5
