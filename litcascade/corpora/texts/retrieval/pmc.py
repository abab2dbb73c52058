"""PubMed Central: JATS by the E-utilities, else the PDF from its open datasets; never its web pages.

The OA web service and FTP packages, which earlier programs use, ended in August 2026; the cloud service holds the same files.
"""

import re
import urllib.parse
from collections.abc import Iterator
from typing import Any

from lxml import etree

from litcascade.corpora.build import read_pmcid
from litcascade.corpora.texts.retrieval.asking import ANSWER_LIMIT, Asker
from litcascade.corpora.texts.retrieval.wanted import NoCopyError, Place, Wanted
from litcascade.web import DownloadError

_BUCKET = "s3://pmc-oa-opendata/"


class Pmc:
    """`efetch` for JATS, the ID converter for a PMCID, the cloud service for PDFs; an NCBI key raises what may be asked."""

    name = "pmc"

    def __init__(self, eutils: str, ids: str, cloud: str, email: str, key: str | None) -> None:
        self._eutils, self._ids, self._cloud = eutils.rstrip("/"), ids.rstrip("/"), cloud.rstrip("/")
        self._who = {"tool": "litcascade", "email": email}
        self._key = {"api_key": key} if key else {}

    def places(self, wanted: Wanted, asker: Asker) -> Iterator[Place]:
        """The article as JATS, then its PDF where the open datasets have one."""
        pmcid = wanted.pmcid or self._pmcid(wanted, asker)
        query = {"db": "pmc", "id": pmcid.removeprefix("PMC"), "retmode": "xml", **self._who, **self._key}
        yield Place(f"{self._eutils}/efetch.fcgi?{urllib.parse.urlencode(query)}", "jats")
        yield from self._pdf(pmcid, asker)

    def _pmcid(self, wanted: Wanted, asker: Asker) -> str:
        kind, value = ("doi", wanted.doi) if wanted.doi else ("pmid", wanted.pmid)
        if not value:
            raise NoCopyError("unknown", "the record has no PMCID, DOI or PMID")
        query = {"ids": value, "idtype": kind, "format": "json", **self._who}
        try:
            told = asker.json(f"{self._ids}/?{urllib.parse.urlencode(query)}")
        except DownloadError as error:
            if error.status in (400, 404):
                raise NoCopyError("unknown", f"PMC does not know the {kind.upper()}") from None
            raise
        records = told.get("records") if isinstance(told, dict) else None
        if not isinstance(records, list):
            raise DownloadError("PMC: the ID converter's answer is none")
        found = next((read_pmcid(str(item["pmcid"])) for item in records if isinstance(item, dict) and item.get("pmcid")), None)
        if not found:
            raise NoCopyError("unknown", f"PMC does not hold the {kind.upper()}")
        return found

    def _pdf(self, pmcid: str, asker: Asker) -> Iterator[Place]:
        """The PDF of the latest version in the open datasets, which list only what may be taken."""
        query = urllib.parse.urlencode({"list-type": "2", "prefix": f"metadata/{pmcid}."})
        listing = asker.get(f"{self._cloud}/?{query}", limit=ANSWER_LIMIT).body
        keys = re.findall(rf"metadata/({pmcid}\.(\d+))\.json", _listed(listing))
        if not keys:
            raise NoCopyError("not open", f"{pmcid} is not among PMC's open articles")
        version = max(keys, key=lambda key: int(key[1]))[0]
        about: Any = asker.json(f"{self._cloud}/metadata/{version}.json")
        address = about.get("pdf_url") if isinstance(about, dict) else None
        if not isinstance(address, str) or not address:
            raise NoCopyError("not open", f"PMC has no PDF of {pmcid}")
        if address.startswith(_BUCKET):
            address = f"{self._cloud}/{address.removeprefix(_BUCKET)}"
        yield Place(address, "pdf", str(about.get("license_code") or "") or None)


def _listed(raw: bytes) -> str:
    """The keys of a bucket's listing, one a line; what is no listing is a `DownloadError`."""
    try:
        root = etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except (etree.XMLSyntaxError, ValueError):
        raise DownloadError("PMC: the cloud service's answer is no listing") from None
    return "\n".join(str(node.text) for node in root.iter("{*}Key"))
