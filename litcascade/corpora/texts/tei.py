"""TEI as GROBID writes it to a document."""

from lxml import etree

from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.corpora.texts.xml import flat, loose, parse_xml
from litcascade.schemas import Reference, Section

_TEI = "{http://www.tei-c.org/ns/1.0}"
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
    references = tuple(Reference(text=flat(item) or None) for item in root.iterfind(f".//{_TEI}listBibl/{_TEI}biblStruct"))
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
