"""One declaration gives the schema, the guide, the class and the check of a value."""

import json
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, Field, TypeAdapter, ValidationError

from litcascade.errors import InputError, ProtocolError
from litcascade.schemas import FieldSpec, digest, parse_protocol
from litcascade.schemas.fields import (
    check_cells,
    check_value,
    example_schemas,
    fields_from_model,
    guide,
    is_nothing,
    json_schema,
    load_schema,
    model_from_fields,
    nothing_of,
    parse_schema,
    same_value,
    schema_hash,
)
from tests.support.reviews import FIELDS, HEAD, MODEL

DESIGN = FieldSpec(
    name="design",
    kind="closed",
    definition="Design.",
    values=("randomised controlled trial", "cohort"),
    synonyms={"RCT": "randomised controlled trial"},
)
GRADE = FieldSpec(name="grade", kind="ordinal", definition="Certainty.", values=("low", "moderate", "high"))
START = FieldSpec(name="start", kind="date", definition="When it began.")
ARMS = FieldSpec(
    name="arms",
    kind="group",
    definition="The arms.",
    key=("arm",),
    rows=3,
    fields=(
        FieldSpec(name="arm", kind="open", definition="Name.", required=True),
        FieldSpec(name="n", kind="number", definition="Randomised.", unit="people", minimum=0, maximum=1e6),
        FieldSpec(name="role", kind="closed", definition="Role.", values=("drug", "control"), synonyms={"placebo": "control"}),
    ),
)
PLAIN: dict[str, Any] = {"name": "f", "definition": "d"}


@pytest.mark.parametrize(
    ("spec", "given", "value"),
    [
        (DESIGN, " Cohort", "cohort"),
        (DESIGN, "rct ", "randomised controlled trial"),
        (DESIGN, "Not Reported", "not reported"),
        (GRADE, "HIGH", "high"),
        (START, "2020", "2020"),
        (START, "2020-02", "2020-02"),
        (START, "2020-02-29", "2020-02-29"),
        (START, None, None),
        (ARMS, [{"arm": "zinc", "n": 20, "role": "Drug"}], [{"arm": "zinc", "n": 20, "role": "drug"}]),
        (ARMS, [{"arm": "sugar", "role": "placebo"}], [{"arm": "sugar", "n": None, "role": "control"}]),
        (ARMS, None, []),
    ],
)
def test_values_are_taken_in_their_dress(spec: FieldSpec, given: Any, value: Any) -> None:
    assert check_value(spec, given) == (value, None)


@pytest.mark.parametrize(
    ("spec", "given", "words"),
    [
        (DESIGN, "I don't know", "allowed: randomised controlled trial, cohort, not reported"),
        (DESIGN, "cohort study", "cohort study"),
        (DESIGN, ["cohort"], "cohort"),
        (GRADE, "very high", "low, moderate, high"),
        (START, "2021-02-29", "no such day"),
        (START, "2021-13", "no such day"),
        (START, "March 2020", "pattern"),
        (START, 2020, "string"),
        (ARMS, [{"arm": "zinc", "n": "20"}], "row 1, n: "),
        (ARMS, [{"n": 20}], "row 1, arm: missing"),
        (ARMS, [{"arm": "zinc", "size": 3}], "row 1, size: is no sub-field"),
        (ARMS, [{"arm": str(i)} for i in range(4)], "at most 3"),
        (ARMS, "zinc", "list"),
    ],
)
def test_what_is_wrong_is_one_sentence(spec: FieldSpec, given: Any, words: str) -> None:
    value, fault = check_value(spec, given)
    assert value is None
    assert fault is not None
    assert words in fault
    assert "\n" not in fault


