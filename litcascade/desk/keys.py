"""Keys of what waits: a queue's item is named by one or two ids, carried by addresses and forms as one text."""

SEPARATOR = "\x1f"


def join(*parts: str) -> str:
    """Parts as one key."""
    return SEPARATOR.join(parts)


def split(key: str) -> tuple[str, str]:
    """(First, second) part of a key; the second is empty where there is one alone."""
    first, _, second = key.partition(SEPARATOR)
    return first, second


def whole_number(word: str) -> int | None:
    """The number that a form or an address names; None where it names none."""
    return int(word) if word.isdecimal() and len(word) <= 18 else None
