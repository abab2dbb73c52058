"""Cited works out of JATS, TEI and lines of text."""

import re
from collections.abc import Iterable, Iterator, Sequence

from lxml import etree

from litcascade.corpora.build import read_doi
from litcascade.corpora.texts.xml import flat
from litcascade.schemas import Reference

_CITATIONS = ("mixed-citation", "element-citation", "nlm-citation", "citation")
_TITLES = ("article-title", "chapter-title", "data-title", "part-title", "source")
_DOI_LENGTH = 1000
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/\S{1,300}")
_YEAR = re.compile(r"(?<![\d./-])((?:18|19|20)\d\d)(?![\d/])[a-z]?")
_INLINE = frozenset({"italic", "bold", "sup", "sub", "sc", "underline", "styled-content", "named-content", "monospace", "roman"})
_OPEN = " ([{/“\"'-‐–—:"
_NAMES = frozenset({"name", "string-name", "collab", "person-group"})
_PIECES = {"surname": "name", "given-names": "given", "suffix": "given", "lpage": "lpage", "etal": "name"}


def line_reference(words: str) -> Reference:
    """A reference of which only the words are known: DOI and year are looked for in them."""
    return Reference(doi=doi_in(words), year=year_in(words), text=words or None)


def doi_in(words: str) -> str | None:
    """The first DOI in a text, in one spelling; None where there is none."""
    found = _DOI.search(words)
    return read_doi(found.group(0) if found else words[:_DOI_LENGTH])


def year_in(words: str) -> int | None:
    """The last number that can be a year of publication, 1800 to 2099; a DOI is not looked into."""
    found = _YEAR.findall(re.sub(r"\b10\.\d{4,9}/\S+|https?://\S+", " ", words))
    return int(found[-1]) if found else None


def jats_references(lists: Iterable[etree._Element]) -> Iterator[Reference]:
    """One reference for each citation in these lists; a `ref` without one is told by its words, notes between them too."""
    for found in lists:
        for node in found.iter("ref", "p", "note"):
            if node.tag == "ref":
                yield from _of_ref(node)
            elif next(node.iterancestors("ref"), None) is None and flat(node):
                yield line_reference(flat(node))


def _of_ref(ref: etree._Element) -> Iterator[Reference]:
    cited = [node for node in ref.iter(*_CITATIONS) if not _second(node)]
    if not cited:
        yield line_reference(" ".join(flat(child) for child in ref if child.tag != "label") or flat(ref))
    for node in cited:
        yield _jats_citation(node)
    for note in ref.iterfind("note"):
        if flat(note) and next(note.iter(*_CITATIONS), None) is None:
            yield line_reference(flat(note))


def _second(node: etree._Element) -> bool:
    """Whether a citation is the second spelling of the one before it, or stands inside another."""
    parent = node.getparent()
    if parent is not None and parent.tag == "citation-alternatives":
        return node.getprevious() is not None
    return next(node.iterancestors(*_CITATIONS), None) is not None


def _jats_citation(node: etree._Element) -> Reference:
    first = {name: next(node.iter(name), None) for name in (*_TITLES, "year")}
    title = next((flat(first[name]) for name in _TITLES if flat(first[name])), None)
    text = _jats_text(node)
    dois = [flat(found) for found in node.iter("pub-id", "object-id") if found.get("pub-id-type") == "doi"]
    links = [str(link.get("{http://www.w3.org/1999/xlink}href") or "") for link in node.iter("ext-link", "uri")]
    doi = next((found for words in [*dois, *(link for link in links if "doi" in link), text] if (found := doi_in(words))), None)
    return Reference(title=title, doi=doi, year=year_in(flat(first["year"])) or year_in(text), text=text or None)


def _jats_text(node: etree._Element) -> str:
    """A citation as it is printed; where nothing stands between its parts, stops and blanks do."""
    printed = any(word for child in node for word in (child.tail or "").split())
    said, before = "", ""
    for part, kind in _pieces(node):
        if kind == "lpage" and said.rstrip()[-1:].isalnum():
            said = f"{said.rstrip()}–{part}"
        elif kind != "end" and said and part and said[-1] not in _OPEN and (part[0].isalnum() or part[0] in "([“"):
            stop = "" if printed or kind == "given" or said[-1] in ".?!" else "," if kind == before == "name" else "."
            said += f"{stop} {part}"
        else:
            said += part
        before = kind if kind not in ("end", "given") else before
    return re.sub(r" (?=[,.;](?: |$))", "", " ".join(said.split()))


