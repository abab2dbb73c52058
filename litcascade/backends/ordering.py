"""The order in which a round is put: what begins alike stands together, the longest first; and what a request weighs."""

from collections.abc import Sequence

from litcascade.schemas import Request

HEAD = 400  # characters of the last message by which its beginning is known
STEP = 512
CHARACTERS = 4  # a token of running English, roughly


def in_order(requests: Sequence[Request]) -> list[Request]:
    """The same requests, those with a beginning in common side by side.

    An engine that caches prefixes then finds them warm: first all that share system part and worked examples, in it all that
    go on alike (questions about one report), longest first, so that no long one is left for the end.
    """
    groups: dict[tuple[str, ...], dict[str, list[Request]]] = {}
    for request in requests:
        shared = (request.via, *(message.content for message in request.messages[:-1]))
        groups.setdefault(shared, {}).setdefault(request.messages[-1].content[:HEAD], []).append(request)
    ordered: list[Request] = []
    for alike in groups.values():
        for group in alike.values():
            group.sort(key=_length, reverse=True)
        for group in sorted(alike.values(), key=lambda group: _length(group[0]), reverse=True):
            ordered += group
    return ordered


def weight(request: Request) -> int:
    """Tokens that a request may keep an engine busy with, estimated: characters / 4 of the prompt, and the longest answer."""
    return sum(len(message.content) for message in request.messages) // CHARACTERS + request.sampling.max_tokens


def _length(request: Request) -> int:
    """In steps, so that what is about as long keeps the order it came in."""
    return len(request.messages[-1].content) // STEP
