"""One local server that stands for Unpaywall, OpenAlex, PMC's services and the publishers, and misbehaves as told.

What it holds is invented. Shapes of the answers follow the services' own documentation.
"""

import json
import threading
import time
import urllib.parse
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.grobid_server import pdf_of

PAGE = b"<!DOCTYPE html>\n<html><head><title>Zinc for colds</title></head><body>Buy this paper.</body></html>"


@dataclass
class Reply:
    """What to send; `cut` breaks the line after so many bytes, `counted` says the length, `drip` seconds between bytes."""

    body: bytes = b""
    status: int = 200
    kind: str = "application/json"
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    counted: bool = True
    delay: float = 0.0
    drip: float = 0.0


@dataclass
class Asked:
    """One request: its path, its query, its headers (names in lower case), and when it came."""

    path: str
    query: dict[str, str]
    headers: dict[str, str]
    at: float


@dataclass
class Work:
    """A paper as the services know it; `pdfs` and `pages` are addresses of open copies."""

    doi: str | None = None
    pmid: str | None = None
    pmcid: str | None = None
    is_open: bool = True
    pdfs: list[str] = field(default_factory=list)
    pages: list[str] = field(default_factory=list)
    jats: bytes | None = None
    cloud_pdf: bytes | None = None
    licence: str = "cc-by"


def jats_of(doi: str = "10.5555/z.1", *, body: str = "<sec><title>Methods</title><p>Forty adults took zinc.</p></sec>") -> bytes:
    """Invented JATS in the wrapping that efetch puts around it; without a body where that is empty."""
    inside = f"<body>{body}</body>" if body else "<!--not for download-->"
    return (
        '<?xml version="1.0" ?><!DOCTYPE pmc-articleset PUBLIC "-//NLM//DTD ARTICLE SET 2.0//EN" "x.dtd"><pmc-articleset>'
        f'<article><front><article-meta><article-id pub-id-type="doi">{doi}</article-id><title-group><article-title>Zinc'
        f"</article-title></title-group></article-meta></front>{inside}</article></pmc-articleset>"
    ).encode()


Script = Callable[[Asked], Reply | None]


