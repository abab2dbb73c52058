"""A sentence or row around a quote, read once for a claim: its numbers, names, and what belongs to what."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from litcascade.stages.grounding.belonging import Owners, owners
from litcascade.stages.grounding.claim import Arm
from litcascade.stages.grounding.fold import fold
from litcascade.stages.grounding.index import Span, TextIndex
from litcascade.stages.grounding.mentions import UNNAMED, Mention, arm_mentions, time_mentions
from litcascade.stages.grounding.numbers import Number, read_numbers
from litcascade.stages.grounding.rows import Row, row_at

_SET_AGAINST = re.compile(r"(?<!\w)(?:differences?|ratio|odds|hazard|vs|versus|compared|minus|p value|pvalue|p)(?!\w)")


class Scene(NamedTuple):
    """What a sentence holds. Places count from the beginning of `folded`; `quoted` are the quoted stretches of it.

    `arm_of` and `time_of` say for every number which names it may belong to; `about` are, in a row of a table, the words
    above and beside each number's cell. Numbers in time points are in `timed`, not in `numbers`.
    """

    folded: str
    quoted: tuple[tuple[int, int], ...]
    numbers: tuple[Number, ...]
    timed: tuple[Number, ...]
    arms: tuple[Mention, ...]
    times: tuple[Mention, ...]
    arm_of: dict[Number, Owners]
    time_of: dict[Number, Owners]
    about: dict[Number, str]

    def in_quote(self, number: Number) -> bool:
        """Whether the number, or a part of it, is quoted."""
        return any(number.start < end and begin < number.end for begin, end in self.quoted)

    def quote(self) -> str:
        """The quoted stretches, folded."""
        return " ".join(self.folded[begin:end] for begin, end in self.quoted)


def scenes(index: TextIndex, span: Span, arms: Sequence[Arm], times: Sequence[str]) -> tuple[Scene, ...]:
    """The scenes of all sentences that a quote lies in, in order."""
    pieces = [index.folded_place(start, end) for start, end in span.pieces()]
    found = []
    for begin, end in index.sentences(span):
        quoted = tuple((max(a, begin) - begin, min(b, end) - begin) for a, b in pieces if a < end and begin < b)
        if quoted:
            found.append(_scene(index, begin, end, quoted, arms, times))
    return tuple(found)


def _scene(
    index: TextIndex, begin: int, end: int, quoted: tuple[tuple[int, int], ...], arms: Sequence[Arm], times: Sequence[str]
) -> Scene:
    folded = index.folded[begin:end]
    minus = frozenset(i for i, c in enumerate(folded) if c == "-" and index.text[index.starts[begin + i]] == "−")
    numbers = read_numbers(folded, decimal_comma=index.decimal_comma, minus=minus)
    arm_names, time_names = arm_mentions(folded, arms), time_mentions(folded, times)
    timed = tuple(number for number in numbers if _within(number, time_names))
    plain = tuple(number for number in numbers if number not in timed)
    free = [number for number in plain if not _within(number, arm_names)]
    arm_of = owners(folded, free, arm_names, time_names)
    arm_of |= {number: frozenset({key}) for number in plain if (key := _within(number, arm_names))}
    time_of = owners(folded, free, time_names, arm_names)
    about: dict[Number, str] = {}
    row = row_at(index.text, index.starts[begin])
    if row:
        about = {number: _about(index, row, begin + number.start) for number in plain}
        arm_of, time_of = _from_table(row, about, arms, times)
    return Scene(folded, quoted, plain, timed, arm_names, time_names, arm_of, time_of, about)


def _within(number: Number, mentions: Sequence[Mention]) -> str:
    return next((mention.key for mention in mentions if mention.start <= number.start and number.end <= mention.end), "")


def _about(index: TextIndex, row: Row, place: int) -> str:
    offset = index.starts[place]
    return next((cell.about for cell in row.cells if cell.start <= offset < cell.end), "")


def _from_table(
    row: Row, about: dict[Number, str], arms: Sequence[Arm], times: Sequence[str]
) -> tuple[dict[Number, Owners], dict[Number, Owners]]:
    """In a table a number belongs to the arm named above or beside its cell; to the time there, else in the caption.

    A number below `difference from placebo` belongs to no arm.
    """
    folded = {number: fold(words).text for number, words in about.items()}
    arm_of = {number: frozenset(m.key for m in arm_mentions(words, arms)) for number, words in folded.items()}
    arm_of |= {number: keys | {UNNAMED} for number, keys in arm_of.items() if _SET_AGAINST.search(folded[number])}
    captioned = frozenset(m.key for m in time_mentions(fold(row.caption).text, times))
    time_of = {number: frozenset(m.key for m in time_mentions(words, times)) or captioned for number, words in folded.items()}
    return arm_of, time_of
