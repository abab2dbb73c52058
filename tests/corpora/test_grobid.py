"""GROBID against a local server that misbehaves as told, and against a real one where GROBID_URL names it."""

import asyncio
import gzip
import json
import logging
import os
import random
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.corpora.texts import read_document
from litcascade.corpora.texts.grobid import (
    Fault,
    FaultKind,
    GrobidServer,
    Patience,
    Progress,
    Tei,
    TeiFolder,
    read_with_grobid,
    tei_fault,
)
from litcascade.errors import BackendError, InputError, MissingExtraError
from litcascade.schemas import Document, DocumentState, FlagKind
from tests.conftest import need
from tests.support.grobid_server import XML, Asked, LocalGrobid, Say, pdf_of, tei_of

PAGE = "<html><title>Error 503 Service Unavailable</title></html>"
SHORT = Patience(tries=5, pause=0.001, longest=0.02, rng=random.Random(1))


@pytest.fixture
def local() -> Iterator[LocalGrobid]:
    with LocalGrobid() as running:
        yield running


def real_url() -> str:
    """The address of a real server; skips where there is none."""
    url = os.environ.get("GROBID_URL", "")
    need("grobid", bool(url), "no real server to test against: set GROBID_URL to the address of one")
    return url


@pytest.fixture(params=["local", "real"])
def any_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The address of the local server, and of the real one."""
    if request.param == "real":
        yield real_url()
        return
    with LocalGrobid() as running:
        yield running.url


def put(folder: Path, *names: str) -> list[Path]:
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.pdf" for name in names]
    for path in paths:
        path.write_bytes(pdf_of(f"Zinc for colds, {path.stem}", "Forty adults took zinc."))
    return paths


def quick(url: str, **options: Any) -> GrobidServer:
    return GrobidServer(url, **({"patience": SHORT} | options))


def parse(
    server: GrobidServer, paths: list[Path], cache: Path, progress: Callable[[Progress], None] | None = None
) -> list[tuple[Path, Tei | Fault]]:
    async def all_of_them() -> list[tuple[Path, Tei | Fault]]:
        return [pair async for pair in server.parse(paths, TeiFolder(cache), progress)]

    return asyncio.run(all_of_them())


def parse_one(server: GrobidServer, path: Path, cache: Path) -> Tei | Fault:
    ((_, outcome),) = parse(server, [path], cache)
    return outcome


def read_all(server: GrobidServer, paths: list[Path], cache: Path) -> dict[Path, Document | Fault]:
    async def all_of_them() -> dict[Path, Document | Fault]:
        return {path: found async for path, found in read_with_grobid(paths, server, cache)}

    return asyncio.run(all_of_them())


def read_one(server: GrobidServer, path: Path, cache: Path) -> Document:
    found = read_all(server, [path], cache)[path]
    assert isinstance(found, Document), found
    return found


def fault_of(outcome: Tei | Fault) -> Fault:
    assert isinstance(outcome, Fault), outcome
    return outcome


def texts_in(cache: Path) -> list[str]:
    """The names of all files in the cache, hidden ones too."""
    return sorted(path.name for path in cache.rglob("*")) if cache.exists() else []


# what a well-behaved server gives, local or real


def test_a_pdf_becomes_a_document_with_its_parser(any_url: str, tmp_path: Path) -> None:
    (path,) = put(tmp_path / "in", "a")
    server = GrobidServer(any_url)
    version = asyncio.run(server.version())
    document = read_one(server, path, tmp_path / "cache")
    assert document.parser == f"GROBID {version.version}"
    assert document.document_id == read_document(path).document_id
    assert (document.format, document.path) == ("pdf", "a.pdf")
    assert document.state in (DocumentState.PARSED, DocumentState.WARNED, DocumentState.EMPTY)


def test_a_second_run_takes_everything_from_the_cache(any_url: str, tmp_path: Path) -> None:
    paths = put(tmp_path / "in", "a", "b")
    server = GrobidServer(any_url)
    first = dict(parse(server, paths, tmp_path / "cache"))
    again = dict(parse(server, paths, tmp_path / "cache"))
    for path in paths:
        before, after = first[path], again[path]
        assert isinstance(before, Tei)
        assert isinstance(after, Tei)
        assert (before.raw, before.version, before.kept, after.kept) == (after.raw, after.version, False, True)


def test_a_real_server_tells_a_broken_pdf_from_a_good_one(tmp_path: Path) -> None:
    url = real_url()
    (good,) = put(tmp_path / "in", "a")
    bad = tmp_path / "in" / "bad.pdf"
    bad.write_bytes(b"%PDF-1.4\nnothing of a PDF follows\n%%EOF\n")
    found = read_all(GrobidServer(url), [good, bad], tmp_path / "cache")
    broken = found[bad]
    assert isinstance(broken, Document)
    assert not broken.readable
    assert broken.note


def test_a_server_is_told_to_be_alive(any_url: str) -> None:
    assert asyncio.run(GrobidServer(any_url).alive())


# the request


def test_the_header_is_never_looked_up_but_by_doi(local: LocalGrobid, tmp_path: Path, cases: Path) -> None:
    case = json.loads((cases / "G04-wrong-header-consolidation" / "expected.json").read_text(encoding="utf-8"))
    assert case["default"] == "header consolidation off, or by exact DOI only"
    (path,) = put(tmp_path, "a")
    for consolidate, field in ((False, "0"), (True, "3")):
        parse(quick(local.url, consolidate=consolidate), [path], tmp_path / f"cache{field}")
        assert local.asked[-1].fields["consolidateHeader"] == [field]
        assert not {"consolidateCitations", "consolidateFunders"} & set(local.asked[-1].fields)


def test_coordinates_and_sentences_are_asked_for_as_told(local: LocalGrobid, tmp_path: Path) -> None:
    (path,) = put(tmp_path, "a")
    parse(quick(local.url), [path], tmp_path / "1")
    assert {"head", "p", "figure", "note"} <= set(local.asked[-1].fields["teiCoordinates"])
    assert "segmentSentences" not in local.asked[-1].fields
    parse(quick(local.url, coordinates=("s",), sentences=True), [path], tmp_path / "1")
    assert (local.asked[-1].fields["teiCoordinates"], local.asked[-1].fields["segmentSentences"]) == (["s"], ["1"])
    parse(quick(local.url, coordinates=False), [path], tmp_path / "1")
    assert "teiCoordinates" not in local.asked[-1].fields
    assert len(local.asked) == 3  # other options, other texts


def test_the_form_is_that_of_the_python_client(local: LocalGrobid, tmp_path: Path) -> None:
    from grobid_client.grobid_client import GrobidClient

    (path,) = put(tmp_path, "a")
    parse(quick(local.url, coordinates=("head", "p"), sentences=True), [path], tmp_path / "cache")
    client = GrobidClient(local.url, coordinates=["head", "p"], check_server=False)
    client.process_pdf(
        "processFulltextDocument", str(path), consolidate_header=False, tei_coordinates=True, segment_sentences=True
    )
    ours, theirs = local.asked
    assert ours.pdf == theirs.pdf
    assert ours.fields == theirs.fields | {"consolidateHeader": ["0"]}


# a busy server


def test_a_busy_server_is_asked_less_and_later_until_all_is_parsed(local: LocalGrobid, tmp_path: Path) -> None:
    local.engines = 1
    local.answer = Say(delay=0.02)
    seen: list[Progress] = []
    paths = put(tmp_path / "in", *"abcdefghij")
    patient = Patience(tries=50, pause=0.01, longest=0.05, rng=random.Random(3))
    results = parse(quick(local.url, concurrency=6, patience=patient), paths, tmp_path / "cache", seen.append)
    assert sorted(path for path, outcome in results if isinstance(outcome, Tei)) == paths
    assert local.turned_away > 0
    assert min(progress.at_once for progress in seen) <= 3
    assert (seen[-1].done, seen[-1].total, seen[-1].parsed, seen[-1].faults) == (10, 10, 10, 0)


def test_no_more_requests_at_once_than_allowed_and_as_many_where_the_server_can(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say(delay=0.4)
    seen: list[Progress] = []
    parse(quick(local.url, concurrency=3), put(tmp_path / "in", *"abcdef"), tmp_path / "cache", seen.append)
    assert local.most_at_once == 3
    assert {progress.at_once for progress in seen} == {3}


def test_a_server_that_was_busy_is_given_more_again(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = lambda asked: Say(status=503) if asked.number < 3 else Say()
    seen: list[Progress] = []
    parse(quick(local.url, concurrency=4), put(tmp_path / "in", *"abcdefghijklmnop"), tmp_path / "cache", seen.append)
    assert min(progress.at_once for progress in seen) < 4
    assert seen[-1].at_once == 4


def waits(into: list[float]) -> Callable[[float], Awaitable[None]]:
    async def sleep(seconds: float) -> None:
        into.append(seconds)

    return sleep


def test_the_wait_that_the_server_asks_for_is_kept(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = lambda asked: Say(status=503, headers={"Retry-After": "7"}) if asked.number == 0 else Say()
    waited: list[float] = []
    patience = Patience(pause=0.5, rng=random.Random(1), sleep=waits(waited))
    assert isinstance(parse_one(quick(local.url, patience=patience), put(tmp_path, "a")[0], tmp_path / "cache"), Tei)
    assert len(waited) == 1
    assert waited[0] >= 7


def test_a_server_that_asks_for_too_long_a_wait_is_left_for_the_next_run(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say(status=503, headers={"Retry-After": "3600"})
    fault = fault_of(parse_one(quick(local.url), put(tmp_path, "a")[0], tmp_path / "cache"))
    assert (fault.kind, fault.state, len(local.asked)) == (FaultKind.WAITING, None, 1)
    assert "come back in 3600 seconds" in fault.why


@given(attempt=st.integers(0, 60), asked=st.none() | st.floats(0, 60), seed=st.integers(0, 99))
def test_pauses_grow_to_their_limit_and_never_undercut_what_was_asked(attempt: int, asked: float | None, seed: int) -> None:
    patience = Patience(pause=1, longest=60, rng=random.Random(seed))
    seconds = patience.seconds(attempt, asked)
    assert seconds is not None
    assert seconds >= (asked or 0)
    assert min(60, 2.0**attempt) / 2 <= seconds <= max(min(60, 2.0**attempt), (asked or 0) + 6)
    assert patience.seconds(attempt, 61) is None


def test_a_server_that_stays_busy_leaves_the_text_to_the_next_run(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say(PAGE, status=503, kind="text/html")
    (path,) = put(tmp_path, "a")
    fault = fault_of(parse_one(quick(local.url), path, tmp_path / "cache"))
    assert (fault.kind, fault.why) == (FaultKind.WAITING, "the server is busy (HTTP 503) (asked 5 times)")
    assert texts_in(tmp_path / "cache") == []
    local.answer = Say()
    assert isinstance(parse_one(quick(local.url), path, tmp_path / "cache"), Tei)


# a server that dies or does not answer


def test_a_lost_connection_is_tried_again(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = lambda asked: Say(abort=True) if asked.number < 2 else Say()
    assert isinstance(parse_one(quick(local.url), put(tmp_path, "a")[0], tmp_path / "cache"), Tei)
    assert len(local.asked) == 3


def test_a_pdf_that_kills_the_server_takes_no_other_with_it(local: LocalGrobid, tmp_path: Path) -> None:
    paths = put(tmp_path / "in", *"abcd")
    poison = paths[1].read_bytes()
    local.answer = lambda asked: Say(abort=asked.pdf == poison)
    results = dict(parse(quick(local.url), paths, tmp_path / "cache"))
    assert fault_of(results[paths[1]]).kind is FaultKind.WAITING
    assert all(isinstance(results[path], Tei) for path in paths if path != paths[1])
    asked = len(local.asked)
    local.answer = Say()
    again = dict(parse(quick(local.url), paths, tmp_path / "cache"))
    assert len(local.asked) == asked + 1
    assert all(isinstance(outcome, Tei) for outcome in again.values())


def test_a_server_that_is_gone_leaves_all_the_rest_to_the_next_run(local: LocalGrobid, tmp_path: Path) -> None:
    def dying(asked: Asked) -> Say:
        local.up = asked.number < 3
        return Say(abort=not local.up)

    local.answer = dying
    paths = put(tmp_path / "in", *"abcdefghijkl")
    seen: list[Progress] = []
    results = parse(quick(local.url, concurrency=2), paths, tmp_path / "cache", seen.append)
    waiting = [fault_of(outcome) for _, outcome in results if isinstance(outcome, Fault)]
    assert sorted(path for path, _ in results) == paths
    assert (len(waiting), {fault.kind for fault in waiting}) == (9, {FaultKind.WAITING})
    assert any("the server is gone" in fault.why for fault in waiting)
    assert (seen[-1].parsed, seen[-1].waiting, seen[-1].done) == (3, 9, 12)
    assert len(local.asked) <= 3 + 2 * SHORT.tries  # only those under way were tried to the end


def test_the_port_closing_in_the_middle_is_a_server_gone(local: LocalGrobid, tmp_path: Path) -> None:
    paths = put(tmp_path / "in", *"abcdef")

    async def stopping() -> list[Tei | Fault]:
        outcomes: list[Tei | Fault] = []
        async for _, outcome in quick(local.url, concurrency=1).parse(paths, TeiFolder(tmp_path / "cache")):
            outcomes.append(outcome)
            if len(outcomes) == 2:
                await asyncio.to_thread(local.stop)
        return outcomes

    outcomes = asyncio.run(stopping())
    assert [isinstance(outcome, Tei) for outcome in outcomes[:2]] == [True, True]
    assert len(outcomes) == 6
    assert all(fault_of(outcome).kind is FaultKind.WAITING for outcome in outcomes[3:])


def test_a_time_out_is_tried_once_more(local: LocalGrobid, tmp_path: Path) -> None:
    (path,) = put(tmp_path, "a")
    local.answer = lambda asked: Say(delay=20 if asked.number == 0 else 0)
    assert isinstance(parse_one(quick(local.url, timeout=1.5), path, tmp_path / "1"), Tei)
    local.answer = Say(delay=5)
    fault = fault_of(parse_one(quick(local.url, timeout=0.2), path, tmp_path / "2"))
    assert (fault.kind, fault.why) == (FaultKind.TIMEOUT, "the server did not answer in time (asked 2 times)")
    assert len(local.asked) == 4


def test_an_answer_that_drips_is_given_up_in_time(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say(drip=0.01)
    assert fault_of(parse_one(quick(local.url, timeout=0.3), put(tmp_path, "a")[0], tmp_path / "cache")).kind is FaultKind.TIMEOUT


# what is no text is never stored

NO_TEXTS = {
    "a web page": Say(PAGE, kind="text/html"),
    "a web page said to be XML": Say(PAGE, kind=XML),
    "TEI that ends early": Say('<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><div><p>Forty adu'),
    "nothing": Say(""),
    "other XML": Say("<error>[GENERAL] no engine</error>"),
    "TEI as text": Say(kind="text/plain"),
    "TEI as nothing": Say(kind=None),
    "the TEI of another PDF": Say(tei_of(b"%PDF another")),
    "a broken line": Say(cut=300),
}


@pytest.mark.parametrize("bad", NO_TEXTS.values(), ids=NO_TEXTS.keys())
def test_what_is_no_text_is_asked_for_again_and_never_kept(local: LocalGrobid, tmp_path: Path, bad: Say) -> None:
    (path,) = put(tmp_path, "a")
    local.answer = bad
    fault = fault_of(parse_one(quick(local.url), path, tmp_path / "cache"))
    assert (fault.kind, fault.state) == (FaultKind.WAITING, None)
    assert texts_in(tmp_path / "cache") == []
    assert len(local.asked) == 3
    local.answer = lambda asked: bad if asked.number == 3 else Say()
    tei = parse_one(quick(local.url), path, tmp_path / "cache")
    assert isinstance(tei, Tei)
    assert tei.raw == tei_of(path.read_bytes()).encode()


def test_no_beginning_of_a_text_is_taken_for_a_text() -> None:
    whole = tei_of(pdf_of("a")).encode()
    assert tei_fault(whole) is None
    end = len(whole.rstrip())
    assert all(fault and fault.cut for fault in (tei_fault(whole[:length]) for length in range(end)))


def test_whole_xml_that_is_not_well_formed_is_the_parsers_failure(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say('<TEI xmlns="http://www.tei-c.org/ns/1.0"><text><body><p>a\x01b</p></body></text></TEI>')
    (path,) = put(tmp_path, "a")
    document = read_one(quick(local.url), path, tmp_path / "cache")
    assert (document.state, document.parser.split()[0]) == (DocumentState.WARNED, "pypdfium2")
    assert len(local.asked) == 2
    assert texts_in(tmp_path / "cache") == []


# errors


def kinds_of_bodies(body: str) -> dict[str, Say]:
    told = {"type": "org.grobid.Error", "description": f"org.grobid.core.exceptions.GrobidException:{body}", "code": 500}
    return {
        "text": Say(body, kind=XML),
        "json": Say(json.dumps(told), kind="application/json"),
        "xml": Say(f"<error><message>{body}</message></error>", kind=XML),
    }


EXPECTED = {
    "too_large": FaultKind.TOO_LONG,
    "bad_pdf": FaultKind.BROKEN,
    "timeout": FaultKind.TIMEOUT,
    "needs_ocr": FaultKind.SCANNED,
    "no_fulltext": FaultKind.EMPTY,
}


def test_the_errors_of_the_case_become_states(local: LocalGrobid, tmp_path: Path, cases: Path) -> None:
    case = cases / "G02-no-usable-fulltext"
    expected = json.loads((case / "expected.json").read_text(encoding="utf-8"))
    for line in (case / "errors.jsonl").read_text(encoding="utf-8").splitlines():
        error = json.loads(line)
        kind = EXPECTED[expected[error["file"]].partition(":")[0]]
        (path,) = put(tmp_path / "in", Path(error["file"]).stem)
        for name, say in kinds_of_bodies(error["body"]).items():
            say.status = error["status"]
            local.asked.clear()
            local.answer = say
            fault = fault_of(parse_one(quick(local.url), path, tmp_path / "cache"))
            assert (fault.kind, name) == (kind, name)
            assert error["body"] in fault.why or error["status"] == 204
            assert len(local.asked) == (2 if kind is FaultKind.TIMEOUT else 1)
    assert texts_in(tmp_path / "cache") == []


@pytest.mark.parametrize(
    ("status", "body", "kind", "asked"),
    [
        (500, "[TOO_MANY_BLOCKS] Postprocessed document is too big", FaultKind.TOO_LONG, 1),
        (409, "[TOO_MANY_TOKENS] too many", FaultKind.TOO_LONG, 1),
        (400, "[NO_BLOCKS] PDF parsing resulted in empty content", FaultKind.SCANNED, 1),
        (500, "[PDFALTO_CONVERSION_FAILURE] PDF to XML conversion failed", FaultKind.BROKEN, 1),
        (500, "[PDFALTO_CONVERSION_FAILURE] Cannot find pdfalto executable", FaultKind.FAILED, 1),
        (500, "[TAGGING_ERROR] model missing", FaultKind.FAILED, 2),
        (500, "java.lang.OutOfMemoryError", FaultKind.FAILED, 2),
        (500, "", FaultKind.FAILED, 2),
        (413, "<html>too large</html>", FaultKind.FAILED, 1),
        (408, "", FaultKind.TIMEOUT, 2),
        (429, "", FaultKind.WAITING, 5),
        (502, "<html>bad gateway</html>", FaultKind.WAITING, 5),
    ],
)
def test_every_error_has_its_kind(
    local: LocalGrobid, tmp_path: Path, status: int, body: str, kind: FaultKind, asked: int
) -> None:
    local.answer = Say(body, status=status)
    fault = fault_of(parse_one(quick(local.url), put(tmp_path, "a")[0], tmp_path / "cache"))
    assert (fault.kind, len(local.asked)) == (kind, asked)
    assert fault.why
    assert texts_in(tmp_path / "cache") == []


@pytest.mark.parametrize("status", [401, 403, 404, 405])
def test_a_server_that_refuses_is_not_asked_for_every_pdf(local: LocalGrobid, tmp_path: Path, status: int) -> None:
    local.answer = Say("no", status=status, kind="text/plain")
    results = parse(quick(local.url, concurrency=2), put(tmp_path / "in", *"abcdefgh"), tmp_path / "cache")
    assert {fault_of(outcome).kind for _, outcome in results} == {FaultKind.WAITING}
    assert (len(results), len(local.asked) <= 2) == (8, True)


def test_no_content_is_an_empty_document(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say("", status=204, kind=None)
    document = read_one(quick(local.url), put(tmp_path, "a")[0], tmp_path / "cache")
    assert (document.state, document.readable, document.parser) == (DocumentState.EMPTY, False, "GROBID 0.8.2")
    assert document.note == "GROBID found no content in the PDF"


def test_tei_without_text_is_an_empty_document(local: LocalGrobid, tmp_path: Path, cases: Path) -> None:
    scan = (cases / "G02-no-usable-fulltext" / "scan.tei.xml").read_bytes()
    local.answer = Say(scan)
    document = read_one(quick(local.url), put(tmp_path, "a")[0], tmp_path / "cache")
    assert (document.state, document.parser) == (DocumentState.EMPTY, "GROBID 0.8.2")


# where GROBID finally cannot


def test_words_are_read_without_grobid_and_the_document_says_so(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say("[BAD_INPUT_DATA] PDF to XML conversion failed with error code: 1", status=500)
    document = read_one(quick(local.url), put(tmp_path, "a")[0], tmp_path / "cache")
    assert (document.state, document.parser.split()[0]) == (DocumentState.WARNED, "pypdfium2")
    assert "Forty adults took zinc." in document.text()
    guessed = [flag.detail for flag in document.flags if flag.kind is FlagKind.GUESSED]
    assert [detail for detail in guessed if "BAD_INPUT_DATA" in detail]


def test_without_another_parser_the_fault_is_the_state(
    local: LocalGrobid, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pypdfium2", None)
    local.answer = Say("[TIMEOUT] PDF to XML conversion timed out", status=500)
    document = read_one(quick(local.url), put(tmp_path, "a")[0], tmp_path / "cache")
    assert (document.state, document.readable, document.parser) == (DocumentState.BROKEN, False, "GROBID 0.8.2")
    assert document.note is not None
    assert "[TIMEOUT]" in document.note
    assert "litcascade[pdf]" in document.note


def test_what_neither_can_read_says_what_both_said(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say("[BAD_INPUT_DATA] unreadable", status=500)
    path = tmp_path / "a.pdf"
    path.write_bytes(b"%PDF-1.4 and then nothing")
    document = read_one(quick(local.url), path, tmp_path / "cache")
    assert document.state is DocumentState.BROKEN
    assert document.note is not None
    assert document.note.startswith("GROBID: [BAD_INPUT_DATA] unreadable; pypdfium2")


def test_too_long_and_scanned_are_left_to_a_person(local: LocalGrobid, tmp_path: Path) -> None:
    (path,) = put(tmp_path, "a")
    for code, state in (("TOO_MANY_TOKENS", DocumentState.TOO_LONG), ("NO_BLOCKS", DocumentState.SCANNED)):
        local.answer = Say(f"[{code}] words", status=500)
        document = read_one(quick(local.url), path, tmp_path / "cache")
        assert (document.state, document.readable, document.sections) == (state, False, ())


def test_a_text_that_is_not_parsed_yet_is_no_document(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = Say(status=503)
    (path,) = put(tmp_path, "a")
    found = read_all(quick(local.url), [path], tmp_path / "cache")[path]
    assert isinstance(found, Fault)
    assert found.kind is FaultKind.WAITING


def test_a_file_that_changes_while_it_is_parsed_is_asked_for_again(local: LocalGrobid, tmp_path: Path) -> None:
    (path,) = put(tmp_path, "a")

    def changing(_: Asked) -> Say:
        path.write_bytes(pdf_of("another paper"))
        return Say()

    local.answer = changing
    found = read_all(quick(local.url), [path], tmp_path / "cache")[path]
    assert isinstance(found, Fault)
    assert found.why == "the file changed while it was parsed"


# files that are not sent


def test_what_is_no_pdf_is_not_sent(local: LocalGrobid, tmp_path: Path) -> None:
    files = {"empty.pdf": b"", "page.pdf": PAGE.encode(), "torn.pdf.gz": b"\x1f\x8bbroken"}
    for name, raw in files.items():
        (tmp_path / name).write_bytes(raw)
    paths = [*(tmp_path / name for name in files), tmp_path / "missing.pdf", tmp_path]
    found = read_all(quick(local.url), paths, tmp_path / "cache")
    states = {path.name: item.state for path, item in found.items() if isinstance(item, Document)}
    assert states.pop("empty.pdf") is DocumentState.EMPTY
    assert set(states.values()) == {DocumentState.BROKEN}
    assert len(found) == 5
    assert local.asked == []


def test_a_packed_pdf_is_sent_unpacked(local: LocalGrobid, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf.gz"
    path.write_bytes(gzip.compress(pdf_of("a")))
    assert read_one(quick(local.url), path, tmp_path / "cache").state is DocumentState.PARSED
    assert local.asked[0].pdf == pdf_of("a")


def test_the_same_pdf_under_two_names_is_asked_for_once(local: LocalGrobid, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.pdf").write_bytes(pdf_of("one paper"))
    results = parse(quick(local.url), sorted(tmp_path.glob("*.pdf")), tmp_path / "cache")
    assert len(results) == 3
    assert all(isinstance(outcome, Tei) for _, outcome in results)
    assert len(local.asked) == 1


# the cache


def test_files_of_other_tools_are_told_from_texts(local: LocalGrobid, tmp_path: Path, cases: Path) -> None:
    """The server's busy page, an empty file and cut XML, each where a text is kept: with a note beside it and without."""
    case = cases / "G01-grobid-503-as-output"
    paths = put(tmp_path / "in", "doc1", "doc2", "doc3")
    cache = tmp_path / "cache"
    parse(quick(local.url), paths, cache)
    kept = sorted(cache.glob("*.tei.xml"))
    whole = {path.name: path.read_bytes() for path in kept}
    for with_note in (True, False):
        for name, place in zip(("doc1", "doc2", "doc3"), kept, strict=True):
            place.write_bytes((case / "out" / f"{name}.tei.xml").read_bytes())
            if not with_note:
                place.with_name(place.name.removesuffix(".tei.xml") + ".json").unlink()
        asked = len(local.asked)
        parse(quick(local.url), paths, cache)
        assert len(local.asked) == asked + 3
        assert {path.name: path.read_bytes() for path in cache.glob("*.tei.xml")} == whole


