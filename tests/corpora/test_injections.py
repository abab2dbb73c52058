from pathlib import Path

import pytest

from litcascade.corpora.texts import read_document
from litcascade.schemas import Document, Flag, FlagKind
from litcascade.schemas.document import STEERING
from litcascade.schemas.steering import clean, document_steering, steering_flags
from tests.support.injections import CARRIERS, PLACES, Case, Paper, case, papers, payloads, suite

SUITE = {one.name: one for one in suite()}
NEVER_TEXT = ("comment", "processing instruction", "document information")


def read(one: Case, folder: Path) -> tuple[str, list[Flag]]:
    """What a model would be shown of a case, and all flags of it."""
    if isinstance(one.content, str):
        shown, flags = clean(one.content)
        return shown, [*flags, *steering_flags(one.content)]
    path = folder / f"paper{one.ending}"
    path.write_bytes(one.content)
    document = read_document(path)
    assert document.readable
    return document.text(), [*document.flags, *document_steering(document)]


def said(text: str, payload: str) -> bool:
    return " ".join(payload.split())[:24] in " ".join(text.split())


def test_the_suite_has_every_kind_in_every_carrier() -> None:
    first = {(one.kind, one.carrier) for one in SUITE.values() if one.number == 0}
    assert len(payloads()) >= 12
    assert first == {(kind, carrier) for kind in payloads() for carrier in CARRIERS}
    assert len(SUITE) == len(suite()) >= 60
    used = {(one.carrier, one.place) for one in SUITE.values()}
    assert used == {(carrier, place) for carrier in CARRIERS for place in PLACES[carrier]}
    assert all(not one.paper.meets for one in SUITE.values())


@pytest.mark.parametrize("name", SUITE)
def test_every_injection_is_flagged_or_not_shown(name: str, tmp_path: Path) -> None:
    one = SUITE[name]
    shown, flags = read(one, tmp_path)
    kinds = {flag.kind for flag in flags}
    if one.seen:
        assert FlagKind.INSTRUCTIONS in kinds
    else:
        assert not said(shown, one.payload)
        assert kinds.intersection(STEERING) or one.place in NEVER_TEXT or one.kind == "encoded"


@pytest.mark.parametrize("place", [place for place, (seen, _) in PLACES["pdf"].items() if not seen])
def test_the_words_of_the_page_stay_when_hidden_ones_go(place: str, tmp_path: Path) -> None:
    paper = papers(meets=False)[0]
    shown, _ = read(case("verdict", "pdf", place, paper, payloads()["verdict"][0]), tmp_path)
    assert said(shown, paper.results)
    assert said(shown, paper.abstract)


@pytest.mark.parametrize("paper", papers(), ids=lambda paper: paper.id)
def test_the_papers_themselves_have_no_finding(paper: Paper) -> None:
    for text in (paper.title, paper.abstract, paper.methods, paper.results):
        assert steering_flags(text) == ()
        assert clean(text) == (text, ())


def test_real_full_texts_have_no_strong_finding(corpora: Path) -> None:
    paths = sorted((corpora / "rct_numeric" / "full_text_jats").glob("*.gz"))[:20]
    found = [flag for path in paths for flag in document_steering(read_document(path)) if flag.kind is FlagKind.INSTRUCTIONS]
    assert len(paths) == 20
    assert found == []


def test_a_document_without_words_has_no_flags() -> None:
    assert document_steering(Document(document_id="d", record_id="r", path="d.xml", format="tei")) == ()
