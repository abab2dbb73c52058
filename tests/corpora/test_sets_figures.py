"""Splits, overlap, statistics and maps of loaded sets."""

import random
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from litcascade.corpora.sets import (
    SETS,
    Card,
    Corpus,
    GoldLabel,
    MapPoint,
    RecordMap,
    map_points,
    map_svg,
    overlap,
    split_between,
    split_within,
    statistics,
)
from litcascade.corpora.sets.describing import quartiles
from litcascade.corpora.sets.splitting import unit
from litcascade.errors import InputError
from litcascade.schemas import Decision, Document, DocumentState, Record, Section

CARD = Card("mine", "Zinc & iron <trials>", "https://x.example", "none", {"title_abstract": "what was decided"})
HALVES = {"train": 0.5, "test": 0.5}


def labelled(included: int, excluded: int) -> list[GoldLabel]:
    return [GoldLabel(f"r{n}", "title_abstract", "include" if n < included else "exclude") for n in range(included + excluded)]


def part_of(split: dict[str, tuple[str, ...]] | object) -> dict[str, str]:
    assert isinstance(split, dict)
    return {record_id: part for part, ids in split.items() for record_id in ids}


@given(
    ids=st.lists(st.text(min_size=1, max_size=8), min_size=1, max_size=60, unique=True),
    more=st.lists(st.text(min_size=9, max_size=12), max_size=40, unique=True),
    seed=st.integers(0, 50),
    exact=st.booleans(),
)
def test_a_split_has_every_record_once_in_any_order(ids: list[str], more: list[str], seed: int, exact: bool) -> None:
    labels = [GoldLabel(name, "full_text", "include" if len(name) % 3 == 0 else "exclude") for name in ids]
    fractions = {"train": 0.6, "tune": 0.2, "test": 0.2}
    split = split_within(labels, fractions, seed, exact=exact)
    assert sorted(name for part in split.parts.values() for name in part) == sorted(ids)
    shuffled = random.Random(seed).sample(labels, len(labels))
    assert split_within(shuffled, fractions, seed, exact=exact).parts == split.parts
    added = [*labels, *(GoldLabel(name, "full_text", "exclude") for name in more)]
    if not exact:
        grown = part_of(dict(split_within(added, fractions, seed).parts))
        assert {name: grown[name] for name in ids} == part_of(dict(split.parts))


def test_the_hash_is_the_same_on_every_machine() -> None:
    # printf '1\\0r1' | sha256sum begins 09a3c52d08424145: its first 53 bits over 2**53
    assert unit("r1", 1) == (0x09A3C52D08424145 >> 11) / 2**53


@given(included=st.integers(1, 40), excluded=st.integers(1, 200), seed=st.integers(0, 20))
def test_exact_parts_keep_the_prevalence_to_one_record(included: int, excluded: int, seed: int) -> None:
    split = split_within(labelled(included, excluded), {"a": 0.5, "b": 0.3, "c": 0.2}, seed, exact=True)
    for part, share in (("a", 0.5), ("b", 0.3), ("c", 0.2)):
        assert abs(split.counts[part].get("include", 0) - share * included) < 1
        assert abs(split.counts[part].get("exclude", 0) - share * excluded) < 1


def test_sizes_come_out_near_the_fractions_without_exact() -> None:
    split = split_within(labelled(1000, 9000), {"train": 0.7, "test": 0.3}, 3)
    assert abs(split.counts["train"]["include"] - 700) < 4 * (1000 * 0.7 * 0.3) ** 0.5
    assert abs(split.counts["train"]["exclude"] - 6300) < 4 * (9000 * 0.7 * 0.3) ** 0.5


def test_a_part_without_included_records_is_said() -> None:
    split = split_within(labelled(1, 50), HALVES, 0)
    assert len(split.notes) == 1
    assert "has no included record: recall is undefined" in split.notes[0]


def test_a_group_stays_together() -> None:
    labels = labelled(30, 70)
    groups = {f"r{number}": f"g{number // 7}" for number in range(100)}
    for exact in (False, True):
        parts = part_of(dict(split_within(labels, HALVES, 1, exact=exact, groups=groups).parts))
        for number in range(99):
            if groups[f"r{number}"] == groups[f"r{number + 1}"]:
                assert parts[f"r{number}"] == parts[f"r{number + 1}"]
        assert set(parts.values()) == {"train", "test"}


