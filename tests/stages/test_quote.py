import pytest

from litcascade.stages.quote import fold, stands_in

TEXT = fold(
    "We enrolled 1,204 adults.\nThe treat-\nment arm took 75 mg of zinc; the ﬁrst dose was “double”.\n"
    "Dose 5 mg; 10⁹ cells and 0·5 mL. "
    "A placebo-\ncontrolled, double-\nblind trial; a treat\u00ad\nment; the effect was non-significant. "
    "Pain fell by 12.5 points (95% CI −3.1 to 4.0) in the zinc arm and did not change with placebo."
)


@pytest.mark.parametrize(
    "quote",
    [
        "1,204 adults",
        "The treatment arm took 75 mg of zinc",
        'the first dose was "double"',
        "95% CI -3.1 to 4.0",
        "1204 adults",
        "placebo-controlled, double-blind trial",
        "a treatment",
        "non-significant",
        "0.5 mL",
        "10^9 cells",
        "PAIN FELL BY  12.5\npoints",
        "did not change with placebo.",
    ],
)
def test_genuine_quotes_are_found_whatever_typesetting_did(quote: str) -> None:
    assert stands_in(quote, TEXT)


@pytest.mark.parametrize(
    "quote",
    [
        "204 adults",
        ".5 mg",
        "the effect was significant",
        "significant",
        "109 cells",
        "3.1 to 4.0)",
        "1,205 adults",
        "took 7 mg of zinc",
        "took 75 mg of zincum",
        "95% CI 3.1 to 4.0",
        "did change with placebo",
        "",
        " . ",
    ],
)
def test_changed_digits_signs_words_and_nothing_are_not_found(quote: str) -> None:
    assert not stands_in(quote, TEXT)
