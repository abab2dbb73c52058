"""Whether what came is what was wanted."""

import re
from dataclasses import dataclass
from typing import Literal

from lxml import etree

from litcascade.corpora.build import read_doi
from litcascade.corpora.texts.retrieval.asking import Got

_PAGE = re.compile(
    rb"\s*(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:!doctype\s+html|html)[\s>]", re.IGNORECASE | re.DOTALL
)
PDF_END = 16 * 1024


@dataclass(frozen=True)
class Refusal:
    """Why a place, or a source, gave no text; `for_good` says that asking again is of no use."""

    why: str
    state: Literal["failed", "not open", "unknown"] = "failed"
    for_good: bool = True


def pdf_fault(got: Got) -> Refusal | None:
    """None for a whole PDF."""
    if got.content_type in ("text/html", "application/xhtml+xml") or _PAGE.match(got.body[:4000]):
        return Refusal("landing page: a web page came instead of a PDF")
    if not got.body.lstrip().startswith(b"%PDF"):
        return Refusal(f"not a PDF (sent as {got.content_type}, {len(got.body)} bytes)")
    if not got.counted and b"%%EOF" not in got.body[-PDF_END:]:
        return Refusal("the PDF is cut: its end mark is missing", for_good=False)
    return None


def jats_fault(got: Got, doi: str | None) -> Refusal | None:
    """None for JATS with a body of text and, where it names a DOI, the wanted one."""
    if _PAGE.match(got.body[:4000]):
        return Refusal("a web page came instead of XML", for_good=False)
    try:
        root = etree.fromstring(got.body, etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False))
    except (etree.XMLSyntaxError, ValueError) as error:
        return Refusal(f"not well-formed XML ({error})", for_good=False)
    article = root if root.tag == "article" else root.find(".//article")
    if article is None:
        return Refusal("no article came", for_good=False)
    named = read_doi(article.findtext("front/article-meta/article-id[@pub-id-type='doi']"))
    if doi and named and named != read_doi(doi):
        return Refusal(f"another paper came (DOI {named})")
    body = article.find("body")
    if body is None or not any(str(text).strip() for text in body.itertext()):
        return Refusal("the XML holds no full text, as its publisher does not allow it", "not open")
    return None
