"""XML read without expanding an entity or fetching anything, and the text of its elements."""

import re
from collections.abc import Iterator

from lxml import etree

from litcascade.corpora.texts.base import Body
from litcascade.schemas import DocumentState


def parse_xml(raw: bytes) -> etree._Element | Body:
    """The root of the document, or a `Body` that says what is broken."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False, remove_comments=True, remove_pis=True
    )
    try:
        root = etree.fromstring(raw, parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        return Body(DocumentState.BROKEN, f"not well-formed XML: {str(error)[:160]}")
    return root


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
