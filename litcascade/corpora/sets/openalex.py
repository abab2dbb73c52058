"""Titles and abstracts from OpenAlex, by identifier, into a cache file that later calls go on from.

The works endpoint is asked for batches (`filter=openalex:W1|W2|…`); what a batch does not bring is asked for alone, which
follows works that were merged; what is not there either is remembered as absent. Every answer is written to the cache
before the next question, so an interrupted call loses at most one batch.
"""

import json
import os
import urllib.parse
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from litcascade.corpora.build import read_doi
from litcascade.corpora.sets.texts import openalex_id
from litcascade.errors import InputError
from litcascade.web import DownloadError, Web, get_json

BASE = "https://api.openalex.org"
BATCH = 50
_SELECT = "id,ids,doi,title,publication_year,type,abstract_inverted_index,primary_location,authorships"
_ALONE = frozenset("|,:()&+ ")


@dataclass(frozen=True)
class Fetched:
    """What a call came to: `asked` = `cached` + `found` + `absent`; `requests` were sent."""

    asked: int
    cached: int
    found: int
    absent: int
    requests: int


def abstract_of(index: Any) -> str | None:
    """The text of an inverted index (word to its places, from 0), words in order of place; None where there is none."""
    if not isinstance(index, dict):
        return None
    places = [(place, str(word)) for word, where in index.items() if isinstance(where, list) for place in where]
    return " ".join(word for _, word in sorted((place, word) for place, word in places if isinstance(place, int))) or None


