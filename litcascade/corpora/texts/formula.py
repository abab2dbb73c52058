"""Formulae as one line of text: MathML written out, TeX without the frame it is shipped in."""

import re
from collections.abc import Callable, Sequence

from lxml import etree

from litcascade.corpora.texts.flow import raised

_DEPTH_LIMIT = 60
_FRAME = re.compile(r".*?\\begin\{document\}(.*?)(?:\\end\{document\}.*)?", re.DOTALL)
_NO_TEXT = frozenset({"annotation", "annotation-xml", "mphantom", "none", "mprescripts", "maligngroup", "malignmark"})
_UNSEEN = dict.fromkeys(map(ord, "\u2061\u2062\u2063\u2064"))


def math_text(node: etree._Element) -> str:
    """A MathML element (names without name space) as a line: `x²`, `a_i`, `(a+b)/c`, `√(x)`; too deep ones as bare text."""
    return " ".join(_written(node, 0).translate(_UNSEEN).split())


def tex_text(words: str) -> str:
    """A TeX formula without preamble and dollar signs, blanks folded."""
    framed = _FRAME.fullmatch(words)
    return " ".join((framed.group(1) if framed else words).strip().strip("$").split())


def _written(node: etree._Element, depth: int) -> str:
    name = node.tag.rpartition(":")[2] if isinstance(node.tag, str) else ""
    if name in _NO_TEXT or not name:
        return ""
    if depth > _DEPTH_LIMIT:
        return "".join(str(part) for part in node.itertext())
    parts = [_written(child, depth + 1) for child in node]
    if name in ("mi", "mn", "mo", "mtext", "ms"):
        return "".join(str(part) for part in node.itertext())
    if name in _WRITTEN and parts:
        return _WRITTEN[name](parts)
    if name == "mfenced":
        return node.get("open", "(") + ", ".join(parts) + node.get("close", ")")
    if name in ("mspace", "mlabeledtr"):
        return " " + " ".join(parts)
    tails = [str(child.tail or "").strip() for child in node]
    return str(node.text or "").strip() + "".join(part + tail for part, tail in zip(parts, tails, strict=True))


def _grouped(part: str) -> str:
    """In brackets where it is more than one number or name."""
    return part if re.fullmatch(r"\w*|[\w.]+|\W", part) or re.fullmatch(r"\([^()]*\)", part) else f"({part})"


def _power(base: str, exponent: str) -> str:
    high = raised(exponent)
    return base + (high if re.fullmatch("[⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼′*]+", high) else f"^{_grouped(exponent)}")


def _low(base: str, index: str) -> str:
    return f"{base}_{_grouped(index)}" if index else base


def _pair(parts: Sequence[str]) -> tuple[str, str]:
    return parts[0], "".join(parts[1:])


def _both(parts: Sequence[str]) -> str:
    base, index, exponent = (*parts, "", "", "")[:3]
    rest = "".join(parts[3:])
    return (_power(_low(base, index), exponent) if exponent else _low(base, index)) + rest


def _rows(parts: Sequence[str]) -> str:
    return "[" + "; ".join(parts) + "]"


_WRITTEN: dict[str, Callable[[Sequence[str]], str]] = {
    "msup": lambda parts: _power(*_pair(parts)),
    "msub": lambda parts: _low(*_pair(parts)),
    "munder": lambda parts: _low(*_pair(parts)),
    "msubsup": _both,
    "munderover": _both,
    "mfrac": lambda parts: f"{_grouped(parts[0])}/{_grouped(''.join(parts[1:]))}",
    "msqrt": lambda parts: f"√({''.join(parts)})",
    "mroot": lambda parts: f"root({', '.join(parts)})",
    "mtable": _rows,
    "mtr": lambda parts: " ".join(parts),
    "semantics": lambda parts: parts[0],
    "maction": lambda parts: parts[0],
}