class OpenAccessServer:
    """Holds `works` and `files` (path to bytes or `Reply`); `script` may answer any request first, or be the answer to all.

    More than `per_second` requests to NCBI's services within a second are refused as NCBI refuses them.
    """

    def __init__(self) -> None:
        self.works: list[Work] = []
        self.files: dict[str, bytes | Reply] = {}
        self.script: Script | Reply | None = None
        self.per_second: int | None = None
        self.asked: list[Asked] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, format: str, *args: Any) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> "OpenAccessServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()

    @property
    def base_urls(self) -> dict[str, str]:
        """Addresses to give to `retrieve`."""
        names = ("unpaywall", "openalex", "pmc", "pmc_ids", "pmc_cloud")
        return {name: f"{self.url}/{name}" for name in names}

    def paths(self) -> list[str]:
        """The paths asked, in order, without their first part where that is a service's."""
        return [asked.path for asked in self.asked]

    def put(self, name: str, *words: str) -> str:
        """An address of a PDF with these words."""
        self.files[f"/files/{name}"] = pdf_of(*(words or (name,)))
        return f"{self.url}/files/{name}"

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        part = urllib.parse.urlsplit(handler.path)
        query = dict(urllib.parse.parse_qsl(part.query))
        headers = {name.lower(): value for name, value in handler.headers.items()}
        asked = Asked(urllib.parse.unquote(part.path), query, headers, time.monotonic())
        self.asked.append(asked)
        script = self.script
        reply = script if isinstance(script, Reply) else (script(asked) if script else None) or self._usual(asked)
        time.sleep(reply.delay)
        handler.close_connection = True
        try:
            self._send(handler, reply)
        except OSError:
            """The client went away."""

    def _send(self, handler: BaseHTTPRequestHandler, reply: Reply) -> None:
        handler.send_response(reply.status)
        handler.send_header("Content-Type", reply.kind)
        handler.send_header("Connection", "close")
        if reply.counted:
            handler.send_header("Content-Length", str(len(reply.body)))
        for name, value in reply.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        body = reply.body if reply.cut is None else reply.body[: reply.cut]
        for start in range(0, len(body), 1 if reply.drip else max(1, len(body))):
            handler.wfile.write(body[start : start + 1] if reply.drip else body)
            handler.wfile.flush()
            time.sleep(reply.drip)

    def _usual(self, asked: Asked) -> Reply:
        service, _, rest = asked.path.lstrip("/").partition("/")
        if service in ("pmc", "pmc_ids") and self._too_fast(asked):
            return told({"error": "API rate limit exceeded", "count": "4"}, 429)
        if service == "unpaywall":
            return self._unpaywall(rest, asked)
        if service == "openalex":
            return self._openalex(rest.removeprefix("works/"))
        if service == "pmc_ids":
            return self._converted(asked)
        if service == "pmc":
            return self._efetch(asked)
        if service == "pmc_cloud":
            return self._cloud(rest, asked)
        found = self.files.get(asked.path)
        return Reply(found, kind="application/pdf") if isinstance(found, bytes) else found or Reply(PAGE, 404, "text/html")

    def _too_fast(self, asked: Asked) -> bool:
        if self.per_second is None:
            return False
        near = [one for one in self.asked if one.path.startswith("/pmc") and asked.at - one.at < 1 and "cloud" not in one.path]
        return len(near) > self.per_second

    def _find(self, **ids: str) -> Work | None:
        return next((work for work in self.works for name, value in ids.items() if getattr(work, name) == value), None)

    def _unpaywall(self, doi: str, asked: Asked) -> Reply:
        if "@" not in asked.query.get("email", "") or asked.query["email"].endswith("@example.com"):
            return told({"error": True, "message": "Please use your own email address in API calls."}, 422)
        work = self._find(doi=doi)
        if work is None:
            return told({"error": True, "message": f"'{doi}' isn't in Unpaywall."}, 404)
        places = [{"url_for_pdf": url, "url": url, "license": work.licence} for url in work.pdfs]
        places += [{"url_for_pdf": "", "url": url, "license": ""} for url in work.pages]
        best = places[0] if places and work.is_open else None
        return told({"doi": doi, "is_oa": work.is_open, "best_oa_location": best, "oa_locations": places if work.is_open else []})

    def _openalex(self, key: str) -> Reply:
        kind, _, value = key.partition(":")
        work = self._find(**{kind: value})
        if work is None:
            return Reply(PAGE, 404, "text/html")
        places = [{"pdf_url": url, "landing_page_url": url, "is_oa": True, "license": work.licence} for url in work.pdfs]
        places += [{"pdf_url": None, "landing_page_url": url, "is_oa": True} for url in work.pages]
        shut = {"pdf_url": f"{self.url}/files/paywalled.pdf", "landing_page_url": None, "is_oa": False}
        access = {"is_oa": work.is_open, "oa_url": None}
        if not work.is_open:
            return told({"id": "W1", "open_access": access, "best_oa_location": None, "locations": [shut]})
        return told({"id": "W1", "open_access": access, "best_oa_location": places[0], "locations": [shut, *places]})

    def _converted(self, asked: Asked) -> Reply:
        work = self._find(**{asked.query["idtype"]: asked.query["ids"]})
        if work is None or not work.pmcid:
            record = {"requested-id": asked.query["ids"], "status": "error", "errmsg": "Identifier not found in PMC"}
            return told({"status": "ok", "records": [record]})
        return told({"status": "ok", "records": [{"pmcid": work.pmcid, "doi": work.doi, "pmid": work.pmid}]})

    def _efetch(self, asked: Asked) -> Reply:
        work = self._find(pmcid=f"PMC{asked.query['id']}")
        if work is None:
            return Reply(b"<pmc-articleset><error>no items</error></pmc-articleset>", kind="text/xml")
        return Reply(work.jats or jats_of(work.doi or "10.5555/z", body=""), kind="text/xml")

    def _cloud(self, rest: str, asked: Asked) -> Reply:
        if "prefix" in asked.query:
            pmcid = asked.query["prefix"].removeprefix("metadata/").rstrip(".")
            work = self._find(pmcid=pmcid)
            names = [f"metadata/{pmcid}.{version}.json" for version in (1, 10, 2)] if work and work.cloud_pdf else []
            inside = "".join(f"<Contents><Key>{name}</Key></Contents>" for name in names)
            listing = f'<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">{inside}</ListBucketResult>'
            return Reply(listing.encode(), kind="application/xml")
        name = rest.rpartition("/")[2].rpartition(".")[0]
        if rest.startswith("metadata/"):
            address = f"s3://pmc-oa-opendata/{name}/{name}.pdf?md5=0"
            return told({"pmcid": name.partition(".")[0], "pdf_url": address, "license_code": "CC BY", "is_pmc_openaccess": True})
        work = self._find(pmcid=name.partition(".")[0])
        return Reply(work.cloud_pdf, kind="application/pdf") if work and work.cloud_pdf else Reply(b"<Error/>", 404, "text/xml")


def told(value: Any, status: int = 200) -> Reply:
    """A JSON answer."""
    return Reply(json.dumps(value).encode(), status)
