"""De-duplication: which records are one report, which reports one study, and which pairs a person must look at.

The engine and its libraries are loaded on first use; ids and publication statuses need neither.
"""

from typing import TYPE_CHECKING, Any

from litcascade.corpora.dedup.ids import normal_doi, normal_pmcid, normal_pmid, trial_ids
from litcascade.corpora.dedup.result import Decided, Duplicates, Pair, Verdict
from litcascade.corpora.dedup.status import publication_status

if TYPE_CHECKING:
    from litcascade.corpora.dedup.engine import find_duplicates

__all__ = [
    "Decided",
    "Duplicates",
    "Pair",
    "Verdict",
    "find_duplicates",
    "normal_doi",
    "normal_pmcid",
    "normal_pmid",
    "publication_status",
    "trial_ids",
]


def __getattr__(name: str) -> Any:
    if name == "find_duplicates":
        from litcascade.corpora.dedup.engine import find_duplicates

        return find_duplicates
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
