from hypothesis import given
from hypothesis import strategies as st

from litcascade.report import Table, inert, render


def test_numbers_are_aligned_and_undefined_is_a_dash() -> None:
    text = render([Table("T", ["name", "n", "value"], [["a", 1, 0.5], ["bb", 20, None]], ["note"])])
    assert text.splitlines() == ["T", "name   n  value", "----  --  -----", "a      1  0.500", "bb    20      –", "  note"]


def test_a_long_last_cell_is_wrapped_and_not_cut() -> None:
    text = render([Table("T", ["a", "b"], [["x", "y" * 300]])], width=60)
    assert text.count("y") == 300
    assert max(map(len, text.splitlines())) <= 60


@given(st.text())
def test_inert_text_has_no_control_signs(text: str) -> None:
    shown = inert(text)
    assert not any(ord(char) < 32 or 127 <= ord(char) < 160 for char in shown)
    shown.encode("utf-8")
