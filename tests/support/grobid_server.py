"""A local server that speaks like GROBID 0.8.2 and misbehaves as told.

Shapes of its replies follow the service's source: TEI as `application/xml; charset=UTF-8`, errors as `[CODE] words` with
status 500, a busy pool as 503 without a body, nothing found as 204.
"""

import asyncio
import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import BodyPartReader, web

XML = "application/xml; charset=UTF-8"


@dataclass
class Asked:
    """One PDF that was posted: its number from 0, its bytes, and the fields of the form."""

    number: int
    pdf: bytes
    fields: dict[str, list[str]]


@dataclass
class Say:
    """What to answer: TEI of the PDF by default; `cut` ends the line after so many bytes, `drip` sends a byte that often."""

    body: str | bytes | None = None
    status: int = 200
    kind: str | None = XML
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    abort: bool = False
    cut: int | None = None
    drip: float = 0.0


Answerer = Callable[[Asked], Say]


def pdf_of(*words: str) -> bytes:
    """A PDF of one page with a line for each argument; same words, same bytes."""
    lines = b"".join(b"BT /F1 11 Tf 60 %d Td (%s) Tj ET\n" % (760 - 14 * n, w.encode("latin-1")) for n, w in enumerate(words))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(lines), lines),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    raw, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, start=1):
        places.append(len(raw))
        raw += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(raw)
    raw += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    raw += b"".join(b"%010d 00000 n \n" % place for place in places)
    raw += b"trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(raw)


def tei_of(pdf: bytes, version: str = "0.8.2") -> str:
    """Invented TEI of a PDF, with the MD5 that GROBID writes into the header."""
    md5 = hashlib.md5(pdf, usedforsecurity=False).hexdigest().upper()
    text = "Forty adults with naïve colds took 75 mg of zinc daily for a week. " * 5
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<TEI xml:space="preserve" xmlns="http://www.tei-c.org/ns/1.0"><teiHeader>'
        f'<fileDesc><titleStmt><title level="a" type="main">Zinc for colds {md5[:6]}</title></titleStmt>'
        f'<sourceDesc><biblStruct><idno type="MD5">{md5}</idno></biblStruct></sourceDesc></fileDesc>'
        f'<encodingDesc><appInfo><application version="{version}" ident="GROBID"/></appInfo></encodingDesc></teiHeader>'
        f"<text><body><div><head>Methods</head><p>{text}</p></div></body></text></TEI>\n"
    )


class LocalGrobid:
    """Runs in a thread of its own. `answer` may be replaced at any time; every PDF posted is kept in `asked`.

    `engines`: more requests than that at once are told that the server is busy. `up` is what it says of itself.
    """

    def __init__(self, version: str = "0.8.2") -> None:
        self.reported: str | dict[str, str] = {"version": version, "revision": "abcdef1"}
        self.answer: Answerer | Say = Say()
        self.engines: int | None = None
        self.up = True
        self.asked: list[Asked] = []
        self.most_at_once = 0
        self.turned_away = 0
        self.url = ""
        self._now = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._ready = threading.Event()

    def __enter__(self) -> "LocalGrobid":
        self._thread.start()
        assert self._ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        """End the server; its port is closed when this returns."""
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(10)
            self._loop.close()

    def times(self, pdf: bytes) -> int:
        """How often a PDF was posted."""
        return sum(asked.pdf == pdf for asked in self.asked)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_get("/api/isalive", self._isalive)
        app.router.add_get("/api/version", self._version)
        app.router.add_post("/api/processFulltextDocument", self._parse)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        self._ready.set()
        await self._stop.wait()
        await runner.cleanup()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _isalive(self, _: web.Request) -> web.Response:
        return web.Response(text="true") if self.up else web.Response(status=503)

    async def _version(self, _: web.Request) -> web.Response:
        if isinstance(self.reported, dict):
            return web.json_response(self.reported)
        return web.Response(text=self.reported, content_type="text/html" if "<" in self.reported else "text/plain")

    async def _parse(self, request: web.Request) -> web.StreamResponse:
        fields: dict[str, list[str]] = {}
        pdf = b""
        parts = await request.multipart()
        while isinstance(part := await parts.next(), BodyPartReader):
            if part.name == "input":
                pdf = bytes(await part.read())
            else:
                fields.setdefault(part.name or "", []).append(await part.text())
        self.asked.append(Asked(len(self.asked), pdf, fields))
        if self.engines is not None and self._now >= self.engines:
            self.turned_away += 1
            return web.Response(status=503)
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        try:
            answer = self.answer
            return await self._say(request, answer if isinstance(answer, Say) else answer(self.asked[-1]), pdf)
        finally:
            self._now -= 1

    async def _say(self, request: web.Request, say: Say, pdf: bytes) -> web.StreamResponse:
        await asyncio.sleep(say.delay)
        transport = request.transport
        if transport is None:  # the client did not wait
            return web.Response()
        if say.abort:
            transport.abort()
        body = tei_of(pdf) if say.body is None else say.body
        raw = body.encode() if isinstance(body, str) else body
        headers = say.headers | ({"Content-Type": say.kind} if say.kind else {})
        if say.cut is None and not say.drip:
            return web.Response(body=raw, status=say.status, headers=headers)
        response = web.StreamResponse(status=say.status, headers=headers | {"Content-Length": str(len(raw))})
        await response.prepare(request)
        for start in range(0, len(raw) if say.cut is None else say.cut, 1 if say.drip else len(raw)):
            await response.write(raw[start : start + 1] if say.drip else raw[: say.cut])
            await asyncio.sleep(say.drip)
        if say.cut is not None:
            transport.abort()
        return response
