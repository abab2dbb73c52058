"""What a prompt may hold of a long report: planned by tokens, in windows where not all fits; nothing is cut in silence. Pure."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from litcascade.schemas import Document, Refer, ReferCode
from litcascade.schemas.keys import digest

OVERLAP = 0.1  # of a window: what stands at the end of one is read again at the start of the next
MOST_WINDOWS = 24
TEMPLATE = 64  # tokens a chat template may add
TRIMMED = ("appendix", "footnote", "figure", "table")  # in this order
Long = Literal["window", "trim", "refer"]
Count = Callable[[str], int]


def key_of(text: str) -> str:
    """What a counted text is kept under."""
    return digest(text)[:16]


def estimate(text: str) -> int:
    """An upper guess of a text's tokens where no tokenizer counted it: half its bytes."""
    return (len(text.encode("utf-8", "replace")) + 1) // 2


@dataclass(frozen=True)
class Counter:
    """Tokens of texts by what the model's own tokenizer said; what it was not asked is guessed from above."""

    counts: Mapping[str, int]

    def __call__(self, text: str) -> int:
        """Tokens of a text."""
        known = self.counts.get(key_of(text))
        return estimate(text) if known is None else known

    def counted(self, texts: Sequence[str]) -> bool:
        """Whether the tokenizer was asked about all of them."""
        return all(key_of(text) in self.counts for text in texts)


@dataclass(frozen=True)
class Part:
    """A paragraph (or a row of a table) of a report; `head` stands above it where it begins a section."""

    text: str
    head: str | None
    kind: str
    tokens: int = 0


@dataclass(frozen=True)
class Plan:
    """The windows that show a report, the share of the text that each shows first, and what is left out."""

    windows: tuple[str, ...]
    shown: tuple[float, ...]
    left_out: tuple[str, ...] = ()

    def seen(self, windows: int) -> float:
        """The share of the report's tokens in the first so many windows."""
        return min(1.0, sum(self.shown[:windows]))


def parts_of(document: Document) -> list[Part]:
    """Every paragraph in the order of reading, references left out; the text of a plan is made of these alone."""
    found = []
    for piece in document.pieces():
        lines = [line for line in piece.text.split("\n") if line.strip()]
        found += [Part(line, piece.heading if number == 0 else None, piece.kind) for number, line in enumerate(lines)]
    return found


def texts_to_count(document: Document) -> list[str]:
    """What a tokenizer must be asked before a long report can be planned."""
    return list(dict.fromkeys(_shown(part) for part in parts_of(document)))


def plan(document: Document, count: Count, room: int, policy: Long = "window") -> Plan | Refer:
    """Fit a report into `room` tokens a window; what cannot be read whole under the policy goes to a person.

    In the order of use: acknowledgements go first. Then `window` reads all in overlapping windows, `trim` leaves out
    appendices, footnotes, figures and tables, in this order, and `refer` sends the report to a person, as all do where
    nothing else helps. References never stand in a prompt.
    """
    parts = [replace(part, tokens=count(_shown(part)) + 1) for part in parts_of(document)]
    total = sum(part.tokens for part in parts)
    if total <= room:
        return Plan((document.text(),), (1.0,))
    kept = [part for part in parts if part.kind != "acknowledgement"]
    left_out: tuple[str, ...] = ("acknowledgement",) if len(kept) < len(parts) else ()
    parts, body = kept, sum(part.tokens for part in kept)
    if body <= room:
        return _whole(parts, left_out)
    if policy == "trim":
        for kind in TRIMMED:
            kept = [part for part in parts if part.kind != kind]
            left_out += (kind,) if len(kept) < len(parts) else ()
            parts = kept
            if sum(part.tokens for part in parts) <= room:
                return _whole(parts, left_out, body)
    if policy == "window" and room >= 256:
        return _windows([piece for part in parts for piece in _split(part, room // 2)], room, left_out)
    return Refer(code=ReferCode.TOO_LONG, detail=f"{body} tokens of text, and the prompt has room for {max(0, room)}")


def _shown(part: Part) -> str:
    return f"{part.head}\n{part.text}" if part.head else part.text


def _whole(parts: Sequence[Part], left_out: tuple[str, ...], of: int | None = None) -> Plan:
    tokens = sum(part.tokens for part in parts)
    share = 1.0 if of is None or not of else tokens / of
    return Plan((_joined(parts),), (share,), left_out)


def _joined(parts: Sequence[Part]) -> str:
    """Paragraphs a line each, an empty line before a new section."""
    found: list[str] = []
    for part in parts:
        found.append(("\n" if part.head and found else "") + _shown(part))
    return "\n".join(found)


def _split(part: Part, most: int) -> list[Part]:
    """A paragraph that would fill a window, in sentences (or pieces, where a sentence is too long itself)."""
    if part.tokens <= most:
        return [part]
    rate = part.tokens / max(1, len(part.text))
    size = max(80, int(most / rate))
    pieces: list[str] = []
    for sentence in re.split(r"(?<=[.!?])\s+", part.text):
        for piece in _pieces(sentence, size):
            if pieces and len(pieces[-1]) + len(piece) < size:
                pieces[-1] += f" {piece}"
            else:
                pieces.append(piece)
    return [
        Part(text, part.head if number == 0 else None, part.kind, int(rate * len(text)) + 2) for number, text in enumerate(pieces)
    ]


def _pieces(sentence: str, size: int) -> Iterator[str]:
    """A sentence in pieces of at most `size` characters, cut between words where it has any."""
    rest = sentence
    while len(rest) > size:
        cut = rest.rfind(" ", size // 2, size)
        cut = cut if cut > 0 else size
        yield rest[:cut]
        rest = rest[cut:].lstrip(" ")
    yield rest


def _windows(parts: Sequence[Part], room: int, left_out: tuple[str, ...]) -> Plan | Refer:
    total = sum(part.tokens for part in parts)
    windows: list[list[Part]] = [[]]
    fresh: list[int] = [0]
    held = 0
    for part in parts:
        if held + part.tokens > room:
            again = _tail(windows[-1], int(room * OVERLAP))
            windows.append(again)
            fresh.append(0)
            held = sum(one.tokens for one in again)
        windows[-1].append(part)
        fresh[-1] += part.tokens
        held += part.tokens
    if len(windows) > MOST_WINDOWS:
        words = f"{total} tokens of text would take {len(windows)} windows; at most {MOST_WINDOWS} are read"
        return Refer(code=ReferCode.TOO_LONG, detail=words)
    return Plan(tuple(_joined(window) for window in windows), tuple(new / total for new in fresh), left_out)


def _tail(parts: Sequence[Part], most: int) -> list[Part]:
    """The last paragraphs of a window, as many as fit the overlap."""
    found: list[Part] = []
    held = 0
    for part in reversed(parts):
        if held + part.tokens > most:
            break
        found.insert(0, part)
        held += part.tokens
    return found