def test_the_script_of_the_case_ends_in_a_text(local: LocalGrobid, tmp_path: Path, cases: Path) -> None:
    script = json.loads((cases / "G01-grobid-503-as-output" / "server_script.json").read_text(encoding="utf-8"))
    busy, good = script["replies"]
    local.answer = lambda asked: (
        Say(busy["body"], status=503, kind="text/html") if asked.number < 4 else Say(good["body"], status=good["status"])
    )
    document = read_one(quick(local.url), put(tmp_path, "doc1")[0], tmp_path / "cache")
    assert document.text() == "Real text."
    assert len(local.asked) == 5


def test_a_whole_text_that_is_not_the_one_that_was_kept_is_asked_for_again(local: LocalGrobid, tmp_path: Path) -> None:
    (path,) = put(tmp_path, "a")
    cache = tmp_path / "cache"
    parse(quick(local.url), [path], cache)
    (place,) = cache.glob("*.tei.xml")
    place.write_bytes(tei_of(b"%PDF of another paper").encode())
    tei = parse_one(quick(local.url), path, cache)
    assert isinstance(tei, Tei)
    assert (tei.kept, tei.raw) == (False, tei_of(path.read_bytes()).encode())


def test_a_text_keeps_the_version_that_made_it_and_stands_for_its_family(local: LocalGrobid, tmp_path: Path) -> None:
    (path,) = put(tmp_path, "a")
    cache = tmp_path / "cache"
    parsers = []
    for version in ("0.8.1", "0.8.2-SNAPSHOT", "0.9.0"):
        local.reported = {"version": version}
        parsers.append(read_one(quick(local.url), path, cache).parser)
    assert parsers == ["GROBID 0.8.1", "GROBID 0.8.1", "GROBID 0.9.0"]
    assert len(local.asked) == 2


