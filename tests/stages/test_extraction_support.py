"""Every extracted value is held against its quote: number, arm, time point, damage of the text; the unsupported go to people."""

from typing import Any

import pytest

from litcascade.errors import InputError
from litcascade.schemas import Document, FieldSpec, Flag, FlagKind, Section, parse_protocol
from litcascade.schemas.fields import FieldFound, RowEvidence, parse_schema
from litcascade.stages.extraction_merging import merge_values
from litcascade.stages.extraction_reading import escalated, read_field
from litcascade.stages.extraction_support import damage_of, index_of, with_support
from litcascade.stages.grounding import Claim, Status, TextIndex, verify
from tests.support.reviews import FIELDS, HEAD, MODEL

TEXT = (
    "We randomised 40 patients to zinc and 42 to placebo. At 12 weeks 12 of 40 patients in the zinc arm recovered. "
    "In the placebo arm 7 of 42 patients recovered. Pain was 5.2 points lower. The trial began on 4 May 2020. "
    "The dates were 03/04/2019 and 17/05/2018. Recruitment ran from March 2015 to June 2016."
)
DESIGN = FieldSpec(name="design", kind="closed", definition="", values=("randomised", "cohort"))
ROWS = FieldSpec(
    name="outcomes", kind="group", definition="", key=("arm",),
    fields=(
        FieldSpec(name="arm", kind="open", definition=""),
        FieldSpec(name="recovered", kind="number", definition="", unit="patients", arm="arm"),
        FieldSpec(name="label", kind="open", definition=""),
    ),
)  # fmt: skip
PAIN = FieldSpec(name="pain", kind="number", definition="", unit="points")
START = FieldSpec(name="start", kind="date", definition="")


def document(*flags: Flag) -> Document:
    sections = (Section(heading="Results", text=TEXT, page=3),)
    return Document(document_id="d", record_id="r", path="r.txt", format="text", sections=sections, flags=flags)


def read(spec: FieldSpec, entry: dict[str, Any], *flags: Flag, others: tuple[FieldFound, ...] = ()) -> FieldFound:
    made = document(*flags)
    found = read_field(spec, {spec.name: entry}, index_of(made.text()))
    held = with_support((spec,), {spec.name: found, **{one.field: one for one in others}}, made)[spec.name]
    return escalated(spec, held, damage_of(made))


def row(quote: str, **cells: Any) -> dict[str, Any]:
    return {"quote": quote, "arm": None, "recovered": None, "label": None, **cells}


def test_a_value_that_its_quote_holds_up_carries_its_place() -> None:
    found = read(PAIN, {"quote": "Pain was 5.2 points lower", "raw": "5.2", "value": 5.2})
    assert (found.support, found.because, found.escalated) == ("supported", None, None)
    assert found.place == 'body, "Results", page 3'
    start, end = found.quote_start, found.quote_end
    assert start is not None
    assert document().text()[start:end] == "Pain was 5.2 points lower"


@pytest.mark.parametrize(
    ("entry", "status"),
    [
        ({"quote": "Pain was 5.2 points lower", "raw": "5.3", "value": 5.3}, Status.NUMBER),
        ({"quote": "Pain was 5.3 points lower", "raw": "5.3", "value": 5.3}, Status.NOT_FOUND),
        ({"quote": "", "raw": "5.2", "value": 5.2}, Status.NOT_FOUND),
    ],
)
def test_a_value_that_its_quote_does_not_hold_up_goes_to_a_person(entry: dict[str, Any], status: str) -> None:
    found = read(PAIN, entry)
    assert found.support == status
    assert str(found.escalated).startswith(f"{status}: ")


def test_numbers_of_a_row_are_held_against_the_rows_arm() -> None:
    zinc = row("12 of 40 patients in the zinc arm recovered", arm="zinc", recovered=12)
    swapped = row("7 of 42 patients recovered", arm="zinc", recovered=7)
    placebo = row("In the placebo arm 7 of 42 patients recovered", arm="placebo", recovered=7)
    found = read(ROWS, {"value": [zinc, swapped, placebo]})
    assert [one.support for one in found.evidence] == ["supported", "other arm", "supported"]
    assert found.support == "other arm"
    assert list(found.evidence[1].doubts) == ["recovered"]
    assert str(found.escalated).startswith("other arm (row 2): recovered: ")
    assert found.evidence[0].doubts == {}


