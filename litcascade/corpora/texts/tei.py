"""TEI, as GROBID writes it, to a document."""

from collections.abc import Iterator

from lxml import etree

from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.corpora.texts.fullness import settled
from litcascade.corpora.texts.references import tei_references, tei_title
from litcascade.corpora.texts.tei_parts import TeiWalker
from litcascade.corpora.texts.xml import PARSER, flat, read_tree
from litcascade.schemas import DocumentState, Flag, FlagKind

_ROOTS = ("TEI", "TEI.2", "teiCorpus")
_DOI_PLACES = ("fileDesc/sourceDesc/biblStruct", "fileDesc/publicationStmt", "fileDesc")


@TEXT_READERS.register("tei")
def read_tei(raw: bytes) -> Body:
    """Read TEI of GROBID 0.5 to 0.8, with or without sentences and coordinates; a fault becomes the state of the body.

    The level of a section is that of its number (`2.1` is 2) or of its nesting. Pages are those of coordinates and page breaks;
    where a paragraph's boxes stand on two pages the place of the turn inside it is reckoned from their widths. Figures and
    tables have the page of their own coordinates.
    """
    tree = read_tree(raw)
    if isinstance(tree, Body):
        return tree
    if tree.root.tag not in _ROOTS:
        return Body(DocumentState.BROKEN, f"not TEI: the file holds <{tree.root.tag}>", flags=tree.flags)
    texts = [tree.root] if tree.root.tag != "teiCorpus" else [child for child in tree.root if child.tag in _ROOTS]
    flags = [*tree.flags, *_left(len(texts))]
    return _read(texts[0], flags) if texts else Body(DocumentState.EMPTY, "a TEI corpus without texts", flags=tree.flags)


def _left(texts: int) -> Iterator[Flag]:
    if texts > 1:
        yield Flag(kind=FlagKind.CUT, detail=f"the file holds {texts} texts; the first is read", count=texts - 1)


def _read(tei: etree._Element, flags: list[Flag]) -> Body:
    header = tei.find("teiHeader")
    walker = TeiWalker()
    abstract = walker.abstract([] if header is None else list(header.iter("abstract")))
    for text in tei.iterfind("text"):
        for part in text:
            if part.tag == "back":
                walker.back(part, 1)
            else:
                walker.meet(part, 1)
            walker.add(part.tail)
    flags += walker.cuts()
    lists = [found for text in tei.iterfind("text") for found in text.iter("listBibl") if found.getparent() is not None]
    lists = [found for found in lists if next(found.iterancestors("listBibl"), None) is None]
    found = Body(
        title=_title(header) or None,
        doi=_doi(header),
        abstract="\n".join(filter(None, (abstract, walker.front_abstract))) or None,
        sections=walker.outline.finish(),
        tables=tuple(walker.tables),
        figures=tuple(walker.figures),
        footnotes=tuple(walker.footnotes),
        references=tuple(tei_references(lists)),
        flags=tuple(flags),
        parser=_parser(header),
    )
    return settled(found)


def _title(header: etree._Element | None) -> str:
    """Main title and subtitle; that of the described source where the file itself has none."""
    if header is None:
        return ""
    titles = [title for title in header.iterfind("fileDesc/titleStmt/title") if flat(title)]
    main = [title for title in titles if title.get("type") in (None, "main")][:1] or titles[:1]
    sub = [title for title in titles if title.get("type") == "sub"]
    found = ": ".join(dict.fromkeys(flat(title) for title in [*main, *sub]))
    source = header.find("fileDesc/sourceDesc/biblStruct")
    return found or (tei_title(source) if source is not None else "")


def _doi(header: etree._Element | None) -> str | None:
    """The paper's own DOI; a DOI behind the header is that of a cited paper."""
    for place in _DOI_PLACES if header is not None else ():
        for holder in header.iterfind(place):  # type: ignore[union-attr]
            for number in holder.iter("idno"):
                if (number.get("type") or "").upper() == "DOI" and flat(number):
                    return flat(number)
    return None


def _parser(header: etree._Element | None) -> str:
    """The program that made the TEI and the one that reads it."""
    made = None if header is None else header.find("encodingDesc/appInfo/application")
    if made is None:
        return PARSER
    return f"{made.get('ident') or 'unknown'} {made.get('version') or ''}".strip() + f", {PARSER}"
