"""A GROBID server, and many PDFs parsed by it."""

import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp

from litcascade.corpora.texts.grobid.asking import Asking, Outcome, side_by_side
from litcascade.corpora.texts.grobid.form import PLACED, Options, form_of
from litcascade.corpora.texts.grobid.replies import Fault
from litcascade.corpora.texts.grobid.service import Version, ask_version, is_alive
from litcascade.corpora.texts.grobid.tei_files import Keep
from litcascade.corpora.texts.grobid.throttle import Patience, Throttle
from litcascade.errors import InputError


@dataclass(frozen=True)
class Progress:
    """Where a run stands: `done` of `total` PDFs = `kept` from the cache + `parsed` + `faults`, `waiting` of them not final.

    `at_once` is how many requests the server is given at present.
    """

    total: int
    kept: int
    parsed: int
    faults: int
    waiting: int
    at_once: int

    @property
    def done(self) -> int:
        """PDFs that have a text or a fault."""
        return self.kept + self.parsed + self.faults


class GrobidServer:
    """A running GROBID server.

    `concurrency`: most requests at once (keep it at or below the server's own `concurrency`); `timeout`: seconds for one
    PDF; `coordinates`: page and box for the elements that the reader needs (True), for those named, or for none (False);
    `sentences`, `consolidate`: see `Options`. Raises `InputError` for what no server can have as its address, and
    `MissingExtraError` without the extra [grobid].
    """

    def __init__(
        self,
        url: str = "http://localhost:8070",
        *,
        concurrency: int = 4,
        timeout: float = 300.0,
        coordinates: bool | Iterable[str] = True,
        sentences: bool = False,
        consolidate: bool = False,
        patience: Patience | None = None,
    ) -> None:
        self.url = url.rstrip("/").removesuffix("/api")
        if not re.match(r"https?://[^/\s]+", self.url):
            raise InputError(f"'{url}' is no address of a GROBID server; give one like http://localhost:8070")
        if concurrency < 1 or timeout <= 0:
            raise InputError(f"GROBID: requests at once ({concurrency}) and seconds for a PDF ({timeout}) must be above 0")
        named = (PLACED if coordinates else ()) if isinstance(coordinates, bool) else tuple(coordinates)
        self.concurrency, self.timeout = concurrency, timeout
        self.options = Options(named, sentences, consolidate)
        self.patience = patience or Patience()
        self._form = form_of(self.url, self.options)

    async def alive(self) -> bool:
        """Whether a server answers that it is up."""
        async with self._session() as session:
            return await is_alive(session, self._form)

    async def version(self) -> Version:
        """What the server says of itself; no GROBID server at the address is a `BackendError`."""
        async with self._session() as session:
            return await ask_version(session, self._form, self.patience)

    async def parse(
        self, paths: Iterable[Path], keep: Keep, on_progress: Callable[[Progress], None] | None = None
    ) -> AsyncGenerator[tuple[Path, Outcome], None]:
        """Every path once, as it is done, with its text or why there is none.

        Texts that `keep` holds are not asked for. Whatever comes from the server is in `keep` before it is yielded;
        cancelling or closing (`contextlib.aclosing`) ends the requests under way. Raises `BackendError` where no server
        answers at the start; a server that is lost later leaves the rest as `FaultKind.WAITING`.
        """
        todo = list(paths)
        throttle = Throttle(self.concurrency)
        counts: Counter[str] = Counter()
        async with self._session() as session:
            version = await ask_version(session, self._form, self.patience)
            asking = Asking(session, self._form, version, self.options.digest(), keep, throttle, self.patience)
            async with aclosing(side_by_side(todo, asking.one, self.concurrency)) as results:
                async for path, outcome in results:
                    counts.update(_columns(outcome))
                    if on_progress:
                        on_progress(_progress(len(todo), counts, throttle.limit))
                    yield path, outcome

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[aiohttp.ClientSession]:
        timeout = aiohttp.ClientTimeout(total=self.timeout, sock_connect=min(20.0, self.timeout))
        accept = {"Accept": "application/xml, application/json, text/plain"}
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=timeout, headers=accept) as session:
            yield session


def _columns(outcome: Outcome) -> list[str]:
    if isinstance(outcome, Fault):
        return ["faults", "waiting"] if outcome.state is None else ["faults"]
    return ["kept" if outcome.kept else "parsed"]


def _progress(total: int, counts: Counter[str], at_once: int) -> Progress:
    return Progress(total, counts["kept"], counts["parsed"], counts["faults"], counts["waiting"], at_once)
