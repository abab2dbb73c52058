"""Identifiers, folding and publication statuses of de-duplication."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.corpora.dedup import normal_doi, normal_pmcid, normal_pmid, publication_status, trial_ids
from litcascade.corpora.dedup.fold import decode, fold
from litcascade.schemas import PublicationStatus as Status


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("10.5555/D04.A", "10.5555/d04.a"),
        ("https://doi.org/10.5555/d04.a", "10.5555/d04.a"),
        ("http://dx.doi.org/10.5555/d04.a ", "10.5555/d04.a"),
        ("doi:10.5555/d04.a", "10.5555/d04.a"),
        ("10.5555/d04.a.", "10.5555/d04.a"),
        ("10.5555/d04{\\_}a", "10.5555/d04_a"),
        ("10.5555%2Fd04.a", "10.5555/d04.a"),
        ("10.1016/0140-6736(91)", "10.1016/0140-6736(91)"),
        ("(10.1016/0140-6736(91))", "10.1016/0140-6736(91)"),
        (
            "10.1002/(SICI)1097-0258(19980815/30)17:15/16&lt;1661::AID-SIM968&gt;3.0.CO;2-2",
            "10.1002/(sici)1097-0258(19980815/30)17:15/16<1661::aid-sim968>3.0.co;2-2",
        ),
        ("https://example.org/doi/10.5555/abc.123/full?login=true", "10.5555/abc.123"),
        ("10.5555/one; 10.5555/two", "10.5555/one"),
        *[(nothing, None) for nothing in ("", "NA", "nan", "-", "None", "0", None, "10.17705/", "10.5555/-.", "no doi")],
    ],
)
def test_a_doi_has_one_spelling(given: str | None, right: str | None) -> None:
    assert normal_doi(given) == right


@given(st.text(max_size=40))
def test_a_normal_doi_stays_as_it_is(text: str) -> None:
    doi = normal_doi("10.5555/" + text)
    assert doi is None or normal_doi(doi) == doi


@pytest.mark.parametrize(
    ("given", "right"),
    [
        ("12345678", "12345678"),
        ("PMID: 0012", "12"),
        ("123.0", "123"),
        ("https://pubmed.ncbi.nlm.nih.gov/12345679/", "12345679"),
        *[
            (nothing, None)
            for nothing in ("", "0", "000", "NA", "-", None, "L612345678", "2004012345", "CN-01234567", "WOS:0001")
        ],
    ],
)
def test_a_pmid_has_one_spelling(given: str | None, right: str | None) -> None:
    assert normal_pmid(given) == right


@pytest.mark.parametrize(
    ("given", "right"),
    [("PMC123", "PMC123"), ("123", "PMC123"), ("PMC 0123.1", "PMC123"), ("0", None), ("", None), ("nan", None)],
)
def test_a_pmcid_has_one_spelling(given: str, right: str | None) -> None:
    assert normal_pmcid(given) == right


def test_register_numbers_are_found_in_any_dress() -> None:
    text = "Registered as NCT 01234567 and ISRCTN12345678 (EudraCT number 2009-012345-12)."
    assert trial_ids(text) == {"NCT01234567", "ISRCTN12345678", "EUDRACT2009-012345-12"}
    assert trial_ids("NCTs are many; 12345678 is a PMID") == frozenset()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Alcohol & driving: <10% risk in Kraków", "ALCOHOL AND DRIVING: <10% RISK IN KRAKOW."),
        ("Alcohol &amp; driving", "Alcohol &Amp; driving"),
        ("Krak&amp;oacute;w", "krakow"),
        ("Ménière’s disease", "Meniere's disease"),
        ("TGF-β in Sjögren", "tgf beta in sjogren"),
        ("<i>In vitro</i> study", "In vitro study"),
        ("Ærø, Łódź and Đakovo", "AERO, LODZ AND DAKOVO"),
        ("Straße", "STRASSE"),
    ],
)
def test_dress_is_folded_away(one: str, other: str) -> None:
    assert fold(one) == fold(other)


@pytest.mark.parametrize("title", ["针灸治疗慢性疼痛", "Лечение боли", "علاج الألم", "दर्द का उपचार", "통증 치료", "การรักษา"])
def test_no_script_folds_to_nothing(title: str) -> None:
    assert len(fold(title).replace(" ", "")) >= 5


def test_vowel_signs_of_indic_scripts_are_kept() -> None:
    assert fold("कल") != fold("काल")


def test_a_comparison_is_no_markup() -> None:
    assert decode("p &lt; 0.05 <b>and</b> 3 < 4 > 2") == "p < 0.05 and 3 < 4 > 2"


@pytest.mark.parametrize(
    ("title", "kind", "right"),
    [
        ("RETRACTED: Zinc cures everything", "Journal Article", Status.RETRACTED),
        ("Zinc cures everything", "Journal Article; Retracted Publication", Status.RETRACTED),
        ("[WITHDRAWN] Steam inhalation", None, Status.RETRACTED),
        ("RETRACTED ARTICLE: Zinc", None, Status.RETRACTED),
        ("Zinc cures (Retracted article. See vol. 3, pg 2, 2010)", None, Status.RETRACTED),
        ("Retraction: Zinc cures everything", None, Status.RETRACTION_NOTICE),
        ('Retraction notice to "Zinc cures everything" [J Ex 3 (2010) 4]', None, Status.RETRACTION_NOTICE),
        ("Zinc cures everything", "Retraction of Publication", Status.RETRACTION_NOTICE),
        ("Erratum to: Honey in children", "Published Erratum", Status.ERRATUM),
        ("Correction to: Honey in children", None, Status.ERRATUM),
        ("Author Correction: Honey in children", None, Status.ERRATUM),
        ("Honey in children (vol 4, pg 1, 2004)", None, Status.ERRATUM),
        ("Erratum", None, Status.ERRATUM),
        ("Expression of concern: Salt rinses", None, Status.CONCERN),
        ("Retraction of papers in cardiology: a survey", "Journal Article", None),
        ("Retracted publications in oncology", None, None),
        ("Withdrawal of life support: a review", None, None),
        ("Withdrawn children: a cohort", None, None),
        ("Correction of myopia: a trial", None, None),
        ("Expression of concern in nurses", None, None),
        ("Corrections in prison health", None, None),
        (None, None, None),
        ("", "", None),
    ],
)
def test_statuses_are_told_from_type_and_anchored_title(title: str | None, kind: str | None, right: Status | None) -> None:
    assert publication_status(title, kind) is right
