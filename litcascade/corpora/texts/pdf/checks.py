"""What the pages of a PDF come to: no text, a scan, hidden words, missing pages."""

from collections.abc import Iterable, Iterator, Sequence

from litcascade.corpora.texts.pdf.hidden import VEILED
from litcascade.corpora.texts.pdf.pages import PageText
from litcascade.corpora.texts.pdf.spans import NAMELESS_SHARE
from litcascade.schemas import DocumentState, Flag, FlagKind

CHARACTERS_A_PAGE = 40
_PICTURE, _PATHS = 0.3, 60
_NAMELESS = 3
_SCANNED_EXTENT, _SCANNED_CHARACTERS = 0.4, 200
_QUOTE = 120
UNKNOWN = "\ufffd"


def with_scans(pages: Sequence[PageText]) -> tuple[list[PageText], list[Flag]]:
    """The pages, the text that a program laid under the picture of a scanned page taken for visible; a flag that says so.

    Such text covers most of a page; single lines under a picture count only beside such pages.
    """
    likely = [page for page in pages if page.veiled]
    full = [page for page in likely if _extent(page) >= _SCANNED_EXTENT and _under(page) >= _SCANNED_CHARACTERS]
    if not full or 2 * len(full) < len(likely):
        return list(pages), []
    numbers = [page.number for page in likely]
    flag = Flag(
        kind=FlagKind.GUESSED,
        detail=f"a scan whose words a program recognised (OCR): {pages_named(numbers)}",
        count=len(numbers),
        page=numbers[0],
    )
    return [page.unveiled() if page.veiled else page for page in pages], [flag]


def _under(page: PageText) -> int:
    return sum(len(span.text) for span in page.spans if span.why in VEILED)


def _extent(page: PageText) -> float:
    heights = [y for span in page.spans if span.why in VEILED for y in (span.box[1], span.box[3])]
    whole = page.box[3] - page.box[1]
    return (max(heights) - min(heights)) / whole if heights and whole > 0 else 0.0


def refusal(pages: Sequence[PageText], count: int) -> tuple[DocumentState, str] | None:
    """State and reason where there is no text to go by; None where there is."""
    if not pages:
        return DocumentState.BROKEN, "no page can be read"
    characters = [_characters(page) for page in pages]
    nameless = sum(page.nameless for page in pages)
    if nameless > NAMELESS_SHARE * sum(characters):
        return DocumentState.SCANNED, f"{nameless:,} characters have no meaning in the file: it needs OCR"
    with_text = sum(number >= CHARACTERS_A_PAGE for number in characters)
    without = len(_textless(pages))
    if without and (not with_text or sum(characters) < CHARACTERS_A_PAGE * len(pages)):
        return DocumentState.SCANNED, f"no text layer: {with_text} of {count} page(s) have text, probably a scan"
    if not any(characters):
        hidden = any(page.hidden for page in pages)
        return DocumentState.EMPTY, "nothing on its pages can be seen" if hidden else "nothing is written on its pages"
    return None


def _characters(page: PageText) -> int:
    return sum(len(span.text) for span in page.spans if not span.why)


def _textless(pages: Iterable[PageText]) -> list[int]:
    """Numbers of the pages on which something is drawn, but nearly nothing written."""
    return [
        page.number
        for page in pages
        if _characters(page) < CHARACTERS_A_PAGE and (page.pictures >= _PICTURE or page.paths >= _PATHS)
    ]


def flags_of(pages: Sequence[PageText], unread: Sequence[int]) -> list[Flag]:
    """What a person should know: hidden words, pages without text or that cannot be read, characters without meaning."""
    return [*_hidden(pages), *_cut(pages, unread)]


def _hidden(pages: Sequence[PageText]) -> Iterator[Flag]:
    places: dict[str, list[tuple[str, int]]] = {}
    for page in pages:
        for span in page.hidden:
            if any(sign.isalnum() for sign in span.text):
                places.setdefault(f"text {span.why}", []).append((span.text, page.number))
        for note in page.notes:
            places.setdefault("notes or fields laid over the page", []).append((note, page.number))
    for how, found in places.items():
        quote, number = max(found, key=lambda place: len(place[0]))
        quote = quote if len(quote) <= _QUOTE else quote[: _QUOTE - 1].rstrip() + "…"
        yield Flag(kind=FlagKind.HIDDEN, detail=f"{how}: left out of the text", count=len(found), quote=quote, page=number)
    unseen = [(page.zero_width, page.number) for page in pages if page.zero_width]
    if unseen:
        detail = "characters without width: left out of the text"
        yield Flag(kind=FlagKind.HIDDEN, detail=detail, count=sum(number for number, _ in unseen), page=unseen[0][1])
    for page in pages:
        if page.unscanned:
            yield Flag(kind=FlagKind.HIDDEN, detail=f"page {page.number} could not be scanned for hidden text", page=page.number)


def _cut(pages: Sequence[PageText], unread: Sequence[int]) -> Iterator[Flag]:
    textless = _textless(pages)
    if textless:
        detail = f"pages that are pictures without text: {pages_named(textless)}"
        yield Flag(kind=FlagKind.CUT, detail=detail, count=len(textless), page=textless[0])
    if unread:
        detail = f"pages that cannot be read: {pages_named(unread)}"
        yield Flag(kind=FlagKind.CUT, detail=detail, count=len(unread), page=unread[0])
    for signs, detail in (
        ([(page.nameless, page.number) for page in pages if page.nameless], f"characters without meaning, shown as {UNKNOWN}"),
        ([(page.doubtful, page.number) for page in pages if page.doubtful], "characters whose meaning the file does not give"),
    ):
        count = sum(number for number, _ in signs)
        if count >= _NAMELESS:
            yield Flag(kind=FlagKind.ENCODING, detail=detail, count=count, page=signs[0][1])


def pages_named(numbers: Sequence[int]) -> str:
    """`pages 2-4, 7`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    named = ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"page{'s' if len(numbers) > 1 else ''} {named}"
