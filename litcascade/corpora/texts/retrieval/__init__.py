"""Open-access full texts found by DOI, PMID or PMCID and brought into a folder: polite, checked, resumable."""

from litcascade.corpora.texts.retrieval.manifest import MANIFEST
from litcascade.corpora.texts.retrieval.retrieving import BASE_URLS, SOURCES, retrieve
from litcascade.corpora.texts.retrieval.wanted import Outcome, OutcomeState, Wanted

__all__ = ["BASE_URLS", "MANIFEST", "SOURCES", "Outcome", "OutcomeState", "Wanted", "retrieve"]
