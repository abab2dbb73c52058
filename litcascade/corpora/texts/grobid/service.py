"""What a GROBID server says of itself."""

import json
import re
from dataclasses import dataclass

import aiohttp

from litcascade.corpora.texts.grobid.form import Form
from litcascade.corpora.texts.grobid.throttle import Patience
from litcascade.errors import BackendError


@dataclass(frozen=True)
class Version:
    """The version of a server, as 0.8.2, and the revision it was built from where it says."""

    version: str
    revision: str | None = None

    @property
    def family(self) -> str:
        """Major and minor version: texts of one family stand for one another."""
        return ".".join(self.version.split(".")[:2])


async def is_alive(session: aiohttp.ClientSession, form: Form) -> bool:
    """Whether a server answers that it is up."""
    try:
        async with session.get(form.alive, timeout=aiohttp.ClientTimeout(total=10)) as response:
            return response.status == 200 and (await response.text(errors="replace")).strip().lower() == "true"
    except (aiohttp.ClientError, TimeoutError, OSError):
        return False


async def ask_version(session: aiohttp.ClientSession, form: Form, patience: Patience) -> Version:
    """The server's version, asked for up to three times; no GROBID server at the address is a `BackendError`."""
    fault = ""
    for attempt in range(3):
        if attempt:
            await patience.sleep(patience.seconds(attempt, None) or 0.0)
        try:
            async with session.get(form.version, timeout=aiohttp.ClientTimeout(total=20)) as response:
                found = read_version(await response.text(errors="replace")) if response.status == 200 else None
                if found:
                    return found
                fault = f"HTTP {response.status} and no version"
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            fault = str(error) or type(error).__name__
    where = form.version.removesuffix("/api/version")
    raise BackendError(f"{where}: no GROBID server answers there ({fault}); start one or give another address", fatal=True)


def read_version(text: str) -> Version | None:
    """The version from JSON, as GROBID answers, or from a bare number, as early servers did; None where it is neither."""
    try:
        told = json.loads(text)
    except ValueError:
        told = {"version": text.strip()}
    if not isinstance(told, dict):
        return None
    version, revision = told.get("version"), told.get("revision")
    if not isinstance(version, str) or not re.fullmatch(r"\d+\.\d+[\w.+-]*", version):
        return None
    return Version(version, revision if isinstance(revision, str) else None)