def test_the_version_of_an_early_server_is_read(local: LocalGrobid) -> None:
    local.reported = "0.5.6"
    assert asyncio.run(quick(local.url).version()).version == "0.5.6"


def test_a_cache_that_cannot_be_written_stops_the_run_with_a_sentence(local: LocalGrobid, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="free space or choose a folder"):
        parse(quick(local.url), put(tmp_path / "in", *"abc"), tmp_path / "file" / "cache")


def test_stopping_leaves_whole_texts_only(local: LocalGrobid, tmp_path: Path) -> None:
    local.answer = lambda asked: Say(drip=0.0005) if asked.number % 2 else Say()
    paths = put(tmp_path / "in", *"abcdefgh")
    cache = tmp_path / "cache"

    async def stopped_early() -> None:
        async with aclosing(quick(local.url, concurrency=4).parse(paths, TeiFolder(cache))) as results:
            async for _ in results:
                return

    async def cancelled() -> None:
        enough = asyncio.Event()

        async def all_of_them() -> None:
            async for _ in quick(local.url, concurrency=4).parse(paths, TeiFolder(cache)):
                enough.set()

        task = asyncio.create_task(all_of_them())
        await enough.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    for stop in (stopped_early, cancelled):
        asyncio.run(stop())
        names = texts_in(cache)
        assert all(tei_fault((cache / name).read_bytes()) is None for name in names if name.endswith(".xml"))
        assert all(name.endswith((".tei.xml", ".json")) for name in names)
    there = {local_pdf for path in cache.glob("*.tei.xml") for local_pdf in paths if path.name in names_of(local_pdf, cache)}
    local.answer = Say()
    asked = len(local.asked)
    results = parse(quick(local.url), paths, cache)
    assert len(local.asked) - asked == len(paths) - len(there)
    assert all(isinstance(outcome, Tei) for _, outcome in results)


