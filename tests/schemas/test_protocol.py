import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.errors import ProtocolError
from litcascade.schemas import FieldSpec, ModelRef, Reply, Request, Sampling, digest, parse_protocol, say
from litcascade.schemas.fields import check_value, json_schema
from litcascade.schemas.toml_lines import line_of
from tests.support.reviews import ABSTRACTS, FIELDS, HEAD, MODEL, REPORTS

GOOD = HEAD + MODEL.format(url="http://x/v1", retries=0) + ABSTRACTS + REPORTS + FIELDS


def fault(text: str) -> str:
    with pytest.raises(ProtocolError) as caught:
        parse_protocol(text, "review.toml")
    words = str(caught.value)
    assert "\n" not in words
    assert words.startswith("review.toml")
    return words


def line(text: str, part: str) -> int:
    return text[: text.rindex(part)].count("\n") + 1


def test_a_whole_protocol_is_read() -> None:
    protocol = parse_protocol(GOOD)
    assert [name for name, _ in protocol.stages.items()] == ["title_abstract", "full_text", "extraction"]
    assert [criterion.id for criterion in protocol.criteria_for("full_text")] == ["I1", "E1"]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('prompt = "inclusion"', 'promt = "inclusion"', "unknown key 'readers.one.promt'; did you mean 'prompt'?"),
        ('question = "Does', 'qestion = "Does', "unknown key 'review.qestion'; did you mean 'question'?"),
        ('refiner = "refiner"', 'refinr = "refiner"', "did you mean 'refiner'?"),
        ('kind = "exclude"', 'kind = "exlude"', "criteria.1.kind"),
        ('readers = ["one"]', 'readers = ["uno"]', "'uno' that is not under [readers]"),
        ('[readers.one]\nmodel = "m"', '[readers.one]\nmodel = "n"', "'n' that is not under [models]"),
        ('readers = ["one"]', 'readers = ["one"]\nvotes = 2', "votes = 2 can never be reached"),
        ('readers = ["one"]', 'readers = ["one"]\npolicy = "threshold"', "needs threshold"),
        ('values = ["hospital", "school"]', 'values = ["hospital"]', "give at least two values"),
        ('id = "E1"', 'id = "I1"', "criterion id 'I1' is used twice"),
        ('name = "dose"', 'name = "people"', "field name 'people' is used twice"),
        ('endpoints = ["http://x/v1"]', "", "needs endpoints"),
    ],
)
def test_faults_name_file_line_and_mend(old: str, new: str, words: str) -> None:
    assert old in GOOD
    text = GOOD.replace(old, new, 1)
    said = fault(text)
    assert words in said
    number = int(said.split(":")[1])
    assert number > 1
    if new and "\n" not in new:
        near = line(text, new)
        assert near - 6 <= number <= near


def test_an_unknown_key_is_told_with_its_own_line() -> None:
    text = GOOD.replace('prompt = "chain_of_thought"', 'promppt = "chain_of_thought"')
    assert fault(text).startswith(f"review.toml:{line(text, 'promppt')}:")


def test_no_criteria_is_one_clear_sentence() -> None:
    assert "there are no criteria" in fault('[review]\ntitle = "a"\nquestion = "b"\n[stages.title_abstract]\nreaders = ["x"]\n')
    assert "not valid TOML" in fault("[review")


def test_lines_are_found_in_arrays_of_tables() -> None:
    text = "[[a]]\nx = 1\n[[a]]\nx = 2\n[b.c]\ny = 3\n"
    assert [line_of(text, path) for path in (("a", 0, "x"), ("a", 1, "x"), ("b", "c", "y"), ("zzz",))] == [2, 4, 6, 1]


def test_the_version_of_the_criteria_changes_only_where_people_decide_by_it() -> None:
    protocol = parse_protocol(GOOD)
    budget = parse_protocol(GOOD + "[budget]\ncalls = 3\n")
    only_full = parse_protocol(GOOD.replace('text = "Is a review."', 'text = "Is a review or letter."\nstages = ["full_text"]'))
    assert protocol.criteria_hash("title_abstract") == budget.criteria_hash("title_abstract")
    assert protocol.hash() != budget.hash()
    assert protocol.criteria_hash("full_text") != only_full.criteria_hash("full_text")
    assert protocol.criteria_hash("extraction") == only_full.criteria_hash("extraction")


BASE = Request(model=ModelRef(name="m", revision="r", engine="e"), messages=(say("user", "hello"),))


@pytest.mark.parametrize(
    "other",
    [
        BASE.model_copy(update={"model": ModelRef(name="n", revision="r", engine="e")}),
        BASE.model_copy(update={"model": ModelRef(name="m", revision="s", engine="e")}),
        BASE.model_copy(update={"model": ModelRef(name="m", revision="r", engine="f")}),
        BASE.model_copy(update={"messages": (say("system", "hello"),)}),
        BASE.model_copy(update={"sampling": Sampling(seed=1)}),
        BASE.model_copy(update={"sampling": Sampling(max_tokens=17)}),
    ],
)
def test_the_key_of_a_call_covers_all_that_is_sent(other: Request) -> None:
    assert BASE.key
    assert other.key != BASE.key


def test_the_key_does_not_cover_what_is_for_people() -> None:
    assert Request.model_validate({**BASE.model_dump(), "purpose": "repair", "via": "x"}).key == BASE.key


def test_a_changed_copy_has_a_key_of_its_own() -> None:
    assert BASE.key
    changed = BASE.model_copy(update={"sampling": Sampling(max_tokens=99)})
    assert changed.key != BASE.key
    assert changed.key == Request.model_validate(changed.model_dump()).key


@given(st.dictionaries(st.text(), st.one_of(st.integers(), st.text(), st.none(), st.booleans())))
def test_a_digest_does_not_depend_on_order(content: dict[str, object]) -> None:
    assert digest(content) == digest(dict(reversed(list(content.items()))))


def test_a_reply_survives_json() -> None:
    reply = Reply(key="k", text="é\u2028x", reasoning=None, raw="{}")
    assert Reply.model_validate_json(reply.model_dump_json()) == reply


@given(
    st.one_of(
        st.none(), st.text(max_size=20), st.integers(), st.floats(), st.booleans(), st.lists(st.text(max_size=5), max_size=3)
    )
)
def test_a_value_is_right_or_has_a_reason(value: object) -> None:
    for kind, extra in (("closed", {"values": ("a", "b")}), ("multi", {"values": ("a", "b")}), ("number", {}), ("open", {})):
        spec = FieldSpec(name="f", kind=kind, definition="d", **extra)
        right, error = check_value(spec, value)
        assert error is None or (right is None and "\n" not in error)


def test_the_grammar_bounds_every_text_and_number() -> None:
    def walk(schema: object) -> None:
        if isinstance(schema, dict):
            if schema.get("type") == "string":
                assert "maxLength" in schema
            if schema.get("type") == "number":
                assert {"minimum", "maximum"} <= schema.keys()
            if schema.get("type") == "array":
                assert "maxItems" in schema
            for part in schema.values():
                walk(part)
        elif isinstance(schema, list):
            for part in schema:
                walk(part)

    walk(json_schema(parse_protocol(GOOD).fields))
