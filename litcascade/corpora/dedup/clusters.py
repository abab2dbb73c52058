"""Records gathered into clusters: the strongest joins first, and none that its cluster speaks against."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Clusters:
    """A partition of n records under joins; `members[root]` lists a cluster, `parent` leads to its root."""

    size: int
    parent: list[int] = field(init=False)
    members: dict[int, list[int]] = field(init=False)

    def __post_init__(self) -> None:
        self.parent = list(range(self.size))
        self.members = {}

    def root(self, i: int) -> int:
        """The record that stands for the cluster of i while it grows."""
        while self.parent[i] != i:
            self.parent[i] = self.parent[self.parent[i]]
            i = self.parent[i]
        return i

    def of(self, i: int) -> Sequence[int]:
        """The records in the cluster of i."""
        root = self.root(i)
        return self.members.get(root, [root])

    def join(self, i: int, j: int) -> bool:
        """Put two clusters together; False where they are one already."""
        a, b = self.root(i), self.root(j)
        if a == b:
            return False
        one, other = self.members.pop(a, [a]), self.members.pop(b, [b])
        if len(one) < len(other):
            a, b, one, other = b, a, other, one
        one.extend(other)
        self.parent[b] = a
        self.members[a] = one
        return True

    def all(self) -> Iterable[Sequence[int]]:
        """The clusters of two records or more."""
        return self.members.values()
