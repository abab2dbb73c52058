"""TEI (as GROBID writes it) and JATS to sections. No entity is expanded, nothing is fetched."""

import re
from collections.abc import Iterator

from lxml import etree

from litcascade.corpora.texts import TEXT_READERS, Body
from litcascade.schemas import DocumentState, Section

_TEI = "{http://www.tei-c.org/ns/1.0}"
_DEPTH_LIMIT = 200


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


@TEXT_READERS.register("tei")
def read_tei(raw: bytes) -> Body:
    """Read TEI; a document without a body is told from a broken one by the caller."""
    root = parse_xml(raw)
    if isinstance(root, Body):
        return root
    header = root.find(f"{_TEI}teiHeader")
    title = flat(header.find(f".//{_TEI}titleStmt/{_TEI}title")) if header is not None else ""
    doi = next((flat(idno) for idno in root.iter(f"{_TEI}idno") if (idno.get("type") or "").upper() == "DOI"), None)
    abstract = " ".join(flat(p) for p in root.iterfind(f".//{_TEI}abstract//{_TEI}p")) or flat(root.find(f".//{_TEI}abstract"))
    sections = []
    for division in root.iterfind(f".//{_TEI}body//{_TEI}div"):
        text = "\n".join(flat(child) for child in division if child.tag in (f"{_TEI}p", f"{_TEI}list", f"{_TEI}quote"))
        if text.strip():
            sections.append(Section(heading=flat(division.find(f"{_TEI}head")) or None, text=text))
    sections += [
        Section(heading=flat(figure.find(f"{_TEI}head")) or "Table", text=_tei_table(figure)) for figure in _tei_tables(root)
    ]
    references = sum(1 for _ in root.iterfind(f".//{_TEI}listBibl/{_TEI}biblStruct"))
    return Body(
        title=title or None,
        doi=doi,
        abstract=abstract or None,
        sections=tuple(s for s in sections if s.text),
        references=references,
    )


def _tei_tables(root: etree._Element) -> Iterator[etree._Element]:
    return (figure for figure in root.iterfind(f".//{_TEI}figure") if figure.find(f"{_TEI}table") is not None)


def _tei_table(figure: etree._Element) -> str:
    rows = [" | ".join(flat(cell) for cell in row.iterfind(f"{_TEI}cell")) for row in figure.iter(f"{_TEI}row")]
    return "\n".join([flat(figure.find(f"{_TEI}figDesc")), *rows]).strip()


@TEXT_READERS.register("jats")
def read_jats(raw: bytes) -> Body:
    """Read JATS/NXML with or without name spaces and nested sections."""
    root = parse_xml(raw)
    if isinstance(root, Body):
        return root
    for element in root.iter():
        if isinstance(element.tag, str) and "}" in element.tag:
            element.tag = element.tag.rpartition("}")[2]
    meta = root.find(".//article-meta")
    title = flat(meta.find("title-group/article-title")) if meta is not None else ""
    doi = flat(meta.find("article-id[@pub-id-type='doi']")) if meta is not None else ""
    abstract = next((_blocks(node) for node in meta.iterfind("abstract")), "") if meta is not None else ""
    body = root.find(".//body")
    sections = tuple(_jats_sections(body, 0)) if body is not None else ()
    references = sum(1 for _ in root.iterfind(".//ref-list//ref"))
    return Body(title=title or None, doi=doi or None, abstract=abstract or None, sections=sections, references=references)


def _jats_sections(node: etree._Element, depth: int) -> Iterator[Section]:
    heading = flat(node.find("title")) or None
    own = "\n".join(text for text in (_block(child) for child in node if child.tag not in ("sec", "title")) if text)
    if own:
        yield Section(heading=heading, text=own)
    if depth < _DEPTH_LIMIT:
        for child in node.iterfind("sec"):
            yield from _jats_sections(child, depth + 1)


def _blocks(node: etree._Element) -> str:
    return "\n".join(text for text in (_block(child) for child in node if child.tag != "title") if text)


def _block(node: etree._Element) -> str:
    if node.tag == "sec":
        return f"{flat(node.find('title'))}: {_blocks(node)}"
    if node.tag == "table-wrap":
        rows = [" | ".join(flat(cell) for cell in row if cell.tag in ("td", "th")) for row in node.iter("tr")]
        return "\n".join([f"{flat(node.find('label'))} {flat(node.find('caption'))}".strip(), *rows])
    tables = list(node.iter("table-wrap")) if isinstance(node.tag, str) else []
    if tables:
        kept = [_block(table) for table in tables]
        for table in tables:
            parent = table.getparent()
            if parent is not None:
                table.clear(keep_tail=True)  # type: ignore[call-arg]  # the stubs lag behind lxml
        return "\n".join([flat(node), *kept])
    return flat(node)
