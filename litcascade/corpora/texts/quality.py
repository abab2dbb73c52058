"""What is wrong with the characters of a full text: flags for people, and words mended for search; pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from litcascade.corpora.texts.quality_words import GLUED, STOP_WORDS, broken
from litcascade.schemas import Document, Flag, FlagKind

Hit = tuple[str, int | None]
Span = tuple[str, int | None]
QUOTE = 80
A_SHORT_TEXT = 2_000
ENOUGH_WORDS = 100
A_THIN_PAGE = 300
A_THIN_ARTICLE = 1_000

_WORD = re.compile(r"[A-Za-zﬀ-ﬆ]+")
_JOINED = re.compile(r"[A-Za-z]*[ﬀ-ﬆ][A-Za-zﬀ-ﬆ]*")
_MARKED = re.compile(r"([A-Za-z]+)[?!#~□■▯\ufffd\x00-\x08\x0b\x0e-\x1f\ue000-\uf8ff]{1,2}([A-Za-z]+)")
_HYPHENED = re.compile(r"\b([A-Za-z]{2,})-[ \t]*\n\s*([a-z]{2,})\b")
_PREFIXES = frozenset(
    (
        "long",
        "short",
        "well",
        "non",
        "self",
        "post",
        "pre",
        "anti",
        "low",
        "high",
        "meta",
        "follow",
        "double",
        "single",
        "cross",
        "risk",
    )
)
_P_VALUE = re.compile(r"(?<![\w.-])[pP]\s+(?:0?\.\d+|0\s\d{2,})|\b[pP]\s+0(?=[\s)]|$)")
_INTERVAL = re.compile(
    r"\bCIs?[\s:,(=\[]{1,4}[-−]?\d+(?:[.·]\d+|\s\d+)?\s+[-−]?\d+(?:[.·]\d+|\s\d+)?(?![\d.]*\s*(?:%|to\b|[-–−]))"
)
_RUN_ON = re.compile(r"\bCIs?[\s:,(=\[]{1,4}[-−]?\d+\.\d{1,3}\.\d+")
_BOUNDS = re.compile(
    r"\bCI[\s:,(=\[]{1,4}(\d+(?:[.·]\d+)?)\s?(?:to|,|;|[-–−])\s?(\d+(?:[.·]\d+)?)(?![\d.·]*\d|\s?%|\s?(?:to\b|[-–−/]))"
)
_BOXED = re.compile(r"(?:[\ufffd□■▯\ue000-\uf8ff\x00-\x08\x0e-\x1f]|\(cid:\d+\))\s?\d")
_FOREIGN = re.compile(r"(?:[ϪϫϭϮϽϾ]|(?<![\wÀ-ÿ])[À¡](?=\d))\s?\d|\b[a-zA-Z]{1,12}\s?¼\s?[-−À]?\d")
_DECIMALS = re.compile(r"\b(?:[eE]ffects?|OR|RR|HR|ratio)\s+0\s\d{1,3}\b")
_MOJIBAKE = re.compile(
    r"Ã[\x80-\xbf©¨®¡¢£¤¥¦§ª«¬¯°±²³´µ¶·¸¹º»¼½¾¿€„…†‡ˆ‰‹‘’“”•–—˜™›]|â€[\x80-\x9d™œ“”˜¢¦\"]|Â[\xa0±°µ·©®«»]|ï»¿|ï¬[\x80-\x86]"
)
_GARBLED = re.compile(r"\ufffd|\(cid:\d+\)|[\x00-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]|[\ue000-\uf8ff\ufdd0-\ufdef\ufffe\uffff]")
_STOPPED = re.compile(r"(?<=[a-z]{3})\.(?=[A-Z][a-z]{2,}\s)")
_SENTENCE = re.compile(r"[a-z]{2}[.!?]\s+[A-Z]")
_LONG_WORD = re.compile(r"(?<![\w/@.-])[A-Za-z]{28,}(?![\w/@-])")
_RUN = re.compile(r"\S{120,}")
_NO_TEXT = re.compile(r"https?:|www\.|doi|[/_=&%|]{2}|^[ACGTUNacgtun\d]+$|[.…_·-]{10}|\d{10}")
_LETTERS = re.compile(r"[^\W\d_]+")
_SCRIPTS = tuple(
    (name, re.compile(f"[{letters}]"), share)
    for name, letters, share in (
        ("Japanese", "\u3040-\u30ff", 0.1),
        ("Chinese", "\u4e00-\u9fff", 0.3),
        ("Korean", "\uac00-\ud7af", 0.3),
        ("Russian or another language in Cyrillic letters", "\u0400-\u04ff", 0.4),
        ("Greek", "\u0370-\u03ff", 0.4),
        ("Arabic or Persian", "\u0600-\u06ff", 0.4),
        ("Hebrew", "\u0590-\u05ff", 0.4),
        ("Hindi or another language in Devanagari", "\u0900-\u097f", 0.4),
        ("Thai", "\u0e00-\u0e7f", 0.4),
    )
)


def quality_flags(document: Document) -> tuple[Flag, ...]:
    """What a person should know of a document's characters: one flag a kind, with count, first place and its page.

    Flagged are lost ligatures and lost signs (from two on, or one in a text of less than 2,000 characters), glued words,
    garbled characters, another language than English (from 100 words on; below nothing is said), and little text: below
    300 characters a page, or below 1,000 in all for an article without pages (TEI, JATS, HTML). A document without text
    has no flags: its state says so.
    """
    spans = list(_spans(document))
    text = "\n".join(span for span, _ in spans)
    if not text.strip():
        return ()
    language = guess_language(text)
    enough = 2 if len(text) >= A_SHORT_TEXT else 1
    flags = [
        _flag(FlagKind.SHORT, *_short(document, text)),
        _flag(FlagKind.LANGUAGE, f"{language}, as its commonest words or letters tell", _other_language(spans, language)),
        _flag(FlagKind.ENCODING, "characters that stand for others, or for none", _found(spans, _GARBLED, _MOJIBAKE)),
        _flag(FlagKind.SIGNS, "numbers with no sign before them where one belongs", _signs(spans), enough),
    ]
    if language in (None, "English"):
        lost = [(written, page) for span, page in spans for written, _, _ in _lost(span)]
        flags.append(_flag(FlagKind.LIGATURES, "words that are English once fi, fl, ff, ffi or ffl is put back", lost, enough))
        flags.append(_flag(FlagKind.GLUED, "words run together without a blank", _glued(spans)))
    return tuple(flag for flag in flags if flag)


def repaired_words(text: str) -> tuple[tuple[str, str], ...]:
    """(As written, what it was) for words with joined or lost ligatures and words parted at the end of a line, each once.

    For a search index only: a guess by a list of words, in small letters; the text itself is never changed.
    """
    found = [(match.start(), match.group(), unicodedata.normalize("NFKC", match.group())) for match in _JOINED.finditer(text)]
    found += [(at, written, word) for written, word, at in _lost(text)]
    for match in _HYPHENED.finditer(text):
        if match.group(1).lower() not in _PREFIXES:
            found.append((match.start(), match.group(), match.group(1) + match.group(2)))
    return tuple(dict.fromkeys((written, word.lower()) for _, written, word in sorted(found)))


def guess_language(text: str) -> str | None:
    """The language that a text's script or commonest words speak for; None where it has fewer than 100 words or none wins."""
    letters = "".join(_LETTERS.findall(text))
    for name, script, share in _SCRIPTS:
        if len(letters) >= ENOUGH_WORDS and len(script.findall(letters)) > share * len(letters):
            return name
    words = [word.lower() for word in _LETTERS.findall(text)]
    if len(words) < ENOUGH_WORDS:
        return None
    counted = Counter(words)
    votes = sorted(((sum(counted[word] for word in stops), name) for name, stops in STOP_WORDS.items()), reverse=True)
    (most, name), (next_most, _) = votes[:2]
    return name if most > 0.1 * len(words) and most > 1.25 * next_most else None


