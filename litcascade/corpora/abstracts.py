"""What an abstract field really holds: text, nothing dressed as something, or a text cut short."""

import re

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


def nothing(text: str | None) -> bool:
    """Whether a cell holds no content: blank, "nan", "N/A", a lone dash, …"""
    return text is None or text.strip().casefold() in _NOTHING


def read_abstract(text: str | None) -> tuple[str | None, AbstractStatus]:
    """Return (abstract or None, status). Placeholders become None; a cut text is kept and marked."""
    if text is None or nothing(text) or _PLACEHOLDER.match(text.strip()):
        return None, AbstractStatus.MISSING
    kept = text.strip()
    if _CUT.search(kept):
        return kept, AbstractStatus.TRUNCATED
    return kept, AbstractStatus.OTHER_LANGUAGE if _other_language(kept) else AbstractStatus.OK


def _other_language(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.casefold())
    if not words or (text.isascii() is False and not any(word.isascii() for word in words)):
        return bool(words)
    counts = {language: sum(word in stops for word in words) for language, stops in _STOPWORDS.items()}
    english = counts.pop("en")
    return max(counts.values()) > english
