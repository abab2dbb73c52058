"""Whether there is text, and enough of it to be a report."""

import re
from dataclasses import replace

from litcascade.corpora.texts.base import Body
from litcascade.schemas import Document, DocumentState

CHARACTERS = 1500
_NOTICE = re.compile(
    r"\W*(?:(?:author|authors['’]?|publisher)\W+)?(?:corrections?|corrigend(?:um|a)|errat(?:um|a)|retraction(?: note)?|addendum"
    r"|expression of concern|letters?(?: to the editors?)?|(?:in )?reply|response|comment(?:ary)?|correspondence|editorial|re)"
    r"\b\s*(?:[:.–—-]|(?:to|on|from|by|regarding)\b|$)",
    re.IGNORECASE,
)
_PARTS = (
    re.compile(
        r"^\W*(?:\d\W*)?(?:(?:patients|subjects|participants|materials?) and )?(?:methods?|methodology|design)\b", re.I | re.M
    ),
    re.compile(r"^\W*(?:\d\W*)?(?:(?:main )?results?|findings|outcomes?)\b", re.I | re.M),
)


def settled(body: Body) -> Body:
    """The body with its state: by its flags, or empty where there are but an abstract, footnotes or acknowledgements."""
    told = [section.text for section in body.sections if section.kind != "acknowledgement"]
    if any(told) or any(table.text() for table in body.tables) or any(figure.text() for figure in body.figures):
        return replace(body, state=DocumentState.WARNED if body.flags else DocumentState.PARSED)
    return replace(body, state=DocumentState.EMPTY, note="no text in the body")


def too_short(body: Body | Document) -> str | None:
    """Why a text that was made out of pages (GROBID's TEI, PDF) cannot be a report; None where it may be one.

    Cover pages, slides and notices of withdrawal come out of such readers as a few sentences. A text is too short where abstract,
    sections, tables, captions and notes have fewer than 1,500 characters together, and nothing says that it is a report all the
    same: a list of references; a title that names a kind of report that is short by nature (a correction, a letter, a reply);
    headings or line beginnings that name both methods and results, as an abstract of a conference has.
    """
    lines = [body.abstract or "", *(line for section in body.sections for line in (section.heading or "", section.text))]
    lines += [*(table.text() for table in body.tables), *(figure.text() for figure in body.figures), *body.footnotes]
    text = "\n".join(lines)
    length = sum(len(line) for line in lines)
    if length >= CHARACTERS or body.references or _NOTICE.match(body.title or "") or all(part.search(text) for part in _PARTS):
        return None
    return f"too short to be a report ({length:,} characters, no references)"
