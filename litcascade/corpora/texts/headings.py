"""What a heading says of its section, and the labels of tables and figures."""

import re

from litcascade.schemas.document import SectionKind

_NUMBER = re.compile(r"^(?:[A-Z]\.?|\d+(?:\.\d+)*\.?|[IVX]+\.)\s+")
_NUMBERED = re.compile(r"^(\d{1,2}(?:\.\d{1,2}){1,4})\.?\s+[^\W\d_a-z]")
_THANKS = re.compile(
    r"acknowled?ge?ments?|acknowledg(?:e?ments?) and .{1,40}|funding"
    r"|funding (?:sources?|statement|information|support|and .{1,40})"
    r"|sources? of (?:funding|support)|financial (?:support|disclosures?)(?: statement)?|grant support"
    r"|role of (?:the )?funding sources?|(?:declarations? of )?(?:conflicts?|conflicting|competing|declarations?)(?: of)?"
    r"(?: (?:financial|commercial))? interests?(?: statement)?"
    r"|conflicts? of interest disclosures?|competing financial interests|disclosures?(?: statement)?|declarations?"
    r"|(?:author|authors|author's|authors')(?:['’]s?)? (?:contributions?|information|notes?)(?: statement)?"
    r"|contributors(?:hip)?(?: statement)?|credit authorship contribution statement"
    r"|(?:data|code|data and code|data and materials?)(?: sharing)?(?: availability)?(?: statement)?|data availability .{1,30}"
    r"|availability of data(?: and materials?)?|consent for publication|publisher['’]s note|reprints and permissions"
    r"|additional information|orcid(?: ids?)?|pre-?publication history|provenance and peer review|open access|disclaimer"
)
_ANNEX = re.compile(
    r"appendi(?:x|ces)(?:[ :.–—-].{0,80})?|annex(?:[ :.–—-].{0,80})?|electronic supplementary materials?|supporting information"
    r"|supplement(?:s|ary|al)?(?: (?:data|materials?|information|files?|online .{1,30}))?|additional files?|extended data"
    r"|abbreviations(?: used)?|glossary"
)
_BARE = {"data", "code", "data and code", "data and material", "data and materials"}
_WORD = r"tables?|tab\.?|figures?|figs?\.?|scheme|box|chart|plate|exhibit|video|movie|image|panel|graph|algorithm|listing"
_STOP = r"(?:\s*[.:|]|\s*[–—-](?=\s|$))*\s*"
_LABEL = re.compile(
    rf"((?:(?:supplementary|supplemental|supporting|extended data|online|additional|appendix|web)\s+)?(?:{_WORD})"
    rf"(?:\s+supplements?)?\s*(?:[A-Z]{{1,2}}\.?\s?-?)?\d+(?:[.‐-](?=\d)\d+)*[a-z]?(?![\w%])){_STOP}",
    re.IGNORECASE,
)
_ROMAN = re.compile(rf"((?:{_WORD})\s+[IVX]+)\b{_STOP}", re.IGNORECASE)


def kind_of(heading: str | None) -> SectionKind:
    """What a section of that heading is: an appendix, thanks (funding, interests, contributions, data too) or body."""
    words = _NUMBER.sub("", (heading or "").strip()).strip(" .:*").casefold()
    if words and words not in _BARE and _THANKS.fullmatch(words):
        return "acknowledgement"
    return "appendix" if _ANNEX.fullmatch(words) else "body"


def level_of(number: str | None, heading: str) -> int | None:
    """The level that a section's number gives (`2.` is 1, `2.1` is 2, `A.1` is 2); None where there is no such number."""
    found = re.fullmatch(r"((?:\d{1,3}|[A-Z]|[IVX]+)(?:\.\d{1,3})*)\.?", (number or "").strip())
    if found:
        return found.group(1).count(".") + 1
    inside = _NUMBERED.match(heading)
    return inside.group(1).count(".") + 1 if inside else None


def split_label(words: str) -> tuple[str | None, str]:
    """(`Table 2`, the rest) of words that begin with the label of a table or figure; (None, the words) of others."""
    found = _LABEL.match(words) or _ROMAN.match(words)
    return (found.group(1), words[found.end() :]) if found else (None, words)
