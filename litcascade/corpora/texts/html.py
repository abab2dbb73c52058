"""A web page of an article to a document."""

import re
from collections.abc import Iterator

from lxml import etree

from litcascade.corpora.encoding import decode
from litcascade.corpora.texts import hidden
from litcascade.corpora.texts.base import TEXT_READERS, Body
from litcascade.corpora.texts.fullness import settled
from litcascade.corpora.texts.html_page import ABSTRACT, main_part, settings, stylesheet
from litcascade.corpora.texts.html_parts import PageWalker
from litcascade.corpora.texts.references import doi_in, line_reference, year_in
from litcascade.corpora.texts.xml import PARSER, flat
from litcascade.schemas import DocumentState, Flag, FlagKind, Reference

_DECLARED = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9._:-]+)", re.IGNORECASE)
_XML_LINE = re.compile(r"^\s*<\?xml[^>]*\?>")
_TITLES = ("citation_title", "dc.title", "dcterms.title", "wkhealth_title", "bepress_citation_title", "prism.title", "og:title")
_DOIS = (
    "citation_doi",
    "dc.identifier",
    "dc.identifier.doi",
    "dcterms.identifier",
    "prism.doi",
    "bepress_citation_doi",
    "doi",
    "wkhealth_doi",
)
_SAID = ("citation_abstract", "dc.description", "dcterms.abstract")
_FAULT = re.compile(
    r"\b(?:HTTP )?(?:error )?(?:40[0-9]|429|50[0-4])\b|service unavailable|bad gateway|access (?:is |has been )?denied|forbidden"
    r"|not found|just a moment|attention required|captcha|are you a (?:robot|human)|enable (?:javascript|cookies)"
    r"|session (?:has )?expired|sign in|log ?in",
    re.IGNORECASE,
)
_PREFIXED = re.compile(r"[A-Za-z][\w.-]*:([A-Za-z][\w.-]*)")
_FAULT_WORDS = 150


@TEXT_READERS.register("html")
def read_html(raw: bytes) -> Body:
    """Read a web page: its main part by headings; menus, forms, scripts and lists of links around it are not read.

    Title and DOI are those the page tells machines (`citation_title`, `citation_doi`) or shows as its first heading. A page of an
    error or a login is broken; one with an abstract alone has no sections, so that the caller makes it empty.
    """
    root, fault = _tree(_decoded(raw))
    if root is None:
        return Body(DocumentState.BROKEN, f"not a readable web page: {fault}")
    told = settings(root)
    flags, main = _cleaned(root)
    title = next((told[name][0] for name in _TITLES if told.get(name)), "") or _shown_title(root)
    if broken := _error_page(root, title):
        return Body(DocumentState.BROKEN, broken, flags=flags)
    walker = PageWalker(title)
    walker.read(main)
    abstract = "\n".join(dict.fromkeys(walker.abstracts)) or next(
        (words for name in _SAID for words in told.get(name, ()) if len(words.split()) > 20), None
    )
    dois = (doi for name in _DOIS for words in told.get(name, ()) if (doi := doi_in(words)))
    found = Body(
        title=title or None,
        doi=next(dois, None),
        abstract=abstract or None,
        sections=walker.outline.finish(),
        tables=tuple(walker.tables),
        figures=tuple(walker.figures),
        footnotes=tuple(walker.footnotes),
        references=tuple(_references(walker.cited, told.get("citation_reference", []))),
        flags=flags,
        parser=PARSER,
    )
    return settled(found)