def test_whole_reviews_are_split_and_sizes_are_right_to_one() -> None:
    reviews = [f"review {number}" for number in range(15)]
    split = split_between(reviews, {"train": 0.6, "test": 0.4}, 7)
    assert [len(split.parts["train"]), len(split.parts["test"])] == [9, 6]
    assert sorted([*split.parts["train"], *split.parts["test"]]) == sorted(reviews)
    assert split_between(reversed(reviews), {"train": 0.6, "test": 0.4}, 7).parts == split.parts
    assert any(split_between(reviews, {"train": 0.6, "test": 0.4}, seed).parts != split.parts for seed in range(5))
    stable = part_of(dict(split_between(reviews, HALVES, 7, exact=False).parts))
    grown = part_of(dict(split_between([*reviews, "new"], HALVES, 7, exact=False).parts))
    assert {name: grown[name] for name in reviews} == stable
    assert split_between(["only"], HALVES, 0).notes


@pytest.mark.parametrize("fractions", [{}, {"a": 0.5}, {"a": 1.5, "b": -0.5}, {"a": 0.0, "b": 1.0}, {"a": float("nan")}])
def test_fractions_that_are_none_are_refused(fractions: dict[str, float]) -> None:
    with pytest.raises(InputError, match="sum to 1"):
        split_within(labelled(2, 2), fractions, 0)
    with pytest.raises(InputError, match="sum to 1"):
        split_between(["a"], fractions, 0)


def test_labels_of_two_stages_or_of_both_kinds_are_refused() -> None:
    with pytest.raises(InputError, match="several stages"):
        split_within([GoldLabel("a", "full_text", "include"), GoldLabel("b", "title_abstract", "include")], HALVES, 0)
    with pytest.raises(InputError, match="both include and exclude"):
        split_within([GoldLabel("a", "full_text", "include"), GoldLabel("a", "full_text", "exclude")], HALVES, 0)
    with pytest.raises(InputError, match="no labelled records"):
        split_within([], HALVES, 0)
    with pytest.raises(InputError, match="no reviews"):
        split_between([], HALVES, 0)


# Overlap

LONG = "Zinc for the pain of forty adults"


def paper(name: str, **known: object) -> Record:
    return Record.model_validate({"record_id": name, **known})


def ways(first: Sequence[Record], second: Sequence[Record]) -> list[tuple[str, str, str, str | None]]:
    return [(pair.first, pair.second, pair.how, pair.against) for pair in overlap(first, second).pairs]


def test_records_are_shared_by_doi_then_pmid_then_title() -> None:
    first = [
        paper("a", doi="10.1/x", pmid="7", title=LONG),
        paper("b", pmid="8"),
        paper("c", title=LONG.upper() + "."),
        paper("d"),
    ]
    second = [paper("A", doi="10.1/x", pmid="9"), paper("B", pmid="8", doi="10.1/y"), paper("C", title="Zinc für the pain")]
    assert ways(first, second) == [("a", "A", "doi", "pmid 7 and 9"), ("b", "B", "pmid", None)]
    found = overlap(
        first, [paper("C", title="Zinc, for the PAIN of forty adults", year=2001), paper("E", title=LONG, doi="10.1/z")]
    )
    assert [(pair.first, pair.second, pair.how, pair.against) for pair in found.pairs] == [
        ("a", "C", "title", None),
        ("a", "E", "title", "doi 10.1/x and 10.1/z"),
        ("c", "C", "title", None),
        ("c", "E", "title", None),
    ]
    assert (found.first_size, found.second_size, found.first_shared, found.second_shared) == (4, 2, 2, 2)


def test_short_titles_and_other_years_share_nothing() -> None:
    assert ways([paper("a", title="Reply to the editor")], [paper("b", title="Reply to the editor")]) == []
    assert ways([paper("a", title=LONG, year=2001)], [paper("b", title=LONG, year=2003)]) == []
    assert len(ways([paper("a", title=LONG, year=2001)], [paper("b", title=LONG, year=2002)])) == 1
    assert ways([paper("a", title="…")], [paper("b", title="—")]) == []
    assert overlap([], []).pairs == ()


def test_overlap_is_the_same_from_both_sides() -> None:
    first = [paper(f"a{n}", doi=f"10.1/{n % 7}", pmid=str(n % 5), title=f"{LONG} number {n % 4}") for n in range(20)]
    second = [paper(f"b{n}", doi=f"10.1/{n % 9}", pmid=str(n % 3), title=f"{LONG} number {n % 6}") for n in range(20)]
    there = {(one, two, how) for one, two, how, _ in ways(first, second)}
    back = {(two, one, how) for one, two, how, _ in ways(second, first)}
    assert there == back
    assert there


# Statistics


def corpus_of(records: Sequence[Record], labels: Sequence[GoldLabel] = (), documents: Sequence[Document] = ()) -> Corpus:
    return Corpus("mine", CARD, tuple(records), tuple(labels), tuple(documents), review_of={r.record_id: "one" for r in records})


