"""Open-access full texts against a local server that behaves, and misbehaves, as the services do."""

import io
import json
import re
import urllib.parse
import urllib.request
import urllib.response
from collections.abc import Iterator
from email.message import Message
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litcascade.corpora.texts import read_document
from litcascade.corpora.texts.retrieval import BASE_URLS, MANIFEST, SOURCES, Outcome, Wanted, retrieve
from litcascade.corpora.texts.retrieval.asking import Asker, Pace, for_good
from litcascade.corpora.texts.retrieval.guard import Guard, public
from litcascade.errors import InputError
from litcascade.schemas import DocumentState
from litcascade.web import DownloadError, Web
from tests.support.grobid_server import pdf_of
from tests.support.open_access_server import PAGE, Asked, OpenAccessServer, Reply, Work, jats_of

WHO = "person@university.edu"
DOI = "10.5555/z.1"


@pytest.fixture
def server() -> Iterator[OpenAccessServer]:
    with OpenAccessServer() as running:
        yield running


def impatient(waited: list[float] | None = None, *, tries: int = 3, timeout: float = 5.0) -> Web:
    return Web(tries=tries, pause=0.001, timeout=timeout, sleep=(waited if waited is not None else []).append)


def bring(server: OpenAccessServer, folder: Path, *wanted: Wanted, **options: Any) -> list[Outcome]:
    settings: dict[str, Any] = {"email": WHO, "base_urls": server.base_urls, "web": impatient()} | options
    return list(retrieve(wanted, folder, **settings))


def bring_one(server: OpenAccessServer, folder: Path, wanted: Wanted | None = None, **options: Any) -> Outcome:
    (outcome,) = bring(server, folder, wanted or Wanted("r1", DOI), **options)
    return outcome


def manifest(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / MANIFEST).read_text(encoding="utf-8").splitlines()]


def files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.name != MANIFEST)


# what each source brings


def test_unpaywall_brings_the_best_pdf(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pdfs=[server.put("a.pdf"), server.put("b.pdf")])]
    outcome = bring_one(server, tmp_path, sources=("unpaywall",))
    assert (outcome.state, outcome.source, outcome.path, outcome.licence) == (
        "retrieved", "unpaywall", tmp_path / "r1.pdf", "cc-by"
    )  # fmt: skip
    assert (tmp_path / "r1.pdf").read_bytes() == pdf_of("a.pdf")
    assert outcome.url == f"{server.url}/files/a.pdf"
    assert server.asked[0].query == {"email": WHO}


@pytest.mark.parametrize(
    "wanted", [Wanted("r1", DOI), Wanted("r1", pmid="123"), Wanted("r1", pmcid="PMC9"), Wanted("r1", "10.5555/other", pmid="123")]
)
def test_openalex_brings_an_open_pdf_by_any_identifier(server: OpenAccessServer, tmp_path: Path, wanted: Wanted) -> None:
    server.works = [Work(DOI, "123", "PMC9", pdfs=[server.put("a.pdf")])]
    outcome = bring_one(server, tmp_path, wanted, sources=("openalex",), keys={"openalex": "secret"})
    assert (outcome.state, outcome.source) == ("retrieved", "openalex")
    assert "/files/paywalled.pdf" not in server.paths()
    assert (server.asked[0].query["mailto"], server.asked[0].query["api_key"]) == (WHO, "secret")


@pytest.mark.parametrize("wanted", [Wanted("r1", DOI), Wanted("r1", pmid="123"), Wanted("r1", pmcid="PMC9")])
def test_pmc_brings_jats(server: OpenAccessServer, tmp_path: Path, wanted: Wanted) -> None:
    server.works = [Work(DOI, "123", "PMC9", jats=jats_of(DOI))]
    outcome = bring_one(server, tmp_path, wanted, sources=("pmc",))
    assert (outcome.state, outcome.source, outcome.path) == ("retrieved", "pmc", tmp_path / "r1.nxml")
    document = read_document(tmp_path / "r1.nxml")
    assert (document.format, document.state) == ("jats", DocumentState.PARSED)
    assert "Forty adults took zinc." in document.text()
    fetched = server.asked[-1]
    assert {name: fetched.query[name] for name in ("db", "id", "tool", "email")} == {
        "db": "pmc", "id": "9", "tool": "litcascade", "email": WHO
    }  # fmt: skip


