"""Clusters and studies as they grow: what is joined, what is linked, what waits for a person, and why."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from litcascade.corpora.dedup.clusters import Clusters
from litcascade.corpora.dedup.facts import Facts
from litcascade.corpora.dedup.result import Decided, Verdict
from litcascade.corpora.dedup.rules import Finding, contradiction

LOOKED_AT = 64
_NEIGHBOURS = 8
_CERTAIN = 9
_IDS = ("DOI", "PMID", "PMCID")
Found = tuple[int, int, Finding]


@dataclass(slots=True)
class Bound:
    """A verdict on two places of the list that stands in the answer."""

    i: int
    j: int
    verdict: Verdict
    rule: str
    why: str
    score: float | None = None


class Grouping:
    """The clusters of a list of records while they are made; `joined`, `links` and `open` are what the answer will say."""

    def __init__(self, facts: Sequence[Facts]) -> None:
        self.facts = facts
        self.clusters = Clusters(len(facts))
        self.joined: list[Bound] = []
        self.links: list[Bound] = []
        self.open: list[Bound] = []
        self._apart: dict[int, set[int]] = defaultdict(set)
        self._parted: dict[int, set[int]] = defaultdict(set)
        self._ids: dict[int, list[set[str]]] = {}

    def decide(self, words: Mapping[tuple[int, int], Decided]) -> None:
        """People's words: what differs stays apart, what is the same is joined unless another word forbids it."""
        for (i, j), word in words.items():
            if word.verdict in (Verdict.DIFFERENT, Verdict.SAME_STUDY):
                self._apart[i].add(j)
            if word.verdict is Verdict.DIFFERENT:
                self._parted[i].add(j)
        for (i, j), word in words.items():
            if i < j and word.verdict is Verdict.SAME_STUDY:
                self.links.append(Bound(i, j, Verdict.SAME_STUDY, "decided", f"{word.by} decided so"))
            elif i < j and word.verdict is Verdict.SAME:
                self._decided_same(i, j, word.by)

    def _decided_same(self, i: int, j: int, by: str) -> None:
        if self.decided_apart(i, j):
            why = f"{by} decided that they are one, but other decisions keep their duplicates apart"
            self.open.append(Bound(i, j, Verdict.UNSURE, "decisions at odds", why))
        else:
            self._join(Bound(i, j, Verdict.SAME, "decided", f"{by} decided so"))

    def decided_apart(self, i: int, j: int) -> bool:
        """Whether a person keeps a record of one cluster apart from a record of the other."""
        return _any_apart(self.clusters, self._apart, i, j)

    def parted(self, studies: Clusters, i: int, j: int) -> bool:
        """Whether a person said of two records, one of each study, that they have nothing in common."""
        return _any_apart(studies, self._parted, i, j)

    def _join(self, bound: Bound) -> None:
        one, other = self.clusters.root(bound.i), self.clusters.root(bound.j)
        if not self.clusters.join(one, other):
            return
        root = self.clusters.root(one)
        more = self._ids_of(other if root == one else one)
        self._ids[root] = [ids | new if new - ids else ids for ids, new in zip(self._ids_of(root), more, strict=True)]
        self.joined.append(bound)

    def _ids_of(self, root: int) -> list[set[str]]:
        """The DOIs, PMIDs and PMCIDs in the cluster of a root."""
        return self._ids.get(root) or [{value} if value else set() for _, value in self.facts[root].ids()]

    def identical(self) -> list[int]:
        """Join records that agree in every field; returns one of each to go on with, and those kept apart from theirs."""
        groups: dict[tuple[object, ...], list[int]] = defaultdict(list)
        for fact in self.facts:
            groups[_fingerprint(fact)].append(fact.place)
        ahead: list[int] = []
        for group in groups.values():
            group.sort(key=lambda i: self.facts[i].record_id)
            ahead += [group[0], *self._twins(group)]
        return ahead

    def _twins(self, group: list[int]) -> list[int]:
        """Join the members of a group to its first; a title alone is for a person."""
        first = self.facts[group[0]]
        if len(group) > 1 and not _substance(first):
            self.open += [bound for i in group[1:] for bound in _doubtful_twin(first, group[0], i)]
            return []
        left = [i for i in group[1:] if self.decided_apart(group[0], i)]
        score = 1.0 if first.title.solid else None
        for i in group[1:]:
            if not self.decided_apart(group[0], i):
                why = "the records agree in every field that is compared"
                self._join(Bound(group[0], i, Verdict.SAME, "identical records", why, score))
        return left

    def join(self, found: Sequence[Found]) -> None:
        """Join what the rules call the same, the strongest first; what a cluster speaks against waits for a person."""
        for i, j, finding in found:
            if finding.verdict is not Verdict.SAME:
                (self.links if finding.verdict is Verdict.SAME_STUDY else self.open).append(_bound(i, j, finding))
        same = [item for item in found if item[2].verdict is Verdict.SAME]
        torn = _torn(same, lambda i, j: contradiction(self.facts[i], self.facts[j]))
        for i, j, finding in sorted(same, key=self._strongest):
            if self.clusters.root(i) == self.clusters.root(j):
                continue
            reason = torn.get((i, j)) or self._against(i, j)
            if reason:
                self.open.append(Bound(i, j, Verdict.UNSURE, "torn between two", f"{finding.why}; but {reason}", finding.score))
            else:
                self._join(_bound(i, j, finding))

    def _strongest(self, item: Found) -> tuple[int, float, list[tuple[str, ...]]]:
        i, j, finding = item
        return -finding.strength, -(finding.score or 0.0), sorted((content(self.facts[i]), content(self.facts[j])))

    def _against(self, i: int, j: int) -> str | None:
        """Why the clusters of two records may not become one, the two records themselves aside."""
        if self.decided_apart(i, j):
            return "a person keeps them or their duplicates apart"
        for name, one, other in zip(_IDS, self._ids_of(self.clusters.root(i)), self._ids_of(self.clusters.root(j)), strict=True):
            if one and other and not (one <= other or other <= one):
                return f"their {name}s or those of their duplicates differ ({min(one - other)}, {min(other - one)})"
        looked = 0
        for k in self.clusters.of(i):
            for m in self.clusters.of(j):
                reason = None if (k, m) == (i, j) else contradiction(self.facts[k], self.facts[m], ids=False)
                looked += 1
                if reason:
                    return f"a duplicate of one speaks against it: {reason}"
                if looked >= LOOKED_AT:
                    return None
        return None


