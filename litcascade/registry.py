"""A table of named parts of one kind (stages, metrics, judges, readers of files, backends, policies).

One file adds one part with one decorator. Outsiders add theirs through an entry point in the group
`litcascade.<kind>`, loaded on the first look-up that needs it.
"""

from collections.abc import Callable, Iterator
from difflib import get_close_matches
from importlib.metadata import entry_points
from typing import Generic, TypeVar

from litcascade.errors import InputError

T = TypeVar("T")


class Registry(Generic[T]):
    """Names to parts of one kind; a name is taken once."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._parts: dict[str, T] = {}
        self._outsiders_loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that files its argument under `name`; a name that is taken raises ValueError."""

        def file(part: T) -> T:
            if name in self._parts:
                raise ValueError(f"{self.kind} '{name}' is registered twice")
            self._parts[name] = part
            return part

        return file

    def get(self, name: str) -> T:
        """Return the part of that name; an unknown name is an `InputError` with the nearest right one."""
        if name not in self._parts:
            self._load_outsiders()
        if name not in self._parts:
            raise InputError(f"there is no {self.kind} '{name}'{nearest(name, self._parts)}")
        return self._parts[name]

    def names(self) -> list[str]:
        """All names, outsiders' included, in alphabetical order."""
        self._load_outsiders()
        return sorted(self._parts)

    def __iter__(self) -> Iterator[tuple[str, T]]:
        return iter([(name, self._parts[name]) for name in self.names()])

    def _load_outsiders(self) -> None:
        if self._outsiders_loaded:
            return
        self._outsiders_loaded = True
        for point in entry_points(group=f"litcascade.{self.kind.replace(' ', '_')}"):
            if point.name not in self._parts:
                self._parts[point.name] = point.load()


def nearest(name: str, names: object) -> str:
    """A hint ` (did you mean 'x'?)`, or the list of names where none is near, or nothing where there is none."""
    known = sorted(str(known) for known in names) if hasattr(names, "__iter__") else []
    close = get_close_matches(name, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; there are: {', '.join(known)}" if known else ""