def _pieces(node: etree._Element) -> Iterator[tuple[str, str]]:
    """The words of a citation in order: (words, `name`, `given` name, `lpage` or another `part`, or `end` of one)."""
    yield node.text or "", "name" if node.tag in _NAMES else "part"
    for child in node:
        if child.tag in _INLINE:
            yield flat(child) if not (child.text or "")[:1].isspace() else f" {flat(child)}", "end"
        elif child.tag in _NAMES or child.tag in ("date-in-citation", "comment", "conference"):
            yield from _pieces(child)
        elif isinstance(child.tag, str):
            yield flat(child), _PIECES.get(child.tag, "part")
        yield child.tail or "", "end"


def compose(names: Sequence[str], parts: Iterable[str]) -> str:
    """`Names. Part. Part.` of what there is."""
    said = [", ".join(names), *parts]
    return " ".join(part if part[-1] in ".?!,;:" else f"{part}." for part in said if part)


def tei_references(lists: Iterable[etree._Element]) -> Iterator[Reference]:
    """One reference for each `biblStruct`, `biblFull` and `bibl` of these lists."""
    for found in lists:
        for node in found.iter("biblStruct", "bibl", "biblFull"):
            if next(node.iterancestors("biblStruct", "bibl", "biblFull"), None) is None:
                yield line_reference(flat(node)) if node.tag == "bibl" else _tei_citation(node)


def _tei_citation(node: etree._Element) -> Reference:
    raw = next((flat(note) for note in node.iter("note") if note.get("type") == "raw_reference"), "")
    text = raw or _composed_tei(node)
    dois = [flat(found) for found in node.iter("idno") if (found.get("type") or "").upper() == "DOI"]
    links = [str(link.get("target") or "") for link in node.iter("ptr") if "doi.org" in (link.get("target") or "")]
    doi = next((found for words in [*dois, *links] if (found := doi_in(words))), None)
    return Reference(title=tei_title(node) or None, doi=doi, year=_tei_year(node) or year_in(raw), text=text or None)


def tei_title(node: etree._Element) -> str:
    """The main title of a cited work: of the article, else of the book or series it is."""
    titles = [title for part in ("analytic", "monogr") for title in node.iterfind(f"{part}/title") if flat(title)]
    main = [title for title in titles if title.get("type") in (None, "main")] or titles
    chosen = [title for title in main if title.get("level") in ("a", "m", None)] or main
    return flat(chosen[0]) if chosen else ""


def _tei_year(node: etree._Element) -> int | None:
    for date in node.iter("date"):
        if year := year_in(str(date.get("when") or "")[:4]) or year_in(flat(date)):
            return year
    return None


def _composed_tei(node: etree._Element) -> str:
    """Names, titles, places in the volume, date and notes of a `biblStruct`, written out."""
    people = list(node.iterfind("analytic/author")) or list(node.iterfind("monogr/author"))
    names = [
        " ".join(words for part in author.iter("surname", "forename") if (words := flat(part))) or flat(author)
        for author in people
    ]
    titles = dict.fromkeys(flat(title) for title in node.iter("title") if title.get("type") != "abbrev")
    scopes = [flat(scope) or "-".join(filter(None, (scope.get("from"), scope.get("to")))) for scope in node.iter("biblScope")]
    dates = [flat(date) or str(date.get("when") or "") for date in node.iter("date")]
    rest = [flat(part) for part in node.iter("publisher", "pubPlace", "note", "idno") if not _untold(part)]
    return compose(
        [name for name in names if name], [*titles, ", ".join(filter(None, scopes)), *dict.fromkeys(dates), *dict.fromkeys(rest)]
    )


def _untold(part: etree._Element) -> bool:
    kind = (part.get("type") or "").lower()
    return kind == "raw_reference" or kind.startswith(("issn", "isbn", "md5"))
