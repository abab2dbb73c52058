"""Asking other people's services politely: so many requests a second to a host, and none where it says not now."""

import http.client
import json
import time
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from litcascade.corpora.texts.retrieval.guard import Guard, UnsafeError
from litcascade.web import RETRIED, DownloadError, Web, broken_off, length_of, refused, shown

CHUNK = 1 << 16
ANSWER_LIMIT = 16 * 2**20
GIVE_UP = 3


@dataclass(frozen=True)
class Got:
    """A body with its content type; `counted` says that its end is known to have come (the server said its length)."""

    body: bytes
    content_type: str
    counted: bool


@dataclass
class Pace:
    """Seconds between two requests to a host: `own` for those named (a key is a host with its port), else `usual`."""

    own: Mapping[str, float] = field(default_factory=dict)
    usual: float = 1.0
    clock: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    _next: dict[str, float] = field(default_factory=dict)

    def wait(self, host: str) -> None:
        """Wait until the host may be asked again, and count this request."""
        now = self.clock()
        due = max(now, self._next.get(host, now))
        if due > now:
            self.sleep(due - now)
        self._next[host] = due + self.own.get(host, self.usual)


class Asker:
    """One run's requests: paced by host, retried with patience, guarded, bounded in size and time.

    A host that asks for a long wait, or fails three times in a row, is not asked again in this run.
    """

    def __init__(self, web: Web, guard: Guard, pace: Pace, *, longest_answer: float = 600.0) -> None:
        self.web, self._guard, self._pace, self._longest = web, guard, pace, longest_answer
        self._closed: dict[str, str] = {}
        self._failures: Counter[str] = Counter()

    def json(self, url: str) -> Any:
        """A JSON answer; what is no JSON is a `DownloadError` for now."""
        try:
            return json.loads(self.get(url, limit=ANSWER_LIMIT).body)
        except ValueError:
            raise DownloadError(f"{shown(url)}: the answer is no JSON") from None

    def get(self, url: str, *, limit: int) -> Got:
        """The body behind an address, of at most `limit` bytes.

        Raises `DownloadError`: with a `status` outside `RETRIED` where the refusal is for good, else for now.
        """
        self._guard.check(url)
        host = urllib.parse.urlsplit(url).netloc.lower()
        if host in self._closed:
            raise DownloadError(f"{shown(url)}: not asked, for the host said earlier: {self._closed[host]}")
        try:
            got = self._tried(url, host, limit)
        except DownloadError as error:
            self._note(host, error)
            raise
        self._failures[host] = 0
        return got

    def _note(self, host: str, error: DownloadError) -> None:
        if for_good(error):
            return
        self._failures[host] += 1
        if error.status == 429 or self._failures[host] >= GIVE_UP:
            self._closed[host] = str(error).partition(": ")[2] or str(error)

    def _tried(self, url: str, host: str, limit: int) -> Got:
        fault = ""
        for attempt in range(self.web.tries):
            asked = None
            self._pace.wait(host)
            try:
                return self._once(url, limit)
            except _CutError as error:
                fault = str(error)
            except urllib.error.HTTPError as error:
                fault, asked = refused(url, error)
            except (OSError, http.client.HTTPException) as error:
                fault = broken_off(error)
            if attempt + 1 < self.web.tries:
                self.web.wait(attempt, asked, url)
        raise DownloadError(f"{shown(url)}: {fault} ({self.web.tries} attempts)")

    def _once(self, url: str, limit: int) -> Got:
        headers = {"User-Agent": self.web.agent, "Accept-Encoding": "identity", **self.web.headers}
        request = urllib.request.Request(url, headers=headers)
        until = self._pace.clock() + self._longest
        with self._guard.opener().open(request, timeout=self.web.timeout) as response:
            expected = length_of(response)
            if expected is not None and expected > limit:
                raise too_large(url, limit)
            body = bytearray()
            while piece := response.read1(CHUNK):
                body += piece
                if len(body) > limit:
                    raise too_large(url, limit)
                if self._pace.clock() > until:
                    raise _CutError(f"the answer took longer than {self._longest:.0f} seconds")
            if expected is not None and len(body) != expected:
                raise _CutError(f"the answer was cut after {len(body)} of {expected} bytes")
            if response.headers.get("Content-Encoding", "identity").lower() not in ("identity", ""):
                raise _CutError("the server packs the body although it was asked not to")
            counted = expected is not None or bool(response.chunked)
            return Got(bytes(body), response.headers.get_content_type(), counted)


class _CutError(Exception):
    """An answer that did not come whole."""


class TooLargeError(DownloadError):
    """An answer larger than is taken."""


def too_large(url: str, limit: int) -> TooLargeError:
    """The error for a body beyond the limit."""
    return TooLargeError(f"{shown(url)}: larger than {limit / 2**20:.0f} MiB")


def for_good(error: DownloadError) -> bool:
    """Whether asking again later is of no use."""
    return isinstance(error, UnsafeError | TooLargeError) or (error.status is not None and error.status not in RETRIED)