def names_of(pdf: Path, cache: Path) -> list[str]:
    """The names in the cache that are of this PDF, by the digest they begin with."""
    digest = read_document(pdf).document_id
    return [path.name for path in cache.glob(f"{digest}*.tei.xml")]


# addresses


def test_no_server_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BackendError, match=r"http://127\.0\.0\.1:9: no GROBID server answers there .* start one"):
        parse(quick("http://127.0.0.1:9/"), put(tmp_path, "a"), tmp_path / "cache")
    assert not asyncio.run(quick("http://127.0.0.1:9").alive())


@pytest.mark.parametrize("said", ["<html>It works!</html>", "", "true"])
def test_a_server_that_is_no_grobid_is_told(local: LocalGrobid, tmp_path: Path, said: str) -> None:
    local.reported = said
    with pytest.raises(BackendError, match="no GROBID server answers there"):
        parse(quick(local.url), put(tmp_path, "a"), tmp_path / "cache")
    assert local.asked == []


def test_a_server_that_is_just_starting_is_waited_for(local: LocalGrobid, tmp_path: Path) -> None:
    version, local.reported = local.reported, "<html>starting</html>"

    async def sleep(_: float) -> None:
        local.reported = version

    patience = Patience(pause=0.001, sleep=sleep)
    assert isinstance(parse_one(quick(local.url, patience=patience), put(tmp_path, "a")[0], tmp_path / "cache"), Tei)


