"""Whether a full text is the paper of its record: the record is the truth, what a file says of itself is compared with it."""

from rapidfuzz import fuzz

from litcascade.corpora.build import read_doi
from litcascade.corpora.dedup.fold import fold
from litcascade.schemas import READABLE, Document, DocumentState, Flag, FlagKind

SAME_TITLE = 88  # of 100: token-set likeness of two folded titles
HEAD = 4000  # characters of the text in which a paper names itself
COMPARED = (*READABLE, DocumentState.EMPTY)
SURE, POSSIBLE = 0.8, 0.5  # share of the title's longer words that stand there


def checked(document: Document, title: str | None, doi: str | None) -> Document:
    """The document as it is; or flagged, where its title or DOI differs from the record's; or in the state of a wrong paper.

    A text whose own title agrees is right. Else the first page is looked at: where it holds the record's title the header is
    to blame (a look-up that replaced it, a guess) and is flagged; where it holds less than half of the title's words the paper
    is another one; in between a person must say. A text that names no title of its own is not judged by it, unless its DOI
    is another.
    """
    if document.state not in COMPARED or not title:
        return document
    other_doi = _other_doi(document, doi)
    if document.title is None and not other_doi:
        return document
    if document.title and fuzz.token_set_ratio(fold(document.title), fold(title)) >= SAME_TITLE:
        differs = f"the file's DOI is {other_doi}, the record's {doi}"
        return _flagged(document, FlagKind.HEADER, differs) if other_doi else document
    share = share_in_head(document, title)
    told = f"the file calls itself '{(document.title or '')[:80]}'" + (f" with DOI {other_doi}" if other_doi else "")
    if share >= SURE:
        guessed = any(flag.kind is FlagKind.GUESSED for flag in document.flags)
        return document if guessed and not other_doi else _flagged(document, FlagKind.HEADER, told)
    found = _flagged(document, FlagKind.IDENTITY, told)
    if share >= POSSIBLE:
        return found
    note = f"{told}; the record is '{title[:80]}'"
    return found.model_copy(update={"note": note, "state": DocumentState.WRONG_PAPER})


def _other_doi(document: Document, doi: str | None) -> str | None:
    """The DOI of the file where both have one and they differ."""
    own, known = read_doi(document.doi), read_doi(doi)
    return own if own and known and own != known else None


def share_in_head(document: Document, title: str) -> float:
    """The share of a title's words of four letters and more that stand in the first page's worth of text; 1 without such."""
    words = {word for word in fold(title).split() if len(word) >= 4}
    head = f"{document.abstract or ''} {document.text()[:HEAD]}"
    return len(words & set(fold(head).split())) / len(words) if words else 1.0


def _flagged(document: Document, kind: FlagKind, detail: str) -> Document:
    flag = Flag(kind=kind, detail=detail)
    state = DocumentState.WARNED if document.state in READABLE else document.state
    return document.model_copy(update={"state": state, "flags": (*document.flags, flag)})