def test_a_row_without_numbers_has_its_arm_looked_for_in_the_quote() -> None:
    found = read(ROWS, {"value": [row("to zinc", arm="zinc"), row("to zinc", arm="placebo")]})
    assert [one.support for one in found.evidence] == ["supported", "value not in quote"]


def test_a_wrong_cell_is_an_error_and_is_held_against_nothing() -> None:
    found = read(ROWS, {"value": [row("to zinc", arm="zinc", recovered="many")]})
    assert "recovered" in found.evidence[0].errors
    assert found.evidence[0].doubts == {}
    assert str(found.escalated).startswith("invalid: row 1, recovered")


def test_nothing_reported_and_errors_need_no_quote() -> None:
    assert read(PAIN, {"quote": "", "raw": "", "value": None}).support is None
    wrong = read(PAIN, {"quote": "Pain was 5.2 points lower", "raw": "5.2", "value": "lower"})
    assert (wrong.support, str(wrong.escalated)[:8]) == (None, "invalid:")


def test_numbers_of_a_damaged_text_go_to_a_person_and_words_do_not() -> None:
    flag = Flag(kind=FlagKind.SIGNS, detail="no minus sign in a text of numbers")
    number = read(PAIN, {"quote": "Pain was 5.2 points lower", "raw": "5.2", "value": 5.2}, flag)
    assert number.support == "supported"
    assert "lost minus or comparison signs" in str(number.escalated)
    words = read(DESIGN, {"quote": "We randomised 40 patients", "value": "randomised"}, flag)
    assert words.escalated is None
    rows = read(ROWS, {"value": [row("12 of 40 patients in the zinc arm recovered", arm="zinc", recovered=12)]}, flag)
    assert "compare the number" in str(rows.escalated)


@pytest.mark.parametrize(
    ("value", "quote", "status"),
    [
        ("2020-05-04", "began on 4 May 2020", Status.SUPPORTED),
        ("2020-05", "began on 4 May 2020", Status.SUPPORTED),
        ("2020", "began on 4 May 2020", Status.SUPPORTED),
        ("2020-06", "began on 4 May 2020", Status.NUMBER),
        ("2020-05-05", "began on 4 May 2020", Status.NUMBER),
        ("2021", "began on 4 May 2020", Status.NUMBER),
        ("2021", "The trial began", Status.NO_VALUE),
        ("2018-05-17", "17/05/2018", Status.SUPPORTED),
        ("2019-04-03", "03/04/2019", Status.AMBIGUOUS),
        ("2018-06", "17/05/2018", Status.NO_VALUE),
        ("2015-06", "from March 2015 to June 2016", Status.AMBIGUOUS),
    ],
)
def test_every_part_of_a_date_must_stand_in_its_quote(value: str, quote: str, status: str) -> None:
    assert read(START, {"quote": quote, "value": value}).support == status


def test_ordinal_values_are_labels() -> None:
    spec = FieldSpec(name="risk", kind="ordinal", definition="", values=("low", "some", "high"))
    index = TextIndex("The risk of bias was low in all domains.")
    assert verify(Claim.of(spec, "low", "risk of bias was low"), index).supported
    assert not verify(Claim.of(spec, "high", "risk of bias was low"), index).supported


def test_what_a_quote_holds_up_goes_before_what_it_does_not_when_windows_are_merged() -> None:
    first = FieldSpec(name="pain", kind="number", definition="", merge="first")
    doubted = FieldFound(field="pain", value=7, quote="q", quote_found=True, support="number differs", because="it says 8")
    held = FieldFound(field="pain", value=5.2, quote="p", quote_found=True, support="supported")
    assert merge_values(first, [doubted, held]).value == 5.2
    assert merge_values(first, [doubted]).escalated == "number differs: it says 8"


def test_a_doubted_value_of_another_window_is_a_conflict_and_not_passed_over() -> None:
    doubted = FieldFound(field="pain", value=7, quote="q", quote_found=True, support="ambiguous", because="arm")
    held = FieldFound(field="pain", value=5.2, quote="p", quote_found=True, support="supported")
    made = merge_values(PAIN, [held, doubted])
    assert "different values: 5.2; 7" in str(made.error)
    assert made.escalated
    alike = doubted.model_copy(update={"value": 5.2})
    assert merge_values(PAIN, [alike, held]).quote == "p"


