"""Text that markup hides from a reader of the page: taken out of the tree, and told."""

import re
from collections.abc import Callable, Iterable, Iterator

from lxml import etree

from litcascade.schemas import Flag, FlagKind

WORDS_OF_A_SENTENCE = 4
QUOTE_LENGTH = 120
STYLE_LIMIT = 2000
_MARKUP = re.compile(r"<[^<>]*>|\[(?:if|endif)[^\[\]]*\]>?")
_RULE = re.compile(r"([=*#~+_-])\1\1")
_GONE = "left-out"
_WORD = re.compile(r"[^\W\d_]+(?:['’.-][^\W\d_]+)*")
_SPACELESS = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
_CODE = re.compile(r"[{}=;<>()\[\]|\\]")
_STATEMENT = re.compile(r"[\w$]\.[\w$]+\(|\b(?:var|let|const) \w|=\s*[\[{'\"]|\bfunction\b|=>|\$\(|[\w-]\s*\{[^}]*:")
_LABEL = re.compile(
    r"\b(?:starts?|begins?|ends?|div|container|column|modal|wrapper|css|html|javascript|jquery|ajax|todo|fixme|analytics"
    r"|tag manager|header|footer|sidebar|navigation|banner|widget|ads?|logged|template|placeholder|iframe|bgn|parts?)\b",
    re.IGNORECASE,
)
LABEL_WORDS = 12
_TAGS = re.compile("[\U000e0000-\U000e007f]+")
_NOT_SHOWN = re.compile(
    r"display:none|visibility:(?:hidden|collapse)|(?<![\w-])opacity:0(?:\.0+)?(?![.\d])"
    r"|font-size:(?:0+(?:\.0*)?(?:px|pt|r?em|ex|%)?|0?\.\d+(?:px|pt|ex|%)|0?\.[01]\d*r?em|1(?:\.0*)?(?:px|pt|%))(?![\w.%])"
    r"|(?<![\w-])(?:left|top|right|bottom|text-indent|margin-left|margin-top):-(?:\d{4,}|999)(?:\.\d+)?(?:px|pt|r?em|%)"
    r"|clip:rect\((?:0(?:px)?|1px)(?:,?(?:0(?:px)?|1px)){3}\)|clip-path:inset\((?:50|100)%\)|(?<![\w-])color:transparent"
    r"|(?<![\w-])(?:max-)?(?:height|width):0(?:px)?(?![\w.%])(?=.*overflow:hidden)|overflow:hidden(?=.*;(?:max-)?(?:height|width):0(?:px)?(?![\w.%]))"
)
_COLOUR = re.compile(r"(?<![\w-])color:([^;]+)")
_GROUND = re.compile(r"(?<![\w-])background(?:-color)?:([^;]+)")
_NAMED = {"white": (255, 255, 255), "snow": (255, 250, 250), "ivory": (255, 255, 240), "black": (0, 0, 0)}
_WHITE = (255, 255, 255)
_NEAR = 24
Colour = tuple[int, int, int]


def told(words: str | None) -> str:
    """The words of a hidden place, markup left out, where there are enough of them for a sentence; else nothing.

    A line between rules (`=== Front matter of the article ===`) is a heading of the markup, `-//NLM//DTD` the name of a type.
    """
    plain = " ".join(_MARKUP.sub(" ", words or "").split())
    if plain.startswith(("-//", "+//")) or (_RULE.match(plain[:3]) and _RULE.match(plain[-3:])):
        return ""
    count = sum(_WORD.fullmatch(token.strip("\"'“”‘’.,;:!?()[]-–*")) is not None for token in plain.split())
    count += len(_SPACELESS.findall(plain)) // 2
    return plain if count >= WORDS_OF_A_SENTENCE else ""


def told_code(words: str | None) -> str:
    """The same of a script or style sheet: what reads like code is none."""
    plain = told(words)
    is_code = _STATEMENT.search(plain) or len(_CODE.findall(plain)) >= 0.02 * len(plain)
    return "" if is_code else plain


def told_comment(words: str | None) -> str:
    """The same of a comment in a web page: a few words on what part of the page begins or ends are none."""
    plain = told(words)
    return "" if len(plain.split()) < LABEL_WORDS and _LABEL.search(plain) else plain