def _spans(document: Document) -> Iterator[Span]:
    if document.title:
        yield document.title, None
    for piece in document.pieces():
        if piece.heading and piece.kind != "abstract":
            yield piece.heading, piece.page
        starts = [(0, piece.page), *piece.pages]
        for (start, page), (end, _) in pairwise([*starts, (len(piece.text), None)]):
            if start < end:
                yield piece.text[start:end], page


def _flag(kind: FlagKind, detail: str, hits: Iterable[Hit], enough: int = 1) -> Flag | None:
    found = list(hits)
    if len(found) < enough:
        return None
    quote, page = found[0]
    shown = "".join(character if character.isprintable() else "\ufffd" for character in " ".join(quote.split()))
    return Flag(kind=kind, detail=detail, count=len(found), quote=shown[:QUOTE] or None, page=page)


def _found(spans: list[Span], *patterns: re.Pattern[str]) -> Iterator[Hit]:
    """Every place of the patterns, with a few words around it."""
    for text, page in spans:
        for pattern in patterns:
            for match in pattern.finditer(text):
                yield text[max(0, match.start() - 30) : match.end() + 30], page


def _signs(spans: list[Span]) -> Iterator[Hit]:
    """Bare p-values and intervals, signs that became boxes or foreign letters, and intervals that run downwards."""
    yield from _found(spans, _P_VALUE, _INTERVAL, _RUN_ON, _BOXED, _FOREIGN, _DECIMALS)
    for text, page in spans:
        for match in _BOUNDS.finditer(text):
            if float(match.group(1).replace("·", ".")) > float(match.group(2).replace("·", ".")):
                yield match.group(), page


