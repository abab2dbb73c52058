"""LaTeX as it stands in BibTeX fields to plain text: accents, the usual symbols, formatting taken off."""

import re
import unicodedata

_ACCENTS = {
    "`": "\u0300", "'": "\u0301", "^": "\u0302", "~": "\u0303", '"': "\u0308", "=": "\u0304", ".": "\u0307",
    "u": "\u0306", "v": "\u030c", "H": "\u030b", "c": "\u0327", "k": "\u0328", "r": "\u030a", "d": "\u0323", "b": "\u0331",
}  # fmt: skip
_LETTERS = {
    "ss": "ß", "ae": "æ", "AE": "Æ", "oe": "œ", "OE": "Œ", "o": "ø", "O": "Ø", "l": "ł", "L": "Ł", "aa": "å", "AA": "Å",
    "i": "ı", "j": "ȷ", "dh": "ð", "DH": "Ð", "th": "þ", "TH": "Þ", "dj": "đ", "DJ": "Đ", "ng": "ŋ", "NG": "Ŋ",
}  # fmt: skip
_GREEK = (
    "alpha α beta β gamma γ delta δ epsilon ε varepsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π "
    "rho ρ sigma σ tau τ upsilon υ phi φ varphi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ "
    "Phi Φ Psi Ψ Omega Ω"
)
_SIGNS = _GREEK.split()
_SYMBOLS = {
    **_LETTERS, **dict(zip(_SIGNS[::2], _SIGNS[1::2], strict=True)),
    "pm": "±", "times": "×", "cdot": "·", "leq": "≤", "le": "≤", "geq": "≥", "ge": "≥", "neq": "≠", "sim": "∼", "approx": "≈",
    "infty": "∞", "rightarrow": "→", "to": "→", "leftarrow": "←", "circ": "°", "degree": "°", "textdegree": "°",
    "textendash": "–", "textemdash": "—", "ldots": "…", "dots": "…", "textellipsis": "…", "textquoteright": "’",
    "textquoteleft": "‘", "textquotedblleft": "“", "textquotedblright": "”", "textquotesingle": "'", "textbackslash": "\\",
    "textregistered": "®", "textcopyright": "©", "copyright": "©", "texttrademark": "™", "texteuro": "€", "euro": "€",
    "pounds": "£", "textsterling": "£", "S": "§", "textsection": "§", "dag": "†", "textmu": "µ", "textmugreek": "µ",
    "textless": "<", "textgreater": ">", "textasciitilde": "~", "textunderscore": "_", "textpm": "±", "texttimes": "×",
    "percent": "%", "guillemotleft": "«", "guillemotright": "»", "slash": "/", "prime": "′",
}  # fmt: skip
_DRESS = (
    "textit textbf textrm textsc textsf texttt textsl textup textnormal textmd text emph mbox hbox url enquote mkbibquote "
    "textsuperscript textsubscript mathrm mathit mathbf mathsf mathtt mathcal mathbb ensuremath mkbibemph it bf rm sc em tt "
    "sl noopsort protect displaystyle left right"
)
_I = r"\\[ij](?![A-Za-z])"
_ACCENT = re.compile(
    rf"""\\(?P<sign>[`'^"~=.])(?:\s*\{{\s*(?P<a>{_I}|[^\W\d_])\s*\}}|(?P<b>{_I}|(?<!")[^\W\d_]|(?<=")[aeiouyAEIOUY]))"""
    rf"""|\\(?P<name>[uvHckrdb])(?:\s*\{{\s*(?P<c>{_I}|[^\W\d_])\s*\}}|(?P<d>{_I})|\s+(?P<e>[^\W\d_]))"""
)
_WORD = re.compile(r"\\([A-Za-z]+)(\{\}|(?:[ \t]+(?=\S))?)")
_MATH = re.compile(r"\$([\\_^<>={~][^$]{0,200}|[A-Za-z0-9]{1,3}[_^][^$ ]{1,40})\$")
_KEEP = {"{": "\ue000", "}": "\ue001", "$": "\ue002", "\\": "\ue003"}


def plain(text: str) -> str:
    """The text as read by people, blanks folded; commands that are not known are left as they are."""
    text = re.sub(r"\\([{}$])", lambda match: _KEEP[match.group(1)], text)
    text = _MATH.sub(lambda match: re.sub(r"[_^](?=[\\{\w+-])", "", match.group(1)) + "{}", text)
    text = re.sub(r"\\\\\s*", " ", text)
    text = _ACCENT.sub(_accented, text)
    text = _WORD.sub(_word, text)
    text = re.sub(r"(?<=[\w.}])~(?=[\w\\{])", " ", text)
    text = re.sub(r"\\([&%#_\"])", r"\1", re.sub(r"\\[,;: ]", " ", text).replace("\\-", ""))
    text = re.sub(r"(?<!-)---(?!-)", "—", text)
    text = re.sub(r"(?<!-)--(?!-)", "–", text)
    text = re.sub(r"``([^`]*?)''", "“\\1”", text)
    text = text.replace("{", "").replace("}", "")
    for sign, kept in _KEEP.items():
        text = text.replace(kept, sign)
    return re.sub(r"\s+", " ", text).strip()


def plain_link(text: str) -> str:
    """A link or an identifier: only escapes and braces are taken off."""
    return re.sub(r"\s+", "", re.sub(r"\\([&%$#_{}~])", r"\1", re.sub(r"\\url|(?<!\\)[{}]", "", text)))


def _accented(match: re.Match[str]) -> str:
    accent = _ACCENTS[match.group("sign") or match.group("name")]
    letter = next(found for found in map(match.group, "abcde") if found).lstrip("\\")
    return unicodedata.normalize("NFC", letter + accent)


def _word(match: re.Match[str]) -> str:
    """A known command for its sign (a blank behind it only ends it), formatting for nothing, any other unchanged."""
    name = match.group(1)
    if name in _SYMBOLS:
        return _KEEP.get(_SYMBOLS[name], _SYMBOLS[name])
    return "" if name in _DRESS.split() else match.group(0)
