"""JATS / NXML to a document."""

from collections.abc import Iterator

from lxml import etree

from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.corpora.texts.xml import flat, loose, parse_xml
from litcascade.schemas import Reference, Section

_DEPTH_LIMIT = 200


@TEXT_READERS.register("jats")
def read_jats(raw: bytes) -> Body:
    """Read JATS/NXML with or without name spaces, nested sections, and tables that float behind the body."""
    root = parse_xml(raw)
    if isinstance(root, Body):
        return root
    for element in root.iter():
        if isinstance(element.tag, str) and "}" in element.tag:
            element.tag = element.tag.rpartition("}")[2]
    meta = root.find(".//article-meta")
    title = flat(meta.find("title-group/article-title")) if meta is not None else ""
    doi = flat(meta.find("article-id[@pub-id-type='doi']")) if meta is not None else ""
    abstract = _jats_abstracts(meta) if meta is not None else ""
    body = root.find(".//body")
    sections = list(_jats_sections(body, 0)) if body is not None else []
    for floating in [*root.iterfind("floats-group/*"), *root.iterfind("floats-group//table-wrap")]:
        text = _block(floating)
        sections += [Section(heading=flat(floating.find("label")) or "Table", text=text)] if text else []
        floating.clear()
    for appendix in [*root.iterfind(".//back//app"), *root.iterfind(".//back/sec")]:
        sections += list(_jats_sections(appendix, 1))
    references = tuple(Reference(text=flat(item) or None) for item in root.iterfind(".//ref-list//ref"))
    return Body(title=title or None, doi=doi or None, abstract=abstract or None, sections=tuple(sections), references=references)


def _jats_abstracts(meta: etree._Element) -> str:
    """All abstracts, the main one (without a type) first: some journals print a teaser before it."""
    nodes = sorted(meta.iterfind("abstract"), key=lambda node: node.get("abstract-type") is not None)
    return "\n".join(text for text in (_blocks(node) for node in nodes) if text)


def _jats_sections(node: etree._Element, depth: int) -> Iterator[Section]:
    """A section's own text, then its subsections; below the depth limit all text in one piece."""
    if depth >= _DEPTH_LIMIT:
        yield Section(heading=flat(node.find("title")) or None, text=flat(node))
        return
    own = _blocks(node, frozenset({"sec", "title"}))
    if own:
        yield Section(heading=flat(node.find("title")) or None, text=own)
    for child in node.iterfind("sec"):
        yield from _jats_sections(child, depth + 1)


def _blocks(node: etree._Element, leave_out: frozenset[str] = frozenset({"title"})) -> str:
    return "\n".join(
        part for part in (_block(child) if child is not None else words for child, words in loose(node, leave_out)) if part
    )


def _block(node: etree._Element) -> str:
    if node.tag == "sec":
        return f"{flat(node.find('title'))}: {_blocks(node)}"
    if node.tag == "table-wrap":
        rows = [" | ".join(flat(cell) for cell in row if cell.tag in ("td", "th")) for row in node.iter("tr")]
        foot = flat(node.find("table-wrap-foot"))
        return "\n".join(
            part for part in [f"{flat(node.find('label'))} {flat(node.find('caption'))}".strip(), *rows, foot] if part
        )
    tables = list(node.iter("table-wrap"))
    if tables:
        kept = [_block(table) for table in tables]
        for table in tables:
            table.clear(keep_tail=True)  # type: ignore[call-arg]  # the stubs lag behind lxml
        return "\n".join(part for part in [flat(node), *kept] if part)
    return flat(node)
