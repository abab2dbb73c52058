"""Asking a web server that fails: how patient a client is, and pages brought whole. Standard library only."""

import email.utils
import http.client
import json
import re
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from litcascade.errors import InputError, LitcascadeError

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 507, 509, 520, 521, 522, 523, 524})


class DownloadError(LitcascadeError):
    """Something could not be brought over the network; `status` is the HTTP status where a server answered.

    What arrived so far is kept, and the same command goes on from there.
    """

    exit_code = 3

    def __init__(self, message: str, *, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


class OtherFileError(DownloadError):
    """What a server sends is whole, but not the file that is pinned."""


@dataclass(frozen=True)
class Web:
    """How patient a client is.

    `tries`: attempts in a row that may bring nothing new; `pause`: seconds before the second, doubled each time, at most
    `longest`; a server that asks for a wait longer than `longest` (Retry-After) ends the call with its words.
    """

    tries: int = 6
    pause: float = 0.5
    longest: float = 60.0
    timeout: float = 30.0
    agent: str = "litcascade"
    headers: Mapping[str, str] = field(default_factory=dict)
    sleep: Callable[[float], None] = time.sleep

    def wait(self, attempt: int, asked: float | None, url: str) -> None:
        """Wait before the next attempt (`attempt` from 0), at least as long as the server asked."""
        if asked is not None and asked > self.longest:
            raise DownloadError(
                f"{shown(url)}: the server asks to come back in {asked:.0f} seconds; run the command again then", status=429
            )
        self.sleep(min(self.longest, max(self.pause * 2**attempt, asked or 0.0)))


def shown(url: str) -> str:
    """An address for messages: without its query, which may hold a key or an e-mail address."""
    return url.partition("?")[0]


def get(url: str, web: Web | None = None, *, limit: int = 64 * 2**20) -> bytes:
    """The body of a page of at most `limit` bytes, asked again while the server is busy or the line breaks.

    Raises `DownloadError` where the server refuses for good, answers more than `limit`, or never answers whole.
    """
    web = web or Web()
    fault = ""
    for attempt in range(web.tries):
        asked = None
        try:
            with send(url, web, {}) as response:
                body = response.read(limit + 1)
                if len(body) > limit:
                    raise DownloadError(f"{shown(url)}: the answer is larger than {limit // 2**20} MiB")
                if (length := length_of(response)) is None or len(body) == length:
                    return bytes(body)
                fault = f"the answer was cut after {len(body)} of {length} bytes"
        except urllib.error.HTTPError as error:
            fault, asked = refused(url, error)
        except (OSError, http.client.HTTPException) as error:
            fault = broken_off(error)
        if attempt + 1 < web.tries:
            web.wait(attempt, asked, url)
    raise DownloadError(f"{shown(url)}: {fault} ({web.tries} attempts); run the command again to go on")


def send(url: str, web: Web, headers: Mapping[str, str]) -> Any:
    """Send one request; only http and https, and never from https down to http."""
    if urllib.parse.urlsplit(url).scheme not in ("http", "https"):
        raise InputError(f"{shown(url)}: only http and https addresses are downloaded")
    request = urllib.request.Request(
        url, headers={"User-Agent": web.agent, "Accept-Encoding": "identity", **web.headers, **headers}
    )
    response = urllib.request.urlopen(request, timeout=web.timeout)
    if url.startswith("https:") and not response.geturl().startswith("https:"):
        response.close()
        raise DownloadError(f"{shown(url)}: the server redirects to an unprotected address; nothing was taken from there")
    if response.headers.get("Content-Encoding", "identity").lower() not in ("identity", ""):
        response.close()
        raise DownloadError(f"{shown(url)}: the server packs the body although it was asked not to; its length cannot be checked")
    return response


def refused(url: str, error: urllib.error.HTTPError) -> tuple[str, float | None]:
    """(What the server said, the wait it asked for in seconds); a refusal for good is a `DownloadError`."""
    with error:
        if error.code not in RETRIED:
            raise DownloadError(
                f"{shown(url)}: the server answered HTTP {error.code} ({error.reason})", status=error.code
            ) from None
        return f"the server answered HTTP {error.code} ({error.reason})", retry_after_of(error.headers.get("Retry-After"))


def retry_after_of(value: str | None) -> float | None:
    """Seconds to wait, given as a number or as a date; None where it says neither."""
    if not value:
        return None
    if re.fullmatch(r"\s*\d+(\.\d+)?\s*", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


def length_of(response: Any) -> int | None:
    """The length of the body as the server states it, in bytes; None where it does not."""
    value = response.headers.get("Content-Length")
    return int(value) if value and value.strip().isdigit() else None


def broken_off(error: Exception) -> str:
    """What happened to the line, in words."""
    reason = getattr(error, "reason", None) or error
    return f"the server cannot be reached or broke off ({reason or type(error).__name__})"


def get_json(url: str, web: Web | None = None, *, limit: int = 64 * 2**20) -> Any:
    """A JSON answer, as `get`; a body that is no JSON (an error page with status 200) is asked for again."""
    web = web or Web()
    for attempt in range(web.tries):
        body = get(url, web, limit=limit)
        try:
            return json.loads(body)
        except ValueError:
            if attempt + 1 < web.tries:
                web.wait(attempt, None, url)
    raise DownloadError(f"{shown(url)}: the server's answer is no JSON (perhaps an error page); run the command again to go on")