@pytest.mark.parametrize("url", ["localhost:8070", "ftp://localhost", ""])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(InputError, match="give one like http"):
        GrobidServer(url)


def test_numbers_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="must be above 0"):
        GrobidServer(concurrency=0)
    with pytest.raises(InputError, match="must be above 0"):
        GrobidServer(timeout=0)


def test_an_address_may_end_in_api(local: LocalGrobid) -> None:
    assert asyncio.run(quick(f"{local.url}/api/").alive())


def test_without_the_extra_the_command_to_install_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "grobid_client.grobid_client", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'litcascade\[grobid\]'"):
        GrobidServer()


# real texts


def test_real_tei_comes_through_whole(local: LocalGrobid, tmp_path: Path, corpora: Path) -> None:
    folder = corpora / "full_text"
    for name, version in (("WagnerLukyanenkoParEtAl2022", "0.8.2"), ("jner_2016_0129", "0.6.1")):
        raw = (folder / "tei" / f"{name}.tei.xml").read_bytes()
        local.reported = {"version": version}
        local.answer = Say(raw)
        path = folder / "pdf" / f"{name}.pdf"
        document = read_one(quick(local.url), path, tmp_path / "cache")
        assert (document.parser, document.format) == (f"GROBID {version}", "pdf")
        assert len(document.sections) > 5
        assert len(document.references) > 20
        assert read_one(quick(local.url), path, tmp_path / "cache") == document
    assert len(local.asked) == 2


