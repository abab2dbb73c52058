"""Whether a quote stands in a text: exact after folding what typesetting changes, and nothing else."""

import re
import unicodedata

_SOFT = dict.fromkeys(map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"))
_ALIKE = str.maketrans({"‘": "'", "’": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-", "−": "-"})
_RAISED = str.maketrans({raised: f"^{digit}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")})
_HYPHEN = re.compile(r"(?<=[^\W\d_])(?:-|\u00ad)[ \t]*\n?[ \t]*(?=[^\W\d_])")
_THOUSANDS = re.compile("(?<=\\d)[,'\u2009\u202f\u00a0](?=\\d{3}(?!\\d))")
_MIDDLE_DOT = re.compile(r"(?<=\d)·(?=\d)")


def fold(text: str) -> str:
    """Fold case, white space, ligatures, quotation marks, dashes, hyphens inside words, and how thousands are parted.

    A hyphen between letters is left out wherever it stands, since a line's end may have added or eaten it; so `significant`
    is no part of `non-significant`. Digits, signs, decimal points and raised digits stay what they are.
    """
    text = text.translate(_RAISED).translate(_ALIKE)
    text = _MIDDLE_DOT.sub(".", _THOUSANDS.sub("", text))
    text = _HYPHEN.sub("", text)
    text = unicodedata.normalize("NFKC", text).translate(_SOFT).translate(_ALIKE)
    text = _HYPHEN.sub("", text)
    return re.sub(r"\s+", " ", text).strip().casefold()


def stands_in(quote: str, folded_text: str) -> bool:
    """Whether the folded quote stands in the folded text on word borders; an empty quote stands nowhere."""
    wanted = fold(quote).rstrip(" .,;:\"'…").lstrip(" ,;:\"'…")
    if not re.match(r"\.\d", wanted):
        wanted = wanted.lstrip(" .")
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
    if before and before[-1].isalnum() and (wanted[0].isalnum() or wanted[0] == "."):
        return False
    if after and after[0].isalnum() and wanted[-1].isalnum():
        return False
    number = wanted[0].isdigit() or wanted[:1] == "."
    part_of_number = re.search(r"\d[.,]$", before) or re.search(r"(?:^|[^\w])\.$", before)
    signed = re.search(r"(?:^|[^\w])[-+]$|\^$", before)
    if number and (part_of_number or signed):
        return False
    return not (wanted[-1].isdigit() and re.match(r"[.,]\d|\^", after))