def test_pmc_brings_the_pdf_of_the_latest_version_where_the_xml_is_withheld(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9", cloud_pdf=pdf_of("scan"))]
    outcome = bring_one(server, tmp_path, sources=("pmc",))
    assert (outcome.state, outcome.path, outcome.licence) == ("retrieved", tmp_path / "r1.pdf", "CC BY")
    assert server.paths()[-1] == "/pmc_cloud/PMC9.10/PMC9.10.pdf"


def test_sources_are_asked_in_the_order_given_until_one_has_it(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9", pdfs=[server.put("a.pdf")], jats=jats_of(DOI))]
    assert bring_one(server, tmp_path / "1").source == SOURCES[0] == "pmc"
    assert bring_one(server, tmp_path / "2", sources=("openalex", "pmc")).source == "openalex"
    assert {asked.path.split("/")[1] for asked in server.asked} == {"pmc_ids", "pmc", "openalex", "files"}


def test_the_next_source_is_asked_where_one_fails(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9", pdfs=[server.put("a.pdf")])]
    server.script = lambda asked: Reply(status=500) if asked.path.startswith(("/pmc", "/unpaywall")) else None
    outcome = bring_one(server, tmp_path)
    assert (outcome.state, outcome.source) == ("retrieved", "openalex")
    assert [(line["source"], line["state"], line["for_good"]) for line in manifest(tmp_path)] == [
        ("pmc", "failed", False),
        ("unpaywall", "failed", False),
        ("openalex", "retrieved", True),
    ]


# what is not there


def test_a_paper_that_is_not_open_is_told_from_one_that_nobody_knows(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9", is_open=False)]
    closed, unknown, without = bring(server, tmp_path, Wanted("r1", DOI), Wanted("r2", "10.5555/none"), Wanted("r3"))
    assert (closed.state, unknown.state, without.state) == ("not open", "unknown", "unknown")
    assert "pmc: " in closed.why
    assert "unpaywall: Unpaywall knows no open copy" in closed.why
    assert "openalex: OpenAlex does not know doi:10.5555/none" in unknown.why
    assert without.why == "the record has no DOI, PMCID or PMID to ask by"
    assert files(tmp_path) == []


def test_jats_without_a_body_is_no_full_text(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9")]
    outcome = bring_one(server, tmp_path, sources=("pmc",))
    assert outcome.state == "not open"
    assert "holds no full text" in outcome.why
    assert files(tmp_path) == []


def test_jats_of_another_paper_is_not_taken(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9", jats=jats_of("10.5555/another"))]
    outcome = bring_one(server, tmp_path, Wanted("r1", DOI, "PMC9"), sources=("pmc",))
    assert outcome.state == "failed"
    assert "another paper came (DOI 10.5555/another)" in outcome.why


def test_a_landing_page_is_no_pdf(server: OpenAccessServer, tmp_path: Path) -> None:
    server.files["/files/page"] = Reply(PAGE, kind="text/html; charset=utf-8")
    server.files["/files/lying.pdf"] = Reply(PAGE, kind="application/pdf")
    for name in ("page", "lying.pdf"):
        server.works = [Work(DOI, pdfs=[f"{server.url}/files/{name}"])]
        outcome = bring_one(server, tmp_path / name, sources=("unpaywall",))
        assert outcome.state == "failed"
        assert "landing page" in outcome.why
        assert (outcome.url, files(tmp_path / name)) == (f"{server.url}/files/{name}", [])


def test_a_landing_page_that_is_all_there_is_is_named_and_not_brought(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pages=[f"{server.url}/files/page"])]
    for source in ("unpaywall", "openalex"):
        outcome = bring_one(server, tmp_path / source, sources=(source,))
        assert (outcome.state, outcome.url) == ("failed", f"{server.url}/files/page")
        assert "landing page" in outcome.why
    assert "/files/page" not in server.paths()


def test_the_next_place_is_tried_where_one_gives_no_pdf(server: OpenAccessServer, tmp_path: Path) -> None:
    server.files["/files/page"] = Reply(PAGE, kind="text/html")
    server.works = [Work(DOI, pdfs=[f"{server.url}/files/page", f"{server.url}/files/gone.pdf", server.put("good.pdf")])]
    assert bring_one(server, tmp_path, sources=("unpaywall",)).state == "retrieved"
    assert server.paths()[1:] == ["/files/page", "/files/gone.pdf", "/files/good.pdf"]


def test_pmcs_web_pages_are_never_asked(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pdfs=["https://pmc.ncbi.nlm.nih.gov/articles/PMC9/pdf/a.pdf"])]
    outcome = bring_one(server, tmp_path, sources=("unpaywall", "openalex"))
    assert outcome.state == "failed"
    assert "landing page" in outcome.why


@pytest.mark.parametrize(
    ("reply", "why", "for_good"),
    [
        (Reply(b"PK\x03\x04 a word file", kind="application/zip"), "not a PDF", True),
        (Reply(b"", kind="application/pdf"), "not a PDF", True),
        (Reply(pdf_of("a")[:300], kind="application/pdf", counted=False), "cut", False),
        (Reply(pdf_of("a"), kind="application/pdf", cut=300), "cut after 300", False),
        (Reply(pdf_of("a") + b" " * 4096, kind="application/pdf"), "larger than", True),
        (Reply(pdf_of("a") + b" " * 4096, kind="application/pdf", counted=False), "larger than", True),
        (Reply(status=403), "HTTP 403", True),
        (Reply(status=404), "HTTP 404", True),
        (Reply(status=503), "HTTP 503", False),
        (Reply(status=429, headers={"Retry-After": "7200"}), "come back in 7200 seconds", False),
        (Reply(pdf_of("a"), kind="application/pdf", headers={"Content-Encoding": "gzip"}), "packs the body", False),
    ],
)
def test_what_is_no_whole_pdf_is_not_kept(
    server: OpenAccessServer, tmp_path: Path, reply: Reply, why: str, for_good: bool
) -> None:
    server.files["/files/a.pdf"] = reply
    server.works = [Work(DOI, pdfs=[f"{server.url}/files/a.pdf"])]
    outcome = bring_one(server, tmp_path, sources=("unpaywall",), size_limit=4096)
    assert (outcome.state, files(tmp_path)) == ("failed", [])
    assert why in outcome.why
    assert [line["for_good"] for line in manifest(tmp_path)] == [for_good]


def test_a_pdf_of_unknown_length_is_kept_where_its_end_is_there(server: OpenAccessServer, tmp_path: Path) -> None:
    server.files["/files/a.pdf"] = Reply(pdf_of("a"), kind="application/octet-stream", counted=False)
    server.works = [Work(DOI, pdfs=[f"{server.url}/files/a.pdf"])]
    assert bring_one(server, tmp_path, sources=("unpaywall",)).state == "retrieved"


def test_an_answer_that_takes_too_long_fails_for_now(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pdfs=[server.put("a.pdf")])]
    server.script = lambda asked: Reply(pdf_of("a"), delay=1) if asked.path.startswith("/files") else None
    outcome = bring_one(server, tmp_path, sources=("unpaywall",), web=impatient(timeout=0.2, tries=2))
    assert (outcome.state, manifest(tmp_path)[0]["for_good"]) == ("failed", False)
    assert "(2 attempts)" in outcome.why


def test_an_answer_that_drips_is_given_up_in_time(server: OpenAccessServer) -> None:
    server.script = Reply(pdf_of("a"), kind="application/pdf", drip=0.02)
    asker = Asker(Web(tries=1, timeout=5), Guard([server.url]), Pace(), longest_answer=0.3)
    with pytest.raises(DownloadError, match="took longer than") as raised:
        asker.get(f"{server.url}/files/a.pdf", limit=10_000)
    assert not for_good(raised.value)


# politeness


def test_every_request_says_who_asks(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9", pdfs=[server.put("a.pdf")])]
    bring_one(server, tmp_path)
    agents = {asked.headers["user-agent"] for asked in server.asked}
    assert len(agents) == 1
    (agent,) = agents
    assert agent.startswith("litcascade/")
    assert f"mailto:{WHO}" in agent


@pytest.mark.parametrize("email", ["", "nobody", "a@b", "a b@c.org", "a@c.org, d@e.org"])
def test_an_email_address_is_needed(server: OpenAccessServer, tmp_path: Path, email: str) -> None:
    with pytest.raises(InputError, match=r"is no e-mail address; .* give yours"):
        retrieve([Wanted("r1", DOI)], tmp_path, email=email, base_urls=server.base_urls)
    assert server.asked == []


def test_an_email_address_that_unpaywall_refuses_stops_the_run(server: OpenAccessServer, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="Unpaywall refuses the e-mail address"):
        bring_one(server, tmp_path, sources=("unpaywall",), email="me@example.com")


def test_a_busy_service_is_asked_again_after_the_wait_it_asks_for(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pdfs=[server.put("a.pdf")])]
    waited: list[float] = []

    def busy_once(_: Asked) -> Reply | None:
        return Reply(status=429, headers={"Retry-After": "9"}) if len(server.asked) == 1 else None

    server.script = busy_once
    assert bring_one(server, tmp_path, sources=("unpaywall",), web=impatient(waited)).state == "retrieved"
    assert max(waited) >= 9


def test_a_host_that_asks_for_a_long_wait_is_left_alone_for_the_run(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(f"10.5555/{number}", pdfs=[server.put("a.pdf")]) for number in range(4)]
    server.script = Reply(status=429, headers={"Retry-After": "86400"})
    wanted = [Wanted(f"r{number}", f"10.5555/{number}") for number in range(4)]
    outcomes = bring(server, tmp_path, *wanted, sources=("unpaywall",))
    assert [outcome.state for outcome in outcomes] == ["failed"] * 4
    assert len(server.asked) == 1
    server.script = None
    assert [outcome.state for outcome in bring(server, tmp_path, *wanted, sources=("unpaywall",))] == ["retrieved"] * 4


def test_a_service_that_is_down_is_given_up_after_three_records(server: OpenAccessServer, tmp_path: Path) -> None:
    server.script = Reply(status=502)
    wanted = [Wanted(f"r{number}", f"10.5555/{number}") for number in range(9)]
    outcomes = bring(server, tmp_path, *wanted, sources=("unpaywall",))
    assert {outcome.state for outcome in outcomes} == {"failed"}
    assert len(server.asked) == 3 * 3
    assert "not asked" in outcomes[-1].why


def test_ncbi_is_asked_at_most_three_times_a_second(server: OpenAccessServer, tmp_path: Path) -> None:
    server.per_second = 3
    server.works = [Work(f"10.5555/{number}", pmcid=f"PMC{number}", jats=jats_of(f"10.5555/{number}")) for number in range(1, 5)]
    wanted = [Wanted(f"r{number}", f"10.5555/{number}") for number in range(1, 5)]
    outcomes = bring(server, tmp_path, *wanted, sources=("pmc",), web=Web(tries=1))
    assert [outcome.state for outcome in outcomes] == ["retrieved"] * 4


@given(steps=st.lists(st.floats(0, 3), min_size=1, max_size=30), every=st.floats(0.01, 2))
def test_requests_to_a_host_keep_their_distance(steps: list[float], every: float) -> None:
    now = [100.0]

    def sleep(seconds: float) -> None:
        now[0] += seconds

    pace = Pace({"a": every}, clock=lambda: now[0], sleep=sleep)
    times = []
    for step in steps:
        now[0] += step
        pace.wait("a")
        times.append(now[0])
    assert all(later - earlier >= every - 1e-9 for earlier, later in pairwise(times))
    before = now[0]
    pace.wait("b")
    assert now[0] == before


# going on


def test_a_second_run_asks_nothing_twice(server: OpenAccessServer, tmp_path: Path) -> None:
    server.files["/files/page"] = Reply(PAGE, kind="text/html")
    server.works = [
        Work(DOI, pmcid="PMC9", jats=jats_of(DOI)),
        Work("10.5555/shut", is_open=False),
        Work("10.5555/page", pdfs=[f"{server.url}/files/page"]),
    ]
    wanted = [Wanted("r1", DOI), Wanted("r2", "10.5555/shut"), Wanted("r3", "10.5555/page"), Wanted("r4", "10.5555/none")]
    first = bring(server, tmp_path, *wanted)
    asked, lines = len(server.asked), manifest(tmp_path)
    again = bring(server, tmp_path, *wanted)
    assert [outcome.state for outcome in again] == [outcome.state for outcome in first] == [
        "retrieved", "not open", "failed", "unknown"
    ]  # fmt: skip
    assert [outcome.why for outcome in again][1:] == [outcome.why for outcome in first][1:]
    assert (len(server.asked), manifest(tmp_path)) == (asked, lines)


def test_what_failed_for_now_is_asked_again(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pdfs=[server.put("a.pdf")])]
    server.script = lambda asked: Reply(status=503) if asked.path.startswith("/files") else None
    assert bring_one(server, tmp_path, sources=("unpaywall",)).state == "failed"
    server.script = None
    assert bring_one(server, tmp_path, sources=("unpaywall",)).state == "retrieved"


def test_what_was_said_for_good_is_asked_again_when_told(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, is_open=False)]
    assert bring_one(server, tmp_path, sources=("unpaywall",)).state == "not open"
    server.works = [Work(DOI, pdfs=[server.put("a.pdf")])]
    assert bring_one(server, tmp_path, sources=("unpaywall",)).state == "not open"
    assert bring_one(server, tmp_path, sources=("unpaywall",), again=True).state == "retrieved"


def test_a_record_with_a_new_identifier_is_asked_for_again(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, "123", pdfs=[server.put("a.pdf")])]
    assert bring_one(server, tmp_path, Wanted("r1", pmid="999"), sources=("openalex",)).state == "unknown"
    assert bring_one(server, tmp_path, Wanted("r1", DOI, pmid="999"), sources=("openalex",)).state == "retrieved"


