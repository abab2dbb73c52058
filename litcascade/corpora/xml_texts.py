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


_TEI_SKIPPED = frozenset(f"{_TEI}{name}" for name in ("head", "div", "figure"))


@TEXT_READERS.register("tei")
def read_tei(raw: bytes) -> Body:
    """Read TEI; a document without a body is told from a broken one by the caller."""
    root = parse_xml(raw)
    if isinstance(root, Body):
        return root
    header = root.find(f"{_TEI}teiHeader")
    title = flat(header.find(f".//{_TEI}titleStmt/{_TEI}title")) if header is not None else ""
    own = header.iter(f"{_TEI}idno") if header is not None else ()  # a DOI behind the header is that of a cited paper
    doi = next((flat(idno) for idno in own if (idno.get("type") or "").upper() == "DOI"), None)
    body = root.find(f".//{_TEI}body")
    sections = [] if body is None else [s for node in [body, *body.iter(f"{_TEI}div")] if (s := _tei_section(node))]
    for annex in root.iterfind(f".//{_TEI}back//{_TEI}div"):
        if annex.get("type") not in ("references", "acknowledgement", "funding") and annex.find(f"{_TEI}listBibl") is None:
            sections += [section for section in [_tei_section(annex)] if section]
    sections += [
        Section(heading=flat(f.find(f"{_TEI}head")) or "Figure", text=_tei_figure(f)) for f in root.iter(f"{_TEI}figure")
    ]
    references = sum(1 for _ in root.iterfind(f".//{_TEI}listBibl/{_TEI}biblStruct"))
    return Body(
        title=title or None,
        doi=doi,
        abstract=flat(root.find(f".//{_TEI}abstract")) or None,
        sections=tuple(section for section in sections if section.text),
        references=references,
    )


def _tei_section(node: etree._Element) -> Section | None:
    text = "\n".join(
        part for part in (flat(child) if child is not None else words for child, words in loose(node, _TEI_SKIPPED)) if part
    )
    return Section(heading=flat(node.find(f"{_TEI}head")) or None, text=text) if text else None


def _tei_figure(figure: etree._Element) -> str:
    """Caption, rows and notes of a figure or table."""
    rows = [" | ".join(flat(cell) for cell in row.iterfind(f"{_TEI}cell")) for row in figure.iter(f"{_TEI}row")]
    notes = [flat(note) for note in figure.iterfind(f"{_TEI}note")]
    return "\n".join(part for part in [flat(figure.find(f"{_TEI}figDesc")), *rows, *notes] if part)


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
    references = sum(1 for _ in root.iterfind(".//ref-list//ref"))
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
