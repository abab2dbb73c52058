"""Whether a quote stands in a text: exact after folding what typesetting changes, and nothing else."""

import re
import unicodedata

_SOFT = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_ALIKE = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-"})
_LINE_HYPHEN = re.compile(r"(?<=\w)-\s*\n\s*(?=[a-z])")


def fold(text: str) -> str:
    """Fold case, white space, ligatures, quotation marks, dashes, soft and line-end hyphens. Digits and words stay."""
    text = unicodedata.normalize("NFKC", text).translate(_SOFT).translate(_ALIKE)
    text = _LINE_HYPHEN.sub("", text)
    return re.sub(r"\s+", " ", text).strip().casefold()


def stands_in(quote: str, folded_text: str) -> bool:
    """Whether the folded quote stands in the folded text on word borders; an empty quote stands nowhere."""
    wanted = fold(quote).strip(" .,;:\"'…")
    if not wanted:
        return False
    start = folded_text.find(wanted)
    while start != -1:
        end = start + len(wanted)
        if _whole(folded_text[:start][-3:], wanted, folded_text[end : end + 2]):
            return True
        start = folded_text.find(wanted, start + 1)
    return False


def _whole(before: str, wanted: str, after: str) -> bool:
    """Whether nothing is cut off: no part of a word, of a number, or the sign of a number."""
    if before and before[-1].isalnum() and wanted[0].isalnum():
        return False
    if after and after[0].isalnum() and wanted[-1].isalnum():
        return False
    if wanted[0].isdigit() and (re.search(r"\d[.,]$", before) or re.search(r"(?:^|[^\w])[-+]$", before)):
        return False
    return not (wanted[-1].isdigit() and re.match(r"[.,]\d", after))
