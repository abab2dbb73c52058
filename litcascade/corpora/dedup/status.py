"""Retracted papers, retraction notices, errata, concerns: told from the publication type and the head of the title."""

import re
from functools import lru_cache

from litcascade.schemas import PublicationStatus as Status

_KINDS = (
    (
        Status.RETRACTED,
        re.compile(r"\bretracted (?:publication|article|paper)\b|^retracted$|\bwithdrawn (?:article|publication)\b"),
    ),
    (Status.RETRACTION_NOTICE, re.compile(r"\bretraction (?:of publication|notice|note)\b|^retraction$|\bretraction of\b")),
    (Status.CONCERN, re.compile(r"\bexpression of concern\b")),
    (Status.ERRATUM, re.compile(r"\b(?:erratum|errata|corrigend(?:um|a)|correction|addendum)\b")),
)
_STOP = r"\s*(?:[:\]\)}.]|\s[-–—]\s|[–—]|$)\s*"
_TO = r"(?:\s+(?:to|for|of|in|on))?"
_QUOTED = r"\s+(?:to|for|of)\s*(?::|(?=[\"“”'‘«]))\s*"
_HEADS = (
    (
        Status.RETRACTED,
        re.compile(
            r"^[\W_]*(?:retracted|withdrawn|removed)(?:\s+(?:article|paper|publication|chapter|manuscript))?" + _STOP,
            re.IGNORECASE,
        ),
    ),
    (
        Status.RETRACTION_NOTICE,
        re.compile(
            r"^[\W_]*(?:(?:retraction|withdrawal)(?:" + _STOP + "|" + _QUOTED + r"|\s+(?:to|of|for)\s*:\s*)"
            r"|(?:partial\s+)?(?:retraction|withdrawal|removal)\s+(?:notice|note|statement)" + _TO + r"\b[\s:.–—-]*"
            r"|(?:notice|statement)\s+of\s+(?:retraction|withdrawal)" + _TO + r"\b[\s:.–—-]*"
            r"|partial\s+retraction" + _TO + _STOP + ")",
            re.IGNORECASE,
        ),
    ),
    (
        Status.CONCERN,
        re.compile(
            r"^[\W_]*(?:(?:publisher|editor)[’']?s?\s+note\s*:?\s*)?(?:editorial\s+)?expression\s+of\s+concern"
            r"(?:\s+(?:about|regarding|to|for|on|over)\b[\s:]*|" + _STOP + ")",
            re.IGNORECASE,
        ),
    ),
    (
        Status.ERRATUM,
        re.compile(
            r"^[\W_]*(?:(?:published\s+)?(?:erratum|errata|corrigendum|corrigenda)" + _TO + r"\b[\s:.–—\])-]*"
            r"|(?:author|publisher|editor)?[’']?s?\s*correction(?:" + _STOP + "|" + _QUOTED + r"|\s+(?:to|for)\s*:\s*)"
            r"|addendum(?:" + _STOP + "|" + _QUOTED + r"|\s+to\s*:\s*))",
            re.IGNORECASE,
        ),
    ),
)
_TAILS = (
    (
        Status.RETRACTED,
        re.compile(
            r"\s*[\(\[]\s*(?:retracted|withdrawn)(?:\s+(?:article|paper|publication))?\b[^()\[\]]*[\)\]]\s*\.?$", re.IGNORECASE
        ),
    ),
    (Status.RETRACTION_NOTICE, re.compile(r"\s*[\(\[]\s*retraction\s+of\b[^()\[\]]*[\)\]]\s*\.?$", re.IGNORECASE)),
    (
        Status.ERRATUM,
        re.compile(
            r"\s*[\(\[]\s*(?:correction|corrigendum|erratum)\s+(?:of|to)?\s*(?:vol|v|page|pg|p)\b[^()\[\]]*[\)\]]\s*\.?$"
            r"|\s*\(vol \w+, (?:pg|art no) [^()]*\d{4}\)$",
            re.IGNORECASE,
        ),
    ),
)


def publication_status(title: str | None, kind: str | None) -> Status | None:
    """Whether a record is a retracted paper or a notice: retraction, erratum, expression of concern. Else None.

    The publication type speaks first, then the title: only a prefix with its stop (`RETRACTED:`, `Retraction notice to`,
    `[Withdrawn]`) or a closing bracket counts. A paper about retraction (`Retraction of papers in cardiology: a survey`)
    is none.
    """
    return _kind_status((kind or "").casefold()) or title_status((title or "").strip())[0]


@lru_cache(maxsize=1024)
def _kind_status(kind: str) -> Status | None:
    for part in re.split(r"[;,|]", kind):
        for status, pattern in _KINDS:
            if pattern.search(part.strip()):
                return status
    return None


@lru_cache(maxsize=64)
def title_status(title: str) -> tuple[Status | None, str]:
    """(the status that the title's head or tail tells, the title without it). The rest may be empty."""
    text = title.strip()
    for status, pattern in _HEADS:
        match = pattern.match(text)
        if match:
            return status, text[match.end() :].strip(" \"“”'‘’«»[]")
    for status, pattern in _TAILS if text.rstrip(". ")[-1:] in (")", "]") else ():
        match = pattern.search(text)
        if match:
            return status, text[: match.start()].strip()
    return None, text
