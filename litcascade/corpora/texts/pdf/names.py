"""The names and numbers of sections in a PDF."""

import re

NUMBER = re.compile(r"((?:\d{1,2}|[A-Z]|[IVX]{1,4})(?:\.\d{1,2}){0,3})(\.|\))?\s+(?=\S)")
_MAIN = (
    r"abstract|summary|introduction|background|objectives?|aims?|methods?|materials? and methods?|patients? and methods?"
    r"|participants? and methods?|subjects? and methods?|methods? and materials?|methodology|results?|findings|discussion"
    r"|results? and discussion|discussion and conclusions?|conclusions?|limitations?|references?|bibliography"
    r"|literature cited|works cited|reference list|acknowledge?ments?|funding|appendi(?:x|ces)(?: [a-z\d]+)?"
    r"|supplementary (?:materials?|data|information)|related work|experiments?|case (?:report|presentation|description)"
    r"|statistical analys[ei]s|data availability(?: statement)?|(?:declaration of )?(?:conflicts?|competing) (?:of )?interests?"
    r"|author contributions?|authors['’] contributions?|abbreviations|ethics(?: approval)?(?: statement)?|key ?words"
)
_KNOWN = re.compile(rf"(?:{_MAIN})\s*[:.]?", re.IGNORECASE)


def known_name(text: str) -> str | None:
    """The well-known name that a heading is, number and stop left out, in lower case; None for other headings."""
    bare = unnumbered(text).strip()
    return bare.rstrip(":. ").casefold() if _KNOWN.fullmatch(bare) else None


def unnumbered(text: str) -> str:
    """A heading without its number."""
    found = NUMBER.match(text)
    return text[found.end() :] if found and (found[2] or "." in found[1] or not found[1].isalpha()) else text


def is_name(text: str) -> bool:
    """Whether a line is nothing but a well-known name, written as a heading is."""
    return known_name(text) is not None and not text[0].islower() and not text.endswith(".")


def depth_of(text: str) -> int | None:
    """How deep the number of a heading goes (`2` is 1, `2.1` is 2); None without one."""
    found = NUMBER.match(text)
    if not found or (found[1].isalpha() and not found[2]):
        return None
    return found[1].count(".") + 1
