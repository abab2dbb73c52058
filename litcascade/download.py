"""Files brought over a network that fails: retries, resumption, and a check of what arrived. Standard library only.

A file is written beside its place as `NAME.part` and takes its name when it is whole: complete by the server's own
count, of the pinned size and SHA-256 where these are given, and no web page dressed as a file. What arrived before an
interruption is kept, and the next call goes on from there where the server still has the same file.
"""

import hashlib
import http.client
import json
import os
import re
import urllib.error
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from litcascade.errors import InputError
from litcascade.web import DownloadError, OtherFileError, Web, broken_off, length_of, refused, send, shown

CHUNK = 1 << 20
_PAGE = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE)
Progress = Callable[[int, int | None], None]


@dataclass(frozen=True)
class Downloaded:
    """A file that was brought: its size in bytes, its SHA-256, and how it came.

    `resumed_from`: bytes that were there from an earlier call; `attempts`: requests sent, 0 where the file was there.
    """

    path: Path
    size: int
    sha256: str
    attempts: int
    resumed_from: int = 0


def sha256_of(path: Path) -> str:
    """SHA-256 of a file as 64 hexadecimal digits, read in pieces."""
    state = hashlib.sha256()
    with path.open("rb") as handle:
        while piece := handle.read(CHUNK):
            state.update(piece)
    return state.hexdigest()


def download(
    url: str,
    target: Path,
    *,
    sha256: str | None = None,
    size: int | None = None,
    page: bool = False,
    web: Web | None = None,
    progress: Progress | None = None,
) -> Downloaded:
    """Bring `url` to `target`; a file that is there is checked, not asked for again.

    `sha256` and `size` pin the file; `page` says that a web page is what is wanted. `progress` gets (bytes so far,
    bytes in all or None). Raises `DownloadError` for what the network did, `InputError` for what a person must mend.
    """
    web = web or Web()
    if target.exists():
        return _already_there(target, sha256, size)
    target.parent.mkdir(parents=True, exist_ok=True)
    job = _Job(url, target, sha256, size, page, web, progress)
    job.run()
    digest = sha256_of(job.part)
    if sha256 and digest != sha256 and job.patched:  # pieces of two versions of the file: once more from the start
        job.forget()
        job.run()
        digest = sha256_of(job.part)
    if sha256 and digest != sha256:
        job.forget()
        raise OtherFileError(
            f"{shown(url)}: the file has another SHA-256 ({digest[:12]}…) than the pinned one ({sha256[:12]}…); nothing was kept"
        )
    length = job.part.stat().st_size
    job.part.replace(target)
    job.marks.unlink(missing_ok=True)
    return Downloaded(target, length, digest, job.attempts, job.resumed_from)


def _already_there(target: Path, sha256: str | None, size: int | None) -> Downloaded:
    if not target.is_file():
        raise InputError(f"{target}: is not a file; move it away to download there")
    digest, length = sha256_of(target), target.stat().st_size
    if (sha256 and digest != sha256) or (size is not None and length != size):
        raise InputError(f"{target}: is not the file that is pinned (SHA-256 or size differ); move it away to download it again")
    return Downloaded(target, length, digest, 0)


