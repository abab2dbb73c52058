"""PubMed XML (articles and books): all text of an element and its children, all sections of an abstract."""

from collections.abc import Iterator

from lxml import etree

from litcascade.corpora.build import build
from litcascade.corpora.nbib import plain_title
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Item, SetAside
from litcascade.corpora.source import Source
from litcascade.corpora.texts.xml import flat, loose
from litcascade.corpora.xml_records import line_of, raw_fields, xml_entries
from litcascade.schemas import AbstractStatus, Record

_ENTRIES = ("PubmedArticle", "PubmedBookArticle")
_NOT_TEXT = frozenset({"CopyrightInformation"})


@READERS.register("pubmed_xml")
def read_pubmed_xml(source: Source) -> Iterator[Item]:
    """Read PubMed XML; an entry without any text is set aside as unread."""
    position = 0
    for entry in xml_entries(source, _ENTRIES):
        if not isinstance(entry, etree._Element):
            yield entry
        elif entry.find("MedlineCitation") is None and entry.find("BookDocument") is None:
            raw = etree.tostring(entry, encoding="unicode", with_tail=False)
            yield SetAside(line_of(entry), "holds no citation", raw, is_record=True)
        else:
            position += 1
            yield _record(entry, position)


def _record(entry: etree._Element, position: int) -> Record:
    citation = _first(entry, "MedlineCitation", "BookDocument")
    abstract, language = _abstract(citation)
    title, vernacular = _text(citation, "Article/ArticleTitle", "ArticleTitle"), _text(citation, "Article/VernacularTitle")
    vernacular = vernacular or _text(citation, "VernacularTitle")
    chapter, book = plain_title(title, vernacular), _text(citation, "Book/BookTitle")
    fields = {
        "title": chapter or book,
        "abstract": abstract,
        "year": _year(citation),
        "journal": _text(citation, "Article/Journal/Title", "Article/Journal/ISOAbbreviation", "MedlineJournalInfo/MedlineTA")
        or (book if chapter else ""),
        "volume": _text(citation, "Article/Journal/JournalIssue/Volume", "Book/Volume"),
        "issue": _text(citation, "Article/Journal/JournalIssue/Issue"),
        "pages": _text(citation, "Article/Pagination/MedlinePgn", "Pagination/MedlinePgn"),
        "doi": _doi(entry, citation),
        "pmcid": _text(entry, "PubmedData/ArticleIdList/ArticleId[@IdType='pmc']"),
        "pmid": _text(citation, "PMID") or _text(entry, "PubmedData/ArticleIdList/ArticleId[@IdType='pubmed']"),
        "kind": "; ".join(_all(citation, "Article/PublicationTypeList/PublicationType", "PublicationType")),
    }
    source: dict[str, object] = dict(raw_fields(entry))
    told = {
        "original_title": vernacular,
        "language": "; ".join(_all(citation, "Article/Language", "Language")),
        "abstract_language": language,
    }
    source.update({name: value for name, value in told.items() if value})
    record = build("", fields, _authors(citation), position, source)
    if record.abstract_status is AbstractStatus.OK and language and language.casefold() not in ("eng", "en"):
        return record.model_copy(update={"abstract_status": AbstractStatus.OTHER_LANGUAGE})
    return record


def _first(node: etree._Element, *paths: str) -> etree._Element:
    """The first element found at one of the paths, else the node itself."""
    return next((found for path in paths if (found := node.find(path)) is not None), node)


def _all(node: etree._Element, *paths: str) -> list[str]:
    return [text for path in paths for found in node.iterfind(path) if (text := flat(found))]


def _text(node: etree._Element, *paths: str) -> str:
    return next(iter(_all(node, *paths)), "")


def _abstract(citation: etree._Element) -> tuple[str, str | None]:
    """(Abstract, its language where the file says so): the main one, else the English or first of the others."""
    for path in ("Article/Abstract", "Abstract"):
        for node in citation.iterfind(path):
            if text := _sections(node):
                return text, node.get("Language")
    others = sorted(citation.iterfind("OtherAbstract"), key=lambda node: node.get("Language") != "eng")
    return next(((text, node.get("Language")) for node in others if (text := _sections(node))), ("", None))


def _sections(abstract: etree._Element) -> str:
    parts = []
    for child, words in loose(abstract, _NOT_TEXT):
        text = words if child is None else flat(child)
        label = "" if child is None else (child.get("Label") or "").strip()
        label = "" if label == "UNLABELLED" else label
        if text:
            parts.append(f"{label}: {text}" if label else text)
    return " ".join(parts)


def _year(citation: etree._Element) -> str:
    """The year of the issue (or the span that stands for it), of the book, or of the electronic article."""
    issue = "Article/Journal/JournalIssue/PubDate"
    return _text(
        citation, f"{issue}/Year", f"{issue}/MedlineDate", "Book/PubDate/Year", "Book/PubDate/MedlineDate",
        "Article/ArticleDate/Year", "ContributionDate/Year",
    )  # fmt: skip


def _doi(entry: etree._Element, citation: etree._Element) -> str:
    places = [
        found
        for path in ("Article/ELocationID[@EIdType='doi']", "ELocationID[@EIdType='doi']", "Book/ELocationID[@EIdType='doi']")
        for found in citation.iterfind(path)
        if found.get("ValidYN") != "N"
    ]
    listed = [*entry.iterfind("PubmedData/ArticleIdList/ArticleId[@IdType='doi']")]
    listed += [*citation.iterfind("ArticleIdList/ArticleId[@IdType='doi']")]
    listed += [*entry.iterfind("PubmedBookData/ArticleIdList/ArticleId[@IdType='doi']")]
    return next((text for node in places + listed if (text := flat(node))), "")


def _authors(citation: etree._Element) -> list[str]:
    """Authors as `Family, Given`, groups by their name; of a book's lists the authors' before the editors'."""
    lists = [node for path in ("Article/AuthorList", "AuthorList", "Book/AuthorList") for node in citation.iterfind(path)]
    lists.sort(key=lambda node: (node.get("Type") or "authors") != "authors")
    for authors in lists:
        names = [name for author in authors.iterfind("Author") if (name := _name(author))]
        if names:
            return names
    return []


def _name(author: etree._Element) -> str:
    given = " ".join(part for part in (_text(author, "ForeName", "Initials"), _text(author, "Suffix")) if part)
    person = ", ".join(part for part in (_text(author, "LastName"), given) if part)
    return person or _text(author, "CollectiveName")
