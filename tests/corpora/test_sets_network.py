"""Downloads and OpenAlex against a local server that misbehaves as told."""

import gzip
import hashlib
import json
import tempfile
import threading
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litcascade.corpora.sets import SETS, Card, CardFile, fetch_files, fetch_texts
from litcascade.corpora.sets.openalex import abstract_of, fetch_works
from litcascade.download import download
from litcascade.errors import InputError
from litcascade.web import DownloadError, Web, get, get_json

BODY = bytes(range(256)) * 5_000  # 1.28 MB
SHA = hashlib.sha256(BODY).hexdigest()


@dataclass
class Reply:
    """What to send: `cut` breaks the line after so many bytes of the body."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    length: bool = True


@dataclass
class Asked:
    path: str
    headers: dict[str, str]


Script = Callable[[Asked, int], Reply]


class FileServer:
    """Answers by a script: (what was asked, its number from 0) to a reply."""

    def __init__(self, script: Script) -> None:
        self.script, self.asked = script, list[Asked]()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer.asked.append(Asked(self.path, dict(self.headers.items())))
                reply = outer.script(outer.asked[-1], len(outer.asked) - 1)
                self.send_response(reply.status)
                for name, value in reply.headers.items():
                    self.send_header(name, value)
                if reply.length:
                    self.send_header("Content-Length", str(len(reply.body)))
                self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(reply.body if reply.cut is None else reply.body[: reply.cut])
                self.close_connection = True

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> "FileServer":
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


@dataclass
class Naps:
    taken: list[float] = field(default_factory=list)

    def __call__(self, seconds: float) -> None:
        self.taken.append(seconds)


@pytest.fixture
def naps() -> Naps:
    return Naps()


@pytest.fixture
def web(naps: Naps) -> Web:
    return Web(tries=3, pause=0.5, timeout=5.0, sleep=naps)


def plain(body: bytes, etag: str = '"v1"') -> Reply:
    return Reply(body, headers={"Content-Type": "application/octet-stream", "ETag": etag, "Accept-Ranges": "bytes"})


def ranged(asked: Asked, body: bytes, etag: str = '"v1"') -> Reply:
    """A server that keeps to the rules: a range where If-Range still holds, the whole file otherwise."""
    wanted = asked.headers.get("Range")
    if wanted is None or asked.headers.get("If-Range", etag) != etag:
        return plain(body, etag)
    start = int(wanted.removeprefix("bytes=").rstrip("-"))
    if start >= len(body):
        return Reply(b"", 416, {"Content-Range": f"bytes */{len(body)}"})
    reply = plain(body[start:], etag)
    reply.status = 206
    reply.headers["Content-Range"] = f"bytes {start}-{len(body) - 1}/{len(body)}"
    return reply


def broken_at(reply: Reply, cut: int) -> Reply:
    reply.cut = cut
    return reply


def left_over(target: Path) -> list[str]:
    return sorted(path.name for path in target.parent.iterdir() if path != target)


def test_a_file_arrives_whole_and_is_not_asked_for_again(tmp_path: Path, web: Web) -> None:
    seen: list[tuple[int, int | None]] = []
    target = tmp_path / "deep" / "file.bin"
    with FileServer(lambda asked, _: ranged(asked, BODY)) as server:
        got = download(f"{server.url}/f", target, sha256=SHA, size=len(BODY), web=web, progress=lambda *at: seen.append(at))
        again = download(f"{server.url}/f", target, sha256=SHA, web=web)
    assert target.read_bytes() == BODY
    assert (got.size, got.sha256, got.attempts, again.attempts, len(server.asked)) == (len(BODY), SHA, 1, 0, 1)
    assert seen[-1] == (len(BODY), len(BODY))
    assert left_over(target) == []


def test_a_line_that_breaks_goes_on_where_it_stopped(tmp_path: Path, web: Web) -> None:
    with FileServer(lambda asked, n: broken_at(ranged(asked, BODY), 500_000) if n < 2 else ranged(asked, BODY)) as server:
        got = download(f"{server.url}/f", tmp_path / "f", sha256=SHA, web=web)
    assert (tmp_path / "f").read_bytes() == BODY
    assert got.attempts == 3
    assert [asked.headers.get("Range") for asked in server.asked] == [None, "bytes=500000-", "bytes=1000000-"]
    assert server.asked[1].headers["If-Range"] == '"v1"'


def test_an_interrupted_call_leaves_its_part_for_the_next(tmp_path: Path, web: Web) -> None:
    target = tmp_path / "f"
    with FileServer(lambda _, n: broken_at(plain(BODY), 400_000) if n == 0 else Reply(b"", 503)) as server:
        with pytest.raises(DownloadError, match="400000 bytes are kept"):
            download(f"{server.url}/f", target, web=web)
        assert not target.exists()
        server.script = lambda asked, _: ranged(asked, BODY)
        got = download(f"{server.url}/f", target, web=web)
    assert got.resumed_from == 400_000
    assert target.read_bytes() == BODY


def test_another_version_on_the_server_is_taken_from_the_start(tmp_path: Path, web: Web) -> None:
    other = BODY[::-1]

    def script(asked: Asked, n: int) -> Reply:
        return broken_at(ranged(asked, BODY), 300_000) if n == 0 else ranged(asked, other, '"v2"')

    with FileServer(script) as server:
        got = download(f"{server.url}/f", tmp_path / "f", web=web)
    assert (tmp_path / "f").read_bytes() == other
    assert got.resumed_from == 0


def test_a_server_that_ignores_ranges_starts_over(tmp_path: Path, web: Web) -> None:
    with FileServer(lambda _, n: broken_at(plain(BODY), 900_000) if n == 0 else plain(BODY)) as server:
        download(f"{server.url}/f", tmp_path / "f", web=web)
    assert (tmp_path / "f").read_bytes() == BODY
    assert "Range" in server.asked[1].headers


def test_a_server_that_breaks_at_the_same_place_is_given_up(tmp_path: Path, web: Web) -> None:
    with FileServer(lambda *_: broken_at(plain(BODY), 900_000)) as server:
        with pytest.raises(DownloadError, match="900000 of 1280000"):
            download(f"{server.url}/f", tmp_path / "f", web=web)
        assert len(server.asked) == 4


def test_without_a_version_a_part_is_not_trusted_unless_a_hash_is_pinned(tmp_path: Path, web: Web) -> None:
    bare = Reply(BODY, headers={"Content-Type": "text/csv"})
    with FileServer(lambda *_: Reply(bare.body, headers=bare.headers, cut=100_000 if len(server.asked) == 1 else None)) as server:
        download(f"{server.url}/f", tmp_path / "f", web=web)
    assert [asked.headers.get("Range") for asked in server.asked] == [None, None]
    (tmp_path / "g.part").write_bytes(BODY[:1000])
    with FileServer(lambda asked, _: ranged(asked, BODY)) as server:
        download(f"{server.url}/g", tmp_path / "g", sha256=SHA, web=web)
    assert server.asked[0].headers.get("Range") == "bytes=1000-"


def test_pieces_of_two_versions_are_found_by_the_hash_and_brought_anew(tmp_path: Path, web: Web) -> None:
    (tmp_path / "f.part").write_bytes(b"x" * 1000)
    with FileServer(lambda asked, _: ranged(asked, BODY)) as server:
        download(f"{server.url}/f", tmp_path / "f", sha256=SHA, web=web)
    assert (tmp_path / "f").read_bytes() == BODY
    assert [asked.headers.get("Range") for asked in server.asked] == ["bytes=1000-", None]


def test_a_part_that_is_whole_or_too_long_is_told_by_416(tmp_path: Path, web: Web) -> None:
    for part in (BODY, BODY + b"more"):
        (tmp_path / "f.part").write_bytes(part)
        with FileServer(lambda asked, _: ranged(asked, BODY)) as server:
            download(f"{server.url}/f", tmp_path / "f", sha256=SHA, web=web)
        assert (tmp_path / "f").read_bytes() == BODY
        (tmp_path / "f").unlink()


def test_a_wrong_piece_is_not_appended(tmp_path: Path, web: Web) -> None:
    def script(asked: Asked, n: int) -> Reply:
        if n == 0:
            return broken_at(plain(BODY), 1000)
        if n == 1:
            return Reply(BODY[5:], 206, {"Content-Range": f"bytes 5-{len(BODY) - 1}/{len(BODY)}"})
        return ranged(asked, BODY)

    with FileServer(script) as server:
        download(f"{server.url}/f", tmp_path / "f", web=web)
    assert (tmp_path / "f").read_bytes() == BODY


@pytest.mark.parametrize("kind", ["text/html; charset=utf-8", "application/octet-stream"])
def test_an_error_page_with_status_200_is_never_taken_for_the_file(tmp_path: Path, web: Web, kind: str) -> None:
    page = Reply(b"\n<!DOCTYPE html><html><body>busy</body></html>", headers={"Content-Type": kind})
    with FileServer(lambda asked, n: page if n < 2 else ranged(asked, BODY)) as server:
        download(f"{server.url}/f", tmp_path / "f", web=web)
        assert (tmp_path / "f").read_bytes() == BODY
        server.script = lambda *_: page
        with pytest.raises(DownloadError, match="web page"):
            download(f"{server.url}/f", tmp_path / "g", web=web)
        assert not (tmp_path / "g").exists()
        assert not (tmp_path / "g.part").exists()
        assert download(f"{server.url}/f", tmp_path / "page.html", page=True, web=web).size == len(page.body)


def test_an_error_page_does_not_cost_the_part(tmp_path: Path, web: Web) -> None:
    page = Reply(b"<html>busy</html>", headers={"Content-Type": "text/html"})

    def script(asked: Asked, n: int) -> Reply:
        return [broken_at(ranged(asked, BODY), 600_000), page, ranged(asked, BODY)][n]

    with FileServer(script) as server:
        download(f"{server.url}/f", tmp_path / "f", web=web)
    assert server.asked[2].headers["Range"] == "bytes=600000-"
    assert (tmp_path / "f").read_bytes() == BODY


def test_a_wrong_hash_or_size_keeps_nothing(tmp_path: Path, web: Web) -> None:
    with FileServer(lambda asked, _: ranged(asked, BODY)) as server:
        with pytest.raises(DownloadError, match="another SHA-256"):
            download(f"{server.url}/f", tmp_path / "f", sha256="0" * 64, web=web)
        with pytest.raises(DownloadError, match="1280000 bytes where 5 are pinned"):
            download(f"{server.url}/f", tmp_path / "f", size=5, web=web)
        server.script = lambda *_: Reply(BODY, length=False)
        with pytest.raises(DownloadError, match="where 7 are pinned"):
            download(f"{server.url}/f", tmp_path / "f", size=7, web=web)
    assert not (tmp_path / "f").exists()


def test_a_file_that_is_there_but_another_is_left_and_named(tmp_path: Path, web: Web) -> None:
    (tmp_path / "f").write_bytes(b"mine")
    with pytest.raises(InputError, match="is not the file that is pinned"):
        download("http://127.0.0.1:9/f", tmp_path / "f", sha256=SHA, web=web)
    assert (tmp_path / "f").read_bytes() == b"mine"


def test_refusals_for_good_are_not_repeated(tmp_path: Path, web: Web) -> None:
    for status in (400, 401, 403, 404, 410, 451):
        with FileServer(lambda *_: Reply(b"no", status)) as server:  # noqa: B023  # the server ends within the loop
            with pytest.raises(DownloadError, match=f"HTTP {status}") as caught:
                download(f"{server.url}/f", tmp_path / "f", web=web)
            assert (caught.value.status, len(server.asked)) == (status, 1)


def test_a_busy_server_is_waited_for_as_long_as_it_asks(tmp_path: Path, web: Web, naps: Naps) -> None:
    waits = [{"Retry-After": "7"}, {}, {"Retry-After": formatdate(4_000_000_000, usegmt=True)}]
    with FileServer(lambda asked, n: Reply(b"", 429, waits[n]) if n < 2 else ranged(asked, BODY)) as server:
        download(f"{server.url}/f", tmp_path / "f", web=web)
        assert naps.taken == [7.0, 1.0]
        server.script = lambda *_: Reply(b"", 429, waits[2])
        with pytest.raises(DownloadError, match="asks to come back in"):
            download(f"{server.url}/f", tmp_path / "g", web=web)


def test_a_server_that_is_not_there_is_told_in_one_sentence(tmp_path: Path, web: Web, naps: Naps) -> None:
    with FileServer(lambda *_: Reply()) as server:
        url = server.url
    with pytest.raises(DownloadError, match="cannot be reached"):
        download(f"{url}/f", tmp_path / "f", web=web)
    assert naps.taken == [0.5, 1.0]


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/f", "/etc/hostname"])
def test_only_web_addresses_are_downloaded(tmp_path: Path, url: str) -> None:
    with pytest.raises(InputError, match="only http and https"):
        download(url, tmp_path / "f")


def test_a_packed_body_is_refused_since_its_length_cannot_be_checked(tmp_path: Path, web: Web) -> None:
    reply = Reply(gzip.compress(BODY), headers={"Content-Encoding": "gzip"})
    with FileServer(lambda *_: reply) as server, pytest.raises(DownloadError, match="packs the body"):
        download(f"{server.url}/f", tmp_path / "f", web=web)


SMALL = {'"v1"': bytes(range(200)) * 5, '"v2"': bytes(reversed(range(200))) * 6}
FAULTS = st.lists(
    st.tuples(st.sampled_from(["cut", "cut whole", "busy", "page", "piece", "newer"]), st.integers(0, 999)), max_size=7
)


@settings(max_examples=40, deadline=None)
@given(faults=FAULTS)
def test_whatever_a_server_does_the_file_is_the_one_it_has_in_the_end(faults: list[tuple[str, int]]) -> None:
    state = {"etag": '"v1"'}

    def script(asked: Asked, n: int) -> Reply:
        fault, place = faults[n] if n < len(faults) else ("", 0)
        if fault == "newer":
            state["etag"] = '"v2"'
        body = SMALL[state["etag"]]
        good = ranged(asked, body, state["etag"])
        return {
            "cut": replace(good, cut=min(place, len(good.body))),
            "cut whole": broken_at(plain(body, state["etag"]), place),
            "busy": Reply(b"", 503),
            "page": Reply(b"<html>", headers={"Content-Type": "text/html"}),
            "piece": Reply(body[3:], 206, {"Content-Range": f"bytes 3-{len(body) - 1}/{len(body)}", "ETag": state["etag"]}),
        }.get(fault, good)

    patient = Web(tries=10, timeout=5.0, sleep=Naps())
    with tempfile.TemporaryDirectory() as name, FileServer(script) as server:
        target = Path(name) / "f"
        got = download(f"{server.url}/f", target, web=patient)
        assert target.read_bytes() == SMALL[state["etag"]]
        assert got.sha256 == hashlib.sha256(SMALL[state["etag"]]).hexdigest()
        assert left_over(target) == []


def test_pages_are_asked_again_until_they_are_whole(web: Web) -> None:
    with FileServer(lambda _, n: broken_at(Reply(b"0123456789"), 4) if n == 0 else Reply(b"0123456789")) as server:
        assert get(server.url, web) == b"0123456789"
        with pytest.raises(DownloadError, match="larger than"):
            get(server.url, web, limit=5)
        server.script = lambda *_: Reply(b"<html>", headers={"Content-Type": "text/html"})
        with pytest.raises(DownloadError, match="no JSON"):
            get_json(server.url, web)


def test_the_files_of_a_card_are_brought_and_compared(tmp_path: Path, web: Web) -> None:
    def script(asked: Asked, _: int) -> Reply:
        return Reply(b"", 404) if asked.path == "/gone" else ranged(asked, BODY)

    with FileServer(script) as server:
        files = (
            CardFile("a.csv", SHA, f"{server.url}/a"),
            CardFile("b.csv", "0" * 64, f"{server.url}/b"),
            CardFile("c.csv", None, f"{server.url}/gone"),
            CardFile("d.csv", SHA),
        )
        results = fetch_files(Card("x", "X", "https://x.example", "none", {}, files), tmp_path, web=web)
    assert [(result.path, result.differs, result.got is not None) for result in results] == [
        ("a.csv", False, True),
        ("b.csv", True, True),
        ("c.csv", False, False),
    ]
    assert "404" in (results[2].fault or "")
    with pytest.raises(InputError, match="no files to download"):
        fetch_files(Card("x", "X", "https://x.example", "none", {}, ()), tmp_path)


def test_every_address_on_the_cards_can_be_asked_for() -> None:
    for _, benchmark in SETS:
        for file in benchmark.card.files:
            parts = urllib.parse.urlsplit(file.url or "https://example.org/x")
            assert parts.scheme == "https"
            assert not Path(file.path).is_absolute()
            assert ".." not in file.path
        assert len({file.path for file in benchmark.card.files}) == len(benchmark.card.files)


# OpenAlex


def work(number: int, **more: Any) -> dict[str, Any]:
    index = {"Zinc": [0, 3], "helps": [1], "and": [2]}
    base = {"id": f"https://openalex.org/W{number}", "title": f"Invented work {number}", "publication_year": 2001}
    return {**base, "abstract_inverted_index": index, "ids": {"pmid": f"https://pubmed.ncbi.nlm.nih.gov/{number}"}, **more}


def as_json(answer: object) -> Reply:
    return Reply(json.dumps(answer).encode(), headers={"Content-Type": "application/json"})


@dataclass
class OpenAlex:
    """The works endpoint over a few works; `merged` maps an id that is gone to the one that it became."""

    works: dict[int, dict[str, Any]]
    merged: dict[int, int] = field(default_factory=dict)

    def __call__(self, asked: Asked, _: int) -> Reply:
        parts = urllib.parse.urlsplit(asked.path)
        query = urllib.parse.parse_qs(parts.query)
        if parts.path == "/works":
            kind, values = query["filter"][0].split(":", 1)
            names = values.split("|")
            assert len(names) <= int(query["per-page"][0]) <= 100
            found = [item for item in self.works.values() if self.name(item, kind) in names]
            return as_json({"meta": {"count": len(found)}, "results": found})
        key = urllib.parse.unquote(parts.path.removeprefix("/works/"))
        number = int(key[1:]) if key.startswith("W") else -1
        number = self.merged.get(number, number)
        return as_json(self.works[number]) if number in self.works else Reply(b"{}", 404)

    @staticmethod
    def name(item: dict[str, Any], kind: str) -> str:
        return str({"openalex": item["id"], "doi": item.get("doi", ""), "pmid": item["ids"]["pmid"]}[kind]).split("/", 3)[-1]


def asked_batches(server: FileServer) -> list[str]:
    queries = [urllib.parse.parse_qs(urllib.parse.urlsplit(asked.path).query) for asked in server.asked]
    return [query["filter"][0] for query in queries if "filter" in query]


def lines_of(cache: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in cache.read_text(encoding="utf-8").splitlines()]


def test_works_come_in_batches_and_are_not_asked_for_twice(tmp_path: Path, web: Web) -> None:
    cache = tmp_path / "works.jsonl"
    service = OpenAlex({number: work(number) for number in range(1, 8)})
    with FileServer(service) as server:
        first = fetch_works([f"W{n}" for n in (1, 2, 3, 4, 5, 1)], cache, base=server.url, batch=2, mailto="a@b.example", web=web)
        assert asked_batches(server) == ["openalex:W1|W2", "openalex:W3|W4"]
        assert (first.asked, first.cached, first.found, first.absent, first.requests) == (5, 0, 5, 0, 3)
        assert all("mailto=a%40b.example" in asked.path for asked in server.asked)
        second = fetch_works([f"W{n}" for n in range(1, 8)], cache, base=server.url, batch=50, web=web)
    assert (second.cached, second.found, second.requests) == (5, 2, 1)
    assert [line["asked"] for line in lines_of(cache)] == [f"W{n}" for n in range(1, 8)]
    assert lines_of(cache)[0]["abstract"] == "Zinc helps and Zinc"


def test_merged_and_absent_works_are_told_apart(tmp_path: Path, web: Web) -> None:
    cache = tmp_path / "works.jsonl"
    with FileServer(OpenAlex({1: work(1), 9: work(9)}, merged={2: 9})) as server:
        got = fetch_works(["W1", "W2", "W3"], cache, base=server.url, web=web)
        again = fetch_works(["W1", "W2", "W3"], cache, base=server.url, web=web)
    assert (got.found, got.absent, again.cached, again.requests) == (2, 1, 3, 0)
    by_key = {line["asked"]: line for line in lines_of(cache)}
    assert by_key["W2"]["openalex_id"] == "W9"
    assert by_key["W3"] == {"asked": "W3", "absent": True}


def test_an_interrupted_fetch_keeps_what_came_and_goes_on(tmp_path: Path, web: Web) -> None:
    cache = tmp_path / "works.jsonl"
    service = OpenAlex({number: work(number) for number in range(1, 7)})
    keys = [f"W{n}" for n in range(1, 7)]
    with FileServer(lambda asked, n: service(asked, n) if n == 0 else Reply(b"", 500)) as server:
        with pytest.raises(DownloadError, match="HTTP 500") as caught:
            fetch_works(keys, cache, base=server.url, batch=3, mailto="a@b.example", api_key="secret", web=web)
        assert not any(word in str(caught.value) for word in ("secret", "b.example"))
        assert "api_key=secret" in server.asked[-1].path
        with cache.open("a", encoding="utf-8") as handle:
            handle.write('{"asked": "W4", "tit')  # a kill in the middle of a line
        server.script = service
        got = fetch_works(keys, cache, base=server.url, batch=3, web=web)
    assert (got.cached, got.found) == (3, 3)
    assert [line["asked"] for line in lines_of(cache)] == keys


def test_a_busy_service_is_waited_for_and_an_error_page_asked_again(tmp_path: Path, web: Web, naps: Naps) -> None:
    service = OpenAlex({1: work(1), 2: work(2)})

    def script(asked: Asked, n: int) -> Reply:
        return [Reply(b"", 429, {"Retry-After": "3"}), Reply(b"<html>busy</html>"), service(asked, n)][n]

    with FileServer(script) as server:
        got = fetch_works(["W1", "W2"], tmp_path / "c.jsonl", base=server.url, web=web)
    assert got.found == 2
    assert naps.taken[0] == 3.0


def test_dois_that_would_part_a_filter_are_asked_alone(tmp_path: Path, web: Web) -> None:
    dois = ["doi:10.1000/a", "doi:10.1000/b", "doi:10.1000/c,d(1)"]
    with FileServer(OpenAlex({})) as server:
        fetch_works(dois, tmp_path / "c.jsonl", base=server.url, web=web)
    assert asked_batches(server) == ["doi:10.1000/a|10.1000/b"]
    assert any(urllib.parse.unquote(asked.path).startswith("/works/doi:10.1000/c,d(1)?") for asked in server.asked)


def test_a_strange_answer_or_cache_is_named(tmp_path: Path, web: Web) -> None:
    with FileServer(lambda *_: as_json({"error": "changed"})) as server, pytest.raises(DownloadError, match="no list of results"):
        fetch_works(["W1", "W2"], tmp_path / "c.jsonl", base=server.url, web=web)
    (tmp_path / "bad.jsonl").write_text("not json\n", encoding="utf-8")
    with pytest.raises(InputError, match="line 1"):
        fetch_works(["W1"], tmp_path / "bad.jsonl", base="http://127.0.0.1:9", web=web)
    with pytest.raises(InputError, match="from 1 to 100"):
        fetch_works(["W1"], tmp_path / "c.jsonl", batch=500)
    with pytest.raises(InputError, match="no identifier"):
        fetch_works(["X1"], tmp_path / "c.jsonl", base="http://127.0.0.1:9", web=web)


@pytest.mark.parametrize(
    ("index", "expected"),
    [
        ({"a": [2], "b": [0, 5]}, "b a b"),
        ({}, None),
        (None, None),
        ({"a": []}, None),
        ({"a": "x"}, None),
        (["a"], None),
        ({"a": [0, None, "1"], "b": [1]}, "a b"),
    ],
)
def test_an_inverted_index_becomes_text(index: Any, expected: str | None) -> None:
    assert abstract_of(index) == expected


@pytest.fixture
def synergy_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "synergy"
    folder.mkdir()
    rows = [
        "pmid,doi,openalex_id,label_included",
        "https://pubmed.ncbi.nlm.nih.gov/1,,https://openalex.org/W1,1",
        ",https://doi.org/10.1000/a,,0",
        ",,,0",
        ",,https://openalex.org/W1,0",
    ]
    (folder / "Zinc_2020_ids.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def test_synergy_texts_are_fetched_into_the_folder_and_joined(synergy_folder: Path, web: Web) -> None:
    service = OpenAlex({1: work(1), 2: work(2, doi="https://doi.org/10.1000/A")})

    def script(asked: Asked, n: int) -> Reply:
        return as_json(service.works[2]) if "doi:10.1000/a" in urllib.parse.unquote(asked.path) else service(asked, n)

    with FileServer(script) as server:
        got = fetch_texts(synergy_folder, base=server.url, web=web)
    assert (got.asked, got.found) == (2, 2)
    corpus = SETS.get("synergy").load(synergy_folder)
    assert [record.title for record in corpus.records] == ["Invented work 1", "Invented work 2", None, "Invented work 1"]
    assert corpus.records[0].abstract == "Zinc helps and Zinc"
    assert corpus.records[0].year == 2001
    assert any("1 of 4 record(s) found no text" in note for note in corpus.notes)
    assert any("2 rows are matched to 1 OpenAlex works; 1 of these" in note for note in corpus.notes)
