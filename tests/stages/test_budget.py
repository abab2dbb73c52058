"""What of a long report stands in a prompt: nothing is lost, nothing is cut in silence."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from litcascade.schemas import Document, Refer, ReferCode, Section, Table
from litcascade.stages.budget import Counter, Plan, estimate, key_of, parts_of, plan, texts_to_count


def words(text: str) -> int:
    return max(1, len(text.split()))


def report(paragraphs: int, length: int = 40, **more: Any) -> Document:
    text = "\n".join(" ".join(f"p{n}w{i}" for i in range(length)) for n in range(paragraphs))
    return Document(
        document_id="d", record_id="r", path="r.txt", format="text", sections=(Section(heading="Methods", text=text),), **more
    )


def test_a_report_that_fits_is_shown_whole_and_as_it_is() -> None:
    made = plan(report(3), words, 1000)
    assert isinstance(made, Plan)
    assert made.windows == (report(3).text(),)
    assert (made.seen(1), made.left_out) == (1.0, ())


def test_acknowledgements_go_first() -> None:
    thanks = (Section(heading="Thanks", text="thank " * 200, kind="acknowledgement"),)
    document = report(3).model_copy(update={"sections": (*report(3).sections, *thanks)})
    made = plan(document, words, 140)
    assert isinstance(made, Plan)
    assert len(made.windows) == 1
    assert "thank" not in made.windows[0]
    assert made.left_out == ("acknowledgement",)


def test_trimming_leaves_out_in_order_and_says_what_share_is_seen() -> None:
    tables = (Table(caption="T", rows=tuple((f"c{i}", "x") for i in range(60))),)
    document = report(3).model_copy(update={"tables": tables, "footnotes": ("note " * 50,)})
    made = plan(document, words, 130, "trim")
    assert isinstance(made, Plan)
    assert made.left_out == ("footnote", "table")
    assert 0.2 < made.seen(1) < 0.5
    assert isinstance(plan(document, words, 60, "trim"), Refer)


def test_a_report_too_long_is_referred_where_the_protocol_says_so_and_where_windows_would_be_too_many() -> None:
    refused = plan(report(30), words, 300, "refer")
    assert isinstance(refused, Refer)
    assert refused.code is ReferCode.TOO_LONG
    many = plan(report(400), words, 300)
    assert isinstance(many, Refer)
    assert "windows" in many.detail


@given(st.integers(1, 60), st.integers(1, 400), st.integers(300, 900))
def test_every_word_of_a_report_stands_in_some_window_and_no_window_is_too_large(paragraphs: int, length: int, room: int) -> None:
    document = report(paragraphs, length)
    made = plan(document, words, room)
    if isinstance(made, Refer):
        assert paragraphs * length > 10 * room
        return
    shown = {word for window in made.windows for word in window.split()}
    assert set(document.text().split()) <= shown
    assert all(words(window) <= room for window in made.windows)
    assert abs(made.seen(len(made.windows)) - 1) < 0.05
    if len(made.windows) > 1:
        assert made.seen(1) < 1


def test_windows_overlap_so_that_a_border_hides_nothing() -> None:
    made = plan(report(40, 20), words, 300)
    assert isinstance(made, Plan)
    for one, two in zip(made.windows, made.windows[1:], strict=False):
        assert set(one.split()) & set(two.split()) - {"Methods"}


def test_counts_of_the_tokenizer_go_before_guesses() -> None:
    document = report(4)
    texts = texts_to_count(document)
    assert len(texts) == len(parts_of(document)) == 4
    counter = Counter({key_of(text): 7 for text in texts})
    assert counter(texts[0]) == 7
    assert counter("abcd") == estimate("abcd") == 2
    assert estimate("研究") == 3
