"""What an abstract field really holds: text, nothing dressed as something, or a text cut short."""

import re
from collections import Counter

from litcascade.schemas import AbstractStatus

_NOTHING = {
    "",
    "nan",
    "none",
    "null",
    "n/a",
    "na",
    "-",
    "--",
    ".",
    "abstract",
    "abstract.",
    "no abstract",
    "not available",
}
_PLACEHOLDER = re.compile(
    r"^[\[(<]?\s*(?:no|sin|kein|aucun)\s+abstract(?:\s+(?:is\s+)?(?:available|provided|found|present))?\s*[\])>.]*$"
    r"|^[\[(]?\s*abstract\s+(?:is\s+)?(?:not\s+(?:available|provided)|unavailable|missing)\s*[\]).]*$",
    re.IGNORECASE,
)
_CUT = re.compile(r"(?:\u2026|\.\.\.|\[\u2026\]|\[\.\.\.\]|\(more\))\s*$")
_STOPWORDS = {
    "en": {"the", "and", "of", "in", "to", "was", "were", "with", "for", "is", "are", "by", "that", "from"},
    "de": {"der", "die", "und", "das", "wurden", "wurde", "mit", "von", "ein", "eine", "ist", "nicht", "zu", "den"},
    "fr": {"le", "la", "les", "des", "et", "du", "une", "est", "dans", "pour", "par", "ont", "sur", "avec"},
    "es": {"el", "los", "las", "y", "una", "del", "con", "por", "fue", "fueron", "para", "se", "como"},
    "pt": {"os", "uma", "foi", "foram", "com", "dos", "das", "não", "em", "ao"},
    "it": {"il", "di", "della", "che", "sono", "stati", "con", "gli", "nel", "è"},
}

_LANGUAGES = {
    word: tuple(language for language, stops in _STOPWORDS.items() if word in stops) for word in set().union(*_STOPWORDS.values())
}
_TOLD_BY = 300  # characters
LONGEST_NOTHING = max(map(len, _NOTHING))


def nothing(text: str | None) -> bool:
    """Whether a cell holds no content: blank, "nan", "N/A", a lone dash, …"""
    if text is None:
        return True
    plain = text.strip()
    return len(plain) <= LONGEST_NOTHING and plain.casefold() in _NOTHING


def read_abstract(text: str | None) -> tuple[str | None, AbstractStatus]:
    """Return (abstract or None, status). Placeholders become None; a cut text is kept and marked."""
    if text is None or nothing(text):
        return None, AbstractStatus.MISSING
    kept = text.strip()
    if len(kept) < 200 and _PLACEHOLDER.match(kept):
        return None, AbstractStatus.MISSING
    if _CUT.search(kept, max(0, len(kept) - 20)):
        return kept, AbstractStatus.TRUNCATED
    return kept, AbstractStatus.OTHER_LANGUAGE if _other_language(kept) else AbstractStatus.OK


def _other_language(text: str) -> bool:
    """Whether the first words hold more stop words of another language than English ones, or are of another script."""
    head = text[:_TOLD_BY].casefold()
    if head.count(" the ") + head.count(" of ") + head.count(" and ") > 1:  # nothing but English has two of these so early
        return False
    words = head.split()
    told = [word for word in words if word in _LANGUAGES]
    if not told and not text.isascii() and not any(word.isascii() and word.isalpha() for word in words):
        return any(character.isalpha() for word in words for character in word)
    counts = Counter(language for word in told for language in _LANGUAGES[word])
    english = counts.pop("en", 0)
    return max(counts.values(), default=0) > english
