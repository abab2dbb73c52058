"""Full texts brought for records, source by source, until one has an open copy."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

from litcascade import __version__
from litcascade.corpora.build import read_digits, read_doi, read_pmcid
from litcascade.corpora.texts.retrieval.asking import Asker, Pace
from litcascade.corpora.texts.retrieval.bringing import Retrieval
from litcascade.corpora.texts.retrieval.files import file_stems
from litcascade.corpora.texts.retrieval.guard import Guard
from litcascade.corpora.texts.retrieval.manifest import Manifest
from litcascade.corpora.texts.retrieval.openalex import OpenAlex
from litcascade.corpora.texts.retrieval.pmc import Pmc
from litcascade.corpora.texts.retrieval.unpaywall import Unpaywall
from litcascade.corpora.texts.retrieval.wanted import Outcome, Source, Wanted
from litcascade.errors import InputError
from litcascade.web import Web

SOURCES = ("pmc", "unpaywall", "openalex")
BASE_URLS = {
    "unpaywall": "https://api.unpaywall.org/v2",
    "openalex": "https://api.openalex.org",
    "pmc": "https://eutils.ncbi.nlm.nih.gov/entrez/eutils",
    "pmc_ids": "https://pmc.ncbi.nlm.nih.gov/tools/idconv/api/v1/articles",
    "pmc_cloud": "https://pmc-oa-opendata.s3.amazonaws.com",
}
SIZE_LIMIT = 100 * 2**20
_EMAIL = re.compile(r"[^@\s,;<>]+@[^@\s,;<>]+\.[^@\s,;<>.]+")


def retrieve(
    records: Sequence[Wanted],
    folder: Path,
    *,
    email: str,
    sources: Sequence[str] = SOURCES,
    keys: Mapping[str, str] | None = None,
    again: bool = False,
    size_limit: int = SIZE_LIMIT,
    base_urls: Mapping[str, str] | None = None,
    web: Web | None = None,
    on_progress: Callable[[int, int, Outcome], None] | None = None,
) -> Iterator[Outcome]:
    """Bring an open-access full text for each record into `folder`; yields one outcome a record, in their order.

    `sources` are asked in the order given; `keys` are keys for "openalex" and "pmc" (NCBI), where there are any. Every
    question and answer goes into `retrieval.jsonl` in the folder: a text that is there is not brought again, what a
    source said for good is not asked again unless `again`, what failed for now is. A file that a person put there is
    kept and counts as retrieved. `size_limit` in bytes; `base_urls` replaces addresses of `BASE_URLS`; `web` says how
    patient to be. `on_progress` gets (done, of how many, outcome). Raises `InputError` for an e-mail address, source or
    folder that cannot be used; what the network does is an outcome.
    """
    if not _EMAIL.fullmatch(email.strip()):
        raise InputError(f"'{email}' is no e-mail address; the services that are asked want one to write to, so give yours")
    if len({item.record_id for item in records}) < len(records):
        raise InputError("two of the records wanted have the same id; give each record once")
    urls = {**BASE_URLS, **(base_urls or {})}
    asked = _sources(sources, urls, email.strip(), keys or {})
    agent = f"litcascade/{__version__} (mailto:{email.strip()})"
    asker = Asker(replace(web or Web(tries=4), agent=agent), Guard((base_urls or {}).values()), _pace(urls, keys or {}, web))
    manifest = Manifest(_ready(folder))
    job = Retrieval(folder, manifest, asked, asker, again, size_limit)
    return _all([_read(item) for item in records], job, on_progress)


def _all(records: Sequence[Wanted], job: Retrieval, on_progress: Callable[[int, int, Outcome], None] | None) -> Iterator[Outcome]:
    stems = file_stems(records, job.manifest)
    for done, wanted in enumerate(records, start=1):
        outcome = job.one(wanted, stems[wanted.record_id])
        if on_progress:
            on_progress(done, len(records), outcome)
        yield outcome


def _read(wanted: Wanted) -> Wanted:
    """Identifiers as the services take them; one that cannot be read is none."""
    return replace(wanted, doi=read_doi(wanted.doi), pmcid=read_pmcid(wanted.pmcid), pmid=read_digits(wanted.pmid))


def _ready(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror}); choose another folder") from None
    return folder


def _sources(names: Sequence[str], urls: Mapping[str, str], email: str, keys: Mapping[str, str]) -> list[Source]:
    known: dict[str, Source] = {
        "unpaywall": Unpaywall(urls["unpaywall"], email),
        "openalex": OpenAlex(urls["openalex"], email, keys.get("openalex")),
        "pmc": Pmc(urls["pmc"], urls["pmc_ids"], urls["pmc_cloud"], email, keys.get("pmc")),
    }
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise InputError(f"'{unknown[0] if unknown else ''}' is no source of full texts; choose among {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def _pace(urls: Mapping[str, str], keys: Mapping[str, str], web: Web | None) -> Pace:
    """Three requests a second to NCBI (ten with a key), ten to the others' services, one to any other host."""
    seconds = {"unpaywall": 0.1, "openalex": 0.1, "pmc": 0.1 if keys.get("pmc") else 0.4, "pmc_ids": 0.4, "pmc_cloud": 0.2}
    own: dict[str, float] = {}
    for name, each in seconds.items():
        host = urlsplit(urls[name]).netloc.lower()
        own[host] = max(each, own.get(host, 0.0))
    return Pace(own, sleep=web.sleep) if web else Pace(own)