def test_figures_worked_by_hand() -> None:
    records = [
        paper("a", title="One two three", abstract="w " * 10, year=2000, doi="10.1/x"),
        paper("b", title="One", abstract="w " * 20, year=2004),
        paper("c", year=2010),
        paper("d", title="One two"),
    ]
    labels = [
        GoldLabel("a", "title_abstract", "include"),
        GoldLabel("b", "title_abstract", "exclude"),
        GoldLabel("a", "full_text", "exclude", "no data"),
        GoldLabel("c", "title_abstract", "include", source="silver"),
    ]
    text = (Section(heading=None, text="five words are in here"),)
    documents = [
        Document(document_id="1", record_id="a", path="a", format="text", sections=text),
        Document(document_id="2", record_id="b", path="b", format="text", state=DocumentState.EMPTY),
    ]
    figures = statistics(corpus_of(records, labels, documents))
    gold, silver, full = figures.stages
    assert (gold.included, gold.excluded, gold.unlabelled, gold.prevalence.value) == (1, 1, 2, 0.5)
    assert (silver.source, silver.included, silver.unlabelled) == ("silver", 1, 3)
    assert (full.reasons, full.prevalence.value) == ({"no data": 1}, 0.0)
    years = figures.years
    assert (years.known, years.unknown, years.low, years.first, years.median, years.third, years.high) == (
        3,
        1,
        2000,
        2002,
        2004,
        2007,
        2010,
    )
    assert (figures.abstract_words.median, figures.text_words.median, figures.text_words.unknown) == (15, 5, 3)
    assert figures.missing == {"title": 1, "abstract": 2, "year": 1, "doi": 3, "pmid": 4, "full text": 3}
    assert figures.documents == {"empty": 1, "parsed": 1}
    assert figures.reviews == {"one": 4}


def test_an_empty_corpus_has_counts_and_no_invented_numbers() -> None:
    figures = statistics(corpus_of([]))
    assert (figures.records, figures.stages, figures.years.median) == (0, (), None)
    assert quartiles([None, None]).unknown == 2
    assert quartiles([7.0]).third == 7.0


@given(st.lists(st.integers(-50, 50), min_size=1, max_size=30))
def test_quartiles_are_in_order_and_in_range(values: list[int]) -> None:
    five = quartiles(values)
    numbers = [number for number in (five.low, five.first, five.median, five.third, five.high) if number is not None]
    assert len(numbers) == 5
    assert all(low <= high for low, high in pairwise(numbers))
    assert (numbers[0], numbers[-1]) == (min(values), max(values))


# Maps

TOPICS = ("zinc pain adults placebo trial", "iron fever children cohort survey", "copper sleep women interviews")


def placed_corpus(count: int = 30) -> Corpus:
    records = [paper(f"r{n}", title=f"{TOPICS[n % 3]} {n}", abstract=f"{TOPICS[n % 3]} again") for n in range(count)]
    decisions: list[Decision] = ["include" if n % 3 == 0 else "exclude" for n in range(count)]
    labels = [GoldLabel(f"r{n}", "title_abstract", decision) for n, decision in enumerate(decisions) if n % 5]
    return corpus_of([*records, paper("bare")], labels)


def drawn_map(points: Sequence[MapPoint], **more: object) -> RecordMap:
    made = {
        "method": "by hand",
        "stage": "title_abstract",
        "title": CARD.title,
        "axes": ("across", "up"),
        "unplaced": {},
        "seed": 0,
    }
    return RecordMap(tuple(points), **(made | more))  # type: ignore[arg-type]  # the fields as given


def test_records_of_one_topic_lie_together_and_the_map_can_be_repeated() -> None:
    found = map_points(placed_corpus(), 1, method="svd")
    assert map_points(placed_corpus(), 1, method="svd") == found
    assert (len(found.points), found.unplaced, found.stage) == (30, {"unlabelled": 1}, "title_abstract")
    assert {point.label for point in found.points} == {"include", "exclude", "unlabelled"}
    first = found.points[0]

    def far(point: MapPoint) -> float:
        return (point.x - first.x) ** 2 + (point.y - first.y) ** 2

    assert max(far(point) for point in found.points[3::3]) < min(far(point) for point in found.points[1::3] + found.points[2::3])


