"""JATS, and the NLM DTDs before it, to a document."""

from collections.abc import Iterator

from lxml import etree

from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.corpora.texts.fullness import settled
from litcascade.corpora.texts.jats_parts import JatsWalker
from litcascade.corpora.texts.references import jats_references
from litcascade.corpora.texts.xml import PARSER, flat, read_tree
from litcascade.schemas import DocumentState, Flag, FlagKind

_PARTS = ("front", "body", "back", "floats-group", "floats-wrap", "sub-article", "response")
_OTHERS = ("sub-article", "response")


@TEXT_READERS.register("jats")
def read_jats(raw: bytes) -> Body:
    """Read JATS/NXML of any version, with or without name spaces; what is wrong with the file becomes the state of the body.

    Reviews, replies and translations in the same file (`sub-article`, `response`) stand at the end as appendices. Not read:
    names, addresses, keywords, licences, and the licence lines and identifiers of single figures.
    """
    tree = read_tree(raw)
    if isinstance(tree, Body):
        return tree
    articles = [tree.root] if tree.root.tag == "article" else list(tree.root.iter("article"))
    if not articles or not any(child.tag in _PARTS for child in articles[0]):
        return Body(DocumentState.BROKEN, f"not JATS: there is no article in <{tree.root.tag}>", flags=tree.flags)
    return _read(articles[0], [*tree.flags, *_left(len(articles))])


def _left(articles: int) -> Iterator[Flag]:
    if articles > 1:
        yield Flag(kind=FlagKind.CUT, detail=f"the file holds {articles} articles; the first is read", count=articles - 1)


def _read(article: etree._Element, flags: list[Flag]) -> Body:
    walker = JatsWalker()
    meta = article.find("front/article-meta")
    abstract = _abstracts(walker, meta)
    for body in article.iterfind("body"):
        walker.walk(body, 1)
    for back in article.iterfind("back"):
        walker.back(back, 1)
    for floats in [*article.iterfind("floats-group"), *article.iterfind("floats-wrap")]:
        walker.walk(floats, 1)
    _front_matter(walker, article, meta)
    for other in (child for child in article if child.tag in _OTHERS):
        walker.other(other, 1)
    flags += walker.cuts()
    lists = [found for found in article.iter("ref-list") if next(found.iterancestors("ref-list", *_OTHERS), None) is None]
    found = Body(
        title=walker.heading_of(article) or None,
        doi=next((doi for node in _ids(meta) if (doi := flat(node))), None),
        abstract=abstract or None,
        sections=walker.outline.finish(),
        tables=tuple(walker.tables),
        figures=tuple(walker.figures),
        footnotes=tuple(walker.footnotes),
        references=tuple(jats_references(lists)),
        flags=tuple(flags),
        parser=PARSER,
    )
    return settled(found)


def _ids(meta: etree._Element | None) -> list[etree._Element]:
    return [] if meta is None else meta.findall("article-id[@pub-id-type='doi']")


def _abstracts(walker: JatsWalker, meta: etree._Element | None) -> str:
    """All abstracts: the main one (without a type) first, since some journals print a teaser before it; translations last."""
    if meta is None:
        return ""
    own = sorted(meta.iterfind("abstract"), key=lambda node: node.get("abstract-type") is not None)
    texts = [walker.abstract(node) for node in [*own, *meta.iterfind("trans-abstract")]]
    return "\n".join(dict.fromkeys(text for text in texts if text))


def _front_matter(walker: JatsWalker, article: etree._Element, meta: etree._Element | None) -> None:
    """Notes on the authors, statements on funding and other notes, which stand in front of the text."""
    for notes in article.iterfind("front/notes"):
        walker.matter(notes, 2)
    if meta is None:
        return
    for note in meta.iterfind("author-notes/fn"):
        walker.footnote(note, 3)
    statements = [text for node in meta.iterfind("funding-group/funding-statement") if (text := flat(node))]
    if statements:
        walker.outline.start("Funding", 1, "acknowledgement")
        walker.put("\n".join(statements))