def fetch_works(
    keys: Sequence[str],
    cache: Path,
    *,
    base: str = BASE,
    mailto: str | None = None,
    api_key: str | None = None,
    batch: int = BATCH,
    web: Web | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Fetched:
    """Bring the works of `keys` (`W123`, `doi:10.…`, `pmid:123`) into the cache, a file of JSON lines.

    `mailto` is sent for the polite pool, `api_key` where the service asks for one. `batch` is from 1 to 100. Raises
    `DownloadError` where the service refuses or does not answer; what came before is in the cache.
    """
    if not 1 <= batch <= 100:
        raise InputError(f"a batch of {batch} works is not from 1 to 100, as OpenAlex takes them")
    wanted = list(dict.fromkeys(keys))
    there = _cached(cache)
    open_keys = [key for key in wanted if key not in there]
    client = _Client(base.rstrip("/"), {"mailto": mailto, "api_key": api_key}, web or Web())
    done, found = len(wanted) - len(open_keys), 0
    cached = done
    for some in _batches(open_keys, batch):
        lines = client.ask(some)
        _append(cache, lines)
        found += sum("absent" not in line for line in lines)
        done += len(some)
        if progress:
            progress(done, len(wanted))
    return Fetched(len(wanted), cached, found, len(open_keys) - found, client.requests)


def _batches(keys: Sequence[str], size: int) -> Iterable[list[str]]:
    """Keys of one kind together; a DOI with a sign that parts a filter stands alone."""
    for kind in ("W", "doi:", "pmid:"):
        mine = [key for key in keys if key.startswith(kind)]
        plain = [key for key in mine if kind == "W" or not _ALONE & set(key.removeprefix(kind))]
        yield from (plain[start : start + size] for start in range(0, len(plain), size))
        yield from ([key] for key in mine if key not in set(plain))
    strange = [key for key in keys if not key.startswith(("W", "doi:", "pmid:"))]
    if strange:
        raise InputError(f"'{strange[0]}' is no identifier of a work; give W…, doi:… or pmid:…")


class _Client:
    """Asks the works endpoint and counts the requests."""

    def __init__(self, base: str, account: dict[str, str | None], web: Web) -> None:
        self.base, self.web, self.requests = base, web, 0
        self.account = {name: value for name, value in account.items() if value}

    def ask(self, keys: list[str]) -> list[dict[str, Any]]:
        """A line for each key: the work, or that it is absent."""
        works = self._several(keys) if len(keys) > 1 else {}
        return [_line(key, works[key]) if key in works else self._alone(key) for key in keys]

    def _several(self, keys: list[str]) -> dict[str, dict[str, Any]]:
        kind = "openalex" if keys[0].startswith("W") else keys[0].split(":", 1)[0]
        values = "|".join(key.removeprefix(f"{kind}:") for key in keys)
        answer = self._get("/works", {"filter": f"{kind}:{values}", "per-page": str(len(keys)), "select": _SELECT})
        results = answer.get("results") if isinstance(answer, dict) else None
        if not isinstance(results, list):
            raise DownloadError(f"{self.base}/works: the answer has no list of results; the service may have changed")
        asked = set(keys)
        return {key: work for work in results if isinstance(work, dict) for key in _keys(work) if key in asked}

    def _alone(self, key: str) -> dict[str, Any]:
        try:
            work = self._get(f"/works/{urllib.parse.quote(key, safe=':/')}", {"select": _SELECT})
        except DownloadError as error:
            if error.status == 404:
                return {"asked": key, "absent": True}
            raise
        return _line(key, work) if isinstance(work, dict) and _keys(work) else {"asked": key, "absent": True}

    def _get(self, path: str, parameters: dict[str, str]) -> Any:
        self.requests += 1
        return get_json(f"{self.base}{path}?{urllib.parse.urlencode({**parameters, **self.account}, safe='|:,')}", self.web)


def _keys(work: dict[str, Any]) -> list[str]:
    own = openalex_id(str(work.get("id") or ""))
    doi = read_doi(str(work.get("doi") or ""))
    ids = work.get("ids")
    pmid = str(ids.get("pmid") or "").rstrip("/").rpartition("/")[2] if isinstance(ids, dict) else ""
    return [key for key in (own, f"doi:{doi}" if doi else None, f"pmid:{pmid}" if pmid.isdigit() else None) if key]


def _line(key: str, work: dict[str, Any]) -> dict[str, Any]:
    keys = _keys(work)
    place = work.get("primary_location")
    journal = place.get("source") if isinstance(place, dict) else None
    return {
        "asked": key,
        "openalex_id": openalex_id(str(work.get("id") or "")),
        "doi": next((name.removeprefix("doi:") for name in keys if name.startswith("doi:")), None),
        "pmid": next((name.removeprefix("pmid:") for name in keys if name.startswith("pmid:")), None),
        "title": work.get("title"),
        "abstract": abstract_of(work.get("abstract_inverted_index")),
        "year": work.get("publication_year"),
        "journal": journal.get("display_name") if isinstance(journal, dict) else None,
        "authors": "; ".join(_authors(work.get("authorships"))),
        "type": work.get("type"),
    }


def _authors(told: Any) -> list[str]:
    people = [item.get("author") for item in told if isinstance(item, dict)] if isinstance(told, list) else []
    return [str(name) for person in people if isinstance(person, dict) and (name := person.get("display_name"))]


def _cached(cache: Path) -> set[str]:
    """The keys that the cache has; a last line that a kill cut short is cut off, so that it is asked for again."""
    if not cache.exists():
        return set()
    raw = cache.read_bytes()
    whole = raw[: raw.rfind(b"\n") + 1]
    if whole != raw:
        with cache.open("r+b") as handle:
            handle.truncate(len(whole))
    keys = set()
    for number, line in enumerate(whole.decode("utf-8", "replace").splitlines(), start=1):
        try:
            keys.add(str(json.loads(line)["asked"]))
        except (ValueError, KeyError, TypeError):
            raise InputError(f"{cache}: line {number} is no answer of OpenAlex; move the file away and fetch again") from None
    return keys


def _append(cache: Path, lines: Sequence[dict[str, Any]]) -> None:
    cache.parent.mkdir(parents=True, exist_ok=True)
    try:
        with cache.open("a", encoding="utf-8") as handle:
            handle.write("".join(json.dumps(line, ensure_ascii=True) + "\n" for line in lines))
            handle.flush()
            os.fsync(handle.fileno())
    except OSError as error:
        raise InputError(f"{cache}: cannot be written ({error.strerror}); free space and run the command again") from None
