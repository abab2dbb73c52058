"""What tagged exports share: numbered lines, and an entry whose fields go on over indented lines."""

from collections.abc import Callable, Iterator
from functools import cached_property

from litcascade.corpora.receipt import Item
from litcascade.schemas import Record


class Entry:
    """One entry as its lines come in; `open` is the field that may go on. Read `tags` when it is whole."""

    def __init__(self, line: int) -> None:
        self.line = line
        self.open: str | None = None
        self._lines: dict[str, list[list[str]]] = {}

    def add(self, tag: str, value: str) -> None:
        """Begin a field."""
        self._lines.setdefault(tag, []).append([value.strip()])
        self.open = tag

    def go_on(self, text: str) -> bool:
        """Add a line to the open field; False where none is open."""
        if self.open is None:
            return False
        self._lines[self.open][-1].append(text.strip())
        return True

    @cached_property
    def tags(self) -> dict[str, list[str]]:
        """Raw values by tag, the lines of a value parted by line feeds."""
        return {tag: ["\n".join(lines) for lines in values] for tag, values in self._lines.items()}

    def values(self, *tags: str) -> list[str]:
        """All values of the first tag that has any that is not blank, each in one line."""
        for tag in tags:
            values = [" ".join(value.split()) for value in self.tags.get(tag, []) if value.strip()]
            if values:
                return values
        return []

    def first(self, *tags: str) -> str | None:
        """The first value that is not blank, in the order of the tags."""
        return next(iter(self.values(*tags)), None)


def as_records(entries: Iterator[Entry | Item], make: Callable[[Entry, int], Record]) -> Iterator[Item]:
    """Entries as records, numbered from 1; what is no entry goes through."""
    position = 0
    for item in entries:
        if isinstance(item, Entry):
            position += 1
            yield make(item, position)
        else:
            yield item
