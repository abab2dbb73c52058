"""Judges that need no model: whether two texts are the same but for dress."""

import re
import unicodedata
from collections.abc import Callable

from litcascade.registry import Registry

Judge = Callable[[str, str], bool]
JUDGES: Registry[Judge] = Registry("judge")


def plain(text: str) -> str:
    """Case, accents, white space and punctuation folded; decimal points, signs and thousands kept apart from words."""
    text = unicodedata.normalize("NFKD", text).casefold()
    text = "".join(char for char in text if not unicodedata.combining(char))
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    return " ".join(re.findall(r"-?\d+(?:\.\d+)?|\w+", text))


@JUDGES.register("normalised_match")
def normalised_match(gold: str, value: str) -> bool:
    """True where both texts are equal after folding; order of words, numbers and negations count."""
    return plain(gold) == plain(value) != ""