def test_two_values_that_differ_in_case_only_are_never_guessed() -> None:
    spec = FieldSpec(**PLAIN, kind="closed", values=("CO", "Co"))
    assert check_value(spec, "CO") == ("CO", None)
    assert check_value(spec, "co")[1]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"kind": "closed", "values": ("a", "b"), "synonyms": {"x": "c"}}, "synonym 'x' for 'c', which is not among its values"),
        ({"kind": "closed", "values": ("a", "b"), "synonyms": {"A": "b"}}, "synonym 'A' for both 'a' and 'b'"),
        ({"kind": "open", "synonyms": {"x": "y"}}, "synonyms belong to"),
        ({"kind": "ordinal", "values": ("a",)}, "at least two values"),
        ({"kind": "date", "values": ("a", "b")}, "takes no list"),
        ({"kind": "group"}, "belong together"),
        ({"kind": "open", "fields": (PLAIN | {"kind": "open"},)}, "belong together"),
        ({"kind": "group", "fields": (PLAIN | {"kind": "open"}, PLAIN | {"kind": "date"})}, "two sub-fields called 'f'"),
        ({"kind": "group", "fields": (ARMS.model_dump(),)}, "must be a plain field"),
        ({"kind": "group", "fields": ({"name": "quote", "kind": "open", "definition": "d"},)}, "name of the evidence"),
        ({"kind": "group", "fields": (PLAIN | {"kind": "open"},), "key": ("g",)}, "names the key 'g'"),
        ({"kind": "open", "merge": "union"}, "belongs to multi and group"),
        ({"kind": "open", "same": {"absolute": 1}}, "tolerance belongs to number"),
        ({"kind": "number", "same": "judge"}, "belongs to open"),
        ({"kind": "number", "minimum": 2, "maximum": 1}, "minimum above its maximum"),
    ],
)
def test_declarations_that_cannot_hold_are_refused_in_a_sentence(keys: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as caught:
        FieldSpec.model_validate(PLAIN | keys)
    assert words in caught.value.errors()[0]["msg"]


def test_faults_of_a_protocol_name_line_and_mend() -> None:
    def parsed(fields: str) -> None:
        parse_protocol(HEAD + MODEL.format(url="http://x/v1", retries=0) + FIELDS + fields)

    more = '[[fields]]\nname = "{}"\nkind = "group"\ndefinition = "d"\n{}[[fields.fields]]\nname = "n"\nkind = "number"\ndefinition = "d"\n'
    parsed(more.format("arms", 'part = "trial"\n'))
    with pytest.raises(ProtocolError, match=r"review.toml:\d+: field name 'people' is used twice"):
        parsed(more.format("people", ""))
    with pytest.raises(ProtocolError, match=r"unknown key 'fields.4.mergee'; did you mean 'merge'"):
        parsed(more.format("arms", 'mergee = "first"\n'))
    for text, words in (
        ("x = 1", "no fields"),
        ("[[fields]", "not valid TOML"),
        ('[[fields]]\nname = "a"\nkind = "open"\ndefinition = "d"\n' * 2, "two fields are called 'a'"),
        ('[[fields]]\nname = "a"\nkind = "opn"\ndefinition = "d"\n', "field 1, kind"),
        ('[[fields]]\nname = "a"\nkind = "open"\ndefinition = "d"\nunits = "g"\n', "did you mean 'unit'"),
    ):
        with pytest.raises(InputError, match=words):
            parse_schema(text)
    with pytest.raises(InputError, match="did you mean 'rct_outcomes'"):
        load_schema("rct_outcome")


def test_a_declaration_made_before_the_newer_keys_keeps_its_version() -> None:
    old = {"name": "people", "kind": "number", "definition": "How many.", "values": [], "required": False, "unit": None}
    old |= {"minimum": 1.0, "maximum": 1000.0}
    spec = FieldSpec.model_validate(old)
    assert spec.model_dump(mode="json") == old
    assert digest([spec.model_dump(mode="json")]) == digest([old])
    assert "same" in spec.model_copy(update={"same": START.rule}).model_dump()
    assert FieldSpec.model_validate(ARMS.model_dump(mode="json")) == ARMS
    assert len({ARMS, DESIGN, FieldSpec.model_validate(DESIGN.model_dump())}) == 2


def test_the_grammar_of_every_kind_is_bounded() -> None:
    def walk(schema: Any) -> None:
        if isinstance(schema, dict):
            kind = schema.get("type")
            needed = {"string": {"maxLength"}, "number": {"minimum", "maximum"}, "array": {"maxItems", "minItems"}}
            assert needed.get(str(kind), set()) <= schema.keys()
            if kind == "object":
                assert schema["additionalProperties"] is False
                assert schema["required"] == list(schema["properties"])
            for part in schema.values():
                walk(part)
        elif isinstance(schema, list):
            for part in schema:
                walk(part)

    for name in example_schemas():
        walk(json_schema(load_schema(name)))
    made = json_schema((DESIGN, GRADE, START, ARMS, FieldSpec(name="n", kind="number", definition="d")))
    walk(made)
    assert list(made["properties"]["design"]["properties"]) == ["quote", "notes", "value"]
    assert list(made["properties"]["n"]["properties"]) == ["quote", "notes", "raw", "value"]
    assert list(made["properties"]["arms"]["properties"]["value"]["items"]["properties"]) == ["quote", "arm", "n", "role"]


def test_the_guide_tells_values_order_and_edge_cases() -> None:
    text = guide((GRADE.model_copy(update={"edge_cases": ("Say low where it is downgraded twice.",)}), ARMS, START))
    assert "from low to high: low, moderate, high, not reported" in text
    assert "Note: Say low where it is downgraded twice." in text
    assert "which differ in arm" in text
    assert "\n  - n: Randomised. Value: a number in people, or null if not reported." in text
    assert "YYYY-MM" in text


@pytest.mark.parametrize("name", ["scilitbench", "rct_outcomes"])
def test_shipped_schemas_load_and_are_their_own_classes(name: str) -> None:
    specs = load_schema(name)
    assert name in example_schemas()
    assert all(spec.definition for spec in specs)
    assert fields_from_model(model_from_fields(specs)) == specs


def test_shipped_schemas_hold_what_their_sources_name() -> None:
    six = {spec.name: spec for spec in load_schema("scilitbench")}
    assert {"year", "domain", "approach", "objectives", "results", "limitations"} <= six.keys()
    assert (len(six["domain"].values), six["domain"].kind, six["limitations"].kind) == (27, "multi", "group")
    outcomes = next(spec for spec in load_schema("rct_outcomes") if spec.name == "outcomes")
    parts = {field.name for field in outcomes.fields}
    assert {f"{arm}_{what}" for arm in ("intervention", "comparator") for what in ("events", "total", "mean", "sd")} <= parts


class Arm(BaseModel):
    arm: str
    n: Annotated[int | None, Field(ge=0, json_schema_extra={"unit": "people"})] = None


class Trial(BaseModel):
    design: Literal["trial", "cohort"] | None = Field(
        None, description="Design.", json_schema_extra={"synonyms": {"RCT": "trial"}}
    )
    grade: Literal["low", "high"] = Field(json_schema_extra={"kind": "ordinal"})
    outcomes: list[Literal["pain", "days"]]
    began: date | None = None
    arms: Annotated[list[Arm], Field(max_length=4, json_schema_extra={"key": ["arm"]})]


def test_fields_may_be_declared_as_classes() -> None:
    design, grade, outcomes, began, arms = fields_from_model(Trial)
    assert (design.kind, design.required, design.definition, design.synonyms) == ("closed", False, "Design.", (("RCT", "trial"),))
    assert (grade.kind, grade.values, grade.required) == ("ordinal", ("low", "high"), True)
    assert (outcomes.kind, began.kind, began.required) == ("multi", "date", False)
    assert (arms.kind, arms.rows, arms.key) == ("group", 4, ("arm",))
    assert (arms.fields[0].required, arms.fields[1].minimum, arms.fields[1].unit) == (True, 0, "people")

    class Odd(BaseModel):
        thing: bytes

    class Wrong(BaseModel):
        thing: str = Field(json_schema_extra={"synonyms": {"a": "b"}})

    with pytest.raises(InputError, match=r"Odd.thing: .* is no type of a field"):
        fields_from_model(Odd)
    with pytest.raises(InputError, match=r"Wrong.thing: field 'thing' is open: synonyms"):
        fields_from_model(Wrong)


def test_the_class_and_the_check_agree() -> None:
    made = model_from_fields((DESIGN, GRADE, START, ARMS))
    good = {"design": "cohort", "grade": "low", "start": "2020-02", "arms": [{"arm": "z", "n": 2, "role": "drug"}]}
    assert made.model_validate(good).model_dump() == good
    for name, bad in (("design", "x"), ("grade", "x"), ("start", "x"), ("arms", [{"arm": "z", "n": "2", "role": "x"}])):
        with pytest.raises(ValidationError):
            made.model_validate(good | {name: bad})


@pytest.mark.parametrize(
    ("spec", "one", "other", "same"),
    [
        (FieldSpec(**PLAIN, kind="number", same={"absolute": 0.5}), 10, 10.5, True),
        (FieldSpec(**PLAIN, kind="number", same={"relative": 0.01}), 100, 101, True),
        (FieldSpec(**PLAIN, kind="number"), 10, 10.5, False),
        (START, "2020", "2020-03", False),
        (START.model_copy(update={"same": DESIGN.rule.model_copy(update={"rule": "normalised"})}), "2020", "2020-03", True),
        (FieldSpec(**PLAIN, kind="open"), "75 mg/day", "75 MG day.", True),
        (FieldSpec(**PLAIN, kind="open", same="exact"), "75 mg", "75 MG", False),
        (FieldSpec(**PLAIN, kind="open"), "no effect", "effect", False),
        (FieldSpec(**PLAIN, kind="multi", values=("a", "b")), ["a", "b"], ["b", "a"], True),
        (DESIGN, "not reported", None, True),
        (DESIGN, "cohort", None, False),
    ],
)
def test_what_counts_as_the_same_is_the_fields_own(spec: FieldSpec, one: Any, other: Any, same: bool) -> None:
    assert same_value(spec, one, other) is same_value(spec, other, one) is same


_ANY = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=12)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(["arm", "n", "role", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None)
@given(_ANY)
def test_a_value_of_any_kind_is_right_or_has_a_reason(value: Any) -> None:
    for spec in (DESIGN, GRADE, START, ARMS, FieldSpec(**PLAIN, kind="number"), FieldSpec(**PLAIN, kind="open")):
        right, fault = check_value(spec, value)
        assert fault is None or (right is None and "\n" not in fault)
        if fault is None:
            assert check_value(spec, right) == (right, None)
            json.dumps(right, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(_ANY)
def test_cells_of_any_row_are_right_or_named(row: Any) -> None:
    cells, faults = check_cells(ARMS, row)
    assert all(cells.get(name) is None for name in faults)
    kept = {name: cell for name, cell in cells.items() if name not in faults}
    assert check_cells(ARMS, {"arm": "x"} | kept)[1] == {}


def test_nothing_is_nothing_for_every_kind() -> None:
    for spec in (DESIGN, GRADE, START, ARMS, FieldSpec(**PLAIN, kind="multi", values=("a", "b"))):
        assert is_nothing(spec, nothing_of(spec))
        assert check_value(spec, nothing_of(spec)) == (nothing_of(spec), None)


def test_a_schemas_hash_does_not_depend_on_order() -> None:
    assert schema_hash((DESIGN, GRADE)) == schema_hash((GRADE, DESIGN)) != schema_hash((GRADE, START))
    assert TypeAdapter(tuple[FieldSpec, ...]).validate_python([ARMS.model_dump()]) == (ARMS,)