def test_real_tei_is_not_taken_for_that_of_another_pdf(local: LocalGrobid, tmp_path: Path, corpora: Path) -> None:
    raw = (corpora / "full_text" / "tei" / "WagnerLukyanenkoParEtAl2022.tei.xml").read_bytes()
    local.answer = Say(raw)
    fault = fault_of(parse_one(quick(local.url), put(tmp_path, "a")[0], tmp_path / "cache"))
    assert (fault.kind, "another PDF" in fault.why) == (FaultKind.WAITING, True)


# why the exchange of grobid-client-python is not used


@pytest.fixture
def client(local: LocalGrobid) -> Iterator[Any]:
    from grobid_client.grobid_client import GrobidClient

    yield GrobidClient(local.url, sleep_time=0, timeout=1, check_server=False)
    logging.getLogger("grobid_client.grobid_client").handlers.clear()


FULLTEXT = "processFulltextDocument"


def test_the_client_cannot_tell_a_lost_server_from_a_file_that_cannot_be_read(
    local: LocalGrobid, client: Any, tmp_path: Path
) -> None:
    missing = client.process_pdf(FULLTEXT, str(tmp_path / "missing.pdf"))[1]
    local.answer = Say(delay=3)
    slow = client.process_pdf(FULLTEXT, pdf_of("a"))[1]
    local.answer = Say(abort=True)
    dying = client.process_pdf(FULLTEXT, pdf_of("a"))[1]
    assert missing == slow == dying == 400