class _Job:
    """One download: the part file, the marks that say which version it belongs to, and the attempts."""

    def __init__(
        self, url: str, target: Path, sha256: str | None, size: int | None, page: bool, web: Web, progress: Progress | None
    ) -> None:
        self.url, self.sha256, self.size, self.page, self.web, self.progress = url, sha256, size, page, web, progress
        self.part = target.with_name(target.name + ".part")
        self.marks = target.with_name(target.name + ".part.json")
        self.attempts = 0
        self.resumed_from = self.have()
        self.patched = False

    def have(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def forget(self) -> None:
        self.part.unlink(missing_ok=True)
        self.marks.unlink(missing_ok=True)
        self.resumed_from, self.patched = 0, False

    def run(self) -> None:
        """Ask until the file is whole; attempts that bring nothing beyond what was there count against `tries`."""
        idle, most = 0, self.have()
        while True:
            self.attempts += 1
            whole, fault, asked = self.attempt()
            if whole:
                return
            idle, most = (0, self.have()) if self.have() > most else (idle + 1, most)
            if idle >= self.web.tries:
                raise DownloadError(f"{shown(self.url)}: {fault}; {self.have()} bytes are kept, run the command again to go on")
            self.web.wait(max(0, idle - 1), asked, self.url)

    def attempt(self) -> tuple[bool, str, float | None]:
        """One request: (whether the file is whole now, else what went wrong, and the wait the server asked for)."""
        asked_range = self.range_headers()
        try:
            with send(self.url, self.web, asked_range) as response:
                return self.take(response, bool(asked_range))
        except urllib.error.HTTPError as error:
            if error.code == 416:
                return self.beyond_the_end(error)
            fault, asked = refused(self.url, error)
            return False, fault, asked
        except (OSError, http.client.HTTPException) as error:
            return False, broken_off(error), None

    def range_headers(self) -> dict[str, str]:
        """The headers that ask for the rest; none where nothing is there, or nothing could tell two versions apart."""
        have = self.have()
        mark = self.mark()
        if not have or not (mark or self.sha256):
            return {}
        return {"Range": f"bytes={have}-"} | ({"If-Range": mark} if mark else {})

    def mark(self) -> str | None:
        """The version of the file that the part belongs to (ETag or date), None where that is not known."""
        try:
            marks = json.loads(self.marks.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        return str(marks["mark"]) if isinstance(marks, dict) and marks.get("url") == self.url and marks.get("mark") else None

    def beyond_the_end(self, error: urllib.error.HTTPError) -> tuple[bool, str, None]:
        with error:
            total = _total(error.headers.get("Content-Range"))
        if total is not None and total == self.have() and self.size in (None, total):
            return True, "", None
        self.forget()
        return False, "the server's file is shorter than what was there; asked again from the start", None

    def take(self, response: Any, asked_range: bool) -> tuple[bool, str, float | None]:
        """Write the body; the rest is appended only where the server sends exactly the rest."""
        append = asked_range and response.status == 206
        if response.status == 206 and not (append and _start(response.headers.get("Content-Range")) == self.have()):
            self.forget()
            return False, "the server sent another piece than was asked for", None
        length = length_of(response)
        expected = None if length is None else length + (self.have() if append else 0)
        self.refuse_other_size(expected)
        start = response.read(CHUNK)
        if not append and self.is_page(response, start):
            return False, "the server sent a web page instead of the file (perhaps an error page)", None
        self.note_version(response, append)
        with self.writing("ab" if append else "wb") as out:
            while start:
                self.write(out, start, expected)
                start = response.read(CHUNK)
        if expected is not None and self.have() != expected:
            return False, f"the line broke after {self.have()} of {expected} bytes", None
        if self.size is not None and self.have() != self.size:
            raise DownloadError(f"{shown(self.url)}: the server sent {self.have()} bytes where {self.size} are pinned")
        return True, "", None

    def refuse_other_size(self, expected: int | None) -> None:
        if self.size is not None and expected is not None and expected != self.size:
            raise DownloadError(f"{shown(self.url)}: the server's file has {expected} bytes where {self.size} are pinned")

    def is_page(self, response: Any, start: bytes) -> bool:
        if self.page:
            return False
        return str(response.headers.get_content_type()) in ("text/html", "application/xhtml+xml") or bool(_PAGE.match(start))

    def note_version(self, response: Any, append: bool) -> None:
        """Remember the version; without one, a later call can go on only where a hash is pinned."""
        self.patched = self.patched or append
        if not append:
            tag = response.headers.get("ETag") or ""
            mark = tag if tag.startswith('"') else response.headers.get("Last-Modified")
            self.resumed_from = 0
            self.marks.write_text(json.dumps({"url": self.url, "mark": mark}), encoding="utf-8")

    def writing(self, mode: str) -> IO[bytes]:
        try:
            return self.part.open(mode)
        except OSError as error:
            raise InputError(f"{self.part}: cannot be written ({error.strerror}); choose another folder") from None

    def write(self, out: IO[bytes], piece: bytes, expected: int | None) -> None:
        try:
            out.write(piece)
            out.flush()
        except OSError as error:
            raise InputError(f"{self.part}: cannot be written ({error.strerror}); free space and run the command again") from None
        if self.progress:
            self.progress(os.fstat(out.fileno()).st_size, expected)


def _start(value: str | None) -> int | None:
    match = re.match(r"bytes (\d+)-", value or "")
    return int(match.group(1)) if match else None


def _total(value: str | None) -> int | None:
    match = re.search(r"/(\d+)$", value or "")
    return int(match.group(1)) if match else None
