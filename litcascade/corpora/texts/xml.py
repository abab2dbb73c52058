"""XML read without expanding an entity or fetching anything, and the text of its elements."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html.entities import html5

from lxml import etree

from litcascade.corpora.texts import hidden
from litcascade.corpora.texts.base import Body
from litcascade.schemas import DocumentState, Flag

PARSER = f"lxml {etree.LXML_VERSION[0]}.{etree.LXML_VERSION[1]}"
_META = frozenset({"front", "front-stub", "teiHeader"})
_READ_OF_META = frozenset({"title-group", "titleStmt", "abstract", "trans-abstract", "author-notes", "notes", "funding-group"})
_ENTITY = re.compile(rb"&([A-Za-z_][A-Za-z0-9._-]{0,63});")
_DEFINED = re.compile(rb"<!ENTITY\s+([A-Za-z_][A-Za-z0-9._-]{0,63})\s")
_BUILT_IN = frozenset({b"lt", b"gt", b"amp", b"quot", b"apos"})
_WIDE = ((b"\xff\xfe\0\0", "utf-32"), (b"\0\0\xfe\xff", "utf-32"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"))


@dataclass(frozen=True)
class Tree:
    """An XML file without comments, instructions and hidden elements, names without name spaces; and what was hidden."""

    root: etree._Element
    flags: tuple[Flag, ...] = ()


def parse_xml(raw: bytes) -> etree._Element | Body:
    """The root of the document, or a `Body` that says what is broken."""
    try:
        return etree.fromstring(raw, _parser(bare=True))
    except (etree.XMLSyntaxError, ValueError) as error:
        return Body(DocumentState.BROKEN, f"not well-formed XML: {str(error)[:160]}")


def read_tree(raw: bytes) -> Tree | Body:
    """The tree of a file; named characters are resolved, entities that the file defines stay as they are written.

    A file that is not well-formed is a broken `Body` with the parser's words; one that only ends too early is `cut short`.
    """
    plain = _without_entities(_narrow(raw))
    try:
        root = etree.fromstring(plain, _parser())
    except (etree.XMLSyntaxError, ValueError) as error:
        said = (str(error).splitlines() or ["the parser does not say why"])[0]
        how = "cut short" if plain.strip() and _is_cut(plain) else "not well-formed XML"
        return Body(DocumentState.BROKEN, f"{how}: {said[:160]}")
    return Tree(root, _cleaned(root))


def flat(element: etree._Element | None) -> str:
    """All text of an element and its children, in order, blanks folded."""
    if element is None:
        return ""
    return re.sub(r"\s+", " ", "".join(str(part) for part in element.itertext())).strip()


def loose(node: etree._Element, leave_out: frozenset[str]) -> Iterator[tuple[etree._Element | None, str]]:
    """Everything directly below a node in order: (child, "") for elements, (None, text) for text between them.

    Elements named in `leave_out` are skipped, the text behind them is not; an unexpanded entity is its own text.
    """
    if node.text and node.text.strip():
        yield None, " ".join(node.text.split())
    for child in node:
        if not isinstance(child.tag, str):
            if child.text and child.text.strip():
                yield None, str(child.text)
        elif child.tag not in leave_out:
            yield child, ""
        if child.tail and child.tail.strip():
            yield None, " ".join(child.tail.split())


def root_name(head: str) -> str | None:
    """The name, without prefix, of the first element of a text that begins with `<`; None where there is none in it."""
    rest = head.lstrip("\ufeff \t\r\n")
    while found := _PROLOGUE.match(rest):
        rest = rest[found.end() :]
    name = _START.match(rest)
    return name.group(1) if name else None


_PROLOGUE = re.compile(r"(?:<\?.*?\?>|<!--.*?-->|<!DOCTYPE(?:[^\[>]|\[.*?\]\s*(?=>))*>|\s+)", re.DOTALL | re.IGNORECASE)
_START = re.compile(r"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)")


def _parser(bare: bool = False) -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=bare, remove_pis=bare
    )


def _narrow(raw: bytes) -> bytes:
    """The same in UTF-8, without the line that names another encoding, where the file's mark says that it has wide characters."""
    for mark, codec in _WIDE:
        if raw.startswith(mark):
            return re.sub(r"^\ufeff?\s*<\?xml[^>]*\?>", "", raw.decode(codec, "replace")).encode("utf-8", "replace")
    return raw


def _without_entities(raw: bytes) -> bytes:
    """The file with named characters as numbers and all other entities but the built-in ones as the words they are written in.

    So nothing is ever expanded, in attributes neither. A name that the file itself defines is never taken for a character.
    """
    own = frozenset(_DEFINED.findall(raw))

    def spelled(match: re.Match[bytes]) -> bytes:
        name = match.group(1)
        if name in _BUILT_IN and name not in own:
            return match.group(0)
        known = None if name in own else html5.get(f"{name.decode()};")
        return "".join(f"&#{ord(sign)};" for sign in known).encode() if known else b"&amp;" + match.group(0)[1:]

    first, *literal = raw.split(b"<![CDATA[")
    parts = [part.partition(b"]]>") for part in literal]
    rest = [b"<![CDATA[" + said + end + _ENTITY.sub(spelled, behind) for said, end, behind in parts]
    return b"".join([_ENTITY.sub(spelled, first), *rest])


def _is_cut(raw: bytes) -> bool:
    """Whether the bytes are the sound beginning of a document: nothing wrong in them, but the end is missing."""
    parser = _parser()
    try:
        parser.feed(raw)
    except (etree.XMLSyntaxError, ValueError):
        return False
    try:
        parser.close()
    except (etree.XMLSyntaxError, ValueError):
        return True
    return False


def _cleaned(root: etree._Element) -> tuple[Flag, ...]:
    """Leave text and elements alone in a tree; what the rest of it said."""
    for node in root.iter():
        if isinstance(node.tag, str) and "}" in node.tag:
            node.tag = node.tag.rpartition("}")[2]
    found = []
    for how, kind in (("comments", etree.Comment), ("processing instructions", etree.PI)):
        nodes = [*root.itersiblings(kind, preceding=True), *root.iter(kind), *root.itersiblings(kind)]
        found.append((how, [hidden.told(node.text) for node in nodes if not _of_no_text(node)]))
    etree.strip_elements(root, etree.Comment, etree.PI, with_tail=False)
    found.append(("invisible signs", hidden.smuggled(root)))
    found.append(("elements that are not shown", hidden.unseen(root, _hides)))
    return hidden.flags_of(found)


def _of_no_text(node: etree._Element) -> bool:
    """Whether a node stands among data on the paper that are not read as text."""
    for holder in node.iterancestors():
        if holder.tag in _READ_OF_META:
            return False
        if holder.tag in _META:
            return True
    return False


def _hides(node: etree._Element) -> bool:
    rend = str(node.get("rend") or node.get("css") or "").lower()
    return hidden.styled_away(node) or "hidden" in rend or "display:none" in rend.replace(" ", "")
