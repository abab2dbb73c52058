import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from litcascade.corpora.texts import read_document
from litcascade.corpora.texts.quality import guess_language, quality_flags, repaired_words
from litcascade.schemas import Document, Flag, FlagKind, Section

SOUND = (
    "The first findings confirm that zinc is effective and that the difference is significant (p < 0.05; 95% CI −1.2 to −0.4). "
    "We defined efficacy as the difference in pain, and staff identified all participants who suffered from influenza. "
    "Sufficient data on five specific outcomes were classified by two officers. Benefits differed, and the profile was different. "
)
NAMES = {"ligatures_lost": FlagKind.LIGATURES, "symbols_lost": FlagKind.SIGNS, "replacement_chars": FlagKind.ENCODING}


def document(*texts: str, kind: str = "text", page: int | None = None) -> Document:
    sections = tuple(Section(heading=None, text=text, page=page) for text in texts)
    return Document(document_id="d", record_id="r", path="d", format=kind, sections=sections)


def flags(*texts: str, kind: str = "text", page: int | None = None) -> dict[FlagKind, Flag]:
    return {flag.kind: flag for flag in quality_flags(document(*texts, kind=kind, page=page))}


def test_the_case_of_damaged_characters(cases: Path) -> None:
    folder = cases / "G05-damaged-characters"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    bad, good = ((folder / f"text_{name}.txt").read_text(encoding="utf-8") for name in ("bad", "good"))
    assert {NAMES[name] for name in expected["text_bad"]["flags"]} <= set(flags(bad))
    assert set(expected["text_bad"]["auto_fixed"]) <= {word for _, word in repaired_words(bad)}
    assert flags(good) == {}
    assert repaired_words(good) == ()
    assert document(bad).text() == bad


def test_a_sound_text_has_no_flags() -> None:
    assert flags(SOUND * 3) == {}