def flags_of(found: Iterable[tuple[str, list[str]]]) -> tuple[Flag, ...]:
    """One flag for each way of hiding that held words: (how, the words of each place)."""
    return tuple(
        Flag(kind=FlagKind.HIDDEN, detail=f"{how}: left out of the text", count=len(places), quote=_short(places[0]))
        for how, places in ((how, [words for words in places if words]) for how, places in found)
        if places
    )


def _short(words: str) -> str:
    return words if len(words) <= QUOTE_LENGTH else words[: QUOTE_LENGTH - 1].rstrip() + "…"


def smuggled(root: etree._Element) -> list[str]:
    """Take signs of the Unicode block of tags, which no font shows, out of all text; what they spell, place by place."""
    places = []
    for node in root.iter():
        for part in ("text", "tail"):
            words = getattr(node, part)
            if words and not words.isascii() and _TAGS.search(words):
                places += ["".join(chr(ord(sign) - 0xE0000) for sign in run) for run in _TAGS.findall(words)]
                setattr(node, part, _TAGS.sub("", words))
    return [re.sub(r"[\x00-\x1f\x7f]", "", words) for words in places]


def unseen(root: etree._Element, hides: Callable[[etree._Element], bool]) -> list[str]:
    """Take out every element that is not shown; the words of each."""
    found = _outermost(root, hides)
    places = [told(" ".join(str(part) for part in node.itertext())) for node in found]
    take_out(root, found)
    return places


def take_out(root: etree._Element, nodes: Iterable[etree._Element]) -> None:
    """Take nodes out of a tree; the text behind each stays."""
    for node in nodes:
        node.tag = _GONE
    etree.strip_elements(root, _GONE, with_tail=False)


def _outermost(root: etree._Element, hides: Callable[[etree._Element], bool]) -> list[etree._Element]:
    found = []
    inside: etree._Element | None = None
    for event, node in etree.iterwalk(root, events=("start", "end")):
        if event == "end":
            inside = None if node is inside else inside
        elif inside is None and node is not root and isinstance(node.tag, str) and hides(node):
            inside = node
            found.append(node)
    return found


def styled_away(node: etree._Element) -> bool:
    """Whether an element's own style hides it: not displayed, without size, off the page, or in the colour of its ground."""
    style = style_of(node)
    if not style and node.get("color") is None:
        return False
    return bool(_NOT_SHOWN.search(style)) or _colourless(node, style)


def style_of(node: etree._Element) -> str:
    """The style attribute in lower case without blanks."""
    return re.sub(r"\s+|!important", "", (node.get("style") or "")[:STYLE_LIMIT].lower())


def hiding_style(style: str) -> bool:
    """Whether the declarations of a style sheet's rule hide what they are for."""
    return bool(_NOT_SHOWN.search(re.sub(r"\s+|!important", "", style[:STYLE_LIMIT].lower())))


def _colourless(node: etree._Element, style: str) -> bool:
    ink = colour(_last(_COLOUR, style) or node.get("color") or "")
    if ink is None:
        return False
    ground = next(_grounds(node), None)
    if ground is None and node.tag == "th":
        return False  # white on a dark ground that the page's style sheet gives
    return max(abs(a - b) for a, b in zip(ink, ground or _WHITE, strict=True)) <= _NEAR


def _grounds(node: etree._Element) -> Iterator[Colour]:
    for holder in (node, *node.iterancestors()):
        named = colour(_last(_GROUND, style_of(holder)) or holder.get("bgcolor") or "")
        if named is not None:
            yield named


def _last(pattern: re.Pattern[str], style: str) -> str | None:
    found = pattern.findall(style)
    return found[-1] if found else None


def colour(words: str) -> Colour | None:
    """Red, green and blue (0 to 255) of a colour as style sheets write it; None where it is not understood."""
    text = words.strip().lower()
    if found := re.match(r"#([0-9a-f]{6})", text):
        return tuple(int(found.group(1)[at : at + 2], 16) for at in (0, 2, 4))  # type: ignore[return-value]
    if found := re.match(r"#([0-9a-f]{3})", text):
        return tuple(17 * int(sign, 16) for sign in found.group(1))  # type: ignore[return-value]
    if found := re.match(r"rgba?\((\d{1,3})[, ]+(\d{1,3})[, ]+(\d{1,3})", text):
        return tuple(int(part) for part in found.groups())  # type: ignore[return-value]
    return next((rgb for name, rgb in _NAMED.items() if re.match(rf"{name}\b", text)), None)
