"""Where in a TOML text a key stands: `tomllib` forgets lines, and a person needs them to mend a fault."""

import re

_HEADER = re.compile(r"^\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(?:#.*)?$")
_KEY = re.compile(r"^\s*([A-Za-z0-9_.\"'-]+)\s*=")


def line_of(text: str, path: tuple[str | int, ...]) -> int:
    """Return the 1-based line of `path` (keys, and indices into arrays of tables), or of its nearest parent; else 1."""
    best_line, best_depth = 1, 0
    current: tuple[str | int, ...] = ()
    counts: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        key = _KEY.match(line)
        if header:
            names = _split(header.group(2))
            current = names
            if header.group(1) == "[[":
                counts[names] = counts.get(names, -1) + 1
                current = (*names, counts[names])
            here = current
        elif key:
            here = (*current, *_split(key.group(1)))
        else:
            continue
        depth = _shared(here, path)
        if depth > best_depth and depth == len(here):
            best_line, best_depth = number, depth
    return best_line


def _split(dotted: str) -> tuple[str, ...]:
    return tuple(part.strip().strip("\"'") for part in dotted.split("."))


def _shared(here: tuple[str | int, ...], path: tuple[str | int, ...]) -> int:
    depth = 0
    for mine, wanted in zip(here, path, strict=False):
        if mine != wanted:
            break
        depth += 1
    return depth
