"""What of a web page is the article, what stands around it, and what its own style sheets hide."""

import re
from collections.abc import Callable, Iterator

from lxml import etree

from litcascade.corpora.texts import hidden
from litcascade.corpora.texts.markup import names
from litcascade.corpora.texts.xml import flat

ABSTRACT = re.compile(
    r"\W*(?:\d+\W*)?(?:structured )?(?:abstract|summary|abstract/summary|zusammenfassung|résumé|resumen)\W*", re.IGNORECASE
)
REFERENCES = re.compile(
    r"\W*(?:\d+\W*)?(?:references?(?: and notes| cited| list)?|bibliography|literature(?: cited)?|works cited|literatur)\W*",
    re.IGNORECASE,
)
NOT_READ = names(
    "script style noscript template head nav form button select option textarea input label dialog menu iframe object embed "
    "video audio canvas svg map area datalist progress meter"
)
_ROLES = names("navigation banner contentinfo search complementary dialog alertdialog menu menubar toolbar form tablist tooltip")
_AROUND = re.compile(
    r"(?:^|[\s_-])(?:nav(?:bar|igation)?|menu|breadcrumbs?|sidebar|cookies?|consent|banner|advert\w*|ads?|share|sharing|social|toolbar"
    r"|related|recommend\w*|newsletter|log-?in|sign-?in|metrics|altmetric|skip\w*|pagination|footer|masthead|popup|modal|tooltip|toc"
    r"|downloads?|permissions|rights-?link|citation-?tools|crossmark)(?:$|[\s_-])",
    re.IGNORECASE,
)
_UNSEEN_CLASS = re.compile(
    r"(?:^|\s)(?:sr-only|visually-?hidden|screen-?reader-?(?:text|only)|u-visually-hidden|assistive-text)(?:$|\s)", re.I
)
_LINKED = 0.4
_MAIN = ("article", "main")
_MAIN_SHARE = 0.6
_NEARLY = 0.9
_BLOCK_WORDS = 25
_FRAMES = frozenset({"div", "section", "article", "main", "td", "tr", "table", "tbody", "center", "form", "body"})
_BLOCKS = frozenset(
    {"p", "ul", "ol", "dl", "blockquote", "figure", "aside", "header", "footer", "h1", "h2", "h3", "h4", "h5", "h6"}
)
_SIMPLE = re.compile(r"([a-z][a-z0-9]*)?([.#][A-Za-z_][\w-]*)", re.IGNORECASE)
_SHEET_LIMIT = 500_000


def settings(root: etree._Element) -> dict[str, list[str]]:
    """What the page tells machines: the contents of its `meta` elements by name in lower case."""
    found: dict[str, list[str]] = {}
    for node in root.iter("meta"):
        name = (node.get("name") or node.get("property") or "").strip().lower()
        words = " ".join((node.get("content") or "").split())
        if name and words:
            found.setdefault(name, []).append(words)
    return found


def leaves_out(node: etree._Element) -> bool:
    """Whether an element is part of the page around an article and not of the article."""
    if not isinstance(node.tag, str):
        return True
    if node.tag in NOT_READ or (node.get("role") or "").lower() in _ROLES:
        return True
    if node.tag in ("ul", "ol") and _inner_links(node):
        return True
    if node.tag == "footer":
        return next(node.iterancestors("article", "main"), None) is None
    named = f"{node.get('class') or ''} {node.get('id') or ''}"
    return node.tag in ("div", "ul", "ol", "aside", "section", "header") and bool(_AROUND.search(named)) and _links(node)


def _inner_links(node: etree._Element) -> bool:
    """Whether a list only leads to parts of the same page."""
    links = list(node.iter("a"))
    if not links or not all((link.get("href") or "").startswith("#") for link in links):
        return False
    return sum(len(flat(link)) for link in links) >= 0.9 * len(flat(node))


def _links(node: etree._Element) -> bool:
    """Whether an element holds few words or mostly links."""
    whole = len(flat(node))
    return whole < 15 or sum(len(flat(link)) for link in node.iter("a")) > _LINKED * whole


