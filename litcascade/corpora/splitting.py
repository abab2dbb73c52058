"""A long text in segments that begin where a pattern matches, without ever holding the whole of it."""

import re
from collections.abc import Iterator

from litcascade.corpora.source import LINE_LIMIT
from litcascade.errors import InputError

_MARGIN = 1 << 14  # a match that ends this near to the end of what is at hand may yet become another one


def split_at(pieces: Iterator[str], start: re.Pattern[str], name: str) -> Iterator[tuple[int, str]]:
    """(Line of its first character, segment): what stands before the first match, then a segment a match.

    A segment longer than any record is an `InputError`.
    """
    held, line = "", 1
    for piece in pieces:
        held += piece
        borders = [match.start() for match in start.finditer(held) if match.start() and match.end() < len(held) - _MARGIN]
        begin = 0
        for border in borders:
            yield line, held[begin:border]
            line += held.count("\n", begin, border)
            begin = border
        held = held[begin:]
        if len(held) > LINE_LIMIT:
            raise InputError(
                f"{name}: line {line} begins an entry longer than 64 MB: this is no export; export the records again"
            )
    begin = 0
    for border in [*(match.start() for match in start.finditer(held) if match.start()), len(held)]:
        if begin < border:
            yield line, held[begin:border]
            line += held.count("\n", begin, border)
            begin = border