def test_no_label_of_a_window_is_left_out_of_a_union() -> None:
    multi = FieldSpec(name="parts", kind="multi", definition="", values=("search", "screening"))
    held = FieldFound(field="parts", value=["search"], quote="a", quote_found=True, support="supported")
    loose = FieldFound(field="parts", value=["screening"], quote="b", quote_found=False, support="quote not found", because="no")
    made = merge_values(multi, [held, loose])
    assert made.value == ["search", "screening"]
    assert (made.support, str(made.escalated)[:15]) == ("quote not found", "quote not found")
    assert made.quote_found is False


def test_rows_of_two_windows_keep_both_quotes_and_the_doubts_of_each_cell() -> None:
    one = FieldFound(
        field="outcomes", value=[{"arm": "zinc", "recovered": 12, "label": None}], support="number differs",
        evidence=(RowEvidence(quote="a", quote_found=True, support="number differs", because="recovered: it says 13",
                              doubts={"recovered": "number differs: it says 13"}),),
    )  # fmt: skip
    other = FieldFound(
        field="outcomes", value=[{"arm": "Zinc", "recovered": None, "label": "x"}], support="value not in quote",
        evidence=(RowEvidence(quote="b", quote_found=True, support="value not in quote",
                              doubts={"label": "value not in quote: no word"}),),
    )  # fmt: skip
    made = merge_values(ROWS, [one, other])
    (row_,) = made.evidence
    assert (row_.quote, row_.others) == ("a", ("b",))
    assert row_.doubts == {"recovered": "number differs: it says 13", "label": "value not in quote: no word"}
    assert made.support == "number differs"
    assert str(made.escalated).startswith("number differs (row 1)")


def test_a_reason_for_a_persons_look_is_kept_whichever_window_it_comes_from() -> None:
    names = FieldFound(
        field="outcomes", value=[{"arm": "zinc", "recovered": None, "label": None}], support="supported",
        evidence=(RowEvidence(quote="a", quote_found=True, support="supported"),),
    )  # fmt: skip
    numbers = FieldFound(
        field="outcomes", value=[{"arm": "placebo", "recovered": 7, "label": None}], support="supported",
        evidence=(RowEvidence(quote="b", quote_found=True, support="supported"),), escalated="the text is damaged",
    )  # fmt: skip
    assert merge_values(ROWS, [names, numbers]).escalated == "the text is damaged"
    assert merge_values(ROWS, [names]).escalated is None


def test_labels_of_two_windows_keep_the_quotes_of_both() -> None:
    multi = FieldSpec(name="parts", kind="multi", definition="", values=("search", "screening"))
    one = FieldFound(field="parts", value=["search"], quote="a", quote_found=True, support="supported", place="body")
    other = FieldFound(field="parts", value=["screening"], quote="b", quote_found=True, support="supported", place="table")
    made = merge_values(multi, [one, other])
    assert made.value == ["search", "screening"]
    assert [(row.quote, row.place) for row in made.evidence] == [("a", "body"), ("b", "table")]
    doubted = [value.model_copy(update={"support": "negated", "because": "not so"}) for value in (one, other)]
    assert merge_values(multi, [doubted[0].model_copy(update={"support": "ambiguous"}), doubted[1]]).support == "negated"


def test_an_arm_that_is_no_sub_field_is_refused() -> None:
    group = '[[fields]]\nname = "g"\nkind = "group"\ndefinition = ""\n[[fields.fields]]\nname = "n"\nkind = "number"\ndefinition = ""\n'
    with pytest.raises(InputError, match="belongs to 'arm', which is no other sub-field"):
        parse_schema(f'{group}arm = "arm"')
    with pytest.raises(InputError, match="is no sub-field of a group; take out its arm and time"):
        parse_schema('[[fields]]\nname = "n"\nkind = "number"\ndefinition = ""\ntime = "when"')
    plain = '[[fields]]\nname = "n"\nkind = "number"\ndefinition = ""\narm = "arm"\n'
    with pytest.raises(InputError, match="field 'n' is no sub-field of a group; take out its arm"):
        parse_protocol(HEAD + MODEL.format(url="http://x/v1", retries=0) + FIELDS + plain)
