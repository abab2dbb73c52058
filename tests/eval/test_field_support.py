"""How often values are right, by what their quotes are worth."""

from litcascade.eval.field_support import added, counts_by_support
from litcascade.eval.fields import Pair
from litcascade.judges import normalised_match
from litcascade.schemas import FieldSpec

DOSE = FieldSpec(name="dose", kind="number", definition="")
ARMS = FieldSpec(
    name="arms", kind="group", definition="", key=("arm",),
    fields=(FieldSpec(name="arm", kind="open", definition=""), FieldSpec(name="n", kind="number", definition="", arm="arm")),
)  # fmt: skip


def test_values_count_under_their_support_and_those_without_one_nowhere() -> None:
    pairs = [
        Pair(record_id="a", gold=5, value=5, support="supported"),
        Pair(record_id="b", gold=5, value=6, support="supported"),
        Pair(record_id="c", gold=5, value=6, support="number differs"),
        Pair(record_id="d", gold=None, value=6, support="number differs"),
        Pair(record_id="e", gold=5, value=None),
        Pair(record_id="f", gold=5, invalid=True),
    ]
    found = counts_by_support(DOSE, pairs, normalised_match)
    assert set(found) == {"supported", "number differs"}
    assert found["supported"].precision.value == 0.5
    assert (found["number differs"].wrong, found["number differs"].spurious) == (1, 1)
    whole = added(found.values())
    assert (whole.correct, whole.wrong, whole.spurious, whole.precision.value) == (1, 2, 1, 0.25)


def test_a_group_counts_by_cell_whatever_the_order_of_its_rows() -> None:
    gold = [{"arm": "zinc", "n": 20}, {"arm": "sugar", "n": 21}]
    value = [{"arm": "sugar", "n": 12}, {"arm": "zinc", "n": 20}, {"arm": "salt", "n": 3}]
    doubts = ((0, "n", "number differs"), (2, "n", "ambiguous"))
    pair = Pair(record_id="a", gold=gold, value=value, support="number differs", doubts=doubts)
    found = counts_by_support(ARMS, [pair], normalised_match)
    assert found["number differs"].wrong == 1
    assert found["ambiguous"].spurious == 1
    assert (found["supported"].correct, found["supported"].spurious) == (3, 1)
    assert counts_by_support(ARMS, [pair.model_copy(update={"support": None})], normalised_match) == {}


def test_nothing_extracted_leaves_precision_undefined() -> None:
    assert counts_by_support(DOSE, [Pair(record_id="a", gold=5)], normalised_match) == {}
    assert added([]).precision.value is None
    assert added([]).precision.note