def test_what_cannot_be_placed_is_said() -> None:
    with pytest.raises(InputError, match="a map needs three"):
        map_points(corpus_of([paper("a", title="x"), paper("b")]), method="svd")
    with pytest.raises(InputError, match="stop words only"):
        map_points(corpus_of([paper(name, title="the of and") for name in "abc"]), method="svd")
    with pytest.raises(InputError, match="share one word only"):
        map_points(corpus_of([paper(name, title="zinc") for name in "abc"]), method="svd")
    with pytest.raises(InputError, match="has no labels at stage 'full_text'; it has: title_abstract"):
        map_points(placed_corpus(), stage="full_text", method="svd")


@pytest.mark.skipif(find_spec("umap") is None, reason="umap-learn is not installed (pip install umap-learn)")
@pytest.mark.filterwarnings("ignore")
def test_umap_places_records_where_it_is_installed() -> None:
    found = map_points(placed_corpus(), 1)
    assert found.method.endswith("UMAP")
    assert len(found.points) == 30


@pytest.mark.skipif(find_spec("umap") is not None, reason="umap-learn is installed")
def test_without_umap_the_map_is_by_svd_and_asking_for_umap_says_how_to_get_it() -> None:
    assert map_points(placed_corpus()).method == "TF-IDF, truncated SVD"
    with pytest.raises(InputError, match="pip install umap-learn"):
        map_points(placed_corpus(), method="umap")


SVG = "{http://www.w3.org/2000/svg}"


def parse(svg: str) -> etree._Element:
    return etree.fromstring(svg.encode())


def test_the_svg_tells_labels_by_shape_colour_and_legend() -> None:
    svg = map_svg(map_points(placed_corpus(), 1, method="svd"))
    root = parse(svg)
    assert root.get("role") == "img"
    assert (root.get("aria-labelledby") or "").split() == [node.get("id") for node in root.iter() if node.get("id")]
    assert root.findtext(f"{SVG}title") == "mine: one: map of 30 records"
    words = [text.text for text in root.iter(f"{SVG}text")]
    assert "included: 8" in words
    assert "excluded: 16" in words
    assert "no label: 6" in words
    assert "first component of TF-IDF" in words
    groups = {node.get("class"): node for node in root if node.get("class")}
    looks = {(node.get("fill"), node.get("stroke")) for node in groups.values()}
    assert len(looks) == 3
    assert groups["exclude"].get("d", "").count("a2.4") == 2 * 16
    assert groups["unlabelled"].get("d", "").count("h4v4") == 6
    named = [node.text for node in groups["include"].iter(f"{SVG}title")]
    assert len(named) == 8
    assert "1 record(s) have neither title nor abstract" in (root.findtext(f"{SVG}desc") or "")


@settings(max_examples=60)
@given(st.text(max_size=30), st.text(max_size=30), st.sampled_from(["include", "exclude", "unlabelled"]))
def test_any_name_makes_a_well_formed_svg(title: str, name: str, label: str) -> None:
    points = [MapPoint(name, 0.0, 0.0, label), MapPoint("]]>", 0.0, 0.0, "include")]
    root = parse(map_svg(drawn_map(points, title=title, stage=name, axes=(title, name))))
    assert root.findtext(f"{SVG}title") is not None
    parse(map_svg(drawn_map([])))


def test_thousands_of_points_are_thinned_by_place_and_no_included_one_is_lost() -> None:
    random.seed(4)
    count = 50_000
    points = [
        MapPoint(f"r{n}", random.gauss(0, 1), random.gauss(0, 1), "include" if n % 500 == 0 else "exclude") for n in range(count)
    ]
    points[1] = MapPoint("far", 9.0, 9.0, "exclude")
    svg = map_svg(drawn_map(points))
    root = parse(svg)
    groups = {node.get("class"): node for node in root if node.get("class")}
    assert len(list(groups["include"].iter(f"{SVG}title"))) == 100
    circles = groups["exclude"].get("d", "").count("M")
    assert 3_000 < circles < 9_000
    assert len(svg) < 600_000
    words = " ".join(text.text or "" for text in root.iter(f"{SVG}text"))
    assert f"excluded: 49,900 ({circles:,} drawn)" in words
    assert "included: 100" in words
    assert "all included records are drawn" in (root.findtext(f"{SVG}desc") or "").casefold()
    assert map_svg(drawn_map(points)) == svg
    assert "M870.0 80.0" in groups["exclude"].get("d", "")


def test_a_real_set_is_mapped(corpora: Path) -> None:
    found = map_points(SETS.get("cohen2006").load(corpora / "cohen2006", "ADHD"), 0, stage="full_text", method="svd")
    assert len(found.points) + sum(found.unplaced.values()) == 851
    assert sum(point.label == "include" for point in found.points) + found.unplaced["include"] == 20
    assert found.unplaced["include"] == 1
    assert "(1 of them included)" in (parse(map_svg(found)).findtext(f"{SVG}desc") or "")