def _decoded(raw: bytes) -> str:
    """The page as text: in the encoding it names where that can be read, else as any other file is."""
    named = _DECLARED.search(raw[:4000])
    if named and not raw.startswith((b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf")):
        try:
            return raw.decode(named.group(1).decode("ascii"))
        except (LookupError, UnicodeError, ValueError):
            pass
    return decode(raw).text


def _tree(text: str) -> tuple[etree._Element | None, str]:
    """The page's root, or why there is none; a page nested too deeply for the parser is not read in part."""
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, huge_tree=False, remove_pis=False)
    text = _XML_LINE.sub("", text).replace("\0", "")
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        return None, str(error)[:160]
    fatal = next((entry.message for entry in parser.error_log if entry.level_name == "FATAL"), None)
    if root is None or fatal:
        return None, (fatal or "there is nothing in it")[:160]
    for behind in [node for node in root.itersiblings() if isinstance(node.tag, str)]:
        root.append(behind)
    return root, ""


def _cleaned(root: etree._Element) -> tuple[tuple[Flag, ...], etree._Element]:
    """Take out what is not shown; the flags on what of it stands in the article, and the element that holds the article."""
    for node in root.iter():
        if isinstance(node.tag, str) and (prefixed := _PREFIXED.fullmatch(node.tag)):
            node.tag = prefixed.group(1)
    main, hides = main_part(_shown(root)), stylesheet(root)
    comments = [hidden.told_comment(node.text) for node in main.iter(etree.Comment)]
    scripts = [node for node in root.iter("script", "style") if "math" not in (node.get("type") or "")]
    told = [hidden.told_code(node.text) for node in scripts if "json" not in (node.get("type") or "") and _is_in(node, main)]
    etree.strip_elements(root, etree.Comment, etree.PI, with_tail=False)
    hidden.take_out(root, scripts)
    signs = hidden.smuggled(root)
    half = len(flat(main)) / 2
    veiled = [node for node in main.iter("div", "section", "article", "main", "form") if hides(node) and len(flat(node)) > half]
    unseen = hidden.unseen(main, lambda node: hides(node) and node not in veiled)
    hidden.unseen(root, lambda node: hides(node) and not _is_in(main, node) and not _is_in(node, main))
    found = [("comments", comments), ("scripts and style sheets", told), ("invisible signs", signs)]
    flags = hidden.flags_of([*found, ("elements that are not shown", unseen)])
    return (*flags, *(_veil(node) for node in veiled[:1])), main


def _shown(root: etree._Element) -> etree._Element:
    """The body of the page; the whole page where something stands beside its body."""
    beside = [node for node in root if node.tag not in ("head", "body") and isinstance(node.tag, str) and flat(node)]
    bodies = list(root.iter("body"))
    return bodies[0] if len(bodies) == 1 and bodies[0].getparent() is root and not beside else root


def _veil(node: etree._Element) -> Flag:
    return Flag(
        kind=FlagKind.HIDDEN, detail="most of the page is not shown until a script runs; it was read", quote=flat(node)[:80]
    )


def _is_in(node: etree._Element, holder: etree._Element) -> bool:
    return node is holder or any(above is holder for above in node.iterancestors())


def _shown_title(root: etree._Element) -> str:
    headings = [text for node in root.iter("h1") if (text := flat(node))]
    if headings:
        return max(headings, key=len)
    return re.split(r"\s+[|–—]\s+| - (?=[^-]*$)", flat(next(root.iter("title"), None)))[0]


def _error_page(root: etree._Element, title: str) -> str | None:
    """The words that show a page of few words to be an error or a login; None for others."""
    words = flat(next(root.iter("body"), root)).split()
    if len(words) > _FAULT_WORDS or any(ABSTRACT.fullmatch(flat(node)) for node in root.iter("h1", "h2", "h3", "h4")):
        return None
    found = _FAULT.search(f"{flat(next(root.iter('title'), None))} {title} {' '.join(words)}")
    return f"an error or login page of a web server, not an article: '{found.group(0)}'" if found else None


def _references(cited: list[str], told: list[str]) -> Iterator[Reference]:
    """The works in the page's list; where the page tells machines as many, their titles and DOIs with them."""
    machine = [_told_reference(words) for words in told]
    if not cited:
        yield from machine
    for number, line in enumerate(cited):
        shown = line_reference(line)
        better = machine[number] if len(machine) == len(cited) else Reference()
        yield Reference(title=better.title, doi=better.doi or shown.doi, year=better.year or shown.year, text=shown.text)


def _told_reference(words: str) -> Reference:
    """A `citation_reference` of the page: pairs of key and value, or a line of text."""
    pairs = dict(re.findall(r"citation_(\w+)=((?:[^;]|;(?! ?citation_))*)", words))
    if not pairs:
        return line_reference(words)
    text = "; ".join(value.strip() for value in pairs.values() if value.strip())
    year = year_in(pairs.get("publication_date", "") or pairs.get("year", ""))
    return Reference(
        title=pairs.get("title", "").strip() or None, doi=doi_in(pairs.get("doi") or ""), year=year, text=text or None
    )
