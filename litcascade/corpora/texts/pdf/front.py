"""The first page of a PDF: its title, and the DOI that it gives as its own."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence

from litcascade.corpora.build import read_doi
from litcascade.corpora.texts.pdf.lines import Line
from litcascade.corpora.texts.pdf.names import known_name
from litcascade.corpora.texts.pdf.paragraphs import Hyphens, Paragraph, Style, text_of
from litcascade.corpora.texts.pdf.spans import HYPHEN

_DOI = re.compile(r"10\.\d{4,9}/[^\s\"<>|]+")
_NO_TITLE = re.compile(
    r"https?://|www\.|©|\bissn\b|\bvol(?:ume|\.)? ?\d|@|all rights reserved|^research$"
    r"|^(?:proceedings of|contents lists|available online|downloaded|journal of|published)"
    r"|(?:original|research|review|open access) (?:article|paper|report)s?$",
    re.IGNORECASE,
)
_OWN = re.compile(
    r"^\W*(?:https?://(?:dx\.)?doi\.org/|doi\b|digital object identifier|cite this|citation|to cite|how to cite|article doi)",
    re.I,
)
_ISSUE = re.compile(
    r"(?:19|20)\d\d\)?[;,. ]+\s*(?:vol(?:ume|\.)?\s*)?\d+\s*[:(]|\(\s*(?:19|20)\d\d\s*\)\s*\d+[:(]|issn", re.IGNORECASE
)
_DATA = re.compile(r"10\.(?:5061|5281|6084|17605|17632|7910|24433|1594|6073|22541|13026|25345)/")
_CITED = re.compile(
    r"\b(?:available|accessed|deposited|data|dataset|preprint|supplement\w*|correct\w*|comment\w*|reply|retract\w*|version)\b",
    re.I,
)


def fold(text: str) -> str:
    """Letters and digits alone, lower case."""
    return re.sub(r"[\W_]+", "", text.casefold())


def front_end(parts: Sequence[Paragraph]) -> int:
    """Place of the paragraph that the paper's own text begins with: the first well-known heading on the first three pages."""
    for index, part in enumerate(parts):
        if part.first.page > 3:
            break
        if part.kind == "heading" and known_name(part.first.text) not in (None, "key words", "keywords"):
            return index
    return next((index for index, part in enumerate(parts) if part.kind == "text" and len(part.lines) > 4), 0)


def find_title(
    parts: Sequence[Paragraph], begin: int, style: Style, hyphens: Hyphens, named: str | None
) -> tuple[str | None, list[int]]:
    """(The title, places of the paragraphs that hold it) out of the front, which ends before `begin`.

    It is the largest text on the first page with three words or more, larger than the body or bold. `named` is what the file says
    it is called: that is taken where the page bears it out. None where nothing stands out.
    """
    front = [index for index, part in enumerate(parts[:begin]) if part.first.page == parts[0].first.page]
    likely = [index for index in front if _may_be_title(parts[index])]
    best = max(likely, key=lambda index: (round(parts[index].first.size, 1), parts[index].first.bold, -index), default=None)
    known = _named(named, parts)
    if best is None or (parts[best].first.size < style.size + 1 and not parts[best].first.bold):
        return known, []
    first = parts[best].first
    places = [best]
    for index in range(best + 1, min(best + 4, begin)):
        if abs(parts[index].first.size - first.size) > 0.3 or parts[index].first.face != first.face:
            break
        places.append(index)
    title = text_of([line for place in places for line in parts[place].lines], hyphens)[0]
    if known and len(fold(known)) >= 0.7 * len(fold(title)) and fold(known) != fold(title):
        return known, places if fold(title) in fold(known) else []
    return title, places


def _may_be_title(part: Paragraph) -> bool:
    text = " ".join(line.text for line in part.lines)
    words = re.findall(r"[^\W\d_]{2,}", text)
    return (
        part.kind in ("text", "heading")
        and len(part.lines) <= 8
        and len(words) >= 3
        and 15 <= len(text) <= 400
        and not _NO_TITLE.search(text)
        and known_name(text) is None
    )


def _named(named: str | None, parts: Sequence[Paragraph]) -> str | None:
    """The title that the file's own description gives, where the first page says the same."""
    if not named or len(named.split()) < 3 or len(named) < 15:
        return None
    page = parts[0].first.page if parts else 0
    text = fold(" ".join(line.text for part in parts if part.first.page == page for line in part.lines))
    return " ".join(named.split()) if fold(named) in text else None


def find_doi(first: Iterable[Line], running: Iterable[Line], named: Iterable[str]) -> str | None:
    """The DOI that the paper prints as its own; None where there is none, or where two could be.

    Sure are those in running heads and feet, most often printed first. Else one counts that stands on the first page beside
    volume and pages, or behind words such as `cite this article`; one in a sentence may be a cited work's. `named` are DOIs of
    the file's own description, and make sure of one that the first page prints.
    """
    sure = Counter(doi for line in running for doi in _dois(line.text))
    if sure:
        (doi, count), *others = sure.most_common()
        return doi if not others or others[0][1] < count else None
    lines = [line.text for line in first]
    whole = [_whole(text, lines[index + 1 : index + 2]) for index, text in enumerate(lines)]
    own: list[str] = []
    for index, text in enumerate(lines):
        before = lines[index - 1] if index else ""
        told = _OWN.search(text) or _ISSUE.search(text) or (len(before) < 90 and _OWN.search(before))
        if told and not _CITED.search(f"{before} {text}"):
            own += _dois(whole[index])
    if len(set(own)) == 1:
        return own[0]
    printed = {doi for text in whole for doi in _dois(text)}
    described = printed.intersection(doi for text in named for doi in _dois(text))
    return described.pop() if len(described) == 1 else None


def _whole(text: str, after: Sequence[str]) -> str:
    """A line with the rest of a DOI that the next line goes on with: what it begins with, if it has a digit in it."""
    rest = after[0].split(" ", 1)[0] if after else ""
    if (
        re.search(rf"{_DOI.pattern[:-1]}*[./_\-{HYPHEN}]$", text)
        and re.fullmatch(r"[a-z\d(][\w.()/-]*", rest)
        and re.search(r"\d", rest)
    ):
        return text.removesuffix(HYPHEN) + rest
    return text


def _dois(text: str) -> list[str]:
    found = (hit[0].rstrip(".,;:)]}") for hit in _DOI.finditer(text))
    return [doi for hit in found if not _DATA.match(hit) and (doi := read_doi(hit))]
