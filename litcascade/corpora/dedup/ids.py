"""Identifiers as one spelling each: DOI, PMID, PMCID, and the numbers of trial registers."""

import html
import re
from urllib.parse import unquote

_NOTHING = {"", "0", "-", "--", "na", "n/a", "nan", "none", "null", "nil", "unknown", "not available"}
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S+")
_NEXT_DOI = re.compile(r"[;,|](?=(?:https?:|doi|10\.\d{4,9}/))", re.IGNORECASE)
_TAIL = re.compile(r"(?:/(?:abstract|full|fulltext|pdf|epdf|html|meta)|\.pdf|\.html)$", re.IGNORECASE)
_PMID = re.compile(r"(?:.*pubmed[^\d]*?/)?(?:pmid|pubmed|medline)?[:\s]*0*(\d{1,8})(?:\.0+)?(?:\s*\[pmid\])?/?", re.IGNORECASE)
_PMCID = re.compile(r"(?:.*/)?(?:pmc\s?id\s*:?\s*)?(?:pmc)?\s*0*(\d{1,9})(?:\.\d+)?/?", re.IGNORECASE)
_TRIAL = re.compile(
    r"\b(NCT\s?\d{8}|ISRCTN\s?\d{6,8}|ACTRN\s?\d{14}|ChiCTR[-A-Z]*\s?\d{8,12}|DRKS\s?\d{8}|CTRI/\d{4}/\d{2,3}/\d{5,6}"
    r"|UMIN\s?\d{9}|EudraCT[\s:#-]*(?:number\s*)?\d{4}-\d{6}-\d{2}|IRCT\s?\d{10,18}\w*|NTR\s?\d{3,5}|KCT\s?\d{7}|PACTR\s?\d{15,16})\b",
    re.IGNORECASE,
)
_VERSION = re.compile(r"\.pub\d+$|(?<=\d)[/.]?v\d+$|/(?:suppl?|supplement)[\w./-]*$|\.s\d{3}$")


def normal_doi(value: object) -> str | None:
    """A DOI in lower case without web prefix, LaTeX or web escapes, blanks, query, file ending or closing stops.

    None where the text holds none: a blank, `NA`, `0`, `nan`, `-` and `None` are no DOI, nor is a prefix without a name.
    """
    text = str(value or "")
    if "10." not in text:
        return None
    text = html.unescape(html.unescape(text)).replace("\\", "").replace("{", "").replace("}", "")
    match = _DOI.search(unquote(text) if "%" in text else text)
    if not match:
        return None
    doi = _NEXT_DOI.split(match.group(0), maxsplit=1)[0].casefold()
    doi = re.split(r"[?#]", doi, maxsplit=1)[0]
    doi = _closed(_TAIL.sub("", _closed(doi)))
    return doi if any(letter.isalnum() for letter in doi.partition("/")[2]) else None


def _closed(doi: str) -> str:
    """The DOI without stops and brackets at its end that nothing inside it opened."""
    while doi and (doi[-1] in ".,;:'\"/" or any(doi[-1] == c and doi.count(c) > doi.count(o) for o, c in ("()", "[]", "<>"))):
        doi = doi[:-1]
    return doi


def doi_stem(doi: str) -> str:
    """The DOI without the ending that tells versions of one work apart (`.pub2`, `v2`, `/suppl`)."""
    return _VERSION.sub("", doi)


def normal_pmid(value: object) -> str | None:
    """A PMID as digits without leading zeros; None for blanks, zero and what has another shape (nine digits or more)."""
    return _number(_PMID, value)


def normal_pmcid(value: object) -> str | None:
    """A PMCID as `PMC` and digits, its version dropped; None for blanks, zero and what has another shape."""
    number = _number(_PMCID, value)
    return f"PMC{number}" if number else None


def _number(pattern: re.Pattern[str], value: object) -> str | None:
    text = str(value if value is not None else "").strip()
    if text.casefold() in _NOTHING:
        return None
    match = pattern.fullmatch(text)
    return match.group(1) if match and match.group(1).strip("0") else None


def trial_ids(text: str) -> frozenset[str]:
    """The numbers of trial registers (ClinicalTrials.gov, ISRCTN and others) that a text names, in upper case."""
    return frozenset(re.sub(r"[\s:#]|NUMBER", "", found.upper()) for found in _TRIAL.findall(text))