def test_a_file_that_went_missing_is_brought_again(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pdfs=[server.put("a.pdf")])]
    path = bring_one(server, tmp_path, sources=("unpaywall",)).path
    assert path is not None
    path.unlink()
    assert bring_one(server, tmp_path, sources=("unpaywall",)).state == "retrieved"
    assert path.exists()


def test_a_file_that_a_person_put_there_is_kept(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pdfs=[server.put("a.pdf")])]
    (tmp_path / "r1.pdf").write_bytes(b"%PDF-1.7 bought")
    outcome = bring_one(server, tmp_path)
    assert (outcome.state, outcome.path, outcome.source) == ("retrieved", tmp_path / "r1.pdf", None)
    assert (tmp_path / "r1.pdf").read_bytes() == b"%PDF-1.7 bought"
    (tmp_path / "r1.pdf").write_bytes(PAGE)
    outcome = bring_one(server, tmp_path)
    assert (outcome.state, "move it away" in outcome.why) == ("failed", True)
    assert server.asked == []


def test_a_file_that_a_person_replaced_is_kept(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pdfs=[server.put("a.pdf")])]
    bring_one(server, tmp_path, sources=("unpaywall",))
    (tmp_path / "r1.pdf").write_bytes(b"%PDF-1.7 a better scan")
    outcome = bring_one(server, tmp_path, sources=("unpaywall",))
    assert (outcome.state, outcome.source, outcome.path) == ("retrieved", None, tmp_path / "r1.pdf")
    assert (tmp_path / "r1.pdf").read_bytes() == b"%PDF-1.7 a better scan"