def _lost(text: str) -> Iterator[tuple[str, str, int]]:
    """(As written, the word, where) for every word that lost its ligature."""
    single, parted = broken()
    words = list(_WORD.finditer(text))
    lower = [unicodedata.normalize("NFKC", match.group()).lower() for match in words]
    for at, (match, word) in enumerate(zip(words, lower, strict=True)):
        if word in single and not (len(word) < 5 and match.group().isupper()):
            yield match.group(), single[word], match.start()
        elif at + 1 < len(words) and (word, lower[at + 1]) in parted:
            between = text[match.end() : words[at + 1].start()]
            if between.strip(" \u00a0") == "" and 0 < len(between) < 3:
                yield text[match.start() : words[at + 1].end()], parted[word, lower[at + 1]], match.start()
    for match in _MARKED.finditer(text):
        whole = parted.get((match.group(1).lower(), match.group(2).lower()))
        if whole:
            yield match.group(), whole, match.start()


def _glued(spans: list[Span]) -> list[Hit]:
    """Small words run together, sentences without a blank between, words too long for any; each only if it is no accident."""
    tokens = sum(len(text.split()) for text, _ in spans)
    sentences = sum(len(_SENTENCE.findall(text)) for text, _ in spans)
    small = [(match.group(), page) for text, page in spans for match in _WORD.finditer(text) if match.group().lower() in GLUED]
    stops = list(_found(spans, _STOPPED))
    long = [(word, page) for text, page in spans for word in _LONG_WORD.findall(text) if not _NO_TEXT.search(word)]
    runs = [(match.group(), page) for text, page in spans for match in _RUN.finditer(text) if not _NO_TEXT.search(match.group())]
    hits = small if len(small) > max(2, tokens // 2_000) else []
    hits += stops if len(stops) > max(4, sentences // 10) else []
    hits += long if len({word for word, _ in long}) > max(2, tokens // 500) else []
    return hits + (runs if len(runs) > 1 else [])


def _other_language(spans: list[Span], language: str | None) -> list[Hit]:
    if language in (None, "English"):
        return []
    longest = max(spans, key=lambda span: len(span[0]))
    return [longest]


def _short(document: Document, text: str) -> tuple[str, list[Hit]]:
    pages = [page for piece in document.pieces() for page in (piece.page, *(page for _, page in piece.pages)) if page]
    if pages:
        each = len(text) // max(pages)
        return f"about {each} characters a page", [(text, None)] if each < A_THIN_PAGE else []
    few = document.format != "text" and len(text) < A_THIN_ARTICLE
    return f"{len(text)} characters in all", [(text, None)] if few else []