def test_the_client_asks_a_busy_server_for_ever_and_at_once(local: LocalGrobid, client: Any) -> None:
    local.answer = lambda asked: Say(status=503, headers={"Retry-After": "3600"}) if asked.number < 50 else Say()
    assert client.process_pdf(FULLTEXT, pdf_of("a"))[1] == 200
    assert len(local.asked) == 51


def test_the_client_waits_for_a_dripping_server_beyond_its_time(local: LocalGrobid, client: Any) -> None:
    local.answer = Say("<r>0123456789</r>", drip=0.1)  # 1.7 seconds, the client's time-out is one
    assert client.process_pdf(FULLTEXT, pdf_of("a"))[1] == 200


@pytest.mark.parametrize("page", [PAGE, "<TEI><text><body><p>Forty adu"])
def test_the_client_keeps_what_is_no_text_and_skips_it_afterwards(
    local: LocalGrobid, client: Any, tmp_path: Path, page: str
) -> None:
    put(tmp_path / "in", "a")
    local.answer = Say(page, kind="text/html")
    client.process(FULLTEXT, str(tmp_path / "in"), output=str(tmp_path / "out"), force=False)
    assert (tmp_path / "out" / "a.grobid.tei.xml").read_text() == page
    local.answer = Say()
    client.process(FULLTEXT, str(tmp_path / "in"), output=str(tmp_path / "out"), force=False)
    assert len(local.asked) == 1


def test_the_client_writes_two_pdfs_of_one_name_to_one_file(
    client: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in ("2019", "2020"):
        (tmp_path / "in" / folder).mkdir(parents=True)
        (tmp_path / "in" / folder / "smith.pdf").write_bytes(pdf_of(folder))
    client.process(FULLTEXT, str(tmp_path / "in"), output=str(tmp_path / "out"))
    assert [path.name for path in (tmp_path / "out").rglob("*.xml")] == ["smith.grobid.tei.xml"]
    assert "2 out of 2 files processed" in capsys.readouterr().out


def test_the_client_looks_headers_up_by_default(local: LocalGrobid, client: Any) -> None:
    client.process_pdf(FULLTEXT, pdf_of("a"))
    assert local.asked[-1].fields["consolidateHeader"] == ["1"]
