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
        before_ok = start == 0 or not (folded_text[start - 1].isalnum() and wanted[0].isalnum())
        after_ok = end == len(folded_text) or not (folded_text[end].isalnum() and wanted[-1].isalnum())
        if before_ok and after_ok:
            return True
        start = folded_text.find(wanted, start + 1)
    return False
