"""What of a text may be shown in a prompt: what a person would see of it, and no mark that an engine takes for its own."""

import re
from collections.abc import Callable, Iterator

from litcascade.schemas.document import Flag, FlagKind
from litcascade.schemas.steering.forms import INVISIBLE, beyond_ascii

QUOTE = 80
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|^[ \t]*\[//\]: # .*$", re.DOTALL | re.MULTILINE)
_UNSHOWN = re.compile(r"<(script|style|template|noscript|object|iframe)\b[^<>]*>.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_WHITE = r"(?:white|#f{3}\b|#f{6}\b|#fefefe|transparent|rgba?\(\s*255\s*,\s*255\s*,\s*255[^)]*\)|rgba\([^)]*,\s*0?\.?0+\s*\))"
_HIDES = "|".join(
    (
        r"display\s*:\s*none",
        r"visibility\s*:\s*(?:hidden|collapse)",
        r"font-size\s*:\s*(?:0*[01]?(?:\.\d+)?\s*(?:px|pt)|0?\.[0-2]\d*\s*r?em|0+\s*[;\"']|\d(?:\.\d+)?\s*%)",
        r"opacity\s*:\s*0*(?:\.0\d*)?\s*[;\"'%]",
        rf"(?<![-\w])color\s*:\s*{_WHITE}",
        r"(?<![-\w])(?:left|top|right|text-indent|margin-left|margin-top)\s*:\s*-\d{3,}",
        r"clip(?:-path)?\s*:\s*(?:rect\(0|inset\((?:50|100)%)",
        r"(?<![-\w])(?:height|width)\s*:\s*0(?:px)?\s*[;\"']",
        rf"\scolor\s*=\s*[\"']?{_WHITE}",
    )
)
_HIDDEN = re.compile(rf"<([a-z][\w:-]*)\b(?=[^<>]*(?:\shidden(?=[\s=/>])|{_HIDES}))[^<>]*(?<!/)>", re.IGNORECASE)
_LATEX = re.compile(
    r"\{\s*\\color\s*\{white\}[^{}]*\}|\\(?:text)?color\s*\{white\}(?:\s*\{[^{}]*\})?|\\[hv]?phantom\s*\{[^{}]*\}", re.IGNORECASE
)
_TAGS = re.compile("[\U000e0000-\U000e007f]{3,}")
_SMUGGLED = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}|[\u200b-\u200d\u2060-\u2064\ufeff\u180e]{8,}|[\u202d\u202e]")
_SPLIT = re.compile(r"(?:[A-Za-z][\u00ad\u200b-\u200d\u2060-\u2064\ufeff]+){4,}[A-Za-z]")
_JOINS = re.compile(
    "(?<=[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\ufe0f\U0001f000-\U0001faff\u2600-\u27bf])[\u200c\u200d]"
    "(?=[\u0600-\u08ff\u0900-\u0dff\u1000-\u109f\u1780-\u17ff\U0001f000-\U0001faff\u2600-\u27bf])"
)
_UNSEEN = re.compile(f"[{INVISIBLE}]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_CONTROLS = bytes(code for code in range(128) if _CONTROL.match(chr(code)))
_TOKENS = re.compile(
    r"<[|｜][^<>|｜\n]{1,40}[|｜]>|\[/?INST\]|<</?SYS>>|</?s>|</?(?:start|end)_of_turn>|<(?:bos|eos|pad|unk)>", re.IGNORECASE
)
_BRACKETS = str.maketrans("<>[]|｜", "‹›()¦¦")
_ROUNDS = 8


def clean(text: str) -> tuple[str, tuple[Flag, ...]]:
    """The text as it may stand in a prompt, and a flag for every kind of thing that was left out or made harmless.

    Left out: HTML comments and elements whose style hides them, invisible, bidirectional and control characters, characters
    of the tag block. Joiners that Arabic and Indic scripts and emoji need stay. Tokens of chat templates keep their words and
    lose their brackets. A flag is `HIDDEN` where a person reading the page would not have seen words that the file carries;
    single invisible characters, as exports leave them, are `ENCODING`. Cleaning twice changes nothing more.
    """
    flags: list[Flag] = []
    for _ in range(_ROUNDS):
        text, found = _once(text)
        flags += found
        if not found:
            return text, _merged(flags)
    return text.translate(_BRACKETS), _merged([*flags, Flag(kind=FlagKind.HIDDEN, detail="markup nested beyond measure")])


def _once(text: str) -> tuple[str, list[Flag]]:
    flags: list[Flag] = []
    if "<" in text or "\\" in text or "[//]" in text:
        for detail, cut in _MARKUP:
            text, quotes = cut(text)
            if quotes:
                flags.append(_flag(FlagKind.HIDDEN, detail, quotes))
    if _strange(text):
        text, found = _unseen(text)
        flags += found
    if "<" in text or "[" in text:
        quotes = _TOKENS.findall(text)
        if quotes:
            text = _TOKENS.sub(_harmless, text)
            flags.append(_flag(FlagKind.INSTRUCTIONS, "tokens of a chat template, made harmless", quotes))
    return text, flags


def _strange(text: str) -> bool:
    """Whether a text has an invisible character or one of control, which is told by each character once."""
    plain = text.encode("ascii", "ignore")
    if len(plain.translate(None, _CONTROLS)) != len(plain):
        return True
    odd = "".join(beyond_ascii(text))
    return bool(_UNSEEN.search(odd) or _CONTROL.search(odd))


def _unseen(text: str) -> tuple[str, list[Flag]]:
    flags = []
    tags = ["".join(chr(ord(c) - 0xE0000) for c in run.group()) for run in _TAGS.finditer(text)]
    if tags:
        flags.append(_flag(FlagKind.HIDDEN, "words in invisible tag characters", tags))
    smuggled = [*_SMUGGLED.findall(text), *_SPLIT.findall(text)]
    if smuggled:
        flags.append(_flag(FlagKind.HIDDEN, "invisible characters that may carry or break up words", smuggled))
    kept = {match.start() for match in _JOINS.finditer(text)}
    unseen = [match for match in _UNSEEN.finditer(text) if match.start() not in kept]
    control = _CONTROL.findall(text)
    if unseen:
        text = "".join(_without(text, unseen))
        if not flags:
            flags.append(Flag(kind=FlagKind.ENCODING, detail="invisible characters, left out", count=len(unseen)))
    if control:
        text = _CONTROL.sub(_control, text)
        flags.append(
            Flag(kind=FlagKind.ENCODING, detail="control characters, left out or read as Windows-1252", count=len(control))
        )
    return text, flags


def _control(match: re.Match[str]) -> str:
    """A break of line or page as one, a byte of Windows-1252 as its character, a blank between digits, else nothing."""
    character, text, at = match.group(), match.string, match.start()
    if character in "\x0b\x0c\x85":
        return "\n"
    if character > "\x7f":
        return bytes([ord(character)]).decode("cp1252", errors="ignore")
    return " " if text[at - 1 : at].isdigit() and text[at + 1 : at + 2].isdigit() else ""


def _without(text: str, spans: list[re.Match[str]]) -> Iterator[str]:
    last = 0
    for match in spans:
        yield text[last : match.start()]
        last = match.end()
    yield text[last:]


def _cut(pattern: re.Pattern[str]) -> Callable[[str], tuple[str, list[str]]]:
    def cut(text: str) -> tuple[str, list[str]]:
        quotes = [match.group() for match in pattern.finditer(text)]
        return (pattern.sub(" ", text), quotes) if quotes else (text, [])

    return cut


def _hidden_elements(text: str) -> tuple[str, list[str]]:
    """Elements whose style hides them, with all they hold; one that is never closed hides the rest of the text."""
    quotes: list[str] = []
    at = 0
    while match := _HIDDEN.search(text, at):
        end = _end_of(text, match)
        quotes.append(text[match.start() : end])
        text, at = f"{text[: match.start()]} {text[end:]}", match.start()
    return text, quotes


def _end_of(text: str, opening: re.Match[str]) -> int:
    depth = 1
    for tag in re.finditer(rf"<(/?){re.escape(opening.group(1))}\b[^<>]*?(/?)>", text[opening.end() :], re.IGNORECASE):
        depth += -1 if tag.group(1) else (0 if tag.group(2) else 1)
        if depth == 0:
            return opening.end() + tag.end()
    return len(text)


_MARKUP: tuple[tuple[str, Callable[[str], tuple[str, list[str]]]], ...] = (
    ("comments in the markup", _cut(_COMMENT)),
    ("elements that are never shown", _cut(_UNSHOWN)),
    ("elements whose style hides them", _hidden_elements),
    ("words set in white or left blank", _cut(_LATEX)),
)


def _harmless(match: re.Match[str]) -> str:
    return match.group().translate(_BRACKETS)


def _flag(kind: FlagKind, detail: str, quotes: list[str]) -> Flag:
    shown = " ".join(_CONTROL.sub(" ", _UNSEEN.sub("", quotes[0])).split())
    return Flag(kind=kind, detail=detail, count=len(quotes), quote=shown[:QUOTE] or None)


def _merged(flags: list[Flag]) -> tuple[Flag, ...]:
    merged: dict[tuple[FlagKind, str], Flag] = {}
    for flag in flags:
        first = merged.get((flag.kind, flag.detail))
        merged[flag.kind, flag.detail] = first.model_copy(update={"count": first.count + flag.count}) if first else flag
    return tuple(merged.values())
