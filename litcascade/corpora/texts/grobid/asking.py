"""PDFs sent to a GROBID server side by side, each until there is a text, a final fault, or no patience left."""

import asyncio
import hashlib
from collections import Counter, defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

import aiohttp

from litcascade.corpora.texts.grobid.form import Form
from litcascade.corpora.texts.grobid.pdfs import pdf_bytes
from litcascade.corpora.texts.grobid.replies import Again, Cause, Fault, FaultKind, Reply, judge
from litcascade.corpora.texts.grobid.service import Version, is_alive
from litcascade.corpora.texts.grobid.tei_files import Keep, Tei
from litcascade.corpora.texts.grobid.throttle import Patience, Throttle
from litcascade.web import retry_after_of as retry_after

TEI_LIMIT = 200 * 2**20
Outcome = Tei | Fault
_MORE: dict[Cause, int] = {"cut": 2, "timeout": 1, "failed": 1}
_ENDS: dict[Cause, FaultKind] = {"timeout": FaultKind.TIMEOUT, "failed": FaultKind.FAILED}
T = TypeVar("T")


@dataclass
class Asking:
    """One run against one server: what its requests share. `options` is the digest of what is asked."""

    session: aiohttp.ClientSession
    form: Form
    version: Version
    options: str
    keep: Keep
    throttle: Throttle
    patience: Patience
    _claims: defaultdict[str, asyncio.Lock] = field(default_factory=lambda: defaultdict(asyncio.Lock))
    _gone: str | None = None

    async def one(self, path: Path) -> Outcome:
        """The text of one file, kept or asked for; a PDF that lies there twice is asked for once."""
        pdf = await asyncio.to_thread(pdf_bytes, path)
        if isinstance(pdf, Fault):
            return pdf
        digest = hashlib.sha256(pdf).hexdigest()
        key = f"{digest[:32]}-{self.options}-grobid-{self.version.family}"
        async with self._claims[key]:
            kept = self.keep.get(key)
            if kept and kept.pdf == digest:
                return kept
            raw = await self._ask(pdf)
            if isinstance(raw, Fault):
                return replace(raw, version=self.version.version)
            tei = Tei(raw, digest, self.version.version, self.options)
            self.keep.put(key, tei)
            return tei

    async def _ask(self, pdf: bytes) -> bytes | Fault:
        failures: Counter[Cause] = Counter()
        while not self._gone:
            async with self.throttle:
                answer = await self._once(pdf)
                self._note(answer)
            if not isinstance(answer, Again):
                if isinstance(answer, Fault) and answer.stop:
                    self._gone = answer.why
                return answer
            failures[answer.cause] += 1
            wait = self.patience.seconds(failures.total() - 1, answer.asked)
            if failures[answer.cause] > _MORE.get(answer.cause, self.patience.tries - 1) or wait is None:
                return await self._given_up(answer, failures.total())
            await self.patience.sleep(wait)
        return Fault(FaultKind.WAITING, self._gone)

    def _note(self, answer: bytes | Fault | Again) -> None:
        if not isinstance(answer, Again):
            self.throttle.went_well()
        elif answer.cause in ("busy", "timeout"):
            self.throttle.busy()

    async def _given_up(self, last: Again, asked: int) -> Fault:
        """The fault after the last failure; a server that is gone ends the asking for all."""
        if last.cause == "lost" and not await is_alive(self.session, self.form):
            self._gone = f"the server is gone: {last.why}"
        later = last.asked is not None and last.asked > self.patience.longest
        come_back = f"; it asks to come back in {last.asked:.0f} seconds" if later else ""
        return Fault(_ENDS.get(last.cause, FaultKind.WAITING), f"{last.why}{come_back} (asked {asked} times)", last.code)

    async def _once(self, pdf: bytes) -> bytes | Fault | Again:
        try:
            reply = await self._send(pdf)
        except aiohttp.ConnectionTimeoutError as error:
            return Again("lost", f"the server cannot be reached ({error})")
        except TimeoutError:
            return Again("timeout", "the server did not answer in time")
        except aiohttp.ClientPayloadError as error:
            return Again("cut", f"the answer broke off ({error})")
        except (aiohttp.ClientError, OSError) as error:
            return Again("lost", f"the connection was lost ({str(error) or type(error).__name__})")
        return judge(reply, hashlib.md5(pdf, usedforsecurity=False).hexdigest())

    async def _send(self, pdf: bytes) -> Reply:
        form = aiohttp.FormData()
        form.add_field("input", pdf, filename="document.pdf", content_type="application/pdf")
        for name, value in self.form.fields:
            form.add_field(name, value)
        async with self.session.post(self.form.url, data=form) as response:
            body = bytearray()
            async for piece in response.content.iter_chunked(2**16):
                body += piece
                if len(body) > TEI_LIMIT:
                    raise aiohttp.ClientPayloadError(f"more than {TEI_LIMIT // 2**20} MiB")
            headers = response.headers
            asked = retry_after(headers.get("Retry-After"))
            return Reply(response.status, headers.get("Content-Type", ""), bytes(body), asked)


async def side_by_side(
    paths: Iterable[Path], work: Callable[[Path], Awaitable[T]], at_once: int
) -> AsyncGenerator[tuple[Path, T], None]:
    """Each path with what `work` makes of it, as it is done; leaving the loop cancels what is under way and waits for it."""
    todo = iter(paths)
    under_way: dict[asyncio.Future[T], Path] = {}
    try:
        while True:
            while len(under_way) < at_once and (path := next(todo, None)) is not None:
                under_way[asyncio.ensure_future(work(path))] = path
            if not under_way:
                return
            done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield under_way.pop(task), task.result()
    finally:
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