def test_stopping_in_the_middle_loses_no_answer(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(f"10.5555/{number}", pdfs=[server.put(f"{number}.pdf")]) for number in range(4)]
    wanted = [Wanted(f"r{number}", f"10.5555/{number}") for number in range(4)]
    run = retrieve(wanted, tmp_path, email=WHO, sources=("unpaywall",), base_urls=server.base_urls, web=impatient())
    assert [next(run).state, next(run).state] == ["retrieved", "retrieved"]
    asked = len(server.asked)
    with (tmp_path / MANIFEST).open("a") as torn:
        torn.write('{"asked": "2026-01-01T00:00:00+00:00", "record_id": "r')
    assert [outcome.state for outcome in bring(server, tmp_path, *wanted, sources=("unpaywall",))] == ["retrieved"] * 4
    assert len(server.asked) == asked + 4
    lines = (tmp_path / MANIFEST).read_text().splitlines()
    assert sum(is_json(line) for line in lines) == 4


def is_json(line: str) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except ValueError:
        return False


def test_the_manifest_says_what_was_asked_and_keeps_no_secret(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9", jats=jats_of(DOI))]
    bring_one(server, tmp_path, sources=("openalex", "pmc"), keys={"pmc": "secret", "openalex": "secret"})
    text = (tmp_path / MANIFEST).read_text(encoding="utf-8")
    assert "secret" not in text
    assert WHO not in text
    assert server.asked[-1].query["api_key"] == "secret"
    line = manifest(tmp_path)[-1]
    assert (line["record_id"], line["ids"], line["source"], line["state"], line["file"]) == (
        "r1", f"doi:{DOI}", "pmc", "retrieved", "r1.nxml"
    )  # fmt: skip
    assert line["asked"].endswith("+00:00")
    assert urllib.parse.urlsplit(line["url"]).path == "/pmc/efetch.fcgi"


# names and progress


def test_files_are_named_by_record(server: OpenAccessServer, tmp_path: Path) -> None:
    ids = ["plain-1.2", "A/1", "a_1", "../up", "x.tei", "wörter", "C 1", "c_1", "." * 3]
    server.works = [Work(f"10.5555/{number}", pdfs=[server.put(f"{number}.pdf")]) for number in range(len(ids))]
    wanted = [Wanted(record_id, f"10.5555/{number}") for number, record_id in enumerate(ids)]
    outcomes = bring(server, tmp_path, *wanted, sources=("unpaywall",))
    names = {outcome.record_id: outcome.path.name for outcome in outcomes if outcome.path}
    assert (names["plain-1.2"], names["wörter"]) == ("plain-1.2.pdf", "wörter.pdf")
    assert len({name.casefold() for name in names.values()}) == len(ids)
    assert files(tmp_path) == sorted(names.values())
    for number, record_id in enumerate(ids):
        assert (tmp_path / names[record_id]).read_bytes() == pdf_of(f"{number}.pdf")


def test_a_later_record_takes_no_earlier_ones_file(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work("10.5555/0", pdfs=[server.put("0.pdf")]), Work("10.5555/1", pdfs=[server.put("1.pdf")])]
    first = bring_one(server, tmp_path, Wanted("A/1", "10.5555/0"), sources=("unpaywall",))
    second = bring_one(server, tmp_path, Wanted("a_1", "10.5555/1"), sources=("unpaywall",))
    assert first.path is not None
    assert second.path is not None
    assert first.path.read_bytes() == pdf_of("0.pdf")
    assert second.path.read_bytes() == pdf_of("1.pdf")


def test_progress_counts_every_record(server: OpenAccessServer, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    bring(
        server,
        tmp_path,
        Wanted("r1", DOI),
        Wanted("r2"),
        on_progress=lambda done, of, one: seen.append((done, of, one.record_id)),
    )
    assert seen == [(1, 2, "r1"), (2, 2, "r2")]


def test_what_cannot_be_used_is_refused_in_a_sentence(server: OpenAccessServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(InputError, match="choose among unpaywall, openalex, pmc"):
        bring(server, tmp_path, Wanted("r1", DOI), sources=("scihub",))
    with pytest.raises(InputError, match="choose among"):
        bring(server, tmp_path, Wanted("r1", DOI), sources=())
    with pytest.raises(InputError, match="same id"):
        bring(server, tmp_path, Wanted("r1", DOI), Wanted("r1"))
    with pytest.raises(InputError, match="choose another folder"):
        bring(server, tmp_path / "file" / "texts", Wanted("r1", DOI))


def test_identifiers_are_read_as_people_write_them(server: OpenAccessServer, tmp_path: Path) -> None:
    server.works = [Work(DOI, pmcid="PMC9", pdfs=[server.put("a.pdf")], jats=jats_of(DOI))]
    wanted = Wanted("r1", f"https://doi.org/{DOI.upper()}", "pmc9")
    assert bring_one(server, tmp_path / "1", wanted, sources=("unpaywall",)).state == "retrieved"
    assert bring_one(server, tmp_path / "2", wanted, sources=("pmc",)).state == "retrieved"
    assert bring_one(server, tmp_path / "3", Wanted("r1", "see text")).state == "unknown"


# answers that are none


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("body", [PAGE, b"", b"[]", b"null", b'{"is_oa": tru', b"<ListBucketResult"])
def test_an_answer_that_is_none_fails_for_now(server: OpenAccessServer, tmp_path: Path, source: str, body: bytes) -> None:
    server.works = [Work(DOI, pmcid="PMC9", pdfs=[server.put("a.pdf")])]
    server.script = Reply(body)
    outcome = bring_one(server, tmp_path, Wanted("r1", DOI, "PMC9"), sources=(source,))
    assert (outcome.state, manifest(tmp_path)[0]["for_good"], files(tmp_path)) == ("failed", False, [])


# addresses that are not followed


@pytest.mark.parametrize(
    "address", ["127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "100.64.0.1", "::1", "fe80::1%eth0", "::ffff:10.0.0.1", "0.0.0.0", "224.0.0.1", "fd00::1"]
)  # fmt: skip
def test_the_own_network_is_not_public(address: str) -> None:
    assert not public(address)


def test_addresses_of_the_world_are_public() -> None:
    assert public("93.184.216.34")
    assert public("::ffff:93.184.216.34")
    assert public("2606:2800:220:1:248:1893:25c8:1946")


@pytest.mark.parametrize("url", ["ftp://a.org/x", "file:///etc/passwd", "http:///x", "javascript:1", "http://[bad/x"])
def test_only_web_addresses_are_followed(url: str) -> None:
    with pytest.raises(DownloadError):
        Guard().check(url)


def test_a_place_or_redirect_into_the_own_network_is_not_followed(server: OpenAccessServer, tmp_path: Path) -> None:
    with OpenAccessServer() as inside:
        inner = inside.put("secret.pdf")
        named = inner.replace("127.0.0.1", "localhost")
        home, other = "own network", "only http and https|not allowed"
        places = ((inner, home), (named, home), ("file:///etc/passwd", other), ("ftp://127.0.0.1:9/a.pdf", "only http and https"))
        for number, (address, why) in enumerate(places):
            server.files["/files/moved.pdf"] = Reply(status=302, headers={"Location": address})
            for place in (address, f"{server.url}/files/moved.pdf"):
                server.works = [Work(DOI, pdfs=[place])]
                folder = tmp_path / f"{number}-{place.count('moved')}"
                outcome = bring_one(server, folder, sources=("unpaywall",))
                assert outcome.state == "failed"
                assert re.search(why, outcome.why), outcome.why
                assert files(folder) == []
        assert inside.asked == []


def test_a_redirect_to_a_place_that_may_be_asked_is_followed(server: OpenAccessServer, tmp_path: Path) -> None:
    server.put("a.pdf")
    server.files["/files/moved.pdf"] = Reply(status=302, headers={"Location": "/files/a.pdf", "Set-Cookie": "seen=1"})
    server.works = [Work(DOI, pdfs=[f"{server.url}/files/moved.pdf"])]
    assert bring_one(server, tmp_path, sources=("unpaywall",)).state == "retrieved"
    assert server.asked[-1].headers["cookie"] == "seen=1"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_name_that_leads_home_only_when_it_is_asked_is_not_asked(server: OpenAccessServer, scheme: str) -> None:
    """The opener looks at the machine it reached, for a name may lead elsewhere than when it was checked."""
    with pytest.raises(DownloadError, match="own network"):
        Guard().opener().open(server.url.replace("http", scheme), timeout=5)
    assert server.asked == []


def test_a_redirect_from_https_down_to_http_is_not_followed(server: OpenAccessServer) -> None:
    class Protected(urllib.request.BaseHandler):
        handler_order = 1

        def https_open(self, request: urllib.request.Request) -> urllib.response.addinfourl:
            headers = Message()
            headers["Location"] = f"{server.url}/files/a.pdf"
            answer = urllib.response.addinfourl(io.BytesIO(), headers, request.full_url, 302)
            answer.msg = "Found"  # type: ignore[attr-defined]  # urllib reads it
            return answer

    opener = Guard([server.url]).opener()
    opener.add_handler(Protected())
    with pytest.raises(DownloadError, match="redirects to an unprotected address"):
        opener.open("https://publisher.org/a.pdf")
    assert server.asked == []


def test_the_services_own_addresses_are_known_and_protected() -> None:
    assert set(BASE_URLS) == {"unpaywall", "openalex", "pmc", "pmc_ids", "pmc_cloud"}
    assert all(url.startswith("https://") and not url.endswith("/") for url in BASE_URLS.values())
