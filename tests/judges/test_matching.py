"""One-to-one matching of people's items and the extraction's."""

from hypothesis import given
from hypothesis import strategies as st

from litcascade.judges import exact_pairs, match, open_pairs

TEXTS = st.lists(st.sampled_from(["75 mg", "75 MG", "a week", "sore throat", "  ", "—", "days off"]), max_size=5)


def test_equal_items_are_matched_without_a_judge_and_each_once() -> None:
    gold, found = ["75 mg daily", "75 mg daily", "Sore throat"], ["sore  throat!", "75 MG daily"]
    assert exact_pairs(gold, found) == ((0, 1), (2, 0))
    assert open_pairs(gold, found) == ()
    made = match(gold, found, {})
    assert made.gold == ("matched", "unmatched", "matched")
    assert made.found == ("matched", "matched")
    assert made.pairs == made.exact


def test_numbers_and_signs_are_no_dress() -> None:
    assert exact_pairs(["-1.5 mg"], ["1.5 mg"]) == ()
    assert exact_pairs(["7.5 mg"], ["75 mg"]) == ()
    assert exact_pairs(["—"], ["…"]) == ()
    assert exact_pairs(["—"], ["—"]) == ((0, 0),)


def test_blank_items_are_not_asked_about() -> None:
    assert open_pairs(["", "zinc"], ["  ", "placebo"]) == ((1, 1),)
    assert match([""], [" "], {}).pairs == ()
    assert match([], ["zinc"], {}).found == ("unmatched",)
    assert match(["zinc"], [], {}).gold == ("unmatched",)


def test_the_assignment_finds_the_most_pairs_where_the_first_fit_would_not() -> None:
    gold, found = ["pain", "ache"], ["soreness", "hurt"]
    made = match(gold, found, {(0, 0): True, (0, 1): True, (1, 0): True, (1, 1): False})
    assert made.pairs == ((0, 1), (1, 0))


def test_one_item_cannot_stand_for_two() -> None:
    made = match(["pain", "ache"], ["soreness"], {(0, 0): True, (1, 0): True})
    assert sorted(made.gold) == ["matched", "unmatched"]


def test_a_failed_judgement_is_missing_where_it_could_have_made_a_match() -> None:
    made = match(["pain", "fever"], ["soreness", "cough"], {(0, 0): True, (0, 1): False, (1, 0): False, (1, 1): None})
    assert made.gold == ("matched", "missing")
    assert made.found == ("matched", "missing")


def test_a_failed_judgement_that_could_change_nothing_leaves_nothing_in_doubt() -> None:
    made = match(["pain", "ache"], ["soreness"], {(0, 0): True, (1, 0): None})
    assert made.gold == ("matched", "unmatched")


def test_a_failed_judgement_may_free_a_partner_along_a_chain() -> None:
    verdicts = {(0, 0): True, (0, 1): None, (1, 0): True, (1, 1): False}
    assert sorted(match(["a b", "c d"], ["e f", "g h"], verdicts).gold) == ["matched", "missing"]


def test_a_pair_that_was_not_asked_is_in_doubt_too() -> None:
    assert match(["pain"], ["soreness"], {}).gold == ("missing",)


@given(TEXTS, TEXTS, st.dictionaries(st.tuples(st.integers(0, 4), st.integers(0, 4)), st.sampled_from([True, False, None])))
def test_a_matching_is_one_to_one_and_closed(
    gold: list[str], found: list[str], verdicts: dict[tuple[int, int], bool | None]
) -> None:
    made = match(gold, found, verdicts)
    left, right = [pair[0] for pair in made.pairs], [pair[1] for pair in made.pairs]
    assert len(set(left)) == len(left) == len(set(right)) == len(right)
    assert {place for place, status in enumerate(made.gold) if status == "matched"} == set(left)
    assert {place for place, status in enumerate(made.found) if status == "matched"} == set(right)
    assert all(pair in made.exact or verdicts.get(pair) is True for pair in made.pairs)
    if None not in {verdicts.get(pair) for pair in open_pairs(gold, found)}:
        assert "missing" not in (*made.gold, *made.found)
