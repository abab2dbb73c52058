"""EndNote XML: the runs of text that EndNote parts by style are joined in order."""

import re
from collections.abc import Iterator

from lxml import etree

from litcascade.corpora.build import build, read_year
from litcascade.corpora.readers import READERS
from litcascade.corpora.receipt import Item, SetAside
from litcascade.corpora.source import Source
from litcascade.corpora.xml_records import line_of, raw_fields, xml_entries
from litcascade.schemas import Record

_MEDLINE = ("pubmed", "medline", "nlm")


@READERS.register("endnote_xml")
def read_endnote_xml(source: Source) -> Iterator[Item]:
    """Read an EndNote library in XML: as many records out as `<record>` in; an empty one is set aside."""
    position = 0
    for entry in xml_entries(source, ("record",)):
        if not isinstance(entry, etree._Element):
            yield entry
        elif len(entry) == 0:
            raw = etree.tostring(entry, encoding="unicode", with_tail=False)
            yield SetAside(line_of(entry), "holds no field", raw, is_record=True)
        else:
            position += 1
            yield _record(entry, position)


def _record(entry: etree._Element, position: int) -> Record:
    kind = entry.find("ref-type")
    dates = [*_all(entry, "dates/year"), *_all(entry, "dates/pub-dates/date")]
    fields = {
        "title": _first(entry, "titles/title"),
        "abstract": _first(entry, "abstract"),
        "year": next((date for date in dates if read_year(date)), None) or next(iter(dates), None),
        "journal": _first(entry, "titles/secondary-title", "periodical/full-title", "titles/alt-title", "periodical/abbr-1"),
        "volume": _first(entry, "volume"),
        "issue": _first(entry, "number"),
        "pages": _first(entry, "pages"),
        "doi": _doi(entry),
        "pmid": _pmid(entry),
        "pmcid": _first(entry, "custom2"),
        "url": _first(entry, "urls/related-urls/url", "urls/web-urls/url"),
        "kind": (kind.get("name") or _runs(kind)) if kind is not None else None,
    }
    authors = _all(entry, "contributors/authors/author")
    return build("", fields, authors, position, dict(raw_fields(entry, _runs)))


def _runs(element: etree._Element) -> str:
    """All text in order; blanks between style elements that only lay the file out are no text."""
    parts = []
    for part in element.itertext():
        words = str(part)
        if words.strip() or "\n" not in words or len(element) == 0:
            parts.append(words)
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def _all(entry: etree._Element, path: str) -> list[str]:
    return [text for found in entry.iterfind(path) if (text := _runs(found))]


def _first(entry: etree._Element, *paths: str) -> str | None:
    return next((text for path in paths for text in _all(entry, path)), None)


def _doi(entry: etree._Element) -> str | None:
    given = _first(entry, "electronic-resource-num")
    return given or next((url for url in _all(entry, "urls/related-urls/url") if "doi.org/" in url), None)


def _pmid(entry: etree._Element) -> str | None:
    """The accession number, where it is PubMed's."""
    number = _first(entry, "accession-num") or ""
    base = f"{_first(entry, 'remote-database-name')} {_first(entry, 'remote-database-provider')}".casefold()
    return number if number.isdecimal() and any(name in base for name in _MEDLINE) else None