def content(fact: Facts) -> tuple[str, ...]:
    """What ranks records whatever their order in the list."""
    names = fact.names[0].words[0] if fact.names else ""
    parts = (fact.title.words, names, fact.year, fact.volume, fact.first_page, fact.doi, fact.pmid, fact.journal, fact.record_id)
    return tuple(str(part or "") for part in parts)


def _any_apart(groups: Clusters, apart: Mapping[int, set[int]], i: int, j: int) -> bool:
    if not apart:
        return False
    root = groups.root(j)
    return any(groups.root(k) == root for member in groups.of(i) if member in apart for k in apart[member])


def _bound(i: int, j: int, finding: Finding) -> Bound:
    return Bound(i, j, finding.verdict, finding.rule, finding.why, finding.score)


def _doubtful_twin(fact: Facts, i: int, j: int) -> list[Bound]:
    """What to ask of two records that agree in all they hold, which is too little to join them; nothing of a bare heading."""
    if not fact.title.generic:
        why = "the records agree in all they hold, but that is a title and at most a year and a journal"
        return [Bound(i, j, Verdict.UNSURE, "title alone", why, 1.0)]
    if fact.title.solid and fact.volume and fact.first_page:
        why = f"the title is a heading, but all agrees, with volume {fact.volume}, page {fact.first_page}"
        return [Bound(i, j, Verdict.UNSURE, "title says nothing", why, 1.0)]
    return []


def _fingerprint(fact: Facts) -> tuple[object, ...]:
    """Everything that is compared; a record that holds nothing is like no other."""
    if not fact.title.solid and not any(value for _, value in fact.ids()):
        return (fact.place,)
    details = (fact.names, fact.year, fact.journal.casefold(), fact.volume, fact.first_page, fact.last_page, fact.raw_abstract)
    return (fact.title.words, fact.role, fact.status, *fact.ids(), fact.trials, *details)


def _substance(fact: Facts) -> bool:
    """Whether records that agree in all they hold may be joined: an id, or a telling title with more than year and journal."""
    if any(value for _, value in fact.ids()):
        return True
    telling = bool(fact.title.solid) and not fact.title.generic
    return telling and bool(fact.names or fact.raw_abstract or (fact.journal and (fact.volume or fact.first_page)))


def _torn(same: Iterable[Found], conflict: Callable[[int, int], str | None]) -> dict[tuple[int, int], str]:
    """Joins of a record to one of two others that are not one another, the stronger join aside, with the reason.

    A record that fits two others equally well belongs to neither until a person says so. Joins by ids are never torn here.
    """
    near: dict[int, list[tuple[int, int, tuple[int, int]]]] = defaultdict(list)
    joins = set()
    for i, j, finding in same:
        joins |= {(i, j), (j, i)}
        near[i].append((j, finding.strength, (i, j)))
        near[j].append((i, finding.strength, (i, j)))
    torn: dict[tuple[int, int], str] = {}
    for around in near.values():
        strongest = sorted(around, key=lambda item: -item[1])[:_NEIGHBOURS]
        for (i, one, pair), (j, other, rival) in combinations(strongest, 2):
            if (i, j) in joins or min(one, other) >= _CERTAIN or not (reason := conflict(i, j)):
                continue
            words = f"another record fits as well, and the two are not one: {reason}"
            for join in [rival, pair] if one == other else [rival]:
                torn.setdefault(join, words)
    return torn