LIGATURE = re.compile("ffi|ffl|ff|fi|fl")
DAMAGE: dict[str, Callable[[str], str]] = {
    "dropped": lambda text: LIGATURE.sub("", text),
    "a blank instead": lambda text: LIGATURE.sub(" ", text),
    "one letter left": lambda text: LIGATURE.sub("f", text),
    "a box instead": lambda text: LIGATURE.sub("□", text),
    "a question mark instead": lambda text: LIGATURE.sub("?", text),
    "a blank behind": lambda text: LIGATURE.sub(lambda match: match.group() + " ", text),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_lost_ligatures_are_told_and_mended(damage: str) -> None:
    text = DAMAGE[damage](SOUND * 3)
    flag = flags(text)[FlagKind.LIGATURES]
    assert flag.count >= 6
    assert flag.quote
    assert flag.quote in text
    mended = {word for _, word in repaired_words(text)}
    assert {"difference", "significant", "efficacy", "identified"} <= mended


def test_mended_words_come_once_and_in_order_with_joined_and_parted_ones() -> None:
    text = "An eﬀect, a defnition, the effi cacy, an eﬀect and the inter-\nvention of long-\nterm care; flow and offer."
    assert repaired_words(text) == (
        ("eﬀect", "effect"),
        ("defnition", "definition"),
        ("effi cacy", "efficacy"),
        ("inter-\nvention", "intervention"),
    )


def test_words_that_only_look_damaged_are_left() -> None:
    text = "He was tracking inpatients in RST for a fee of ten; the off ice rink, the Oficial and her fame are no damage. "
    assert FlagKind.LIGATURES not in flags(text * 4)
    assert FlagKind.GLUED not in flags(text * 4)


def test_one_slip_in_a_long_text_is_no_damage() -> None:
    assert FlagKind.LIGATURES not in flags(SOUND * 12 + "A defnition.")
    assert FlagKind.LIGATURES in flags(SOUND * 12 + "A defnition of efect.")


@pytest.mark.parametrize(
    "words",
    [
        "Pain was less (p 0.05).",
        "Pain was less (P .001).",
        "The ratio was 0.8 (95% CI 0.71 1.02).",
        "The ratio was 0.8 (95% CI 0.711.02).",
        "The difference was 0.8 (95% CI 1.2 to 0.4).",
        "There were \ufffd30 patients.",
        "There were (cid:12)30 patients.",
        "Pain was less (P ¼ 0.03).",
        "Pain was less (PϽ0.05).",
        "The change was À0.5 points.",
    ],
)
def test_lost_signs_are_told(words: str) -> None:
    assert flags(words)[FlagKind.SIGNS].quote
    assert FlagKind.SIGNS not in flags(SOUND * 12 + words)
    assert FlagKind.SIGNS in flags(SOUND * 12 + words + words)


@pytest.mark.parametrize(
    "words",
    [
        "Pain was less (p < 0.05, P = .001, p-value 0.05, p 5).",
        "The ratio was 0.8 (95% CI 0.71 to 1.02; CI 0.71–1.02; CI, −1.2, −0.4; 95% CI −0.4 to 0.2).",
        "Half (½) or a quarter (¼) of 30 patients; the CI is wide, from 12 to 3 days. À 3 mois.",
        "Group P 1 and version 2.1.3 (95% CI 12% to 8%).",
    ],
)
def test_sound_numbers_are_left(words: str) -> None:
    assert FlagKind.SIGNS not in flags(words)


@pytest.mark.parametrize("words", ["caf\ufffd", "donâ€™t", "cafÃ©", "5 Â±2", "zinc (cid:12)", "zinc\x02", "zinc \uf0b7"])
def test_garbled_characters_are_told_with_their_place(words: str) -> None:
    flag = flags("Zinc.", f"Zinc. {words}", page=4)[FlagKind.ENCODING]
    assert (flag.count, flag.page) == (1, 4)
    assert flag.quote
    assert flag.quote.isprintable()


@pytest.mark.parametrize("words", ["café à la São Paulo", "NAÇÃO Âge", "± µ ° × ≤ − “quoted”", "naïve Ångström"])
def test_letters_with_accents_are_no_damage(words: str) -> None:
    assert flags(words) == {}


def test_glued_words_are_told() -> None:
    assert FlagKind.GLUED in flags("The effect ofthe zinc inthe group andthe placebo wasthe same. " * 2)
    assert FlagKind.GLUED in flags(
        "Zinc helped.The others did not.They had pain.Nobody died.Zinc was good.All were well.Then they left."
    )
    assert FlagKind.GLUED not in flags("Zinc helped. The others did not. See www.Example.Org for more. " * 3)
    assert FlagKind.GLUED not in flags("Dichlorodiphenyltrichloroethane was found. " * 9)
    assert FlagKind.GLUED not in flags("ACGT" * 60 + " https://example.org/" + "a" * 120)


ELSEWHERE = {
    "German": "Die Studie wurde mit 40 Patienten durchgeführt, und die Ergebnisse sind nicht auf den Einfluss der Therapie zurückzuführen. ",
    "French": "Les patients ont été suivis pendant deux ans dans une étude qui est décrite par les auteurs pour la première fois en France. ",
    "Spanish": "Los pacientes fueron seguidos durante dos años en el estudio que se describe por primera vez y no se han visto los efectos. ",
    "Portuguese": "Os pacientes foram seguidos por dois anos em um estudo que não foi descrito até agora, e os resultados são bons para uma criança. ",
    "Italian": "I pazienti sono stati seguiti per due anni nello studio che è descritto per la prima volta e gli effetti non si sono visti nel gruppo. ",
    "Dutch": "De patiënten werden twee jaar gevolgd in een onderzoek dat voor het eerst is beschreven, en de effecten van de zorg zijn niet bekend. ",
    "Polish": "Pacjenci byli obserwowani przez dwa lata w badaniu, które nie jest opisane, a wyniki są dobre dla chorych oraz do oceny się nadają. ",
    "Swedish": "Patienterna har följts i två år och resultaten är inte kända, men det var en studie som vid start hade ett mål för att se om vård hjälper. ",
    "Turkish": "Bu çalışmada hastaların iki yıl boyunca izlendiği ve bir tedavi ile daha iyi olduğu görüldü, ancak sonuçlar için çok veri olarak yok. ",
    "Russian or another language in Cyrillic letters": "Пациенты наблюдались в течение двух лет, и результаты лечения не были известны до конца этого исследования. ",
    "Chinese": "本研究观察了四十名患者两年的治疗效果结果表明治疗组与对照组之间没有差异需要进一步研究",
    "Japanese": "この研究では四十人の患者を二年間観察しましたが、治療の効果は認められませんでした。",
    "Korean": "이 연구에서는 환자 사십 명을 이 년 동안 관찰하였으나 치료의 효과는 나타나지 않았다. ",
}


@pytest.mark.parametrize("language", ELSEWHERE)
def test_other_languages_are_named_from_enough_text_only(language: str) -> None:
    text = ELSEWHERE[language] * 8
    assert guess_language(text) == language
    assert language in flags(text)[FlagKind.LANGUAGE].detail
    assert FlagKind.LANGUAGE not in flags(ELSEWHERE[language][:90])
    assert FlagKind.LIGATURES not in flags(text)


def test_english_with_an_abstract_in_another_language_is_english() -> None:
    assert guess_language(SOUND * 6 + ELSEWHERE["Spanish"]) == "English"
    assert guess_language(SOUND) is None
    assert guess_language("12 34 56 " * 400) is None


def test_little_text_is_told_by_page_or_by_article() -> None:
    pages = tuple(Section(heading=None, text="Title and logo of a repository.", page=number) for number in (1, 2, 3))
    thin = document().model_copy(update={"sections": pages, "format": "pdf"})
    (flag,) = quality_flags(thin)
    assert flag.kind is FlagKind.SHORT
    assert "characters a page" in flag.detail
    assert FlagKind.SHORT in flags("Thank you", kind="tei")
    assert FlagKind.SHORT not in flags("Thank you", kind="text")
    assert FlagKind.SHORT not in flags(SOUND * 4, kind="tei")
    assert flags(" ") == {}


def test_the_place_is_the_page_of_the_first_hit() -> None:
    section = Section(heading=None, text=SOUND * 3 + "A defnition of efect.", page=1, pages=((3 * len(SOUND), 2),))
    found = quality_flags(document().model_copy(update={"sections": (section,)}))
    assert [(flag.kind, flag.page, flag.count) for flag in found] == [(FlagKind.LIGATURES, 2, 2)]


def test_sound_full_texts_have_almost_no_flag_of_damage(corpora: Path) -> None:
    paths = [
        *sorted((corpora / "rct_numeric" / "full_text_jats").glob("*.gz")),
        *sorted((corpora / "full_text" / "jats").glob("*ml")),
    ]
    documents = [read for path in paths if (read := read_document(path)).readable]
    damage = {FlagKind.LIGATURES, FlagKind.SIGNS, FlagKind.GLUED, FlagKind.ENCODING}
    damaged = [read.path for read in documents if damage & {flag.kind for flag in quality_flags(read)}]
    assert len(documents) > 60
    assert len(damaged) <= len(documents) * 0.05