def main_part(body: etree._Element) -> etree._Element:
    """The element that holds the article.

    It is the page's own `article` or `main` where one has most of the words (of several the smallest that has nearly all of
    those words), else the body; and in it the smallest element that holds every block of 25 words or more.
    """
    whole = _size(body)
    named = [node for node in body.iter("article", "main", "div", "section") if node.tag in _MAIN or node.get("role") == "main"]
    sized = [(size, node) for node in named if (size := _size(node)) >= _MAIN_SHARE * whole and size]
    largest = max((size for size, _ in sized), default=0)
    chosen = min((pair for pair in sized if pair[0] >= _NEARLY * largest), key=lambda pair: pair[0])[1] if sized else body
    return _holder(chosen)


def _size(node: etree._Element) -> int:
    return sum(len(words) for part in _read_of(node) for words in (part.text, part.tail if part is not node else "") if words)


def _read_of(node: etree._Element) -> Iterator[etree._Element]:
    """All elements of one but those around an article."""
    out: etree._Element | None = None
    for event, part in etree.iterwalk(node, events=("start", "end")):
        if event == "end":
            out = None if part is out else out
        elif out is None and part is not node and leaves_out(part):
            out = part
        elif out is None:
            yield part


def _holder(node: etree._Element) -> etree._Element:
    """The deepest element that holds all long blocks of one."""
    long: dict[etree._Element, int] = {}
    for block in _read_of(node):
        if len(_own_words(block).split()) >= _BLOCK_WORDS:
            for holder in (block, *block.iterancestors()):
                long[holder] = long.get(holder, 0) + 1
                if holder is node:
                    break
    deeper: etree._Element | None = node
    while deeper is not None:
        node = deeper
        held = long.get(node, 0)
        deeper = next((child for child in node if held and child.tag in _FRAMES and long.get(child) == held), None)
    return node


def _own_words(block: etree._Element) -> str:
    """The words of a block that are not in blocks below it."""
    inline = [child for child in block if isinstance(child.tag, str) and child.tag not in _FRAMES and child.tag not in _BLOCKS]
    words = [part for child in inline for part in child.itertext()]
    return " ".join([block.text or "", *map(str, words), *(child.tail or "" for child in block)])


def stylesheet(root: etree._Element) -> Callable[[etree._Element], bool]:
    """Tells which elements are hidden: by their own style, by attributes, or by a plain rule for a class or id in the page.

    Rules under conditions (`@media`) and rules of more than one step (`.a .b`) are not followed.
    """
    first, *commented = "\n".join(str(node.text or "") for node in root.iter("style"))[:_SHEET_LIMIT].split("/*")
    css = first + "".join(part.partition("*/")[2] for part in commented)
    hiding: set[tuple[str, str]] = set()
    for block in _unconditional(css).split("}"):
        selectors, _, rule = block.partition("{")
        if hidden.hiding_style(rule):
            plain = [found for part in selectors.split(",") if (found := _SIMPLE.fullmatch(part.strip()))]
            hiding |= {((found.group(1) or "").lower(), found.group(2)) for found in plain}
    return lambda node: _hidden(node, hiding)


def _unconditional(css: str) -> str:
    """The rules outside `@` blocks."""
    kept: list[str] = []
    depth, start, skipping = 0, 0, False
    for found in re.finditer(r"@[a-z-]{1,40}[^{};]{0,500}[{;]|[{}]", css, re.IGNORECASE):
        sign = found.group()
        if sign[0] == "@" and depth == 0:
            kept.append(css[start : found.start()])
            start, skipping = found.end(), sign.endswith("{")
            depth = int(skipping)
        elif sign.endswith("{"):
            depth += 1
        elif sign == "}":
            depth = max(0, depth - 1)
            if depth == 0 and skipping:
                start, skipping = found.end(), False
    return "".join([*kept, "" if skipping else css[start:]])


def _hidden(node: etree._Element, hiding: set[tuple[str, str]]) -> bool:
    if node.tag in ("body", "html", "head", "meta", "link", "title", "script", "style", "br", "img"):
        return False
    if node.get("hidden") is not None and (node.get("hidden") or "").lower() != "until-found":
        return True
    if (node.get("aria-hidden") or "").lower() == "true" or hidden.styled_away(node):
        return True
    classes = (node.get("class") or "").split()
    if hiding:
        called = [f".{name}" for name in classes] + ([f"#{node.get('id')}"] if node.get("id") else [])
        if any((tag, name) in hiding for name in called for tag in ("", str(node.tag))):
            return True
    return bool(classes) and bool(_UNSEEN_CLASS.search(" ".join(classes)))
